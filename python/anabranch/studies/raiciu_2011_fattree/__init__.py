"""The study `raiciu-2011-fattree`: `study.py` lists its scenarios, runs, tables and figures."""
