"""A diagnosis as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.causes import CAUSES
from anabranch.measures import two_lines
from anabranch.tables import Column, Table
from anabranch.units import significant
from anabranch.visible import visible

SHOWN = 6
"""Connections described in full; of further ones only the sentences."""

INFERRED = "(?) inferred from how the sender behaves; the others are facts"
KNOWN = "the run's own figures: nothing is inferred"


def diagnosis_text(summary: Mapping[str, Any], width: int | None = None) -> str:
    """The answer of ``anabranch diagnose``; tables fit `width`, if it is given."""
    lines: list[str] = []
    for number, connection in enumerate(summary["connections"]):
        if number:
            lines.append("")
        if len(summary["connections"]) > 1:
            lines.append(visible(connection["name"]))
        lines += connection["sentences"]
        if number < SHOWN:
            lines += _details(connection, width)
    if summary["notes"]:
        lines += ["", *(visible(note) for note in summary["notes"])]
    return "\n".join(lines).lstrip("\n")


_DROPPED = (0, 0, 0, 6, 5, 2, 4, 3, 1)
"""Place of each column of `paths` in the order in which they are left out of a table that is too wide; 0: never."""


def _details(connection: Mapping[str, Any], width: int | None) -> list[str]:
    flows = connection["subflows"]
    lines = []
    if connection["causes"]:
        waited = _table(shares(connection), (0, 0, *range(len(flows), 0, -1)))
        lines += ["", *waited.text(width), note_on_shares(connection)]
    if connection["indistinct"]:
        own = ", ".join(CAUSES[name].name for name in connection["indistinct"])
        lines.append(f"not told apart by this capture, only their sum is known: {own}")
    lines += ["", *_table(paths(flows), _DROPPED, left=2).text(width)]
    if connection["events"]:
        lines += ["", *(visible(event) for event in connection["events"])]
    lines += ["", "not known from here:"] if connection["unknown"] else []
    lines += [f"  {told['what']}: {told['why']} ({teller(told['capture'])})" for told in connection["unknown"]]
    return lines


def teller(capture: str) -> str:
    """Which capture would tell.

    >>> teller("at the sender"), teller("none: ask `ss -tim`")
    ('capture at the sender', 'no capture: ask `ss -tim`')
    """
    return f"no capture{capture.removeprefix('none')}" if capture.startswith("none") else f"capture {capture}"


def _table(rows: Sequence[Sequence[str]], dropped: Sequence[int], left: int = 1) -> Table:
    """The rows, of which the first one is the heading; the first `left` columns are flush left."""
    columns = []
    for i, ((head, *cells), drop) in enumerate(zip(zip(*rows, strict=True), dropped, strict=True)):
        columns.append(Column((head,) if i < left else two_lines(head), cells, drop, left=i < left))
    return Table(columns)


def note_on_shares(connection: Mapping[str, Any]) -> str:
    """What of the shares is inferred."""
    return KNOWN if connection["is_known"] else INFERRED


def shares(connection: Mapping[str, Any]) -> list[list[str]]:
    """Rows: a cause, its share of the connection's time and of each subflow's."""
    flows, causes = connection["subflows"], connection["causes"] or {}
    rows = [["waited for", "all", *(flow["client"] for flow in flows)]]
    for name, share in sorted(causes.items(), key=lambda pair: -pair[1]):
        cells = [(flow["causes"] or {}).get(name) for flow in flows]
        if max([share, *(c for c in cells if c is not None)]) >= 0.005:
            mark = "" if CAUSES[name].fact or connection["is_known"] else " (?)"
            rows.append(
                [CAUSES[name].name + mark, *("-" if c is None else f"{100 * c:.1f} %" for c in [share, *cells])]
            )
    return rows


def paths(flows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Rows: what each path was found to be."""

    def carries(flow: Mapping[str, Any]) -> str:
        if flow["capacity_given"]:
            return f"{significant(flow['capacity_mbps'])} (given)"
        if flow["capacity_mbps"]:
            low, high = flow["capacity_low_mbps"], flow["capacity_high_mbps"]
            spread = f" ({significant(low)} to {significant(high)})" if low < high else ""
            return f"{significant(flow['capacity_mbps'])}{spread}"
        return f">= {significant(flow['capacity_at_least_mbps'])}" if flow["capacity_at_least_mbps"] else "-"

    head = [
        "path",
        "between",
        "capacity (Mbit/s)",
        "goodput (Mbit/s)",
        "base RTT (ms)",
        "queue (ms)",
        "lost: full queue",
        "lost: random",
        "blocking caused (s)",
    ]
    rows = [head]
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
