"""Chooses the sentences of the report: each number in them is computed from the runs."""

from anabranch.studies.base import Data
from anabranch.studies.receive_buffer import sentences as say
from anabranch.studies.receive_buffer.measures import BAR, MULTIPATH, goodput, share, sizes
from anabranch.studies.sentences import PAIRS
from anabranch.studies.words import listed

_MORE = 1.1
"""Times the goodput of neither mechanism: from there on one of them is said to free the fast path."""


def opening(data: Data) -> str:
    """Whether Multipath TCP with both mechanisms has what TCP has over the better path."""
    limit = f"{100 * BAR:.0f}"
    shares = {size: share(data, "both", size) for size in sizes(data)}
    low = [size for size, one in shares.items() if one < BAR]
    least = min(shares, key=shares.__getitem__)
    worst = {"worst": f"{100 * shares[least]:.0f}", "size": least, "limit": limit}
    first = say.BOTH_BELOW(sizes=_listed(low), **worst) if low else say.BOTH(**worst)
    without = {size: share(data, "neither", size) for size in sizes(data)}
    bad = [size for size, one in without.items() if one < BAR]
    if not bad:
        return f"{first} {say.NEITHER(limit=limit)}"
    deepest = min(without, key=without.__getitem__)
    below = say.NEITHER_BELOW(limit=limit, sizes=_listed(bad), worst=f"{100 * without[deepest]:.0f}", size=deepest)
    return f"{first} {below}"


def _listed(some: list[int]) -> str:
    return listed([say.SIZE(size=size) for size in some])


def findings(data: Data) -> list[str]:
    """Which of the two it is; where nothing happens."""
    deepest = min(sizes(data), key=lambda size: share(data, "neither", size))
    rates = {name: goodput(data, name, deepest).mean for name in MULTIPATH}
    said = [say.MECHANISM(label=label, goodput=f"{rates[name]:.1f}") for name, label in MULTIPATH.items()]
    better = max(("retransmission", "penalisation"), key=rates.__getitem__)
    parts = [say.AT(size=deepest, goodputs=listed(said))]
    if rates[better] > _MORE * rates["neither"]:
        parts.append(say.FREES(mechanism=better.capitalize()))
    worse = [size for size in sizes(data) if share(data, "retransmission", size) < share(data, "neither", size) - 0.01]
    if worse:
        parts.append(say.HARM(sizes=_listed(worse)))
    same = [size for size in sizes(data) if len({round(goodput(data, n, size).mean, 2) for n in MULTIPATH}) == 1]
    if same:
        parts.append(say.IDLE(sizes=_listed(same)))
    return [" ".join(parts)]


NOTES = (*(note() for note in say.NOTES), PAIRS)
