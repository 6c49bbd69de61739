"""From a scenario to a run of the user-mode kernel; what Linux or the topology cannot follow is refused by name."""

from collections.abc import Iterator, Mapping
from typing import Any

from anabranch.kernel.runner import KernelError
from anabranch.measures import scenario_keys

CONTROLLERS = {"uncoupled": "reno", "cubic": "cubic"}
"""Controllers of Anabranch and what Linux calls them."""

KERNELS = {"linux-6.18": "6.12"}
"""Profiles whose judge is another version than 6.1: Linux 6.12 has the rules of the profile linux-6.18."""

_MOST_PATHS = 8

_TICK = 0.01
"""Seconds between two ticks of the kernel's clock (CONFIG_HZ)."""

_WRITE_MEMORY = 4_000_000
"""Octets of send buffer below which `tcp_wmem` says something else than `send_buffer`."""


def spec_of(resolved: dict[str, Any], ablation: "dict[str, bool] | None" = None) -> dict[str, Any]:
    """The specification of a run (see :mod:`anabranch.kernel.guest`) for a resolved scenario (``Scenario.check``).

    Parameters
    ----------
    resolved : dict
        The resolved scenario.
    ablation : dict, optional
        Features of Linux to switch off: ``prr``, ``rack``, ``quick_acks``, ``hystart``, each true to switch it off.

    Raises
    ------
    KernelError
        If the scenario asks for something that Linux or the topology does not have. The message names the key.
    """
    off = ablation or {}
    if resolved["stack"] != "anabranch":
        raise _refused("stack", f'"{resolved["stack"]}"', "the legacy model of the papers has no counterpart in Linux")
    if len(resolved["connections"]) != 1:
        raise _refused("connection", f"{len(resolved['connections'])} connections", "the kernel runs one connection")
    for host in resolved.get("host", ()):
        for key, value, why in _other_than_linux("host", host):
            raise _refused(f"host.{key}", str(value), why)
    c = resolved["connections"][0]
    _check_connection(c)
    links = {link["name"]: (i, link) for i, link in enumerate(resolved["links"])}
    if resolved["routers"] or any(len(path) != 1 for path in c["paths"]):
        raise _refused("router", "paths over several links", "in the comparison each path is one link")
    chosen = [links[path[0]] for path in c["paths"]]
    if len(chosen) > _MOST_PATHS:
        raise _refused("path", f"{len(chosen)} paths", f"Linux opens at most {_MOST_PATHS} subflows")
    events = [event for path, (i, link) in enumerate(chosen) for event in _events(path, i, link)]
    return {
        "kernel": KERNELS.get(c["profile"], "6.1"),
        "protocol": c["protocol"],
        "controller": CONTROLLERS[c["controller"]],
        "direction": c["transfer"]["direction"],
        "bytes": c["transfer"]["extent_bytes"],
        "read": (c["transfer"].get("read_rate_bps") or 0) / 8,
        "mtu": _mtu(c),
        "route": _route(c),
        "paths": [{way: _way(i, way, link[way]) for way in ("up", "down")} for i, link in chosen],
        "sysctl": _sysctl(c, off),
        "hystart": not off.get("hystart", False),
        "events": events,
        "capture": False,
    }


def _refused(key: str, value: str, why: str, remedy: str = "") -> KernelError:
    tail = f"\n  {remedy}" if remedy else ""
    return KernelError(f"{key}: {value} cannot be compared with Linux: {why}{tail}")


