"""The controller `olia`: linked increases that favour good paths with small windows."""

import anabranch as ab


def quality(path):
    """The square of the rate that the path would give a TCP, but for a constant."""
    return max(path.acked_since_last, path.acked_between_last) / (float(path.srtt_ns) * path.srtt_ns)


def favour(measured, path):
    """The second term of the increase: positive for good paths with small windows, negative for the largest ones."""
    best = max(quality(p) for p in measured)
    largest = max(p.cwnd for p in measured)
    collected = sum(quality(p) == best and p.cwnd != largest for p in measured)
    if collected == 0:
        return 0.0
    if path.cwnd == largest:
        return -1.0 / (len(measured) * sum(p.cwnd == largest for p in measured))
    return 1.0 / (len(measured) * collected) if quality(path) == best else 0.0


def share(paths, me):
    """The increase of subflow `me` as a share of NewReno's."""
    path = paths[me]
    if not path.established or path.srtt_ns == 0:
        return 1.0
    measured = [p for p in paths if p.established and p.srtt_ns > 0]
    total = 0.0
    for p in measured:
        total += p.cwnd / p.srtt_ns
    part = path.cwnd / path.srtt_ns / total
    return part * part + favour(measured, path)


class Olia(ab.Controller):
    """The opportunistic linked increases algorithm."""

    source = "Khalili et al., CoNEXT 2012; draft-khalili-mptcp-congestion-control-05"
    fairness = "connection"

    def __init__(self):
        self.counted = 0.0

    def on_ack(self, ack, paths, me):
        """Grow by whole segments: one for each window of octets counted."""
        if self.grow_in_slow_start(ack):
            return
        self.counted += ack.growth * share(paths, me)
        if self.counted >= self.cwnd:
            self.counted -= self.cwnd
            self.cwnd += self.mss
        elif self.counted <= -self.cwnd:
            self.counted += self.cwnd
            self.cwnd = max(self.cwnd - self.mss, self.mss)

    def on_congestion(self, congestion, paths, me):
        """Halve the window (RFC 5681)."""
        self.counted = 0.0
        self.halve(congestion)
