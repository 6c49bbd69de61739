"""Study `raiciu-2011-fattree`; `study.py` declares it."""
