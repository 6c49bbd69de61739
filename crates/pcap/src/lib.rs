//! Capture files (pcap and pcapng), read and written.
//!
//! The modules in the order in which a record passes them:
//!
//! - [`source`], [`container`]: records of a file, in place; [`clock`]: times that step back
//! - [`encapsulation`]: from the frame of a link, through tunnels and IP fragments, to
//!   the TCP segment
//! - [`packet`]: a TCP segment and its options, read by the views of `stack::wire`
//! - [`mod@write`]: pcapng files of a simulated run
//! - [`Error`]: why a file cannot be read
#![forbid(unsafe_code)]
// Whoever reads these pages has the source beside them: links may lead to what is private.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(rustdoc::broken_intra_doc_links)]

pub mod clock;
pub mod container;
pub mod encapsulation;
mod error;
pub mod packet;
pub mod source;
pub mod write;

pub use error::Error;
