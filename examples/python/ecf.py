"""The scheduler `ecf`: earliest completion first."""

import anabranch as ab


class Ecf(ab.Scheduler):
    """Waits for the fast subflow if this delivers the remaining data earlier."""

    source = "Lim et al., CoNEXT 2017"
    needs = ("backlog",)
    beta = ab.Parameter(0.25, 0.0, 10.0, meaning="hysteresis: how much longer it waits once it has begun to wait")

    def __init__(self):
        self.waiting = False

    def pick(self, offer):
        """Choose the open subflow with the lowest round-trip time, or wait for a faster one that is full."""
        slow, fast = offer.open(), offer.fastest_at_work()
        if slow is None:
            return ab.Wait()
        if fast is None or fast == slow or not offer.awaits(fast):
            return slow
        f, s = offer.paths[fast], offer.paths[slow]
        left = offer.unsent
        delta = max(f.rttvar, s.rttvar)
        hysteresis = 1.0 + self.beta if self.waiting else 1.0
        if (1.0 + left / f.cwnd) * f.srtt >= hysteresis * (s.srtt + delta):
            self.waiting = False
        elif left / s.cwnd * s.srtt >= 2.0 * f.srtt + delta:
            self.waiting = True
            return ab.Wait()
        return slow
