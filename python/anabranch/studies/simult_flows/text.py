"""Chooses the sentences of the report: each number in them is computed from the runs."""

from anabranch.studies.base import Data
from anabranch.studies.sentences import PAIRS
from anabranch.studies.simult_flows import sentences as say
from anabranch.studies.simult_flows.measures import SENDERS, cases, every, ratio
from anabranch.studies.words import of, span


def opening(data: Data) -> str:
    """Whether the transfers take the expected time."""
    found = {one: ratio(data, one) for one in every(data)}
    late = [one for one in found if found[one] > 1]
    if not late:
        return say.IN_TIME(ratios=span(found.values(), "{:.2f}"))
    said = [
        say.LATE_ONE(sender=SENDERS[one.sender], direction=one.direction, case=one.case, ratio=_above_one(found[one]))
        for one in late
    ]
    return say.LATE(cases=of(len(found) - len(late), len(found)), late="; ".join(said))


def _above_one(ratio: float) -> str:
    """A ratio above 1 with two decimals, or as many as show that it is.

    >>> _above_one(1.034), _above_one(1.0041)
    ('1.03', '1.004')
    """
    texts = (f"{ratio:.{decimals}f}" for decimals in range(2, 12))
    return next(text for text in texts if float(text) > 1)


def findings(data: Data) -> list[str]:
    """What each sender makes of unequal paths."""
    parts = []
    for sender, label in SENDERS.items():
        shares = {
            case: [ratio(data, one) for one in every(data) if (one.case, one.sender) == (case, sender)]
            for case in cases(data)
        }
        worst = max(shares, key=lambda case: max(shares[case]))
        parts.append(say.LONGEST(sender=label, case=worst, ratios=span(shares[worst], "{:.2f}")))
    return [" ".join(parts)]


NOTES = (*(note() for note in say.NOTES), PAIRS)
