"""Study `links-today`; `study.py` declares it."""
