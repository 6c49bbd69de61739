"""The judge `dsack`: detection of spurious retransmissions by D-SACK reports (RFC 3708)."""

import anabranch as ab

REMEMBERED = 4
"""Retransmissions are remembered for this many flights of data below SND.UNA."""


class Dsack(ab.Judge):
    """An episode is spurious if D-SACK reports each of its retransmissions as a duplicate."""

    source = "RFC 2883, RFC 3708; response Blanton and Allman 2002"
    needs = ("sack",)

    def __init__(self):
        self.open = False
        self.off = False  # the network duplicates segments: no more verdicts
        self.sent = []  # retransmissions of this episode: start, end, whether it was reported
        self.retransmitted = []  # ranges of all retransmissions from `horizon` on
        self.horizon = 0
        self.largest_flight = 0

    def on_episode(self, episode):
        """Begin an episode; forget what was retransmitted long ago."""
        self.open = episode.cause != "ecn"
        self.sent = []
        self.largest_flight = max(self.largest_flight, episode.snd_nxt - episode.snd_una)
        self.horizon = max(self.horizon, episode.snd_una - REMEMBERED * self.largest_flight)
        cut = [(max(start, self.horizon), end) for start, end in self.retransmitted]
        self.retransmitted = [(start, end) for start, end in cut if start < end]

    def on_retransmit(self, start, end):
        """Remember a retransmission, in one range with those that it touches."""
        touching = [r for r in self.retransmitted if r[0] <= end and start <= r[1]]
        self.retransmitted = [r for r in self.retransmitted if r not in touching]
        self.retransmitted.append((min([start, *(r[0] for r in touching)]), max([end, *(r[1] for r in touching)])))
        if self.open:
            self.sent.append([start, end, False])

    def on_ack(self, sample):
        """Judge by the D-SACK block, if there is one."""
        return "pending" if sample.dsack is None else self._report(*sample.dsack, sample)

    def default_response(self):
        """Return the response of Blanton and Allman 2002."""
        return "slow-start-to-saved"

    def _report(self, start, end, ack):
        if self.off or start < self.horizon:
            return "pending"
        if not any(r[0] <= start < r[1] and end <= r[1] for r in self.retransmitted):
            self.off = True  # (A.4)
            return "pending"
        copies = [sent for sent in self.sent if start <= sent[0] and sent[1] <= end]
        if len(copies) != 1:  # none: a report on an earlier episode; two: (A.3)
            self.open = self.open and not copies
            return "pending"
        (copy,) = copies
        if copy[2]:
            self.off = True
            return "pending"
        if not ack.sacked_before and start == ack.una_before and start < ack.ack:
            self.open = False  # (A.1)
        copy[2] = True
        if self.open and all(sent[2] for sent in self.sent):  # (B)
            self.open = False
            return "spurious"
        return "pending"
