"""The report's sentences."""

from collections import Counter
from typing import Any

from anabranch.experiments.base import Data
from anabranch.experiments.schedulers.measures import FIRST, NETWORKS, SHORT, TRAFFIC, Turn, labels, ratio, turns
from anabranch.experiments.schedulers.papers import PUBLISHED
from anabranch.experiments.words import listed, of, signed, span

NOTES = (
    "Delays are one way and vary by 1 %, so that seeds differ and no two paths run in step. All directions are from "
    "server to client.",
    "Bulk: goodput of 20 s. Web: one connection, 54 objects that depend on the document, 1 MiB (a page of the BLEST "
    "paper; its object sizes are drawn). Messages: 1250 octets every 10 ms. Video: segments of 4 s in six qualities of "
    "0.5 to 16 Mbit/s, a buffer of 12 s, so that the player fetches and rests.",
    "active-standby, priority and cheapest-path-first take the second path only when the first one cannot: cost, "
    "priority and weight of the paths stand in the scenario files. redundant, remp and duplicate send octets more than "
    "once; that costs the links what it gains the receiver, and nobody else is on them here.",
    "The BLEST paper had background traffic and an emulated 3G link with 3750 packets of queue. Expect direction and "
    "order, not digits.",
)


def opening(data: Data) -> str:
    """The answer: whether there is a best scheduler, and whether the ranking turns over with the queue."""
    found = turns(data)
    same = [turn for turn in found if turn.equal]
    rest = [turn for turn in found if not turn.equal]
    turned = [turn for turn in rest if turn.turns]
    led = Counter(name for turn in rest for one in turn.leaders for name in one)
    cells = sum(len(turn.leaders) for turn in rest)
    (best, most), *_ = led.most_common()
    text = (
        f"There is no best scheduler: of {len(found)} combinations of links, traffic and controller, the first place "
        f"passes to another scheduler in {len(turned)} as the queues grow from a quarter to four bandwidth-delay "
        f"products"
    )
    if same:
        text += f", and in {len(same)} it makes no difference which one is taken"
    return (
        f"{text}. Of the {cells} {'other ' if same else ''}cells {best} leads most often, {most} times (alone or "
        f"within a hundredth of the first); {FIRST} in {led[FIRST]}. What turns over: {_examples(turned)}."
    )


def _examples(turned: list[Turn]) -> str:
    """One turn for each pair of links, in words."""
    said = []
    for network in NETWORKS:
        one = next((turn for turn in turned if turn.network == network), None)
        if one is not None:
            said.append(
                f"over {SHORT[network]}, {TRAFFIC[one.traffic].title} with {one.controller}, {one.leaders[0][0]} is "
                f"first with the shortest queue and {one.leaders[-1][0]} with the longest"
            )
    return "; ".join(said) or "nothing"


def findings(data: Data) -> list[str]:
    """What else the numbers say."""
    parts = (_bulk, _alike, _linux, _page, _messages, _stuck, _paper)
    return [text for part in parts if (text := part(data))]


def _gains(data: Data, network: str, scheduler: str, application: str, controller: str = "olia") -> list[float]:
    """By how many per cent a scheduler has more than the default, by queue."""
    measure = TRAFFIC[application].measure
    cell = {"scheduler": scheduler, "controller": controller, "application": application}
    return [100 * ratio(data, network, measure, queue=queue, **cell).mean for queue in labels(data, network, "queue")]


def _bulk(data: Data) -> str:
    choice = [
        100 * data.mean("wlan", "choice_ratio", controller="olia", application=name, queue="1", scheduler=FIRST).mean
        for name in ("bulk", "bulk-512k")
    ]
    spread = {}
    for name in ("bulk", "bulk-512k"):
        gains = [gain for s in ("blest", "ecf", "otias") for gain in _gains(data, "wlan", s, name)]
        spread[name] = span([*gains], "{:+.0f}")
    return (
        f"A bulk transfer whose buffers hold enough leaves little to decide: with {FIRST} over {SHORT['wlan']} more "
        f"than one subflow could take the next segment for {choice[0]:.1f} % of the segments (with 512 KiB of buffer "
        f"{choice[1]:.1f} %), since both windows are full. BLEST, ECF and OTIAS then differ from {FIRST} by "
        f"{spread['bulk']} %; with 512 KiB by {spread['bulk-512k']} %."
    )


