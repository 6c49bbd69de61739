"""Chooses the sentences of the report: each number in them is computed from the runs."""

from collections.abc import Sequence

from anabranch.studies.base import Data
from anabranch.studies.reordering_today import sentences as say
from anabranch.studies.reordering_today.claims import CLAIMS, Answer, Claim
from anabranch.studies.reordering_today.measures import (
    JUDGES,
    LABELS,
    RATE,
    TODAY,
    at,
    best,
    beyond,
    goodput,
    memory,
    needless,
    number_of,
    steps,
)
from anabranch.studies.sentences import PAIRS
from anabranch.studies.words import listed, span

_NUMBERS = ("none", "one", "two", "three", "four", "five")
_RESPONSES = tuple(judge for judge in JUDGES if judge != "none")


def opening(data: Data) -> str:
    """First what still stands, then what has taken the place of the rest."""
    return f"{verdict(data)} {_today(data)}"


def verdict(data: Data) -> str:
    """What of 2014's conclusions still stands, with today's receiver."""
    answers = [(claim, claim.ask(data, "rfc6675")) for claim in CLAIMS]
    stand = [pair for pair in answers if pair[1].stands]
    fall = [pair for pair in answers if not pair[1].stands]
    total = _NUMBERS[len(CLAIMS)]
    if not fall or not stand:
        return (say.ALL_STAND if stand else say.NONE_STANDS)(total=total, claims=_said(answers))
    holds = say.SOME_STAND(total=total, number=_NUMBERS[len(stand)], count=len(stand), claims=_said(stand))
    number = _NUMBERS[len(fall)].capitalize()
    return f"{holds} {say.SOME_FALL(number=number, count=len(fall), claims=_said(fall))}"


def _said(answers: Sequence[tuple[Claim, Answer]]) -> str:
    return listed([say.CLAIM(claim=claim.says, numbers=answer.numbers) for claim, answer in answers])


def findings(data: Data) -> list[str]:
    """What else the numbers say."""
    parts = (_cliff, _ncr, _escape, _eifel, _door, _two, _unlike, _coupled, _stalls)
    return [part(data) for part in parts]


def _one(data: Data, sender: str, judge: str, round_trips: float) -> float:
    step = at(data, round_trips)
    return goodput(data, "displacement", network="one", sender=sender, judge=judge, displacement=step).mean


def _today(data: Data) -> str:
    one = {sender.axis: _one(data, sender.axis, "none", 1) for sender in TODAY}
    two = {sender.axis: _one(data, sender.axis, "none", 2) for sender in TODAY}
    first, last = max(one, key=one.__getitem__), max(two, key=two.__getitem__)
    _, old = best(data, "displacement", _RESPONSES, network="one", sender="rfc6675", displacement=at(data, 1))
    return say.TODAY(
        detector=LABELS[first],
        goodput=f"{one[first]:.1f}",
        rate=f"{RATE:.0f}",
        than=say.MORE_THAN if one[first] > old else say.LESS_THAN,
        second=LABELS[last],
        far=f"{two[last]:.1f}",
    )


def _cliff(data: Data) -> str:
    far = beyond(data, 1)
    before, after = (_one(data, "rack", "none", x) for x in (1, number_of(far)))
    judge, rate = best(data, "displacement", _RESPONSES, network="one", sender="rack", displacement=far)
    learns = [_one(data, "reordering-degree", "none", number_of(x)) for x in steps(data, "displacement")[1:]]
    told = say.RACK(near=f"{before:.1f}", far=f"{after:.1f}", displacement=far)
    beside = say.RACK_JUDGE(goodput=f"{rate:.1f}", judge=JUDGES[judge], degree=span(learns, "{:.1f}"))
    return f"{told} {beside}"


def _ncr(data: Data) -> str:
    step = at(data, 0.25)
    cell = {"network": "one", "judge": "none", "displacement": step}
    careful, aggressive = (
        goodput(data, "displacement", sender=name, **cell).mean for name in ("ncr", "ncr-aggressive")
    )
    again = needless(data, "displacement", sender="ncr", **cell)
    little = f"{again:.2f} %" if again >= 0.005 else say.LITTLE()
    told = say.NCR(careful=f"{careful:.1f}", aggressive=f"{aggressive:.1f}", needless=little)
    return f"{told} {say.NCR_WHY}"


def _escape(data: Data) -> str:
    far = beyond(data, 1)
    near, none, eifel = (
        _one(data, "ncr-aggressive", judge, x)
        for judge, x in (("eifel", 1), ("none", number_of(far)), ("eifel", number_of(far)))
    )
    more = say.MORE_THAN if eifel > near else say.NOT_MORE_THAN
    told = say.ESCAPE(eifel=f"{eifel:.1f}", displacement=far, none=f"{none:.1f}", more=more, near=f"{near:.1f}")
    return f"{told} {say.ESCAPE_WHY}"


