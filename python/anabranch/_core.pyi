"""Types of the compiled extension (its source is ``crates/python/src/lib.rs``)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class ScenarioError(ValueError):
    """A scenario that cannot run; the message names the place, the value and the remedy in one to three lines."""

class CaptureError(ValueError):
    """A capture that cannot be analysed; the message says which and why."""

class Capture:
    """A capture, analysed."""

    @property
    def summary(self) -> str: ...
    @property
    def interrupted(self) -> bool: ...
    def subflows(self) -> dict[str, NDArray[np.float64] | NDArray[np.int32]]: ...
    def sequence(self) -> dict[str, NDArray[np.float64] | NDArray[np.int32] | list[str]]: ...
    def window(self) -> dict[str, NDArray[np.float64] | NDArray[np.int32]]: ...

class RunError(RuntimeError):
    """A run was broken off: it passed its time or memory, or the engine has a fault; the message begins with which."""

class Run:
    """A finished run."""

    @property
    def summary(self) -> str: ...
    @property
    def events_hash(self) -> str: ...
    @property
    def scenario(self) -> str: ...
    @property
    def toml(self) -> str: ...
    def subflows(self) -> dict[str, NDArray[np.float64] | NDArray[np.int32]]: ...
    def items(self) -> dict[str, NDArray[np.float64] | NDArray[np.int32] | list[str]]: ...

class Path:
    """One subflow, as controllers and schedulers see it. The attributes show its state at the present call."""

    @property
    def cost(self) -> float:
        """What an octet costs on the path, above zero; 1 unless the scenario says otherwise."""
    @property
    def weight(self) -> float:
        """The path's share of the load compared with the other paths', above zero.

        1 unless the scenario says otherwise.
        """
    @property
    def priority(self) -> int:
        """Priority of the path; lower is preferred."""
    @property
    def established(self) -> bool:
        """The handshake is complete and the subflow has not ended."""
    @property
    def can_send(self) -> bool:
        """The subflow may send one more full-sized segment now."""
    @property
    def backup(self) -> bool:
        """The subflow is used only when no regular subflow works (RFC 8684 3.3.8)."""
    @property
    def stale(self) -> bool:
        """The retransmission timer has expired, and nothing was acknowledged since."""
    @property
    def recovery(self) -> str:
        """State of loss recovery: "open", "cwr", "fast" or "loss"."""
    @property
    def mss(self) -> int:
        """Payload of a full-sized segment in octets."""
    @property
    def cwnd(self) -> float:
        """Congestion window in octets."""
    @property
    def ssthresh(self) -> float:
        """Slow-start threshold in octets; infinite before the first reduction."""
    @property
    def in_flight(self) -> int:
        """Octets in flight, as compared with the congestion window."""
    @property
    def oldest_start(self) -> int:
        """First octet of our data stream that the oldest segment in flight carries."""
    @property
    def oldest_end(self) -> int:
        """The octet after the last one of that segment; equal to `oldest_start` if nothing is in flight."""
    @property
    def queued(self) -> int:
        """Octets of new data that the scheduler has assigned to the subflow and that are not sent yet."""
    @property
    def takes_data(self) -> bool:
        """The subflow takes new data, with or without room; kept only for schedulers that queue."""
    @property
    def buffered(self) -> int:
        """Memory of the send buffer in use, in octets; kept only for schedulers that queue."""
    @property
    def fill(self) -> int:
        """Octets that the subflow takes at a time; kept only for schedulers that queue."""
    @property
    def pacing_rate(self) -> float:
        """Rate at which the window leaves in a round trip.

        With the allowance of a paced sender, in octets per second.
        """
    @property
    def srtt(self) -> float:
        """Smoothed round-trip time in seconds (RFC 6298); 0 before the first sample."""
    @property
    def srtt_ns(self) -> int:
        """Smoothed round-trip time in nanoseconds."""
    @property
    def rttvar(self) -> float:
        """Variation of the round-trip time in seconds (RTTVAR of RFC 6298); 0 before the first sample."""
    @property
    def rttvar_ns(self) -> int:
        """Variation of the round-trip time in nanoseconds."""
    @property
    def min_rtt(self) -> float:
        """Minimum round-trip time in seconds; 0 before the first sample."""
    @property
    def min_rtt_ns(self) -> int:
        """Minimum round-trip time in nanoseconds."""
    @property
    def delivery_rate(self) -> float:
        """Newest sample of the delivery rate in octets per second; 0 without `needs = ("delivery_rate",)`."""
    @property
    def vegas_rate(self) -> float:
        """Rate at the last round trip with a queue, in octets per second, as a controller publishes it; 0 if none."""
    @property
    def acked_since_last(self) -> int:
        """Octets acknowledged since the last loss episode began."""
    @property
    def acked_between_last(self) -> int:
        """Octets acknowledged between the beginnings of the last two loss episodes."""
    @property
    def oldest(self) -> tuple[int, int]:
        """First octet of our data stream that the oldest segment in flight carries, and the octet after its last."""
    @property
    def acked_since_loss(self) -> tuple[int, int]:
        """Octets acknowledged since the last loss episode began, and between the beginnings of the last two."""
    def backlog(self) -> float:
        """Octets assigned to the subflow that do not fit into its window now."""
    def has_room(self) -> bool:
        """Returns True if the window has room for a segment beside what is in flight and assigned."""

class Offer:
    """What a scheduler knows when it is asked. Offsets count octets of our data stream."""

    @property
    def now(self) -> float:
        """Current virtual time in seconds."""
    @property
    def now_ns(self) -> int:
        """Current virtual time in nanoseconds."""
    @property
    def unsent(self) -> int:
        """Octets written and not yet sent."""
    @property
    def data_una(self) -> int:
        """The oldest octet without a DATA_ACK."""
    @property
    def data_nxt(self) -> int:
        """The next octet to send for the first time."""
    @property
    def edge(self) -> int:
        """Right edge of the peer's window; `data_nxt` if the window is closed."""
    @property
    def buffer(self) -> int:
        """Octets that the send buffer of the connection holds; 2**64 - 1 if it has no limit."""
    @property
    def ahead_of_writer(self) -> bool:
        """A burst may be longer than what is written, as those of Linux are."""
    @property
    def paths(self) -> tuple[Path, ...]:
        """All subflows, including those without room."""
    def room(self) -> int:
        """Octets of new data that the peer's window takes now."""
    def any(self) -> bool:
        """Returns True if some subflow may send."""
    def fastest(self) -> int | None:
        """Index of the established subflow with the lowest smoothed round-trip time, with or without room."""
    def open(self) -> int | None:
        """Index of the subflow with the lowest smoothed round-trip time among those that can send."""
    def works(self, i: int) -> bool:
        """Returns True if subflow `i` works.

        It is established, its timer has not expired, and it is no backup while a regular subflow works.
        """
    def fastest_at_work(self) -> int | None:
        """Index of the working subflow with the lowest smoothed round-trip time, with or without room."""
    def awaits(self, i: int) -> bool:
        """Returns True if subflow `i` works and has data in flight, so that waiting for room on it comes to an end."""
    def head(self) -> int | None:
        """Index of the subflow that has the oldest octet without a DATA_ACK in flight."""

