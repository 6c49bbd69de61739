"""What must hold for any algorithm written in Python: the engine's suite, and twenty scenarios."""
