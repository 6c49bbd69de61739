"""The scheduler `blest`: waits for the fast subflow if data on the slow one would block the send window."""

import anabranch as ab


class Blest(ab.Scheduler):
    """Estimates what the fast subflow will send during a round trip of the slow one."""

    source = "Ferlin et al., IFIP Networking 2016"
    delta = ab.Parameter(1.0, 0.0, 10.0, meaning="initial value of the correction factor of the estimate")
    step = ab.Parameter(0.001, 0.0, 1.0, meaning="step of the correction factor: up after blocking, else down")

    def __init__(self):
        self.factor = self.delta
        self.blocked = False
        self.moved_ns = 0

    def pick(self, offer):
        """Choose the open subflow with the lowest round-trip time, or wait for a faster one that is full."""
        slow, fast = offer.open(), offer.fastest_at_work()
        if slow is None:
            return ab.Wait()
        if fast is None or fast == slow or not offer.awaits(fast):
            return slow
        f, s = offer.paths[fast], offer.paths[slow]
        if f.srtt_ns == 0 or s.srtt_ns == 0:
            return slow
        self.adapt(offer.now_ns, f)
        rounds = s.srtt / f.srtt
        wanted = f.mss * (f.cwnd / f.mss + (rounds - 1.0) / 2.0) * rounds
        taken = s.mss * (s.in_flight / s.mss + 1.0)
        room = max(offer.edge - offer.data_una - taken, 0.0)
        return ab.Wait() if wanted * self.factor > room else slow

    def adapt(self, now_ns, fast):
        """Move the factor once in a round-trip time of the fast subflow."""
        if now_ns - self.moved_ns >= fast.srtt_ns:
            self.moved_ns = now_ns
            self.factor = self.factor + self.step if self.blocked else max(self.factor - self.step, 0.0)
            self.blocked = False

    def resends(self):
        """Nothing is sent again, but `pick_again` is called when the window is full."""
        return True

    def pick_again(self, offer):
        """Note whether a subflow other than the fastest has the head of the line."""
        head = offer.head()
        if offer.unsent > 0 and head is not None and head != offer.fastest_at_work():
            self.blocked = True
        return ab.Wait()