class RateSample:
    """A sample of the delivery rate (draft-ietf-ccwg-bbr, section 4.1)."""

    @property
    def delivered(self) -> int:
        """Octets delivered (acknowledged or SACKed) in `interval`."""
    @property
    def interval(self) -> float:
        """The longer of the times in which these octets were sent and acknowledged, in seconds.

        0 if it says nothing of the rate.
        """
    @property
    def interval_ns(self) -> int:
        """`interval` in nanoseconds."""
    @property
    def prior_delivered(self) -> int:
        """Octets delivered on this subflow when the sampled segment was sent."""
    @property
    def tx_in_flight(self) -> int:
        """Octets in flight when the sampled segment was sent, including it."""
    @property
    def lost(self) -> int:
        """Octets marked lost since then, those marked with this acknowledgement included."""
    @property
    def in_flight(self) -> int:
        """Octets in flight after this acknowledgement."""
    @property
    def app_limited(self) -> bool:
        """The application, not the window, limited the sender: the rate is a lower bound."""
    @property
    def rate(self) -> float:
        """Octets per second; 0 if there is no valid interval."""

class Arrivals:
    """Segments that newly arrived, as an acknowledgement says.

    Virtual time when a segment was sent, and the sequence number after its last octet.
    """

    @property
    def original(self) -> tuple[float, int] | None:
        """Of the segments that were never retransmitted, the one sent last: time in seconds, end."""
    @property
    def original_ns(self) -> tuple[int, int] | None:
        """`original`, with the time in nanoseconds."""
    @property
    def copy(self) -> tuple[float, int] | None:
        """Of the segments that were retransmitted, the one sent last: time in seconds, end."""
    @property
    def copy_ns(self) -> tuple[int, int] | None:
        """`copy`, with the time in nanoseconds."""
    @property
    def lowest(self) -> tuple[float, int] | None:
        """Of the segments that were never retransmitted, the lowest: time in seconds, end."""
    @property
    def lowest_ns(self) -> tuple[int, int] | None:
        """`lowest`, with the time in nanoseconds."""

