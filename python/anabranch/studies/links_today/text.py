"""Chooses the sentences of the report: each number in them is computed from the runs."""

from anabranch.studies.base import Data
from anabranch.studies.links_today import sentences as say
from anabranch.studies.links_today.measures import (
    ALONE,
    BAR,
    CARRIERS,
    OVER,
    PUBLISHED,
    axis,
    gain,
    kept,
    p99,
    rate,
    stepped,
)
from anabranch.studies.sentences import PAIRS
from anabranch.studies.words import listed, of, span


def opening(data: Data) -> str:
    """Which controller and scheduler keep a call within 150 ms."""
    senders = [sender for sender in axis(data, "walk", "sender") if sender not in ALONE]
    controllers = axis(data, "walk", "controller")
    good = {sender: [c for c in controllers if kept(data, sender, c)] for sender in senders}
    always = [sender for sender in senders if len(good[sender]) == len(controllers)]
    some = [sender for sender in senders if good[sender] and sender not in always]
    never = [sender for sender in senders if not good[sender]]
    limit = f"{BAR:.0f}"
    if always:
        parts = [say.CALL_ALWAYS(limit=limit, senders=listed(always), count=len(always))]
    else:
        parts = [say.CALL_NEVER_ALWAYS(limit=limit)]
    parts += [say.CALL_SOME(sender=sender, limit=limit, controllers=listed(good[sender])) for sender in some]
    if never:
        parts.append(say.CALL_NEVER(senders=listed(never), limit=limit, count=len(never)))
    found = [max(p99(data, s, c)) for s in always for c in controllers]
    if found:
        parts.append(say.CALL_WORST(worst=f"{max(found):.0f}"))
    return " ".join(parts)


def findings(data: Data) -> list[str]:
    """One path alone, the road, the steps."""
    return [_alone(data), _road(data), _steps(data)]


def _alone(data: Data) -> str:
    lte = [max(p99(data, "lte", c)) for c in axis(data, "walk", "controller")]
    return say.ALONE(worst=span(lte, "{:.0f}"))


def _road(data: Data) -> str:
    controllers = axis(data, "road", "controller")
    said = []
    for carrier, label in CARRIERS.items():
        best, total = gain(PUBLISHED[carrier])
        ours = {c: gain(tuple(rate(data, carrier, over, c) for over in OVER)) for c in controllers}
        gains = [say.ROAD_GAIN(best=f"{one[0]:.2f}", total=f"{one[1]:.2f}", controller=c) for c, one in ours.items()]
        said.append(say.ROAD_CARRIER(carrier=label, gains=listed(gains), best=f"{best:.2f}", total=f"{total:.2f}"))
    alone = [say.ROAD_RATE(rate=f"{rate(data, 'lte', 'satellite', c):.0f}", controller=c) for c in controllers]
    return f"{say.ROAD(carriers='; '.join(said))} {say.ROAD_SINGLE(rates=listed(alone))}"


def _steps(data: Data) -> str:
    names = axis(data, "steps", "scheduler")
    lost = {
        (s, b): 1 - stepped(data, s, "goodput_mbps", b, still=False) / stepped(data, s, "goodput_mbps", b, still=True)
        for s in names
        for b in axis(data, "steps", "buffer")
    }
    most = max(lost, key=lost.__getitem__)
    little = [key for key, share in lost.items() if share < 0.05]
    return say.STEPS(
        cells=of(len(little), len(lost)), share=f"{100 * lost[most]:.0f}", scheduler=most[0], buffer=most[1]
    )


NOTES = (*(note() for note in say.NOTES), PAIRS)
