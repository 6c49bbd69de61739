//! Schedulers choose the subflow that carries the next data.
//!
//! To add a scheduler, write a file beside this one and add a line to `REGISTRY`. In another crate, implement
//! [`Factory`](crate::registry::Factory). The conformance suite then covers it.

use core::fmt::Debug;

pub use crate::path::Path;
use crate::registry::{Builtin, Kind};
use crate::time::Instant;

pub mod blest;
pub mod daps;
pub mod delay_estimating;
pub mod duplicate;
pub mod ecf;
pub mod linux;
pub mod min_rtt;
pub mod otias;
pub mod redundant;
pub mod remp;
pub mod round_robin;
pub mod steering;
pub mod stms;
pub mod sttf;

/// What a scheduler knows when it is asked. Offsets count octets of our data stream.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Offer<'a> {
    /// Current time.
    pub now: Instant,
    /// All subflows, including those without room.
    pub paths: &'a [Path],
    /// Octets written and not yet sent.
    pub unsent: u64,
    /// The oldest octet without a DATA_ACK.
    pub data_una: u64,
    /// The next octet to send for the first time.
    pub data_nxt: u64,
    /// Right edge of the peer's window; `data_nxt` if it is closed.
    pub edge: u64,
    /// Octets that the send buffer of the connection holds, [`u64::MAX`] if it has no limit.
    pub buffer: u64,
    /// A burst may be longer than what is written ([`Deviations::bursts_of_window`]).
    ///
    /// [`Deviations::bursts_of_window`]: crate::config::Deviations::bursts_of_window
    pub ahead_of_writer: bool,
}

impl<'a> Offer<'a> {
    /// An offer of `unsent` octets at the beginning of a stream, with a window that takes all of them.
    pub fn new(now: Instant, paths: &'a [Path], unsent: u64) -> Self {
        let (data_una, data_nxt, buffer) = (0, 0, u64::MAX);
        Self { now, paths, unsent, data_una, data_nxt, edge: unsent, buffer, ahead_of_writer: false }
    }

    /// Octets of new data that the peer's window takes now.
    pub fn room(&self) -> u64 {
        (self.edge - self.data_nxt).min(self.unsent)
    }

    /// Octets from the next one up to the right edge of the peer's window, written or not.
    pub fn window(&self) -> u64 {
        self.edge - self.data_nxt
    }

    /// Some subflow may send.
    pub fn any(&self) -> bool {
        self.paths.iter().any(|p| p.can_send)
    }

    /// The established subflow with the lowest smoothed round-trip time, with room or not.
    pub fn fastest(&self) -> Option<usize> {
        let established = self.paths.iter().enumerate().filter(|(_, p)| p.established);
        established.min_by_key(|(_, p)| p.srtt).map(|(i, _)| i)
    }

    /// The subflow with the lowest smoothed round-trip time among those that can send, the first of equals.
    pub fn open(&self) -> Option<usize> {
        let open = self.paths.iter().enumerate().filter(|(_, p)| p.can_send);
        open.min_by_key(|(_, p)| p.srtt).map(|(i, _)| i)
    }

    /// The subflow works: it is established, its timer has not expired, and it is not a backup while a regular one works (RFC 8684 3.3.8).
    pub fn works(&self, i: usize) -> bool {
        let alive = |p: &Path| p.established && !p.stale;
        let p = &self.paths[i];
        alive(p) && !(p.backup && self.paths.iter().any(|other| alive(other) && !other.backup))
    }

    /// The subflow with the lowest smoothed round-trip time among those that work, with room or not, the first of equals.
    pub fn fastest_at_work(&self) -> Option<usize> {
        (0..self.paths.len()).filter(|&i| self.works(i)).min_by_key(|&i| self.paths[i].srtt)
    }

