"""What a search found, as text and as HTML, from its summary alone."""

import textwrap
from collections.abc import Mapping
from html import escape
from typing import Any

from anabranch import units
from anabranch.recommendation.candidates import GOALS, MEASURES, Candidate, Measure
from anabranch.recommendation.sentences import GOAL_WORDS, recommended
from anabranch.report import table
from anabranch.tables import aligned

_SHOWN = 8
"""Rows of a first look without a comparison."""
DIRECTIONS = {"down": "server to client", "up": "client to server", "both": "both ways at once"}
_NOT_TRIED = (
    "Not tried: other sizes of the transfer, other directions, other traffic on the paths, responses other than each "
    "judge's own, parameters of algorithms, timers, segment sizes, receive buffers between those above, and limits of "
    "the send buffer."
)


def headline(summary: Mapping[str, Any]) -> str:
    """Return the first line: the direction, the transfer, the paths, the goal."""
    way = summary["direction"]
    return (
        f"{way} ({DIRECTIONS[way]}): {summary['transfer']} over {units.count(len(summary['paths']), 'path')}, for "
        f"{GOAL_WORDS[summary['goal']]}"
    )


def answer(summary: Mapping[str, Any]) -> str:
    """Return the line with the recommendation, or why there is none."""
    best = summary["recommended"]
    if best is None:
        return str(summary["sentences"][0])
    return f"recommended: {recommended(_candidate(best))}"


def text(summary: Mapping[str, Any], width: int = 80) -> str:
    """Return the answer, its sentences, the comparison, and the command that gives the same answer."""
    size = max(len(path["name"]) for path in summary["paths"])
    paths = [f"{path['name']:{size}}  {path['described']}" for path in summary["paths"]]
    notes = summary["sentences"] if summary["recommended"] else summary["sentences"][1:]
    lines = [_wrapped(answer(summary), width, ""), *(_wrapped(note, width, "  ") for note in notes)]
    parts = ["\n".join([_wrapped(headline(summary), width, ""), *paths]), "\n".join(lines)]
    if summary["comparison"] is not None:
        caption = _wrapped(f"{_caption(summary['comparison'])}:", width, "")
        parts.append("\n".join([caption, "", *aligned(rows(summary["comparison"]))]))
    elif summary["first_look"]:
        caption = _wrapped(
            f"the first look, one run of each with seed {summary['seed']}, which proves nothing:", width, ""
        )
        parts.append("\n".join([caption, "", *aligned(looked(summary, _SHOWN))]))
    parts.append(f"the same again:\n  {summary['command']}")
    parts.append(_wrapped(_NOT_TRIED, width, ""))
    return "\n\n".join(parts)


def _wrapped(line: str, width: int, indent: str) -> str:
    return textwrap.fill(
        line,
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_on_hyphens=False,
        break_long_words=False,
    )


def _caption(comparison: Mapping[str, Any]) -> str:
    pairs = units.count(comparison["pairs"], "run") + " of each"
    if comparison["identical"]:
        pairs = f"1 run ({comparison['identical']} identical) of each"
    return f"{pairs}, the same seeds for all; differences are of pairs, against the first line"


def _candidate(row: Mapping[str, Any]) -> Candidate:
    names = ("controller", "judge", "scheduler", "receive_buffer", "detector", "alone", "backup")
    return Candidate(*(row[name] or "" for name in names))


def _ordered(comparison: Mapping[str, Any]) -> list[Measure]:
    """The measures, the goal first."""
    return sorted(MEASURES, key=lambda measure: _name(measure) != comparison["goal"])


def rows(comparison: Mapping[str, Any]) -> list[list[str]]:
    """Return the table of a comparison: the goal with paired differences, and the other measures."""
    goal, *others = _ordered(comparison)
    head = [["", goal.title, "difference", "95 %", *(one.title for one in others)]]
    units_of = [_unit(one) for one in (goal, *others)]
    head.append(["", units_of[0], "", "+-", *units_of[1:]])
    body = []
    for row in comparison["candidates"]:
        values = {one: row[_name(one)] for one in (goal, *others)}
        apart = values[goal].get("difference")
        differs = ["", ""]
        if apart is not None:
            half = None if apart["low"] is None else apart["high"] - apart["mean"]
            differs = [_number(apart["mean"], goal, "+"), "-" if half is None else _number(half, goal)]
        body.append(
            [
                row["label"],
                _number(values[goal]["mean"], goal),
                *differs,
                *(_number(values[o]["mean"], o) for o in others),
            ]
        )
    return [*head, *body]


def _unit(measure: Measure) -> str:
    return f"{measure.unit}, p95" if measure.field.endswith("p95") else measure.unit


def _number(value: float, measure: Measure, sign: str = "") -> str:
    return f"{measure.scale * value:{sign}.{measure.decimals}f}"


def html(summary: Mapping[str, Any]) -> str:
    """Return the answer as HTML without style sheet, as a notebook shows it."""
    notes = summary["sentences"] if summary["recommended"] else summary["sentences"][1:]
    head = "<br>".join([f"<strong>{escape(answer(summary))}</strong>", escape(headline(summary))])
    paths = "<br>".join(escape(f"{path['name']}: {path['described']}") for path in summary["paths"])
    body = [f"<p>{head}</p><p>{paths}</p>", *(f"<p>{escape(note)}</p>" for note in notes)]
    if summary["comparison"] is not None:
        body += [f"<p>{escape(_caption(summary['comparison']))}</p>", comparison_html(summary["comparison"])]
    return "".join(body)


def comparison_html(comparison: Mapping[str, Any]) -> str:
    """Return the table of a comparison as HTML."""
    first, second, *body = rows(comparison)
    head = tuple("<br>".join(filter(None, map(escape, cells))) for cells in zip(first, second, strict=True))
    return table(head, [[escape(cell) for cell in row] for row in body])


def looked(summary: Mapping[str, Any], most: int | None = None) -> list[list[str]]:
    """Return the first look: what each candidate had with the first seed; only the best `most`, if given."""
    goal = GOALS[summary["goal"]]
    found = sorted(summary["first_look"], key=lambda row: row[_name(goal)][0] * (-1 if goal.more else 1))
    measures = [goal, *(one for one in MEASURES if one != goal)]
    head = [["", *(one.title for one in measures)], ["candidate", *map(_unit, measures)]]
    return [
        *head,
        *([row["candidate"], *(_number(row[_name(one)][0], one) for one in measures)] for row in found[:most]),
    ]


def _name(measure: Measure) -> str:
    return measure.field.replace(".", "_")
