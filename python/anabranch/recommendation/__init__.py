"""Which controller, scheduler, judge, detector of loss and receive buffer suit given paths.

`candidates` says what is tried and how two results compare, `search` tries it within a time budget, `answer` says what
was found, and what was not tried.
"""

from anabranch.recommendation.candidates import GOALS, Candidate, Choices, choices
from anabranch.recommendation.search import Found, search

__all__ = ["GOALS", "Candidate", "Choices", "Found", "choices", "search"]