class AckSample:
    """What one acknowledgement says about a subflow. Sequence numbers are unwrapped: they grow without end."""

    @property
    def now(self) -> float:
        """Virtual time of its arrival in seconds."""
    @property
    def now_ns(self) -> int:
        """Virtual time of its arrival in nanoseconds."""
    @property
    def ack(self) -> int:
        """Acknowledgement number."""
    @property
    def una_before(self) -> int:
        """SND.UNA before it was processed."""
    @property
    def snd_una(self) -> int:
        """SND.UNA after it was processed."""
    @property
    def snd_nxt(self) -> int:
        """SND.NXT when it arrived."""
    @property
    def acked(self) -> int:
        """Octets newly acknowledged cumulatively; 0 for a duplicate or old acknowledgement."""
    @property
    def sacked(self) -> int:
        """Octets newly SACKed."""
    @property
    def acked_sacked(self) -> int:
        """The part of `acked` that had been SACKed before, in octets."""
    @property
    def lost(self) -> int:
        """Octets newly marked lost."""
    @property
    def growth(self) -> int:
        """Octets by which the window may grow (RFC 5681 3.1, RFC 3465)."""
    @property
    def in_flight(self) -> int:
        """Octets in flight before it, as compared with the congestion window."""
    @property
    def duplicate(self) -> bool:
        """It is a duplicate acknowledgement (RFC 5681 2, RFC 6675 2)."""
    @property
    def old(self) -> bool:
        """Its acknowledgement number is below SND.UNA."""
    @property
    def sack(self) -> bool:
        """SACK blocks drive loss recovery."""
    @property
    def ece(self) -> bool:
        """ECE is set (RFC 3168 6.1.2)."""
    @property
    def cwnd_limited(self) -> bool:
        """The sender had used its window before this acknowledgement.

        If not, the window must not grow (RFC 9002 7.8).
        """
    @property
    def after_timeout(self) -> bool:
        """It arrived in slow start after a timeout (RFC 3465 2.3)."""
    @property
    def round(self) -> bool:
        """It ends a round trip."""
    @property
    def rtt(self) -> float | None:
        """The round-trip time in seconds; None if the acknowledgement gives no valid sample."""
    @property
    def rtt_ns(self) -> int | None:
        """The round-trip time in nanoseconds; None if the acknowledgement gives no valid sample."""
    @property
    def srtt(self) -> float:
        """Smoothed round-trip time in seconds, including this sample; 0 before the first sample."""
    @property
    def srtt_ns(self) -> int:
        """Smoothed round-trip time in nanoseconds."""
    @property
    def min_rtt(self) -> float:
        """Minimum round-trip time so far in seconds; 0 before the first sample."""
    @property
    def min_rtt_ns(self) -> int:
        """Minimum round-trip time so far in nanoseconds."""
    @property
    def rate(self) -> RateSample | None:
        """The delivery rate; None without `needs = ("delivery_rate",)`."""
    @property
    def ts_ecr(self) -> int | None:
        """Echoed timestamp (TSecr); None without timestamps."""
    @property
    def dsack(self) -> tuple[int, int] | None:
        """The D-SACK block (RFC 2883) as first sequence number and the number after the last; None without one."""
    @property
    def sacked_before(self) -> bool:
        """Some outstanding segment had been SACKed before. Set only if the acknowledgement carries SACK blocks."""
    @property
    def sacked_original(self) -> int | None:
        """End of the highest newly SACKed segment that was never retransmitted; None without one."""
    @property
    def data_reordered(self) -> bool:
        """TCP-DOOR: the receiver reports data out of order."""
    @property
    def duplicate_number(self) -> int | None:
        """TCP-DOOR: number of this acknowledgement among its duplicates; None without the option."""
    def delivered(self) -> int: ...
    @property
    def arrivals(self) -> Arrivals:
        """Segments that newly arrived, for detection by time (RFC 8985 6.2)."""

