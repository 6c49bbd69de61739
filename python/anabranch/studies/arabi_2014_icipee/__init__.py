"""The study `arabi-2014-icipee`: `study.py` lists its scenarios, runs, tables and figures."""
