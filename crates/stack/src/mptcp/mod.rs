//! Multipath TCP v1 (RFC 8684): the data stream over several subflows.

mod addresses;
mod ahead;
mod charge;
mod composing;
pub mod connection;
mod distribution;
pub mod dss;
mod fallback;
mod fast_path;
mod handshake;
pub mod keys;
mod liveness;
mod negotiation;
mod outgoing;
#[cfg(test)]
mod parts;
mod paths;
mod pieces;
mod receiving;
mod recv_stream;
mod reinject;
mod retransmission;
mod send_stream;
mod skb;
mod spent;
mod streams;
mod template;
mod timers;
mod tuning;
mod verify;
