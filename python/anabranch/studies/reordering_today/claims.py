"""The conclusions of 2014, each as a question to the runs.

The AINA paper has them in section IV.C: over any but equal and constant delays one link is used (1); recoveries bring
the second one back, D-SACK 60 to 70 %, TCP-DOOR 70 % (2, 4); the out-of-order ratio and the buffer grow with them (5).
That reordering is taken for loss, and that this is what costs (3), is where all four papers begin.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from anabranch.studies.base import Data, Entry, Table
from anabranch.studies.beside import frame_of
from anabranch.studies.reordering_today.measures import JUDGES, at, best, goodput, memory, number_of, steps
from anabranch.studies.words import of

MUCH = 0.25
"""Share of the goodput from which on a loss or a gain is one that 2014 would have reported (60 to 70 % there)."""
RECOVERIES = tuple(judge for judge in JUDGES if judge != "none")


class Answer(NamedTuple):
    """Whether a conclusion stands, and the numbers that say so."""

    stands: bool
    numbers: str


class Claim(NamedTuple):
    """A conclusion of 2014: what follows "that" in a sentence, and the question to the runs of a sender."""

    says: str
    ask: Callable[[Data, str], Answer]


def _apart(data: Data) -> list[Any]:
    return [step for step in steps(data, "unlike") if number_of(step) > 0]


def _displaced(data: Data) -> list[Any]:
    return [step for step in steps(data, "displacement") if number_of(step) > 0]


def unlike_costs(data: Data, sender: str) -> Answer:
    """What of the goodput is lost with unlike delays, at most, without recovery."""
    rates = {
        step: goodput(data, "unlike", sender=sender, judge="none", displacement=step).mean
        for step in steps(data, "unlike")
    }
    whole = rates[at(data, 0, "unlike")]
    worst = min(_apart(data), key=lambda step: rates[step])
    numbers = f"{whole:.1f} Mbit/s with equal delays, {rates[worst]:.1f} with {worst} round trips between them"
    return Answer(1 - rates[worst] / whole > MUCH, numbers)


def unlike_gains(data: Data, sender: str) -> Answer:
    """What a recovery gains there, at most."""
    gains = {}
    for step in _apart(data):
        none = goodput(data, "unlike", sender=sender, judge="none", displacement=step).mean
        judge, rate = best(data, "unlike", RECOVERIES, sender=sender, displacement=step)
        gains[judge, step] = rate / none - 1
    (judge, _), most = max(gains.items(), key=lambda item: item[1])
    numbers = (
        f"{JUDGES[judge]} gains {100 * most:.0f} % at most" if most >= 0.005 else "no recovery gains half a per cent"
    )
    return Answer(most > MUCH, numbers)


def reordering_needs(data: Data, sender: str) -> Answer:
    """What a recovery gains where packets of one subflow are displaced by a round trip."""
    one = {"network": "one", "sender": sender, "displacement": at(data, 1)}
    none = goodput(data, "displacement", judge="none", **one).mean
    judge, rate = best(data, "displacement", RECOVERIES, **one)
    return Answer(rate / none - 1 > MUCH, f"{none:.1f} Mbit/s without and {rate:.1f} with {JUDGES[judge]}")


def favourites_gain_most(data: Data, sender: str) -> Answer:
    """Whether D-SACK or TCP-DOOR is first."""
    firsts = [
        best(data, "displacement", RECOVERIES, network="one", sender=sender, displacement=step)[0]
        for step in _displaced(data)
    ]
    usual = max(RECOVERIES, key=firsts.count)
    numbers = f"{JUDGES[usual]} is first at {of(firsts.count(usual), len(firsts))} displacements"
    return Answer(sum(first in ("dsack", "door") for first in firsts) * 2 > len(firsts), numbers)


def gain_costs_memory(data: Data, sender: str) -> Answer:
    """What the receiver holds with the best recovery and without."""
    one = {"network": "one", "sender": sender, "displacement": at(data, 1)}
    judge, _ = best(data, "displacement", RECOVERIES, **one)
    none, held = (memory(data, "displacement", judge=name, **one) for name in ("none", judge))
    return Answer(
        held / none - 1 > MUCH, f"reordering buffer {none:.0f} kB without and {held:.0f} kB with {JUDGES[judge]}"
    )


CLAIMS = (
    Claim("different delays cost MPTCP much of its second link", unlike_costs),
    Claim("a recovery regains this loss", unlike_gains),
    Claim("a sender that takes reordering for loss needs a recovery", reordering_needs),
    Claim("D-SACK and TCP-DOOR are the best recoveries", favourites_gain_most),
    Claim("the gain costs memory", gain_costs_memory),
)
SENDERS = {"rfc6675": "RFC 6675, independent receiver", "coupled-newreno": "NewReno, coupled receiver"}
"""The senders that know nothing of reordering: the ones of 2014, under today's receiver and under theirs."""


def table(data: Data) -> Table:
    """A row for each conclusion."""
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for claim in CLAIMS:
        row: list[str | Entry] = [claim.says]
        record: dict[str, Any] = {"claim": claim.says}
        for sender, label in SENDERS.items():
            answer = claim.ask(data, sender)
            row += ["yes" if answer.stands else "no", answer.numbers]
            record |= {f"{label} stands": answer.stands, f"{label} numbers": answer.numbers}
        rows.append(row)
        records.append(record)
    return Table(
        "What of 2014's conclusions still stands",
        f"A loss or gain of goodput and a cost in memory count if they are more than {100 * MUCH:.0f} %. The first two "
        "conclusions: two steady links with different delays. The others: one link that reorders, with a displacement "
        "of one round trip if no other is named.",
        [("", 1), *((label, 2) for label in SENDERS.values())],
        ["Conclusion", *["stands", "numbers"] * len(SENDERS)],
        rows,
        1,
        frame_of(records),
    )
