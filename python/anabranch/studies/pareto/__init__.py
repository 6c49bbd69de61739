"""The study `pareto`: `study.py` lists its scenarios, runs, tables and figures."""
