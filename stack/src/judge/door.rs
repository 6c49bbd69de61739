//! `door`: TCP-DOOR, detection of out-of-order delivery and response (Wang and Zhang, MobiHoc 2002).
//!
//! Two options show reordering to the sender. Every data segment, retransmissions included, carries a two-octet packet
//! sequence number; a receiver that sees a smaller one than before reports it in its ACK. Every ACK carries a one-octet
//! number that counts the duplicates of one acknowledgement number; a smaller one than before, or an acknowledgement number
//! below an earlier one, is an ACK out of order.
//!
//! Response: (1) for a time T1 congestion control is disabled: window and timer are held, segments are still retransmitted;
//! (2) instant recovery: if the window was reduced within the last T2, the state before is restored at once. T1 and T2 are
//! given in smoothed round-trip times, one each by default (the paper leaves them open).
//!
//! It reacts to reordering, not to an episode's truth: after genuine congestion that happens to come with reordering it
//! keeps sending, which is its known cost. With every lost segment's retransmission arriving after segments sent later
//! there is no reordering by its packet numbers, since the retransmission has a new one.
//!
//! Where reordering never ends, neither does (1): each report begins T1 anew, the window stays what it was, and a full queue
//! is no reason to cut it. If it was caught small, nothing is lost and a part of the path is unused; if it was caught large,
//! the queue overflows all the time, retransmissions among it, which only the (held) timer then finds. `docs/studies.md` shows
//! both.
//!
//! Numbers count within a subflow. Data out of order *between* subflows are in order for each, so that what coupled
//! acknowledgement makes of them is invisible here (`tests/it/coupled_ack.rs`).

use super::{AckSample, Episode, Judge, Response, Verdict};
use crate::registry::{Builtin, Info, Need, Parameter, Unit};
use crate::seq::Seq;
use crate::time::Duration;

/// Wang and Zhang leave both open.
static PARAMETERS: [Parameter; 2] = [
    Parameter::new("t1", Unit::RoundTrips, 1.0, (0.0, 1000.0), "how long window and timer are held"),
    Parameter::new("t2", Unit::RoundTrips, 1.0, (0.0, 1000.0), "how old a reduction is undone"),
];

pub(crate) static BUILTIN: Builtin<dyn Judge> = Builtin {
    info: Info::new("door", "reordering seen by packet numbers holds and restores the window")
        .source("Wang and Zhang, MobiHoc 2002")
        .needs(&[Need::DoorOptions])
        .validated("scripted: reordering of data and of ACKs, delay spike, genuine loss")
        .parameters(&PARAMETERS),
    make: |_, values| Box::new(Door { t1: values.get("t1"), t2: values.get("t2"), ack: Seq(0), duplicate_number: 0 }),
};

#[derive(Debug)]
struct Door {
    /// In smoothed round-trip times.
    t1: f64,
    t2: f64,
    /// Highest acknowledgement number seen, and the highest number among its duplicates.
    ack: Seq,
    duplicate_number: u8,
}

impl Judge for Door {
    fn on_episode(&mut self, _episode: &Episode) {}

    fn on_retransmit(&mut self, _start: Seq, _end: Seq) {}

    fn on_ack(&mut self, e: &AckSample) -> Verdict {
        let mut reordered = e.data_reordered || e.old;
        if e.ack > self.ack {
            self.ack = e.ack;
            self.duplicate_number = e.duplicate_number.unwrap_or(0);
        } else if let (true, Some(number)) = (e.ack == self.ack, e.duplicate_number) {
            // The number wraps around.
            if (number.wrapping_sub(self.duplicate_number) as i8) < 0 {
                reordered = true;
            } else {
                self.duplicate_number = number;
            }
        }
        if !reordered {
            return Verdict::Pending;
        }
        let rtts = |n: f64| Duration((e.srtt.0 as f64 * n) as u64);
        Verdict::Reordered { hold: rtts(self.t1), undo: rtts(self.t2) }
    }

    fn default_response(&self) -> Response {
        Response::Restore
    }
}
