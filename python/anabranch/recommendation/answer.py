"""What a search found, as text."""

import math
import shlex
import textwrap
from collections.abc import Mapping, Sequence

from anabranch.alike import groups, said
from anabranch.recommendation.candidates import (
    CHOSEN,
    ENOUGH,
    GOALS,
    GOODPUT,
    MEASURES,
    WORTH,
    Candidate,
    compare,
    greedy,
    known,
    order,
)
from anabranch.recommendation.paths import paths, too_short
from anabranch.recommendation.search import Found, Varied
from anabranch.sweeps.paired import interval

_ROWS = 12
"""Of the table."""
_WORD = {"throughput": "the most goodput", "latency": "the least head-of-line delay", "memory": "the least memory"}


def text(found: Found, command: Sequence[str], width: int = 100) -> str:
    """The Pareto table, the recommendation, the command that makes it again, what was not tried."""
    parts = [_paths(found, width), _table(found), _said(found, command, width), _untried(found, width)]
    return "\n\n".join(part for part in parts if part)


def _paths(found: Found, width: int) -> str:
    lines = []
    links = paths(found.scenario)
    size = max(len(path.name) for path in links)
    for path in links:
        reached = _lone(found, path.name)
        lines += [f"{path.name:{size}}  {path}", f"{'':{size}}  plain TCP over it alone, at best: {reached}"]
    note = too_short(found.scenario)
    return "\n".join([*lines, *([textwrap.fill(note, width)] if note else [])])


def _lone(found: Found, path: str) -> str:
    alone = found.lone.get(path)
    if alone is None:
        return "no result; a larger --budget has time for it"
    without = f"; no time for {alone.untried} other controllers" if alone.untried else ""
    return f"{alone.goodput.mean:.2f} Mbit/s ({alone.controller}{without})"


def _table(found: Found) -> str:
    rows = _shown(found)
    named = any(one.detector for one in rows)
    head = [["", "", "", "", "", "receive", "", *(word for m in MEASURES for word in (m.title, "95 %"))]]
    head.append(["", "controller", "judge", "scheduler", "detector" if named else "", "buffer", "runs"])
    head[1] += [word for m in MEASURES for word in (_unit(m.field, m.unit), "+-")]
    body = []
    for candidate in rows:
        line = [
            "*" if candidate == found.best else "",
            *candidate[:3],
            candidate.detector or ("default" if named else ""),
            candidate.buffer,
        ]
        line.append(str(len(found.runs[candidate])))
        for measure in MEASURES:
            mean = found.interval(candidate, measure)
            half = mean.high - mean.mean
            line.append(f"{measure.scale * mean.mean:.{measure.decimals}f}")
            line.append("-" if math.isnan(half) else f"{measure.scale * half:.{measure.decimals}f}")
        body.append(line)
    cells = [*head, *body]
    sizes = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = [
        "  ".join(
            f"{text:{size}}" if 1 <= i <= 4 else f"{text:>{size}}"
            for i, (text, size) in enumerate(zip(row, sizes, strict=True))
            if size
        ).rstrip()
        for row in cells
    ]
    more = len(found.pareto) - len(rows)
    note = f"\n{more} more that nothing beats in everything" if more > 0 else ""
    return "nothing else that was tried beats one of these in everything:\n\n" + "\n".join(lines) + note


def _shown(found: Found) -> list[Candidate]:
    """The rows of the table, best first."""
    rows = found.pareto[:_ROWS]
    return rows if found.best in rows else [*rows[: _ROWS - 1], found.best]


def _unit(field: str, unit: str) -> str:
    return f"{unit}, p95" if field.endswith("p95") else unit


