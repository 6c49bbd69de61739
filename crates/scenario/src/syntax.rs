//! TOML syntax errors: the line, what the parser found there, and one line on how to correct common mistakes.

use toml::Table;

use super::error::Error;

/// Parses a document.
pub(super) fn parse(text: &str) -> Result<Table, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.parse::<Table>().map_err(|e| fault(text, e.message(), e.span().map_or(0, |s| s.start)))
}

fn fault(text: &str, message: &str, offset: usize) -> Error {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    // The end of a truncated file lies behind its last line.
    let before = if text[offset..].trim().is_empty() { text[..offset].trim_end() } else { &text[..offset] };
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or("").trim();
    let shown: String =
        if line.chars().count() > 80 { line.chars().take(77).chain("...".chars()).collect() } else { line.into() };
    Error::new(format!("line {number}: `{shown}`: {}", first(message)), remedy(message, line))
}

/// The parser's message without its list of what it expected.
fn first(message: &str) -> &str {
    message.split(", expected").next().unwrap_or(message).lines().next().unwrap_or("")
}

/// The remedy for brackets and commas, if the message is about them.
fn of_brackets(message: &str) -> Option<&'static str> {
    let says = |what: &str| message.contains(what);
    if says("array table") || says("unclosed table") {
        Some("close the brackets: [transfer], [[path]]")
    } else if says("array elements") {
        Some("write a comma between the values of a list")
    } else if says("inline table") || says("missing comma") {
        Some("write an inline table between { and }, with commas between its keys")
    } else {
        says("unclosed array").then_some("close the list with ]")
    }
}

fn remedy(message: &str, line: &str) -> String {
    let (key, value) = line.split_once('=').map_or((line, ""), |(k, v)| (k.trim(), v.trim()));
    let says = |what: &str| message.contains(what);
    if says("duplicate key") {
        return if line.starts_with("[[") {
            format!("{} is already a table: write double brackets for each", line.replace("[[", "[").replace("]]", "]"))
        } else if line.starts_with('[') {
            "write each table once; lists of tables have double brackets, such as [[path]]".into()
        } else {
            format!("\"{key}\" is given twice in one table: keep one")
        };
    }
    if let Some(remedy) = of_brackets(message) {
        return remedy.into();
    }
    if says("invalid basic string") || says("invalid literal string") {
        return "close the quotes; a text stands on one line (is the file truncated?)".into();
    }
    if says("escape") {
        return "write a backslash twice, or the text in single quotes".into();
    }
    if says("key with no value") {
        return match line.split_once(':') {
            Some((k, v)) => format!("write = instead of a colon: {} = {}", k.trim(), v.trim()),
            None => "write key = value (is the file truncated?)".into(),
        };
    }
    if !line.contains('=') {
        return "write key = value, and texts and quantities in double quotes (is the file truncated?)".into();
    }
    if value.is_empty() {
        return format!("give {key} a value, such as {key} = \"10 ms\" (is the file truncated?)");
    }
    if matches!(value, "True" | "False" | "TRUE" | "FALSE") {
        return format!("write {key} = {}", value.to_lowercase());
    }
    // In a value without quotes "#" begins a comment.
    let value = if value.contains(['"', '\'']) { value } else { value.split('#').next().unwrap_or("").trim() };
    let bare = !value.contains(['"', '\'', '\u{201c}', '\u{201d}', '[', '{']);
    if bare && (says("quoted") || says("invalid boolean") || says("unexpected key or value") || says("mantissa")) {
        return format!("write quantities and words in quotes: {key} = \"{value}\"");
    }
    if says("i128") || says("u64") || says("too large") {
        return format!("whole numbers go from {} to {}", i64::MIN, i64::MAX);
    }
    if says("quoted") {
        return "write texts and quantities in straight double quotes: delay = \"10 ms\"".into();
    }
    if says("unexpected key or value") {
        return "write one key = value on each line".into();
    }
    message
        .split_once(", expected")
        .map_or(String::new(), |(_, e)| format!("expected{}", e.lines().next().unwrap_or("")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_slips_get_a_line_and_a_remedy() {
        for (text, said) in [
            (
                "a = 1\ndelay = 10 ms",
                "line 2: `delay = 10 ms`: string values must be quoted\n  write quantities and words in quotes: delay = \"10 ms\"",
            ),
            ("loss = 5 % # much", "loss = \"5 %\""),
            ("protocol = tcp", "protocol = \"tcp\""),
            ("sack = True", "write sack = true"),
            ("delay = \"10 ms\nloss = 0.0", "line 1: `delay = \"10 ms`: invalid basic string\n  close the quotes"),
            ("[transfer]\nbytes = \"50", "line 2: `bytes = \"50`"),
            ("a = 1\na = 2", "line 2: `a = 2`: duplicate key\n  \"a\" is given twice in one table"),
            ("[t]\n[t]", "write each table once"),
            ("[path]\n[[path]]", "[path] is already a table"),
            ("[[pa", "line 1: `[[pa`: unclosed array table\n  close the brackets"),
            ("[[path]]\nra\n\n", "line 2: `ra`: key with no value\n  write key = value"),
            ("seed = 99999999999999999999", "whole numbers go from -9223372036854775808 to 9223372036854775807"),
            ("rate: 1", "write = instead of a colon: rate = 1"),
            ("rate =", "give rate a value"),
            ("path = [\n  10 ms,\n]", "texts and quantities in double quotes"),
            ("path = [\"a\" \"b\"]", "write a comma between the values of a list"),
            ("path = [\n  path0,\n]", "texts and quantities in double quotes"),
            ("x = { a = 1, ", "write an inline table between"),
            ("delay = 0,5", "write quantities and words in quotes: delay = \"0,5\""),
            ("rate = \u{201c}10 ms\u{201d}", "straight double quotes"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}\n---\n{error}");
        }
    }

    #[test]
    fn a_byte_order_mark_and_carriage_returns_are_no_fault() {
        assert!(parse("\u{feff}a = 1\r\nb = 2\r\n").is_ok());
    }
}
