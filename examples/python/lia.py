"""The controller `coupled`: Linked Increases (RFC 6356), per acknowledged octet."""

import anabranch as ab


def alpha(paths):
    """RFC 6356 3: alpha and the sum of the windows, over subflows with a round-trip time; None without one."""
    total, best, rates = 0.0, 0.0, 0.0
    for path in paths:
        if path.established and path.srtt_ns > 0:
            rate = path.cwnd / path.srtt_ns
            total += path.cwnd
            best = max(best, rate / path.srtt_ns)
            rates += rate
    return (total * best / (rates * rates), total) if rates > 0.0 else None


class Lia(ab.Controller):
    """Linked increases (LIA) per acknowledged octet."""

    source = "RFC 6356"
    fairness = "connection"

    def on_ack(self, ack, paths, me):
        """Grow the window: slow start, then linked increases."""
        if self.grow_in_slow_start(ack):
            return
        factor, total = alpha(paths) or (1.0, self.cwnd)
        gain = ack.growth * self.mss
        self.cwnd += min(factor * gain / total, gain / self.cwnd)

    def on_congestion(self, congestion, paths, me):
        """Halve the window (RFC 6356 2)."""
        self.halve(congestion)
