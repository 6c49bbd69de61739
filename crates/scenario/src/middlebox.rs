//! Middleboxes on a link: `middleboxes = [ "strip-mptcp-syn", { kind = "split", size = "500 B", direction = "up" } ]`.
//!
//! [`REGISTRY`] lists the middleboxes with the default values of their parameters.

use anabranch_stack::time::{Duration, Instant};

use super::si::Si;

/// A middlebox at an end of a link: at `from` (of a path: at the client's end), or at `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Middlebox {
    /// What it does.
    pub kind: Kind,
    /// It acts on packets from `from` to `to`.
    pub up: bool,
    /// It acts on packets from `to` to `from`.
    pub down: bool,
    /// From when on it acts.
    pub at: Instant,
    /// Until when it acts; [`Instant::FAR_FUTURE`]: to the end of the run.
    pub until: Instant,
    /// It stands at the end `to` of the link.
    pub far: bool,
}

/// What a middlebox does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Removes the MPTCP options of these segments.
    StripMptcp(Segments),
    /// Removes timestamps.
    StripTimestamps,
    /// Removes SACK-permitted and SACK blocks.
    StripSack,
    /// Drops these segments if they have an option that a box of before 2010 does not know.
    DropUnknown(Segments),
    /// Adds a random number to the sequence numbers of each flow.
    RewriteSequence,
    /// Cuts segments.
    Split {
        /// Largest payload of a piece in octets.
        size: u32,
        /// The MPTCP options go with every piece, not only with the first.
        all: bool,
    },
    /// Joins segments that follow each other.
    Coalesce {
        /// Largest payload in octets.
        size: u32,
        /// How long a segment waits for the next.
        hold: Duration,
        /// The options of the last of the segments are kept, not those of the first.
        last: bool,
    },
    /// Translates the client's ports; `from` is the inner side.
    Nat {
        /// A mapping that no packet has used for so long is removed.
        timeout: Duration,
    },
    /// Changes the first of every `every` octets of a stream, and corrects the TCP checksum.
    AlterPayload {
        /// Spacing of the changed octets.
        every: u64,
    },
    /// Makes the segment with the first of every `every` octets of a stream longer or shorter, and shifts the
    /// sequence numbers after it.
    AlterLength {
        /// Spacing of the changes in octets.
        every: u64,
        /// Octets inserted at the beginning of the segment, or removed there if negative.
        grow: i32,
    },
    /// Splits connections: answers in the server's place, and speaks to it in the client's.
    Pep {
        /// Octets that it keeps, a connection and direction.
        buffer: u64,
        /// Initial window over the link, in segments.
        initial_window: u32,
        /// How long a segment takes through it.
        hold: Duration,
    },
    /// Sends copies of segments later.
    Replay {
        /// Of so many segments of a flow and direction one comes again.
        count: u32,
        /// How much later.
        after: Duration,
    },
    /// Makes other acknowledgements of those that pass.
    Acks {
        /// Which.
        how: Pattern,
        /// How many are made of one, or one of how many.
        count: u32,
    },
}

/// What becomes of acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One becomes several, each of a part.
    Divide,
    /// One goes several times.
    Repeat,
    /// Of several in a row the last goes on.
    Thin,
    /// They acknowledge what was sent, arrived or not.
    Optimistic,
}

/// Which segments a middlebox acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segments {
    /// All.
    All,
    /// SYN without ACK.
    Syn,
    /// SYN with ACK.
    SynAck,
    /// The third segment of a handshake of RFC 8684: keys (3.1) or HMAC (3.2), without payload.
    ThirdAck,
    /// Segments with payload.
    Data,
}

/// A kind of middlebox as a scenario names it.
#[derive(Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line: what it does.
    pub summary: &'static str,
    /// The RFC or paper that describes it.
    pub source: &'static str,
    /// What it does, with default parameters.
    pub kind: Kind,
}

/// How all middleboxes were validated.
pub const VALIDATED: &str = "docs/middleboxes.md: a run for each outcome";

const fn entry(name: &'static str, summary: &'static str, source: &'static str, kind: Kind) -> Entry {
    Entry { name, summary, source, kind }
}

