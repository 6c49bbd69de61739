"""What a search found, in sentences. Every comparison is of pairs of runs with the same seed."""

import math

from anabranch import units
from anabranch.alike import groups, said
from anabranch.recommendation.candidates import (
    ENOUGH,
    GOALS,
    GOODPUT,
    Candidate,
    Measure,
    greedy,
    margin,
)
from anabranch.recommendation.ledger import INTERRUPT, TIME
from anabranch.recommendation.pairs import WIDEST, Comparison, Difference
from anabranch.recommendation.paths import too_short
from anabranch.recommendation.search import LOOKS, Found, Varied
from anabranch.sweeps.repeats import said as counted

GOAL_WORDS = {
    "throughput": "the most goodput",
    "latency": "the least head-of-line delay",
    "memory": "the smallest reordering buffer",
}
_NICE = (1, 2, 3, 5)
"""First digits of a suggested budget."""
_ROOM = 1.2
"""How much more than what an estimate says is suggested."""


def sentences(found: Found) -> list[str]:
    """Return the answer, one sentence or more for each thing to say."""
    short = list(filter(None, [too_short(found.scenario)]))
    if found.best is None or found.final is None:
        return [_no_answer(found), *short, *_alike(found)]
    best, comparison = found.best, found.final.comparison
    lines = [_for_what(found, best, comparison), *_against(comparison, best), *_no_different(comparison, best)]
    lines += [*_unable(comparison), *_default(found, comparison), *_chance(comparison), *short]
    lines += _alike(found)
    if best.controller in greedy() and not best.alone:
        lines.append(
            f"{best.controller} takes more than one connection's share where paths have a bottleneck in common (RFC "
            "6356 is against that); no other traffic was simulated"
        )
    return [*lines, *(_with_queues(one, best) for one in found.varied), _rests(found)]


def recommended(best: Candidate) -> str:
    """Return the recommendation in words.

    >>> recommended(Candidate("cubic", "none", "", "unlimited", alone="path0"))
    'plain TCP over path0 alone, controller cubic, judge none, receive buffer unlimited'
    """
    parts = [f"plain TCP over {best.alone} alone"] if best.alone else []
    parts += [f"{best.backup} as backup"] if best.backup else []
    parts += [f"controller {best.controller}", f"judge {best.judge}"]
    parts += [f"scheduler {best.scheduler}"] if best.scheduler else []
    parts += [f"receive buffer {best.buffer}"] + ([f"detector {best.detector}"] if best.detector else [])
    return ", ".join(parts)


def _for_what(found: Found, best: Candidate, comparison: Comparison) -> str:
    mean = comparison.interval(best, GOODPUT)
    among = "" if found.goal == "throughput" else f" among those with {100 * ENOUGH:.0f} % of the best goodput"
    values = [f"{GOODPUT.shown(mean.mean)} Mbit/s"]
    goal = GOALS[found.goal]
    if goal != GOODPUT:
        values.insert(0, f"{goal.shown(comparison.means[best][goal.field])} {goal.unit} {goal.title}")
    runs = counted(mean.n, mean.identical)
    return f"for {GOAL_WORDS[found.goal]}{among}: {', '.join(values)}; {runs}"


def _against(comparison: Comparison, best: Candidate) -> list[str]:
    """How the answer compares with the best single path, and with the best of the others."""
    lines = []
    base = comparison.baseline()
    if base is not None and base != best:
        lines.append(f"against plain TCP over the best path ({base.label}): {_differs(comparison, best, base)}")
    others = [one for one in comparison.runs if one not in (best, base) and (best.alone or not one.alone)]
    for one in others:
        if comparison.difference(best, one).verdict:
            lines.append(f"against {one.label}: {_differs(comparison, best, one)}")
    return lines


def _differs(comparison: Comparison, best: Candidate, other: Candidate) -> str:
    """The difference in the goal, and in goodput."""
    parts = []
    for measure in dict.fromkeys((GOODPUT, comparison.goal)):
        found = comparison.difference(best, other, measure)
        verdict = _verdict(comparison, best, other, measure)
        parts.append(difference(found, measure, comparison.means[other][measure.field], verdict))
    return "; ".join(parts)


