"""What measures are called in tables and figures, their units, and the bounds that no value can pass.

One label for one measure, everywhere; docs/columns.md lists the labels, and a test compares the two.
"""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_PERCENTILES = {"p50": "median", "p95": "95th percentile", "p99": "99th percentile", "p999": "99.9th percentile"}


class Measure(NamedTuple):
    """A measure.

    Attributes
    ----------
    label : str
        What its axis is called, with the unit.
    low, high : float
        Its bounds: an interval of its mean ends there.
    """

    label: str
    low: float = 0.0
    high: float = math.inf

    @property
    def words(self) -> str:
        """The label without the unit."""
        return self.label.partition(" (")[0]

    @property
    def unit(self) -> str:
        """The unit in tables, where shares are percentages; empty for a count."""
        unit = self.label.partition(" (")[2].removesuffix(")")
        return "%" if unit.startswith("share") else unit

    @property
    def heading(self) -> tuple[str, ...]:
        """The label as the heading of a column, in two lines if it has two words, with ``retrans.`` abbreviated.

        >>> MEASURES["goodput_mbps"].heading, MEASURES["spurious"].heading, MEASURES["status"].heading
        (('goodput', '(Mbit/s)'), ('spurious', 'retrans.'), ('status',))
        """
        words = self.words.replace("retransmissions", "retrans.")
        return two_lines(f"{words} ({self.unit})" if self.unit else words)


def two_lines(label: str) -> tuple[str, ...]:
    """Break a label into the two lines that need the least width; a single word stays.

    >>> two_lines("base RTT (ms)"), two_lines("status")
    (('base', 'RTT (ms)'), ('status',))
    """
    words = label.split()
    splits = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    return min(splits, key=lambda parts: max(map(len, parts)), default=(label,))


def _share(label: str) -> Measure:
    """A part of a whole."""
    return Measure(label, 0.0, 1.0)


def _percentiles(name: str, label: str, *, upto: str = "p999") -> Iterator[tuple[str, Measure]]:
    for percentile, words in _PERCENTILES.items():
        yield f"{name}_{percentile}_ms", Measure(f"{label}, {words} (ms)")
        if percentile == upto:
            break


