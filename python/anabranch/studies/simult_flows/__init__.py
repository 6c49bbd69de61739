"""Study `simult-flows`; `study.py` declares it."""