def difference(found: Difference, measure: Measure, reference: float, verdict: str) -> str:
    """Write a paired difference with its interval and the verdict.

    >>> from anabranch.recommendation.pairs import Difference
    >>> difference(Difference(1.5, 1.0, 2.0, 5, 0, 0.01, 1), GOODPUT, 5.0, "surely better")
    '+1.50 Mbit/s goodput (+30 %; 95 %: +1.00 to +2.00; 5 pairs): surely better'
    """
    percent = units.significant(100 * found.mean / reference, 2) if reference else ""
    share = f"{'+' if found.mean > 0 else ''}{percent} %; " if percent else ""
    bounds = f"95 %: {measure.shown(found.low, sign=True)} to {measure.shown(found.high, sign=True)}; "
    if math.isnan(found.low):
        bounds = "exact; " if found.identical else ""
    pairs = units.count(found.n, "pair") + (f", {found.identical} identical" if found.identical else "")
    return f"{measure.shown(found.mean, sign=True)} {measure.unit} {measure.title} ({share}{bounds}{pairs}): {verdict}"


def _verdict(comparison: Comparison, first: Candidate, second: Candidate, measure: Measure) -> str:
    """Whether `first` is surely better than `second`, in words."""
    found = comparison.difference(first, second, measure)
    if found.verdict:
        return f"{'' if found.identical else 'surely '}{'better' if found.verdict > 0 else 'worse'}"
    if abs(found.mean) <= margin(measure, comparison.means[first], comparison.means[second]):
        return "too small to count"
    if found.low > 0 or found.high < 0:
        return f"not sure, corrected for all pairs of {len(comparison.runs)} candidates"
    return "not sure"


def _no_different(comparison: Comparison, best: Candidate) -> list[str]:
    """Who cannot be told from the answer."""
    goal = comparison.goal
    same = [one for one in comparison.able() if one != best and comparison.difference(best, one).verdict == 0]
    parts = [
        f"{one.label} ({_short(comparison.difference(one, best), goal)}: {_verdict(comparison, one, best, goal)})"
        for one in same
    ]
    return [f"cannot be told from it by {goal.title}, and less simple: {'; '.join(parts)}"] if parts else []


def _short(found: Difference, measure: Measure) -> str:
    value = f"{measure.shown(found.mean, sign=True)} {measure.unit}"
    if math.isnan(found.low):
        return value
    return f"{value}, 95 %: {measure.shown(found.low, sign=True)} to {measure.shown(found.high, sign=True)}"


def _unable(comparison: Comparison) -> list[str]:
    """Who has too little goodput for a goal other than throughput."""
    able = comparison.able()
    some = [one.label for one in comparison.runs if one not in able]
    return [f"left aside for less than {100 * ENOUGH:.0f} % of the best goodput: {'; '.join(some)}"] if some else []


def _default(found: Found, comparison: Comparison) -> list[str]:
    """That the default configuration was not compared, if it was not."""
    default = found.default
    if default is None or default in comparison.runs:
        return []
    return [f"the default, {default.label}, is not in this comparison; more runs would compare it"]


def _chance(comparison: Comparison) -> list[str]:
    """Whether anything was random."""
    if not comparison.exact:
        return []
    n = len(comparison.seeds)
    if comparison.fixed:
        return [f"nothing in the scenario is random: {n} seeds gave the same run, and the differences are exact"]
    return [f"chance changed nothing in these runs: {n} seeds gave the same run, so the differences have no interval"]


def _alike(found: Found) -> list[str]:
    """Which candidates did the same to the last event in the first look as one that was compared.

    That one of them is named is no finding.
    """
    looked = {one: found.ledger.of(one, [found.seed]) for one in found.looked if not one.alone}
    final = found.final
    named = set(found.looked[:1]) if final is None else set(final.candidates)
    notes = []
    for group in groups({one: dict(enumerate(run.trace for run in runs)) for one, runs in looked.items()}):
        for first in (one for one in group if one in named):
            choices = [run.choice for run in looked[first]]
            for kind in ("scheduler", "controller", "judge", "detector", "buffer"):
                alike = [one for one in group if one == first._replace(**{kind: getattr(one, kind)})]
                values = [getattr(one, kind) or "default" for one in alike]
                if len(values) > 1:
                    notes.append(f"in the first look, {said(kind, values, 1, choices, whole=False)}")
    return list(dict.fromkeys(notes))


