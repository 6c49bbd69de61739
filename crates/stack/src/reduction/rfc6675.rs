//! `rfc6675`: the full reduction at once. The sender is silent until as much has left the network as the window was reduced by
//! (RFC 6675 5, RFC 5681 4.3). Without SACK each duplicate acknowledgement stands for a segment that has left (RFC 6582 3.2).

use super::{AckSample, Entry, Reduction};
use crate::registry::{Builtin, Info};
use crate::scoreboard::DUP_THRESH;

pub(crate) static BUILTIN: Builtin<dyn Reduction> = Builtin {
    info: Info::new("rfc6675", "reduces the window at once; the sender waits until the data in flight are below it")
        .source("RFC 6675 5; RFC 6582 3.2 without SACK")
        .validated("scripts: the rules of both RFCs")
        .label("RFC 6675"),
    make: |_, _| Box::new(AtOnce::default()),
};

/// What NewReno has by itself (RFC 6582 3.2).
pub(crate) fn newreno() -> Box<dyn Reduction> {
    Box::new(AtOnce::default())
}

#[derive(Debug, Default)]
struct AtOnce {
    mss: u32,
    inflation: i64,
    /// Octets that duplicates may still stand for.
    outstanding: i64,
}

impl Reduction for AtOnce {
    fn on_enter(&mut self, entry: &Entry) {
        self.mss = entry.mss;
        // RFC 5681 3.2 step 3, RFC 6582 3.2 step 2: the segments that the first duplicates stood for.
        self.inflation = i64::from(DUP_THRESH) * i64::from(entry.mss);
        self.outstanding = entry.flight_size as i64 - self.inflation;
    }

    fn on_ack(&mut self, ack: &AckSample, _window: u64, _in_flight: u64) {
        let mss = i64::from(self.mss);
        if ack.acked > 0 {
            // RFC 6582 3.2 step 3, partial acknowledgement.
            self.inflation -= ack.acked as i64;
            self.outstanding = (ack.snd_nxt - ack.snd_una) as i64;
            if ack.acked as i64 >= mss {
                self.inflation += mss;
            }
        } else if ack.duplicate {
            // RFC 5681 3.2 step 4: one more has left the network; step 5: new data may follow it. But no more than were outstanding: a
            // peer that repeats itself without end gets no more for it.
            let one = mss.min(self.outstanding).max(0);
            self.inflation += one;
            self.outstanding -= one;
        }
    }

    fn on_exit(&mut self) {
        self.inflation = 0;
    }

    fn inflation(&self) -> i64 {
        self.inflation
    }
}
