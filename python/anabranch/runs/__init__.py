"""Runs: their numbers, text, report, files, and what a notebook shows."""
