//! `rfc6675`: three duplicates. With SACK they are counted by the scoreboard (RFC 6675), without SACK by acknowledgements (RFC
//! 5681 3.2, RFC 6582 3.2).

use super::{AckSample, DUP_THRESH, Detector, Finding, Outstanding, Scoreboard};
use crate::registry::{Builtin, Info};
use crate::time::Instant;

pub(crate) static BUILTIN: Builtin<dyn Detector> = Builtin {
    info: Info::new(
        "rfc6675",
        "a segment is lost after three SACKed segments above it, or three duplicate acknowledgements",
    )
    .source("RFC 6675 with SACK, RFC 6582 (NewReno) without SACK")
    .validated("scripts: the rules of both RFCs; the scoreboard compared with a simple reference implementation")
    .label("RFC 6675"),
    make: |_, _| Box::new(Rfc6675),
};

#[derive(Debug)]
pub(super) struct Rfc6675;

impl Detector for Rfc6675 {
    fn on_ack(&mut self, _ack: &AckSample, board: &mut Scoreboard, sender: &Outstanding) {
        if sender.sack {
            board.update_lost(u64::from(DUP_THRESH - 1) * u64::from(sender.mss), DUP_THRESH);
        }
    }

    fn ignores_progress(&self) -> bool {
        true
    }

    fn finding(&mut self, ack: &AckSample, board: &Scoreboard, sender: &Outstanding) -> Finding {
        // RFC 6675 5 (1), (2); RFC 5681 3.2 step 2 with RFC 6582 3.2 step 2.
        let enough = sender.duplicates >= DUP_THRESH;
        let missing =
            if sender.sack { enough || board.front_is_lost() } else { enough && ack.snd_una > sender.recover };
        if ack.duplicate && missing { Finding::Loss } else { Finding::Nothing }
    }

    fn on_timeout(&mut self, _now: Instant, board: &mut Scoreboard, sender: &Outstanding) {
        board.mark_all_lost(sender.snd_una, sender.snd_nxt);
    }

    fn limited_transmit(&self, duplicates: u32) -> u32 {
        // RFC 3042 2: one new segment for each of the first two duplicates.
        duplicates.min(DUP_THRESH - 1)
    }
}