def _eifel(data: Data) -> str:
    cell = {"network": "one", "sender": "rfc6675", "displacement": at(data, 1)}
    again, held = (
        [measure(data, "displacement", judge=judge, **cell) for judge in ("none", "eifel")]
        for measure in (needless, memory)
    )
    told = say.EIFEL_NEEDLESS(
        needless=f"{again[1]:.1f}", none=f"{again[0]:.1f}", held=f"{held[1]:.0f}", before=f"{held[0]:.0f}"
    )
    return f"{say.EIFEL} {told}"


def _door(data: Data) -> str:
    lower = []
    for sender in TODAY[1:]:
        none, door = (_one(data, sender.axis, judge, 1) for judge in ("none", "door"))
        if door < none:
            lower.append(say.DOOR_LOSS(before=f"{none:.1f}", after=f"{door:.1f}", detector=sender.detector))
    return " ".join([say.DOOR(), *([say.DOOR_LOSES(goodputs=listed(lower))] if lower else [])])


def _two(data: Data) -> str:
    cell = {"judge": "none", "displacement": at(data, 1)}
    mixed, both, one = (
        goodput(data, "displacement", network=network, sender="rfc6675", **cell).mean
        for network in ("mixed", "both", "one")
    )
    rack, rack_both = (
        goodput(data, "displacement", network=network, sender="rack", **cell).mean for network in ("mixed", "both")
    )
    told = say.TWO(
        one=f"{one:.1f}", mixed=f"{mixed:.1f}", both=f"{both:.1f}", rack=f"{rack:.1f}", rack_both=f"{rack_both:.1f}"
    )
    return f"{told} {say.TWO_WHY}"


def _unlike(data: Data) -> str:
    apart = []
    for sender in TODAY:
        for step in steps(data, "unlike"):
            cell = {"sender": sender.axis, "displacement": step}
            none = goodput(data, "unlike", judge="none", **cell).mean
            apart += [abs(goodput(data, "unlike", judge=judge, **cell).mean / none - 1) for judge in _RESPONSES]
    cost, gain = (claim.ask(data, "coupled-newreno").numbers for claim in CLAIMS[:2])
    told = say.UNLIKE(most=f"{100 * max(apart):.1f}")
    return f"{told} {say.UNLIKE_COUPLED(cost=cost, gain=gain)}"


def _coupled(data: Data) -> str:
    cell = {"network": "one", "judge": "none", "displacement": at(data, 1)}
    first, learned = (
        goodput(data, "displacement", sender=sender, **cell).mean for sender in ("coupled-newreno", "coupled-degree")
    )
    steady = _one(data, "coupled-newreno", "none", 0)
    apart = [
        " and ".join(
            f"{goodput(data, 'unlike', sender=sender, judge='none', displacement=at(data, x, 'unlike')).mean:.1f}"
            for x in (1, 2)
        )
        for sender in ("coupled-newreno", "coupled-degree")
    ]
    told = say.COUPLED(first=f"{first:.1f}", learned=f"{learned:.1f}")
    counted = say.COUPLED_COUNTER(plain=apart[0], counter=apart[1])
    return f"{told} {counted} {say.COUPLED_STEADY(steady=f'{steady:.1f}')}"


def _stalls(data: Data) -> str:
    every = steps(data, "spikes", "stall")
    longest = every[-1]
    rates = {
        (sender, judge): goodput(data, "spikes", network="one", sender=sender, judge=judge, stall=longest).mean
        for sender in ("rfc6675", "rack")
        for judge in JUDGES
    }
    short = next(stall for stall in every if number_of(stall) == 300)
    timer = {
        sender: data.mean(
            "spikes", "retransmissions_timeout", network="one", sender=sender, judge="none", stall=short
        ).mean
        for sender in ("rfc6675", "rack")
    }
    shown = ", ".join(
        say.JUDGE_GOODPUT(judge=JUDGES[judge], goodput=f"{rates['rfc6675', judge]:.1f}") for judge in JUDGES
    )
    told = say.STALLS(short=short, timeouts=f"{timer['rfc6675']:.0f}", rack=f"{timer['rack']:.0f}")
    alone, eifel = (f"{rates['rack', judge]:.1f}" for judge in ("none", "eifel"))
    return f"{told} {say.STALLS_LONG(longest=longest, goodputs=shown, alone=alone, eifel=eifel)} {say.STALLS_FRTO}"


NOTES = (*(note() for note in say.NOTES), PAIRS)