    /// The subflow that can send for which `cost` is least; of equals the one with the least queued, then the first.
    pub(crate) fn cheapest(&self, cost: impl Fn(&Path) -> f64) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for (i, p) in self.paths.iter().enumerate().filter(|(_, p)| p.can_send) {
            let cost = cost(p);
            let better = |&(b, least): &(usize, f64)| (cost, p.queued) < (least, self.paths[b].queued);
            if best.as_ref().is_none_or(better) {
                best = Some((i, cost));
            }
        }
        best.map(|(i, _)| i)
    }

    /// Assigns the next segment to `on`, ahead of its window.
    pub(crate) fn queue(&self, on: usize) -> Decision {
        Decision::Queue { on, octets: u64::from(self.paths[on].mss).min(self.room()) }
    }

    /// Sends the oldest segment without a DATA_ACK again, on the fastest other subflow with room.
    pub(crate) fn repeat_head(&self) -> Decision {
        let Some(head) = self.head() else { return Decision::Wait(None) };
        let others = (0..self.paths.len()).filter(|&i| i != head && self.paths[i].can_send);
        others.min_by_key(|&i| self.paths[i].srtt).map_or(Decision::Wait(None), |on| Decision::Resend {
            start: self.data_una,
            end: self.paths[head].oldest.1,
            on,
        })
    }

    /// Waiting for room on this subflow comes to an end: it works, and what it has in flight will be acknowledged or time out.
    pub fn awaits(&self, i: usize) -> bool {
        self.works(i) && self.paths[i].in_flight > 0
    }

    /// The subflow that has the oldest octet without a DATA_ACK in flight: the head of the line.
    pub fn head(&self) -> Option<usize> {
        let carries = |p: &Path| p.established && p.oldest.0 <= self.data_una && self.data_una < p.oldest.1;
        self.paths.iter().position(carries)
    }
}

/// How far a scheduler assigns data ahead of the subflows' windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Not at all: what it picks is sent at once, and `can_send` says that a window has room.
    Room,
    /// As far as the chosen subflow's send buffer has memory, which `can_send` says. The buffers are Linux's: made for twice the window, and
    /// what the application may write is bounded by the largest of them.
    Memory,
    /// Until every subflow that takes data has a window of it waiting, whichever subflow it chooses meanwhile; `can_send` says that a subflow
    /// takes data. What waits on a subflow that times out is taken back. (Under coupled acknowledgement not at all: windows open in the
    /// order of the data there, so that what waits on one subflow would keep all windows from opening.)
    Windows,
}

/// A set of subflows of a connection, with numbers up to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subflows([u64; 4]);

impl Subflows {
    /// The set with `subflow` added.
    #[must_use]
    pub fn with(mut self, subflow: usize) -> Self {
        if let Some(word) = self.0.get_mut(subflow / 64) {
            *word |= 1 << (subflow % 64);
        }
        self
    }

    /// Removes and returns the lowest number.
    pub fn pop(&mut self) -> Option<usize> {
        let word = self.0.iter().position(|&w| w != 0)?;
        let bit = self.0[word].trailing_zeros() as usize;
        self.0[word] &= self.0[word] - 1;
        Some(64 * word + bit)
    }
}

/// A scheduler's decision. Subflows are indices into [`Offer::paths`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Send the next segment of new data on this subflow, which can send.
    Send(usize),
    /// Send the next segment of new data on each of these subflows; those that cannot send are skipped.
    SendAll(Subflows),
    /// Send octets again that were sent and have no DATA_ACK, at most one segment of them, on a subflow that can send.
    Resend {
        /// First octet.
        start: u64,
        /// Octet after the last.
        end: u64,
        /// Subflow to send them on.
        on: usize,
    },
    /// Assign the next octets of new data to a subflow ahead of its window. Only from a scheduler with a [`Reach`] beyond the windows.
    Queue {
        /// The subflow, whose `can_send` is true.
        on: usize,
        /// How many octets.
        octets: u64,
    },
    /// Take back what was assigned to a subflow last and not sent yet, and assign it to another one; ask again at once. Only from a
    /// scheduler with a [`Reach`] beyond the windows.
    Move {
        /// The subflow that has the data queued.
        from: usize,
        /// The one that gets it.
        to: usize,
        /// How many octets at most.
        octets: u64,
    },
    /// Halve the window of this subflow, which blocks the others (Raiciu et al., NSDI 2012, 4.2), and ask again at once.
    Penalise(usize),
    /// Send nothing now. Ask again when something arrives, and at this time at the latest.
    Wait(Option<Instant>),
}

