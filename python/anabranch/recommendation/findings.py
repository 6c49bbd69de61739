"""What a search found, in sentences. Every comparison is of pairs of runs with the same seed."""

import math

from anabranch.algorithms.references import short_name
from anabranch.measures import units
from anabranch.recommendation.candidates import (
    ENOUGH,
    GOALS,
    GOODPUT,
    Candidate,
    Measure,
    greedy,
    margin,
    simplicity,
)
from anabranch.recommendation.ledger import INTERRUPT, TIME
from anabranch.recommendation.pairs import WIDEST, Comparison, Difference
from anabranch.recommendation.paths import too_short
from anabranch.recommendation.search import LOOKS, Found, Varied
from anabranch.sentences import recommend as say
from anabranch.sweeps.comparable import groups, said
from anabranch.sweeps.repeats import said as counted

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
    lines = [_result(found, best, comparison), *_against(comparison, best), *_no_different(comparison, best)]
    lines += [*_unable(comparison), *_default(found, comparison), *_chance(comparison), *short]
    lines += _alike(found)
    if best.controller in greedy() and not best.alone:
        lines.append(say.GREEDY(controller=best.controller))
    return [*lines, *(_with_queues(one, best) for one in found.varied), _rests(found)]


def recommended(best: Candidate) -> str:
    """Return the recommendation in words.

    >>> recommended(Candidate("cubic", "none", "", "unlimited", alone="path0"))
    'plain TCP over path0 alone, controller cubic, judge none, receive buffer unlimited'
    """
    parts = [say.CANDIDATE_ALONE(path=best.alone)] if best.alone else []
    parts += [say.CANDIDATE_BACKUP(path=best.backup)] if best.backup else []
    parts += [say.CANDIDATE_CONTROLLER(name=short_name(best.controller))]
    parts += [say.CANDIDATE_JUDGE(name=short_name(best.judge))]
    parts += [say.CANDIDATE_SCHEDULER(name=short_name(best.scheduler))] if best.scheduler else []
    parts += [say.CANDIDATE_BUFFER(size=best.buffer)]
    parts += [say.CANDIDATE_DETECTOR(name=short_name(best.detector))] if best.detector else []
    return ", ".join(parts)


def _value(measure: Measure, value: float) -> str:
    return say.VALUE(measure=measure.title, value=measure.shown(value), unit=measure.unit)


_SHARE = f"{100 * ENOUGH:.0f} %"


def _result(found: Found, best: Candidate, comparison: Comparison) -> str:
    mean = comparison.interval(best, GOODPUT)
    goal = GOALS[found.goal]
    values = [_value(GOODPUT, mean.mean)]
    if goal != GOODPUT:
        values.insert(0, _value(goal, comparison.means[best][goal.field]))
    told, runs = ", ".join(values), counted(mean.n, mean.identical)
    if found.goal == "throughput":
        return say.RESULT(values=told, runs=runs)
    return say.RESULT_AMONG(values=told, runs=runs, share=_SHARE)


