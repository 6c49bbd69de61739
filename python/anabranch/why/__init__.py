"""Why was it not faster? From captures, or from a run that is made again with captures: shares, estimates, sentences."""
