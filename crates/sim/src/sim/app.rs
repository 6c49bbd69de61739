//! Applications: who writes what, and how fast it is read.
//!
//! The sending application keeps a small staging buffer ([`STAGING`] segments not yet sent) full, as an application does
//! that writes whenever its socket has room; each time it adds to it counts as one write. For a scheduler that goes by how much there is to
//! send ([`Need::Backlog`]) the staging buffer is as large as a socket's ([`BACKLOG`]); for one that wants blocks ([`Need::Blocks`]) it
//! writes [`BLOCK`] as long as the send buffer takes it.
//!
//! Transfers that have parts (messages, objects of a page, segments of a film) have an [`Activity`], which knows what is asked for and what is there.

mod activity;
mod messages;
pub mod page;
mod video;

use anabranch_stack::registry::Need;
use anabranch_stack::scheduler::linux::BLOCK;
use anabranch_stack::tcp::State;
use anabranch_stack::{Config, Connection};

pub use activity::Activity;

use page::Load;

use anabranch_scenario::{Application, Extent, Transfer};

/// Segments the application keeps ready beyond what was sent.
const STAGING: u64 = 10;

/// Octets kept ready beyond what was sent for a scheduler that asks for them.
const BACKLOG: u64 = 1_000_000;

/// No wake-up.
pub const NEVER: u64 = u64::MAX;

/// How often a paced reader reads.
const READ_INTERVAL: u64 = 10_000_000;

/// The sender of the data.
#[derive(Clone, Debug)]
pub struct Sender {
    application: Application,
    staging: u64,
    /// Writes blocks of [`BLOCK`] while the send buffer takes them.
    pub blocks: bool,
    mss: u64,
    started: u64,
    written: u64,
    /// Octets of requests read.
    asked: u64,
    closed: bool,
}

impl Sender {
    /// A sender that starts at `started` (nanoseconds).
    pub fn new(transfer: &Transfer, config: &Config, started: u64) -> Self {
        let mss = u64::from(config.mss);
        let backlog = config.scheduler.info().needs.contains(&Need::Backlog);
        let blocks = config.scheduler.info().needs.contains(&Need::Blocks);
        let staging = if backlog { BACKLOG } else { STAGING * mss };
        let application = transfer.application.clone();
        Self { application, staging, blocks, mss, started, written: 0, asked: 0, closed: false }
    }

    /// Octets it has to send in all, if that is known.
    pub fn total(transfer: &Transfer) -> Option<u64> {
        let ways = 1 + u64::from(transfer.both);
        match transfer.application {
            Application::Bulk(Extent::Bytes(n))
            | Application::OnOff { extent: Extent::Bytes(n), .. }
            | Application::ConstantRate { extent: Extent::Bytes(n), .. } => Some(n * ways),
            Application::RequestResponse { response, count, .. } => Some(response * count),
            _ => None,
        }
    }

    /// Returns true if [`Sender::run`] may write now. A sender that writes blocks always offers the
    /// next block: a block that the engine does not take tells the engine that the application
    /// waits for room. Times at which the application writes are not considered here.
    #[inline(always)]
    pub fn has_work(&self, connection: &Connection) -> bool {
        !self.closed && (self.blocks || connection.outbound().unassigned() < self.staging)
    }

    /// Writes what can be written at `now`; returns whether anything was, and when to be called again at the latest.
    pub fn run(
        &mut self,
        now: u64,
        connection: &mut Connection,
        activity: Option<&mut Activity>,
        peer_closed: bool,
    ) -> (bool, u64) {
        if self.closed {
            return (false, NEVER);
        }
        if let Some(wrote) = self.run_bulk(connection) {
            return (wrote, NEVER);
        }
        // What may be written now, what is left in all, when to look again, and whether what is left is all there will be.
        let (wanted, left, wake, over) = match &self.application {
            Application::Bulk(extent) => {
                let (left, end, over) = self.extent(now, *extent);
                (left, left, end, over)
            }
            &Application::OnOff { extent, on, off, rate } => self.on_off(now, extent, (on.0, off.0), rate),
            &Application::RequestResponse { request, response, count, .. } => {
                // A middlebox may have made the requests longer.
                let answered = (self.asked / request.max(1)).min(count) * response;
                let left = answered - self.written;
                (left, left, NEVER, answered == response * count)
            }
            Application::ConstantRate { .. } => (0, 0, NEVER, true),
            Application::Messages(_) => {
                // The account of a connection that has failed is closed, and with it went what there was to do.
                let Some(activity) = activity else { return (false, NEVER) };
                let open =
                    connection.subflows()[0].state() == State::Established || connection.subflows()[0].opens_fast();
                let (wake, over) = activity.make(now, open);
                let left = activity.items.asked() - self.written;
                (left, left, wake, over)
            }
            Application::Page(_) | Application::Video(_) => {
                let Some(activity) = activity else { return (false, NEVER) };
                let left = activity.answered(self.asked) - self.written;
                (left, left, NEVER, peer_closed)
            }
        };
        let room = if self.blocks {
            BLOCK - self.written % BLOCK
        } else {
            self.staging.saturating_sub(connection.outbound().unassigned())
        };
        let octets = connection.write(wanted.min(room));
        self.written += octets;
        if over && octets == left {
            connection.shutdown_write();
            self.closed = true;
            return (true, NEVER);
        }
        match self.application {
            // While there is no room it need not look at the clock, but for its end; who makes room asks again.
            Application::OnOff { extent, .. } if octets < wanted => (octets > 0, self.extent(now, extent).1),
            _ => (octets > 0, wake),
        }
    }

