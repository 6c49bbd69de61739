"""The study `reordering-today`: `study.py` lists its scenarios, runs, tables and figures."""
