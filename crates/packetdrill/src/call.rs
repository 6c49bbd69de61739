//! System calls as scripts write them: `write(4, ..., 1000) = 1000`.

use std::fmt;

use super::ast::{Call, Expr};
use super::cursor::{Cursor, Parsed};

/// How deep lists and structures may lie in each other.
const DEPTH: u32 = 16;

/// Reads a call with its result.
///
/// # Errors
/// If it is not one.
pub fn parse(c: &mut Cursor<'_>) -> Parsed<Call> {
    let name = c.word()?;
    c.expect("(")?;
    let args = list(c, ")", DEPTH)?;
    c.expect("=")?;
    let result = if c.eat("?")? { None } else { Some(expr(c, DEPTH)?) };
    let mut errno = None;
    if c.peek().is_some_and(|c| c == 'E') {
        errno = Some(c.word()?);
    }
    if c.eat("(")? {
        // "(Operation now in progress)": words for people.
        c.until(")")?;
        c.space()?;
    }
    Ok(Call { name, args, result, errno })
}

fn list(c: &mut Cursor<'_>, end: &str, depth: u32) -> Parsed<Vec<Expr>> {
    let mut found = Vec::new();
    if c.eat(end)? {
        return Ok(found);
    }
    loop {
        found.push(expr(c, depth)?);
        if c.eat(end)? {
            return Ok(found);
        }
        if !c.eat(",")? {
            return c.fail(format!("{} where \",\" or \"{end}\" was expected", c.here()));
        }
    }
}

fn expr(c: &mut Cursor<'_>, depth: u32) -> Parsed<Expr> {
    let Some(depth) = depth.checked_sub(1) else { return c.fail("too many lists and structures in each other") };
    match c.peek() {
        Some('.') if c.eat("...")? => Ok(Expr::Any),
        Some('[') => {
            c.eat("[")?;
            Ok(Expr::List(list(c, "]", depth)?))
        }
        Some('{') => {
            c.eat("{")?;
            structure(c, depth)
        }
        Some('"') => {
            c.skip(1);
            let text = c.until("\"")?.to_owned();
            c.space()?;
            Ok(Expr::Text(text))
        }
        Some(digit) if digit.is_ascii_digit() || digit == '-' => Ok(Expr::Int(c.integer()?)),
        Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => names(c, depth),
        _ => c.fail(format!("{} where a value was expected: a number, a constant, ..., [ ], {{ }}", c.here())),
    }
}

/// `NAME`, `NAME | NAME`, `function(value)`.
fn names(c: &mut Cursor<'_>, depth: u32) -> Parsed<Expr> {
    let first = c.word()?;
    if c.eat("(")? {
        return Ok(Expr::Call(first, list(c, ")", depth)?));
    }
    if let Ok(n) = first.parse() {
        return Ok(Expr::Int(n)); // a defined word
    }
    let mut names = vec![first];
    while c.eat("|")? {
        names.push(c.word()?);
    }
    if names.iter().any(String::is_empty) { c.fail("a constant is missing after |") } else { Ok(Expr::Names(names)) }
}

/// `{name=value, value, name(length)=value}`
fn structure(c: &mut Cursor<'_>, depth: u32) -> Parsed<Expr> {
    let mut fields = Vec::new();
    if c.eat("}")? {
        return Ok(Expr::Struct(fields));
    }
    loop {
        fields.push(field(c, depth)?);
        if c.eat("}")? {
            return Ok(Expr::Struct(fields));
        }
        if !c.eat(",")? {
            return c.fail(format!("{} where \",\" or \"}}\" was expected", c.here()));
        }
    }
}

fn field(c: &mut Cursor<'_>, depth: u32) -> Parsed<(Option<String>, Expr)> {
    let from = c.clone();
    let value = expr(c, depth)?;
    if !c.eat("=")? {
        return Ok((None, value));
    }
    let name = match value {
        Expr::Names(mut names) if names.len() == 1 => names.pop(),
        Expr::Call(name, _) => Some(name),
        _ => None,
    };
    if name.is_none() { from.fail("only a name can stand before =") } else { Ok((name, expr(c, depth)?)) }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = |f: &mut fmt::Formatter<'_>, items: &[Self]| {
            let words: Vec<_> = items.iter().map(ToString::to_string).collect();
            f.write_str(&words.join(", "))
        };
        match self {
            Self::Any => f.write_str("..."),
            Self::Int(n) => write!(f, "{n}"),
            Self::Names(names) => f.write_str(&names.join("|")),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::List(items) => {
                f.write_str("[")?;
                all(f, items)?;
                f.write_str("]")
            }
            Self::Struct(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    match name {
                        Some(name) => write!(f, "{comma}{name}={value}")?,
                        None => write!(f, "{comma}{value}")?,
                    }
                }
                f.write_str("}")
            }
            Self::Call(name, args) => {
                write!(f, "{name}(")?;
                all(f, args)?;
                f.write_str(")")
            }
        }
    }
}
