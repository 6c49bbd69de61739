//! Reading a script's text: a place in it, what stands there, and messages that name line and column.

use std::collections::BTreeMap;
use std::fmt;

/// Why a script cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1.
    pub column: u32,
    /// What is wrong, and what may stand there.
    pub message: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// What parsing gives.
pub type Parsed<T> = Result<T, SyntaxError>;

/// A place in the text.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Words that stand for others (`-D NAME=VALUE`).
    defines: &'a BTreeMap<String, String>,
}

impl<'a> Cursor<'a> {
    /// The beginning of `text`.
    pub fn new(text: &'a str, defines: &'a BTreeMap<String, String>) -> Self {
        Self { text, at: 0, defines }
    }

    /// What is left of the text.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// How far the text was read, in octets.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The text since `offset`.
    pub fn since(&self, offset: usize) -> &'a str {
        &self.text[offset..self.at]
    }

    /// The next character.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Goes `n` octets on, to a boundary of characters.
    pub fn skip(&mut self, n: usize) {
        self.at = (self.at + n).min(self.text.len());
    }

    /// Skips white space and comments.
    ///
    /// # Errors
    /// If a comment does not end.
    pub fn space(&mut self) -> Parsed<()> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                let Some(end) = trimmed.find("*/") else {
                    return self.fail("this comment does not end: */ is missing");
                };
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// Takes `token` if it is next; white space after it as well.
    ///
    /// # Errors
    /// If a comment after it does not end.
    pub fn eat(&mut self, token: &str) -> Parsed<bool> {
        if !self.rest().starts_with(token) {
            return Ok(false);
        }
        self.at += token.len();
        self.space()?;
        Ok(true)
    }

    /// Takes `token`.
    ///
    /// # Errors
    /// If something else is next.
    pub fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.eat(token)? { Ok(()) } else { self.fail(format!("{} where \"{token}\" was expected", self.here())) }
    }

    /// The characters that are next and satisfy `of`.
    pub fn run(&mut self, of: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !of(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// A word of letters, digits and underscores, with white space after it; a defined one is replaced by what it stands for.
    ///
    /// # Errors
    /// If a comment after it does not end.
    pub fn word(&mut self) -> Parsed<String> {
        let word = self.run(|c| c.is_ascii_alphanumeric() || c == '_');
        self.space()?;
        Ok(self.defines.get(word).cloned().unwrap_or_else(|| word.to_owned()))
    }

    /// Whether `word` is next, as a whole word. It is not taken.
    pub fn at_word(&self, word: &str) -> bool {
        let follows = self.rest().strip_prefix(word).map(|rest| rest.chars().next());
        follows.is_some_and(|c| !c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_'))
    }

    /// Takes `word` if it is next as a whole word.
    ///
    /// # Errors
    /// If a comment after it does not end.
    pub fn eat_word(&mut self, word: &str) -> Parsed<bool> {
        if self.at_word(word) { self.eat(word) } else { Ok(false) }
    }

    /// A whole number, decimal, hexadecimal (`0x..`) or negative.
    ///
    /// # Errors
    /// If there is none.
    pub fn integer(&mut self) -> Parsed<i64> {
        let from = self.clone();
        let negative = self.rest().starts_with('-');
        self.skip(usize::from(negative));
        let word = self.word()?;
        let read = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => word.parse::<i64>().ok(),
        };
        match read {
            Some(n) => Ok(if negative { -n } else { n }),
            None => from.fail(format!("{} where a number was expected", from.here())),
        }
    }

    /// A whole number from 0 to `most`.
    ///
    /// # Errors
    /// If there is none, or it is too large.
    pub fn number<T: TryFrom<i64>>(&mut self, what: &str) -> Parsed<T> {
        let from = self.clone();
        let n = self.integer()?;
        T::try_from(n).or_else(|_| from.fail(format!("{n} is out of range for {what}")))
    }

    /// Octets in hexadecimal digits.
    ///
    /// # Errors
    /// If their number is odd.
    pub fn octets(&mut self) -> Parsed<Vec<u8>> {
        let from = self.clone();
        let word = self.word()?;
        let digits = word.strip_prefix("0x").unwrap_or(&word);
        let pair = |i: usize| digits.get(i..i + 2).and_then(|p| u8::from_str_radix(p, 16).ok());
        let read: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(pair).collect();
        match read.filter(|_| digits.len() % 2 == 0) {
            Some(octets) => Ok(octets),
            None => from.fail(format!("\"{word}\" is not octets in hexadecimal: an even number of digits 0-9 a-f")),
        }
    }

    /// A point in time or a length of time in seconds, with a decimal point if need be, exact to the nanosecond.
    ///
    /// # Errors
    /// If there is none, or it has more than nine decimals or more than nine digits before them.
    pub fn seconds(&mut self) -> Parsed<u64> {
        let from = self.clone();
        let whole = self.run(|c| c.is_ascii_digit());
        let mut decimals = "";
        if self.rest().starts_with('.') && !self.rest().starts_with("..") {
            self.skip(1);
            decimals = self.run(|c| c.is_ascii_digit());
        }
        if whole.is_empty() && decimals.is_empty() {
            return from.fail(format!("{} where a time in seconds was expected", from.here()));
        }
        if whole.len() > 9 || decimals.len() > 9 {
            return from.fail("a time has at most nine digits before the point and nine after it".to_owned());
        }
        let ns = format!("{whole:0>1}{decimals:0<9}").parse().unwrap_or(0);
        self.space()?;
        Ok(ns)
    }

    /// Everything up to `end`, which is taken, too.
    ///
    /// # Errors
    /// If `end` is missing.
    pub fn until(&mut self, end: &str) -> Parsed<&'a str> {
        let rest = self.rest();
        let Some(len) = rest.find(end) else { return self.fail(format!("\"{end}\" is missing after this")) };
        self.at += len + end.len();
        Ok(&rest[..len])
    }

    /// What is next, for a message.
    pub fn here(&self) -> String {
        let shown: String = self.rest().chars().take_while(|c| !c.is_control()).take(20).collect();
        match shown.is_empty() {
            true if self.rest().is_empty() => "the script ends".to_owned(),
            true => "the line ends".to_owned(),
            false => format!("\"{shown}\""),
        }
    }

    /// An error at this place.
    ///
    /// # Errors
    /// Always.
    pub fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let (line, column) = self.place();
        Err(SyntaxError { line, column, message: message.into() })
    }

    /// Line and column, counted from 1.
    pub fn place(&self) -> (u32, u32) {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }
}
