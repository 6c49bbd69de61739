"""Scripts of packetdrill, run against the engine in virtual time."""
