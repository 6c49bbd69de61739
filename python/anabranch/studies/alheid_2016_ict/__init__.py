"""The study `alheid-2016-ict`: `study.py` lists its scenarios, runs, tables and figures."""
