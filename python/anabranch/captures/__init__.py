"""Captures, measured as runs are: their numbers, text, figures, report, files."""
