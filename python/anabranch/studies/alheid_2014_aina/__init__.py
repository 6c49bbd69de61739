"""The study `alheid-2014-aina`: `study.py` lists its scenarios, runs, tables and figures."""
