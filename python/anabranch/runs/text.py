"""What ``anabranch run`` answers with: sentences, and tables of connections and subflows."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from anabranch.algorithms.references import short_name
from anabranch.measures import units
from anabranch.measures.labels import Labels, connections_of, judge_key
from anabranch.measures.table import MEASURES, scale
from anabranch.runs import applications, recovery
from anabranch.runs.limits import largest_limit, limits, notices
from anabranch.sentences import run as say
from anabranch.sentences.escape import visible
from anabranch.tables.layout import MOST, Column, Document, Table, kept_rows, picked

if TYPE_CHECKING:
    from anabranch.runs.data import RunData


_NAMED = 8
"""Transfers that a sentence names."""


def document(run: "RunData") -> Document:
    """The answer to a run: what happened in words, then its tables."""
    summary = run.summary
    connections = connections_of(summary)
    parts: list[Table | str] = [title_of(run)]
    parts += [setting(run, 0)] if len(connections) == 1 else []
    parts += ["", *verdict(summary), *out_of_range(run), ""]
    parts += [connection_table(connections), ""] if len(connections) > 1 else []
    return Document([*parts, subflow_table(connections, run.labels)])


def verdict(summary: Mapping[str, Any]) -> list[str]:
    """What happened, in sentences: how it ended, why it was not faster, how fair it was, what came out of order."""
    told, missing = outcome(summary), nothing_arrived(summary)
    lines = [
        told,
        "" if missing in told else missing,
        *recovery.told(summary),
        *applications.told(summary),
        limits(summary),
        *notices(summary),
    ]
    if summary.get("jain") is not None:
        lines.append(say.JAIN(index=units.significant(summary["jain"])))
    return [line for line in [*lines, disorder(summary)] if line]


def title_of(run: "RunData") -> str:
    """The scenario's title, or what stands for it."""
    return visible(run.summary.get("title") or say.UNTITLED())


def setting(run: "RunData", connection: int) -> str:
    """Protocol and algorithms of a connection, and the seed."""
    try:
        described = run.scenario["connections"][connection]
    except (ValueError, KeyError, IndexError):
        return say.SEED(seed=run.summary["seed"])
    words = [described["protocol"]]
    if described["protocol"] != "udp":
        words.append(say.CONTROLLER(name=short_name(described["controller"])))
        judge = judge_key(described)
        words.append(f"{judge} {short_name(described[judge])}")
    if "scheduler" in described and described["protocol"] == "mptcp":  # the legacy model has one, without a name
        words.append(say.SCHEDULER(name=short_name(described["scheduler"])))
    return ", ".join([*words, say.SEED(seed=run.summary["seed"])])


def outcome(summary: Mapping[str, Any]) -> str:
    """How a run or a connection ended, in a sentence."""
    status = summary["status"]
    if status == "completed":
        time = summary["completion_s"]
        end = say.COMPLETED() if time is None else say.COMPLETED_IN(time=units.time(time))
    elif status == "stalled":
        since = summary.get("stalled_since_s")
        end = say.STALLED() if since is None else say.STALLED_SINCE(time=units.time(since))
    elif status == "aborted":
        end = say.ABORTED(reason=summary["aborted_by"])
    else:
        end = say.DURATION()
    fallback = summary.get("fallback")
    if not summary["bytes_delivered"] and status != "completed":
        return (say.OUTCOME_NOTHING_FALLBACK if fallback else say.OUTCOME_NOTHING)(end=end)
    return (say.OUTCOME_FALLBACK if fallback else say.OUTCOME)(
        end=end,
        amount=units.octets(summary["bytes_delivered"]),
        goodput=units.rate(summary["goodput_mbps"] * 1e6),
        content=content(summary),
    )


def nothing_arrived(summary: Mapping[str, Any]) -> str:
    """Returns a sentence about the transfers of which no octet was read, or an empty string."""
    connections = connections_of(summary)
    several = len(connections) > 1
    names = []
    for connection in connections:
        ends = [] if connection["status"] == "completed" else _without_data(connection)
        if not ends:
            continue
        one_end = len(ends) == 1 and "reverse" in connection
        if not several:
            return say.NOTHING_AT(host=ends[0]) if one_end else say.NOTHING()
        name = visible(connection["name"])
        names.append(say.CONNECTION_AT(connection=name, host=ends[0]) if one_end else name)
    if not names:
        return ""
    shown = ", ".join(names[:_NAMED])
    if len(names) > _NAMED:
        return say.NOTHING_MORE(connections=shown, count=len(names) - _NAMED)
    return say.NOTHING_OF(connections=shown)


def _without_data(connection: Mapping[str, Any]) -> list[str]:
    """Returns the ends of a connection that read nothing; with data in one direction, the only end that could."""
    read = {"server": connection["bytes_delivered"]}
    if "reverse" in connection:
        read["client"] = connection["reverse"]["bytes_delivered"]
    return [end for end, octets in read.items() if not octets]


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
        least = say.LEAST_NOTICED(power=f"{wifi['noticed_from_dbm']:g}")
        if wifi.get("mcs") is not None and wifi["read_from_dbm"] > wifi["noticed_from_dbm"]:
            least = say.LEAST_READ(mcs=wifi["mcs"], power=f"{wifi['read_from_dbm']:g}")
        if since > 0:
            lines.append(say.OUT_OF_RANGE(link=link["name"], time=units.time(since), least=least))
        else:
            distance, power = units.significant(wifi["distance_m"]), f"{wifi['received_dbm']:.1f}"
            lines.append(say.OUT_OF_RANGE_ALWAYS(link=link["name"], distance=distance, power=power, least=least))
    return lines


