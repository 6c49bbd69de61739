//! What the arguments of a call mean.

use anabranch_sim::scenario::nearest::did_you_mean;

use super::ast::{Call, Expr};
use super::constants;
use super::report::{Step, Stop};

/// The value of a number or a constant.
///
/// # Errors
/// If it is something else, or an unknown constant.
pub fn value(expr: &Expr) -> Step<i64> {
    match expr {
        Expr::Int(n) => Ok(*n),
        Expr::Names(names) => names.iter().try_fold(0, |sum, name| Ok(sum | constant(name)?)),
        // "[1]": a pointer to a number.
        Expr::List(items) if items.len() == 1 => value(&items[0]),
        Expr::Call(name, args) if name == "htons" && args.len() == 1 => value(&args[0]),
        other => Stop::wrong(format!("{other} where a number or a constant was expected")),
    }
}

fn constant(name: &str) -> Step<i64> {
    match constants::number(name).or_else(|| name.parse().ok()) {
        Some(n) => Ok(n),
        None => Stop::lacks(format!("the constant {name}: {}it is not known", did_you_mean(name, &constants::names()))),
    }
}

impl Call {
    /// An argument.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn arg(&self, i: usize) -> Step<&Expr> {
        match self.args.get(i) {
            Some(arg) => Ok(arg),
            None => Stop::wrong(format!("{}: argument {} is missing", self.name, i + 1)),
        }
    }

    /// The value of an argument.
    ///
    /// # Errors
    /// If it is not there, or has none.
    pub fn int(&self, i: usize) -> Step<i64> {
        value(self.arg(i)?)
    }

    /// A number of octets.
    ///
    /// # Errors
    /// If it is not there, or negative.
    pub fn octets(&self, i: usize) -> Step<u64> {
        let n = self.int(i)?;
        u64::try_from(n).or_else(|_| Stop::wrong(format!("{}: {n} octets is not a length; it is 0 or more", self.name)))
    }

    /// The pointer is NULL.
    pub fn is_null(&self, i: usize) -> bool {
        matches!(self.args.get(i), Some(Expr::Names(names)) if names == &["NULL"])
    }

    /// The first name of an argument that is a constant.
    pub fn word(&self, i: usize) -> String {
        match self.args.get(i) {
            Some(Expr::Names(names)) => names.join("|"),
            Some(other) => other.to_string(),
            None => String::new(),
        }
    }
}

/// A field of `{name=value}`.
pub fn field<'a>(expr: &'a Expr, name: &str) -> Option<&'a Expr> {
    match expr {
        Expr::Struct(fields) => fields.iter().find(|(n, _)| n.as_deref() == Some(name)).map(|(_, value)| value),
        _ => None,
    }
}

/// The octets that a list of buffers `[{..., 40}, {..., 20}]` has.
///
/// # Errors
/// If it is something else.
pub fn buffers(expr: Option<&Expr>) -> Step<u64> {
    let Some(Expr::List(items)) = expr else { return Stop::wrong("a list of buffers was expected: [{..., 1000}]") };
    let mut sum = 0u64;
    for item in items {
        let len = match item {
            Expr::Struct(fields) if fields.len() == 2 => value(&fields[1].1)?,
            other => return Stop::wrong(format!("{other} where a buffer was expected: {{..., 1000}}")),
        };
        let Ok(len) = u64::try_from(len) else {
            return Stop::wrong(format!("a buffer of {len} octets; its length is 0 or more"));
        };
        sum = sum.saturating_add(len);
    }
    Ok(sum)
}
