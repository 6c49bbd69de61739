"""Study `alheid-2014-aina`; `study.py` declares it."""
