"""Algorithms written in Python: base classes, what the engine reads of a class, and where a scenario names one."""