    /// [`Sender::run`] of a source of so many octets, which looks at no clock; `None` for any other.
    #[inline(always)]
    pub fn run_bulk(&mut self, connection: &mut Connection) -> Option<bool> {
        match self.application {
            Application::Bulk(Extent::Bytes(n)) if !self.blocks => Some(self.write(connection, n - self.written)),
            _ => None,
        }
    }

    /// Writes what there is room for of the `left` octets that are still to be written, then closes; returns whether it did anything.
    #[inline(always)]
    fn write(&mut self, connection: &mut Connection, left: u64) -> bool {
        let room = self.staging.saturating_sub(connection.outbound().unassigned());
        let octets = connection.write(left.min(room));
        self.written += octets;
        self.closed = octets == left;
        if self.closed {
            connection.shutdown_write();
        }
        self.closed || octets > 0
    }

    /// As above, of an on-off source: busy for `on`, at rest for `off`.
    fn on_off(&self, now: u64, extent: Extent, (on, off): (u64, u64), rate: Option<u64>) -> (u64, u64, u64, bool) {
        let (left, end, over) = self.extent(now, extent);
        let period = (on + off).max(1);
        let into = (now - self.started) % period;
        let busy_before = (now - self.started) / period * on;
        let busy = into < on;
        let boundary = now - into + if busy { on } else { period };
        let Some(rate) = rate else { return (if busy { left } else { 0 }, left, boundary.min(end), over) };
        // Segments whose time has come at this rate, over busy time only.
        let elapsed = u128::from(busy_before + into.min(on));
        let due = (elapsed * u128::from(rate) / 8_000_000_000) as u64;
        let due = due - due % self.mss + if busy { self.mss } else { 0 };
        let next = (u128::from(due) * 8_000_000_000).div_ceil(u128::from(rate)) as u64;
        let next = now + next.saturating_sub(busy_before + into).max(1);
        let wake = if busy { next.min(boundary) } else { boundary };
        (due.saturating_sub(self.written).min(left), left, wake.min(end), over)
    }

    /// Octets left, when the time is up, and whether what is left is all there will be.
    fn extent(&self, now: u64, extent: Extent) -> (u64, u64, bool) {
        match extent {
            Extent::Bytes(n) => (n - self.written, NEVER, true),
            Extent::Duration(d) => {
                let end = self.started + d.0;
                if now >= end { (0, NEVER, true) } else { (u64::MAX - self.written, end, false) }
            }
            Extent::Run => (u64::MAX - self.written, NEVER, false),
        }
    }

    /// The peer's application sent `octets` (requests).
    pub fn on_read(&mut self, octets: u64) {
        self.asked += octets;
    }
}

/// The receiver of the data.
#[derive(Clone, Debug)]
pub struct Receiver {
    application: Application,
    rate: Option<u64>,
    /// Octets read.
    pub read: u64,
    paced_since: Option<u64>,
    asked: u64,
    ask_at: u64,
    /// What of the last request did not fit into the send buffer.
    unasked: u64,
    closed: bool,
    /// It has closed its direction itself: a box that made a request longer had the answer come before all of it was written.
    shut: bool,
}

impl Receiver {
    /// A receiver that starts at `started` (nanoseconds).
    pub fn new(transfer: &Transfer, started: u64) -> Self {
        Self {
            application: transfer.application.clone(),
            rate: transfer.read_rate,
            read: 0,
            paced_since: None,
            asked: 0,
            ask_at: started,
            unasked: 0,
            // Where data go both ways, the end of one direction is not that of the other: each sender closes its own.
            closed: transfer.both,
            shut: false,
        }
    }