/// Data that was sent as the scheduler decided.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Assignment {
    /// The subflow it was sent on.
    pub subflow: usize,
    /// First octet.
    pub data: u64,
    /// Number of octets.
    pub len: u32,
    /// The data had been sent before, on another subflow.
    pub again: bool,
}

impl Assignment {
    /// `len` octets of new data, from data offset `data` on, were sent on `subflow`.
    pub fn new(subflow: usize, data: u64, len: u32) -> Self {
        Self { subflow, data, len, again: false }
    }
}

/// Picks a subflow for the next segment.
pub trait Scheduler: Debug + Send {
    /// Chooses the subflow for the next segment. Called when there is new data, at least one subflow can send, and the peer's
    /// window has room. The segment may still be withheld by Nagle's algorithm or silly-window avoidance; the scheduler is then
    /// asked again. For data reinjected because its subflow failed, only `Send` and `SendAll` are carried out; if it waits then, the data
    /// goes to the subflow with room and the lowest round-trip time.
    fn pick(&mut self, offer: &Offer<'_>) -> Decision;
    /// How far the scheduler assigns data ahead of the windows, by [`Decision::Queue`]. On a connection that speaks plain TCP there is
    /// nothing to assign; what it would queue is then sent.
    fn reach(&self) -> Reach {
        Reach::Room
    }
    /// The scheduler may ask to send data again that is in flight on another subflow, or to move what it has assigned, so
    /// [`Scheduler::pick_again`] must be called.
    fn resends(&self) -> bool {
        false
    }
    /// Like [`Scheduler::pick`], but there is no new data to send, or the peer's window is closed: only data sent before can be
    /// sent again.
    fn pick_again(&mut self, _offer: &Offer<'_>) -> Decision {
        Decision::Wait(None)
    }
    /// Data was sent as decided.
    fn on_sent(&mut self, assignment: &Assignment);
    /// Whether it remembers anything between two questions. One that does not is told of nothing (`on_sent`, `on_acked`, `on_lost`), and
    /// takes the only subflow that can send, if there is only one, without being asked.
    fn remembers(&self) -> bool {
        true
    }
    /// `octets` octets were newly acknowledged on `subflow`.
    fn on_acked(&mut self, _now: Instant, _subflow: usize, _octets: u64) {}
    /// `octets` octets were marked lost on `subflow`.
    fn on_lost(&mut self, _now: Instant, _subflow: usize, _octets: u64) {}
}

/// The schedulers of this crate.
static REGISTRY: &[&Builtin<dyn Scheduler>] = &[
    &min_rtt::BUILTIN,
    &round_robin::BUILTIN,
    &linux::BUILTIN,
    &blest::BUILTIN,
    &ecf::BUILTIN,
    &redundant::BUILTIN,
    &remp::BUILTIN,
    &duplicate::BUILTIN,
    &steering::ACTIVE_STANDBY,
    &steering::SMALLEST_DELAY,
    &steering::LOAD_BALANCING,
    &steering::PRIORITY,
    &steering::CHEAPEST_PATH_FIRST,
    &otias::BUILTIN,
    &daps::BUILTIN,
    &delay_estimating::BUILTIN,
    &sttf::BUILTIN,
    &stms::BUILTIN,
    &blest::LINUX,
    &ecf::LINUX,
];

impl Kind for dyn Scheduler {
    const KIND: &'static str = "scheduler";

    fn builtin() -> &'static [&'static Builtin<Self>] {
        REGISTRY
    }
}
