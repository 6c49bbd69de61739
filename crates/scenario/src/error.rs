//! What is wrong with a scenario, where, and how to mend it.
//!
//! A fault is found deep in the document by code that knows only its own value. Each caller on the way out adds its key
//! with [`Error::within`], so the error has the full key path, although it is not passed down.

use std::fmt;

use toml::Value;

use anabranch_measures::ask::Ask;

/// One fault of a scenario. Its display is at most three lines: file and key, what is wrong, how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file as the user named it.
    file: String,
    /// Key path such as `path[1].loss`; empty for the whole document.
    key: String,
    /// The value and what is wrong with it.
    problem: String,
    /// What is allowed, and the nearest valid word.
    remedy: String,
    /// The value was given on the command line.
    overridden: bool,
    /// There is no fault: the caller has stopped the reading.
    stopped: bool,
}

impl Error {
    /// A fault of the value at hand.
    pub(super) fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (problem, remedy) = (tidy(&problem.into(), 200), tidy(&remedy.into(), 600));
        Self { file: String::new(), key: String::new(), problem, remedy, overridden: false, stopped: false }
    }

    /// The caller has stopped the reading.
    pub(super) fn stopped() -> Self {
        Self { stopped: true, ..Self::new("reading was stopped", "") }
    }

    /// A fault of the value at `key`.
    pub(super) fn at(key: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(problem, remedy).within(key)
    }

    /// The same fault seen from the table or list that holds it under `key` (or `[index]`).
    pub(super) fn within(mut self, key: &str) -> Self {
        let key = tidy(key, 60);
        self.key = match self.key.as_str() {
            "" => key,
            inner if inner.starts_with('[') => format!("{key}{inner}"),
            inner => format!("{key}.{inner}"),
        };
        self
    }

    /// The same fault with another key path: `to` in place of a leading `from`.
    pub(super) fn moved(mut self, from: &str, to: &str) -> Self {
        if let Some(rest) = self.key.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with(['.', '['])) {
            self.key = format!("{to}{rest}");
        }
        self
    }

    /// The same fault; `or` is allowed, too, if the remedy says what is.
    pub(super) fn or_allowed(mut self, or: &str) -> Self {
        if self.remedy.starts_with("allowed: ") {
            self.remedy.push_str(or);
        }
        self
    }

    /// The same fault, in this file.
    pub(super) fn in_file(mut self, file: &str) -> Self {
        file.clone_into(&mut self.file);
        self
    }

    /// Says that the value came from the command line if it is one of `overridden` (normalised key paths).
    pub(super) fn mark_overridden(mut self, overridden: &[String]) -> Self {
        let inside = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let touches = |k: &String| inside(k, &self.key) || (!self.key.is_empty() && inside(&self.key, k));
        self.overridden = overridden.iter().any(touches);
        self
    }

    /// The file has this fault without the overrides, too: it did not come from the command line.
    pub(super) fn unmark_if_like(mut self, own: &Self) -> Self {
        self.overridden &= (&self.key, &self.problem) != (&own.key, &own.problem);
        self
    }

    /// There is no fault: the caller's [`Ask`] has stopped the reading.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Key path of the fault, such as `path[1].loss`.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// Whether a character is invisible but changes how text is shown: a control character, a line or paragraph separator, or one
/// that changes the direction of writing (Unicode's property Bidi_Control).
pub(super) fn unseen(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || turns
}

/// One line of at most `most` characters, whatever the document holds.
fn tidy(text: &str, most: usize) -> String {
    let line = text.chars().map(|c| if unseen(c) { ' ' } else { c });
    if text.chars().count() <= most { line.collect() } else { line.take(most).chain(" ...".chars()).collect() }
}

/// A value as it would stand in a file, shortened.
pub(super) fn show(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

/// Calls `ask`; an error that stops the reading if the caller does not want to go on.
pub(super) fn asked(ask: Ask<'_>) -> Result<(), Error> {
    if ask().is_break() { Err(Error::stopped()) } else { Ok(()) }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}: ", self.file)?;
        }
        if !self.key.is_empty() {
            let origin = if self.overridden { " (from --set or set())" } else { "" };
            write!(f, "{}{origin}: ", self.key)?;
        }
        f.write_str(&self.problem)?;
        if !self.remedy.is_empty() {
            write!(f, "\n  {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layer_adds_its_key() {
        let e = Error::new("\"x\" is no ratio", "allowed: 0 % to 100 %").within("loss").within("[1]").within("path");
        assert_eq!(
            e.in_file("demo.toml").to_string(),
            "demo.toml: path[1].loss: \"x\" is no ratio\n  allowed: 0 % to 100 %"
        );
    }

    #[test]
    fn a_message_stays_short_and_on_its_lines() {
        let said = Error::at("a\nb", format!("\"{}\n\"", "x".repeat(1000)), "one\ntwo").to_string();
        assert_eq!(said.lines().count(), 2);
        assert!(said.len() < 300 && said.starts_with("a b: "));
    }

    #[test]
    fn a_value_from_the_command_line_is_marked_as_such() {
        let fault =
            |key: &str| Error::at(key, "bad", "").mark_overridden(&["path[1].delay".into(), "conection.mss".into()]);
        assert_eq!(fault("path[1].delay").to_string(), "path[1].delay (from --set or set()): bad");
        assert_eq!(fault("conection").to_string(), "conection (from --set or set()): bad");
        assert_eq!(fault("path[1].delay_up").to_string(), "path[1].delay_up: bad");
        assert_eq!(fault("path[0].delay").to_string(), "path[0].delay: bad");
    }
}
