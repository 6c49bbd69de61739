"""What ``anabranch analyze`` answers with: sentences and tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch import units
from anabranch.labels import connections_of
from anabranch.measures import MEASURES
from anabranch.sentences import run as say
from anabranch.sentences.sweep import INFERRED
from anabranch.tables import Column, Document, Table, kept_rows, picked
from anabranch.visible import visible

if TYPE_CHECKING:
    from anabranch.capture_data import CaptureData

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


MULTIPATH = "MPTCP connections:"
"""Heading of a table of these."""


def arranged(
    summary: Mapping[str, Any],
) -> tuple[list[Mapping[str, Any]], list[tuple[str, list[Mapping[str, Any]]]]]:
    """Connections to be described one by one, and tables of others with their headings.

    A single connection of TCP is described; several are background, whatever else there is.
    """
    kinds: dict[str, list[Mapping[str, Any]]] = {MULTIPATH: [], "TCP connections:": []}
    for connection in connections_of(summary):
        kinds["TCP connections:" if connection["protocol"] == "tcp" else MULTIPATH].append(connection)
    described, tables = [], []
    for heading, connections in kinds.items():
        if len(connections) <= (SHOWN if heading == MULTIPATH else 1):
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
        f"{units.count(told['packets'], 'packet')} in {units.time(told['duration_s'])}, "
        f"{told['mptcp']} with MPTCP options",
    ]
    lines += [f"{visible(file['name'])}: not read to its end: {file['cut']}" for file in told["files"] if file["cut"]]
    if told["clock"]["steps_back"]:
        times, back = told["clock"]["steps_back"], units.time(told["clock"]["largest_step_back_s"])
        lines.append(
            f"the clock went back {units.count(times, 'time')}, by {back} at most; "
            "after that, times go on from the last one"
        )
    lines += encapsulated(told)
    if told["split_connections"]:
        lines.append(f"a proxy between the captures splits {units.count(told['split_connections'], 'connection')}")
    if told["connections_without_data"]:
        lines.append(f"without data: {units.count(told['connections_without_data'], 'connection')}")
    if told["unlisted_connections"] and told["unlisted_bytes"]:
        lines.append(
            f"not listed: {units.count(told['unlisted_connections'], 'smaller connection')}, "
            f"{units.octets(told['unlisted_bytes'])} in all"
        )
    return lines


def encapsulated(told: Mapping[str, Any]) -> list[str]:
    """What was found in tunnels, and which packets could not be opened."""
    lines = []
    if told.get("opened"):
        found = ", ".join(f"{units.count(n, 'segment')} in {name}" for name, n in told["opened"].items())
        lines.append(f"opened: {found}")
    if told.get("reassembled_packets"):
        lines.append(f"reassembled from IP fragments: {units.count(told['reassembled_packets'], 'packet')}")
    lines += not_opened(told)
    if told.get("repeated_packets"):
        lines.append(
            f"counted once: {units.count(told['repeated_packets'], 'packet')} recorded again, in another encapsulation "
            "or as a repeated 802.11 frame"
        )
    return lines


def not_opened(told: Mapping[str, Any]) -> list[str]:
    """Which packets could not be read, by name."""
    lines = []
    if told.get("not_opened"):
        named = (
            f"{units.count(n, 'packet')} {'is' if n == 1 else 'are'} {name}" for name, n in told["not_opened"].items()
        )
        lines.append(f"not opened: {', '.join(named)}")
    if told.get("incomplete_fragments"):
        lines.append(f"left out: {units.count(told['incomplete_fragments'], 'IP fragment')} of incomplete packets")
    if told.get("cut_before_tcp"):
        lines.append(f"cut before the end of the TCP header: {units.count(told['cut_before_tcp'], 'packet')}")
    if told["unknown_link"]:
        lines.append(f"of an unknown link type: {units.count(told['unknown_link'], 'packet')}")
    return lines


def connection_lines(connection: Mapping[str, Any]) -> list[str]:
    """A connection in sentences."""
    side = connection["data_from"]
    protocol = connection["protocol"] + (" version 0" if connection.get("mptcp_version") == 0 else "")
    lines = [f"{connection['name']}: {protocol}, data from the {side}, {seen_from(connection)}"]
    if connection["fallback"]:
        lines.append(f"fell back to TCP: {connection['fallback_reason']}")
    lines.append(outcome(connection))
    lines.append(disorder(connection))
    if connection["reinjections"]:
        lines.append(
            f"{units.count(connection['reinjections'], 'segment')} reinjected on another subflow: "
            f"{connection['reinjections_useful']} useful, {connection['reinjections_redundant']} redundant"
        )
    if connection["handshake"] is not None:
        lines.append(handshake(connection))
    if connection["unlisted_subflows"]:
        lines.append(f"not listed: {units.count(connection['unlisted_subflows'], 'subflow')} without data")
    if connection["missing_bytes"] or connection["unmapped_bytes"]:
        lines.append(
            f"missing in the capture: {units.octets(connection['missing_bytes'])} that the receiver acknowledged; "
            f"without a mapping: {units.octets(connection['unmapped_bytes'])}"
        )
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
    return f"visible only in a capture at the sender: {', '.join(MEASURES[name].words for name in names)}"


def without_pure_acks(connection: Mapping[str, Any]) -> str:
    """Where the acknowledgements are not in the capture that would tell round-trip times, a sentence that says so."""
    # Analyses that earlier versions stored do not have the field.
    if not any(flow.get("lacks_pure_acks") for flow in connection["subflows"]):
        return ""
    receiver = "server" if connection["data_from"] == "client" else "client"
    return (
        f"no pure ACKs (segments without data) from the {receiver} in the capture: "
        "round-trip times are those of the handshake, or unknown"
    )


def cut_short(connection: Mapping[str, Any]) -> str:
    """If the snap length cut options off, a sentence that says what is not known."""
    cut = sum(flow["cut_options"] for flow in connection["subflows"])
    if not cut:
        return ""
    return (
        f"the snap length cut the TCP options of {units.count(cut, 'packet')}: "
        "Multipath TCP, SACK, timestamps and window scale may be missing here"
    )


def strays(connection: Mapping[str, Any]) -> str:
    """If packets were left out of the account, a sentence that says so."""
    count = sum(flow.get("stray_packets", 0) for flow in connection["subflows"])
    if not count:
        return ""
    return f"left out: {units.count(count, 'packet')} with sequence numbers that do not belong to the connection"


def seen_from(connection: Mapping[str, Any]) -> str:
    """Where it was captured, as the answers tell."""
    places = {place for flow in connection["subflows"] for place in flow["captured_at"]}
    if len(places) == 2:
        return "captured at both ends"
    if places:
        return f"captured at the {places.pop()}"
    return "captured at an unknown place" if without_pure_acks(connection) else "captured on the way"


def outcome(connection: Mapping[str, Any]) -> str:
    """How far it came, in a sentence."""
    words = {"completed": "completed", "reset": "reset", "open": "not closed within the capture"}
    amount = units.octets(connection["bytes_delivered"])
    text = f"{words[connection['status']]}: {amount} delivered"
    if connection["last_byte_s"]:
        rate = units.rate(connection["goodput_mbps"] * 1e6)
        text += f" within {units.time(connection['last_byte_s'])}, goodput {rate}"
    return text + ("" if connection["complete_beginning"] else "; its beginning is not in the capture")


def disorder(connection: Mapping[str, Any]) -> str:
    """Out-of-order arrival, in a sentence."""
    template = say.OUT_OF_ORDER_ESTIMATED if connection["estimated"] else say.OUT_OF_ORDER
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
    parts = ["keys seen" if told["keys_seen"] == 2 else "keys not seen"]
    if joins:
        parts.append(f"tokens {told['tokens_matched']} of {joins} match")
    if hmacs:
        parts.append(f"HMACs of joins {told['hmacs_verified']} of {hmacs} verify")
    if told["add_addr_hmacs_verified"] is None:
        if connection["signals"]["add_addr"]:
            parts.append("ADD_ADDR not verified: version 0 has no HMAC and no echo there")
    elif advertised := told["add_addr_hmacs_verified"] + told["add_addr_hmacs_failed"]:
        parts.append(f"HMACs of ADD_ADDR {told['add_addr_hmacs_verified']} of {advertised}")
    checked = sums["verified"] + sums["failed"]
    if checked or sums["incomplete"]:
        text = f"DSS checksums {sums['verified']} of {checked} verify"
        parts.append(text + (f", {sums['incomplete']} incomplete" if sums["incomplete"] else ""))
    return "; ".join(parts)


def connection_table(connections: Sequence[Mapping[str, Any]]) -> Table:
    """One row per connection."""

    def column(name: str, cells: Iterable[str], drop: int = 0, *, left: bool = False) -> Column:
        return Column(MEASURES[name].heading, list(cells), drop, left)

    rates = [c["goodput_mbps"] for c in connections]
    columns = [
        column("name", (c["name"] for c in connections), left=True),
        column("status", (c["status"] for c in connections), 4, left=True),
        Column(("subflows",), [str(len(c["subflows"])) for c in connections], 3),
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
        Column(("subflow",), [f"{flow['client']} - {flow['server']}" for flow in flows], left=True),
        column("goodput_mbps", units.column([flow["goodput_mbps"] for flow in flows])),
        column("segments", (str(flow["segments"]) for flow in flows), 7),
        column("retransmissions_fast", (str(flow["retransmissions_fast"]) for flow in flows), 5, " (?)"),
        column("retransmissions_timeout", (str(flow["retransmissions_timeout"]) for flow in flows), 4, " (?)"),
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
    return f"{flow['spurious']}{' (?)' if 'spurious' in flow['inferred'] else ''}"