class Congestion:
    """Congestion was inferred."""

    @property
    def now(self) -> float:
        """Virtual time in seconds."""
    @property
    def now_ns(self) -> int:
        """Virtual time in nanoseconds."""
    @property
    def cause(self) -> str:
        """What it was inferred from: "fast_retransmit", "timeout" or "ecn"."""
    @property
    def flight_size(self) -> int:
        """FlightSize in octets (RFC 5681 2), without what limited transmit added."""
    @property
    def repeated(self) -> bool:
        """The timer expired again for the same segment: ssthresh does not change (RFC 5681 3.1)."""
    @property
    def nested(self) -> bool:
        """The timer expired in an episode that has already reduced the window.

        Ssthresh may decrease further, but not increase.
        """

class Departure:
    """A segment with payload is sent."""

    @property
    def now(self) -> float:
        """Virtual time of departure in seconds."""
    @property
    def now_ns(self) -> int:
        """Virtual time of departure in nanoseconds."""
    @property
    def len(self) -> int:
        """Octets of payload."""
    @property
    def again(self) -> bool:
        """The segment is a retransmission."""
    @property
    def in_flight(self) -> int:
        """Octets in flight, including this segment."""
    @property
    def srtt(self) -> float:
        """Smoothed round-trip time in seconds; 0 before the first sample."""
    @property
    def srtt_ns(self) -> int:
        """Smoothed round-trip time in nanoseconds."""

class LostSegment:
    """A segment that was marked lost."""

    @property
    def now(self) -> float:
        """Virtual time when it was marked, in seconds."""
    @property
    def now_ns(self) -> int:
        """Virtual time when it was marked, in nanoseconds."""
    @property
    def seq(self) -> int:
        """First sequence number."""
    @property
    def len(self) -> int:
        """Octets."""
    @property
    def tx_in_flight(self) -> int:
        """Octets in flight when it was sent, including it."""
    @property
    def lost(self) -> int:
        """Octets marked lost since it was sent, up to and including it."""
    @property
    def app_limited(self) -> bool:
        """The application, not the window, limited the sender when it was sent."""
    @property
    def sack(self) -> bool:
        """SACK blocks drive loss recovery: more than one loss in a round trip can be seen."""

class Assignment:
    """Data that was sent as the scheduler decided."""

    @property
    def subflow(self) -> int:
        """The subflow it was sent on."""
    @property
    def data(self) -> int:
        """First octet of the data stream."""
    @property
    def len(self) -> int:
        """Number of octets."""
    @property
    def again(self) -> bool:
        """The data had been sent before, on another subflow."""

class Adjust:
    """A change that the engine makes to every window in the same way.

    `kind` says which; the other attributes are None where the kind has no such value.
    """

    @property
    def kind(self) -> str:
        """Which change it is.

        "mss", "lost_syn", "idle", "unused", "cached", "at_most", "deflate", "reordered", "probed",
        "slow_start_to", "resume"
        or "penalise".
        """
    @property
    def mss(self) -> int | None:
        """Payload of a full-sized segment in octets, of "mss"."""
    @property
    def timeouts(self) -> float | None:
        """Retransmission timeouts for which nothing was sent, of "idle"."""
    @property
    def used(self) -> int | None:
        """Most octets outstanding meanwhile, of "unused"."""
    @property
    def cwnd(self) -> float | None:
        """Window in octets: of "cached", "at_most" and "slow_start_to"."""
    @property
    def ssthresh(self) -> float | None:
        """Threshold in octets, of "cached" and "resume"."""
    @property
    def flight(self) -> int | None:
        """FlightSize in octets: of "deflate", "reordered" and "resume"."""
    @property
    def before(self) -> int | None:
        """FlightSizePrev in octets, of "reordered"."""
    @property
    def acked(self) -> int | None:
        """Octets newly acknowledged, of "resume"."""

