"""The study `receive-buffer`: `study.py` lists its scenarios, runs, tables and figures."""
