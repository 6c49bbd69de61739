"""What a capture implies of links, buffers and application: a scenario, with the ground of each line."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from anabranch.diagnosis.twin.series import last_moved, outages, train_rate, up_again
from anabranch.visible import visible
from anabranch.why.measure import RATE_SECONDS

if TYPE_CHECKING:
    from anabranch.capture_data import Frames

FACT, INFERENCE, UNKNOWN = "fact", "inference", "unknown"

_PACKET = 1500
"""Octets of a packet, where a queue is told in packets."""
_MORE = 100
"""Times what arrived: more than is sent in the time."""
_BEFORE_END = 0.95
"""Of the time: what is reset before is taken for a path that went away."""
_ROOM = 4
"""A queue that never was full is taken for so many times as long as it was seen."""
_LEAST_QUEUE = 10
_SHARE = 0.05
"""Of the time, from which a cause shapes the twin."""
_USUAL = 10.0
"""Mbit/s of a path that the capture says nothing of."""
_AGREE = 0.8
"""Of the rate of the fastest train, from which the rate of a busy link is believed."""
_REPAIRS = 10
"""Retransmissions, from which a receiver that uses SACK has shown it."""
_SURE = 3
"""Seconds in which packets waited before the link, from which a rate is not tried further."""


class Said(NamedTuple):
    """The value of a key as TOML, and why it has it: a fact, an inference, or unknown."""

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
        connection["path_changes"] = Said(f"[{', '.join(removed)}]", INFERENCE, "its subflows were reset")
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
    base = told.get("base_rtt_ms")
    rate, said, is_sure = _rate(flow, train_rate(frames, number, i, flow["mss"] or 1400))
    unknown: dict[str, Any] = {"way": way} if is_sure else {"way": way, "rate": rate}
    table: Table = {
        "name": Said(text(f"path{flow['path']}"), FACT, f"{flow['client']} - {flow['server']}"),
        "rate": said,
    }
    if base is None:
        table["delay"] = Said(text("10 ms"), UNKNOWN, "no round trip in the capture")
    else:
        ground = f"half of the shortest round trip, {base:.4g} ms; one side shows no more"
        table["delay"] = Said(text(f"{base / 2:.4g} ms"), INFERENCE, ground)
    table["queue"], unknown["queue"] = _queue(told, rate)
    random = told.get("lost_random") or 0
    if random:
        share = random / max(1, flow["segments"])
        ground = f"{random} of {flow['segments']} segments were lost while the queue was short"
        table[f"loss_{way}"] = Said(text(f"{100 * share:.3g} %"), INFERENCE, ground)
        unknown["loss"] = share
    if flow["backup"]:
        table["backup"] = Said("true", FACT, "flag B of its handshake")
    start, numbers = found["start_s"], [j for j, _ in flows]
    gone = outages(frames, number, numbers, start + (found["last_byte_s"] or 0.0))
    if gone and sum((_told(one).get("causes") or {}).get("failed", 0) for _, one in flows) >= _SHARE:
        parts = [
            f'{{ at = "{begin - start:.3f} s", state = "down" }}'
            + ("" if up is None else f', {{ at = "{up - start:.3f} s", state = "up" }}')
            for begin, end in gone
            for up in [None if end is None else up_again(frames, number, numbers, begin, end)]
        ]
        table["changes"] = Said(f"[{', '.join(parts)}]", INFERENCE, "nothing came back; up between two probes")
    return table, unknown


def _rate(flow: Mapping[str, Any], train: float) -> tuple[float, Said, bool]:
    """Of a link, in Mbit/s, from times in which it was busy or the fastest `train`; and whether it is beyond doubt."""
    told = _told(flow)
    rates = sorted(told.get("saturated_mbps") or [])
    best = max(told.get("best_mbps") or 0.0, flow["goodput_mbps"] or 0.0)
    busy = RATE_SECONDS * len(rates)
    rate = median(rates) if rates else best
    if rates and rate >= _AGREE * train:
        ground = f"{busy:.1f} s of a busy link, {rates[0]:.3g} to {rates[-1]:.3g} Mbit/s"
        return rate, Said(text(units_rate(rate)), INFERENCE, ground), busy >= _SURE
    if not rates and not train:
        rate = max(rate, _USUAL)
        return rate, Said(text(units_rate(rate)), UNKNOWN, "too few packets in a row to say"), False
    rate = max(rate, train)
    ground = f"the fastest train of packets; no second says more than {max(best, *rates, 0):.3g} Mbit/s"
    return rate, Said(text(units_rate(rate)), UNKNOWN, ground), False


def _queue(told: Mapping[str, Any], rate: float) -> tuple[Said, int]:
    """Of a link of `rate` Mbit/s, in packets."""
    base, longest = told.get("base_rtt_ms") or 0.0, told.get("rtt_max_ms") or 0.0
    standing = max(0.0, longest - base) * 1e-3 * rate * 1e6 / 8 / _PACKET
    if told.get("lost_congestion"):
        queue = max(_LEAST_QUEUE // 2, round(standing) - 1)
        return Said(text(f"{queue} packets"), INFERENCE, f"round trips up to {longest:.4g} ms before losses"), queue
    queue = max(_LEAST_QUEUE, round(_ROOM * standing))
    return Said(text(f"{queue} packets"), UNKNOWN, f"never seen full; {standing:.0f} packets waited at most"), queue


def _connection(found: Mapping[str, Any], number: int, frames: "Frames") -> tuple[Table, dict[str, Any]]:
    """Buffers and what the handshake says; and what a fit may choose."""
    import numpy as np

    table: Table = {}
    free: dict[str, Any] = {}
    table["protocol"] = Said(text(found["protocol"]), FACT, "its handshake")
    table["controller"] = Said(text("coupled"), UNKNOWN, "no packet says it")
    if found["protocol"] == "mptcp":
        table["scheduler"] = Said(text("min-rtt"), UNKNOWN, "no packet says it")
    sizes = [flow["largest_segment_bytes"] for flow in found["subflows"] if flow["largest_segment_bytes"]]
    announced = [flow["mss"] for flow in found["subflows"] if flow["mss"]]
    mss = min([max(sizes, default=1400), *announced])
    table["mss"] = Said(str(mss), FACT, "the largest segment, or what the receiver announced")
    columns = frames.window()
    mine = np.asarray(columns["connection"]) == number
    windows = (np.asarray(columns["edge"]) - np.asarray(columns["data_ack"]))[mine]
    windows = windows[windows > 0]
    if len(windows):
        first, most = int(windows[0]), int(windows.max())
        table["receive_buffer"] = Said(text(f"{most} B"), FACT, "the largest window that was advertised")
        if first < most / 2:
            table["receive_initial"] = Said(text(f"{first} B"), FACT, "the first window; it grew")
            ground = "windows that begin small and grow are Linux's way"
            table["profile"] = Said(text("linux"), UNKNOWN, f"no packet says it; {ground}")
            table["controller"] = Said(text("cubic"), UNKNOWN, "no packet says it; Linux's default")
            if "scheduler" in table:
                table["scheduler"] = Said(text("linux"), UNKNOWN, "no packet says it; Linux's default")
        free["window"] = (first, most)
    causes = _mean(found)
    if causes.get("send_buffer", 0) >= _SHARE:
        flight = np.asarray(frames.subflows()["in_flight"])[np.asarray(frames.subflows()["connection"]) == number]
        highest = float(np.nanmax(flight)) if np.isfinite(flight).any() else 0.0
        kept = max(highest * max(1, len(found["subflows"])), 20_000.0)
        table["send_buffer"] = Said(text(f"{kept:.0f} B"), INFERENCE, "the data in flight kept to one ceiling")
        free["send_buffer"] = kept
    else:
        table["send_buffer"] = Said(text("unlimited"), UNKNOWN, "no sign that it was full")
    if not any(_told(flow).get("lost_congestion") or _told(flow).get("lost_random") for flow in found["subflows"]):
        free["lossless"] = True
    told = [_told(flow) for flow in found["subflows"]]
    if any(one.get("sack") for one in told):
        free["sack"] = True
    elif sum(flow["retransmissions"] for flow in found["subflows"]) >= _REPAIRS:
        table["sack"] = Said("false", INFERENCE, "losses were repaired, and no acknowledgement had a SACK block")
        free["sack"] = False
    hand = found["handshake"]
    if hand and hand["checksum_required"]:
        table["checksum"] = Said("true", FACT, "its handshake")
    return table, free


def _mean(found: Mapping[str, Any]) -> dict[str, float]:
    """Shares of the time of the connection."""
    all_ = [_told(flow).get("causes") for flow in found["subflows"]]
    known = [causes for causes in all_ if causes]
    return {c: sum(one[c] for one in known) / len(known) for c in known[0]} if known else {}


def _transfer(found: Mapping[str, Any], *, down: bool) -> Table:
    arrived = max(1, found["bytes_delivered"])
    table: Table = {"bytes": Said(text(f"{arrived} B"), FACT, "what arrived")}
    if found["status"] == "open":
        ground = "the connection goes on after the capture, as long as which this runs"
        table["bytes"] = Said(text(f"{_MORE * arrived} B"), UNKNOWN, ground)
    if down:
        table["direction"] = Said(text("down"), FACT, "most data came from the server")
    causes, got = _mean(found), found["goodput_mbps"] or 0.0
    if causes.get("application", 0) >= 2 * _SHARE and got:
        table["on"] = Said(
            text("1 s"), INFERENCE, "acknowledgements were not answered: the application had nothing more,"
        )
        table["off"] = Said(text("0 s"), INFERENCE, "taken for one that writes steadily")
        table["rate"] = Said(text(units_rate(got)), INFERENCE, "what it got")
    return table


def units_rate(mbps: float) -> str:
    """A rate as a scenario takes it.

    >>> units_rate(1.23456)
    '1.235 Mbit/s'
    """
    return f"{mbps:.4g} Mbit/s" if mbps >= 0.01 else f"{max(1, round(mbps * 1e6))} bit/s"