def _alike(data: Data) -> str:
    names = [name for name in ("blest", "ecf") if name in labels(data, "wlan", "scheduler")]
    said = []
    for name in names:
        gains = [
            gain
            for network in NETWORKS
            for application in TRAFFIC
            for controller in labels(data, network, "controller")
            for gain in _gains(data, network, name, application, controller)
        ]
        near = sum(abs(gain) <= 1 for gain in gains)
        said.append(f"{name.upper()} is within a hundredth of {FIRST} in {near} of {len(gains)} cells")
    return (
        f"{listed(said)}. Both ask whether to wait for the fast path, BLEST because the send window would run out, ECF "
        "because what is left would be done sooner; while windows of congestion are the limit and more data waits than "
        "they hold, neither finds a reason to."
    )


def _linux(data: Data) -> str:
    page = _gains(data, "lte", "linux", "web")
    bulk = _gains(data, "lte", "linux", "bulk")
    return (
        f"Linux's scheduler gives a subflow 64 kB ahead of its window. Where one link has a thirtieth of the other's "
        f"rate, that is a second and a half of it: a page takes {span(page, '{:+.0f}')} % longer than with {FIRST}, "
        f"and bulk has {span(bulk, '{:+.0f}')} %, the worst with the shortest queue: the sender's buffer grows with "
        "the windows, as Linux's does, and what waits on the slow link fills a small one."
    )


def _page(data: Data) -> str:
    names = [name for name in labels(data, "wlan", "scheduler") if name.startswith("after-")]
    if not names:
        return ""
    best = {name: min(_gains(data, "wlan", name, "web")) for name in names}
    first = min(best, key=lambda name: best[name])
    late = _gains(data, "wlan", first, "messages")
    return (
        f"{first} orders segments by when they would arrive, which brings a page over {SHORT['wlan']} by up to "
        f"{-best[first]:.0f} % sooner, and lone messages {span(late, '{:.0f}')} % later at the 99th percentile: what "
        "is sent ahead over the slow path has no one to wait for it."
    )


def _messages(data: Data) -> str:
    gains = _gains(data, "wlan", "redundant", "messages")
    bulk = _gains(data, "wlan", "redundant", "bulk")
    return (
        f"Redundancy pays where there is room: messages of 1 Mbit/s over a link that loses one packet in a hundred "
        f"are there {span([-gain for gain in gains], '{:.0f}')} % sooner at the 99th percentile, and bulk loses "
        f"nothing by it ({span(bulk, '{:+.0f}')} %), because a copy is sent only when nothing else is to be sent. On a "
        "shared link others would pay for it."
    )


def _stuck(data: Data) -> str:
    if "smallest-delay" not in labels(data, "lte", "scheduler"):
        return ""
    cell: dict[str, Any] = {
        "scheduler": "smallest-delay",
        "controller": "olia",
        "application": "bulk-512k",
        "queue": "4",
    }
    rate = data.mean("lte", "goodput_mbps", **cell).mean
    return (
        f"Steering by the smallest delay can stay on the wrong path: with the longest queues over {SHORT['lte']} it "
        f"has {rate:.1f} Mbit/s. The smoothed round-trip time of LTE is that of its full queue, and nothing measures "
        "it again while all goes over Wi-Fi (3GPP lets hosts probe for that reason)."
    )


def _paper(data: Data) -> str:
    agree: list[str] = []
    differ: list[str] = []
    for one in PUBLISHED:
        here = ratio(data, "blest", one.measure, scheduler=one.scheduler, application=one.traffic)
        clear = here.low > 0 or here.high < 0 or here.identical > 0
        word = f"{one.says} of {one.scheduler} ({signed(100 * one.theirs, 0)} %, here {signed(100 * here.mean, 0)} %)"
        (agree if clear and (here.mean > 0) == (one.theirs > 0) else differ).append(word)
    return (
        f"Of the BLEST paper's {len(PUBLISHED)} differences {of(len(agree), len(PUBLISHED))} have the same sign here"
        + (f" beyond chance: {listed(agree)}" if agree else "")
        + (f". Not so, or not beyond chance: {listed(differ)}" if differ else "")
        + ". Their default scheduler was that of the kernel of its day, with opportunistic retransmission and "
        "penalisation, and others used the links."
    )
