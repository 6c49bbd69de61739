"""Study `alheid-2016-ict`; `study.py` declares it."""
