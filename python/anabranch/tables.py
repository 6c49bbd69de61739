"""Aligned text: what ``anabranch run`` answers with. ASCII only, so that it looks the same on every terminal."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch import units
from anabranch.explain import limits
from anabranch.labels import Labels, connections_of

if TYPE_CHECKING:
    from anabranch.capture import Capture
    from anabranch.results import Run


def aligned(rows: Sequence[Sequence[str]], left: int = 1, gap: str = "  ") -> list[str]:
    """Lay `rows` out in columns; the first `left` columns are flush left, the others flush right.

    >>> aligned([["path", "segments"], ["0", "10325"]])
    ['path  segments', '0        10325']
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        gap.join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def run_table(run: "Run") -> str:
    """The text answer to a run: what happened in words, then one row per subflow."""
    summary = run.summary
    connections = connections_of(summary)
    lines = [title_of(run)]
    lines += [setting(run, i) for i in range(len(connections))] if len(connections) == 1 else []
    lines += ["", outcome(summary)]
    lines += [disorder(summary)]
    lines += out_of_range(run)
    lines += [line for line in [limits(connections[0])] if line and len(connections) == 1]
    lines += [""]
    if len(connections) > 1:
        lines += [*connection_rows(run), ""]
    lines += subflow_rows(connections, run.labels)
    return "\n".join(lines)


def title_of(run: "Run") -> str:
    """The scenario's title, or what stands for it."""
    return run.summary.get("title") or "untitled scenario"


def setting(run: "Run", connection: int) -> str:
    """Protocol and algorithms of a connection, and the seed."""
    try:
        described = run.scenario["connections"][connection]
    except (ValueError, KeyError, IndexError):
        return f"seed {run.summary['seed']}"
    words = [described["protocol"]]
    if described["protocol"] != "udp":
        words.append(f"controller {described['controller']}")
        words.append(f"recovery {described['recovery']}")
    if "scheduler" in described and described["protocol"] == "mptcp":  # the legacy model has one, without a name
        words.append(f"scheduler {described['scheduler']}")
    return ", ".join([*words, f"seed {run.summary['seed']}"])


def outcome(summary: Mapping[str, Any]) -> str:
    """How a run or a connection ended, in a sentence."""
    status = summary["status"]
    if status == "completed":
        end = "completed"
        if summary["completion_s"] is not None:
            end += f" in {units.time(summary['completion_s'])}"
    elif status == "stalled":
        since = summary.get("stalled_since_s")
        end = "stalled" + ("" if since is None else f" since {units.time(since)}")
    elif status == "aborted":
        end = f"aborted by the {summary['aborted_by']}"
    else:
        end = "stopped at its `duration`"
    amount = units.octets(summary["bytes_delivered"])
    fallback = ", fell back to TCP" if summary.get("fallback") else ""
    return f"{end}: {amount} read at {units.rate(summary['goodput_mbps'] * 1e6)}{fallback}, {content(summary)}"


def out_of_range(run: "Run") -> list[str]:
    """A sentence for each wireless link whose station was, or came, out of range before the run was over."""
    try:
        scenario = run.scenario
    except ValueError:
        return []
    end = run.summary["completion_s"]
    lines = []
    for link in scenario["links"]:
        wifi = link.get("wifi")
        since = wifi and wifi["out_of_range_from_s"]
        if wifi is None or since is None or (end is not None and since > end):
            continue
        least = f"frames are noticed from {wifi['noticed_from_dbm']:g} dBm on"
        if since > 0:
            lines.append(f"{link['name']} was out of range from {units.time(since)} on: {least}")
        else:
            power = f"at {units.significant(wifi['distance_m'])} m its ends receive {wifi['received_dbm']:.1f} dBm"
            lines.append(f"{link['name']} was out of range: {power}, {least}")
    return lines


