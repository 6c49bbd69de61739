"""Aligned text: what ``anabranch run`` answers with. ASCII only, so that it looks the same on every terminal."""

import csv
import io
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from anabranch import applications, recovery, units
from anabranch.explain import largest_limit, limits, notices
from anabranch.labels import Labels, connections_of, judge_key
from anabranch.visible import visible

if TYPE_CHECKING:
    from anabranch.capture_data import CaptureData
    from anabranch.run_data import RunData


MOST = 24
"""Rows of a table that people read; of more, the extremes and a summary."""
_ENDS = 8


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


def shortened(
    rows: Sequence[Sequence[str]], values: Sequence[float | None], what: str, most: int = MOST
) -> tuple[list[Sequence[str]], list[str]]:
    """Of more rows than one reads, those with the highest and lowest of `values`, and lines about all of them.

    >>> kept, about = shortened([[str(i)] for i in range(100)], [float(i) for i in range(100)], "goodput")
    >>> len(kept), kept[0], kept[8], kept[-1]
    (17, ['99'], ['...'], ['0'])
    >>> print(about[1])
    shown are the 8 highest and the 8 lowest of 100, by goodput: mean 49.5, median 49.5
    """
    if len(rows) <= most:
        return list(rows), []
    known = [(-math.inf if value is None or math.isnan(value) else value) for value in values]
    order = sorted(range(len(rows)), key=lambda i: -known[i])
    dots = ["...", *("" for _ in rows[0][1:])]
    kept = [rows[i] for i in order[:_ENDS]] + [dots] + [rows[i] for i in order[-_ENDS:]]
    real = [value for value in known if value > -math.inf]
    about = f"shown are the {_ENDS} highest and the {_ENDS} lowest of {len(rows)}, by {what}"
    if real:
        mean, median = (units.significant(f(real)) for f in (statistics.fmean, statistics.median))
        about += f": mean {mean}, median {median}"
    return kept, ["", about]


def run_table(run: "RunData") -> str:
    """The text answer to a run: what happened in words, then one row per subflow."""
    summary = run.summary
    connections = connections_of(summary)
    lines = [title_of(run)]
    lines += [setting(run, i) for i in range(len(connections))] if len(connections) == 1 else []
    lines += ["", *verdict(summary), *out_of_range(run), ""]
    if len(connections) > 1:
        lines += [*connection_rows(run), ""]
    lines += subflow_rows(connections, run.labels)
    return "\n".join(lines)


def verdict(summary: Mapping[str, Any]) -> list[str]:
    """What happened, in sentences: how it ended, why it was not faster, how fair it was, what came out of order."""
    lines = [outcome(summary), *recovery.told(summary), *applications.told(summary), limits(summary), *notices(summary)]
    if summary.get("jain") is not None:
        lines.append(f"Jain's index of the goodputs: {units.significant(summary['jain'])} (1: all the same)")
    return [line for line in [*lines, disorder(summary)] if line]


def title_of(run: "RunData") -> str:
    """The scenario's title, or what stands for it."""
    return visible(run.summary.get("title") or "untitled scenario")


def setting(run: "RunData", connection: int) -> str:
    """Protocol and algorithms of a connection, and the seed."""
    try:
        described = run.scenario["connections"][connection]
    except (ValueError, KeyError, IndexError):
        return f"seed {run.summary['seed']}"
    words = [described["protocol"]]
    if described["protocol"] != "udp":
        words.append(f"controller {described['controller']}")
        judge = judge_key(described)
        words.append(f"{judge} {described[judge]}")
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


def out_of_range(run: "RunData") -> list[str]:
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
        if wifi.get("mcs") is not None and wifi["read_from_dbm"] > wifi["noticed_from_dbm"]:
            least = f"MCS {wifi['mcs']} is read from {wifi['read_from_dbm']:g} dBm on"
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
    held = (
        f"at most {units.count(summary['ooo_buffer_max_packets'], 'packet')} "
        f"({units.octets(summary['ooo_buffer_max_bytes'])}) waited in the reordering buffer"
    )
    return f"out of order: {units.percent(summary['ooo_ratio'])} of data segments; {held}"


