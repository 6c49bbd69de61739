"""A diagnosis as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.diagnosis.verdict import is_close, open_names
from anabranch.measures.causes import CAUSES
from anabranch.measures.table import two_lines
from anabranch.measures.units import significant
from anabranch.sentences import diagnose as say
from anabranch.sentences.escape import visible
from anabranch.tables import Column, Table

SHOWN = 6
"""Connections described in full; of further ones only the sentences."""


def diagnosis_text(summary: Mapping[str, Any], width: int | None = None) -> str:
    """The answer of ``anabranch diagnose``; tables fit `width`, if it is given."""
    ends, notes = split_notes(summary)
    lines = [visible(note) for note in ends]
    for number, connection in enumerate(summary["connections"]):
        if lines and (number or len(summary["connections"]) > 1):
            lines.append("")
        if len(summary["connections"]) > 1:
            lines.append(visible(connection["name"]))
        lines += [*connection["incomplete"], *connection["sentences"]]
        if number < SHOWN:
            lines += _details(connection, width)
    if notes:
        lines += ["", *(visible(note) for note in notes)]
    return "\n".join(lines).lstrip("\n")


def split_notes(summary: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Sentences above the diagnosis, about files and packets that are cut short, and the notes below it."""
    capture = summary["capture"]
    ends = [say.CUT(file=file["name"], reason=file["cut"]) for file in capture["files"] if file["cut"]]
    notes = [note for note in summary["notes"] if note not in ends]
    before_tcp = capture.get("cut_before_tcp")
    return [*ends, *([say.CUT_BEFORE_TCP(count=before_tcp)] if before_tcp else [])], notes


_DROPPED = (0, 0, 0, 6, 5, 2, 4, 3, 1)
"""Place of each column of `paths` in the order in which they are left out of a table that is too wide; 0: never."""


def _details(connection: Mapping[str, Any], width: int | None) -> list[str]:
    flows = connection["subflows"]
    lines = []
    if connection["causes"]:
        waited = _table(shares(connection), (0, 0, *range(len(flows), 0, -1)))
        lines += ["", *waited.text(width), note_on_shares(connection)]
    if connection["indistinct"]:
        template = say.INDISTINCT_CLOSE if is_close(connection) else say.INDISTINCT
        lines.append(template(causes=", ".join(open_names(connection))))
    lines += ["", *_table(paths(flows), _DROPPED, left=2).text(width)]
    if connection["events"]:
        lines += ["", *(visible(event) for event in connection["events"])]
    lines += ["", say.UNKNOWN()] if connection["unknown"] else []
    return lines + [f"  {unknown_line(told)}" for told in connection["unknown"]]


def unknown_line(told: Mapping[str, str]) -> str:
    """What the capture does not show, why, and what would show it.

    >>> unknown_line({"what": "joins", "why": "their SYNs do not reach the capture", "capture": "at the receiver"})
    'joins: their SYNs do not reach the capture (shown by a capture at the receiver)'
    """
    none, _, command = str(say.NO_CAPTURE).partition(": ")
    if told["capture"].startswith(f"{none}: "):
        shown_by = say.NO_CAPTURE_TELLS(command=command)
    else:
        shown_by = say.CAPTURE_WOULD_TELL(place=told["capture"])
    return say.UNKNOWN_LINE(what=told["what"], why=told["why"], capture=shown_by)


def _table(rows: Sequence[Sequence[str]], dropped: Sequence[int], left: int = 1) -> Table:
    """The rows, of which the first one is the heading; the first `left` columns are flush left."""
    columns = []
    for i, ((head, *cells), drop) in enumerate(zip(zip(*rows, strict=True), dropped, strict=True)):
        columns.append(Column((head,) if i < left else two_lines(head), cells, drop, left=i < left))
    return Table(columns)


def note_on_shares(connection: Mapping[str, Any]) -> str:
    """Return what of the shares that `shares` lists is inferred."""
    if connection["is_known"]:
        return say.KNOWN()
    at_receiver = any(place != connection["data_from"] for place in connection["captured_at"])
    has_blocking = any(row[0] == CAUSES["head_of_line"].name for row in shares(connection))
    return (say.INFERRED_AND_BLOCKING if has_blocking and not at_receiver else say.INFERRED)()


def shares(connection: Mapping[str, Any]) -> list[list[str]]:
    """Rows: a cause, its share of the connection's time and of each subflow's."""
    flows, causes = connection["subflows"], connection["causes"] or {}
    rows = [[say.TABLE_CAUSES(), say.TABLE_ALL(), *(flow["client"] for flow in flows)]]
    for name, share in sorted(causes.items(), key=lambda pair: -pair[1]):
        cells = [(flow["causes"] or {}).get(name) for flow in flows]
        if max([share, *(c for c in cells if c is not None)]) >= 0.005:
            cause = CAUSES[name].name
            mark = cause if CAUSES[name].fact or connection["is_known"] else say.MARK(cause=cause)
            rows.append([mark, *("-" if c is None else f"{100 * c:.1f} %" for c in [share, *cells])])
    return rows


def paths(flows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Rows: what each path was found to be."""

    def carries(flow: Mapping[str, Any]) -> str:
        if flow["capacity_given"]:
            return say.CAPACITY_GIVEN(capacity=significant(flow["capacity_mbps"]))
        if flow["capacity_mbps"]:
            rate = significant(flow["capacity_mbps"])
            low, high = significant(flow["capacity_low_mbps"]), significant(flow["capacity_high_mbps"])
            return rate if low == high else say.CAPACITY_RANGE(capacity=rate, low=low, high=high)
        least = flow["capacity_at_least_mbps"]
        return say.CAPACITY_BOUND(capacity=significant(least)) if least else "-"

    rows = [[head() for head in say.TABLE_PATHS]]
    for flow in flows:
        rows.append(
            [
                str(flow["path"]),
                f"{flow['client']} - {flow['server']}",
                carries(flow),
                f"{significant(flow['goodput_mbps'])}",
                *(
                    "-" if flow[key] is None else f"{significant(flow[key])}"
                    for key in ("base_rtt_ms", "queue_max_ms", "lost_congestion", "lost_random", "blocked_others_s")
                ),
            ]
        )
    return rows
