//! Segments and ICMP messages as scripts write them.

use std::fmt;

use anabranch_stack::segment::Flags;

use super::ast::{Icmp, IpFields, Mark, Packet};
use super::cursor::{Cursor, Parsed};
use super::mptcp::option::Place;
use super::mptcp::place;
use super::option;

/// URG (RFC 9293 3.1).
pub const URG: u8 = 0x20;

/// Letters of the flags, in the order in which they are shown. `A` is AE of Accurate ECN, which has no place among these eight.
const LETTERS: [(char, u8); 8] = [
    ('S', Flags::SYN.0),
    ('F', Flags::FIN.0),
    ('R', Flags::RST.0),
    ('P', Flags::PSH.0),
    ('U', URG),
    ('E', Flags::ECE.0),
    ('W', Flags::CWR.0),
    ('.', Flags::ACK.0),
];

const MARKS: [(&str, Mark); 5] =
    [("noecn", Mark::NotEct), ("ect0", Mark::Ect0), ("ect1", Mark::Ect1), ("ect01", Mark::Ect0), ("ce", Mark::Ce)];

/// Reads a segment that `arrives` or is expected; the cursor stands after its direction.
///
/// # Errors
/// If it is not one.
pub fn parse(c: &mut Cursor<'_>, arrives: bool) -> Parsed<Packet> {
    let mut packet = Packet::default();
    while c.eat("[")? {
        ip_field(c, &mut packet)?;
    }
    (packet.from, packet.to) = ends(c)?;
    flags(c, &mut packet)?;
    let from = c.clone();
    packet.seq = c.number("a sequence number")?;
    c.expect(":")?;
    let end: u32 = c.number("a sequence number")?;
    c.expect("(")?;
    packet.len = c.number("a length")?;
    c.expect(")")?;
    if packet.seq.wrapping_add(packet.len) != end {
        let seq = packet.seq;
        return from.fail(format!(
            "{} octets from {seq} on end at {}, not at {end}",
            packet.len,
            seq.wrapping_add(packet.len)
        ));
    }
    if c.eat_word("ack")? {
        packet.ack = Some(c.number("an acknowledgement number")?);
    }
    if c.eat_word("win")? {
        packet.window = Some(c.number("a window field (16 bits)")?);
    }
    if c.eat_word("urg")? {
        packet.urgent = Some(c.number("an urgent pointer (16 bits)")?);
    }
    // The next event begins with a time, so this < begins options.
    packet.options = if c.eat("<")? { option::parse(c)? } else { Some(Vec::new()) };
    let expects = !arrives && packet.flags & Flags::RST.0 == 0;
    if packet.flags & Flags::ACK.0 == 0 && packet.ack.take().is_some() && expects {
        // Without the flag the field means nothing (RFC 9293 3.1). The engine sends zero there;
        // of a RST packetdrill shows the field all the same.
        return from.fail("an acknowledgement number without the flag . (ACK)");
    }
    Ok(packet)
}

/// `addr[caddr0] > addr[saddr0]`, if it is there.
///
/// # Errors
/// If it begins so and goes on otherwise.
pub fn ends(c: &mut Cursor<'_>) -> Parsed<(Option<Place>, Option<Place>)> {
    let from = if c.eat_word("addr")? { Some(place(c)?) } else { None };
    let to = if c.eat(">")? {
        c.expect("addr")?;
        Some(place(c)?)
    } else {
        None
    };
    Ok((from, to))
}

/// `[ect0]`, `[tos 0x04]`, `[ttl 64]`, several of them separated by commas. The bracket was taken.
fn ip_field(c: &mut Cursor<'_>, packet: &mut Packet) -> Parsed<()> {
    let from = c.clone();
    let word = c.word()?;
    match (&*word, MARKS.iter().find(|(name, _)| *name == word)) {
        ("tos", _) => packet.ip.tos = Some(c.number("a type of service (8 bits)")?),
        ("ttl", _) => packet.ip.ttl = Some(c.number("a hop limit (8 bits)")?),
        (_, Some((_, mark))) => packet.mark = Some(*mark),
        _ => return from.fail(format!("\"{word}\" is no ECN field (noecn, ect0, ect1, ce), nor tos or ttl")),
    }
    if c.eat(",")? { ip_field(c, packet) } else { c.expect("]") }
}

fn flags(c: &mut Cursor<'_>, packet: &mut Packet) -> Parsed<()> {
    let from = c.clone();
    let word = c.run(|c| !c.is_whitespace() && !matches!(c, '<' | '>' | '`'));
    for letter in word.chars() {
        match LETTERS.iter().find(|(l, _)| *l == letter) {
            Some((_, bit)) => packet.flags |= bit,
            None if letter == 'A' || ('0'..='7').contains(&letter) => packet.accurate = true,
            None if word == "-" => {}
            None => {
                return from.fail(format!(
                    "\"{word}\" are no TCP flags: write letters of SFRPUEWA and . for ACK, or - for none"
                ));
            }
        }
    }
    if word.is_empty() {
        return from.fail(format!("{} where flags were expected, such as S. or P.", from.here()));
    }
    c.space()
}

/// Reads an ICMP message; the cursor stands after `icmp`.
///
/// # Errors
/// If it is not one.
pub fn icmp(c: &mut Cursor<'_>, (from, to): (Option<Place>, Option<Place>)) -> Parsed<Icmp> {
    let mut icmp = Icmp { from, to, kind: c.word()?, code: String::new(), mtu: None, about: None };
    if !c.at_word("mtu") && c.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
        icmp.code = c.word()?;
    }
    if c.eat_word("mtu")? {
        icmp.mtu = Some(c.number("an MTU")?);
    }
    if c.eat("[")? {
        let seq = c.number("a sequence number")?;
        c.expect(":")?;
        c.number::<u32>("a sequence number")?;
        c.expect("(")?;
        icmp.about = Some((seq, c.number("a length")?));
        c.expect(")")?;
        c.expect("]")?;
    }
    Ok(icmp)
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(mark) = self.mark {
            write!(f, "[{}] ", MARKS.iter().find(|(_, m)| *m == mark).map_or("", |(name, _)| name))?;
        }
        let IpFields { tos, ttl } = self.ip;
        tos.map_or(Ok(()), |tos| write!(f, "[tos {tos:#04x}] "))?;
        ttl.map_or(Ok(()), |ttl| write!(f, "[ttl {ttl}] "))?;
        if self.flags == 0 {
            f.write_str("-")?;
        }
        LETTERS.iter().filter(|(_, bit)| self.flags & bit != 0).try_for_each(|(letter, _)| write!(f, "{letter}"))?;
        write!(f, " {}:{}({})", self.seq, self.seq.wrapping_add(self.len), self.len)?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        if let Some(urgent) = self.urgent {
            write!(f, " urg {urgent}")?;
        }
        match &self.options {
            None => f.write_str(" <...>"),
            Some(options) if options.is_empty() => Ok(()),
            Some(options) => {
                let words: Vec<_> = options.iter().map(ToString::to_string).collect();
                write!(f, " <{}>", words.join(","))
            }
        }
    }
}
