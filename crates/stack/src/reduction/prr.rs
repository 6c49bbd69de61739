//! `prr`: Proportional Rate Reduction (RFC 9937). The octets in flight come down in proportion to what is delivered (RFC 5681 4.3). For each
//! segment delivered, the sender sends about the fraction of a segment that the controller's reduction leaves of the window, so
//! it is never silent for long. If more was lost than the reduction removes, the flight is rebuilt: by as much as is delivered,
//! and by one segment more while acknowledgements advance and report no further loss ("safeACK").
//!
//! Without SACK each duplicate acknowledgement stands for a delivered segment. Octets that a later acknowledgement covers are not
//! counted twice.

use super::{AckSample, Entry, Reduction};
use crate::registry::{Builtin, Info};

pub(crate) static BUILTIN: Builtin<dyn Reduction> = Builtin {
    info: Info::new("prr", "reduces the window in proportion to the delivered data")
        .label("PRR")
        .source("RFC 9937")
        .validated("hand-computed examples; scripts: one loss, a burst, without SACK"),
    make: |_, _| Box::<Prr>::default(),
};

/// State of one episode (RFC 9937 5), in octets.
#[derive(Debug, Default)]
struct Prr {
    mss: u64,
    sack: bool,
    /// RecoverFS: octets in flight when recovery began.
    recover_fs: u64,
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    out: u64,
    /// Octets that may be in flight until the next acknowledgement.
    cwnd: u64,
    /// Without SACK: octets counted for duplicates that no cumulative ACK has covered yet.
    ahead: u64,
}

impl Prr {
    /// Computes how much may be sent after an acknowledgement that delivered `delivered` octets and left `in_flight`; `ssthresh`
    /// is the controller's window.
    fn on_delivered(&mut self, delivered: u64, in_flight: u64, ssthresh: u64, safe: bool) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let mut send = if in_flight > ssthresh {
            // In whole segments: a part of a segment would have to wait for the next acknowledgement.
            let due = (self.delivered * ssthresh).div_ceil(self.recover_fs).next_multiple_of(self.mss);
            due.saturating_sub(self.out)
        } else {
            let least = self.delivered.saturating_sub(self.out).max(delivered);
            (least + if safe { self.mss } else { 0 }).min(ssthresh - in_flight)
        };
        if self.out == 0 {
            // The fast retransmit itself.
            send = send.max(self.mss);
        }
        self.cwnd = in_flight + send;
    }

    /// Without SACK: octets that an acknowledgement delivers beyond those already counted for duplicates.
    fn counted(&mut self, ack: &AckSample) -> u64 {
        if ack.duplicate {
            // The total never exceeds what was in flight.
            let one = self.mss.min(self.recover_fs.saturating_sub(self.delivered));
            self.ahead += one;
            return one;
        }
        let known = self.ahead.min(ack.acked);
        self.ahead -= known;
        ack.acked - known
    }
}

impl Reduction for Prr {
    fn on_enter(&mut self, entry: &Entry) {
        let mss = u64::from(entry.mss);
        let delivered = if entry.sack { entry.delivered } else { mss };
        // Segments SACKed before are no longer in flight. What this acknowledgement delivered still counts.
        let in_flight = entry.flight_size - entry.sacked + if entry.sack { delivered } else { 0 };
        *self = Self { mss, sack: entry.sack, recover_fs: in_flight.max(mss), ..Self::default() };
        // Without SACK the two duplicates before this one are counted too, but nothing was sent for them.
        self.ahead = if entry.sack { 0 } else { 3 * mss };
        self.on_delivered(delivered, entry.pipe, entry.window, false);
    }

    fn on_ack(&mut self, ack: &AckSample, window: u64, in_flight: u64) {
        let delivered = if self.sack { ack.delivered() } else { self.counted(ack) };
        let in_flight = if self.sack { in_flight } else { (ack.snd_nxt - ack.snd_una).saturating_sub(self.ahead) };
        let safe = ack.acked > 0 && ack.lost == 0;
        self.on_delivered(delivered, in_flight, window, safe);
    }

    fn on_sent(&mut self, octets: u32) {
        self.out += u64::from(octets);
    }

    fn on_exit(&mut self) {
        self.ahead = 0;
    }

    fn allows(&self, _window: u64, _in_flight: u64) -> u64 {
        self.cwnd
    }

    fn is_proportional(&self) -> bool {
        true
    }

