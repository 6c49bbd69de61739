"""What a search found, as text and as HTML, from its summary alone."""

import textwrap
from collections.abc import Mapping
from html import escape
from typing import Any

from anabranch.measures.table import of_field
from anabranch.recommendation.candidates import GOALS, GOODPUT, MEASURES, Candidate, Measure
from anabranch.recommendation.command import has_candidates
from anabranch.recommendation.findings import recommended
from anabranch.results.page import table as html_table
from anabranch.sentences import recommend as say
from anabranch.tables import Column, Table

_SHOWN = 8
"""Rows of a first look without a comparison."""
_HEAD = 13
"""Characters of a heading."""


def headline(summary: Mapping[str, Any]) -> str:
    """Return the first line: the direction, the transfer, the paths, the goal."""
    return say.HEADLINE(
        goal=say.GOALS[summary["goal"]],
        transfer=summary["transfer"],
        direction=say.DIRECTIONS[summary["direction"]],
        paths=len(summary["paths"]),
    )


def answer(summary: Mapping[str, Any]) -> str:
    """Return the line with the recommendation, or why there is none."""
    best = summary["recommended"]
    if best is None:
        return str(summary["sentences"][0])
    return say.RECOMMENDED(candidate=recommended(_candidate(best)))


def text(summary: Mapping[str, Any], width: int = 80, table: int | None = None) -> str:
    """Return the answer, its sentences, the comparison, and the command that gives the same answer.

    Lines are `width` characters wide; columns of the table that do not fit `table` characters are left out.
    """
    size = max(len(path["name"]) for path in summary["paths"])
    paths = [f"{path['name']:{size}}  {path['described']}" for path in summary["paths"]]
    notes = summary["sentences"] if summary["recommended"] else summary["sentences"][1:]
    lines = [_wrapped(answer(summary), width, ""), *(_wrapped(note, width, "  ") for note in notes)]
    parts = ["\n".join([_wrapped(headline(summary), width, ""), *paths]), "\n".join(lines)]
    if summary["comparison"] is not None:
        caption = _wrapped(_caption(summary["comparison"]), width, "")
        parts.append("\n".join([caption, "", *compared(summary["comparison"]).text(table)]))
    elif summary["first_look"]:
        parts.append("\n".join([_wrapped(_looked(summary), width, ""), "", *looked(summary, _SHOWN).text(table)]))
    if summary["runs"]:
        parts.append(f"{say.AGAIN}\n  {summary['command']}")
    parts.append(_wrapped(say.NOT_TRIED(), width, ""))
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
    if comparison["identical"]:
        return say.COMPARED_IDENTICAL(identical=comparison["identical"])
    return say.COMPARED(runs=say.SPENT(runs=comparison["pairs"]))


def _looked(summary: Mapping[str, Any]) -> str:
    """The caption of the table of a first look, or of given candidates."""
    number = len(summary["first_look"])
    given = has_candidates(summary["command"])
    if number <= _SHOWN:
        return (say.LOOKED_GIVEN if given else say.LOOKED)(seed=summary["seed"])
    measure = GOALS[summary["goal"]].title
    some = say.LOOKED_GIVEN_SOME if given else say.LOOKED_SOME
    return some(seed=summary["seed"], shown=_SHOWN, looked=number, measure=measure)


def _candidate(row: Mapping[str, Any]) -> Candidate:
    names = ("controller", "judge", "scheduler", "receive_buffer", "detector", "alone", "backup")
    return Candidate(*(row[name] or "" for name in names))


def compared(comparison: Mapping[str, Any]) -> Table:
    """Return the table of a comparison: the goal with paired differences, and the other measures."""
    goal, *others = _ordered(comparison["goal"])
    rows = comparison["candidates"]
    values = [row[goal.name] for row in rows]
    apart = [value.get("difference") for value in values]
    halves = [None if each is None or each["low"] is None else each["high"] - each["mean"] for each in apart]
    columns = [
        Column((say.COLUMN_CANDIDATE,), [row["label"] for row in rows], left=True),
        Column(_head(goal), [goal.shown(value["mean"]) for value in values]),
        Column(say.COLUMN_DIFFERENCE, ["" if each is None else goal.shown(each["mean"], sign=True) for each in apart]),
        Column(say.COLUMN_INTERVAL, ["" if half is None else goal.shown(half) for half in halves]),
        Column(
            (say.COLUMN_EXACT if comparison["identical"] else say.COLUMN_SURE,),
            ["" if each is None else each["surely"] or "-" for each in apart],
            3,
        ),
    ]
    for one in others:
        drop = 0 if one == GOODPUT else 1
        columns.append(Column(_head(one), [one.shown(row[one.name]["mean"]) for row in rows], drop))
    return Table(columns)


def looked(summary: Mapping[str, Any], most: int | None = None) -> Table:
    """Return the table of the runs with the first seed, with at most `most` rows.

    A row has the measures of one candidate: of the first look, or a given candidate.
    """
    goal, *others = _ordered(GOALS[summary["goal"]].name)
    rows = sorted(summary["first_look"], key=lambda row: row[goal.name][0] * (-1 if goal.more else 1))[:most]
    columns = [Column((say.COLUMN_CANDIDATE,), [row["candidate"] for row in rows], left=True)]
    for drop, one in enumerate((goal, *others)):
        columns.append(Column(_head(one), [one.shown(row[one.name][0]) for row in rows], drop))
    return Table(columns)


def _ordered(goal: str) -> list[Measure]:
    """The measures, the goal first."""
    return sorted(MEASURES, key=lambda measure: measure.name != goal)


def _head(measure: Measure) -> tuple[str, ...]:
    """The label in lines short enough for a column of numbers.

    >>> _head(MEASURES[2])
    ('head-of-line', 'delay, 95th', 'percentile', '(ms)')
    """
    return tuple(textwrap.wrap(of_field(measure.field).label, _HEAD, break_on_hyphens=False))


def html(summary: Mapping[str, Any]) -> str:
    """Return the answer as HTML without style sheet, as a notebook shows it."""
    notes = summary["sentences"] if summary["recommended"] else summary["sentences"][1:]
    head = "<br>".join([f"<strong>{escape(answer(summary))}</strong>", escape(headline(summary))])
    paths = "<br>".join(escape(f"{path['name']}: {path['described']}") for path in summary["paths"])
    body = [f"<p>{head}</p><p>{paths}</p>", *(f"<p>{escape(note)}</p>" for note in notes)]
    if summary["comparison"] is not None:
        body += [f"<p>{escape(_caption(summary['comparison']))}</p>", table_html(compared(summary["comparison"]))]
    return "".join(body)


def table_html(made: Table) -> str:
    """Return a table as HTML."""
    head = tuple("<br>".join(map(escape, column.head)) for column in made.columns)
    cells = zip(*(map(escape, column.cells) for column in made.columns), strict=True)
    return html_table(head, list(cells))
