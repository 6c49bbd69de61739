//! The options of a segment as scripts write them: the one place where an option's words are read, printed, put into a segment
//! that arrives, and taken out of one that was sent.
//!
//! To add an option: a variant of [`Opt`], its row in [`TABLE`], its line in each of the three functions below it.

use std::fmt;

use anabranch_stack::segment::{Options, SackBlocks, Signal, Timestamps};

use super::cursor::{Cursor, Parsed};
use super::flow::Flow;
use super::mptcp::{self, Mp};

/// An option.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opt {
    /// Maximum segment size (RFC 9293 3.7.1).
    Mss(u16),
    /// SACK permitted (RFC 2018 2).
    SackOk,
    /// Timestamps (RFC 7323 3): TSval and TSecr, in the script's numbers.
    Ts(u32, u32),
    /// Window scale (RFC 7323 2).
    Wscale(u8),
    /// SACK blocks (RFC 2018 3).
    Sack(Vec<(u32, u32)>),
    /// TCP Fast Open (RFC 7413 4.1): a cookie, or a request for one if empty; of the experimental kind if `true`.
    FastOpen(Vec<u8>, bool),
    /// Multipath TCP (RFC 8684).
    Mptcp(Mp),
    /// An option that the engine does not have; its words.
    Foreign(&'static str, String),
    /// No operation.
    Nop,
    /// End of the options.
    Eol,
}

type Read = fn(&mut Cursor<'_>) -> Parsed<Opt>;

/// The options by the word they begin with.
const TABLE: &[(&str, Read)] = &[
    ("mss", |c| Ok(Opt::Mss(c.number("an MSS (16 bits)")?))),
    ("sackOK", |_| Ok(Opt::SackOk)),
    ("TS", timestamps),
    ("wscale", |c| Ok(Opt::Wscale(c.number("a window scale (8 bits)")?))),
    ("sack", blocks),
    ("FOEXP", |c| Ok(Opt::FastOpen(cookie(c)?, true))),
    ("FO", |c| Ok(Opt::FastOpen(cookie(c)?, false))),
    ("nop", |_| Ok(Opt::Nop)),
    ("eol", |_| Ok(Opt::Eol)),
    ("ECN", |c| foreign(c, "Accurate ECN (RFC 9768)")),
    ("md5", |c| foreign(c, "TCP MD5 (RFC 2385)")),
];

fn timestamps(c: &mut Cursor<'_>) -> Parsed<Opt> {
    c.expect("val")?;
    let val = c.number("a timestamp (32 bits)")?;
    c.expect("ecr")?;
    Ok(Opt::Ts(val, c.number("a timestamp (32 bits)")?))
}

fn blocks(c: &mut Cursor<'_>) -> Parsed<Opt> {
    let mut blocks = Vec::new();
    while c.peek().is_some_and(|c| c.is_ascii_digit()) {
        let start = c.number("a sequence number")?;
        c.expect(":")?;
        blocks.push((start, c.number("a sequence number")?));
    }
    match blocks.len() {
        1..=4 => Ok(Opt::Sack(blocks)),
        n => c.fail(format!("{n} SACK blocks; an option holds 1 to 4, such as: sack 1001:2001 3001:4001")),
    }
}

fn cookie(c: &mut Cursor<'_>) -> Parsed<Vec<u8>> {
    if c.peek().is_some_and(|c| c.is_ascii_alphanumeric()) { c.octets() } else { Ok(Vec::new()) }
}

fn foreign(c: &mut Cursor<'_>, what: &'static str) -> Parsed<Opt> {
    let words = c.run(|c| !matches!(c, ',' | '>'));
    Ok(Opt::Foreign(what, words.trim().to_owned()))
}

fn one(c: &mut Cursor<'_>) -> Parsed<Opt> {
    if let Some((word, read)) = mptcp::TABLE.iter().find(|(word, _)| c.at_word(word)) {
        c.eat(word)?;
        return read(c).map(Opt::Mptcp);
    }
    let Some((word, read)) = TABLE.iter().find(|(word, _)| c.at_word(word)) else {
        let words = TABLE.iter().map(|(word, _)| *word).chain(mptcp::TABLE.iter().map(|(word, _)| *word));
        return c.fail(format!("{} is no option; options: {}", c.here(), words.collect::<Vec<_>>().join(", ")));
    };
    c.eat(word)?;
    read(c)
}

/// Reads `<option, option>`; `None` is `<...>`. The cursor stands after the `<`.
///
/// # Errors
/// If an option is not known or its values are not right.
pub fn parse(c: &mut Cursor<'_>) -> Parsed<Option<Vec<Opt>>> {
    if c.eat("...")? {
        c.expect(">")?;
        return Ok(None);
    }
    let mut found = Vec::new();
    loop {
        found.push(one(c)?);
        c.space()?;
        if !c.eat(",")? {
            c.expect(">")?;
            return Ok(Some(found));
        }
    }
}

impl fmt::Display for Opt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mss(n) => write!(f, "mss {n}"),
            Self::SackOk => f.write_str("sackOK"),
            Self::Ts(val, ecr) => write!(f, "TS val {val} ecr {ecr}"),
            Self::Wscale(n) => write!(f, "wscale {n}"),
            Self::Sack(blocks) => {
                f.write_str("sack")?;
                blocks.iter().try_for_each(|(start, end)| write!(f, " {start}:{end}"))
            }
            Self::FastOpen(cookie, experimental) => {
                f.write_str(if *experimental { "FOEXP" } else { "FO" })?;
                if cookie.is_empty() {
                    return Ok(());
                }
                f.write_str(" ")?;
                cookie.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
            }
            Self::Mptcp(option) => option.fmt(f),
            Self::Foreign(what, words) => write!(f, "{what} {words}"),
            Self::Nop => f.write_str("nop"),
            Self::Eol => f.write_str("eol"),
        }
    }
}