def _with_queues(varied: Varied, best: Candidate) -> str:
    """How the recommendation does with other queues than those assumed."""
    comparison = varied.comparison
    times = "a quarter of the queues" if varied.factor < 1 else f"{varied.factor:g} times the queues"
    head = f"with {times} ({', '.join(varied.queues)})"
    if best not in comparison.runs or not comparison.seeds:
        return f"{head}: no result"
    measure = comparison.goal
    text = f"{head} it has {measure.shown(comparison.means[best][measure.field])} {measure.unit}"
    better = [one for one in comparison.able() if one != best and comparison.difference(one, best).verdict == 1]
    if best not in comparison.able():
        return f"{text}, but less than {100 * ENOUGH:.0f} % of the best goodput there"
    if not better:
        return f"{text}; none of {len(comparison.runs)} that were tried there is surely better"
    first = better[0]
    surely = "" if comparison.difference(first, best).identical else "surely "
    return f"{text}; there {first.label} is {surely}better: {_short(comparison.difference(first, best), measure)}"


def _rests(found: Found) -> str:
    """How many runs the answer rests on."""
    assert found.final is not None
    pairs = len(found.final.comparison.seeds)
    looks = [len(found.ledger.of(one, range(found.seed, found.seed + LOOKS))) for one in found.looked]
    some = units.count(sum(count > 0 for count in looks), "candidate")
    first = f"; the first look had {units.count(sum(looks), 'run')} of {some}" if found.looking else ""
    return (
        f"the answer rests on {units.count(found.ledger.count, 'run')}: {pairs} seeds for each of "
        f"{len(found.final.comparison.runs)} candidates in the comparison{first}"
    )


def _no_answer(found: Found) -> str:
    ledger = found.ledger
    spent = units.count(ledger.count, "run")
    if ledger.ended == TIME:
        spent = f"{units.time(round(found.seconds, 1))} ({spent})"
    more = suggestion(found)
    head = "interrupted, no answer" if ledger.ended == INTERRUPT else "no answer"
    return f"{head} in {spent}: {_why(found)}" + (f"; try {more}" if more else "")


def _why(found: Found) -> str:
    lack = found.lack
    final = found.final
    if final is None:
        return f"the first look is not over, which takes about {found.expected} runs with the comparison after it"
    comparison = final.comparison
    if len(comparison.runs) < 2:
        return "there is nothing to compare with"
    if lack is None or lack.wide is None:
        return f"{len(comparison.seeds)} pairs were run, and a recommendation takes {lack.pairs if lack else 0}"
    wide = lack.wide
    apart = _short(comparison.difference(wide.chosen, wide.rival, wide.measure), wide.measure)
    return (
        f"{wide.chosen.label} against {wide.rival.label} is {apart}, an interval wider than {100 * WIDEST:.0f} % of "
        f"{wide.measure.shown(wide.reference)} {wide.measure.unit}"
    )


def suggestion(found: Found) -> str | None:
    """Return the option with which there should be an answer; None if there is one, or no option would help."""
    lack, final, ledger = found.lack, found.final, found.ledger
    if lack is None or (final is not None and len(final.comparison.runs) < 2 and final.comparison.seeds):
        return None
    if not found.looking:
        return f"--seeds {_up(lack.pairs)}"
    needed = max(found.expected, ledger.count + 1)
    if final is not None and final.comparison.seeds:
        needed = max(needed, ledger.count + (lack.pairs - len(final.comparison.seeds)) * len(final.candidates))
    if ledger.ended == TIME and found.budget is not None:
        seconds = found.budget * (needed / ledger.count if ledger.count else 10)
        return f"--budget {_nice(max(_ROOM * seconds, 2 * found.budget))}"
    return f"--runs {_up(_ROOM * needed)}"


def _up(number: float) -> int:
    """Round up to two significant digits.

    >>> _up(61), _up(1234)
    (70, 1300)
    """
    step = int(10 ** max(1, math.floor(math.log10(max(number, 1))) - 1))
    return math.ceil(number / step) * step


def _nice(seconds: float) -> int:
    """Round up to 1, 2, 3 or 5 times a power of ten.

    >>> _nice(61), _nice(210), _nice(301)
    (100, 300, 500)
    """
    power = int(10 ** math.floor(math.log10(max(seconds, 1))))
    return next(digit * power for digit in (*_NICE, 10) if digit * power >= seconds)
