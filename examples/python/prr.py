"""The reduction `prr`: Proportional Rate Reduction (RFC 9937)."""

import anabranch as ab


class Prr(ab.Reduction):
    """The octets in flight come down in proportion to what is delivered."""

    source = "RFC 9937"

    mss = 0
    sack = False
    recover_fs = 0
    """RecoverFS: octets in flight when recovery began."""
    delivered = 0
    out = 0
    cwnd = 0
    """Octets that may be in flight until the next acknowledgement."""
    ahead = 0
    """Without SACK: octets counted for duplicates that no cumulative acknowledgement has covered yet."""

    def on_enter(self, entry):
        """Begin an episode (RFC 9937 5). Without SACK two duplicates have come before, for which nothing was sent."""
        self.mss, self.sack = entry.mss, entry.sack
        delivered = entry.delivered if entry.sack else entry.mss
        in_flight = entry.flight_size - entry.sacked + (delivered if entry.sack else 0)
        self.recover_fs = max(in_flight, entry.mss)
        self.delivered = self.out = self.cwnd = 0
        self.ahead = 0 if entry.sack else 3 * entry.mss
        self._deliver(delivered, entry.pipe, entry.window, safe=False)

    def on_ack(self, ack, window, in_flight):
        """Count what an acknowledgement delivers."""
        delivered = ack.delivered() if self.sack else self._counted(ack)
        if not self.sack:
            in_flight = max(0, ack.snd_nxt - ack.snd_una - self.ahead)
        self._deliver(delivered, in_flight, window, safe=ack.acked > 0 and ack.lost == 0)

    def on_sent(self, octets):
        """Count what is sent: prr_out."""
        self.out += octets

    def on_exit(self):
        """End the episode."""
        self.ahead = 0

    def allows(self, window, in_flight):
        """Allow what the last acknowledgement allowed."""
        return self.cwnd

    def is_proportional(self):
        """Return True: it is."""
        return True

    def inflation(self):
        """Count duplicates as segments that have left the network."""
        return self.ahead

    def _deliver(self, delivered, in_flight, ssthresh, *, safe):
        """Compute how much may be sent after `delivered` octets were delivered."""
        if delivered == 0:
            return
        self.delivered += delivered
        if in_flight > ssthresh:
            due = -(-self.delivered * ssthresh // self.recover_fs)
            send = max(0, -(-due // self.mss) * self.mss - self.out)
        else:
            least = max(self.delivered - self.out, delivered, 0)
            send = min(least + (self.mss if safe else 0), ssthresh - in_flight)
        if self.out == 0:  # the fast retransmit itself
            send = max(send, self.mss)
        self.cwnd = in_flight + send

    def _counted(self, ack):
        """Without SACK: octets that were delivered beyond those counted for duplicates already."""
        if ack.duplicate:
            one = min(self.mss, max(0, self.recover_fs - self.delivered))
            self.ahead += one
            return one
        known = min(self.ahead, ack.acked)
        self.ahead -= known
        return ack.acked - known