    /// Whether [`Receiver::run`] might do something even if there is nothing to read.
    #[inline]
    pub fn has_work(&self) -> bool {
        let asks = || {
            matches!(
                self.application,
                Application::RequestResponse { .. } | Application::Page(_) | Application::Video(_)
            )
        };
        self.rate.is_some() || asks()
    }

    /// Reads what can be read, asks what is to be asked; returns octets read and when to be called again at the latest.
    #[inline(always)]
    pub fn run(
        &mut self,
        now: u64,
        end_of_stream: bool,
        connection: &mut Connection,
        activity: Option<&mut Activity>,
        loads: &mut [Load],
    ) -> (u64, u64) {
        let readable = connection.inbound().readable();
        let mut wake = NEVER;
        let octets = match self.rate {
            None => connection.read(readable),
            Some(_) if readable == 0 => 0,
            Some(rate) => {
                let since = *self.paced_since.get_or_insert(now);
                let due = (u128::from(now - since) * u128::from(rate) / 1_000_000_000) as u64;
                wake = now + READ_INTERVAL;
                connection.read(due.saturating_sub(self.read))
            }
        };
        self.read += octets;
        if let Some(activity) = activity {
            wake = wake.min(self.ask(now, octets > 0, connection, activity, loads));
        }
        if let Application::RequestResponse { request, response, count, think } = self.application {
            if octets > 0 && self.read % response.max(1) == 0 {
                self.ask_at = now + think.0;
            }
            if self.asked < count && self.read == self.asked * response {
                if now >= self.ask_at {
                    self.unasked += request;
                    self.asked += 1;
                } else {
                    wake = wake.min(self.ask_at);
                }
            }
            self.request(connection);
            if self.asked == count && self.read == count * response && !self.closed {
                self.close(connection);
            }
        }
        if end_of_stream && connection.inbound().readable() == 0 && !self.closed {
            self.close(connection);
        }
        (octets, wake)
    }
}

impl Receiver {
    /// Writes what the send buffer takes of what is to be asked for.
    fn request(&mut self, connection: &mut Connection) {
        if self.unasked > 0 && !self.shut {
            self.unasked -= connection.write(self.unasked);
        }
    }

    fn close(&mut self, connection: &mut Connection) {
        connection.shutdown_write();
        (self.closed, self.shut) = (true, true);
    }

    /// Asks for what is to be asked for, after something was read or at its time; returns when to be called again.
    fn ask(
        &mut self,
        now: u64,
        read: bool,
        connection: &mut Connection,
        activity: &mut Activity,
        loads: &mut [Load],
    ) -> u64 {
        if read {
            activity.arrive(now, self.read, loads);
        }
        let open = connection.subflows().iter().any(|s| s.state() == State::Established)
            || connection.subflows()[0].opens_fast();
        let Some(next) = activity.ask(now, open, loads) else { return NEVER };
        self.unasked += next.octets;
        self.request(connection);
        if next.over && !self.closed {
            self.close(connection);
        }
        next.wake
    }
}

/// A constant-rate source of datagrams.
#[derive(Clone, Debug)]
pub struct Source {
    extent: Extent,
    rate: u64,
    payload: u32,
    started: u64,
    sent: u64,
}

impl Source {
    /// A source that starts at `started`; `None` if the transfer is no constant-rate flow. One without a rate of its own
    /// sends a fifth more than `carried`, the rate of its path in bit/s.
    pub fn new(transfer: &Transfer, payload: u32, started: u64, carried: u64) -> Option<Self> {
        let Application::ConstantRate { extent, rate } = transfer.application else { return None };
        let rate = rate.unwrap_or_else(|| carried.saturating_add(carried / 5).max(1));
        Some(Self { extent, rate, payload, started, sent: 0 })
    }

    /// When the datagram is sent that begins at `offset`.
    pub fn due(&self, offset: u64) -> u64 {
        self.started + (u128::from(offset) * 8_000_000_000 / u128::from(self.rate)) as u64
    }

    /// The next datagram, if one is due at `now`: offset and length; and when the next one is due (or [`NEVER`]).
    pub fn run(&mut self, now: u64) -> (Option<(u64, u32)>, u64) {
        let len = match self.extent {
            Extent::Bytes(n) => u64::from(self.payload).min(n - self.sent),
            Extent::Duration(d) if now >= self.started + d.0 => 0,
            Extent::Duration(_) | Extent::Run => u64::from(self.payload),
        };
        if len == 0 {
            return (None, NEVER);
        }
        if now < self.due(self.sent) {
            return (None, self.due(self.sent));
        }
        let datagram = (self.sent, len as u32);
        self.sent += len;
        (Some(datagram), self.due(self.sent))
    }
}
