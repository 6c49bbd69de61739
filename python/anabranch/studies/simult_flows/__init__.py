"""The study `simult-flows`: `study.py` lists its scenarios, runs, tables and figures."""