class Sent:
    """A segment in flight, as it was at the call that gave it."""

    @property
    def seq(self) -> int:
        """First sequence number."""
    @property
    def end(self) -> int:
        """Sequence number after the last octet."""
    @property
    def len(self) -> int:
        """Octets of sequence space."""
    @property
    def data(self) -> int:
        """Offset of its first octet in the data that the subflow has carried."""
    @property
    def sent_at(self) -> float:
        """Virtual time when it was last sent, in seconds."""
    @property
    def sent_at_ns(self) -> int:
        """Virtual time when it was last sent, in nanoseconds."""
    @property
    def transmissions(self) -> int:
        """Number of transmissions, at most 255."""
    @property
    def is_fin(self) -> bool:
        """It is the FIN, which has no payload."""
    @property
    def is_sacked(self) -> bool:
        """It is SACKed."""
    @property
    def waits(self) -> bool:
        """It is lost, and waits for its retransmission."""

class Segments:
    """Numbers of segments between SND.UNA and SND.NXT."""

    @property
    def all(self) -> int:
        """All of them, the FIN included."""
    @property
    def sacked(self) -> int:
        """SACKed."""
    @property
    def lost(self) -> int:
        """Lost and not SACKed, whether or not they were retransmitted."""
    @property
    def retransmitted(self) -> int:
        """Retransmitted since they counted as lost, and not SACKed."""

class Outstanding:
    """What a detector knows of the sender, besides the scoreboard."""

    @property
    def snd_una(self) -> int:
        """Oldest unacknowledged sequence number."""
    @property
    def snd_nxt(self) -> int:
        """Next sequence number to send."""
    @property
    def recover(self) -> int:
        """`recover` of RFC 6582 3.2, plus one.

        Without SACK, duplicate acknowledgements at or below it start no fast recovery.
        """
    @property
    def duplicates(self) -> int:
        """Duplicate acknowledgements since the last acknowledgement of new data."""
    @property
    def sack(self) -> bool:
        """SACK blocks drive loss recovery."""
    @property
    def recovering(self) -> bool:
        """Fast recovery, or slow start after a timeout, is in progress."""
    @property
    def mss(self) -> int:
        """Payload of a full-sized segment in octets."""
    @property
    def srtt(self) -> float:
        """Smoothed round-trip time in seconds; 0 before the first sample."""
    @property
    def srtt_ns(self) -> int:
        """Smoothed round-trip time in nanoseconds."""
    @property
    def min_rtt(self) -> float:
        """Minimum round-trip time in seconds; 0 before the first sample."""
    @property
    def min_rtt_ns(self) -> int:
        """Minimum round-trip time in nanoseconds."""

class Entry:
    """State at the beginning of fast recovery."""

    @property
    def now(self) -> float:
        """Virtual time in seconds."""
    @property
    def now_ns(self) -> int:
        """Virtual time in nanoseconds."""
    @property
    def flight_size(self) -> int:
        """FlightSize (RFC 5681 2) in octets."""
    @property
    def pipe(self) -> int:
        """Octets in flight by the estimate of RFC 6675, without lost segments."""
    @property
    def sacked(self) -> int:
        """Outstanding octets that are SACKed."""
    @property
    def delivered(self) -> int:
        """Octets delivered by the acknowledgement that begins recovery."""
    @property
    def window(self) -> int:
        """The controller's window after its reduction, in octets."""
    @property
    def mss(self) -> int:
        """Payload of a full-sized segment in octets."""
    @property
    def sack(self) -> bool:
        """SACK blocks drive loss recovery."""

