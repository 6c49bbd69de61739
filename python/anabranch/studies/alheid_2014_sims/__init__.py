"""The study `alheid-2014-sims`: `study.py` lists its scenarios, runs, tables and figures."""
