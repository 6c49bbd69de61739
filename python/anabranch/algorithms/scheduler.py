"""Schedulers: which subflow carries the next data."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from anabranch._core import Move, Penalise, Queue, Resend, SendAll, Wait
from anabranch.algorithms.base import Algorithm

if TYPE_CHECKING:
    from anabranch._core import Assignment, Offer

    Decision = int | Wait | SendAll | Resend | Queue | Move | Penalise

__all__ = ["Move", "Penalise", "Queue", "Resend", "Scheduler", "SendAll", "Wait"]


class Scheduler(Algorithm, ABC):
    """A scheduler of one connection. A subclass defines `pick`.

    Examples
    --------
    >>> import anabranch as ab
    >>> class Fastest(ab.Scheduler):
    ...     def pick(self, offer):
    ...         return offer.open()
    >>> scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
    >>> own = scenario.set("connection.scheduler", Fastest).run()
    >>> own.summary["trace_sha256"] == scenario.set("connection.scheduler", "min-rtt").run().summary["trace_sha256"]
    True
    """

    kind: ClassVar[str] = "scheduler"
    asks: ClassVar[str] = "always"
    """``"always"``, or ``"choices"``: `pick` is not called while only one subflow can send, which then has the data,
    and `on_sent`, `on_acked` and `on_lost` are never called. Only for schedulers without a memory."""

    @abstractmethod
    def pick(self, offer: "Offer") -> "Decision":
        """Choose the subflow for the next segment.

        Called when there is new data, at least one subflow can send, and the peer's window has room.

        Returns
        -------
        int, Wait, SendAll, Resend, Queue, Move or Penalise
            The index of a path of ``offer.paths`` whose ``can_send`` is True, or another decision.
        """

    def reach(self) -> str:
        """How far `Queue` assigns data ahead of the windows: ``"room"`` (not at all), ``"memory"``, ``"windows"``.

        Asked once, when the object has been made.
        """
        return "room"

    def resends(self) -> bool:
        """Whether `pick_again` is called. Asked once, when the object has been made."""
        return False

    def pick_again(self, offer: "Offer") -> "Decision":
        """Like `pick`, when there is no new data to send, or the peer's window is closed."""
        return Wait()

    def on_sent(self, assignment: "Assignment") -> None:
        """Data was sent as decided."""

    def remembers(self) -> bool:
        """Whether it remembers anything between two calls of `pick`. Asked once, when the object has been made."""
        return self.asks != "choices"

    def on_acked(self, now: float, subflow: int, octets: int) -> None:
        """`octets` octets were newly acknowledged on `subflow` at virtual time `now` (s)."""

    def on_lost(self, now: float, subflow: int, octets: int) -> None:
        """`octets` octets were marked lost on `subflow` at virtual time `now` (s)."""

    def _machine_code(self) -> tuple[int, int, list[float]] | None:
        """What the engine calls instead of the methods, if the scheduler is compiled."""
        return None
