//! The two file formats, read record by record: classic pcap (both byte orders, microseconds, nanoseconds, and the variant
//! with longer record headers) and pcapng (sections of either byte order, several interfaces each with its own link type
//! and clock, the three kinds of packet blocks).
//!
//! Sources: IETF drafts draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. A record is parsed in the read buffer; nothing is
//! copied. If the file ends within a record, or a record is malformed, reading ends before that record, and [`Reader::cut`]
//! says why.
//!
//! Files compressed with gzip are decompressed as they are read. Not read: encrypted files and those compressed otherwise.
//! Skipped: blocks of name resolution and statistics, and custom blocks.

use super::clock::Clocks;
use super::error::Error;
use super::source::Source;

/// The largest record that counts as well-formed, in octets; Wireshark's limit is of the same order.
const LARGEST: usize = 1 << 26;

/// The header of a record; its octets are [`Reader::data`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Head {
    /// Nanoseconds since the epoch, by a clock that does not step back ([`Clocks`]).
    pub time: u64,
    /// Number of the interface in the file, over all sections.
    pub interface: u32,
    /// Its link type.
    pub link: u32,
    /// Octets of the packet on the wire; the record may hold fewer.
    pub sent: u32,
}

/// An interface of a pcapng section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    number: u32,
    link: u32,
    snap: u32,
    clock: Clock,
}

/// How timestamps become nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Nanoseconds a tick, if that is a whole number.
    tick: u64,
    per_second: u64,
    offset: i64,
}

impl Clock {
    /// `if_tsresol`: ticks a second as a power of ten, or of two if the highest bit is set.
    fn new(resolution: u8, offset: i64) -> Self {
        let exponent = u32::from(resolution & 0x7f);
        let per_second = match resolution & 0x80 {
            0 => 10_u64.checked_pow(exponent),
            _ => 1_u64.checked_shl(exponent),
        };
        let per_second = per_second.filter(|p| *p > 0).unwrap_or(1_000_000);
        let tick = if 1_000_000_000 % per_second == 0 { 1_000_000_000 / per_second } else { 0 };
        Self { tick, per_second, offset }
    }

    fn nanoseconds(&self, ticks: u64) -> u64 {
        let ns = match self.tick {
            0 => (u128::from(ticks) * 1_000_000_000 / u128::from(self.per_second)) as u64,
            tick => ticks.wrapping_mul(tick),
        };
        ns.saturating_add_signed(self.offset.saturating_mul(1_000_000_000))
    }
}

#[derive(Debug)]
enum Format {
    Pcap { link: u32, tick: u64, extra: usize },
    Pcapng { interfaces: Vec<Interface>, before: u32 },
}

/// A capture file, record by record.
#[derive(Debug)]
pub struct Reader {
    /// Its name, for messages.
    pub name: String,
    source: Source,
    format: Format,
    big: bool,
    head: Head,
    /// Where the record's octets are in the read buffer, and the length of the whole record.
    data: (usize, usize),
    whole: usize,
    /// Names of the interfaces; empty for those without a name.
    pub interfaces: Vec<String>,
    /// The clocks of its interfaces, and how often they stepped back.
    pub clocks: Clocks,
    /// If the file was not read to its end: at which octet, and why.
    pub cut: Option<(u64, &'static str)>,
}

fn u16_at(octets: &[u8], at: usize, big: bool) -> u16 {
    let word = octets.get(at..at + 2).map_or([0; 2], |w| [w[0], w[1]]);
    if big { u16::from_be_bytes(word) } else { u16::from_le_bytes(word) }
}

#[inline]
fn u32_at(octets: &[u8], at: usize, big: bool) -> u32 {
    let word = octets.get(at..).and_then(|o| o.first_chunk::<4>()).copied().unwrap_or_default();
    if big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
}

/// How a file packed with gzip begins (RFC 1952 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

impl Reader {
    /// Reads the beginning of a file, which tells its format.
    ///
    /// # Errors
    /// If it cannot be read, is empty or no capture.
    pub fn open(name: &str, mut source: Source) -> Result<Self, Error> {
        let file = || name.to_string();
        let unreadable = |error| Error::Unreadable { file: name.to_string(), error };
        if !source.has(1).map_err(unreadable)? {
            return Err(Error::Empty { file: file() });
        }
        source.has(24).map_err(unreadable)?;
        if source.peek().starts_with(&GZIP) {
            source = source.unpacked();
            if !source.has(24).map_err(unreadable)? && source.is_damaged() {
                return Err(Error::Damaged { file: file(), at: 0, what: "its gzip data are damaged" });
            }
        }
        let start = source.peek();
        let (first, format, big) = (start.len(), u32_at(start, 0, true), true);
        // Two formats of time, each in two byte orders; one variant has eight octets more in each record's header.
        let (format, big) = match format {
            _ if first < 4 => (None, big),
            0xa1b2_c3d4 => (Some((1_000, 0)), true),
            0xd4c3_b2a1 => (Some((1_000, 0)), false),
            0xa1b2_3c4d => (Some((1, 0)), true),
            0x4d3c_b2a1 => (Some((1, 0)), false),
            0xa1b2_cd34 => (Some((1_000, 8)), true),
            0x34cd_b2a1 => (Some((1_000, 8)), false),
            SECTION => {
                return Ok(Self::of(name, source, Format::Pcapng { interfaces: Vec::new(), before: 0 }, false));
            }
            _ => (None, big),
        };
        let Some((tick, extra)) = format else {
            return Err(Error::NotACapture { file: file(), looks_like: looks_like(start) });
        };
        if first < 24 {
            return Err(Error::Damaged { file: file(), at: 0, what: "it ends within the file header" });
        }
        // The upper four bits tell of frame check sequences after the frames, which can be ignored.
        let link = u32_at(start, 20, big) & 0x0fff_ffff;
        source.consume(24);
        let mut reader = Self::of(name, source, Format::Pcap { link, tick, extra }, big);
        reader.interfaces.push(String::new());
        Ok(reader)
    }