/// The middleboxes a scenario may name.
pub const REGISTRY: &[Entry] = &[
    entry(
        "strip-mptcp",
        "removes every MPTCP option",
        "RFC 8684 3.7; Honda et al., IMC 2011",
        Kind::StripMptcp(Segments::All),
    ),
    entry(
        "strip-mptcp-syn",
        "removes MPTCP options from SYNs",
        "RFC 8684 3.1, 3.7; Honda et al., IMC 2011",
        Kind::StripMptcp(Segments::Syn),
    ),
    entry(
        "strip-mptcp-syn-ack",
        "removes MPTCP options from SYN/ACKs",
        "RFC 8684 3.1, 3.7; Honda et al., IMC 2011",
        Kind::StripMptcp(Segments::SynAck),
    ),
    entry(
        "strip-mptcp-third-ack",
        "removes keys and HMAC from the third segment of a handshake",
        "RFC 8684 3.1, 3.2",
        Kind::StripMptcp(Segments::ThirdAck),
    ),
    entry(
        "strip-mptcp-data",
        "removes MPTCP options from segments with payload",
        "RFC 8684 3.7; Honda et al., IMC 2011",
        Kind::StripMptcp(Segments::Data),
    ),
    entry("strip-timestamps", "removes timestamps", "RFC 7323 3; Honda et al., IMC 2011", Kind::StripTimestamps),
    entry(
        "strip-sack",
        "removes SACK-permitted and SACK blocks",
        "RFC 2018 2, 3; Honda et al., IMC 2011",
        Kind::StripSack,
    ),
    entry(
        "drop-unknown-options",
        "drops segments with MPTCP or experimental options",
        "RFC 8684 3.1; Honda et al., IMC 2011",
        Kind::DropUnknown(Segments::All),
    ),
    entry(
        "drop-unknown-options-syn",
        "drops SYNs with MPTCP or experimental options",
        "RFC 8684 3.1; Honda et al., IMC 2011",
        Kind::DropUnknown(Segments::Syn),
    ),
    entry(
        "rewrite-sequence",
        "adds a random number to the sequence numbers of each flow",
        "RFC 8684 3.3.1; Honda et al., IMC 2011",
        Kind::RewriteSequence,
    ),
    entry(
        "split",
        "cuts segments into pieces; every piece, or only the first one, carries the MPTCP options",
        "RFC 8684 3.3.1; Honda et al., IMC 2011",
        Kind::Split { size: 500, all: true },
    ),
    entry(
        "coalesce",
        "joins consecutive segments and keeps the MPTCP options of one of them",
        "RFC 8684 3.3.1; Honda et al., IMC 2011",
        Kind::Coalesce { size: 64_000, hold: Duration::from_millis(1), last: false },
    ),
    entry(
        "nat",
        "translates the client's ports; forgets a mapping that was not used for a time (by default 124 min)",
        "RFC 5382 5; RFC 8684 3.2",
        Kind::Nat { timeout: Duration::from_secs(7440) },
    ),
    entry(
        "alter-payload",
        "changes some octets of the payload and corrects the TCP checksum",
        "RFC 8684 3.3.1, 3.7",
        Kind::AlterPayload { every: 100_000 },
    ),
    entry(
        "alter-length",
        "inserts octets into the payload or removes some, and shifts later sequence numbers",
        "RFC 8684 3.3.1, 3.7",
        Kind::AlterLength { every: 100_000, grow: 4 },
    ),
    entry(
        "pep",
        "splits TCP connections: acknowledges in the peer's place, and forwards the data in a connection of its own",
        "RFC 3135 2.4, 3.1; RFC 8684 3.1, 3.2",
        Kind::Pep { buffer: 4_000_000, initial_window: 10, hold: Duration::from_micros(100) },
    ),
    entry(
        "replay",
        "sends a copy of some segments later (by default of every 20th, one second later)",
        "RFC 9293 3.10.7.4; RFC 7323 5",
        Kind::Replay { count: 20, after: Duration::from_secs(1) },
    ),
    entry(
        "divide-acks",
        "turns each ACK of new data into several (by default four), each for a part of the data",
        "Savage et al., CCR 29(5), 1999",
        Kind::Acks { how: Pattern::Divide, count: 4 },
    ),
    entry(
        "repeat-acks",
        "sends each ACK without payload several times (by default twice)",
        "Savage et al., CCR 29(5), 1999",
        Kind::Acks { how: Pattern::Repeat, count: 2 },
    ),
    entry(
        "thin-acks",
        "drops ACKs without payload except every second one of a flow (by default), even if no later ACK follows",
        "RFC 3449 5.2.1",
        Kind::Acks { how: Pattern::Thin, count: 2 },
    ),
    entry(
        "optimistic-acks",
        "acknowledges data that passes the box, before the data arrives or even if it is lost later",
        "Savage et al., CCR 29(5), 1999",
        Kind::Acks { how: Pattern::Optimistic, count: 1 },
    ),
];

/// The name of a middlebox, and its parameters as written in a resolved scenario.
pub(super) fn describe(kind: Kind) -> (&'static str, Vec<(&'static str, serde_json::Value)>) {
    let same = |e: &&Entry| match (kind, e.kind) {
        (Kind::StripMptcp(a), Kind::StripMptcp(b)) | (Kind::DropUnknown(a), Kind::DropUnknown(b)) => a == b,
        (Kind::Acks { how: a, .. }, Kind::Acks { how: b, .. }) => a == b,
        (a, b) => std::mem::discriminant(&a) == std::mem::discriminant(&b),
    };
    let name = REGISTRY.iter().find(same).map_or("", |e| e.name);
    let parameters = match kind {
        Kind::Split { size, all } => {
            vec![("size", size.si()), ("options", if all { "all" } else { "first" }.si())]
        }
        Kind::Coalesce { size, hold, last } => {
            vec![("size", size.si()), ("hold", hold.si()), ("options", if last { "last" } else { "first" }.si())]
        }
        Kind::Nat { timeout } => vec![("timeout", timeout.si())],
        Kind::AlterPayload { every } => vec![("every", every.si())],
        Kind::AlterLength { every, grow } => vec![("every", every.si()), ("grow", grow.si())],
        Kind::Pep { buffer, initial_window, hold } => {
            vec![("buffer", buffer.si()), ("initial_window", initial_window.si()), ("hold", hold.si())]
        }
        Kind::Replay { count, after } => vec![("count", count.si()), ("after", after.si())],
        Kind::Acks { how: Pattern::Optimistic, .. } => Vec::new(),
        Kind::Acks { count, .. } => vec![("count", count.si())],
        _ => Vec::new(),
    };
    (name, parameters)
}