def _other_than_linux(table: str, resolved: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Yield key, value and reason for each key of a table whose resolved value Linux does not have.

    A key that the resolved scenario leaves out has its default, which Linux has.
    """
    for key in scenario_keys.every():
        if key["table"] == table and key["linux"]:
            only, name = key["linux"]["value"], key["json"]
            if resolved.get(name, only) != only:
                yield key["key"], resolved[name], key["linux"]["why"]


def _check_connection(c: dict[str, Any]) -> None:
    if c["protocol"] == "udp":
        raise _refused("connection.protocol", '"udp"', "UDP has no algorithms to compare")
    if c["controller"] not in CONTROLLERS:
        remedy = "set connection.controller to uncoupled or cubic"
        raise _refused(
            "connection.controller", f'"{c["controller"]}"', "the kernel is built with reno and cubic only", remedy
        )
    for key, value, why in _other_than_linux("connection", c):
        raise _refused(f"connection.{key}", str(value), why)
    _check_times(c)
    if c["send_buffer_bytes"] is not None and c["send_buffer_bytes"] < _WRITE_MEMORY:
        # Over 20 Mbit/s, 50 ms: tcp_wmem of 30, 60, 120 kB leaves TCP 64, 73, 80 kB in flight, MPTCP 29, 52, 83.
        why = "Linux's tcp_wmem counts memory, and the memory for an octet depends on how packets are split and merged"
        raise _refused(
            "connection.send_buffer", f"{c['send_buffer_bytes']} B", why, "leave it out, or set 4 MB or more"
        )
    t = c["transfer"]
    if t["application"] != "bulk" or t["extent_bytes"] is None:
        raise _refused(
            "transfer", "this transfer", "the kernel sends a number of octets", 'set transfer.bytes = "20 MB"'
        )
    if t["direction"] == "both":
        raise _refused("transfer.direction", '"both"', "the kernel sends in one direction")
    if t.get("start_s") or t.get("start_spread_s"):
        raise _refused("transfer.start", "a later start", "the transfer in the kernel starts at once")


def _check_times(c: dict[str, Any]) -> None:
    if c["min_rto_s"] < _TICK or abs(c["min_rto_s"] / _TICK - round(c["min_rto_s"] / _TICK)) > 1e-6:
        why = "the time is no whole number of ticks of the kernel's clock, 10 ms"
        raise _refused("connection.min_rto", f"{c['min_rto_s']:g} s", why, "give a multiple of 10 ms")


def _route(c: dict[str, Any]) -> list[str]:
    """Attributes of the routes: what differs from Linux's own values."""
    words = []
    if c["initial_window_segments"] != 10:
        words += ["initcwnd", str(c["initial_window_segments"])]
    if c["min_rto_s"] != 0.2:
        words += ["rto_min", f"{round(c['min_rto_s'] * 1e3)}ms"]
    return words


def _mtu(c: dict[str, Any]) -> int:
    """Octets of an IPv4 packet with a full segment: headers, timestamps, with MPTCP a DSS of 24 octets."""
    options = (12 if c["timestamps"] else 0) + (24 if c["protocol"] == "mptcp" else 0)
    return int(c["mss_bytes"]) + 40 + options


def _sysctl(c: dict[str, Any], off: dict[str, bool]) -> dict[str, str]:
    # Half of the kernel's memory is window (tcp_adv_win_scale = 1).
    largest = 2 * (c["receive_buffer_bytes"] or 1 << 29)
    if c["receive_initial_bytes"] in (None, 65535):
        # Linux's own is 64 kB of window, of which a SYN can say 65535 octets.
        first = largest if c["receive_initial_bytes"] is None else min(131072, largest)
    else:
        first = min(2 * c["receive_initial_bytes"], largest)
    recovery = (0 if off.get("rack") else 1) | (16 if off.get("prr") else 0) | (32 if off.get("quick_acks") else 0)
    written = {}
    if (c["send_buffer_bytes"] or 1 << 29) > 1 << 22:
        # Not to limit is what a buffer beyond Linux's own is there for: a segment takes up to twice its payload.
        written = {"net.ipv4.tcp_wmem": f"4096 16384 {2 * (c['send_buffer_bytes'] or 1 << 29)}"}
    return written | {
        "net.ipv4.tcp_rmem": f"4096 {first} {largest}",
        "net.ipv4.tcp_recovery": str(recovery),
        "net.ipv4.tcp_sack": str(int(c["sack"])),
        "net.ipv4.tcp_timestamps": str(int(c["timestamps"])),
        "net.mptcp.checksum_enabled": str(int(c["checksum"])),
    }


def _way(i: int, way: str, d: dict[str, Any]) -> dict[str, Any]:
    """Return one direction of the path with index `i`, as the guest's runner takes it."""

    def refuse(key: str, value: object, why: str) -> KernelError:
        return _refused(f"path[{i}].{key}", str(value), why)

    if d.get("trace") is not None:
        raise refuse("trace", "a trace", "the kernel's links have a constant rate")
    if d.get("weather") is not None:
        raise refuse(d["weather"]["kind"], "a link that varies by itself", "the kernel's links have a constant rate")
    if d["discipline"]["name"] != "drop-tail":
        raise refuse("discipline", d["discipline"]["name"], "the kernel's queue is drop-tail")
    if d["queue_packets"] is None:
        raise refuse("queue", "a queue without a number of packets", "the kernel's queue counts packets")
    if not isinstance(d["loss"], int | float):
        raise refuse("loss", "loss in bursts", "the kernel drops each packet independently")
    for key, value, why in _other_than_linux("path", d):
        raise refuse(key, value, why)
    delay = round(d["delay_s"] * 1e6)
    # A share of the delay, or a time.
    jitter = round(d["delay_variation_s"] * 1e6) if "delay_variation_s" in d else round(delay * d["delay_variation"])
    if jitter and (d["delay_redraw"] != "packet" or not d["overtaking"]):
        why = "Linux's netem draws the delay of each packet, and packets overtake each other"
        raise refuse("delay_variation", f"{jitter} us", why)
    return {
        "rate_bps": d["rate_bps"],
        "overhead": d["overhead_bytes"],
        "queue": d["queue_packets"],
        "delay_us": delay,
        "jitter_us": jitter,
        "loss": d["loss"],
    }


def _events(path: int, i: int, link: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the changes of `link` over time as the guest's runner takes them.

    `path` is the link's place in `connection.paths`, `i` its index in the scenario's list of links.
    Raises KernelError for a link that the runs of Linux cannot have.
    """
    if link["wifi"] is not None:
        raise _refused(f"path[{i}].wifi", "a radio", "the kernel's links are wires")
    if link["middleboxes"]:
        raise _refused(f"path[{i}].middleboxes", "a middlebox", "the kernel's network has no middleboxes")
    if link["backup"]:
        raise _refused(f"path[{i}].backup", "true", "in the runs of the kernel no path is a backup")
    events = []
    for n, change in enumerate(link["changes"]):
        if change.get("direction", "both") != "both":
            raise _refused(
                f"path[{i}].changes[{n}].direction", change["direction"], "the kernel changes a link in both directions"
            )
        event: dict[str, Any] = {"at_s": change["at_s"], "path": path}
        for key, value in change.items():
            if key == "state" and value is not None:
                # A link that is down keeps nothing in its queue; one that loses everything sends it and takes the time.
                raise _refused(
                    f"path[{i}].changes[{n}].state",
                    f'"{value}"',
                    "the links to the kernel cannot go down, only lose all packets",
                    'write loss = "100 %" at that time, and the former loss when the path is back',
                )
            if key == "loss" and not isinstance(value, int | float):
                place = f"path[{i}].changes[{n}].loss"
                raise _refused(place, "loss in bursts", "the kernel drops each packet independently")
            if key in ("rate_bps", "loss"):
                event[key] = value
            elif key == "delay_s":
                event["delay_us"] = round(value * 1e6)
            elif key == "queue_packets":
                event["queue"] = value
            elif key not in ("at_s", "direction") and value is not None:
                place = f"path[{i}].changes[{n}].{key}"
                raise _refused(place, str(value), "the links to the kernel cannot change this value")
        events.append(event)
    return events