def _said(found: Found, command: Sequence[str], width: int) -> str:
    best = found.best
    goodput = found.interval(best, GOODPUT).mean
    lone = [one.goodput.mean for one in found.lone.values()]
    known = len(lone) == len(paths(found.scenario))
    plain = f"; plain TCP gets {max(lone):.2f} over the best path, {sum(lone):.2f} over all one by one" if known else ""
    line = (
        f"recommended: controller {best.controller}, judge {best.judge}, scheduler {best.scheduler}, "
        f"receive buffer {best.buffer}" + (f", detector {best.detector}" if best.detector else "")
    )
    notes = [
        f"for {_WORD[found.goal]}"
        + ("" if found.goal == "throughput" else f" among those with {100 * ENOUGH:.0f} % of the best goodput")
        + f": {goodput:.2f} Mbit/s{plain}"
    ]
    notes += _why_not(found)
    if found.equals:
        notes.append(
            f"{len(found.equals)} other{'s' * (len(found.equals) != 1)} cannot be told from it by "
            f"{GOALS[found.goal].title}; it is the one closest to the defaults"
        )
    notes += _runner_up(found)
    notes += _alike(found)
    if max(found.interval(one, GOODPUT).mean for one in found.finalists) < max(lone, default=0.0):
        notes.append("plain TCP over the best path alone is faster than any multipath connection that was tried")
    if best.controller in greedy():
        notes.append(
            f"{best.controller} takes more than one connection's share where paths have a bottleneck in common (RFC "
            "6356 is against that); no other traffic was simulated"
        )
    notes += [_with_queues(found, one) for one in found.varied]
    body = "\n".join(
        textwrap.fill(note, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        for note in notes
    )
    return f"{line}\n{body}\n\nthe same again:\n  {again(found, command)}"


def _alike(found: Found) -> list[str]:
    """Which finalists ran the same to the last event, so that it is no finding that one of them is named."""
    traces = {one: found.traces.get(one, {}) for one in found.finalists}
    notes = []
    for group in groups(traces):
        for kind in Candidate._fields:
            values = list(dict.fromkeys(getattr(one, kind) or "default" for one in group))
            rest = {tuple(value for name, value in one._asdict().items() if name != kind) for one in group}
            if len(values) > 1 and len(rest) == 1:
                notes.append(said(kind, values, len(traces[group[0]]), found.choices[group[0]], whole=False))
                break
        else:
            choices = found.choices[group[0]]
            notes.append(said("candidate", [str(one) for one in group], len(traces[group[0]]), choices, whole=False))
    return notes


def _runner_up(found: Found) -> list[str]:
    """What the next best would cost: the first that can be told apart, with another controller or scheduler if any."""
    best, goal = found.best, GOALS[found.goal]
    others = [one for one in found.finalists if one != best and one not in found.equals]
    others.sort(key=lambda one: (one.controller, one.scheduler) == (best.controller, best.scheduler))
    if not others:
        return []
    second = others[0]
    seeds = sorted(found.runs[best].keys() & found.runs[second].keys())
    parts = []
    for measure in sorted(MEASURES, key=lambda one: one != goal):
        apart = interval([found.runs[second][s][measure.field] - found.runs[best][s][measure.field] for s in seeds])
        own = interval([found.runs[best][seed][measure.field] for seed in seeds]).mean
        if abs(apart.mean) <= max(WORTH * abs(own), measure.least):
            parts += [f"as much {measure.title} within a hundredth"] if measure == goal else []
            continue
        share = f" ({100 * apart.mean / own:+.0f} %)" if own else ""
        value = f"{measure.scale * abs(apart.mean):.{measure.decimals}f} {measure.unit}"
        parts.append(f"{value} {'more' if apart.mean > 0 else 'less'} {measure.title}{share}")
    return [f"the runner-up, {second}, would have {', '.join(parts)}"] if parts else []


def _why_not(found: Found) -> list[str]:
    """Why it is not the row of the table that is best by the goal; nothing if it is."""
    measure = GOALS[found.goal]
    sign = -1 if measure.more else 1
    rows = sorted(_shown(found), key=lambda one: sign * found.interval(one, measure).mean)
    first = rows[0]
    value, own = (measure.scale * found.interval(one, measure).mean for one in (first, found.best))
    if first == found.best or f"{value:.{measure.decimals}f}" == f"{own:.{measure.decimals}f}":
        return []
    text = f"{first} shows {value:.{measure.decimals}f} {measure.unit}"
    most = max(found.interval(one, GOODPUT).mean for one in found.finalists)
    share = found.interval(first, GOODPUT).mean / most
    if found.goal != "throughput" and share < ENOUGH:
        return [f"{text}, but only {100 * share:.0f} % of the best goodput"]
    common = sorted(found.runs[first].keys() & found.runs[found.best].keys())
    apart = interval([found.runs[first][s][measure.field] - found.runs[found.best][s][measure.field] for s in common])
    if apart.n > 1 and apart.low <= 0 <= apart.high:
        low, high = (f"{measure.scale * x:+.{measure.decimals}f}" for x in (apart.low, apart.high))
        return [f"{text}, which may be chance: run by run the difference is {low} to {high} {measure.unit} (95 %)"]
    return [f"{text}: less than a hundredth apart, which counts as no difference"]


def _with_queues(found: Found, varied: Varied) -> str:
    """How the recommendation does with other queues than those assumed."""
    measure = GOALS[found.goal]
    times = "a quarter of the queues" if varied.factor < 1 else f"{varied.factor:g} times the queues"
    own = varied.results[found.best]

    def shown(result: Mapping[str, float]) -> str:
        return f"{measure.scale * result[measure.field]:.{measure.decimals}f} {measure.unit}"

    first = order(measure, varied.results)[0]
    text = f"with {times} ({', '.join(varied.queues)}) it has {shown(own)}"
    if len(varied.results) == 1:
        return text
    if first == found.best or compare(measure, varied.results[first], own) == 0:
        return f"{text}, as good as any of {len(varied.results)} that were tried there"
    return f"{text}; the best of {len(varied.results)} there is {first} with {shown(varied.results[first])}"


def again(found: Found, command: Sequence[str]) -> str:
    """The command that makes the recommended line again, with the same runs."""
    return shlex.join([*command, "--candidate", str(found.best), "--seeds", str(len(found.runs[found.best]))])


def _untried(found: Found, width: int) -> str:
    tried = len(found.runs)
    total = tried + len(found.untried) + len(found.failed.keys() - found.runs.keys())
    rounds = ", ".join(
        f"{one.candidates} with {one.seeds} seed{'s' * (one.seeds != 1)}"
        + ("" if one.made == one.candidates else f" (time for {one.made})")
        for one in found.rounds
    )
    said = [f"tried: {tried} of {total + found.beyond} combinations in {found.seconds:.0f} s: {rounds}."]
    if found.leaders:
        pairs = ", ".join(f"{one.controller} with {one.scheduler}" for one in found.leaders)
        said.append(f"Judges, detectors and further buffers were tried around the best of the first round: {pairs}.")
    if found.untried:
        said.append(f"No time for: {_missing(found.untried, found.runs)}.")
    if found.failed:
        candidate, error = next(iter(found.failed.items()))
        said.append(f"No result from {len(found.failed)}, such as {candidate}: {error.splitlines()[0]}.")
    if found.refused:
        said.append("Left out: " + "; ".join(f"{name} ({why})" for name, why in found.refused.items()) + ".")
    queues = "other queues than those above" if found.varied else "other queues (no time)"
    said.append(
        f"Not tried: {queues}, other sizes of the transfer and other directions, other traffic on the paths, responses "
        "other than each judge's own, its parameters, windows, timers, segment sizes, receive buffers between those "
        "above, and limits of the send buffer."
    )
    return textwrap.fill(" ".join(said), width, break_on_hyphens=False)


def _missing(untried: Sequence[Candidate], tried: Mapping[Candidate, object]) -> str:
    """What was not tried at all, or how many combinations."""
    whole = [
        f"{kind} {name}"
        for kind in CHOSEN
        for name in known(kind)
        if any(getattr(one, kind) == name for one in untried) and not any(getattr(one, kind) == name for one in tried)
    ]
    return f"{len(untried)} combinations" + (f", among them all with {', '.join(whole)}" if whole else "")
