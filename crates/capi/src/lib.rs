//! C interface to the engine: `include/anabranch.h`.
//!
//! A host is an [`Endpoint`](anabranch_stack::host::Endpoint). All functions poll; none calls back.
//! Every function returns a code and leaves the error's text with [`status::anabranch_last_error`].
//! A panic of the engine is caught: from then on the host answers every call with
//! [`status::ANABRANCH_PANIC`].
//!
//! `unsafe` stands only where a pointer of the caller is read or written; the comment above each
//! block says on what it relies. What callers owe is written in the heading of the header.
#![allow(unsafe_code, reason = "pointers of a C program are read and written")]
#![allow(non_camel_case_types, reason = "the types have the names that C programs use")]
#![allow(clippy::missing_safety_doc, reason = "the heading of the header states what callers owe, for all functions")]

pub mod address;
pub mod algorithms;
pub mod config;
pub mod events;
pub mod host;
pub mod info;
mod managed;
pub mod messages;
pub mod opening;
pub mod packets;
pub mod paths;
pub mod status;
pub mod stream;
