"""What a capture implies of links, buffers and application: a scenario, with the ground of each line."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from anabranch.diagnosis.measure import RATE_SECONDS
from anabranch.diagnosis.twin.series import last_moved, outages, train_rate, up_again
from anabranch.sentences import diagnose as say
from anabranch.sentences.escape import visible

if TYPE_CHECKING:
    from anabranch.captures.data import Frames

FACT, INFERENCE, UNKNOWN, GIVEN = "fact", "inference", "unknown", "given"

_PACKET = 1500
"""Octets of a packet, where a queue is told in packets."""
_MORE = 100
"""Times what arrived: more than is sent in the time."""
_BEFORE_END = 0.95
"""Of the time: what is reset before is taken for a path that went away."""
_ROOM = 4
"""A queue that never was full is taken for so many times as long as it was seen."""
_MORE_QUEUE = 1.1
"""Times what was seen to wait: what a queue that was full may hold."""
LEAST_QUEUE = 10
"""Packets of a queue of which nothing is known, at least."""
_LEAST_BUFFER = 20_000.0
"""Octets of a send buffer."""
_SHARE = 0.05
"""Of the time, from which a cause shapes the twin."""
_USUAL = 10.0
"""Mbit/s of a path that the capture says nothing of."""
_REPAIRS = 10
"""Retransmissions, from which a receiver that uses SACK has shown it."""
_SYN = 80
"""Octets of a SYN and of its answer, about, with IP and TCP headers and options."""


class Span(NamedTuple):
    """A value, and what the capture leaves open: from `low` to `high`."""

    value: float
    low: float
    high: float = math.inf

    def times(self, scale: float) -> "Span":
        """Another value, inside the same interval."""
        return self._replace(value=min(max(self.value * scale, self.low), self.high))


class Said(NamedTuple):
    """The value of a key as TOML, and why it has it: a fact, an inference, unknown, or given by the user."""

    value: str
    kind: str
    ground: str


Table = dict[str, Said]


@dataclass(frozen=True)
class Draft:
    """A scenario in the making; `paths` are tables, `free` is what a fit may change: the capture does not show it."""

    connection: Table
    transfer: Table
    paths: tuple[Table, ...]
    seed: int = 1
    duration: float = 60.0
    name: str = "twin"
    free: Mapping[str, Any] = field(default_factory=dict)

    def with_lines(self, **tables: Mapping[Any, Any]) -> "Draft":
        """The same with other lines in ``connection``, ``transfer``, or ``paths`` (by number)."""
        paths = tuple({**path, **tables.get("paths", {}).get(i, {})} for i, path in enumerate(self.paths))
        connection = {**self.connection, **tables.get("connection", {})}
        return replace(
            self, connection=connection, transfer={**self.transfer, **tables.get("transfer", {})}, paths=paths
        )

    def toml(self, head: Sequence[str] = ()) -> str:
        """The scenario, each line with its ground."""
        lines = [f"# {visible(line)}" for line in head]
        lines += [f"title = {json.dumps(visible(self.name))}", f"seed = {self.seed}"]
        lines += [f'duration = "{self.duration:.6g} s"', "", "[connection]", *_lines(self.connection)]
        lines += ["", "[transfer]", *_lines(self.transfer)]
        for path in self.paths:
            lines += ["", "[[path]]", *_lines(path)]
        return "\n".join(lines) + "\n"


def _lines(table: Table) -> list[str]:
    size = max((len(f"{key} = {said.value}") for key, said in table.items()), default=0)
    return [f"{f'{key} = {said.value}':{size}}  # {said.kind}: {visible(said.ground)}" for key, said in table.items()]


def text(value: str) -> str:
    """A string as TOML."""
    return json.dumps(value)


def drafts(found: Mapping[str, Any], number: int, frames: "Frames") -> Draft:
    """The first draft of connection `number`, which the engine has `found` in a capture."""
    down = found["data_from"] == "server"
    groups: dict[int, list[tuple[int, Mapping[str, Any]]]] = {}
    for i, flow in enumerate(found["subflows"]):
        groups.setdefault(flow["path"], []).append((i, flow))
    paths, free = [], {}
    for n, flows in enumerate(groups.values()):
        path, unknown = _path(number, flows, found, frames, down=down)
        paths.append(path)
        free[n] = unknown
    connection, more = _connection(found, number, frames)
    removed = [
        f'{{ at = "{at:.3f} s", path = "path{n}", action = "remove" }}'
        for n, flows in enumerate(groups.values())
        if all(flow["reset_by"] for _, flow in flows)
        and (at := last_moved(frames, number, [i for i, _ in flows]) - found["start_s"])
        < _BEFORE_END * (found["last_byte_s"] or 0.0)
    ]
    if removed:
        connection["path_changes"] = Said(f"[{', '.join(removed)}]", INFERENCE, say.GROUND_RESET())
    last = found["last_byte_s"] or 1.0
    transfer = _transfer(found, down=down)
    duration = last if found["status"] == "open" else max(60.0, 6 * last)
    return Draft(
        connection, transfer, tuple(paths), duration=duration, name=f"twin of {found['name']}",
        free={"paths": free, **more},
    )  # fmt: skip


def _told(flow: Mapping[str, Any]) -> Mapping[str, Any]:
    return flow.get("diagnosis") or {}


def _path(
    number: int,
    flows: Sequence[tuple[int, Mapping[str, Any]]],
    found: Mapping[str, Any],
    frames: "Frames",
    *,
    down: bool,
) -> tuple[Table, dict[str, Any]]:
    """One link, from the subflow that carried most of what went over it; and what of it is not known."""
    i, flow = max(flows, key=lambda pair: pair[1]["bytes_sent"])
    told, way = _told(flow), "down" if down else "up"
    rate, said = _rate(flow, train_rate(frames, number, i, flow["mss"] or 1400))
    unknown: dict[str, Any] = {"way": way, "mbps": rate.value} | ({"rate": rate} if rate.low < rate.high else {})
    table: Table = {
        "name": Said(text(f"path{flow['path']}"), FACT, f"{flow['client']} - {flow['server']}"),
        "rate": said,
        "delay": _delay(told.get("base_rtt_ms"), rate.value),
    }
    table["queue"], queue = _queue(told, rate.value)
    unknown |= {"queue_s": queue.value} | ({"queue": queue} if queue.low < queue.high else {})
    random = told.get("lost_random") or 0
    if random:
        share = random / max(1, flow["segments"])
        ground = say.GROUND_LOSS(lost=random, segments=flow["segments"])
        table[f"loss_{way}"] = Said(text(f"{100 * share:.3g} %"), INFERENCE, ground)
        # Of n losses by chance the standard deviation is the root of n.
        sure = 2 / math.sqrt(random)
        unknown["loss"] = Span(share, share * max(0.0, 1 - sure), share * (1 + sure))
    if flow["backup"]:
        table["backup"] = Said("true", FACT, say.GROUND_BACKUP())
    changes = _changes(number, flows, found, frames)
    return table | ({"changes": changes} if changes else {}), unknown


def _changes(
    number: int, flows: Sequence[tuple[int, Mapping[str, Any]]], found: Mapping[str, Any], frames: "Frames"
) -> Said | None:
    """When the path was away."""
    start, numbers = found["start_s"], [j for j, _ in flows]
    gone = outages(frames, number, numbers, start + (found["last_byte_s"] or 0.0))
    if not gone or sum((_told(one).get("causes") or {}).get("failed", 0) for _, one in flows) < _SHARE:
        return None
    parts = [
        f'{{ at = "{begin - start:.3f} s", state = "down" }}'
        + ("" if up is None else f', {{ at = "{up - start:.3f} s", state = "up" }}')
        for begin, end in gone
        for up in [None if end is None else up_again(frames, number, numbers, begin, end)]
    ]
    return Said(f"[{', '.join(parts)}]", INFERENCE, say.GROUND_OUTAGE())


def _delay(base: float | None, rate: float) -> Said:
    """One way, from the shortest round trip of `base` ms: half of it, without the times that packets take to send."""
    if base is None:
        return Said(text("10 ms"), UNKNOWN, say.GROUND_NO_DELAY())
    sending = 2 * 8 * _SYN / (rate * 1e3)
    delay = max(0.0, base - sending) / 2 if sending <= base / 2 else base / 4
    return Said(text(f"{delay:.4g} ms"), INFERENCE, say.GROUND_DELAY(rtt=f"{base:.4g} ms"))


def _rate(flow: Mapping[str, Any], train: float) -> tuple[Span, Said]:
    """Of a link, in Mbit/s: given; or from times in which it was busy; or at least that of its best second.

    The fastest `train` of packets is where a search begins.
    """
    told, given = _told(flow), flow.get("given_mbps")
    if given is not None:
        return Span(given, given, given), Said(text(units_rate(given)), GIVEN, say.GROUND_GIVEN())
    rates = sorted(told.get("saturated_mbps") or [])
    if rates:
        rate = median(rates)
        low, high = f"{rates[0]:.3g} Mbit/s", f"{rates[-1]:.3g} Mbit/s"
        ground = say.GROUND_RATE(time=f"{RATE_SECONDS * len(rates):.1f} s", low=low, high=high)
        return Span(rate, rate, rate), Said(text(units_rate(rate)), INFERENCE, ground)
    least = max(told.get("best_mbps") or 0.0, flow["goodput_mbps"] or 0.0)
    if train:
        rate, ground = max(least, train), say.GROUND_TRAIN(rate=f"{least:.3g} Mbit/s")
    else:
        rate, ground = max(least, _USUAL), say.GROUND_NO_RATE()
    return Span(rate, least), Said(text(units_rate(rate)), UNKNOWN, ground)


def _queue(told: Mapping[str, Any], rate: float) -> tuple[Said, Span]:
    """Of a link of `rate` Mbit/s; the span is in seconds."""
    base, longest = told.get("base_rtt_ms") or 0.0, told.get("rtt_max_ms") or 0.0
    standing = max(0.0, longest - base) * 1e-3
    if told.get("lost_congestion"):
        seconds = max(standing, LEAST_QUEUE // 2 * packet_s(rate))
        ground = say.GROUND_FULL_QUEUE(rtt=f"{longest:.4g} ms")
        # The longest round trips are not counted (they may be wrong), so a few packets more may have waited.
        most = _MORE_QUEUE * seconds + packet_s(rate)
        return Said(queue_of(seconds, rate), INFERENCE, ground), Span(seconds, seconds, most)
    seconds = max(LEAST_QUEUE * packet_s(rate), _ROOM * standing)
    ground = say.GROUND_QUEUE(packets=packets(standing, rate))
    return Said(queue_of(seconds, rate), UNKNOWN, ground), Span(seconds, standing)


def packet_s(rate: float) -> float:
    """Seconds that a link of `rate` Mbit/s takes for a packet."""
    return 8 * _PACKET / (rate * 1e6)


def packets(seconds: float, rate: float) -> int:
    """Packets that a link of `rate` Mbit/s sends in that time.

    >>> packets(0.015, 80)
    100
    """
    return round(seconds / packet_s(rate))


def queue_of(seconds: float, rate: float) -> str:
    """A queue as a scenario has it."""
    return text(f"{max(2, packets(seconds, rate))} packets")


def _connection(found: Mapping[str, Any], number: int, frames: "Frames") -> tuple[Table, dict[str, Any]]:
    """Buffers and what the handshake says; and what a fit may choose."""
    import numpy as np

    table: Table = {}
    free: dict[str, Any] = {}
    table["protocol"] = Said(text(found["protocol"]), FACT, say.GROUND_PROTOCOL())
    table["controller"] = Said(text("coupled"), UNKNOWN, say.GROUND_NONE())
    if found["protocol"] == "mptcp":
        table["scheduler"] = Said(text("min-rtt"), UNKNOWN, say.GROUND_NONE())
    sizes = [flow["largest_segment_bytes"] for flow in found["subflows"] if flow["largest_segment_bytes"]]
    announced = [flow["mss"] for flow in found["subflows"] if flow["mss"]]
    mss = min([max(sizes, default=1400), *announced])
    table["mss"] = Said(str(mss), FACT, say.GROUND_MSS())
    columns = frames.window()
    mine = np.asarray(columns["connection"]) == number
    windows = (np.asarray(columns["edge"]) - np.asarray(columns["data_ack"]))[mine]
    windows = windows[windows > 0]
    if len(windows):
        first, most = int(windows[0]), int(windows.max())
        table["receive_buffer"] = Said(text(f"{most} B"), FACT, say.GROUND_RECEIVE_BUFFER())
        if first < most / 2:
            table["receive_initial"] = Said(text(f"{first} B"), FACT, say.GROUND_RECEIVE_INITIAL())
            table["profile"] = Said(text("linux"), UNKNOWN, say.GROUND_PROFILE())
            table["controller"] = Said(text("cubic"), UNKNOWN, say.GROUND_LINUX())
            if "scheduler" in table:
                table["scheduler"] = Said(text("linux"), UNKNOWN, say.GROUND_LINUX())
        free["window"] = (first, most)
    table["send_buffer"], buffer = _send_buffer(found)
    free |= {"send_buffer": buffer} if buffer else {}
    if not any(_told(flow).get("lost_congestion") or _told(flow).get("lost_random") for flow in found["subflows"]):
        free["lossless"] = True
    told = [_told(flow) for flow in found["subflows"]]
    if any(one.get("sack") for one in told):
        free["sack"] = True
    elif sum(flow["retransmissions"] for flow in found["subflows"]) >= _REPAIRS:
        table["sack"] = Said("false", INFERENCE, say.GROUND_NO_SACK())
        free["sack"] = False
    hand = found["handshake"]
    if hand and hand["checksum_required"]:
        table["checksum"] = Said("true", FACT, say.GROUND_HANDSHAKE())
    return table, free


def _send_buffer(found: Mapping[str, Any]) -> tuple[Said, Span | None]:
    """Of the sender, and what a fit may try."""
    told, causes = found.get("diagnosis") or {}, _mean(found)
    most = float(told.get("unacknowledged_max_bytes") or 0)
    kept = told.get("send_buffer_bytes")
    if kept and causes.get("send_buffer", 0) >= _SHARE:
        size = max(float(kept), _LEAST_BUFFER)
        return Said(text(f"{size:.0f} B"), INFERENCE, say.GROUND_SEND_BUFFER()), None
    # A sender that waits for its send buffer looks like one that waits for its application, at the receiver like any.
    hidden = sum(causes.get(cause, 0) for cause in ("send_buffer", "application", "cwnd", "scheduler"))
    span = Span(max(most, _LEAST_BUFFER), _LEAST_BUFFER) if most and hidden >= _SHARE else None
    return Said(text("unlimited"), UNKNOWN, say.GROUND_NO_SEND_BUFFER()), span


def _mean(found: Mapping[str, Any]) -> dict[str, float]:
    """Shares of the time of the connection."""
    all_ = [_told(flow).get("causes") for flow in found["subflows"]]
    known = [causes for causes in all_ if causes]
    return {c: sum(one[c] for one in known) / len(known) for c in known[0]} if known else {}


def _transfer(found: Mapping[str, Any], *, down: bool) -> Table:
    arrived = max(1, found["bytes_delivered"])
    table: Table = {"bytes": Said(text(f"{arrived} B"), FACT, say.GROUND_BYTES())}
    if found["status"] == "open":
        table["bytes"] = Said(text(f"{_MORE * arrived} B"), UNKNOWN, say.GROUND_OPEN())
    if down:
        table["direction"] = Said(text("down"), FACT, say.GROUND_DOWN())
    causes, got = _mean(found), found["goodput_mbps"] or 0.0
    if causes.get("application", 0) >= 2 * _SHARE and got:
        table["on"] = Said(text("1 s"), INFERENCE, say.GROUND_ON())
        table["off"] = Said(text("0 s"), INFERENCE, say.GROUND_OFF())
        table["rate"] = Said(text(units_rate(got)), INFERENCE, say.GROUND_WRITE_RATE())
    return table


def units_rate(mbps: float) -> str:
    """A rate as a scenario takes it.

    >>> units_rate(1.23456)
    '1.235 Mbit/s'
    """
    return f"{mbps:.4g} Mbit/s" if mbps >= 0.01 else f"{max(1, round(mbps * 1e6))} bit/s"