    fn of(name: &str, source: Source, format: Format, big: bool) -> Self {
        Self {
            name: name.to_string(),
            source,
            format,
            big,
            head: Head::default(),
            data: (0, 0),
            whole: 0,
            interfaces: Vec::new(),
            clocks: Clocks::default(),
            cut: None,
        }
    }

    /// The record of the last [`Reader::advance`].
    #[inline]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The octets of the record of the last [`Reader::advance`].
    #[inline]
    pub fn data(&self) -> &[u8] {
        &self.source.peek()[self.data.0..self.data.1]
    }

    /// Octets of the file read so far.
    pub fn read(&self) -> u64 {
        self.source.read()
    }

    fn stop(&mut self, what: &'static str) -> bool {
        self.cut = Some((self.source.position(), what));
        (self.data, self.whole) = ((0, 0), 0);
        false
    }

    /// Goes to the next record; false at the end of the file or where it is cut.
    ///
    /// # Errors
    /// If reading the file fails.
    pub fn advance(&mut self) -> Result<bool, Error> {
        self.source.consume(self.whole);
        self.whole = 0;
        let done = match self.format {
            Format::Pcap { link, tick, extra } => self.next_record(link, tick, extra),
            Format::Pcapng { .. } => self.next_block(),
        };
        let there = done.map_err(|error| Error::Unreadable { file: self.name.clone(), error })?;
        if !there && self.source.is_damaged() {
            self.stop("its compressed data are damaged from here on");
        }
        if there {
            self.head.time = self.clocks.steady(self.head.interface, self.head.time);
        }
        Ok(there)
    }

    #[inline]
    fn next_record(&mut self, link: u32, tick: u64, extra: usize) -> std::io::Result<bool> {
        let header = 16 + extra;
        if !self.source.has(header)? {
            return Ok(if self.source.peek().is_empty() { false } else { self.stop("it ends within a record") });
        }
        let octets = self.source.peek();
        let [seconds, fraction, here, sent] = [0, 4, 8, 12].map(|at| u32_at(octets, at, self.big));
        if here as usize > LARGEST {
            return Ok(self.stop("a record has an impossible length"));
        }
        let whole = header + here as usize;
        if !self.source.has(whole)? {
            return Ok(self.stop("it ends within a record"));
        }
        let time = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * tick;
        self.head = Head { time, interface: 0, link, sent };
        (self.data, self.whole) = ((header, whole), whole);
        Ok(true)
    }

