"""Study `pareto`; `study.py` declares it."""
