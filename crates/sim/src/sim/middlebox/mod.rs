//! Middleboxes: what stands on a link and does not leave segments alone.
//!
//! MPTCP was designed around what a study of the Internet's paths had found (Honda et al., "Is it still possible to extend
//! TCP?", IMC 2011): boxes that remove options they do not know, or drop the segments that have them, give flows other
//! sequence numbers, cut and join segments, translate addresses, and change payloads. RFC 8684 says what has to become of a
//! connection that meets one: it goes on over other subflows, falls back to TCP, or the subflow is reset
//! (`docs/middleboxes.md` has the table).
//!
//! The boxes of a link stand at its end `a` (the client's end of a path) or, if they say so, at its end `b`: a packet meets those at
//! the end where it comes from before it enters the queue, those at the other end when it has crossed the link. Each box is a
//! small state machine over typed segments: one packet goes in, any number come out or are dropped, and one that holds
//! packets back ([`coalesce`], [`replay`], [`pep`]) has a deadline. A flow is one 4-tuple as the box sees it, whose state is kept as long as
//! the run lasts.
//!
//! What is left out: IP fragments.
//!
//! - options removed, segments dropped: [`strip`]
//! - sequence numbers: [`rewrite`]; segments cut and joined: [`split`], [`coalesce`]
//! - ports: [`nat`]; payloads: [`alter`]
//! - connections cut in two: [`pep`]
//! - segments that come again: [`replay`]; acknowledgements made up: [`acks`]

pub mod acks;
pub mod alter;
pub mod coalesce;
pub mod nat;
pub mod pep;
pub mod replay;
pub mod rewrite;
pub mod split;
pub mod strip;

use acks::Acks;
use alter::Alter;
use coalesce::Coalesce;
use nat::Nat;
use pep::Pep;
use replay::Replay;
use rewrite::Rewrite;

use anabranch_stack::config::Config;

use super::packet::Packet;
use super::rng::Rng;
use anabranch_scenario::middlebox::{Kind, Middlebox};

/// No deadline.
pub const NEVER: u64 = u64::MAX;

/// A flow, as a box sees it: connection, 4-tuple, and the client's port if a NAT before this box gave it one.
pub type FlowId = (u32, u32, u16);

/// The flow of a packet.
pub fn flow_of(packet: &Packet) -> FlowId {
    (packet.connection, packet.tuple, packet.port)
}

/// What came of packets.
#[derive(Debug, Default)]
pub struct Passed {
    /// They go on.
    pub through: Vec<Packet>,
    /// They do not.
    pub dropped: Vec<Packet>,
    /// A box has taken them in a host's place, or refused them (false).
    pub ended: Vec<(Packet, bool)>,
    /// Copies among those that go on, of what went before.
    pub again: Vec<Packet>,
}

/// When and in which directions a box acts.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    up: bool,
    down: bool,
    at: u64,
    until: u64,
}

impl Scope {
    /// It acts at `now` on what goes from a to b (`ab`), or on what comes back.
    pub fn covers(&self, now: u64, ab: bool) -> bool {
        (if ab { self.up } else { self.down }) && self.is_on(now)
    }

    /// It acts at `now`.
    pub fn is_on(&self, now: u64) -> bool {
        (self.at..self.until).contains(&now)
    }

    /// It acts in this direction.
    pub fn looks(&self, ab: bool) -> bool {
        if ab { self.up } else { self.down }
    }
}

#[derive(Debug)]
enum Machine {
    /// Without state: what [`strip`] and [`split`] do.
    Plain(Kind),
    Rewrite(Rewrite),
    Coalesce(Coalesce),
    Nat(Nat),
    Alter(Alter),
    Pep(Box<Pep>),
    Replay(Replay),
    Acks(Acks),
}

/// The boxes at one end of a link, in order from a to b.
#[derive(Debug, Default)]
pub struct Chain {
    boxes: Vec<(Scope, Machine)>,
    stage: Vec<Packet>,
}

impl Chain {
    /// Those of `boxes`, which are on the link called `link`, that stand at its end a, or b if `far`.
    pub fn new(boxes: &[Middlebox], far: bool, seed: u64, link: &str) -> Self {
        let one = |(i, b): (usize, &Middlebox)| {
            let scope = Scope { up: b.up, down: b.down, at: b.at.0, until: b.until.0 };
            let machine = match b.kind {
                Kind::RewriteSequence => {
                    Machine::Rewrite(Rewrite::new(Rng::new(seed, &format!("link {link} middlebox {i}"))))
                }
                Kind::Coalesce { size, hold, last } => Machine::Coalesce(Coalesce::new(size, hold.0, last)),
                Kind::Nat { timeout } => Machine::Nat(Nat::new(timeout.0)),
                Kind::AlterPayload { every } => Machine::Alter(Alter::new(every, 0)),
                Kind::AlterLength { every, grow } => Machine::Alter(Alter::new(every, grow)),
                Kind::Pep { buffer, initial_window, hold } => {
                    // The window is for the side of the link.
                    let usual = Config::default().initial_window;
                    let windows = if b.far { [initial_window, usual] } else { [usual, initial_window] };
                    let name = format!("link {link} middlebox {i}");
                    Machine::Pep(Box::new(Pep::new(buffer, windows, hold.0, seed, name)))
                }
                Kind::Replay { count, after } => Machine::Replay(Replay::new(count, after.0)),
                Kind::Acks { how, count } => Machine::Acks(Acks::new(how, count)),
                plain => Machine::Plain(plain),
            };
            (scope, machine)
        };
        let here = boxes.iter().enumerate().filter(|(_, b)| b.far == far);
        Self { boxes: here.map(one).collect(), stage: Vec::new() }
    }

