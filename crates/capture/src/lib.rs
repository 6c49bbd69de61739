//! Captures in: anybody's packets, measured with the instruments of a simulated run.
//!
//! The problem: a capture is seen from one place (or two), begins and ends anywhere, cuts packets
//! short, loses some, and mixes connections. This analyzer reads versions 0 (RFC 6824) and 1 (RFC
//! 8684) of Multipath TCP, in one pass, with memory for the connections that are open and nothing
//! else.
//!
//! The modules in the order in which a packet passes them:
//!
//! - [`anabranch_pcap`]: records of the files, through link headers, tunnels and IP fragments, to
//!   the TCP segment and its options
//! - this one: files merged by time; [`deal`]: each packet goes to its subflow, each join to its
//!   connection by the token; [`quiet`]: which connections without data are kept; [`version0`]:
//!   what MPTCP version 0 does otherwise
//! - [`subflow`]: its two ends; [`place`], [`taps`]: where it was captured; [`connection`]: both
//!   data streams; [`handshake`]: keys and signals
//! - [`sender`]: retransmissions, round-trip times; [`mapping`]: places in the data stream, DSS
//!   checksums
//! - [`order`], [`stream`]: reassembly at the receiver, by arrivals seen or estimated;
//!   [`crossing`]: between two places
//! - [`waiting`]: what each subflow waits for, and what its path carries, for who asks
//! - [`sequence`]: data sequence numbers over time; [`report`]: the same fields as a run's summary;
//!   [`shelf`]: of which connections
//! - [`mod@qlog`]: every segment as an event
//! - [`error`]: what cannot be analysed, in one sentence each
//!
//! TCP is measured as a connection of one subflow. Left out, and counted: what cannot be opened,
//! and fragments of incomplete packets.
#![forbid(unsafe_code)]
// Whoever reads these pages has the source beside them: links may lead to what is private.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(rustdoc::broken_intra_doc_links)]

mod connection;
mod crossing;
mod deal;
mod error;
mod handshake;
mod mapping;
mod order;
mod place;
pub mod qlog;
mod quiet;
mod report;
mod sender;
mod sequence;
mod shelf;
mod stream;
mod subflow;
mod taps;
mod version0;
mod waiting;

use std::fs::File;
use std::ops::ControlFlow;

use anabranch_pcap::Error as FileError;
use anabranch_pcap::container::Reader;
use anabranch_pcap::source::Source;

use deal::Analysis;
pub use error::Error;
pub use report::Capture;
pub use sequence::{Sort, Span, Window};
pub use shelf::{DETAILED, LISTED, TCP_LISTED};

/// Records between two calls of `poll`.
const POLL: u64 = 1 << 16;

/// Which connections are measured, if not all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Connections of MPTCP.
    Mptcp,
    /// Connections that never were anything but TCP.
    Tcp,
}

/// How far an analysis is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Octets read of all files.
    pub octets: u64,
    /// Packets read.
    pub packets: u64,
}

/// Counts of everything that was read, whether it belongs to a connection or not.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Records.
    pub packets: u64,
    /// Records with a TCP segment.
    pub tcp: u64,
    /// Records with a TCP segment that has an MPTCP option.
    pub mptcp: u64,
    /// Records of link types whose frames cannot be parsed.
    pub unknown_link: u64,
    /// 4-tuples on which two files show different connections at once: a proxy between them.
    pub split: u64,
    /// Time of the first record, nanoseconds since the epoch.
    pub first: u64,
    /// Time of the latest record.
    pub last: u64,
}

/// Who is asked whether to go on.
type Poll<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// Who is told on the way what the capture shows so far.
pub struct Follower<'a> {
    /// How often, in nanoseconds of the capture's time.
    pub every: u64,
    /// Who.
    pub tell: &'a mut dyn FnMut(Capture) -> ControlFlow<()>,
}

/// What is read instead of standard input.
pub type Input = Box<dyn std::io::Read + Send>;

