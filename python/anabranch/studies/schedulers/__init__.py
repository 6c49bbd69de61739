"""The study `schedulers`: `study.py` lists its scenarios, runs, tables and figures."""