    /// There is no box.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// A packet comes along, from a to b if `ab`.
    pub fn pass(&mut self, now: u64, ab: bool, packet: Packet, passed: &mut Passed) {
        passed.through.push(packet);
        let first = if ab { 0 } else { self.boxes.len() - 1 };
        self.go_on(now, ab, Some(first), passed);
    }

    /// When a box will let go of something that it holds, or [`NEVER`].
    pub fn deadline(&self) -> u64 {
        let of = |(_, m): &(Scope, Machine)| match m {
            Machine::Coalesce(c) => c.deadline(),
            Machine::Pep(p) => p.deadline(),
            Machine::Replay(r) => r.deadline(),
            _ => NEVER,
        };
        self.boxes.iter().map(of).min().unwrap_or(NEVER)
    }

    /// What is due at `now` and goes from a to b (`ab`), or comes back, goes on.
    pub fn release(&mut self, now: u64, ab: bool, passed: &mut Passed) {
        for k in 0..self.boxes.len() {
            let i = if ab { k } else { self.boxes.len() - 1 - k };
            let before = passed.through.len();
            match &mut self.boxes[i].1 {
                Machine::Coalesce(c) => c.release(now, ab, &mut passed.through),
                Machine::Pep(p) => {
                    p.run(now, passed);
                    p.release(ab, &mut passed.through);
                }
                Machine::Replay(r) => {
                    r.release(now, ab, &mut passed.through);
                    passed.again.extend_from_slice(&passed.through[before..]);
                }
                _ => {}
            }
            if passed.through.len() > before {
                let done: Vec<Packet> = passed.through.drain(..before).collect();
                self.go_on(now, ab, self.after(i, ab), passed);
                passed.through.splice(..0, done);
            }
        }
    }

    fn after(&self, i: usize, ab: bool) -> Option<usize> {
        if ab { Some(i + 1).filter(|i| *i < self.boxes.len()) } else { i.checked_sub(1) }
    }

    /// Takes what is in `passed.through` through the boxes from `next` on.
    fn go_on(&mut self, now: u64, ab: bool, mut next: Option<usize>, passed: &mut Passed) {
        while let Some(i) = next {
            let mut stage = std::mem::replace(&mut passed.through, std::mem::take(&mut self.stage));
            for packet in stage.drain(..) {
                let (scope, machine) = &mut self.boxes[i];
                one(*scope, machine, now, ab, packet, passed);
            }
            self.stage = stage;
            next = self.after(i, ab);
        }
    }
}

fn one(scope: Scope, machine: &mut Machine, now: u64, ab: bool, mut packet: Packet, passed: &mut Passed) {
    // A datagram has no flags; these boxes deal with TCP.
    if packet.segment.flags.0 == 0 {
        passed.through.push(packet);
        return;
    }
    let covers = scope.covers(now, ab);
    match machine {
        Machine::Plain(_) if !covers => passed.through.push(packet),
        Machine::Plain(Kind::Split { size, all }) => split::split(packet, *size, *all, &mut passed.through),
        Machine::Plain(Kind::DropUnknown(which)) => {
            let unknown = strip::matches(*which, &packet.segment) && strip::has_unknown(&packet.segment.options);
            if unknown { passed.dropped.push(packet) } else { passed.through.push(packet) }
        }
        Machine::Plain(kind) => {
            packet.edit(|segment| strip::strip(*kind, segment));
            passed.through.push(packet);
        }
        Machine::Rewrite(rewrite) => {
            rewrite.pass(scope, now, ab, &mut packet);
            passed.through.push(packet);
        }
        Machine::Coalesce(coalesce) => coalesce.pass(now, ab, covers, packet, &mut passed.through),
        Machine::Nat(nat) => {
            let goes = nat.pass(scope, now, ab, &mut packet);
            if goes { passed.through.push(packet) } else { passed.dropped.push(packet) }
        }
        Machine::Alter(alter) => {
            alter.pass(scope, now, ab, &mut packet);
            passed.through.push(packet);
        }
        Machine::Pep(pep) => pep.pass(scope, now, ab, packet, &mut passed.through),
        Machine::Replay(replay) => {
            if covers {
                replay.pass(now, ab, &packet);
            }
            passed.through.push(packet);
        }
        Machine::Acks(acks) => acks.pass(ab, covers, packet, passed),
    }
}
