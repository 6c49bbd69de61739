"""An axis of a sweep as an axis of a figure: numbers in one unit where its values are quantities, else names."""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

_UNITS: tuple[dict[str, float], ...] = (
    {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
    {"packets": 1.0},
    {"%": 1.0},
    {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3},
    {"m/s": 1.0, "km/h": 1 / 3.6},
    {"dB": 1.0},
    {"dBm": 1.0},
    {"": 1.0},
)
_NUMBER = re.compile(r"\s*([+-]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z%/]*)\s*")


@dataclass(frozen=True)
class Scale:
    """Where the values of an axis stand.

    Attributes
    ----------
    places : tuple of float
        Of each value; its number if they are names.
    names : tuple of str
        What stands at each place.
    unit : str
        Of the places; empty if they have none.
    numeric : bool
        Whether the places are numbers, so that a line may join them.
    """

    places: tuple[float, ...]
    names: tuple[str, ...]
    unit: str
    numeric: bool

    @property
    def logarithmic(self) -> bool:
        """Whether the values are spread more evenly by their ratios."""
        if not self.numeric or len(self.places) < 3 or min(self.places) <= 0:
            return False
        ordered = sorted(self.places)
        return _evenness([math.log(x) for x in ordered]) > _evenness(ordered) and ordered[-1] > 10 * ordered[0]


def scale(values: Sequence[object]) -> Scale:
    """The places of `values` on an axis.

    >>> scale(["500 us", "10 ms", "1 s"])
    Scale(places=(0.0005, 0.01, 1.0), names=('500 us', '10 ms', '1 s'), unit='s', numeric=True)
    >>> scale([5, 10]).places, scale(["coupled", "cubic"]).places
    ((5.0, 10.0), (0.0, 1.0))
    """
    names = tuple(str(value) for value in values)
    quantities = [_quantity(value) for value in values]
    for table in _UNITS:
        found = [quantity for quantity in quantities if quantity is not None and quantity[1] in table]
        if len(found) == len(values) > 0:
            base = [number * table[unit] for number, unit in found]
            unit = max(found, key=lambda one: one[0] * table[one[1]])[1]
            plain = [f"{number / table[unit]:.12g}" for number in base]
            shown = tuple(plain) if len({one[1] for one in found}) == 1 else names
            return Scale(tuple(float(text) for text in plain), shown, unit, True)
    return Scale(tuple(float(i) for i in range(len(names))), names, "", False)


def _quantity(value: object) -> tuple[float, str] | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value), ""
    found = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else (float(found[1].replace("_", "")), found[2])


def _evenness(ordered: Sequence[float]) -> float:
    """Least distance of neighbours / largest one."""
    gaps = [b - a for a, b in itertools.pairwise(ordered)]
    return min(gaps) / max(gaps) if max(gaps) > 0 else 0.0


_MEASURES = {
    "goodput_mbps": "goodput (Mbit/s)",
    "completion_s": "completion (s)",
    "ooo_ratio": "out of order (share of data segments)",
    "ooo_buffer_max_bytes": "reordering buffer, most (kB)",
    "ooo_buffer_max_packets": "reordering buffer, most (packets)",
    "hol_delay_p50_ms": "head-of-line delay, median (ms)",
    "hol_delay_p95_ms": "head-of-line delay, 95th percentile (ms)",
    "hol_delay_p99_ms": "head-of-line delay, 99th percentile (ms)",
    "message_latency_p50_ms": "message latency, median (ms)",
    "message_latency_p95_ms": "message latency, 95th percentile (ms)",
    "message_latency_p99_ms": "message latency, 99th percentile (ms)",
    "message_latency_p999_ms": "message latency, 99.9th percentile (ms)",
    "object_latency_p50_ms": "object latency, median (ms)",
    "object_latency_p95_ms": "object latency, 95th percentile (ms)",
    "object_latency_p99_ms": "object latency, 99th percentile (ms)",
    "object_latency_p999_ms": "object latency, 99.9th percentile (ms)",
    "segment_latency_p50_ms": "segment latency, median (ms)",
    "segment_latency_p95_ms": "segment latency, 95th percentile (ms)",
    "segment_latency_p99_ms": "segment latency, 99th percentile (ms)",
    "segment_latency_p999_ms": "segment latency, 99.9th percentile (ms)",
    "longest_gap_s": "longest time without data (s)",
    "recovery_max_s": "longest recovery after a change (s)",
    "datagram_delay_p50_ms": "datagram delay, median (ms)",
    "datagram_delay_p95_ms": "datagram delay, 95th percentile (ms)",
    "datagram_delay_p99_ms": "datagram delay, 99th percentile (ms)",
    "datagram_delay_p999_ms": "datagram delay, 99.9th percentile (ms)",
    "datagram_loss": "datagrams lost (share)",
    "reverse_goodput_mbps": "goodput the other way (Mbit/s)",
    "page_load_s": "page load (s)",
    "startup_s": "start of the film (s)",
    "rebuffering_count": "stops of the film",
    "bitrate_mean_mbps": "mean bit rate of the film (Mbit/s)",
    "bitrate_switches": "changes of the bit rate",
    "deadline_missed": "deadlines missed (share of messages)",
    "retransmissions_fast": "fast retransmissions",
    "retransmissions_timeout": "retransmissions after timeout",
    "spurious": "spurious retransmissions",
    "jain": "Jain's fairness index",
    "rbd": "packets in the reordering buffer",
    "reorder_density": "displacement (packets)",
    "throughput": "throughput (Mbit/s)",
    "cwnd": "congestion window (kB)",
    "ssthresh": "slow-start threshold (kB)",
    "srtt": "smoothed RTT (ms)",
    "rto": "retransmission timeout (ms)",
    "in_flight": "octets in flight (kB)",
    "delivered": "delivered (MB)",
    "ooo_buffer": "packets waiting for a gap",
    "ooo_buffer_bytes": "octets waiting for a gap (kB)",
}
_SUFFIXES = {"_s": "s", "_ms": "ms", "_mbps": "Mbit/s", "_bytes": "kB", "_packets": "packets"}


def measure(name: str) -> str:
    """What an axis with the column `name` is called, with its unit.

    >>> measure("goodput_mbps"), measure("detection_delay_ms"), measure("limited_cwnd")
    ('goodput (Mbit/s)', 'detection delay (ms)', 'limited cwnd')
    """
    if name in _MEASURES:
        return _MEASURES[name]
    for suffix, unit in _SUFFIXES.items():
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix).replace('_', ' ')} ({unit})"
    return name.replace("_", " ")


def factor(name: str) -> float:
    """From the column `name` to the unit of its axis.

    >>> factor("ooo_buffer_max_bytes"), factor("goodput_mbps")
    (0.001, 1.0)
    """
    return 1e-3 if name.endswith("_bytes") else 1.0


def headline(name: str) -> str:
    """Title of a figure of the column `name`.

    >>> headline("goodput_mbps"), headline("limited_cwnd")
    ('Goodput', 'Limited cwnd')
    """
    words = measure(name).partition(" (")[0]
    return words[:1].upper() + words[1:]
