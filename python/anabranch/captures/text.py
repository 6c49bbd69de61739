"""Chooses what ``anabranch analyze`` prints: sentences and tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.measures import units
from anabranch.measures.labels import connections_of
from anabranch.measures.table import MEASURES
from anabranch.sentences import analyze as say
from anabranch.sentences.escape import visible
from anabranch.sentences.run import OUT_OF_ORDER, OUT_OF_ORDER_ESTIMATED
from anabranch.sentences.sweep import INFERRED
from anabranch.tables import Column, Document, Table, kept_rows, picked

if TYPE_CHECKING:
    from anabranch.captures.data import CaptureData

SHOWN = 12
"""Connections described one by one; of more, a table."""


def document(capture: "CaptureData") -> Document:
    """The answer to captures: what was read, then each connection with its subflows."""
    described, tables = arranged(capture.summary)
    parts: list[Table | str] = [*about(capture.summary)]
    for connection in described:
        parts += ["", *connection_lines(connection), "", subflow_table(connection)]
    for heading, connections in tables:
        parts += ["", *([heading] if described or len(tables) > 1 else []), connection_table(connections)]
    return Document(parts)


def arranged(
    summary: Mapping[str, Any],
) -> tuple[list[Mapping[str, Any]], list[tuple[str, list[Mapping[str, Any]]]]]:
    """Connections to be described one by one, and tables of others with their headings.

    A single connection of TCP is described; several are background, whatever else there is.
    """
    kinds: dict[str, list[Mapping[str, Any]]] = {say.MULTIPATH: [], say.TCP: []}
    for connection in connections_of(summary):
        kinds[say.TCP if connection["protocol"] == "tcp" else say.MULTIPATH].append(connection)
    described, tables = [], []
    for heading, connections in kinds.items():
        if len(connections) <= (SHOWN if heading == say.MULTIPATH else 1):
            described += connections
        else:
            tables.append((heading, connections))
    return described, tables


def largest(connections: Sequence[Mapping[str, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """The connections that are described one by one, with their numbers: those with the most data, in their order."""
    order = sorted(enumerate(connections), key=lambda pair: -pair[1]["bytes_delivered"])
    return sorted(order[:SHOWN], key=lambda pair: pair[0])


def about(summary: Mapping[str, Any]) -> list[str]:
    """What was read, and what of it could not be."""
    told = summary["capture"]
    lines = [
        visible(summary["title"]),
        say.PACKETS(packets=told["packets"], time=units.time(told["duration_s"]), count=told["mptcp"]),
    ]
    lines += [say.CUT_FILE(file=visible(file["name"]), reason=file["cut"]) for file in told["files"] if file["cut"]]
    if times := told["clock"]["steps_back"]:
        lines.append(say.CLOCK(count=times, time=units.time(told["clock"]["largest_step_back_s"])))
    lines += encapsulated(told)
    if count := told["split_connections"]:
        lines.append(say.SPLIT(count=count))
    if count := told["connections_without_data"]:
        lines.append(say.WITHOUT_DATA(count=count))
    if told["unlisted_connections"] and told["unlisted_bytes"]:
        amount = units.octets(told["unlisted_bytes"])
        lines.append(say.UNLISTED(count=told["unlisted_connections"], amount=amount))
    return lines


def encapsulated(told: Mapping[str, Any]) -> list[str]:
    """What was found in tunnels, and which packets could not be opened."""
    lines = []
    if told.get("opened"):
        found = ", ".join(say.OPENED_IN(segments=n, name=name) for name, n in told["opened"].items())
        lines.append(say.OPENED(found=found))
    if packets := told.get("reassembled_packets"):
        lines.append(say.REASSEMBLED(packets=packets))
    lines += not_opened(told)
    if packets := told.get("repeated_packets"):
        lines.append(say.REPEATED(packets=packets))
    return lines


def not_opened(told: Mapping[str, Any]) -> list[str]:
    """Which packets could not be read, by name."""
    lines = []
    if told.get("not_opened"):
        found = ", ".join(say.NOT_OPENED_OF(packets=n, name=name) for name, n in told["not_opened"].items())
        lines.append(say.NOT_OPENED(found=found))
    if count := told.get("incomplete_fragments"):
        lines.append(say.INCOMPLETE(count=count))
    if packets := told.get("cut_before_tcp"):
        lines.append(say.CUT_BEFORE_TCP(packets=packets))
    if packets := told["unknown_link"]:
        lines.append(say.UNKNOWN_LINK(packets=packets))
    return lines


def connection_lines(connection: Mapping[str, Any]) -> list[str]:
    """A connection in sentences."""
    protocol = connection["protocol"]
    if connection.get("mptcp_version") == 0:
        protocol = say.VERSION_0(protocol=protocol)
    host, place = connection["data_from"], seen_from(connection)
    lines = [say.CONNECTION(name=connection["name"], protocol=protocol, host=host, place=place)]
    if connection["fallback"]:
        lines.append(say.FALLBACK(reason=connection["fallback_reason"]))
    lines.append(outcome(connection))
    lines.append(disorder(connection))
    if connection["reinjections"]:
        lines.append(
            say.REINJECTED(
                segments=connection["reinjections"],
                useful=connection["reinjections_useful"],
                redundant=connection["reinjections_redundant"],
            )
        )
    if connection["handshake"] is not None:
        lines.append(handshake(connection))
    if connection["unlisted_subflows"]:
        lines.append(say.UNLISTED_SUBFLOWS(count=connection["unlisted_subflows"]))
    if connection["missing_bytes"] or connection["unmapped_bytes"]:
        amount, unmapped = (units.octets(connection[name]) for name in ("missing_bytes", "unmapped_bytes"))
        lines.append(say.MISSING(amount=amount, unmapped=unmapped))
    about = (without_pure_acks(connection), not_seen(connection), cut_short(connection), strays(connection))
    return lines + [line for line in about if line]


def unknown_measures(connection: Mapping[str, Any]) -> list[str]:
    """Measures of the table of subflows that this place of capture does not show, of any of them."""
    if any(connection["data_from"] in flow["captured_at"] for flow in connection["subflows"]):
        return []
    names = ("spurious", "rtt_min_ms", "srtt_ms")
    return [name for name in names if all(flow[name] is None for flow in connection["subflows"])]


def not_seen(connection: Mapping[str, Any]) -> str:
    """A sentence about the measures that a capture at another place would show."""
    names = unknown_measures(connection)
    if not names or without_pure_acks(connection):
        return ""
    return say.ONLY_AT_SENDER(names=", ".join(MEASURES[name].words for name in names))


def without_pure_acks(connection: Mapping[str, Any]) -> str:
    """Where the acknowledgements are not in the capture that would tell round-trip times, a sentence that says so."""
    # Analyses that earlier versions stored do not have the field.
    lacking = sum(bool(flow.get("lacks_pure_acks")) for flow in connection["subflows"])
    if not lacking:
        return ""
    receiver = "server" if connection["data_from"] == "client" else "client"
    if lacking < len(connection["subflows"]):
        return say.NO_PURE_ACKS_OF(flows=lacking, receiver=receiver)
    return say.NO_PURE_ACKS(receiver=receiver)


def cut_short(connection: Mapping[str, Any]) -> str:
    """If the snap length cut options off, a sentence that says what is not known."""
    cut = sum(flow["cut_options"] for flow in connection["subflows"])
    if not cut:
        return ""
    return say.CUT_OPTIONS(packets=cut)


def strays(connection: Mapping[str, Any]) -> str:
    """If packets were left out of the account, a sentence that says so."""
    count = sum(flow.get("stray_packets", 0) for flow in connection["subflows"])
    if not count:
        return ""
    return say.STRAYS(packets=count)


def seen_from(connection: Mapping[str, Any]) -> str:
    """Where it was captured, as the answers tell."""
    places = {place for flow in connection["subflows"] for place in flow["captured_at"]}
    if len(places) == 2:
        return say.BOTH_ENDS()
    if places:
        return say.AT(host=places.pop())
    return (say.UNKNOWN_PLACE if without_pure_acks(connection) else say.ON_THE_WAY)()


def outcome(connection: Mapping[str, Any]) -> str:
    """How far it came, in a sentence."""
    told = {"end": say.STATUS[connection["status"]], "amount": units.octets(connection["bytes_delivered"])}
    if connection["last_byte_s"]:
        rate = units.rate(connection["goodput_mbps"] * 1e6)
        text = say.OUTCOME_IN(**told, time=units.time(connection["last_byte_s"]), goodput=rate)
    else:
        text = say.OUTCOME(**told)
    return text + ("" if connection["complete_beginning"] else say.NO_BEGINNING)


def disorder(connection: Mapping[str, Any]) -> str:
    """Out-of-order arrival, in a sentence."""
    template = OUT_OF_ORDER_ESTIMATED if connection["estimated"] else OUT_OF_ORDER
    return template(
        share=units.percent(connection["ooo_ratio"]),
        packets=connection["ooo_buffer_max_packets"],
        amount=units.octets(connection["ooo_buffer_max_bytes"]),
    )


def handshake(connection: Mapping[str, Any]) -> str:
    """What was verified, in a sentence."""
    told, sums = connection["handshake"], connection["dss_checksums"]
    joins = told["tokens_matched"] + told["tokens_unmatched"]
    hmacs = told["hmacs_verified"] + told["hmacs_failed"]
    parts = [say.KEYS() if told["keys_seen"] == 2 else say.NO_KEYS()]
    if joins:
        parts.append(say.TOKENS(count=told["tokens_matched"], total=joins))
    if hmacs:
        parts.append(say.HMACS(count=told["hmacs_verified"], total=hmacs))
    if told["add_addr_hmacs_verified"] is None:
        if connection["signals"]["add_addr"]:
            parts.append(say.ADD_ADDR_VERSION_0())
    elif advertised := told["add_addr_hmacs_verified"] + told["add_addr_hmacs_failed"]:
        parts.append(say.ADD_ADDR(count=told["add_addr_hmacs_verified"], total=advertised))
    checked = sums["verified"] + sums["failed"]
    if sums["incomplete"]:
        lost = sums["incomplete"]
        parts.append(say.CHECKSUMS_INCOMPLETE(count=sums["verified"], total=checked, lost=lost))
    elif checked:
        parts.append(say.CHECKSUMS(count=sums["verified"], total=checked))
    return "; ".join(parts)


def connection_table(connections: Sequence[Mapping[str, Any]]) -> Table:
    """One row per connection."""

    def column(name: str, cells: Iterable[str], drop: int = 0, *, left: bool = False) -> Column:
        return Column(MEASURES[name].heading, list(cells), drop, left)

    rates = [c["goodput_mbps"] for c in connections]
    columns = [
        column("name", (c["name"] for c in connections), left=True),
        column("status", (c["status"] for c in connections), 4, left=True),
        Column((say.SUBFLOWS,), [str(len(c["subflows"])) for c in connections], 3),
        column("goodput_mbps", units.column(rates)),
        column("bytes_delivered", (units.octets(c["bytes_delivered"]) for c in connections), 5),
        column("ooo_ratio", units.column([100 * c["ooo_ratio"] for c in connections]), 2),
        column("ooo_buffer_max_packets", (str(c["ooo_buffer_max_packets"]) for c in connections), 1),
    ]
    kept, about = kept_rows(rates, MEASURES["goodput_mbps"].words)
    return Table(picked(columns, kept), notes=about)


def subflow_table(connection: Mapping[str, Any]) -> Table:
    """One row per subflow."""
    flows = connection["subflows"]

    def column(name: str, cells: Iterable[str], drop: int = 0, mark: str = "") -> Column:
        *first, last = MEASURES[name].heading
        return Column((*first, last + mark), list(cells), drop)

    delays = [(flow["one_way_delay_ms"] or {}).get("p50") for flow in flows]
    columns = [
        Column((say.SUBFLOW,), [f"{flow['client']} - {flow['server']}" for flow in flows], left=True),
        column("goodput_mbps", units.column([flow["goodput_mbps"] for flow in flows])),
        column("segments", (str(flow["segments"]) for flow in flows), 7),
        column("retransmissions_fast", (str(flow["retransmissions_fast"]) for flow in flows), 5, f" {say.MARK}"),
        column("retransmissions_timeout", (str(flow["retransmissions_timeout"]) for flow in flows), 4, f" {say.MARK}"),
    ]
    unknown = unknown_measures(connection)
    if "spurious" not in unknown:
        columns.append(column("spurious", map(_spurious, flows), 1))
    for name, drop in (("rtt_min_ms", 6), ("srtt_ms", 3)):
        if name not in unknown:
            columns.append(column(name, units.column([flow[name] for flow in flows]), drop))
    if any(delay is not None for delay in delays):
        columns.append(column("one_way_delay_p50_ms", units.column(delays), 2))
    return Table(columns, notes=[INFERRED()])


def _spurious(flow: Mapping[str, Any]) -> str:
    if flow["spurious"] is None:
        return "-"
    return f"{flow['spurious']}{f' {say.MARK}' if 'spurious' in flow['inferred'] else ''}"
