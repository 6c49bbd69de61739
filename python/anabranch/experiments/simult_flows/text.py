"""The sentences of the report: each number in them is computed from the runs."""

from anabranch.experiments.base import Data
from anabranch.experiments.models import PAIRS
from anabranch.experiments.simult_flows.measures import SENDERS, cases, every, ratio
from anabranch.experiments.words import listed, of, span


def opening(data: Data) -> str:
    """Whether the transfers take the expected time."""
    found = {one: ratio(data, one) for one in every(data)}
    late = [one for one in found if found[one] > 1]
    if not late:
        return (
            "A transfer over two links takes no longer than the sum of their rates allows, in every case and either "
            f"direction: {span(found.values(), '{:.2f}')} of the expected time."
        )
    said = listed([f"{SENDERS[one.sender]}, {one.direction}, {one.case} ({found[one]:.2f})" for one in late])
    return (
        "A transfer over two links takes the time that the sum of their rates allows in "
        f"{of(len(found) - len(late), len(found))} cases; longer takes {said}."
    )


def findings(data: Data) -> list[str]:
    """What each sender makes of unequal paths."""
    parts = []
    for sender, label in SENDERS.items():
        shares = {
            case: [ratio(data, one) for one in every(data) if (one.case, one.sender) == (case, sender)]
            for case in cases(data)
        }
        worst = max(shares, key=lambda case: max(shares[case]))
        parts.append(
            f"{label} needs longest, in parts of the expected time, for {worst}: {span(shares[worst], '{:.2f}')}"
        )
    return [f"{'. '.join(parts)}."]


NOTES = (
    "Rates, delays and directions are the selftest's. Expected: 16 MiB at the sum of the rates, and a tenth more for "
    "headers (a segment of 1400 octets is a packet of about 1472, a twentieth) and for the beginning. Delays "
    "are one way.",
    "The senders are the profiles modern (min-rtt, coupled) and linux-6.1, at both ends. Queues hold 100 packets.",
    PAIRS,
)
