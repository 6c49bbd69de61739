//! A host: many connections behind addresses, and octets in their buffers.
//!
//! The engine's [`Connection`](crate::Connection) knows neither addresses nor octets. This module adds what a program needs
//! besides, still without I/O: the caller passes in segments or packets, the time, and the application's requests.
//!
//! - [`listen`]: segments whose 4-tuple is unknown: a new connection, a join by its token (RFC 8684 3.2), or a reset (RFC 9293
//!   3.10.7.1)
//! - [`table`]: the connection and subflow of each 4-tuple
//! - [`octets`]: send and receive buffers; segments refer to their octets by offset
//! - [`endpoint`]: all of these together. [`Octets`] or [`ByReference`] says who keeps the octets
//! - [`path_manager`]: which addresses a connection advertises, and which subflows it opens
//!
//! `listen` and `table` work with any kind of address. The simulator uses them too; its addresses are numbers and its payloads are
//! references.
//!
//! Example: two endpoints, a connection and a few octets, over a wire that consists of two queues:
//!
//! ```
//! use anabranch_stack::host::{Addresses, Endpoint};
//! use anabranch_stack::{Config, time::Instant};
//!
//! let addresses = Addresses { local: "10.0.0.1:49152".parse()?, remote: "10.0.0.2:80".parse()? };
//! let (mut client, mut server) = (Endpoint::new([1; 32]), Endpoint::new([2; 32]));
//! server.listen(80, Config::default());
//! let id = client.connect(Instant::ZERO, addresses, Config::default())?;
//! assert_eq!(client.write(id, b"what is on the other bank?"), Ok(26));
//!
//! let now = Instant::ZERO; // a wire without delay
//! let mut heard = Vec::new();
//! loop {
//!     let mut quiet = true;
//!     while let Some(t) = client.poll_transmit(now) {
//!         server.handle_packet(now, t.addresses.reversed(), &t.segment, &t.payload);
//!         quiet = false;
//!     }
//!     while let Some(t) = server.poll_transmit(now) {
//!         client.handle_packet(now, t.addresses.reversed(), &t.segment, &t.payload);
//!         quiet = false;
//!     }
//!     while let Some((id, _event)) = server.poll_event() {
//!         let mut octets = [0; 100];
//!         let n = server.read(id, &mut octets)?;
//!         heard.extend_from_slice(&octets[..n]);
//!     }
//!     if quiet {
//!         break;
//!     }
//! }
//! assert_eq!(heard, b"what is on the other bank?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/pipe.rs` uses two paths with delay and loss.

mod addresses;
mod backlog;
mod by_reference;
mod conversation;
mod cookies;
pub mod endpoint;
mod error;
mod fast_open;
mod identity;
mod keep;
pub mod listen;
mod messages;
pub mod octets;
pub mod path_manager;
mod reference;
mod reopening;
pub mod table;
mod unpredictable;
mod with_octets;

pub use endpoint::Endpoint;
pub use error::{AdvertiseError, Gone, InUse, JoinError, WriteError};
pub use identity::{Addresses, ConnectionId};
pub use keep::{ByReference, Keep, Octets};
pub use reference::Reference;
pub use with_octets::Transmit;