def _against(comparison: Comparison, best: Candidate) -> list[str]:
    """How the answer compares with the best single path, and with the best of the others."""
    lines = []
    base = comparison.baseline()
    if base is not None and base != best:
        differences = _differs(comparison, best, base)
        # A recommendation of plain TCP may be over this path itself, with another controller.
        against = say.AGAINST if best.alone else say.AGAINST_BEST_PATH
        lines.append(against(candidate=base.label, differences=differences))
    others = [one for one in comparison.runs if one not in (best, base) and (best.alone or not one.alone)]
    for one in others:
        if comparison.difference(best, one).verdict:
            lines.append(say.AGAINST(candidate=one.label, differences=_differs(comparison, best, one)))
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
    'goodput +1.50 Mbit/s (+30 %; 95 % interval +1.00 to +2.00 Mbit/s; 5 pairs), surely better'
    """
    details = []
    percent = units.significant(100 * found.mean / reference, 2) if reference else ""
    if percent:
        details.append(say.DIFFERENCE_SHARE(share=f"{'+' if found.mean > 0 else ''}{percent}"))
    if not math.isnan(found.low):
        low, high = measure.shown(found.low, sign=True), measure.shown(found.high, sign=True)
        details.append(say.DIFFERENCE_INTERVAL(low=low, high=high, unit=measure.unit))
    elif found.identical:
        details.append(say.DIFFERENCE_EXACT())
    if found.identical:
        details.append(say.DIFFERENCE_IDENTICAL(pairs=found.n, identical=found.identical))
    else:
        details.append(say.DIFFERENCE_PAIRS(pairs=found.n))
    return say.DIFFERENCE(
        measure=measure.title,
        value=measure.shown(found.mean, sign=True),
        unit=measure.unit,
        details="; ".join(details),
        verdict=verdict,
    )


def _better(found: Difference) -> str:
    """That a difference counts."""
    if found.identical:
        return say.BETTER() if found.verdict > 0 else say.WORSE()
    return say.SURELY_BETTER() if found.verdict > 0 else say.SURELY_WORSE()


def _verdict(comparison: Comparison, first: Candidate, second: Candidate, measure: Measure) -> str:
    """Whether `first` is surely better than `second`, in words."""
    found = comparison.difference(first, second, measure)
    if found.verdict:
        return _better(found)
    if abs(found.mean) <= margin(measure, comparison.means[first], comparison.means[second]):
        return say.TOO_SMALL()
    if found.low > 0 or found.high < 0:
        return say.NOT_SURE_CORRECTED(candidates=len(comparison.runs))
    return say.NOT_SURE()


def _no_different(comparison: Comparison, best: Candidate) -> list[str]:
    """Who cannot be told from the answer.

    A simpler one is not the answer if it can be told from the candidate with the best mean, and the answer cannot.
    """
    goal, first = comparison.goal, comparison.able()[0]
    same = [one for one in comparison.able() if one != best and comparison.difference(best, one).verdict == 0]
    parts: dict[bool, list[str]] = {False: [], True: []}
    for one in same:
        told = say.NOT_DISTINCT_ONE(
            candidate=one.label,
            difference=_short(comparison.difference(one, best), goal),
            verdict=_verdict(comparison, one, best, goal),
        )
        parts[one != first and simplicity(one) < simplicity(best)].append(told)
    lines = [say.NOT_DISTINCT(measure=goal.title, candidates="; ".join(parts[False]))] if parts[False] else []
    if parts[True]:
        verdict = say.WORSE() if comparison.exact else say.SURELY_WORSE()
        told = "; ".join(parts[True])
        lines.append(say.NOT_DISTINCT_SIMPLER(measure=goal.title, verdict=verdict, best=first.label, candidates=told))
    return lines


def _short(found: Difference, measure: Measure) -> str:
    value = measure.shown(found.mean, sign=True)
    if math.isnan(found.low):
        return say.SHORT(value=value, unit=measure.unit)
    low, high = measure.shown(found.low, sign=True), measure.shown(found.high, sign=True)
    return say.SHORT_INTERVAL(value=value, unit=measure.unit, low=low, high=high)


def _unable(comparison: Comparison) -> list[str]:
    """Who has too little goodput for a goal other than throughput."""
    able = comparison.able()
    some = [one.label for one in comparison.runs if one not in able]
    return [say.UNABLE(share=_SHARE, candidates="; ".join(some))] if some else []


def _default(found: Found, comparison: Comparison) -> list[str]:
    """That the configuration that the search started from was not compared, if it was not, and why."""
    default = found.default
    if default is None or default in comparison.runs:
        return []
    if error := found.ledger.failed.get((default, 1.0)):
        return [say.NO_DEFAULT_FAILED(candidate=default.label, error=error.splitlines()[0].rstrip("."))]
    answered = (one.comparison for one in found.finals if one.comparison.lacks() is None)
    earlier = any(default in one.runs for one in answered)
    return [(say.NO_DEFAULT_EARLIER if earlier else say.NO_DEFAULT)(candidate=default.label)]


def _chance(comparison: Comparison) -> list[str]:
    """Whether anything was random."""
    if not comparison.exact:
        return []
    return [(say.NOTHING_RANDOM if comparison.fixed else say.NO_CHANCE)(seeds=len(comparison.seeds))]


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
                    notes.append(say.FIRST_LOOK(seed=found.seed, same=said(kind, values, 1, choices, whole=False)))
    return list(dict.fromkeys(notes))


def _with_queues(varied: Varied, best: Candidate) -> str:
    """How the recommendation does with other queues than those assumed."""
    comparison = varied.comparison
    names = ", ".join(varied.queues)
    if varied.factor < 1:
        queues = say.QUEUES_QUARTER(queues=names)
    else:
        queues = say.QUEUES_TIMES(factor=f"{varied.factor:g}", queues=names)
    if best not in comparison.runs or not comparison.seeds:
        return say.QUEUES_NO_RESULT(queues=queues)
    measure = comparison.goal
    value = _value(measure, comparison.means[best][measure.field])
    better = [one for one in comparison.able() if one != best and comparison.difference(one, best).verdict == 1]
    if best not in comparison.able():
        return say.QUEUES_UNABLE(queues=queues, value=value, share=_SHARE)
    if not better:
        return say.QUEUES_BEST(queues=queues, value=value, candidates=len(comparison.runs))
    apart = comparison.difference(better[0], best)
    return say.QUEUES_BETTER(
        queues=queues,
        value=value,
        candidate=better[0].label,
        verdict=_better(apart),
        difference=_short(apart, measure),
    )


def _rests(found: Found) -> str:
    """How many runs the answer rests on."""
    assert found.final is not None
    comparison = found.final.comparison
    runs, seeds, candidates = found.ledger.count, len(comparison.seeds), len(comparison.runs)
    if not found.looking:
        return say.RESTS(runs=runs, seeds=seeds, candidates=candidates)
    looks = [len(found.ledger.of(one, range(found.seed, found.seed + LOOKS))) for one in found.looked]
    looked = sum(count > 0 for count in looks)
    return say.RESTS_FIRST_LOOK(runs=runs, seeds=seeds, candidates=candidates, looks=sum(looks), looked=looked)


def _no_answer(found: Found) -> str:
    ledger = found.ledger
    spent = say.SPENT(runs=ledger.count)
    if ledger.ended == TIME:
        spent = say.SPENT_TIME(time=units.time(round(found.seconds, 1)), runs=ledger.count)
    head = say.INTERRUPTED if ledger.ended == INTERRUPT else say.NO_ANSWER
    more = suggestion(found)
    return " ".join([head(spent=spent, why=_why(found)), *([say.TRY(option=more)] if more else [])])


def _why(found: Found) -> str:
    lack = found.lack
    final = found.final
    if final is None:
        return say.STILL_LOOKING(runs=found.expected)
    comparison = final.comparison
    if len(comparison.runs) < 2:
        return say.NO_RIVAL()
    if lack is None or lack.wide is None:
        return say.FEW_PAIRS(pairs=len(comparison.seeds), needed=lack.pairs if lack else 0)
    wide = lack.wide
    base = comparison.baseline()
    return say.WIDE(
        measure=wide.measure.title,
        candidate=wide.chosen.label,
        other=wide.rival.label,
        baseline=(wide.rival if base is None or wide.measure != GOODPUT else base).label,
        difference=_short(comparison.difference(wide.chosen, wide.rival, wide.measure), wide.measure),
        share=f"{100 * WIDEST:.0f} %",
        reference=say.SHORT(value=wide.measure.shown(wide.reference), unit=wide.measure.unit),
    )


def suggestion(found: Found) -> str | None:
    """Return the option with which there should be an answer; None if there is one, or no option would help."""
    lack, final, ledger = found.lack, found.final, found.ledger
    if lack is None or (final is not None and len(final.comparison.runs) < 2 and final.comparison.seeds):
        return None
    if not found.looking and not ledger.ended:
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
