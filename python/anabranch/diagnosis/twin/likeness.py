"""How like a run is to a capture: goodput, shares of the paths, reordering; then losses, round trips and outages."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from anabranch.diagnosis.twin.series import outages
from anabranch.sentences import diagnose as say

if TYPE_CHECKING:
    from anabranch.diagnosis.twin.series import HasSubflows
    from anabranch.runs.data import RunData

BOUND = 0.1
"""A twin is like its capture if goodput, shares and reordering differ by no more."""
_TRAFFIC = 0.05
"""Of the data, from which on a path's round trips are compared: of fewer there are not enough."""

Outages = Mapping[int, list[tuple[float, float]]]
"""Of each path: silences with data in flight, from and until, in seconds since the connection's beginning."""


class Likeness(NamedTuple):
    """What differs.

    Attributes
    ----------
    goodput : float
        The run's over the capture's, less 1.
    shares : float
        The largest difference between the shares of a path in the data delivered: 0.1 is ten points.
    reordering : float
        Difference of the shares of data that arrived out of order.
    losses : float
        Difference of the shares of data segments that were sent again.
    srtt : float
        Of the path whose mean smoothed round-trip time differs most: the run's over the capture's, less 1.
    outages : float
        By how much the end of an outage differs, as a share of the connection's time; one that is missing differs by
        its length.
    """

    goodput: float
    shares: float
    reordering: float
    losses: float = 0.0
    srtt: float = 0.0
    outages: float = 0.0

    @property
    def worst(self) -> float:
        """What differs most, in units of what may differ."""
        return max(abs(value) / bound for value, bound in zip(self, BOUNDS, strict=True))

    @property
    def is_like(self) -> bool:
        """All within the bounds."""
        return self.worst <= 1.0

    @property
    def differs(self) -> str:
        """The field that differs most, in units of what may differ."""
        apart = {name: abs(getattr(self, name)) / getattr(BOUNDS, name) for name in self._fields}
        return max(apart, key=lambda name: apart[name])

    def difference(self) -> str:
        """The field that differs most, in words: by how much, and how much may differ.

        >>> Likeness(-0.209, 0.091, -0.183).difference()
        'The goodput differs by -20.9 %; the limit is 10 %'
        """
        name = self.differs
        measure, unit = say.DIFFERS[name]
        apart, most = 100 * getattr(self, name), 100 * getattr(BOUNDS, name)
        return say.DIFFERENCE(measure=measure, difference=unit(value=f"{apart:+.1f}"), most=unit(value=f"{most:g}"))

    def said(self) -> tuple[str, str]:
        """In words: what the bar is about, and what else makes a twin one.

        >>> Likeness(-0.012, 0.0251, 0.003, srtt=0.0411).said()
        ('goodput -1.2 %, shares of the paths 2.5 points, reordering +0.3 points', \
'segments sent again +0.0 points, smoothed RTT +4.1 %')
        """
        values = {name: 100 * value for name, value in self._asdict().items()}
        goodput, shares_, reordering, losses, srtt = say.LIKE
        first = goodput(goodput=values["goodput"]), shares_(shares=values["shares"])
        rest = [losses(losses=values["losses"]), srtt(srtt=values["srtt"])]
        rest += [say.LIKE_OUTAGES(outages=values["outages"])] if self.outages else []
        return ", ".join([*first, reordering(reordering=values["reordering"])]), ", ".join(rest)


BOUNDS = Likeness(BOUND, BOUND, BOUND, losses=0.03, srtt=0.25, outages=BOUND)
"""What may differ. Losses are few: three points of the segments decide whether a path is a good one."""


def likeness(
    capture: Mapping[str, Any], run: Mapping[str, Any], gone: Outages | None = None, gone_again: Outages | None = None
) -> Likeness:
    """Compares two summaries of a connection, and outages of the first and of the second if they are known."""
    goodput = (run["goodput_mbps"] or 0.0) / (capture["goodput_mbps"] or 1e-9) - 1
    one, other = shares(capture), shares(run)
    apart = max((abs(one.get(path, 0.0) - other.get(path, 0.0)) for path in {*one, *other}), default=0.0)
    reordering = (run["ooo_ratio"] or 0.0) - (capture["ooo_ratio"] or 0.0)
    trips, again = srtts(capture), srtts(run)
    both = [p for p in trips if p in again and min(one[p], other[p]) >= _TRAFFIC]
    srtt = max((again[path] / trips[path] - 1 for path in both), key=abs, default=0.0)
    ends = 0.0
    if gone is not None and gone_again is not None:
        ends = _ends_apart(gone, gone_again) / (capture.get("last_byte_s") or 1.0)
    return Likeness(goodput, apart, reordering, resent(run) - resent(capture), srtt, ends)


def shares(summary: Mapping[str, Any]) -> dict[int, float]:
    """Of each path in the goodput of its connection; paths have the same numbers in a capture and in its twin."""
    found: dict[int, float] = {}
    for flow in summary["subflows"]:
        found[flow["path"]] = found.get(flow["path"], 0.0) + (flow["goodput_mbps"] or 0.0)
    total = sum(found.values()) or 1.0
    return {path: value / total for path, value in found.items()}


def resent(summary: Mapping[str, Any]) -> float:
    """The share of the data segments that were sent again on their subflow."""
    flows = summary["subflows"]
    again = sum(flow.get(key) or 0 for flow in flows for key in ("retransmissions_fast", "retransmissions_timeout"))
    return float(again / max(1, sum(flow.get("segments") or 0 for flow in flows)))


def srtts(summary: Mapping[str, Any]) -> dict[int, float]:
    """Of each path the mean smoothed round-trip time, of the subflow that carried most.

    A capture at the receiver has it as reconstructed from timestamps.
    """
    flows = sorted(summary["subflows"], key=lambda flow: flow["goodput_mbps"] or 0.0)
    pairs = ((flow["path"], flow.get("srtt_ms") or (flow.get("diagnosis") or {}).get("srtt_ms")) for flow in flows)
    return {path: srtt for path, srtt in pairs if srtt}


def _ends_apart(gone: Outages, again: Outages) -> float:
    """The largest difference of the ends of outages that overlap; one that overlaps none counts as long as it is."""
    worst = 0.0
    for one, other in ((gone, again), (again, gone)):
        for path, times in one.items():
            for begin, end in times:
                ends = [e for b, e in other.get(path, []) if b < end and begin < e]
                worst = max(worst, min((abs(e - end) for e in ends), default=end - begin))
    return worst


def paths_away(found: Mapping[str, Any], number: int, frames: "HasSubflows") -> Outages:
    """The outages of the paths of connection `number` of a capture, which is `found`."""
    start, last = found.get("start_s") or 0.0, found["last_byte_s"] or 0.0
    numbers: dict[int, list[int]] = {}
    for i, flow in enumerate(found["subflows"]):
        numbers.setdefault(flow["path"], []).append(i)
    return {
        path: [(b - start, last if e is None else e - start) for b, e in outages(frames, number, flows, start + last)]
        for path, flows in numbers.items()
    }


def compared(capture: Mapping[str, Any], gone: Outages, run: "RunData") -> Likeness:
    """Of a `run` with one connection and a connection of a `capture`, whose outages are known."""
    again = None
    if any(gone.values()):
        again = paths_away(run.summary, 0, SimpleNamespace(subflows=run.series))
    return likeness(capture, run.summary, gone, again)
