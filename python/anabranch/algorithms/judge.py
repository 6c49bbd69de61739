"""Judges: whether a loss episode was genuine."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

from anabranch._core import Reordered
from anabranch.algorithms.base import Algorithm

if TYPE_CHECKING:
    from anabranch._core import AckSample, Episode

    Verdict = Literal["pending", "probe", "genuine", "spurious"] | Reordered
    Response = Literal["default", "rfc4015", "restore", "slow-start-to-saved", "none"]

__all__ = ["Judge", "Reordered"]


class Judge(Algorithm, ABC):
    """A judge of the loss episodes of one subflow. A subclass defines the four abstract methods.

    A judge reads what acknowledgements say of an episode to which the sender has responded. It never touches the
    window: what follows from ``"spurious"`` is the scenario's key ``response``.

    Examples
    --------
    >>> import anabranch as ab
    >>> class Early(ab.Judge):
    ...     needs = ("timestamps",)
    ...     sent = None
    ...
    ...     def on_episode(self, episode):
    ...         self.sent = episode.timestamp
    ...
    ...     def on_retransmit(self, start, end):
    ...         pass
    ...
    ...     def on_ack(self, ack):
    ...         if ack.acked == 0 or self.sent is None or ack.ts_ecr is None:
    ...             return "pending"
    ...         early, self.sent = ack.ts_ecr < self.sent, None
    ...         return "spurious" if early else "pending"
    ...
    ...     def default_response(self):
    ...         return "rfc4015"
    >>> scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="1 MB")
    >>> scenario.set("connection.judge", Early).run().summary["status"]
    'completed'
    """

    kind: ClassVar[str] = "judge"

    @abstractmethod
    def on_episode(self, episode: "Episode") -> None:
        """An episode begins."""

    @abstractmethod
    def on_retransmit(self, start: int, end: int) -> None:
        """The sequence numbers from `start` to `end`, exclusive, are retransmitted."""

    @abstractmethod
    def on_ack(self, sample: "AckSample") -> "Verdict":
        """An acknowledgement arrived, during an episode or not.

        Returns
        -------
        str or Reordered
            ``"pending"``: nothing new; ``"probe"``: send new data and retransmit nothing until the next verdict
            (F-RTO); ``"genuine"`` or ``"spurious"``: the verdict on the latest loss episode; or
            ``ab.Reordered(hold, undo)``.
        """

    def ignores_progress(self) -> bool:
        """Return True to skip `on_ack` for ACKs in undisturbed transfer. Asked once.

        Skipped are ACKs of new data without SACK blocks while no segment was retransmitted, no
        duplicate ACK has come, and no recovery is in progress. True makes runs faster.
        """
        return False

    @abstractmethod
    def default_response(self) -> "Response":
        """Return the response that the judge's source defines.

        ``"default"``, ``"rfc4015"``, ``"restore"``, ``"slow-start-to-saved"`` or ``"none"``; ``anabranch list`` says
        what they do.
        """
