"""Chooses the sentences of the report: each number in them is computed from the runs."""

from collections import Counter
from typing import Any

from anabranch.studies.base import Data
from anabranch.studies.schedulers import sentences as say
from anabranch.studies.schedulers.measures import FIRST, NETWORKS, SHORT, TRAFFIC, Turn, labels, ratio, turns
from anabranch.studies.schedulers.papers import PUBLISHED
from anabranch.studies.words import listed, signed, span

NOTES = tuple(note() for note in say.NOTES)


def opening(data: Data) -> str:
    """The answer: whether there is a best scheduler, and whether the ranking turns over with the queue."""
    found = turns(data)
    same = [turn for turn in found if turn.equal]
    rest = [turn for turn in found if not turn.equal]
    turned = [turn for turn in rest if turn.turns]
    led = Counter(name for turn in rest for one in turn.leaders for name in one)
    cells = sum(len(turn.leaders) for turn in rest)
    (best, most), *_ = led.most_common()
    parts = [say.NO_BEST(count=len(found), turned=len(turned))]
    if same:
        parts.append(say.NO_DIFFERENCE(count=len(same)))
    parts.append(say.LEADERS(best=best, cells=cells, most=most, default=FIRST, led=led[FIRST]))
    examples = _examples(turned)
    return " ".join([*parts, *([say.EXAMPLES(examples="; ".join(examples))] if examples else [])])


def _examples(turned: list[Turn]) -> list[str]:
    """One turn for each pair of links, in words."""
    said = []
    for network in NETWORKS:
        one = next((turn for turn in turned if turn.network == network), None)
        if one is not None:
            said.append(
                say.EXAMPLE(
                    network=SHORT[network],
                    traffic=TRAFFIC[one.traffic].title,
                    controller=one.controller,
                    first=one.leaders[0][0],
                    last=one.leaders[-1][0],
                )
            )
    return said


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
    network = SHORT["wlan"]
    choices = say.BULK(default=FIRST, network=network, choice=f"{choice[0]:.1f}", small=f"{choice[1]:.1f}")
    return f"{choices} {say.BULK_DIFFERENCES(default=FIRST, large=spread['bulk'], small=spread['bulk-512k'])}"


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
        said.append(say.ALIKE_ONE(scheduler=name.upper(), default=FIRST, near=near, cells=len(gains)))
    return f"{say.ALIKE(schedulers=listed(said))} {say.ALIKE_WHY}"


def _linux(data: Data) -> str:
    page = _gains(data, "lte", "linux", "web")
    bulk = _gains(data, "lte", "linux", "bulk")
    told = say.LINUX(page=span(page, "{:.0f}"), bulk=span(bulk, "{:+.0f}"), default=FIRST)
    return f"{told} {say.LINUX_WHY}" if bulk[0] == min(bulk) else told


def _page(data: Data) -> str:
    names = [name for name in labels(data, "wlan", "scheduler") if name.startswith("after-")]
    if not names:
        return ""
    best = {name: min(_gains(data, "wlan", name, "web")) for name in names}
    first = min(best, key=lambda name: best[name])
    late = _gains(data, "wlan", first, "messages")
    return say.PAGE(scheduler=first, network=SHORT["wlan"], sooner=f"{-best[first]:.0f}", later=span(late, "{:.0f}"))


def _messages(data: Data) -> str:
    gains = _gains(data, "wlan", "redundant", "messages")
    bulk = _gains(data, "wlan", "redundant", "bulk")
    sooner = span([-gain for gain in gains], "{:.0f}")
    return f"{say.MESSAGES(sooner=sooner)} {say.MESSAGES_BULK(bulk=span(bulk, '{:+.0f}'))}"


_LOW = 0.5
"""A goodput below this share of that of `FIRST` in the same cell shows that a scheduler stays on the wrong path."""


def _stuck(data: Data) -> str:
    if "smallest-delay" not in labels(data, "lte", "scheduler"):
        return ""
    cell: dict[str, Any] = {"controller": "olia", "application": "bulk-512k", "queue": "4"}
    rate, first = (
        data.mean("lte", "goodput_mbps", scheduler=scheduler, **cell).mean for scheduler in ("smallest-delay", FIRST)
    )
    told = say.STUCK(network=SHORT["lte"], goodput=f"{rate:.1f}", first=f"{first:.1f}", default=FIRST)
    return f"{told} {say.STUCK_WHY}" if rate < _LOW * first else told


def _paper(data: Data) -> str:
    agree: list[str] = []
    differ: list[str] = []
    for one in PUBLISHED:
        here = ratio(data, "blest", one.measure, scheduler=one.scheduler, application=one.traffic)
        clear = here.low > 0 or here.high < 0 or here.identical > 0
        theirs, ours = signed(100 * one.theirs, 0), signed(100 * here.mean, 0)
        word = say.PAPER_ONE(measure=one.says, scheduler=one.scheduler, theirs=theirs, here=ours)
        (agree if clear and (here.mean > 0) == (one.theirs > 0) else differ).append(word)
    parts = [say.PAPER(count=len(PUBLISHED), agree=len(agree))]
    if agree:
        parts.append(say.PAPER_AGREE(differences="; ".join(agree)))
    if differ:
        parts.append(say.PAPER_DIFFER(differences="; ".join(differ)))
    return " ".join([*parts, say.PAPER_WHY()])
