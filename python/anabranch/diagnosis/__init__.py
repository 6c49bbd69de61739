"""Why is it slower than the sum? A diagnosis of captures or of a run: what each path could do, where the time went."""

from anabranch.diagnosis.result import Diagnosis, diagnose

__all__ = ["Diagnosis", "diagnose"]
