"""Study `receive-buffer`; `study.py` declares it."""