def content(summary: Mapping[str, Any]) -> str:
    """Whether what was read is what was sent."""
    if summary["content_ok"]:
        return "content verified"
    if summary["bytes_altered"]:
        return f"{units.octets(summary['bytes_altered'])} OF IT ALTERED BY A MIDDLEBOX"
    return "CONTENT DIFFERS FROM WHAT WAS SENT"


def disorder(summary: Mapping[str, Any]) -> str:
    """Out-of-order arrival, in a sentence."""
    packets = summary["ooo_buffer_max_packets"]
    held = (
        f"at most {packets} packet{'' if packets == 1 else 's'} "
        f"({units.octets(summary['ooo_buffer_max_bytes'])}) waited in the reordering buffer"
    )
    return f"out of order: {units.percent(summary['ooo_ratio'])} of data segments; {held}"


def connection_rows(run: "Run") -> list[str]:
    """One row per connection."""
    connections = connections_of(run.summary)
    goodput = units.column([c["goodput_mbps"] for c in connections])
    rows = [["connection", "protocol", "status", "Mbit/s", "read", "completion", "out of order", "max. buffer"]]
    for connection, rate in zip(connections, goodput, strict=True):
        completion = connection["completion_s"]
        rows.append(
            [
                connection["name"],
                connection["protocol"],
                connection["status"],
                rate,
                units.octets(connection["bytes_delivered"]),
                "-" if completion is None else units.time(completion),
                units.percent(connection["ooo_ratio"]),
                str(connection["ooo_buffer_max_packets"]),
            ]
        )
    return aligned(rows, left=3)


def subflow_rows(connections: Sequence[Mapping[str, Any]], labels: Labels) -> list[str]:
    """Two rows of headings, one row per subflow, and a sum if there are several."""
    keys = [(c, s) for c, connection in enumerate(connections) for s in range(len(connection["subflows"]))]
    flows = [connections[c]["subflows"][s] for c, s in keys]
    goodput: list[float | None] = [flow["goodput_mbps"] for flow in flows]
    total = len(flows) > 1 and len(connections) == 1
    columns = [
        ["", "", *[labels.get(key, f"path {flow['path']}") for key, flow in zip(keys, flows, strict=True)]],
        ["goodput", "Mbit/s", *units.column([*goodput, sum(g or 0.0 for g in goodput)])[: len(flows)]],
        ["used", "%", *units.column([_scaled(flow["utilisation"], 100) for flow in flows])],
        ["data", "segments", *(str(flow["segments"]) for flow in flows)],
        ["resent", "fast", *(str(flow["retransmissions_fast"]) for flow in flows)],
        ["resent", "timeout", *(str(flow["retransmissions_timeout"]) for flow in flows)],
        ["of these", "spurious", *(str(flow["spurious"]) for flow in flows)],
        ["answers", "undone", *(str(flow["undone"]) for flow in flows)],
        ["srtt", "ms", *units.column([flow["srtt_ms"] for flow in flows])],
        ["mean cwnd", "segments", *units.column([flow["cwnd_mean_segments"] for flow in flows])],
        ["queue", "drops", *(str(flow["queue_drops"]) for flow in flows)],
    ]
    if total:
        whole = [*goodput, sum(g or 0.0 for g in goodput)]
        columns[0].append("together")
        columns[1].append(units.column(whole)[-1])
        columns[2].append("")
        for column, key in zip(
            columns[3:8],
            ("segments", "retransmissions_fast", "retransmissions_timeout", "spurious", "undone"),
            strict=True,
        ):
            column.append(str(sum(flow[key] for flow in flows)))
        columns[8].append("")
        columns[9].append("")
        columns[10].append(str(sum(flow["queue_drops"] for flow in flows)))
    return aligned(list(zip(*columns, strict=True)))


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def subflow_csv(run: "Run | Capture") -> str:
    """One row per subflow as CSV: ``connection`` and the fields of ``subflows`` in the summary."""
    rows = [
        {"connection": c, **{key: value for key, value in flow.items() if key != "connection"}}
        for c, connection in enumerate(connections_of(run.summary))
        for flow in connection["subflows"]
    ]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]) if rows else ["connection", "path"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
