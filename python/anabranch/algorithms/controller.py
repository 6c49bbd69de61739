"""Congestion controllers: how much may be in flight on a subflow."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from anabranch import _core
from anabranch.algorithms.base import Algorithm

if TYPE_CHECKING:
    from anabranch._core import AckSample, Adjust, Congestion, Departure, LostSegment, Path

__all__ = ["Controller"]


class Controller(Algorithm, ABC):
    """A congestion controller of one subflow. A subclass defines `on_ack` and `on_congestion`.

    Attributes
    ----------
    cwnd : float
        Congestion window in octets, at least `mss`; at first the initial window.
    ssthresh : float
        Slow-start threshold in octets; infinite at first.
    mss : float
        Payload of a full-sized segment in octets.
    initial : float
        Initial window in octets.
    vegas_rate : float
        What the other subflows see as ``Path.vegas_rate``, in octets per second.

    Examples
    --------
    >>> import anabranch as ab
    >>> class Reno(ab.Controller):
    ...     def on_ack(self, ack, paths, me):
    ...         if not self.grow_in_slow_start(ack):
    ...             self.cwnd += self.mss * ack.growth / self.cwnd
    ...
    ...     def on_congestion(self, congestion, paths, me):
    ...         self.halve(congestion)
    >>> scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
    >>> scenario.set("connection.controller", Reno).run().summary["status"]
    'completed'
    """

    kind: ClassVar[str] = "controller"
    fairness: ClassVar[str | None] = None
    """What it is fair to at a shared bottleneck: ``"connection"``, ``"subflow"`` or None."""

    cwnd: float
    ssthresh: float
    mss: float
    initial: float
    vegas_rate: float = 0.0

    def window(self) -> tuple[float, float]:
        """Congestion window and slow-start threshold in octets."""
        return self.cwnd, self.ssthresh

    def adjust(self, adjust: "Adjust") -> None:
        """Apply a change that the engine makes to every window; the default has the engine's rules."""
        _core.window_adjust(self, adjust)

    @abstractmethod
    def on_ack(self, ack: "AckSample", paths: "tuple[Path, ...]", me: int) -> None:
        """New data was acknowledged outside fast recovery; ``paths[me]`` is this subflow."""

    @abstractmethod
    def on_congestion(self, congestion: "Congestion", paths: "tuple[Path, ...]", me: int) -> None:
        """Congestion was inferred. Called once per loss episode, and once per timeout."""

    def on_other_ack(self, ack: "AckSample", paths: "tuple[Path, ...]", me: int) -> None:
        """An acknowledgement that is not passed to `on_ack`: a duplicate, in fast recovery, or after an ECN echo."""

    def on_sent(self, departure: "Departure") -> None:
        """A segment with payload is sent. Called only with ``needs = ("departures",)``."""

    def on_lost(self, now: float, octets: int) -> None:
        """`octets` octets were marked lost at virtual time `now` (s)."""

    def on_lost_segment(self, segment: "LostSegment") -> None:
        """A segment was marked lost. Called only with ``needs = ("delivery_rate",)``."""

    def reduces_itself(self) -> bool:
        """Whether its window is what may be in flight in fast recovery, too. Asked once, when it has been made."""
        return False

    def pacing(self) -> float | None:
        """Pacing rate in octets per second, or None. Asked only with ``needs = ("departures",)``."""
        return None

    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the threshold (RFC 5681 3.1)."""
        return self.cwnd < self.ssthresh

    def slow_start(self, ack: "AckSample") -> None:
        """Grow as in slow start with byte counting (RFC 3465 2.2), up to the threshold."""
        _core.window_slow_start(self, ack)

    def grow_in_slow_start(self, ack: "AckSample") -> bool:
        """Do what an acknowledgement does to every window; return False in congestion avoidance.

        Nothing changes if the window was not full; below the threshold it grows as in slow start.
        """
        return _core.window_grow_in_slow_start(self, ack)

    def halve(self, congestion: "Congestion") -> None:
        """Halve FlightSize (RFC 5681 3.1 equation (4)); after a timeout the window is one segment."""
        _core.window_halve(self, congestion)

    def cut(self, congestion: "Congestion", target: float, least: float = 2.0) -> None:
        """Reduce the threshold to `target` octets, at least `least` segments, and the window as `halve` does."""
        _core.window_cut(self, congestion, target, least)
