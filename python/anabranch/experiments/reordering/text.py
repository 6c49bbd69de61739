"""The sentences of the report: each number in them is computed from the runs."""

from collections.abc import Sequence

from anabranch.experiments.base import Data
from anabranch.experiments.models import PAIRS
from anabranch.experiments.reordering.claims import CLAIMS, Answer, Claim
from anabranch.experiments.reordering.measures import (
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
from anabranch.experiments.words import listed, span

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
        return f"Of {total} conclusions of 2014 {'all' if stand else 'none'} still stand: {_said(answers)}."
    return (
        f"Of {total} conclusions of 2014 {_NUMBERS[len(stand)]} still stand{'s' * (len(stand) == 1)} with a receiver "
        f"as RFC 8684 has it: {_said(stand)}; {_NUMBERS[len(fall)]} {'does' if len(fall) == 1 else 'do'} not: "
        f"{_said(fall)}."
    )


def _said(answers: Sequence[tuple[Claim, Answer]]) -> str:
    return listed([f"that {claim.says} ({answer.numbers})" for claim, answer in answers])


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
    than = "more than" if one[first] > old else "less than"
    return (
        "A detector that expects reordering does without the four: at a displacement of one round trip the best one "
        f"alone ({LABELS[first]}) has {one[first]:.1f} Mbit/s of {RATE:.0f}, {than} RFC 6675 with the best of the "
        f"four, and at two round trips the best one ({LABELS[last]}) has {two[last]:.1f}."
    )


def _cliff(data: Data) -> str:
    far = beyond(data, 1)
    before, after = (_one(data, "rack", "none", x) for x in (1, number_of(far)))
    judge, rate = best(data, "displacement", _RESPONSES, network="one", sender="rack", displacement=far)
    learns = [_one(data, "reordering-degree", "none", number_of(x)) for x in steps(data, "displacement")[1:]]
    return (
        f"RACK-TLP ends at a round trip: alone it has {before:.1f} Mbit/s at one and {after:.1f} at {far}. Its "
        "reordering window is never longer than the smoothed round-trip time (RFC 8985 6.2, step 4), and grows by "
        "quarters of the least round-trip time, which is short where delays vary much. Beyond it, a judge helps it "
        f"as it helped the senders of 2014: {rate:.1f} with {JUDGES[judge]}. The reordering degree has no such end: "
        f"{span(learns, '{:.1f}')} Mbit/s alone at all displacements."
    )


def _ncr(data: Data) -> str:
    step = at(data, 0.25)
    cell = {"network": "one", "judge": "none", "displacement": step}
    careful, aggressive = (
        goodput(data, "displacement", sender=name, **cell).mean for name in ("ncr", "ncr-aggressive")
    )
    again = needless(data, "displacement", sender="ncr", **cell)
    little = f"{again:.2f} %" if again >= 0.005 else "less than 0.01 %"
    return (
        f"NCR is right about nearly every segment, and its careful form is slow all the same: {careful:.1f} Mbit/s "
        f"at a displacement of a quarter of a round trip, {aggressive:.1f} in the aggressive form, though "
        f"{little} of its segments are sent needlessly. The trace shows a window without losses that stays at "
        "ten segments. Each time a hole fills, RFC 4653 3.3 limits the window to what is in flight, and slow start "
        "returns to the flight before; the careful form sends one new segment for two that arrive, so the flight "
        "has shrunk by then, and on a link that reorders all the time the next hole is there before slow start is "
        "over: its flight is the new operating point. The RFC is about reordering now and then."
    )


def _escape(data: Data) -> str:
    far = beyond(data, 1)
    near, none, eifel = (
        _one(data, "ncr-aggressive", judge, x)
        for judge, x in (("eifel", 1), ("none", number_of(far)), ("eifel", number_of(far)))
    )
    more = "more than" if eifel > near else "not more than"
    return (
        f"NCR's aggressive form with Eifel has {eifel:.1f} Mbit/s at {far} round trips, {none:.1f} without, and "
        f"{more} with it at one, {near:.1f}. In the trace the window stands still between episodes, since each hole "
        "that fills takes back the segment that a round trip has added (31 segments, 32, 31, ...), and an episode "
        "that is undone is what widens it: from 14 to 26 segments at once, because RFC 4015 restores what was in "
        "flight, and that includes what extended limited transmit had sent beyond the window. Within a round trip "
        "such episodes are rare."
    )


def _eifel(data: Data) -> str:
    cell = {"network": "one", "sender": "rfc6675", "displacement": at(data, 1)}
    again, held = (
        [measure(data, "displacement", judge=judge, **cell) for judge in ("none", "eifel")]
        for measure in (needless, memory)
    )
    return (
        "Eifel is the best of the four because it needs one acknowledgement, within the round trip of the episode; "
        "D-SACK comes a round trip later and must have a report for each retransmission of the episode. It repairs "
        f"windows and prevents no needless retransmission: with RFC 6675 at one round trip {again[1]:.1f} % of the "
        f"segments are sent needlessly, {again[0]:.1f} % without, and {held[1]:.0f} kB wait at the receiver instead "
        f"of {held[0]:.0f}. F-RTO judges timeouts, and there are hardly any here: it is none."
    )


def _door(data: Data) -> str:
    lower = []
    for sender in TODAY[1:]:
        none, door = (_one(data, sender.axis, judge, 1) for judge in ("none", "door"))
        if door < none:
            lower.append(f"{none:.1f} to {door:.1f} ({sender.detector})")
    text = (
        "TCP-DOOR holds window and timer while packets are reported out of order, and on such a link they are in "
        "every round trip: the window stays where it was when the first report came, at ten segments in the run "
        "that was followed. "
    )
    return text + (f"At one round trip it takes from {listed(lower)} Mbit/s." if lower else "")


def _two(data: Data) -> str:
    cell = {"judge": "none", "displacement": at(data, 1)}
    mixed, both, one = (
        goodput(data, "displacement", network=network, sender="rfc6675", **cell).mean
        for network in ("mixed", "both", "one")
    )
    rack, rack_both = (
        goodput(data, "displacement", network=network, sender="rack", **cell).mean for network in ("mixed", "both")
    )
    return (
        "Two subflows are the sum of two, as long as the receiver acknowledges each for itself: at one round trip "
        f"RFC 6675 alone has {one:.1f} Mbit/s over one reordering link, {mixed:.1f} over that and a steady one, "
        f"{both:.1f} over two that reorder; RACK-TLP {rack:.1f} and {rack_both:.1f} over the two pairs. What each "
        "link displaces is repaired on its own subflow; a subflow that collapses takes nothing from the other."
    )


def _unlike(data: Data) -> str:
    apart = []
    for sender in TODAY:
        for step in steps(data, "unlike"):
            cell = {"sender": sender.axis, "displacement": step}
            none = goodput(data, "unlike", judge="none", **cell).mean
            apart += [abs(goodput(data, "unlike", judge=judge, **cell).mean / none - 1) for judge in _RESPONSES]
    cost, gain = (claim.ask(data, "coupled-newreno").numbers for claim in CLAIMS[:2])
    return (
        "Over steady links of unlike delay, the case of 2014, no judge changes the goodput of any detector by more "
        f"than {100 * max(apart):.1f} % with the independent receiver; DOOR's own options cost it that much. Under "
        f"the coupled receiver unlike delays do cost ({cost}), and the four, as their own papers and RFCs define "
        f"them, bring little of it back over these links ({gain})."
    )


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
    return (
        "With the coupled receiver there are no SACK blocks: RACK-TLP and NCR do not exist there. NewReno has "
        f"{first:.1f} Mbit/s at one round trip, and {learned:.1f} if its threshold grows by one with each D-SACK "
        "report: a counter would have done more for the senders of 2014 than any of their recoveries where a link "
        f"reorders. About unlike delays it does less: {apart[0]} Mbit/s over two steady links with one and two round "
        f"trips between them, {apart[1]} with it. Without any displacement NewReno has {steady:.1f}: the first slow "
        "start overflows the queue, and without SACK one of those losses is repaired in a round trip."
    )


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
    shown = ", ".join(f"{JUDGES[judge]} {rates['rfc6675', judge]:.1f}" for judge in JUDGES)
    return (
        f"Delay spikes displace nothing, so no detector is deceived: what matters is the timer. A stall of {short} "
        f"costs RFC 6675 {timer['rfc6675']:.0f} retransmissions by timeout in a run and RACK-TLP "
        f"{timer['rack']:.0f}, because the probe of its tail goes out first and the timer starts again with it (RFC "
        f"8985 7.3). At {longest} every timer expires, and a judge of timeouts is worth having whatever the "
        f"detector: with RFC 6675 {shown} Mbit/s; with RACK-TLP {rates['rack', 'none']:.1f} alone and "
        f"{rates['rack', 'eifel']:.1f} with Eifel. F-RTO, made for this, does not judge the second timeout of a "
        "stall (RFC 5682 2.1, step 1); Eifel does. D-SACK and TCP-DOOR find next to nothing here."
    )


NOTES = (
    "Displacement: how much later than by its turn a packet may arrive, in round trips of the link without a queue. "
    "The one-way delay is drawn anew for each packet, uniformly, from a span of so many round trips about the same "
    "mean, and packets overtake each other. All of the round trip is on the way up; acknowledgements keep their "
    "order. At two round trips the shortest delay is nothing.",
    "One controller, NewReno on each subflow (uncoupled), and one reduction, PRR, with the independent receiver; "
    "with the coupled one profile classic, whose recovery is NewReno's. Each judge has the response of its own "
    "source. The reordering degree follows a quarter of the way (variant 3) with SACK, and counts by one (variant "
    "0) without, where the length of a reordering is not seen.",
    "Links of 10 Mbit/s, 40 ms, a queue of 34 packets (one round trip); transfers for a set time with buffers that "
    "have no bound, so that memory is measured and limits nothing. The first slow start is part of it.",
    "Delay spikes are a frame that a radio tries again and again while the rest waits behind it: the one-way delay "
    "rises for 20 ms, and no packet overtakes. A radio link that also loses frames for good is in the studies of "
    "SIMS 2014 and ICT 2016.",
    PAIRS,
)
