//! `door`: TCP-DOOR, detection of out-of-order delivery and response (Wang and Zhang, MobiHoc 2002).
//!
//! Two options show reordering to the sender. Every data segment, including retransmissions, carries a two-octet packet sequence
//! number. A receiver that sees a smaller number than before reports it in its ACK. Every ACK carries a one-octet number that
//! counts the duplicates of its acknowledgement number. An ACK is out of order if this number is smaller than before, or if its
//! acknowledgement number is below an earlier one.
//!
//! Response: (1) for a time T1 congestion control is suspended: window and retransmission timeout do not change, but segments are
//! still retransmitted; (2) instant recovery: if the window was reduced within the last T2, the state before is restored at once.
//! T1 and T2 are given in smoothed round-trip times, one each by default (the paper leaves them open).
//!
//! TCP-DOOR responds to reordering, not to whether an episode was genuine. After genuine congestion that coincides with
//! reordering it continues to send, which is its known cost. If the retransmission of every lost segment arrives after segments
//! sent later, that is no reordering by packet numbers, since a retransmission has a new number.
//!
//! If reordering never ends, neither does (1): each report restarts T1, the window stays as it is, and a full queue does not
//! reduce it. A window that was small then stays small, nothing is lost, and part of the path is unused. A window that was large
//! overflows the queue all the time. Retransmissions are lost too, and only the timer (its timeout unchanged) detects that.
//! `docs/studies.md` shows both.
//!
//! Packet numbers count within a subflow. Data that is out of order *between* subflows is in order on each of them, so the
//! effects of coupled acknowledgement are invisible here (`tests/it/coupled_ack.rs`).

use super::{AckSample, Episode, Judge, Response, Verdict};
use crate::registry::{Builtin, Info, Need, Parameter, Unit};
use crate::seq::Seq;
use crate::time::Duration;

/// Wang and Zhang leave both open.
static PARAMETERS: [Parameter; 2] = [
    Parameter::new(
        "t1",
        Unit::RoundTrips,
        1.0,
        (0.0, 1000.0),
        "T1: how long the window and the timer are held after reordering",
    ),
    Parameter::new("t2", Unit::RoundTrips, 1.0, (0.0, 1000.0), "T2: largest age of a window reduction that is undone"),
];

pub(crate) static BUILTIN: Builtin<dyn Judge> = Builtin {
    info: Info::new("door", "if packet numbers show reordering, it holds or restores the window")
        .label("TCP-DOOR")
        .source("Wang and Zhang, MobiHoc 2002")
        .needs(&[Need::DoorOptions])
        .validated("scripts: reordering of data and of ACKs, delay spike, genuine loss")
        .parameters(&PARAMETERS),
    make: |_, values| Box::new(Door { t1: values.get("t1"), t2: values.get("t2"), ack: Seq(0), duplicate_number: 0 }),
};

#[derive(Debug)]
struct Door {
    /// T1 and T2, in smoothed round-trip times.
    t1: f64,
    t2: f64,
    /// Highest acknowledgement number received, and the highest number among its duplicates.
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