MEASURES: Mapping[str, Measure] = {
    "goodput_mbps": Measure("goodput (Mbit/s)"),
    "completion_s": Measure("completion (s)"),
    "first_byte_s": Measure("first octet read (s)"),
    "last_byte_s": Measure("last octet read (s)"),
    "stalled_since_s": Measure("stalled since (s)"),
    "bytes_delivered": Measure("octets delivered"),
    "content_ok": _share("content as sent (share of runs)"),
    "bytes_altered": Measure("octets altered"),
    "ooo_ratio": _share("out-of-order ratio (share of data segments)"),
    "ooo_buffer_max_bytes": Measure("reordering buffer (kB)"),
    "ooo_buffer_max_packets": Measure("reordering buffer (packets)"),
    "reorder_extent_max": Measure("largest reorder extent (packets)"),
    **dict(_percentiles("hol_delay", "head-of-line delay", upto="p99")),
    **dict(_percentiles("message_latency", "message latency")),
    **dict(_percentiles("object_latency", "object latency")),
    **dict(_percentiles("segment_latency", "segment latency")),
    **dict(_percentiles("datagram_delay", "datagram delay")),
    **dict(_percentiles("one_way_delay", "one-way delay")),
    "longest_gap_s": Measure("longest time without data (s)"),
    "recovery_max_s": Measure("longest recovery after a change (s)"),
    "datagram_loss": _share("datagrams lost (share of datagrams)"),
    "jitter_ms": Measure("jitter (ms)"),
    "reverse_goodput_mbps": Measure("goodput the other way (Mbit/s)"),
    "reverse_bytes_delivered": Measure("octets delivered the other way"),
    "reverse_first_byte_s": Measure("first octet read the other way (s)"),
    "reverse_last_byte_s": Measure("last octet read the other way (s)"),
    "reverse_longest_gap_s": Measure("longest time without data the other way (s)"),
    "page_load_s": Measure("page load (s)"),
    "startup_s": Measure("start of the film (s)"),
    "rebuffering_s": Measure("film stopped (s)"),
    "rebuffering_count": Measure("stops of the film"),
    "bitrate_mean_mbps": Measure("mean bit rate of the film (Mbit/s)"),
    "bitrate_switches": Measure("changes of the bit rate"),
    "deadline_missed": _share("deadlines missed (share of messages)"),
    "limited_cwnd": _share("limited by cwnd (share of time)"),
    "limited_receive_window": _share("limited by the receive window (share of time)"),
    "limited_head_of_line": _share("limited by head-of-line blocking (share of time)"),
    "limited_scheduler": _share("limited by the scheduler (share of time)"),
    "limited_application": _share("limited by the application (share of time)"),
    "limited_send_buffer": _share("limited by the send buffer (share of time)"),
    "limited_link": _share("limited by the links (share of time)"),
    "episodes_spurious_judged_spurious": Measure("spurious episodes judged spurious"),
    "episodes_spurious_judged_genuine": Measure("spurious episodes judged genuine"),
    "episodes_genuine_judged_spurious": Measure("genuine episodes judged spurious"),
    "episodes_genuine_judged_genuine": Measure("genuine episodes judged genuine"),
    "detection_delay_ms": Measure("detection delay (ms)"),
    "windows_restored": Measure("windows restored"),
    "segments": Measure("data segments"),
    "choice_ratio": _share("segments with a choice (share of segments)"),
    "retransmissions_fast": Measure("fast retransmissions"),
    "retransmissions_timeout": Measure("timeout retransmissions"),
    "spurious": Measure("spurious retransmissions"),
    "undone": Measure("window cuts undone"),
    "queue_drops": Measure("queue drops"),
    "fallback": _share("fallback to TCP (share of runs)"),
    "jain": _share("Jain's index of the goodputs"),
    "status": Measure("status"),
    "name": Measure("connection"),
    "protocol": Measure("protocol"),
    "data_from": Measure("data from the"),
    "limits": Measure("limited most by"),
    "utilisation": _share("utilisation (share of the rate)"),
    "srtt_ms": Measure("srtt (ms)"),
    "rtt_min_ms": Measure("minimum RTT (ms)"),
    "cwnd_mean_segments": Measure("mean cwnd (segments)"),
    "reinjections": Measure("segments reinjected"),
    "missing_bytes": Measure("missing in the capture (kB)"),
    "events": Measure("events"),
    "wall_s": Measure("wall time (s)"),
    "samples": Measure("samples"),
    "rbd": Measure("packets in the reordering buffer"),
    "reorder_density": Measure("displacement (packets)", -math.inf),
    "throughput": Measure("throughput (Mbit/s)"),
    "cwnd": Measure("congestion window (kB)"),
    "ssthresh": Measure("slow-start threshold (kB)"),
    "srtt": Measure("smoothed RTT (ms)"),
    "rto": Measure("retransmission timeout (ms)"),
    "in_flight": Measure("octets in flight (kB)"),
    "delivered": Measure("delivered (MB)"),
    "ooo_buffer": Measure("packets waiting for a gap"),
    "ooo_buffer_bytes": Measure("octets waiting for a gap (kB)"),
}
"""Columns of a sweep's runs and of series over time, by name."""


def label(name: str) -> str:
    """What the axis of the column `name` is called.

    >>> label("goodput_mbps"), label("detection_delay_ms"), label("my_share")
    ('goodput (Mbit/s)', 'detection delay (ms)', 'my share')
    """
    return MEASURES[name].label if name in MEASURES else name.replace("_", " ")


def of_field(field: str) -> Measure:
    """Return the measure of a field of the summary, ``hol_delay_ms.p95`` for one inside another.

    >>> of_field("hol_delay_ms.p95").label, of_field("reverse.goodput_mbps").words
    ('head-of-line delay, 95th percentile (ms)', 'goodput the other way')
    """
    outer, _, inner = field.partition(".")
    if not inner:
        return MEASURES[field]
    stem = outer.removesuffix("_ms")
    return MEASURES[f"{stem}_{inner}_ms" if stem != outer else f"{outer}_{inner}"]


def scale(name: str) -> float:
    """From the column `name` to its unit in tables.

    >>> scale("ooo_ratio"), scale("ooo_buffer_max_bytes"), scale("goodput_mbps")
    (100.0, 0.001, 1.0)
    """
    return 100.0 if name in MEASURES and MEASURES[name].unit == "%" else factor(name)


def bounds(name: str) -> tuple[float, float]:
    """Least and greatest value that the column `name` can have, in the unit of its axis; none if it is not known.

    >>> bounds("goodput_mbps"), bounds("ooo_ratio"), bounds("my_share")
    ((0.0, inf), (0.0, 1.0), (-inf, inf))
    """
    return MEASURES[name][1:] if name in MEASURES else (-math.inf, math.inf)


def factor(name: str) -> float:
    """From the column `name` to the unit of its axis.

    >>> factor("ooo_buffer_max_bytes"), factor("goodput_mbps")
    (0.001, 1.0)
    """
    return 1e-3 if name.endswith("_bytes") else 1.0


def headline(label: str) -> str:
    """Title of a figure whose axis is called `label`.

    >>> headline("goodput (Mbit/s)")
    'Goodput'
    """
    words = label.partition(" (")[0]
    return words[:1].upper() + words[1:]
