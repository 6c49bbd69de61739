"""Which controller, scheduler, judge, detector of loss and receive buffer suit given paths, or which path alone.

`candidates` says what is tried, `ledger` makes the runs in a fixed order, `pairs` compares them seed by seed, `search`
says what is run when; `findings`, `summary`, `text` and `report` say what was found, `command` what was asked, and
`result` is what users have of all this.
"""

from anabranch.recommendation.candidates import GOALS, Candidate, Choices, choices
from anabranch.recommendation.result import Recommendation, recommend
from anabranch.recommendation.search import Found, search

__all__ = ["GOALS", "Candidate", "Choices", "Found", "Recommendation", "choices", "recommend", "search"]