/// The options of an arriving segment. Those that the engine does not have are as if unknown to it: RFC 9293 3.1 (MUST-6) lets it
/// ignore them.
pub fn arriving(options: &[Opt], flow: &Flow) -> Options {
    let mut out = Options::default();
    let multipath = flow.over.is_some() || options.iter().any(|o| matches!(o, Opt::Mptcp(_)));
    for option in options {
        match option {
            Opt::Mss(n) => out.mss = Some(*n),
            Opt::SackOk => out.sack_permitted = true,
            Opt::Ts(val, ecr) => out.timestamps = Some(Timestamps { val: *val, ecr: flow.echoed(*ecr) }),
            Opt::Wscale(n) => out.window_scale = Some(*n),
            Opt::Sack(blocks) => {
                out.sack = SackBlocks::default();
                blocks.iter().for_each(|(start, end)| out.sack.push(flow.ours(*start), flow.ours(*end)));
            }
            Opt::FastOpen(cookie, experimental) => {
                // RFC 7413 4.1.1: "Options with invalid Length values [...] MUST be ignored".
                let cookie = flow.cookies.arriving(cookie, multipath);
                out.signal = cookie.map_or(Signal::None, |c| Signal::FastOpen(c.in_experiment(*experimental)));
            }
            Opt::Mptcp(_) | Opt::Foreign(..) | Opt::Nop | Opt::Eol => {}
        }
    }
    out
}

/// The options of a segment that was sent, in the script's numbers. Timestamps are left as they are ([`Flow`] compares them).
pub fn sent(options: &Options, flow: &Flow) -> Vec<Opt> {
    let mut out = Vec::new();
    out.extend(options.mss.map(Opt::Mss));
    if options.sack_permitted {
        out.push(Opt::SackOk);
    }
    out.extend(options.timestamps.map(|ts| Opt::Ts(ts.val, ts.ecr)));
    out.extend(options.window_scale.map(Opt::Wscale));
    let blocks = options.sack.as_slice();
    if !blocks.is_empty() {
        let theirs = |(start, end): &(u32, u32)| (flow.to_theirs(*start), flow.to_theirs(*end));
        out.push(Opt::Sack(blocks.iter().map(theirs).collect()));
    }
    if let Signal::FastOpen(cookie) = &options.signal {
        out.push(Opt::FastOpen(flow.cookies.sent(cookie), cookie.is_experimental()));
    }
    out
}

/// What the engine does not have, if one of the options is such.
pub fn lacking(options: &[Opt]) -> Option<&'static str> {
    options.iter().find_map(|o| match o {
        Opt::Foreign(what, _) => Some(*what),
        _ => None,
    })
}
