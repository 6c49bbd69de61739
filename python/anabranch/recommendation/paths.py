"""What is assumed of the paths: their rates, delays and queues, how long a transfer over them has to be."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from anabranch.measures import units
from anabranch.measures.labels import delay_of, rate_of
from anabranch.scenario import Scenario, Value
from anabranch.sentences import recommend as say

_NOMINAL = 54e6
"""Of a radio that chooses its rate, bit/s."""
_CARRIED = 0.5
"""Of the highest rate of 802.11n and later, what a radio that chooses its rate carries a few metres away, roughly."""
_RADIO = 0.01
"""Seconds of a round trip that go to a radio's contention."""
_FIRST = 10 * 1400
"""Octets of the first window (RFC 6928)."""
_SLOW_STARTS = 4
"""So many times as long as slow start takes a transfer shall be."""
_LEAST = 5
"""Seconds of a transfer."""
_MOST = 8e9
"""Bits of a transfer that is chosen here: more take a second and more to simulate, and few candidates are tried."""
PACKET = 1500


class Path(NamedTuple):
    """One path, in the direction of the data.

    Attributes
    ----------
    name : str
        Of its link.
    rate : float
        Bit/s.
    there, back : float
        Delays, one way each, in s.
    queue : float
        Octets before its slowest part.
    said : str
        The queue as the scenario has it.
    kind : str
        What kind of link it is and its rate.
    radio : bool
        The delays are estimates, since a station contends for its radio.
    """

    name: str
    rate: float
    there: float
    back: float
    queue: float
    said: str
    kind: str
    radio: bool = False

    @property
    def round_trip(self) -> float:
        """Without queues, in s."""
        return self.there + self.back

    @property
    def full(self) -> float:
        """How long a full queue takes, in s."""
        return 8 * self.queue / self.rate

    @property
    def slow_start(self) -> float:
        """How long slow start takes to fill path and queue, in s: the window doubles once a round trip."""
        doublings = math.log2(max(1.0, (self.rate / 8 * self.round_trip + self.queue) / _FIRST))
        return (2 + doublings) * (self.round_trip + self.full)

    def __str__(self) -> str:
        there, back = units.time(self.there), units.time(self.back)
        if self.radio:
            there, back = say.ABOUT(rate=there), say.ABOUT(rate=back)
        delay = say.PATH_DELAY(delay=there) if self.there == self.back else say.PATH_DELAYS(up=there, down=back)
        return say.PATH(kind=self.kind, delay=delay, queue=self.said, time=units.time(self.full))


def direction(scenario: Scenario) -> str:
    """Return the direction of the data: ``"down"``, ``"up"`` or ``"both"``."""
    return str(scenario.check()["connections"][0]["transfer"].get("direction", "up"))


def paths(scenario: Scenario) -> list[Path]:
    """The paths of a scenario in short form: one link each."""
    way = "down" if direction(scenario) == "down" else "up"
    return [_path(link, way) for link in scenario.check()["links"]]


def _path(link: Mapping[str, Any], way: str) -> Path:
    wifi, side = link.get("wifi") or {}, link[way]
    rate = float(min(rate for rate in (_nominal(wifi), side.get("rate_bps"), 1e15) if rate))
    there, back = (delay_of(link[each]) + (_RADIO / 2 if wifi else 0.0) for each in ("up", "down"))
    if wifi:
        carries = units.rate(rate) if wifi["rate_bps"] else say.ABOUT(rate=units.rate(rate))
        distance = units.significant(wifi["distance_m"])
        kind = say.PATH_RADIO(standard=wifi["standard"], distance=distance, rate=carries)
        size = wifi["queue_packets"]
        return Path(link["name"], rate, there, back, size * PACKET, say.PACKETS(count=size), kind, radio=True)
    count, octets = side["queue_packets"], side["queue_bytes"]
    limits = [(count * PACKET, say.PACKETS(count=count))] if count is not None else []
    limits += [(octets, units.octets(octets))] if octets is not None else []
    queue, said = min(limits)
    return Path(link["name"], rate, there, back, float(queue), said, rate_of(side))


def _nominal(wifi: Mapping[str, Any]) -> float | None:
    """What a radio carries, bit/s; none if there is none."""
    if not wifi:
        return None
    if wifi["rate_bps"]:
        return float(wifi["rate_bps"])
    # From 802.11n on there is a window.
    return _CARRIED * wifi["peak_rate_bps"] if "block_ack_window" in wifi else _NOMINAL


def chosen(scenario: Scenario) -> str:
    """How long a transfer goes on if nobody says so: `enough`, or over fast paths at least as long as slow start takes.

    >>> chosen(Scenario.of_paths(["5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms"], transfer="1 MB"))
    '14 s'
    >>> chosen(Scenario.of_paths(["1 Gbit/s, 1 ms", "lte driving"], transfer="1 MB"))
    '17 s'
    """
    found = paths(scenario)
    slow_start = max(path.slow_start for path in found)
    affordable = max(slow_start, _MOST / sum(path.rate for path in found))
    return f"{max(_LEAST, math.ceil(min(_SLOW_STARTS * slow_start, affordable)))} s"


def enough(scenario: Scenario) -> str:
    """How long a transfer goes on that leaves slow start behind on every path, and then lasts three times as long.

    It is a time, not an amount: over long fat paths few controllers use the rate that an amount would be reckoned by.

    >>> enough(Scenario.of_paths(["5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms"], transfer="1 MB"))
    '14 s'
    >>> enough(Scenario.of_paths(["100 Mbit/s, 300 ms"], transfer="1 MB"))
    '28 s'
    """
    return f"{max(_LEAST, math.ceil(_SLOW_STARTS * max(path.slow_start for path in paths(scenario))))} s"


def too_short(scenario: Scenario) -> str:
    """Why the transfer of `scenario` says little of its paths; empty if it is long enough."""
    transfer = scenario.check()["connections"][0]["transfer"]
    found = paths(scenario)
    slowest = max(found, key=lambda path: path.slow_start)
    octets, seconds = transfer.get("extent_bytes"), transfer.get("extent_s")
    told = say.TOO_SHORT_TIME if octets is None else say.TOO_SHORT
    if octets is not None:
        seconds = 8 * octets / sum(path.rate for path in found)
    if seconds is None or seconds >= _SLOW_STARTS / 2 * slowest.slow_start:
        return ""
    return told(
        time=units.time(seconds),
        path=slowest.name,
        slow_start=units.time(slowest.slow_start),
        enough=enough(scenario),
    )


def with_queues(scenario: Scenario, factor: float) -> Scenario:
    """`scenario` with queues of so many times their size."""
    changes: dict[str, Value] = {}
    for i, link in enumerate(scenario.check()["links"]):
        if link.get("wifi"):
            changes[f"path.{i}.wifi.queue"] = f"{_times(link['wifi']['queue_packets'], factor)} packets"
        else:
            up, down = (_queue(link[way], factor) for way in ("up", "down"))
            alike = up == down
            changes |= {f"path.{i}.queue": up} if alike else {f"path.{i}.queue_up": up, f"path.{i}.queue_down": down}
    return scenario.set(changes)


def _queue(side: Mapping[str, Any], factor: float) -> str:
    """The queue of one direction, so many times its size."""
    if side["queue_packets"] is not None:
        return f"{_times(side['queue_packets'], factor)} packets"
    return f"{_times(side['queue_bytes'], factor)} B"


def _times(size: int, factor: float) -> int:
    return max(1, round(size * factor))