/// Analyses `files`, or `only` some of their connections, with what each subflow waited for if `causes`; `poll` is asked now and
/// then whether to go on, `follower` told what there is so far. `-` is standard input, or `input` instead of it.
///
/// # Errors
/// If a file cannot be read, is no capture, or there is no connection to measure in any.
pub fn analyze(
    files: &[String],
    input: Option<Input>,
    only: Option<Only>,
    causes: bool,
    poll: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    follower: Option<Follower<'_>>,
) -> Result<Capture, Error> {
    // What comes through a pipe may come slowly.
    let live = files.iter().any(|file| file == "-");
    analyze_readers(open_files(files, input)?, only, causes, (if live { 1 } else { POLL }, poll), follower)
}

/// `files`, or standard input, opened.
fn open_files(files: &[String], mut input: Option<Input>) -> Result<Vec<Reader>, Error> {
    let mut readers = Vec::new();
    for file in files {
        let unreadable = |error| FileError::Unreadable { file: file.clone(), error };
        let (name, source) = if file == "-" {
            ("<stdin>", Source::new(input.take().unwrap_or_else(|| Box::new(std::io::stdin()))))
        } else {
            let metadata = std::fs::metadata(file).map_err(unreadable)?;
            if metadata.is_dir() {
                return Err(unreadable(std::io::Error::other("it is a directory; name the capture files in it")).into());
            }
            (file.as_str(), Source::new(Box::new(File::open(file).map_err(unreadable)?)))
        };
        readers.push(Reader::open(name, source)?);
    }
    Ok(readers)
}

/// Analyses captures in memory: names and octets.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_octets(captures: &[(&str, &[u8])], only: Option<Only>) -> Result<Capture, Error> {
    let open = |(name, octets): &(&str, &[u8])| {
        Reader::open(name, Source::new(Box::new(std::io::Cursor::new(octets.to_vec()))))
    };
    let readers = captures.iter().map(open).collect::<Result<_, _>>()?;
    analyze_readers(readers, only, true, (POLL, &mut |_| ControlFlow::Continue(())), None)
}

fn analyze_readers(
    mut readers: Vec<Reader>,
    only: Option<Only>,
    causes: bool,
    (often, poll): (u64, Poll<'_>),
    mut follower: Option<Follower<'_>>,
) -> Result<Capture, Error> {
    if readers.is_empty() {
        return Err(Error::NoFiles);
    }
    let mut analysis = Analysis::new(only, causes);
    let mut stopped = false;
    let mut open = Vec::new();
    let mut due = 0;
    for (i, reader) in readers.iter_mut().enumerate() {
        if reader.advance()? {
            open.push(i);
        } else if let Some((at, what)) = reader.cut {
            return Err(FileError::Damaged { file: reader.name.clone(), at, what }.into());
        }
    }
    // The file whose record is earliest; at equal times the first one named.
    while let Some(&i) = open.iter().min_by_key(|i| readers[**i].head().time) {
        let reader = &mut readers[i];
        analysis.on_record(i as u32, reader, |_, _| {});
        if !reader.advance()? {
            open.retain(|o| *o != i);
        }
        if analysis.counts.packets % often == 0 {
            let octets = readers.iter().map(Reader::read).sum();
            stopped = poll(&Progress { octets, packets: analysis.counts.packets }).is_break();
        }
        if let Some(follower) = follower.as_mut().filter(|_| analysis.counts.last >= due) {
            if due > 0 && analysis.has_any() {
                stopped |= (follower.tell)(analysis.clone().finish(&readers, true)).is_break();
            }
            due = analysis.counts.last.saturating_add(follower.every);
        }
        if stopped {
            break;
        }
    }
    let counts = analysis.counts;
    if let (true, Some((file, link))) = (counts.packets == counts.unknown_link, analysis.unknown_link) {
        return Err(Error::LinkType { file: readers[file as usize].name.clone(), link });
    }
    if !analysis.has_any() {
        let files = readers.iter().map(|r| r.name.clone()).collect();
        let Counts { packets, tcp, .. } = counts;
        let told = Box::new(analysis.opener.told());
        return Err(Error::Nothing { files, only, packets, tcp, told });
    }
    Ok(analysis.finish(&readers, stopped))
}
