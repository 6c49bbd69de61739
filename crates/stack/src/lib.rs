//! A TCP and Multipath TCP v1 (RFC 8684) protocol engine, sans IO.
//!
//! A [`Connection`] is one endpoint: one data stream in each direction, over one subflow (plain TCP, RFC 9293) or over
//! several. It has no clock, no sockets, no threads, no randomness and no `unsafe`. Whoever uses it, the *driver*, hands in
//! segments, moments and what the application does. It takes out segments to send, the next deadline and events. The driver may
//! be a simulator in virtual time, a user-space stack over real sockets, or a fuzzer.
//!
//! # The contract
//!
//! | direction | call | |
//! |---|---|---|
//! | in | [`Connection::connect`], [`Connection::accept`] | a client; a server that answers a SYN |
//! | in | [`Connection::handle_segment`] | a segment arrived on a subflow |
//! | in | [`Connection::handle_timeout`] | the deadline has come |
//! | in | [`write`], [`read`], [`shutdown_write`], [`close`], [`abort`] | the application |
//! | in | [`Connection::set`] | the application, at run time: a [`Setting`] |
//! | in | [`open_subflow`], [`accept_join`], [`advertise`], [`withdraw`], [`set_backup`] | the path manager |
//! | out | [`Connection::poll_transmit`] | the next segment to send, and on which subflow |
//! | out | [`Connection::poll_timeout`] | when `handle_timeout` is to be called |
//! | out | [`Connection::poll_event`] | what has happened |
//!
//! [`write`]: Connection::write
//! [`read`]: Connection::read
//! [`shutdown_write`]: Connection::shutdown_write
//! [`close`]: Connection::close
//! [`abort`]: Connection::abort
//! [`open_subflow`]: Connection::open_subflow
//! [`accept_join`]: Connection::accept_join
//! [`advertise`]: Connection::advertise
//! [`withdraw`]: Connection::withdraw
//! [`set_backup`]: Connection::set_backup
//!
//! After *every* input, in this order:
//!
//! 1. Call `poll_transmit(now)` until it gives `None`, and send what it gives. Each call takes one segment out; the engine
//!    takes it for sent.
//! 2. Call `poll_event` until it gives `None`. The events of an input are there when the call returns; `poll_transmit` may add
//!    some. Whatever the driver does in answer (reading, writing, opening a subflow) is an input again.
//! 3. Call `poll_timeout` and set one timer. It replaces the one before; `None` takes it away. A deadline may have passed
//!    already: then `handle_timeout` is due at once. Whatever is due does something, so the deadline after it is later or gone.
//!
//! A driver in a hurry may take shorter ways to the same: [`Connection::poll_outgoing`] copies no segment, [`Connection::handle_predicted`] says
//! of the usual segments at once what they did, [`Connection::poll_earlier_timeout`] looks for deadlines only where one may be earlier
//! than a known one.
//!
//! **Time** comes from the caller: an [`Instant`] counts nanoseconds from an origin the driver chooses. It must not go back
//! from one call to the next. It may stand still, and calls may come late: what was due earlier is then done at the time of the
//! call.
//!
//! **Payload** does not pass through. A segment's payload is a range of the sender's stream ([`segment::Payload`]): `write(n)`
//! says that the stream has become n octets longer, and `read` says how many octets more are in order. The driver keeps the
//! octets and copies them at the edge, where [`wire`] makes packets of segments and segments of packets.
//!
//! **Subflows** are numbered in order of opening ([`event::SubflowId`]). The driver keeps the 4-tuple of each, finds the
//! connection and the subflow that a packet is for, and hands a SYN with MP_JOIN to the connection whose
//! [`token`](Connection::token) it carries. For a packet that is for nobody there are the answers
//! [`reset_for`](mptcp::connection::reset_for) and [`refusal`](mptcp::connection::refusal). [`host::Endpoint`] does all of that
//! and keeps the octets, too: a program that writes and reads octets over addresses begins there.
//!
//! **Events** are the only source of traces and measurements; [`Event`] lists them with what each means. A driver must look at
//! [`Event::SubflowEnded`], since the number may be given again, and at [`Event::Closed`] and [`Event::Aborted`], one of which
//! says that the connection is over. (After `abort` and `fast_close` none does: the application knows.) All others it may
//! ignore. [`Connection::info`] has the state in figures, for inspection. A connection that is over may still have a last segment to answer, in TIME-WAIT for example. It can be dropped when
//! `poll_timeout` gives `None`.
//!
//! **Determinism:** equal calls give equal answers, on every platform. Keys, tokens and initial sequence numbers come from the
//! secret in [`Entropy`] alone. Congestion windows are `f64`, worked on with `+`, `-`, `*`, `/` and comparisons only, which
//! IEEE 754 rounds alike everywhere.
//!
//! **What never happens:** no segment, whatever is in it, makes a connection panic or talk without end, and [`wire`] does not
//! panic on any octets. Fuzzing with forged, damaged and repeated segments tests both. What does panic is a wrong driver: a
//! subflow number that the connection has not given, and in debug builds writing after `shutdown_write`.
//!
//! Not promised: memory. A connection holds what is in flight and what waits for its turn, so its containers grow with the
//! windows, and it allocates when they do.
//!
//! # A connection from beginning to end
//!
//! A client sends 100 kB to a server over one path of 10 ms each way. The loop is a whole driver for one subflow.
//!
//! ```
//! use std::collections::VecDeque;
//!
//! use anabranch_stack::{Config, Connection, Duration, Entropy, Event, Instant, Linger, Segment};
//!
//! let delay = Duration::from_millis(10);
//! let mut now = Instant::ZERO;
//! let mut client = Connection::connect(Config::default(), Entropy::new([1; 32]));
//! let mut server: Option<Connection> = None;
//! let (mut unwritten, mut read, mut over) = (100_000, 0, 0);
//! // The path: when a segment arrives, whether at the server, and the segment.
//! let mut path: VecDeque<(Instant, bool, Segment)> = VecDeque::new();
//!
//! loop {
//!     // The application of the client writes what there is room for; after its last octet it ends the stream.
//!     if unwritten > 0 {
//!         unwritten -= client.write(unwritten);
//!         if unwritten == 0 {
//!             client.shutdown_write();
//!         }
//!     }
//!     for (to_server, end) in [(true, Some(&mut client)), (false, server.as_mut())] {
//!         let Some(end) = end else { continue };
//!         loop {
//!             while let Some(transmit) = end.poll_transmit(now) {
//!                 path.push_back((now + delay, to_server, transmit.segment));
//!             }
//!             match end.poll_event() {
//!                 Some(Event::Readable) => read += end.read(u64::MAX),
//!                 Some(Event::EndOfStream) => end.close(Linger::Deliver),
//!                 Some(Event::Closed) => over += 1,
//!                 Some(Event::Aborted(reason)) => panic!("{reason}"),
//!                 Some(_) => {}
//!                 None => break,
//!             }
//!         }
//!     }
//!     // Time goes on to the next arrival or to the next deadline, whichever is first.
//!     let deadlines = [client.poll_timeout(), server.as_ref().and_then(Connection::poll_timeout)];
//!     let deadline = deadlines.into_iter().flatten().min();
//!     if path.is_empty() && deadline.is_none() {
//!         break; // TIME-WAIT is over, too: both may be dropped
//!     }
//!     match path.front().map(|first| first.0) {
//!         Some(arrival) if deadline.is_none_or(|at| arrival <= at) => {
//!             let (at, to_server, segment) = path.pop_front().unwrap();
//!             now = at;
//!             match (to_server, &mut server) {
//!                 (true, Some(server)) => server.handle_segment(now, 0, &segment),
//!                 (true, None) => {
//!                     server = Some(Connection::accept(Config::default(), Entropy::new([2; 32]), &segment));
//!                 }
//!                 (false, _) => client.handle_segment(now, 0, &segment),
//!             }
//!         }
//!         _ => {
//!             now = deadline.expect("something is always under way or due");
//!             for (end, at) in [Some(&mut client), server.as_mut()].into_iter().flatten().zip(deadlines) {
//!                 if at.is_some_and(|at| at <= now) {
//!                     end.handle_timeout(now);
//!                 }
//!             }
//!         }
//!     }
//! }
//! assert_eq!((read, over), (100_000, 2));
//! assert!(client.is_multipath());
//! ```
//!
//! # Configuration
//!
//! [`Config`] has a field for each thing an endpoint may be told; [`Config::default`] is what most want. Setters
//! change fields, and [`Config::checked`] refuses what does not fit together. Five fields choose an algorithm: the congestion controller; the
//! detector of losses; the reduction (how the window comes down in fast recovery); the judge of loss episodes, which says
//! afterwards whether a retransmission was needed; and the scheduler, which says which subflow carries the next data.
//!
//! ```
//! use anabranch_stack::Config;
//!
//! let config = Config::default().controller("cubic".parse()?).scheduler("round-robin".parse()?).mss(1200).checked()?;
//! assert!(config.mptcp);
//! # Ok::<(), anabranch_stack::ConfigError>(())
//! ```
//!
//! # An algorithm of your own
//!
//! The registries are open. Implement [`Controller`](controller::Controller), [`Detector`](detector::Detector),
//! [`Reduction`](reduction::Reduction), [`Judge`](judge::Judge) or [`Scheduler`](scheduler::Scheduler), and a
//! [`Factory`](registry::Factory) that says what it is and makes instances. A [`Choice`](registry::Choice) of the factory goes
//! into a configuration; a [`Registry`](registry::Registry) with it finds it by name and gives it parameters. [`testing`] tries
//! what must hold for any algorithm of its kind.
//!
//! ```
//! use anabranch_stack::registry::{Choice, Factory, Info, Parameter, Registry, Setup, Unit, Values};
//! use anabranch_stack::scheduler::{Assignment, Decision, Offer, Path, Scheduler};
//! use anabranch_stack::{Config, testing};
//!
//! /// Prefers the subflow that may send with the most room in its window, less a price for its round-trip time.
//! #[derive(Debug)]
//! struct MostRoom {
//!     octets_a_second: f64,
//! }
//!
//! impl Scheduler for MostRoom {
//!     fn pick(&mut self, offer: &Offer<'_>) -> Decision {
//!         let worth = |p: &Path| p.cwnd - p.in_flight as f64 - p.srtt.as_secs_f64() * self.octets_a_second;
//!         let able = offer.paths.iter().enumerate().filter(|(_, p)| p.can_send);
//!         let best = able.max_by(|(_, a), (_, b)| worth(a).total_cmp(&worth(b)));
//!         best.map_or(Decision::Wait(None), |(i, _)| Decision::Send(i))
//!     }
//!
//!     fn on_sent(&mut self, _assignment: &Assignment) {}
//! }
//!
//! #[derive(Debug)]
//! struct MostRoomFactory;
//!
//! static PRICE: [Parameter; 1] =
//!     [Parameter::new("price", Unit::Number, 1e6, (0.0, 1e9), "octets of room that a second of round-trip time costs")];
//! static MOST_ROOM: Info = Info::new("most-room", "the subflow with the most room in its window").parameters(&PRICE);
//!
//! impl Factory<dyn Scheduler> for MostRoomFactory {
//!     fn info(&self) -> &Info {
//!         &MOST_ROOM
//!     }
//!
//!     fn make(&self, _setup: &Setup, values: &Values) -> Box<dyn Scheduler> {
//!         Box::new(MostRoom { octets_a_second: values.get("price") })
//!     }
//! }
//!
//! // What must hold for any scheduler, holds.
//! testing::scheduler(&Choice::new(MostRoomFactory));
//!
//! // Found by name among those of this crate, with another price, in a configuration.
//! let known = Registry::<dyn Scheduler>::default().with(MostRoomFactory)?;
//! let config = Config::default().scheduler(known.find("most-room")?.with("price", 2e6)?).checked()?;
//! assert_eq!(format!("{:?}", config.scheduler), "most-room price=2000000");
//! # Ok::<(), anabranch_stack::ConfigError>(())
//! ```
//!
//! # What is where
//!
//! - [`Connection`], [`Config`], [`Event`]: what most drivers need
//! - [`segment`], [`time`]: what segments and moments are
//! - [`host`]: many connections behind addresses, with octets
//! - [`controller`], [`detector`], [`reduction`], [`judge`], [`scheduler`]: the five kinds of algorithms; [`path`], [`sample`]:
//!   what they see; [`registry`], [`testing`]: how others bring their own
//! - [`wire`]: octets, at the edges (captures, live links, fuzzing)
//! - [`mptcp`], [`tcp`]: what a connection is made of. Public is what the analysis of captures shares with it: how a receiver
//!   puts data in order, how keys and tokens are derived
//! - [`seq`], [`ranges`], [`hold`]: sequence numbers that do not wrap, and the two containers all of that is built on
#![forbid(unsafe_code)]
#![deny(rustdoc::broken_intra_doc_links)]

pub mod config;
pub mod controller;
pub mod detector;
pub mod event;
pub mod hold;
pub mod host;
pub mod judge;
pub mod mptcp;
pub mod path;
pub mod ranges;
pub mod reduction;
pub mod registry;
pub mod sample;
pub mod scheduler;
pub mod scoreboard;
pub mod segment;
pub mod seq;
#[doc(hidden)]
pub mod shortcut;
pub mod tcp;
pub mod testing;
pub mod time;
pub mod wire;

pub use config::{Config, ConfigError};
pub use event::Event;
pub use mptcp::connection::{Connection, IcmpError, Inbound, Linger, Outbound, Outgoing, Predicted, Setting, Transmit};
pub use mptcp::keys::Entropy;
pub use segment::Segment;
pub use time::{Duration, Instant};
