//! The keys of a link, alike in `[[path]]` and `[[link]]`.
//!
//! Each key describes both directions; with the ending `_up` (client to server, `from` to `to`) or `_down` it describes one.

use anabranch_stack::registry::Setting;
use anabranch_stack::time::Duration;
use toml::Value;

use super::change;
use super::error::{Error, show};
use super::middlebox::Middlebox;
use super::model::{Change, ChangeKind, Direction, Discipline, Loss, Queue, Redraw, Stack, Trace};
use super::properties::loss;
use super::reader::{Section, Way, setting};
use super::schema::{FASTEST, MOST_BYTES, MOST_PACKETS, PATH};
use super::units::{BYTES, PACKETS};
use super::{boxes, discipline, mtu, trace, vary};

/// The middleboxes on the link.
pub(super) fn middleboxes(section: &Section<'_>, stack: Stack) -> Result<Vec<Middlebox>, Error> {
    let boxes = section.or("middleboxes", Vec::new(), boxes::read)?;
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
            "leo or cellular sets the rate of this link"
        } else {
            "a trace paces this link"
        };
        return Err(Error::at(
            "changes",
            format!("a change of the rate at {at} s is not possible: {by}"),
            "remove the change, or what sets the rate",
        ));
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
    let fixed = if wireless { link.value_or("rate", FASTEST)? } else { link.value("rate")? };
    let both = [section.has("rate") && section.has("trace"), section.has(&format!("rate{way}"))];
    if trace.is_some() && both.contains(&true) {
        let key = if both[1] { format!("rate{way}") } else { "rate".to_owned() };
        return Err(Error::at(&key, "a trace paces this link", "remove the rate or the trace"));
    }
    let usual = if wireless { Some(Duration::ZERO) } else { own.map(|own| own.delay) };
    Ok(Direction {
        rate: own.map_or_else(|| trace.as_ref().map_or(fixed, Trace::rate), |own| own.rate),
        delay: match usual {
            Some(usual) => link.value_or("delay", usual)?,
            None => link.value("delay")?,
        },
        // No variation has one form, so that equal scenarios have one resolved JSON.
        delay_variation: match link.value("delay_variation")? {
            Setting::Time(Duration::ZERO) => Setting::Number(0.0),
            variation => variation,
        },
        delay_redraw: link.or("delay_redraw", when, redraw)?,
        overtaking: link.value_or("overtaking", overtaking)?,
        trace,
        weather,
        queue: link.or("queue", own.map_or(Queue::Packets(100), |own| own.queue), queue)?,
        discipline: link.or("discipline", own.map_or(Discipline::DropTail, |own| own.discipline), discipline::read)?,
        loss: link.or("loss", own.map_or(Loss::Bernoulli(0.0), |own| own.loss), loss)?,
        duplication: link.value("duplication")?,
        corruption: link.value("corruption")?,
        overhead: link.value("overhead")?,
        mtu: link.or("mtu", None, |v| mtu::read(v, stack))?,
        ecn_threshold: link.value("ecn_threshold")?,
        more: section.more(way)?,
    })
}

fn redraw(value: &Value) -> Result<Redraw, Error> {
    let key = PATH.find("delay_redraw").expect("it is a key of a path");
    Ok(match setting(value, key)? {
        Setting::Word("write") => Redraw::Write,
        Setting::Time(interval) => Redraw::Every(interval),
        _ => Redraw::Packet,
    })
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
