"""Study `schedulers`; `study.py` declares it."""
