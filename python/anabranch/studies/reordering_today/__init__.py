"""Study `reordering-today`; `study.py` declares it."""
