"""What a search found, as text."""

import math
import shlex
import textwrap
from collections.abc import Mapping, Sequence

from anabranch.recommend.candidates import ENOUGH, GOALS, GOODPUT, MEASURES, Candidate, known
from anabranch.recommend.search import Found

_ROWS = 12
"""Of the table."""
_GREEDY = frozenset(("uncoupled", "cubic"))
"""Those whose subflows take a share each where they meet (docs/validation.md: do no harm)."""
_WORD = {"throughput": "the most goodput", "latency": "the least head-of-line delay", "memory": "the least memory"}


def text(found: Found, command: Sequence[str], width: int = 100) -> str:
    """The Pareto table, the recommendation, the command that makes it again, what was not tried."""
    parts = [_paths(found), _table(found), _said(found, command, width), _untried(found, width)]
    return "\n\n".join(part for part in parts if part)


def _paths(found: Found) -> str:
    lines = []
    links = found.scenario.check()["links"]
    size = max(len(link["name"]) for link in links)
    for link in links:
        alone = found.lone[link["name"]]
        lines.append(f"{link['name']:{size}}  plain TCP over it alone: {alone.mean:.2f} Mbit/s")
    return "\n".join(lines)


def _table(found: Found) -> str:
    rows = found.pareto[:_ROWS]
    if found.best not in rows:
        rows = [*rows[: _ROWS - 1], found.best]
    head = [["", "", "", "", "", "receive", "", *(word for m in MEASURES for word in (m.title, "95 %"))]]
    head.append(["", "controller", "recovery", "scheduler", "", "buffer", "runs"])
    head[1] += [word for m in MEASURES for word in (_unit(m.field, m.unit), "+-")]
    body = []
    for candidate in rows:
        line = ["*" if candidate == found.best else "", *candidate[:3], "", candidate.buffer]
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
            f"{text:{size}}" if 1 <= i <= 3 else f"{text:>{size}}"
            for i, (text, size) in enumerate(zip(row, sizes, strict=True))
            if size
        ).rstrip()
        for row in cells
    ]
    more = len(found.pareto) - len(rows)
    note = f"\n{more} more that nothing beats in everything" if more > 0 else ""
    return "nothing else that was tried beats one of these in everything:\n\n" + "\n".join(lines) + note


def _unit(field: str, unit: str) -> str:
    return f"{unit}, p95" if field.endswith("p95") else unit


def _said(found: Found, command: Sequence[str], width: int) -> str:
    best = found.best
    goodput = found.interval(best, GOODPUT).mean
    lone = [mean.mean for mean in found.lone.values()]
    alone, together = max(lone), sum(lone)
    line = (
        f"recommended: controller {best.controller}, recovery {best.recovery}, scheduler {best.scheduler}, "
        f"receive buffer {best.buffer}"
    )
    notes = [
        f"for {_WORD[found.goal]}"
        + ("" if found.goal == "throughput" else f" among those with {ENOUGH:.0%} of the best goodput")
        + f": {goodput:.2f} Mbit/s; plain TCP gets {alone:.2f} over the best path, {together:.2f} over all one by one"
    ]
    if found.equals:
        notes.append(
            f"{len(found.equals)} others cannot be told from it by {GOALS[found.goal].title}; it is the one closest to "
            "the defaults"
        )
    if max(found.interval(one, GOODPUT).mean for one in found.finalists) < alone:
        notes.append("plain TCP over the best path alone is faster than any multipath connection that was tried")
    if best.controller in _GREEDY:
        notes.append(
            f"{best.controller} takes more than one connection's share where paths have a bottleneck in common (RFC "
            "6356 is against that); no other traffic was simulated"
        )
    body = "\n".join(
        textwrap.fill(note, width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        for note in notes
    )
    return f"{line}\n{body}\n\nthe same again:\n  {again(found, command)}"


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
    said = [f"tried: {tried} of {total} combinations in {found.seconds:.0f} s: {rounds}."]
    if found.untried:
        said.append(f"No time for: {_missing(found.untried, found.runs)}.")
    if found.failed:
        candidate, error = next(iter(found.failed.items()))
        said.append(f"No result from {len(found.failed)}, such as {candidate}: {error.splitlines()[0]}.")
    said.append(
        "Not tried: other sizes of the transfer and other directions, other traffic on the paths, responses other than "
        "each recovery's own, its parameters, windows, timers, segment sizes and receive buffers between those above."
    )
    return textwrap.fill(" ".join(said), width, break_on_hyphens=False)


def _missing(untried: Sequence[Candidate], tried: Mapping[Candidate, object]) -> str:
    """What was not tried at all, or how many combinations."""
    whole = [
        f"{kind} {name}"
        for i, kind in enumerate(("controller", "recovery", "scheduler"))
        for name in known(kind)
        if any(one[i] == name for one in untried) and not any(one[i] == name for one in tried)
    ]
    return f"{len(untried)} combinations" + (f", among them all with {', '.join(whole)}" if whole else "")