    fn next_block(&mut self) -> std::io::Result<bool> {
        loop {
            if !self.source.has(12)? {
                return Ok(if self.source.peek().is_empty() { false } else { self.stop("it ends within a block") });
            }
            let octets = self.source.peek();
            let mut kind = u32_at(octets, 0, self.big);
            if kind == SECTION {
                // A section says in which byte order it is.
                self.big = match u32_at(octets, 8, true) {
                    0x1a2b_3c4d => true,
                    0x4d3c_2b1a => false,
                    _ => return Ok(self.stop("a section has no valid byte-order magic")),
                };
                kind = SECTION;
            }
            let len = u32_at(octets, 4, self.big) as usize;
            if len < 12 || len % 4 != 0 {
                return Ok(self.stop("a block has an impossible length"));
            }
            let known = matches!(kind, SECTION | INTERFACE | OLD_PACKET | SIMPLE_PACKET | ENHANCED_PACKET);
            if !known {
                if !self.source.skip(len as u64)? {
                    return Ok(self.stop("it ends within a block"));
                }
                continue;
            }
            if len > LARGEST {
                return Ok(self.stop("a block has an impossible length"));
            }
            if !self.source.has(len)? {
                return Ok(self.stop("it ends within a block"));
            }
            match kind {
                SECTION => {
                    let Format::Pcapng { interfaces, before } = &mut self.format else { unreachable!("a block") };
                    *before += interfaces.len() as u32;
                    interfaces.clear();
                    self.source.consume(len);
                }
                INTERFACE => {
                    self.add_interface(len);
                    self.source.consume(len);
                }
                _ => match self.packet(kind, len) {
                    Some(()) => return Ok(true),
                    None => return Ok(self.stop("a packet block has a wrong length or an unknown interface")),
                },
            }
        }
    }

    fn add_interface(&mut self, len: usize) {
        let octets = &self.source.peek()[..len];
        let big = self.big;
        let (mut resolution, mut offset, mut name) = (6, 0_i64, String::new());
        let mut at = 16;
        while at + 4 <= len - 4 {
            let (code, n) = (u16_at(octets, at, big), usize::from(u16_at(octets, at + 2, big)));
            let Some(value) = octets.get(at + 4..at + 4 + n) else { break };
            match (code, n) {
                (0, _) => break,
                (2, _) => name = String::from_utf8_lossy(value).trim_end_matches('\0').to_string(),
                (9, 1) => resolution = value[0],
                (14, 8) => {
                    let (a, b) = (u64::from(u32_at(value, 0, big)), u64::from(u32_at(value, 4, big)));
                    offset = if big { a << 32 | b } else { b << 32 | a } as i64;
                }
                _ => {}
            }
            at += 4 + n.next_multiple_of(4);
        }
        let link = u32::from(u16_at(octets, 8, big));
        let snap = u32_at(octets, 12, big);
        let Format::Pcapng { interfaces, before } = &mut self.format else { unreachable!("a block") };
        let number = *before + interfaces.len() as u32;
        interfaces.push(Interface { number, link, snap, clock: Clock::new(resolution, offset) });
        self.interfaces.push(name);
    }

    /// Parses a packet block; `None` if it is malformed.
    #[inline]
    fn packet(&mut self, kind: u32, len: usize) -> Option<()> {
        let octets = &self.source.peek()[..len];
        let big = self.big;
        let Format::Pcapng { interfaces, .. } = &self.format else { unreachable!("a block") };
        let ticks = || u64::from(u32_at(octets, 12, big)) << 32 | u64::from(u32_at(octets, 16, big));
        let (interface, ticks, here, sent, from) = match kind {
            ENHANCED_PACKET if len >= 32 => {
                (u32_at(octets, 8, big), Some(ticks()), u32_at(octets, 20, big), u32_at(octets, 24, big), 28)
            }
            OLD_PACKET if len >= 32 => {
                let interface = u32::from(u16_at(octets, 8, big));
                (interface, Some(ticks()), u32_at(octets, 20, big), u32_at(octets, 24, big), 28)
            }
            SIMPLE_PACKET if len >= 16 => {
                let sent = u32_at(octets, 8, big);
                let snap = interfaces.first().map_or(0, |i| i.snap);
                let here = sent.min(if snap == 0 { u32::MAX } else { snap });
                (0, None, here.min(len as u32 - 16), sent, 12)
            }
            _ => return None,
        };
        let interface = interfaces.get(interface as usize)?;
        let to = from + here as usize;
        if to > len - 4 {
            return None;
        }
        // A simple packet block has no time: it gets that of the record before.
        let time = ticks.map_or(self.head.time, |t| interface.clock.nanoseconds(t));
        self.head = Head { time, interface: interface.number, link: interface.link, sent };
        (self.data, self.whole) = ((from, to), len);
        Some(())
    }
}

fn looks_like(start: &[u8]) -> &'static str {
    match start {
        [0x1f, 0x8b, ..] => " but a file compressed with gzip twice: unpack it first",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => " but a file compressed with zstd: unpack it first",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => " but a file compressed with xz: unpack it first",
        [b's', b'n', b'o', b'o', b'p', ..] => " but a snoop file: convert it with `editcap -F pcapng`",
        _ => "",
    }
}
