//! The keys of a link, alike in `[[path]]` and `[[link]]`.
//!
//! Each key describes both directions; with the ending `_up` (client to server, `from` to `to`) or `_down` it describes one.

use anabranch_stack::time::Duration;
use toml::Value;

use super::change;
use super::error::Error;
use super::middlebox::{self, Middlebox};
use super::model::{Change, ChangeKind, Direction, Discipline, Loss, Queue, Redraw, Stack, Trace};
use super::properties::{FASTEST, HOUR, delay, loss, rate};
use super::reader::{Section, flag, show};
use super::units::{BYTES, PACKETS, ratio, time, word_or};
use super::{discipline, mtu, trace, vary};

const MOST_PACKETS: u64 = 10_000_000;
const MOST_BYTES: u64 = 1_000_000_000_000;

/// The middleboxes on the link.
pub(super) fn middleboxes(section: &Section<'_>, stack: Stack) -> Result<Vec<Middlebox>, Error> {
    let boxes = section.or("middleboxes", Vec::new(), middlebox::read)?;
    if stack == Stack::Legacy2011 && !boxes.is_empty() {
        let problem = "the 2011 model has no segments that a middlebox could change";
        return Err(Error::at("middleboxes", problem, "remove it, or stack = \"legacy-2011\""));
    }
    Ok(boxes)
}

/// Both directions and the scheduled changes.
pub(super) fn read(section: &Section<'_>, stack: Stack) -> Result<(Direction, Direction, Vec<Change>), Error> {
    let changes = section.or("changes", Vec::new(), change::read)?;
    let (up, down) = (direction(section, "_up", stack)?, direction(section, "_down", stack)?);
    let has_own = |d: &Direction| d.trace.is_some() || d.weather.is_some();
    let paced = |c: &Change| (c.up && has_own(&up)) || (c.down && has_own(&down));
    if let Some(i) = changes.iter().position(|c| matches!(c.what, ChangeKind::Rate(_)) && paced(c)) {
        let at = changes[i].at.0 as f64 / 1e9;
        let by = if section.has("leo") || section.has("cellular") {
            "its rate varies by itself"
        } else {
            "a trace paces this link"
        };
        return Err(Error::at("changes", format!("the rate is to change at {at} s, but {by}"), "remove one"));
    }
    Ok((up, down, changes))
}

fn direction(section: &Section<'_>, way: &str, stack: Stack) -> Result<Direction, Error> {
    let link = Way { section, way };
    // The defaults of the 2011 model are those of the simulator it comes from.
    let (when, overtaking) = match stack {
        Stack::Anabranch => (Redraw::Packet, false),
        Stack::Legacy2011 => (Redraw::Write, true),
    };
    let (weather, own) = vary::read(section, way)?.unzip();
    let trace = link.or("trace", None, |v| trace::read(v).map(Some))?;
    // The keys of a wireless link describe the wired hop behind its access point. By default that hop neither delays nor limits.
    let wireless = section.has("wifi");
    let fixed = link.or("rate", if wireless { FASTEST } else { 10_000_000 }, rate)?;
    let both = [section.has("rate") && section.has("trace"), section.has(&format!("rate{way}"))];
    if trace.is_some() && both.contains(&true) {
        return Err(Error::at("rate", "a trace paces this link", "remove `rate` or `trace`"));
    }
    let usual = if wireless { Duration::ZERO } else { Duration::from_millis(10) };
    Ok(Direction {
        rate: own.map_or_else(|| trace.as_ref().map_or(fixed, Trace::rate), |own| own.rate),
        delay: link.or("delay", own.map_or(usual, |own| own.delay), delay)?,
        delay_variation: link.or("delay_variation", 0.0, ratio)?,
        delay_redraw: link.or("delay_redraw", when, redraw)?,
        overtaking: link.or("overtaking", overtaking, flag)?,
        trace,
        weather,
        queue: link.or("queue", own.map_or(Queue::Packets(100), |own| own.queue), queue)?,
        discipline: link.or("discipline", own.map_or(Discipline::DropTail, |own| own.discipline), discipline::read)?,
        loss: link.or("loss", own.map_or(Loss::Bernoulli(0.0), |own| own.loss), loss)?,
        duplication: link.or("duplication", 0.0, ratio)?,
        corruption: link.or("corruption", 0.0, ratio)?,
        overhead: link.or("overhead", 0, overhead)?,
        mtu: link.or("mtu", None, |v| mtu::read(v, stack))?,
        ecn_threshold: link.or("ecn_threshold", None, ecn_threshold)?,
    })
}

/// One direction of a link's table.
struct Way<'a> {
    section: &'a Section<'a>,
    way: &'a str,
}

impl<'a> Way<'a> {
    /// The value for this direction, else that for both, else `default`. Both are read in any case, so that a fault in either
    /// is found.
    fn or<T>(&self, key: &str, default: T, parse: impl Fn(&'a Value) -> Result<T, Error>) -> Result<T, Error> {
        let both = self.section.or(key, default, &parse)?;
        self.section.or(&format!("{key}{}", self.way), both, parse)
    }
}

fn redraw(value: &Value) -> Result<Redraw, Error> {
    let words = [("packet", Redraw::Packet), ("write", Redraw::Write)];
    word_or(value, &words, |v| time(v, Duration(1), HOUR).map(Redraw::Every), "10 ms")
}

fn queue(value: &Value) -> Result<Queue, Error> {
    let expected = "expected packets or octets, such as \"100 packets\" or \"64 kB\"";
    if PACKETS.fits(value) {
        PACKETS.read(value, 0, MOST_PACKETS).map(Queue::Packets)
    } else if BYTES.fits(value) {
        BYTES.read(value, 0, MOST_BYTES).map(Queue::Bytes)
    } else {
        Err(Error::new(format!("{} is not a queue length", show(value)), expected))
    }
}

fn overhead(value: &Value) -> Result<u32, Error> {
    // The range ends far below u32::MAX.
    BYTES.read(value, 0, 65_535).map(|n| n as u32)
}

fn ecn_threshold(value: &Value) -> Result<Option<u64>, Error> {
    word_or(value, &[("off", None)], |v| PACKETS.read(v, 0, MOST_PACKETS).map(Some), "20 packets")
}
