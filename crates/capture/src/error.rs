//! Why a capture cannot be analysed: one sentence each, with the file, what is wrong with it, and what helps.

use std::fmt;

use anabranch_pcap::encapsulation::Told;

use super::Only;

/// Why a capture cannot be analysed.
#[derive(Debug)]
pub enum Error {
    /// No file was named.
    NoFiles,
    /// A file cannot be read.
    File(anabranch_pcap::Error),
    /// Frames of the file's link type cannot be parsed.
    LinkType {
        /// The file.
        file: String,
        /// The number of the link type.
        link: u32,
    },
    /// There is no connection to measure.
    Nothing {
        /// The files.
        files: Vec<String>,
        /// What was asked for.
        only: Option<Only>,
        /// Packets read.
        packets: u64,
        /// Packets with a TCP segment.
        tcp: u64,
        /// What could not be opened.
        told: Box<Told>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFiles => write!(f, "no capture is named; name one or more pcap or pcapng files"),
            Self::File(error) => error.fmt(f),
            Self::LinkType { file, link } => write!(
                f,
                "{file}: unknown link type {link}; Ethernet (1), Linux cooked (113, 276), raw IP (101), PPP (9), \
                 loopback (0), 802.11 (105, 127) and others in docs/captures.md can be read"
            ),
            Self::Nothing { files, only, packets, tcp, told } => {
                let files = files.join(", ");
                let what = match only {
                    None => "no connection of TCP or MPTCP",
                    Some(Only::Mptcp) => "no MPTCP connection",
                    Some(Only::Tcp) => "no plain TCP connection",
                };
                write!(f, "{files}: {what} inside: {}, {tcp} of them TCP", count(*packets, "packet"))?;
                for (name, packets) in &told.closed {
                    write!(f, "; {}, which cannot be read", packets_of(*packets, name))?;
                }
                if told.cut > 0 {
                    write!(f, "; {} cut within the headers", count(told.cut, "packet"))?;
                }
                if told.incomplete > 0 {
                    write!(f, "; {} of incomplete packets", count(told.incomplete, "IP fragment"))?;
                }
                match only {
                    Some(Only::Mptcp) if *tcp > 0 => write!(f, "; without --protocol, plain TCP is measured, too"),
                    Some(Only::Tcp) if *tcp > 0 => write!(f, "; without --protocol, MPTCP is measured, too"),
                    _ => Ok(()),
                }
            }
        }
    }
}

/// "1 packet", "2 packets".
fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// "812 packets of GRE".
fn packets_of(n: u64, name: &str) -> String {
    format!("{} of {name}", count(n, "packet"))
}

impl std::error::Error for Error {}

impl From<anabranch_pcap::Error> for Error {
    fn from(error: anabranch_pcap::Error) -> Self {
        Self::File(error)
    }
}