class Episode:
    """A loss episode begins: the window is reduced, and a first segment is about to be retransmitted."""

    @property
    def now(self) -> float:
        """Virtual time in seconds."""
    @property
    def now_ns(self) -> int:
        """Virtual time in nanoseconds."""
    @property
    def cause(self) -> str:
        """What began it: "fast_retransmit", "timeout" or "ecn"."""
    @property
    def snd_una(self) -> int:
        """Oldest unacknowledged sequence number."""
    @property
    def snd_nxt(self) -> int:
        """Next sequence number to send."""
    @property
    def timestamp(self) -> int:
        """The timestamp (TSval, RFC 7323) of the first retransmission.

        Of the one about to be sent, or of one of the oldest segment that is in flight already.
        """
    @property
    def nested(self) -> bool:
        """The timer expired during another episode."""

class Scoreboard:
    """The segments in flight of a subflow, oldest first, and what SACK says about them (RFC 6675 3).

    It can be used only during the call that receives it.
    """

    def __len__(self) -> int:
        """Number of segments in flight."""
    def __iter__(self) -> Iterator[Sent]:
        """The segments in flight, oldest first."""
    def starting_at(self, seq: int) -> tuple[Sent, ...]:
        """The segments in flight from the sequence number `seq` on."""
    def ending_at(self, end: int) -> Sent | None:
        """The segment in flight whose `end` is `end`; None if there is none."""
    def front(self) -> Sent | None:
        """The oldest segment in flight; None if there is none."""
    def is_empty(self) -> bool:
        """Returns True if no segment is in flight."""
    def pipe(self) -> int:
        """Octets in the network by the estimate of RFC 6675 4 (SetPipe)."""
    def marked(self) -> int:
        """Octets marked lost since the subflow began, each transmission for itself."""
    def has_sacked(self) -> bool:
        """Returns True if some segment in flight is SACKed."""
    def is_unsacked(self) -> bool:
        """Returns True if no segment in flight is SACKed."""
    def has_lost(self) -> bool:
        """Returns True if some segment is lost and not retransmitted yet."""
    def outstanding(self) -> int:
        """Number of segments in flight."""
    def delivered(self) -> int:
        """Segments that have reached the peer since the subflow began: acknowledged, or SACKed."""
    def sacked_segments(self) -> int:
        """Number of segments in flight that are SACKed."""
    def sacked_octets(self) -> int:
        """Octets in flight that are SACKed."""
    def count(self) -> Segments:
        """How many segments are in flight, SACKed, lost and retransmitted."""
    def weight(self, len: int) -> int:
        """Octets that a segment of `len` octets counts for in `pipe`."""
    def high_sacked(self) -> int:
        """The highest sequence number SACKed so far, plus one; 0 if there is none."""
    def front_is_lost(self) -> bool:
        """Returns True if the oldest segment in flight is marked lost."""
    def front_is_retransmitted(self) -> bool:
        """Returns True if the oldest segment in flight was retransmitted and not lost again since."""
    def update_lost(self, octets: int, islands: int) -> None:
        """Mark the segments lost for which IsLost of RFC 6675 4 holds.

        Above them more than `octets` octets, or `islands` discontiguous sequences, are SACKed.
        """
    def mark_lost(self, seq: int) -> None:
        """Mark the segment that begins at `seq` lost, and its latest retransmission. A SACKed segment is not marked."""
    def mark_all_lost(self) -> None:
        """Mark all segments lost that are not SACKed, as after a timeout.

        Those from `snd_una` to `snd_nxt`, which are `sender.snd_una` and `sender.snd_nxt`.
        """
    def unmark_lost(self) -> None:
        """Take back the marks of segments that are lost and not retransmitted yet."""

class Reordered:
    """The verdict that segments were reordered (TCP-DOOR).

    Suspend the congestion response for `hold` seconds, and undo a reduction that is not older than `undo` seconds.
    """

    def __init__(self, hold: float, undo: float) -> None: ...
    @property
    def hold(self) -> float:
        """How long the congestion response is suspended (T1), in seconds."""
    @property
    def undo(self) -> float:
        """Maximum age of a reduction that is undone (T2), in seconds."""

class Recorder:
    """What an object of an algorithm records through; `anabranch.algorithms.base.Algorithm.record` uses it."""

    def record(self, name: str, value: float) -> None:
        """Record `value` as `name` at the virtual time of the present call."""

