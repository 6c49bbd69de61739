//! What is in flight leaves in another form: the path takes smaller segments (RFC 1191, RFC 8201), or a SYN's data were not taken
//! (RFC 7413 4.2.2).

use super::{FIN, LOST, RETRANSMITTED, SACKED, Scoreboard, Sent};

impl Scoreboard {
    /// The segment added last has the FIN, too.
    pub fn add_fin(&mut self) {
        let least = self.least;
        let Some(last) = self.segments.back_mut() else { return };
        let before = last.len.max(least);
        (last.len, last.flags) = (last.len + 1, last.flags | FIN);
        self.pipe += u64::from(last.len.max(least) - before);
    }

    /// What is outstanding counts as never sent. None of it is SACKed or lost.
    pub fn forget(&mut self) {
        debug_assert!(self.sacked == 0 && self.to_retransmit == 0, "it was just sent");
        self.entered -= self.segments.len() as u64;
        self.segments.clear();
        self.pipe = 0;
    }

    /// The path takes no more than `mss` octets in a segment: larger ones that are not SACKed did not arrive. They are cut into pieces, which
    /// count as lost. Whether there are any.
    pub fn cut(&mut self, mss: u32) -> bool {
        let large = |s: &Sent| s.data_len() > mss && !s.is(SACKED);
        if !self.segments.iter().any(large) {
            return false;
        }
        for s in core::mem::take(&mut self.segments) {
            if !large(&s) {
                self.segments.push_back(s);
                continue;
            }
            let in_pipe = self.in_pipe(&s);
            (self.pipe, self.marked) = (self.pipe - in_pipe, self.marked + in_pipe);
            self.to_retransmit -= Self::waits(&s);
            self.high_rxt = self.high_rxt.min(s.seq);
            let flags = (s.flags & !RETRANSMITTED) | LOST;
            for at in (0..s.data_len()).step_by(mss as usize) {
                let (seq, data) = (s.seq + u64::from(at), s.data + u64::from(at));
                // The FIN stays behind the last octet.
                let last = at + mss >= s.data_len();
                let (len, flags) = if last { (s.len - at, flags) } else { (mss, flags & !FIN) };
                self.segments.push_back(Sent { seq, data, len, flags, ..s });
                self.to_retransmit += 1;
                self.entered += u64::from(at > 0);
            }
        }
        true
    }
}
