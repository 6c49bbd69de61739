"""Study `arabi-2014-icipee`; `study.py` declares it."""
