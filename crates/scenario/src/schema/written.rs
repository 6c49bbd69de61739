//! Values and ranges as they are written in a scenario.

use anabranch_stack::registry::{Range, Setting};

use super::super::units::{BYTES, Kind, PACKETS, RATE, TIME};
use super::{Key, Value};

/// The unit of a range of quantities.
pub fn unit(range: Range) -> Option<&'static Kind> {
    match range {
        Range::Time(..) => Some(&TIME),
        Range::Octets(..) => Some(&BYTES),
        Range::Rate(..) => Some(&RATE),
        Range::Packets(..) => Some(&PACKETS),
        _ => None,
    }
}

fn ratio(share: f64) -> String {
    // Twelve digits, so that 0.002 is 0.2 % and not 0.2000000000000001 %.
    format!("{} %", (share * 1e14).round() / 1e12)
}

/// A value of `range` as it is written in TOML.
pub fn written(setting: Setting, range: Option<Range>) -> String {
    match (setting, range) {
        (Setting::Word(word), _) => format!("\"{word}\""),
        (Setting::Time(time), _) => format!("\"{}\"", time_of(time.0)),
        (Setting::Number(n), Some(Range::Share(..))) => format!("\"{}\"", ratio(n)),
        (Setting::Number(n), _) => format!("{n:?}"),
        (Setting::Whole(n), Some(Range::Octets(..))) => format!("\"{}\"", BYTES.shortest(n)),
        (Setting::Whole(n), Some(range)) => {
            unit(range).map_or_else(|| n.to_string(), |u| format!("\"{}\"", u.write(n)))
        }
        (other, _) => other.to_string(),
    }
}

/// A time; zero in seconds.
fn time_of(ns: u64) -> String {
    if ns == 0 { "0 s".to_owned() } else { TIME.write(ns) }
}

/// A value of `range` for a message, as it is written in TOML.
pub fn example(range: Range) -> String {
    let usual = match range {
        Range::Flag => Setting::Flag(true),
        Range::Whole(least, most) => Setting::Whole(1.clamp(least, most)),
        Range::Octets(least, most) => Setting::Whole(10_000.clamp(least, most)),
        Range::Rate(least, most) => Setting::Whole(10_000_000.clamp(least, most)),
        Range::Packets(least, most) => Setting::Whole(100.clamp(least, most)),
        Range::Time(least, most) => Setting::Time(anabranch_stack::time::Duration::from_millis(10).clamp(least, most)),
        Range::Share(least, most) => Setting::Number(0.01_f64.clamp(least, most)),
        Range::Number(least, most) | Range::RoundTrips(least, most) => Setting::Number(1.0_f64.clamp(least, most)),
        _ => return String::new(),
    };
    written(usual, Some(range))
}

/// The values that `range` allows, for people.
pub fn between(range: Range) -> String {
    let pair = |kind: &Kind, least: u64, most: u64| {
        let written = |n| if std::ptr::eq(kind, &raw const BYTES) { kind.shortest(n) } else { kind.write(n) };
        let (low, high) = (written(least), written(most));
        // Only one of two equal units is written; a zero has none.
        match (low.split_once(' '), high.split_once(' ')) {
            _ if least == 0 => format!("0 to {high}"),
            (Some((number, a)), Some((_, b))) if a == b => format!("{number} to {high}"),
            _ => format!("{low} to {high}"),
        }
    };
    match range {
        Range::Whole(least, most) if most == i64::MAX as u64 => format!("{least} to 2^63 - 1"),
        Range::Time(least, most) => pair(&TIME, least.0, most.0),
        Range::Octets(least, most) | Range::Rate(least, most) | Range::Packets(least, most) => {
            pair(unit(range).expect("it has one"), least, most)
        }
        other => other.to_string(),
    }
}

/// What may stand at `key`, in Markdown.
pub fn allowed(key: &Key) -> String {
    let word = |word: &&str| format!("`\"{word}\"`");
    match key.value {
        Value::Algorithm => "a name of `anabranch list`, or a table".to_owned(),
        Value::Name => "a name: 1 to 64 letters, digits, `-`, `_` or `.`".to_owned(),
        Value::Code(text) => text.to_owned(),
        Value::Quantity(kind, least, most) => kind.between(least, most),
        Value::Either(one, other) => format!("{}, or {}", between(one), between(other)),
        Value::Inner => "a table".to_owned(),
        _ => {
            let (range, words) = key.range().expect("the other values have one");
            let mut list: Vec<String> = words.iter().map(word).collect();
            match range {
                Range::Word => {}
                Range::Flag => list.push("`true`, `false`".to_owned()),
                range => list.push(between(range)),
            }
            list.join(", ")
        }
    }
}

/// A text in Markdown without its marks. Links to other pages keep their label; a link in brackets
/// to a heading of the same page, `([traces](#traces))`, is left out.
pub fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once('[') {
        let Some((label, (target, tail))) = after.split_once("](").and_then(|(l, r)| Some((l, r.split_once(')')?)))
        else {
            break;
        };
        match (before.strip_suffix(" ("), tail.strip_prefix(')')) {
            (Some(before), Some(tail)) if target.starts_with('#') => {
                text.push_str(before);
                rest = tail;
            }
            _ => {
                text.push_str(before);
                text.push_str(label);
                rest = tail;
            }
        }
    }
    text.push_str(rest);
    text.replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_markdown_and_links_within_the_page_are_left_out() {
        assert_eq!(plain("as `b`, see [c](d.md#e) and [f](#g). More"), "as b, see c and f. More");
        assert_eq!(plain("when packets leave ([traces](#traces)); or not"), "when packets leave; or not");
        assert_eq!(plain("[0, 1] and (x)"), "[0, 1] and (x)");
    }
}
