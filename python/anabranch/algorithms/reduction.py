"""Reductions: how much may be in flight during fast recovery."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from anabranch.algorithms.base import Algorithm

if TYPE_CHECKING:
    from anabranch._core import AckSample, Entry

__all__ = ["Reduction"]


class Reduction(Algorithm, ABC):
    """How the octets in flight of one subflow come down to the reduced window in fast recovery.

    The controller has reduced its window before fast recovery begins. A subclass defines the four abstract methods.

    Attributes
    ----------
    mss : float
        Payload of a full-sized segment in octets before the handshake has settled it; ``entry.mss`` is the one in use.

    Examples
    --------
    >>> import anabranch as ab
    >>> class Halving(ab.Reduction):
    ...     def on_enter(self, entry):
    ...         self.allowed = entry.window
    ...
    ...     def on_ack(self, ack, window, in_flight):
    ...         self.allowed = window
    ...
    ...     def on_exit(self):
    ...         pass
    ...
    ...     def allows(self, window, in_flight):
    ...         return self.allowed
    ...
    ...     def inflation(self):
    ...         return 0
    >>> scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="1 MB")
    >>> scenario.set("connection.reduction", Halving).run().summary["status"]
    'completed'
    """

    kind: ClassVar[str] = "reduction"

    mss: float

    @abstractmethod
    def on_enter(self, entry: "Entry") -> None:
        """Fast recovery begins."""

    @abstractmethod
    def on_ack(self, ack: "AckSample", window: int, in_flight: int) -> None:
        """An acknowledgement in fast recovery that does not end it.

        `window` is the controller's window, `in_flight` what is in flight now, both in octets.
        """

    def on_sent(self, octets: int) -> None:
        """A segment with `octets` octets is sent in fast recovery."""

    @abstractmethod
    def on_exit(self) -> None:
        """Fast recovery has ended, for whatever reason."""

    def allows(self, window: int, in_flight: int) -> int:
        """Octets that may be in flight if the controller's window is `window` and `in_flight` octets are in flight."""
        return window

    def is_proportional(self) -> bool:
        """Return True if in_flight falls in proportion to delivered octets, as in PRR (RFC 9937).

        Then a lost retransmission has its response (RFC 8985 9.3); otherwise the window is cut again.
        """
        return False

    @abstractmethod
    def inflation(self) -> int:
        """Octets by which the window is inflated for segments that have left the network (RFC 6582 3.2).

        Negative after a large partial acknowledgement. Used only without SACK.
        """