    fn inflation(&self) -> i64 {
        self.ahead as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seq::Seq;

    const MSS: u64 = 1000;

    /// Twenty segments in flight, the first is lost. Recovery begins with the third SACK, and each further SACK covers one
    /// segment. Returns how many segments are sent with each.
    fn sent(recover_fs: Option<u64>) -> Vec<u64> {
        let mut prr = Prr::default();
        let (flight_size, mut pipe, window) = (20 * MSS, 16 * MSS, 10 * MSS);
        let sacked = 3 * MSS;
        prr.on_enter(&Entry {
            flight_size,
            pipe,
            sacked,
            delivered: MSS,
            window,
            mss: MSS as u32,
            sack: true,
            ..Entry::default()
        });
        if let Some(octets) = recover_fs {
            prr.recover_fs = octets;
            (prr.delivered, prr.out) = (0, 0);
            prr.on_delivered(MSS, pipe, window, false);
        }
        let mut all = Vec::new();
        for n in 0..17 {
            if n > 0 {
                pipe -= MSS;
                let sample = AckSample { sacked: MSS, sack: true, ..AckSample::default() };
                prr.on_ack(&sample, window, pipe);
            }
            let mut left = 0;
            while pipe + MSS <= prr.allows(window, pipe) {
                pipe += MSS;
                prr.on_sent(MSS as u32);
                left += 1;
            }
            all.push(left);
        }
        assert_eq!((all.iter().sum::<u64>(), pipe), (10, 10 * MSS));
        all
    }

    /// RFC 9937 counts RecoverFS without what was SACKed before (18 segments); RFC 6937 took all of FlightSize.
    /// RFC 9937 5.
    #[test]
    fn segments_leave_in_proportion_to_what_is_delivered() {
        assert_eq!(sent(None), [1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1]);
        assert_eq!(sent(Some(20 * MSS)), [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1]);
    }

    /// Fifteen of twenty segments are lost: two in flight with a window of ten. At first one segment is sent per delivered
    /// segment, and one more with each acknowledgement that advances and reports no further loss.
    /// RFC 9937 5.
    #[test]
    fn a_window_that_lost_more_than_the_cut_is_rebuilt() {
        let enter = || {
            let mut prr = Prr::default();
            let mss = MSS as u32;
            let entry = Entry {
                flight_size: 20 * MSS,
                pipe: 2 * MSS,
                sacked: 3 * MSS,
                delivered: MSS,
                window: 10 * MSS,
                mss,
                sack: true,
                ..Entry::default()
            };
            prr.on_enter(&entry);
            prr
        };
        for (lost, expected) in [(MSS, vec![3, 3, 3, 3, 3]), (0, vec![3, 4, 5, 6, 7])] {
            let (mut prr, mut pipe) = (enter(), 2 * MSS);
            let mut in_flight = Vec::new();
            for n in 0..5 {
                if n > 0 {
                    pipe -= MSS;
                    let sample = AckSample { acked: MSS, lost, sack: true, ..AckSample::default() };
                    prr.on_ack(&sample, 10 * MSS, pipe);
                }
                while pipe + MSS <= prr.allows(10 * MSS, pipe) {
                    pipe += MSS;
                    prr.on_sent(MSS as u32);
                }
                in_flight.push(pipe / MSS);
            }
            assert_eq!(in_flight, expected);
        }
    }

    /// Without SACK: recovery begins with three duplicates. Each further one counts for a segment, and the partial
    /// acknowledgement for the octets that the duplicates did not account for.
    #[test]
    fn duplicates_stand_for_segments_without_sack() {
        let mut prr = Prr::default();
        let entry =
            Entry { flight_size: 10 * MSS, pipe: 10 * MSS, window: 5 * MSS, mss: MSS as u32, ..Entry::default() };
        prr.on_enter(&entry);
        assert_eq!((prr.delivered, prr.ahead), (MSS, 3 * MSS));
        prr.on_sent(MSS as u32);
        let duplicate = AckSample { duplicate: true, snd_una: Seq(0), snd_nxt: Seq(10 * MSS), ..AckSample::default() };
        prr.on_ack(&duplicate, 5 * MSS, 10 * MSS);
        assert_eq!((prr.delivered, prr.ahead, prr.inflation()), (2 * MSS, 4 * MSS, 4 * MSS as i64));
        // Four of the six segments were already counted.
        let partial =
            AckSample { acked: 6 * MSS, snd_una: Seq(6 * MSS), snd_nxt: Seq(10 * MSS), ..AckSample::default() };
        prr.on_ack(&partial, 5 * MSS, 4 * MSS);
        assert_eq!((prr.delivered, prr.ahead), (4 * MSS, 0));
    }
}
