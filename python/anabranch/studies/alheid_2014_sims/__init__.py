"""Study `alheid-2014-sims`; `study.py` declares it."""
