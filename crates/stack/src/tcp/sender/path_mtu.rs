//! Path MTU signals (RFC 1191, RFC 8201): a router says that a segment of ours was too large for its next link.
//!
//! Anyone can send such a message, so the segment that it quotes has to be in flight (RFC 5927 4.1; [`Subflow::on_too_big`](crate::tcp::subflow::Subflow)). The segment size of the subflow only falls
//! (RFC 8201 4: a message MUST NOT raise the estimate), and not below [`LEAST`]. What is in flight and larger did not arrive: it is cut into
//! pieces that leave again as the window permits, and that is no congestion (RFC 8201 5.4).
//!
//! Left out: probes for a larger MTU (RFC 1191 6.3, RFC 8201 4; RFC 4821), and the guess where an old router does not say the MTU of its
//! next link (RFC 1191 5).

use super::Sender;
use crate::controller::Adjust;
use crate::time::Instant;

/// Payload octets of the smallest segment that a message can bring about (Linux: `tcp_min_snd_mss`): smaller ones would be an attack.
const LEAST: u32 = 48;

impl Sender {
    /// Segments have at most `mss` octets of payload from now on, and larger ones did not arrive.
    pub fn lower_mss(&mut self, now: Instant, mss: u32) {
        let mss = mss.max(LEAST);
        if mss >= self.mss {
            return;
        }
        self.mss = mss;
        // RFC 5681 3.1: "cwnd SHOULD be reduced by the ratio of the old segment size to the new segment size". ssthresh is in octets and says
        // what the path has carried, which a router's message does not change: slow start leads there (RFC 1191 6.4).
        self.controller.adjust(Adjust::Mss(mss));
        if self.rules.counts_segments {
            self.board.count_as(mss);
        }
        self.ledger.adjust(Adjust::Mss(mss));
        if self.cut_to_mss() {
            self.rto_at = now + self.rtt.rto();
        }
    }

    /// What is in flight and larger than the segment size now did not arrive: its pieces leave again. Whether there is any.
    pub fn cut_to_mss(&mut self) -> bool {
        if !self.board.cut(self.mss) {
            return false;
        }
        // RFC 1191 6.4: slow start, and not the pace of a fast recovery, which counted with what is no longer in flight.
        self.leave_fast();
        self.recovery.begin_loss(self.nxt);
        // From now on no verdict that nothing was lost is true.
        self.ledger.clear();
        true
    }
}
