"""The study `links-today`: `study.py` lists its scenarios, runs, tables and figures."""