class AlgorithmError(RuntimeError):
    """An algorithm written in Python failed; the message names the algorithm, the virtual time, value and remedy."""

    time: float

class Wait:
    """Send nothing now; ask again when something arrives, and at `until` (s of virtual time) at the latest."""

    def __init__(self, until: float | None = None, *, until_ns: int | None = None) -> None: ...
    @property
    def until(self) -> float | None: ...

class SendAll:
    """Send the next segment of new data on each of `subflows`; those that cannot send are skipped."""

    def __init__(self, subflows: Sequence[int]) -> None: ...
    @property
    def subflows(self) -> list[int]: ...

class Resend:
    """Send octets `start` to `end` again, at most one segment, on subflow `on`, which can send."""

    def __init__(self, start: int, end: int, on: int) -> None: ...

class Queue:
    """Assign the next `octets` octets of new data to subflow `on` ahead of its window."""

    def __init__(self, on: int, octets: int) -> None: ...

class Move:
    """Move at most `octets` octets that were assigned last and are not sent yet from subflow `source` to `to`."""

    def __init__(self, source: int, to: int, octets: int) -> None: ...

class Penalise:
    """Halve the window of subflow `on`, which blocks the others."""

    def __init__(self, on: int) -> None: ...

def columns() -> tuple[list[str], list[str]]: ...
def conform(algorithm: object) -> str | None: ...
def window_adjust(controller: object, adjust: Adjust) -> None: ...
def window_slow_start(controller: object, ack: AckSample) -> None: ...
def window_grow_in_slow_start(controller: object, ack: AckSample) -> bool: ...
def window_halve(controller: object, congestion: Congestion) -> None: ...
def window_cut(controller: object, congestion: Congestion, target: float, least: float) -> None: ...
def math_cbrt(x: float) -> float: ...
def math_exp(x: float) -> float: ...
def math_log(x: float) -> float: ...
def math_pow(x: float, y: float) -> float: ...
def version() -> str: ...
def commit() -> str: ...
def template() -> str: ...
def keys() -> str: ...
def synthetic_trace(rates: Sequence[str], dwell: str, duration: str, seed: int) -> list[int]: ...
def duration(text: str) -> float: ...
def offered(text: str, name: str, link: int, up: bool, step: float, steps: int) -> list[float]: ...
def probed(text: str, name: str, link: int, up: bool, interval: float, probes: int) -> list[float | None]: ...
def registry() -> str: ...
def measures() -> str: ...
def check(
    text: str,
    name: str,
    overrides: Sequence[tuple[str, str]],
    timeout: float | None = None,
    memory: int | None = None,
    algorithms: Sequence[object] = (),
) -> str: ...
def expanded(text: str, name: str, overrides: Sequence[tuple[str, str]], algorithms: Sequence[object] = ()) -> str: ...
def inlined(text: str, name: str, overrides: Sequence[tuple[str, str]]) -> str | None: ...
def run(
    text: str,
    name: str,
    overrides: Sequence[tuple[str, str]],
    seed: int | None = None,
    trace: str | None = None,
    poll: Callable[[dict[str, Any]], None] | None = None,
    pcap: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    series: bool = True,
    causes: bool = False,
    algorithms: Sequence[object] = (),
    shortcuts: bool = True,
) -> Run: ...
def analyze(
    files: Sequence[str],
    poll: Callable[[int, int], None] | None = None,
    protocol: str | None = None,
    causes: bool = False,
    every: float | None = None,
    told: Callable[[str], None] | None = None,
) -> Capture: ...
def qlog(files: Sequence[str], out: str) -> int: ...
def profiles() -> list[str]: ...
def script(
    text: str,
    profile: str,
    over_mptcp: bool,
    tolerance: str | None,
    defines: dict[str, str],
    directory: str | None,
    evaluate: Callable[[str, dict[str, int]], tuple[str, str, str] | None],
) -> str: ...
def torture(
    first: int,
    runs: int,
    jobs: int,
    seconds: float | None = None,
    first_failure: bool = False,
    shrink: float = 20.0,
    poll: Callable[[int, int], None] | None = None,
) -> str: ...
def examine(text: str, name: str) -> tuple[str, str] | None: ...