def connection_rows(run: "RunData") -> list[str]:
    """One row per connection."""
    connections = connections_of(run.summary)
    rates = [c["goodput_mbps"] for c in connections]
    head = ["connection", "protocol", "status", "Mbit/s", "read", "completion", "out of order", "packets held"]
    rows = []
    for connection, rate in zip(connections, units.column(rates), strict=True):
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
                largest_limit(connection),
            ]
        )
    kept, about = shortened(rows, rates, "goodput")
    return [*aligned([[*head, "limited most by"], *kept], left=3), *about]


class Column(NamedTuple):
    """A column about subflows.

    Attributes
    ----------
    head : tuple of str
        Two lines.
    key : str
        In the summary.
    scale : float
        Of the number there.
    summed : bool
        The sum over subflows means something.
    """

    head: tuple[str, str]
    key: str
    scale: float = 1.0
    summed: bool = True

    def of(self, flow: Mapping[str, Any]) -> float | None:
        """The number of a subflow."""
        value: float | None = flow[self.key]
        return value if value is None or self.scale == 1 else value * self.scale


COLUMNS = (
    Column(("goodput", "Mbit/s"), "goodput_mbps"),
    Column(("link used", "%"), "utilisation", 100.0, summed=False),
    Column(("data", "segments"), "segments"),
    Column(("resent", "fast"), "retransmissions_fast"),
    Column(("resent", "by timeout"), "retransmissions_timeout"),
    Column(("resent", "needlessly"), "spurious"),
    Column(("window cuts", "undone"), "undone"),
    Column(("srtt", "ms"), "srtt_ms", summed=False),
    Column(("mean cwnd", "segments"), "cwnd_mean_segments", summed=False),
    Column(("queue", "drops"), "queue_drops"),
)


def subflow_rows(connections: Sequence[Mapping[str, Any]], labels: Labels) -> list[str]:
    """Two rows of headings, one row per subflow, and a sum if there are several of one connection, or very many."""
    keys = [(c, s) for c, connection in enumerate(connections) for s in range(len(connection["subflows"]))]
    flows = [connections[c]["subflows"][s] for c, s in keys]
    names = [labels.get(key, f"path {flow['path']}") for key, flow in zip(keys, flows, strict=True)]
    last, columns = subflow_columns(connections)
    rows = list(zip([*names, last] if last else names, *columns, strict=True))
    kept, about = shortened(rows[: len(flows)], [flow["goodput_mbps"] for flow in flows], "goodput")
    heads = zip(["", ""], *(column.head for column in COLUMNS), strict=True)
    return [*aligned([*heads, *kept, *rows[len(flows) :]]), *about]


def subflow_columns(connections: Sequence[Mapping[str, Any]]) -> tuple[str, list[list[str]]]:
    """The cells of each of `COLUMNS`; the last row, if it has a name, is about all subflows."""
    flows = [flow for connection in connections for flow in connection["subflows"]]
    last = "together" if len(connections) == 1 else f"all {len(flows)}" if len(flows) > MOST else ""
    last = last if len(flows) > 1 else ""
    cells = []
    for column in COLUMNS:
        values = [column.of(flow) for flow in flows]
        cells.append(numbers([*values, sum(x or 0 for x in values)] if last else values))
        # Goodputs of connections that last differently make no sum; the sentence above has that of all.
        if last and (not column.summed or (len(connections) > 1 and column.key == "goodput_mbps")):
            cells[-1][-1] = ""
    return last, cells


def numbers(values: Sequence[float | None]) -> list[str]:
    """Cells: counts as they are, all else with the digits that matter."""
    if all(isinstance(value, int) for value in values):
        return [str(value) for value in values]
    return units.column(list(values))


def subflow_csv(run: "RunData | CaptureData") -> str:
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
