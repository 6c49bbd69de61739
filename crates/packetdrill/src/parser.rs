//! From a script's text to its events: option lines, times, and what follows a time.

use std::collections::BTreeMap;

use super::ast::{Action, Base, Event, OptionLine, Script, When};
use super::cursor::{Cursor, Parsed};
use super::{call, packet};

/// Reads a script. `defines` are words that stand for others.
///
/// # Errors
/// The first place that is not the dialect's.
pub fn parse(text: &str, defines: &BTreeMap<String, String>) -> Parsed<Script> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut c = Cursor::new(text, defines);
    let mut script = Script::default();
    c.space()?;
    while c.rest().starts_with("--") {
        script.options.push(option_line(&mut c)?);
    }
    while !c.rest().is_empty() {
        script.events.push(event(&mut c)?);
    }
    if script.events.is_empty() {
        return c.fail(
            "nothing happens in this script: it has no events, such as: 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
        );
    }
    Ok(script)
}

/// `--name=value` or `--name`, to the end of the line.
fn option_line(c: &mut Cursor<'_>) -> Parsed<OptionLine> {
    let (line, _) = c.place();
    c.skip(2);
    let words = c.run(|c| c != '\n');
    let words = words.split("//").next().unwrap_or("").trim();
    let (name, value) = words.split_once('=').unwrap_or((words, ""));
    c.space()?;
    Ok(OptionLine { line, name: name.trim().to_owned(), value: value.trim().to_owned() })
}

fn event(c: &mut Cursor<'_>) -> Parsed<Event> {
    let ((line, _), from) = (c.place(), c.offset());
    let when = if c.peek() == Some('`') { When::Next } else { time(c)? };
    let action = action(c)?;
    let lines = c.since(from).lines().map(|line| line.split("//").next().unwrap_or(line));
    let text = lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    c.space()?;
    if let (When::Lasts(..), false) = (when, matches!(action, Action::Call(_))) {
        return c.fail("only a call can last (a...b); for a range of time write a~b");
    }
    if let (When::Any | When::Within(..), false) = (when, matches!(action, Action::Outbound(_))) {
        return c.fail("only a segment that is sent (>) can have a range of time (a~b) or any time (*)");
    }
    Ok(Event { line, when, action, text })
}

/// `0.1`, `+.1`, `*`, `+.1~+.2`, `+0...0.2`.
fn time(c: &mut Cursor<'_>) -> Parsed<When> {
    if c.eat("*")? {
        return Ok(When::Any);
    }
    let from = c.clone();
    let base = if c.eat("+")? { Base::Previous } else { Base::Start };
    let begin = c.seconds()?;
    if c.eat("...")? {
        c.eat("+")?;
        let end = c.seconds()?;
        return if end < begin {
            from.fail("this call ends before it begins")
        } else {
            Ok(When::Lasts(base, begin, end))
        };
    }
    if c.eat("~")? {
        c.eat("+")?;
        let end = c.seconds()?;
        return if end < begin {
            from.fail("this range ends before it begins")
        } else {
            Ok(When::Within(base, begin, end))
        };
    }
    Ok(When::At(base, begin))
}

fn action(c: &mut Cursor<'_>) -> Parsed<Action> {
    let from = c.clone();
    match c.peek() {
        Some('<') => {
            c.eat("<")?;
            let mut ahead = c.clone();
            match packet::ends(&mut ahead) {
                Ok(ends) if ahead.eat_word("icmp")? => {
                    *c = ahead;
                    Ok(Action::Icmp(packet::icmp(c, ends)?))
                }
                _ => Ok(Action::Inbound(packet::parse(c, true)?)),
            }
        }
        Some('>') => {
            c.eat(">")?;
            let packet = packet::parse(c, false)?;
            Ok(Action::Outbound(packet))
        }
        Some('`') => {
            c.skip(1);
            c.until("`")
                .map(|command| Action::Shell(command.to_owned()))
                .or_else(|_| from.fail("this command does not end: ` is missing"))
        }
        Some('%') => {
            c.expect("%{")?;
            c.until("}%")
                .map(|code| Action::Assert(code.to_owned()))
                .or_else(|_| from.fail("this code does not end: }% is missing"))
        }
        Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => Ok(Action::Call(call::parse(c)?)),
        _ => c.fail(format!("{} where <, >, a call, `command` or %{{ code }}% was expected", c.here())),
    }
}
