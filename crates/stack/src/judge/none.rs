//! `none`: plain loss recovery. Every episode counts as genuine; nothing is undone.

use super::{AckSample, Episode, Judge, Response, Verdict};
use crate::registry::{Builtin, Info};
use crate::seq::Seq;

pub(crate) static BUILTIN: Builtin<dyn Judge> = Builtin {
    info: Info::new("none", "plain loss recovery; no window reduction is undone")
        .label("None")
        .source("RFC 6675, RFC 6582")
        .validated("no conformance run has an episode judged spurious"),
    make: |_, _| Box::new(None),
};

#[derive(Debug)]
struct None;

impl Judge for None {
    fn on_episode(&mut self, _episode: &Episode) {}

    fn on_retransmit(&mut self, _start: Seq, _end: Seq) {}

    fn on_ack(&mut self, _evidence: &AckSample) -> Verdict {
        Verdict::Pending
    }

    fn ignores_progress(&self) -> bool {
        true
    }

    fn default_response(&self) -> Response {
        Response::None
    }
}
