"""Detectors: which segments in flight are lost, and when loss recovery begins."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal

from anabranch.algorithms.base import Algorithm

if TYPE_CHECKING:
    from anabranch._core import AckSample, Outstanding, Scoreboard, Sent, Wait

__all__ = ["Detector"]


class Detector(Algorithm, ABC):
    """A detector of loss of one subflow. A subclass defines the four abstract methods.

    A detector marks lost segments in the scoreboard; it neither sends nor touches the window. The scoreboard that a
    method is given can be used only during this call.

    Attributes
    ----------
    mss : float
        Payload of a full-sized segment in octets before the handshake has settled it; ``sender.mss`` is the one in use.

    Examples
    --------
    >>> import anabranch as ab
    >>> class Patient(ab.Detector):
    ...     def on_ack(self, ack, board, sender):
    ...         board.update_lost(5 * sender.mss, 6)
    ...
    ...     def finding(self, ack, board, sender):
    ...         return "loss" if ack.duplicate and board.front_is_lost() else "nothing"
    ...
    ...     def on_timeout(self, now, board, sender):
    ...         board.mark_all_lost()
    ...
    ...     def limited_transmit(self, duplicates):
    ...         return min(duplicates, 5)
    >>> scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="1 MB")
    >>> scenario.set("connection.detector", Patient).run().summary["status"]
    'completed'
    """

    kind: ClassVar[str] = "detector"

    mss: float

    def on_sent(self, now: float, sent: "Sent", srtt: float) -> None:
        """A segment is sent at virtual time `now` (s), new or retransmitted; `srtt` is in seconds, 0 before a sample.

        Called only with ``needs = ("departures",)``.
        """

    @abstractmethod
    def on_ack(self, ack: "AckSample", board: "Scoreboard", sender: "Outstanding") -> None:
        """The scoreboard has processed an acknowledgement: mark lost segments there."""

    def ignores_progress(self) -> bool:
        """Return True to skip `on_ack` and `finding` for ACKs in undisturbed transfer. Asked once.

        Skipped are ACKs of new data while no segment is SACKed or was retransmitted, no duplicate ACK
        has come, and no recovery is in progress. True makes runs faster.
        """
        return False

    @abstractmethod
    def finding(
        self, ack: "AckSample", board: "Scoreboard", sender: "Outstanding"
    ) -> Literal["nothing", "loss", "repaired"]:
        """Say what an acknowledgement means. Called after `on_ack` if no recovery is in progress.

        `board` is a copy, which takes time in proportion to the segments in flight; `ignores_progress` saves most.

        Returns
        -------
        str
            ``"nothing"``; ``"loss"``: fast recovery must begin; or ``"repaired"``: something was lost, and a tail loss
            probe has repaired it (RFC 8985 7.4), so that only the congestion response must follow.
        """

    @abstractmethod
    def on_timeout(self, now: float, board: "Scoreboard", sender: "Outstanding") -> None:
        """The retransmission timer has expired at virtual time `now` (s): mark lost segments."""

    def on_resume(self) -> None:
        """The last episode was spurious: lost segments that waited for their retransmission are in flight again."""

    @abstractmethod
    def limited_transmit(self, duplicates: int) -> int:
        """Segments allowed beyond cwnd after this many duplicate ACKs (RFC 3042).

        Asked when the scoreboard cannot tell that as many segments have arrived.
        """

    def withholds(self) -> bool:
        """Whether `withheld` and `take_reordered` are asked. Asked once, when the object has been made."""
        return False

    def withheld(self) -> int:
        """Octets by which the window is narrowed while SACKs let new data go and nothing is lost yet (RFC 4653 3.2)."""
        return 0

    def take_reordered(self) -> int | None:
        """FlightSize (octets) at a reordering event that ended without loss; None if none ended (RFC 4653 3.3).

        Asked after each acknowledgement of new data.
        """
        return None

    def reordering(self, mss: int) -> int:
        """Longest reordering observed, in segments of `mss` octets; at least 3."""
        return 3

    def rescues(self) -> bool:
        """Whether rules (3) and (4) of NextSeg (RFC 6675 4) retransmit segments that may be lost in fast recovery."""
        return True

    def deadline(self) -> "float | Wait | None":
        """Virtual time at which to call `on_deadline`, in seconds; None for never.

        ``ab.Wait(until_ns=...)`` is exact to the nanosecond. Asked only with ``needs = ("timer",)``, after each other
        call. `on_deadline` is called earlier if the retransmission timer expires before.
        """
        return None

    def on_deadline(
        self, now: float, board: "Scoreboard", sender: "Outstanding"
    ) -> Literal["nothing", "loss", "probe"]:
        """The deadline has passed: mark segments that are lost by now. The next deadline must be later.

        Returns
        -------
        str
            ``"nothing"``; ``"loss"``: fast recovery must begin, if no recovery is in progress; or ``"probe"``: a tail
            loss probe is to be sent (RFC 8985 7.3).
        """
        return "nothing"

    def on_probe(self, snd_nxt: int, copy: bool) -> None:
        """The tail loss probe was sent; SND.NXT is now `snd_nxt`. `copy`: it is a retransmission."""