def content(summary: Mapping[str, Any]) -> str:
    """Whether what was read is what was sent."""
    if summary["content_ok"]:
        return say.CONTENT_OK()
    if summary["bytes_altered"]:
        return say.CONTENT_ALTERED(amount=units.octets(summary["bytes_altered"]))
    return say.CONTENT_DIFFERS()


def disorder(summary: Mapping[str, Any]) -> str:
    """Out-of-order arrival, in a sentence."""
    return say.OUT_OF_ORDER(
        share=units.percent(summary["ooo_ratio"]),
        packets=summary["ooo_buffer_max_packets"],
        amount=units.octets(summary["ooo_buffer_max_bytes"]),
    )


def connection_table(connections: Sequence[Mapping[str, Any]]) -> Table:
    """One row per connection."""

    def column(name: str, cells: Iterable[str], drop: int = 0, *, left: bool = False) -> Column:
        return Column(MEASURES[name].heading, list(cells), drop, left)

    rates = [c["goodput_mbps"] for c in connections]
    columns = [
        column("name", (c["name"] for c in connections), left=True),
        column("protocol", (c["protocol"] for c in connections), 6, left=True),
        column("status", (c["status"] for c in connections), 7, left=True),
        column("goodput_mbps", units.column(rates)),
        column("bytes_delivered", (units.octets(c["bytes_delivered"]) for c in connections), 3),
        column("completion_s", units.column([c["completion_s"] for c in connections]), 4),
        column("ooo_ratio", units.column([100 * c["ooo_ratio"] for c in connections]), 2),
        column("ooo_buffer_max_packets", (str(c["ooo_buffer_max_packets"]) for c in connections), 1),
        column("limits", map(largest_limit, connections), 5),
    ]
    kept, about = kept_rows(rates, MEASURES["goodput_mbps"].words)
    return Table(picked(columns, kept), notes=about)


class SubflowColumn(NamedTuple):
    """A column about subflows.

    Attributes
    ----------
    key : str
        In the summary.
    drop : int
        Place in the order in which columns are left out; see `Column`.
    """

    key: str
    drop: int = 0

    @property
    def head(self) -> tuple[str, ...]:
        """Lines of the heading."""
        return MEASURES[self.key].heading

    def of(self, flow: Mapping[str, Any]) -> float | None:
        """The number of a subflow."""
        value: float | None = flow[self.key]
        factor = scale(self.key)
        return value if value is None or factor == 1 else value * factor


COLUMNS = (
    SubflowColumn("goodput_mbps"),
    SubflowColumn("utilisation", 4),
    SubflowColumn("segments", 9),
    SubflowColumn("retransmissions_fast", 8),
    SubflowColumn("retransmissions_timeout", 7),
    SubflowColumn("spurious", 3),
    SubflowColumn("undone", 1),
    SubflowColumn("srtt_ms", 6),
    SubflowColumn("cwnd_mean_segments", 2),
    SubflowColumn("queue_drops", 5),
)


def subflow_rows(connections: Sequence[Mapping[str, Any]], labels: Labels) -> list[str]:
    """The lines of `subflow_table`, all columns."""
    return subflow_table(connections, labels).text()


def subflow_table(connections: Sequence[Mapping[str, Any]], labels: Labels) -> Table:
    """One row per subflow, and a sum if there are several of one connection, or very many."""
    keys = [(c, s) for c, connection in enumerate(connections) for s in range(len(connection["subflows"]))]
    flows = [connections[c]["subflows"][s] for c, s in keys]
    names = [labels.get(key, say.PATH(path=flow["path"])) for key, flow in zip(keys, flows, strict=True)]
    last, cells = subflow_columns(connections)
    kept, about = kept_rows([flow["goodput_mbps"] for flow in flows], MEASURES["goodput_mbps"].words)
    rows = [*kept, len(flows)] if last else kept
    columns = [Column((say.SUBFLOW,), [*names, last] if last else names, left=True)]
    columns += [Column(column.head, own, column.drop) for column, own in zip(COLUMNS, cells, strict=True)]
    return Table(picked(columns, rows), notes=about)


def subflow_columns(connections: Sequence[Mapping[str, Any]]) -> tuple[str, list[list[str]]]:
    """The cells of each of `COLUMNS`; the last row, if it has a name, is about all subflows."""
    flows = [flow for connection in connections for flow in connection["subflows"]]
    last = say.TOTAL() if len(connections) == 1 else say.ALL(count=len(flows)) if len(flows) > MOST else ""
    last = last if len(flows) > 1 else ""
    cells = []
    for column in COLUMNS:
        values = [column.of(flow) for flow in flows]
        cells.append(numbers([*values, sum(x or 0 for x in values)] if last else values))
        # Goodputs of connections that last differently make no sum; the sentence above has that of
        # all.
        if last and (not MEASURES[column.key].is_summed or (len(connections) > 1 and column.key == "goodput_mbps")):
            cells[-1][-1] = ""
    return last, cells


def numbers(values: Sequence[float | None]) -> list[str]:
    """Cells: counts as they are, all else with the digits that matter."""
    if all(isinstance(value, int) for value in values):
        return [str(value) for value in values]
    return units.column(list(values))


def subflow_csv(summary: Mapping[str, Any]) -> str:
    """One row per subflow as CSV: ``connection`` and the fields of ``subflows`` in the summary."""
    rows = [
        {"connection": c, **{key: value for key, value in flow.items() if key != "connection"}}
        for c, connection in enumerate(connections_of(summary))
        for flow in connection["subflows"]
    ]
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]) if rows else ["connection", "path"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
