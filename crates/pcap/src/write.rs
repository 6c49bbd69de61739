//! A capture file, written: pcapng with one interface, raw IP packets, nanoseconds.
//!
//! Source: IETF draft draft-ietf-opsawg-pcapng, sections 4.1 (section header), 4.2 (interface description), 4.3 (enhanced
//! packet). Big-endian throughout. Packets go out as they come; nothing but the block under way is kept.

use std::io::{self, Write};

/// Raw IP, the version in the first octet.
const LINKTYPE_RAW: u16 = 101;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// Options: (code, value).
const COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;

/// Which way a packet went through the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Not known, or without meaning, as on a link.
    Either,
    /// To the host.
    In,
    /// From the host.
    Out,
}

/// Where captures are written to.
pub type Output = Box<dyn Write + Send>;

/// A capture of one interface.
pub struct Writer {
    out: Output,
    block: Vec<u8>,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Writer")
    }
}

impl Writer {
    /// Begins the capture of `interface`. `application` made it; `comment` says what it is.
    ///
    /// # Errors
    /// Of writing.
    pub fn new(out: Output, interface: &str, application: &str, comment: &str) -> io::Result<Self> {
        let mut writer = Self { out, block: Vec::new() };
        writer.begin(SECTION_HEADER);
        writer.block.extend(BYTE_ORDER_MAGIC.to_be_bytes());
        writer.block.extend([0, 1, 0, 0]); // version 1.0
        writer.block.extend([0xff; 8]); // length of the section: not known
        writer.option(COMMENT, comment.as_bytes());
        writer.option(SHB_USERAPPL, application.as_bytes());
        writer.end(true)?;
        writer.begin(INTERFACE_DESCRIPTION);
        writer.block.extend(LINKTYPE_RAW.to_be_bytes());
        writer.block.extend([0; 2]);
        writer.block.extend([0; 4]); // snap length: none
        writer.option(IF_NAME, interface.as_bytes());
        writer.option(IF_TSRESOL, &[9]);
        writer.end(true)?;
        Ok(writer)
    }

    /// Appends a packet, seen at `at` nanoseconds.
    ///
    /// # Errors
    /// Of writing.
    pub fn packet(&mut self, at: u64, way: Way, octets: &[u8]) -> io::Result<()> {
        self.begin(ENHANCED_PACKET);
        self.block.extend([0; 4]); // interface 0
        self.block.extend(at.to_be_bytes()); // upper and lower half
        let len = (octets.len() as u32).to_be_bytes();
        self.block.extend(len); // captured
        self.block.extend(len); // on the wire
        self.block.extend(octets);
        self.pad();
        let flags: u32 = match way {
            Way::Either => 0,
            Way::In => 1,
            Way::Out => 2,
        };
        if flags != 0 {
            self.option(2, &flags.to_be_bytes()); // epb_flags
        }
        self.end(flags != 0)
    }

    /// Hands on what is buffered.
    ///
    /// # Errors
    /// Of writing.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.block.extend(kind.to_be_bytes());
        self.block.extend([0; 4]); // total length, known at the end
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        // Longer ones do not occur: names and a line of comment.
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.block.extend(code.to_be_bytes());
        self.block.extend((value.len() as u16).to_be_bytes());
        self.block.extend(value);
        self.pad();
    }

    fn end(&mut self, options: bool) -> io::Result<()> {
        if options {
            self.block.extend([0; 4]); // opt_endofopt
        }
        let total = (self.block.len() as u32 + 4).to_be_bytes();
        self.block[4..8].copy_from_slice(&total);
        self.block.extend(total);
        self.out.write_all(&self.block)
    }
}
