"""The installation: `anabranch doctor`, and packages that only some commands need."""
