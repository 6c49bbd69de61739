//! Why a capture file cannot be read: one sentence each, with the file, what is wrong with it, and
//! what helps.

use std::fmt;

/// Why a capture file cannot be read.
#[derive(Debug)]
pub enum Error {
    /// The file cannot be opened or read.
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// The file is empty.
    Empty {
        /// The file.
        file: String,
    },
    /// The file is not a capture.
    NotACapture {
        /// The file.
        file: String,
        /// What it looks like.
        looks_like: &'static str,
    },
    /// The file is damaged before its first record.
    Damaged {
        /// The file.
        file: String,
        /// At which octet.
        at: u64,
        /// What is wrong there.
        what: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, error } => {
                write!(f, "{file}: cannot be read: {}", error.to_string().to_lowercase())
            }
            Self::Empty { file } => write!(f, "{file}: the file is empty; a capture has at least a file header"),
            Self::NotACapture { file, looks_like } => {
                write!(f, "{file}: not a pcap or pcapng file{looks_like}; `tcpdump -w FILE` writes such files")
            }
            Self::Damaged { file, at, what } => {
                write!(f, "{file}: damaged at octet {at}: {what}; nothing could be read")
            }
        }
    }
}

impl std::error::Error for Error {}
