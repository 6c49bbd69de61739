"""The scheduler `after-stms`: slow paths take data from further ahead in the stream, so that all arrive in order."""

from collections import deque

import anabranch as ab


class Slow:
    """What is known of a subflow while it is not the fastest."""

    def __init__(self):
        self.adapted = 0.0
        """Octets added to the gap."""
        self.sent = deque()
        """Length and end of each segment sent and not acknowledged."""
        self.arrived = []
        """Ends of segments that were just acknowledged."""


def gap(fast, slow):
    """Octets that `fast` delivers while a segment on `slow` is longer under way."""
    return (slow.srtt - fast.srtt) / 2.0 * fast.cwnd / fast.srtt if fast.srtt > 0.0 else 0.0


def queue(offer, on):
    """Assign the next segment to subflow `on`, ahead of its window."""
    return ab.Queue(on, min(offer.paths[on].mss, offer.room()))


class Stms(ab.Scheduler):
    """Assigns data to the fast path ahead of its window, and later data to the slow ones."""

    source = "after Shi et al., USENIX ATC 2018"
    needs = ("backlog",)
    step = ab.Parameter(0.25, 0.0, 10.0, meaning="segments by which the distance ahead in the stream adapts")

    def __init__(self):
        self.slow = []

    def reach(self):
        """Every subflow that takes data may have a window of it waiting."""
        return "windows"

    def pick(self, offer):
        """Queue the next segment on the fastest path until the gap is full, then on a slow one with room."""
        paths = offer.paths
        while len(self.slow) < len(paths):
            self.slow.append(Slow())
        self.adapt(offer.data_una, paths)
        fast = offer.open()
        if fast is None:
            return ab.Wait()
        f = paths[fast]
        others = [i for i, path in enumerate(paths) if i != fast and path.can_send and path.has_room()]
        if others:
            other = min(others, key=lambda i: paths[i].srtt_ns)
            full = gap(f, paths[other])
            adapted = max(-full, min(full, self.slow[other].adapted))
            self.slow[other].adapted = adapted
            return queue(offer, fast if f.backlog() < full + adapted else other)
        return queue(offer, fast) if f.has_room() or f.backlog() == 0.0 else ab.Wait()

    def adapt(self, data_una, paths):
        """A segment that arrived before what precedes it shows that the gap was too large."""
        for slow, path in zip(self.slow, paths, strict=False):
            for end in slow.arrived:
                slow.adapted += self.step * path.mss * (-1.0 if data_una < end else 1.0)
            slow.arrived.clear()

    def on_sent(self, assignment):
        """Note the segment."""
        if assignment.subflow < len(self.slow):
            self.slow[assignment.subflow].sent.append([assignment.len, assignment.data + assignment.len])

    def on_acked(self, now, subflow, octets):
        """Note which segments have arrived."""
        if subflow >= len(self.slow):
            return
        slow = self.slow[subflow]
        while slow.sent:
            first = slow.sent[0]
            if first[0] > octets:
                first[0] -= octets
                return
            octets -= first[0]
            slow.arrived.append(first[1])
            slow.sent.popleft()
