"""Why was it not faster? From captures, or from a run made again with captures: shares, estimates, sentences."""
