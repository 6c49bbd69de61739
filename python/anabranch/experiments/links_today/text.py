"""The sentences of the report: each number in them is computed from the runs."""

from anabranch.experiments.base import Data
from anabranch.experiments.links_today.measures import (
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
from anabranch.experiments.models import PAIRS
from anabranch.experiments.words import listed, of, span


def opening(data: Data) -> str:
    """Which controller and scheduler keep a call within 150 ms."""
    senders = [sender for sender in axis(data, "walk", "sender") if sender not in ALONE]
    controllers = axis(data, "walk", "controller")
    good = {sender: [c for c in controllers if kept(data, sender, c)] for sender in senders}
    always = [sender for sender in senders if len(good[sender]) == len(controllers)]
    some = [f"{s} with {listed(good[s])}" for s in senders if good[s] and s not in always]
    never = [sender for sender in senders if not good[sender]]
    parts = []
    if always:
        parts.append(f"{listed(always)} keep{'s' if len(always) == 1 else ''} it with every controller")
    if some:
        parts.append(f"{listed(some)}")
    if never:
        parts.append(f"{listed(never)} with none")
    found = [max(p99(data, s, c)) for s in always for c in controllers]
    worst = f" The worst of those that always keep it: {max(found):.0f} ms." if found else ""
    lead = f"Walking out of Wi-Fi 6 with LTE beside it, 99 % of a video call within {BAR:.0f} ms in every run: "
    return f"{lead}{'; '.join(parts)}.{worst}"


def findings(data: Data) -> list[str]:
    """One path alone, the road, the steps."""
    return [_alone(data), _road(data), _steps(data)]


def _alone(data: Data) -> str:
    controllers = axis(data, "walk", "controller")
    lte = [max(p99(data, "lte", c)) for c in controllers]
    return (
        "TCP over Wi-Fi alone stands still when the access point is out of reach; TCP over LTE alone keeps the call "
        f"({span(lte, '{:.0f}')} ms at worst): who has a call and a good cell needs Wi-Fi for its price, not its delay."
    )


def _road(data: Data) -> str:
    said = []
    controllers = axis(data, "road", "controller")
    for carrier, label in CARRIERS.items():
        best, total = gain(PUBLISHED[carrier])
        ours = {c: gain(tuple(rate(data, carrier, over, c) for over in OVER)) for c in controllers}
        each = listed([f"{one[0]:.2f} and {one[1]:.2f} with {c}" for c, one in ours.items()])
        said.append(
            f"with {label} both networks give, in parts of the better and of the sum, {each}; published are "
            f"{best:.2f} and {total:.2f}"
        )
    alone = {c: rate(data, "lte", "satellite", c) for c in controllers}
    single = listed([f"{value:.0f} with {c}" for c, value in alone.items()])
    return (
        f"On the road, {'; '.join(said)}. The published single link over Starlink, 177 Mbit/s, is not what one TCP "
        f"has in the same study's series by the second (29); here one TCP has {single}."
    )


def _steps(data: Data) -> str:
    names = axis(data, "steps", "scheduler")
    lost = {
        (s, b): 1 - stepped(data, s, "goodput_mbps", b, still=False) / stepped(data, s, "goodput_mbps", b, still=True)
        for s in names
        for b in axis(data, "steps", "buffer")
    }
    most = max(lost, key=lost.__getitem__)
    little = [key for key, share in lost.items() if share < 0.05]
    return (
        f"A delay that steps costs less than 5 % of the goodput in {of(len(little), len(lost))} cells; most, "
        f"{100 * lost[most]:.0f} %, with {most[0]} and a receive buffer that is {most[1]}."
    )


NOTES = (
    "The walk: 802.11ax, 80 MHz, two streams, Minstrel-HT, 1.5 m/s away from 2 m; out of range at 33 s; 10 ms behind. "
    "LTE at rest with a good signal. 10 kB thirty times a second for a minute, downstream, Nagle off.",
    "The road: Starlink Mobility, 15 ms behind it, and a carrier's network (AT&T's for LTE, T-Mobile's for 5G; the "
    "published 5G row is Verizon's). Profile linux-6.1, 60 s. The published figures are of other drives and of file "
    "downloads whose connections are not described in the data.",
    "The steps: 50 Mbit/s twice, 200 packets of queue; 15, 40, 20, 55, 15, 30 and 60 ms one way on the first path, "
    "from 12 s on every 15 s; 30 ms on the second, and on both where the delay is still. CUBIC.",
    PAIRS,
)
