//! `linux`: what Linux 6.1 combines to find that a loss was none: D-SACK reports, echoed timestamps, and F-RTO after a timeout. The
//! first of the three that finds the episode spurious has it undone.
//!
//! Linux restores the window and the threshold at once (`tcp_undo_cwnd_reduction`). A part that needs SACK or timestamps is silent
//! on a connection without. Left out: undo of a part of an episode, while the rest is still being recovered (`tcp_try_undo_partial`).

use super::{AckSample, Episode, Judge, Response, Verdict, dsack, eifel, frto};
use crate::registry::{Builtin, Choice, Info, Setup};
use crate::seq::Seq;

pub(crate) static BUILTIN: Builtin<dyn Judge> = Builtin {
    info: Info::new("linux", "D-SACK, timestamps or F-RTO, whichever first shows that nothing was lost")
        .label("Linux")
        .source("Linux 6.1: tcp_try_undo_recovery, tcp_try_undo_dsack, tcp_process_loss")
        .validated("tests of its parts; comparison with Linux in virtual time"),
    make: |setup, _| Box::new(Linux::new(setup)),
};

#[derive(Debug)]
struct Linux {
    parts: [Box<dyn Judge>; 3],
}

impl Linux {
    fn new(setup: &Setup) -> Self {
        let parts = [&dsack::BUILTIN, &eifel::BUILTIN, &frto::BUILTIN];
        Self { parts: parts.map(|part| Choice::new(part).make(setup)) }
    }
}

impl Judge for Linux {
    fn on_episode(&mut self, episode: &Episode) {
        self.parts.iter_mut().for_each(|part| part.on_episode(episode));
    }

    fn on_retransmit(&mut self, start: Seq, end: Seq) {
        self.parts.iter_mut().for_each(|part| part.on_retransmit(start, end));
    }

    fn on_ack(&mut self, sample: &AckSample) -> Verdict {
        let [dsack, eifel, frto] = &mut self.parts;
        let said = [dsack.on_ack(sample), eifel.on_ack(sample), frto.on_ack(sample)];
        if said.contains(&Verdict::Spurious) {
            return Verdict::Spurious;
        }
        // The other two speak too early: an episode that one of them finds genuine, another may still find spurious.
        said[2]
    }

    fn default_response(&self) -> Response {
        Response::Restore
    }
}
