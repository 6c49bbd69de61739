//! What a script says, without knowing whether it holds.

use super::mptcp::option::Place;
use super::option::Opt;

/// A script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Option lines at its beginning: `--name=value`.
    pub options: Vec<OptionLine>,
    /// What happens, in order.
    pub events: Vec<Event>,
}

/// `--name=value` before the first event.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionLine {
    /// Where it stands, counted from 1.
    pub line: u32,
    /// The name, without the dashes.
    pub name: String,
    /// The value; empty if there is none.
    pub value: String,
}

/// One thing that happens, or is to happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Where it stands, counted from 1.
    pub line: u32,
    /// When.
    pub when: When,
    /// What.
    pub action: Action,
    /// Its own words, on one line.
    pub text: String,
}

/// What a time counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The script's beginning.
    Start,
    /// The event before (`+`).
    Previous,
}

/// When an event happens; times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// No time is given: after the event before.
    Next,
    /// Whenever it happens (`*`).
    Any,
    /// At this time.
    At(Base, u64),
    /// Between two times (`a~b`).
    Within(Base, u64, u64),
    /// A call that begins at the first and returns at the second time (`a...b`).
    Lasts(Base, u64, u64),
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A segment arrives (`<`).
    Inbound(Packet),
    /// A segment is to be sent (`>`).
    Outbound(Packet),
    /// An ICMP message arrives.
    Icmp(Icmp),
    /// The application calls the system.
    Call(Call),
    /// A shell command.
    Shell(String),
    /// Assertions in Python.
    Assert(String),
}

/// The ECN field of the IP header, as scripts name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `[noecn]`
    NotEct,
    /// `[ect0]`
    Ect0,
    /// `[ect1]`
    Ect1,
    /// `[ce]`
    Ce,
}

/// Fields of the IP header, as far as a script says them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpFields {
    /// `[tos 0x04]`
    pub tos: Option<u8>,
    /// `[ttl 64]`
    pub ttl: Option<u8>,
}

/// A segment as a script writes it: sequence numbers relative to the initial ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packet {
    /// The ECN field; `None`: not said.
    pub mark: Option<Mark>,
    /// Type of service and hop limit of the IP header.
    pub ip: IpFields,
    /// Where it comes from; `None`: as the segment before.
    pub from: Option<Place>,
    /// Where it goes.
    pub to: Option<Place>,
    /// The flags, as on the wire.
    pub flags: u8,
    /// The flag AE, or a number for the three ECN flags: Accurate ECN (RFC 9768), which the engine does not have.
    pub accurate: bool,
    /// First sequence number.
    pub seq: u32,
    /// Octets of payload.
    pub len: u32,
    /// Acknowledgement number.
    pub ack: Option<u32>,
    /// Window field.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: Option<u16>,
    /// Options in order; `None`: any (`<...>`).
    pub options: Option<Vec<Opt>>,
}

/// An ICMP message about a segment of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icmp {
    /// The peer's end and ours of the connection that it is about, if they are given.
    pub from: Option<Place>,
    /// See `from`.
    pub to: Option<Place>,
    /// Its type: `unreachable`.
    pub kind: String,
    /// Its code, such as `frag_needed`; empty if not given.
    pub code: String,
    /// The next hop's MTU, in `frag_needed`.
    pub mtu: Option<u32>,
    /// First sequence number and length of the segment that it quotes.
    pub about: Option<(u32, u32)>,
}

/// A system call with its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Expr>,
    /// What it is to return; `None`: not said (`?`).
    pub result: Option<Expr>,
    /// The name of the error that it is to give.
    pub errno: Option<String>,
}

/// An argument or a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `...`: whatever fits.
    Any,
    /// A number.
    Int(i64),
    /// A constant, or several joined by `|`.
    Names(Vec<String>),
    /// A string.
    Text(String),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{a, b=c}`
    Struct(Vec<(Option<String>, Expr)>),
    /// `htons(80)`
    Call(String, Vec<Expr>),
}
