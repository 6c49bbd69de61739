//! What is known of an algorithm and of its parameters.

use core::mem;
use std::borrow::Cow;

use super::{Fairness, Need, Unit};

/// A parameter of an algorithm.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// As it is written in a scenario: lower case, words joined by `_`.
    pub name: Cow<'static, str>,
    /// What it counts.
    pub unit: Unit,
    /// Its default value.
    pub default: f64,
    /// The least value allowed.
    pub least: f64,
    /// The largest value allowed.
    pub most: f64,
    /// One line: what it does.
    pub meaning: Cow<'static, str>,
}

impl Parameter {
    /// A parameter with its default and the range `(least, most)` of its values.
    pub const fn new(name: &'static str, unit: Unit, default: f64, range: (f64, f64), meaning: &'static str) -> Self {
        let (name, meaning) = (Cow::Borrowed(name), Cow::Borrowed(meaning));
        Self { name, unit, default, least: range.0, most: range.1, meaning }
    }

    /// [`Parameter::new`] with texts that are known only while the program runs.
    pub fn owned(name: String, unit: Unit, default: f64, range: (f64, f64), meaning: String) -> Self {
        let (name, meaning) = (Cow::Owned(name), Cow::Owned(meaning));
        Self { name, unit, default, least: range.0, most: range.1, meaning }
    }

    /// Whether `value` is in its range, and whole if it counts whole numbers.
    pub fn allows(&self, value: f64) -> bool {
        let whole = self.unit != Unit::Whole || value.trunc() == value;
        (self.least..=self.most).contains(&value) && whole
    }
}

/// What is known of an algorithm.
///
/// Texts in the source of a program go into a `static`: [`Info::new`] and the methods that return
/// `Self` are constant functions. Texts that are known only while the program runs, as in a
/// binding, go through [`Info::owned`] and into the fields:
///
/// ```
/// use anabranch_stack::registry::{Info, Parameter, Unit};
///
/// let mut info = Info::owned(String::from("mine"), String::from("sends in turn"));
/// info.parameters = vec![Parameter::owned("turns".into(), Unit::Whole, 1.0, (1.0, 9.0), "segments in a row".into())].into();
/// assert!(info.check().is_ok());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Info {
    /// Its name in scenarios: lower case, words joined by `-`; or `module:Class`, the place of a
    /// class of another language.
    pub name: Cow<'static, str>,
    /// Its label in reports, as its authors write it: `"D-SACK"`.
    pub label: Cow<'static, str>,
    /// One line: what it does.
    pub summary: Cow<'static, str>,
    /// The RFC or paper it follows.
    pub source: Cow<'static, str>,
    /// What it needs from the connection.
    pub needs: Cow<'static, [Need]>,
    /// What it is fair to at a shared bottleneck; `None` for judges and schedulers.
    pub fairness: Option<Fairness>,
    /// How it was validated.
    pub validated: Cow<'static, str>,
    /// Its parameters.
    pub parameters: Cow<'static, [Parameter]>,
    /// The algorithm that has this one as a value of one of its parameters; `None` if none has.
    /// Random scenarios do not draw variants: they draw the parameter instead.
    pub variant_of: Option<&'static str>,
}

/// Puts a borrowed value at `place`. The value before is not dropped: constant functions cannot
/// drop a `Cow`.
const fn put<T>(place: &mut T, value: T) {
    mem::forget(mem::replace(place, value));
}

impl Info {
    /// An algorithm with a name and a summary, without needs and parameters. Its label is the name.
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            label: Cow::Borrowed(name),
            summary: Cow::Borrowed(summary),
            source: Cow::Borrowed(""),
            needs: Cow::Borrowed(&[]),
            fairness: None,
            validated: Cow::Borrowed(""),
            parameters: Cow::Borrowed(&[]),
            variant_of: None,
        }
    }

    /// [`Info::new`] with texts that are known only while the program runs. The other texts are set
    /// in the fields.
    pub fn owned(name: String, summary: String) -> Self {
        Self {
            label: Cow::Owned(name.clone()),
            name: Cow::Owned(name),
            summary: Cow::Owned(summary),
            ..Self::new("", "")
        }
    }

    /// With a label other than the name.
    #[must_use]
    pub const fn label(mut self, label: &'static str) -> Self {
        put(&mut self.label, Cow::Borrowed(label));
        self
    }

    /// With the RFC or paper it follows.
    #[must_use]
    pub const fn source(mut self, source: &'static str) -> Self {
        put(&mut self.source, Cow::Borrowed(source));
        self
    }

    /// With what it needs of the connection.
    #[must_use]
    pub const fn needs(mut self, needs: &'static [Need]) -> Self {
        put(&mut self.needs, Cow::Borrowed(needs));
        self
    }

    /// With what it is fair to at a shared bottleneck.
    #[must_use]
    pub const fn fairness(mut self, fairness: Fairness) -> Self {
        self.fairness = Some(fairness);
        self
    }

    /// With how it was validated.
    #[must_use]
    pub const fn validated(mut self, validated: &'static str) -> Self {
        put(&mut self.validated, Cow::Borrowed(validated));
        self
    }

    /// As a variant of the algorithm called `name`, which has it as a value of a parameter.
    #[must_use]
    pub const fn variant_of(mut self, name: &'static str) -> Self {
        self.variant_of = Some(name);
        self
    }

    /// With its parameters.
    #[must_use]
    pub const fn parameters(mut self, parameters: &'static [Parameter]) -> Self {
        put(&mut self.parameters, Cow::Borrowed(parameters));
        self
    }

    /// The parameter called `name`.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|p| p.name == name)
    }

    /// Checks that a scenario can hold the name and the parameters, and that a list can show the
    /// texts.
    ///
    /// # Errors
    /// What is wrong, with the value and the remedy.
    pub fn check(&self) -> Result<(), String> {
        if !word(&self.name, '-') && !place(&self.name) {
            return Err(String::from(
                "a name must consist of lower-case letters and digits, its words joined by \"-\", or say where a class is: \"module:Class\"",
            ));
        }
        if self.summary.is_empty() || self.summary.contains('\n') {
            return Err(String::from("the summary must be one line of text"));
        }
        for (i, p) in self.parameters.iter().enumerate() {
            let twice = self.parameters[..i].iter().any(|other| other.name == p.name);
            let problem = if !word(&p.name, '_') || p.name == "name" {
                String::from(
                    "the name must consist of lower-case letters and digits, its words joined by \"_\", and not be \"name\"",
                )
            } else if !(p.least < p.most && p.least.is_finite() && p.most.is_finite()) {
                format!(
                    "the range {} to {} must have finite limits, the lower one below the upper one",
                    p.least, p.most
                )
            } else if !p.allows(p.default) {
                format!("the default {} is out of its range, {} to {}", p.default, p.least, p.most)
            } else if p.meaning.is_empty() || p.meaning.contains('\n') {
                String::from("the meaning must be one line of text")
            } else if twice {
                String::from("two parameters have this name; rename one")
            } else {
                continue;
            };
            return Err(format!("parameter \"{}\": {problem}", p.name));
        }
        Ok(())
    }
}

/// True if `text` is lower case and its words are joined by `joint`.
fn word(text: &str, joint: char) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == joint)
}

/// True if `text` says where a class of another language is: `module:Class`.
fn place(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(module, class)| {
        let starts = class.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '<' | '>');
        starts
            && class.chars().all(part)
            && !module.is_empty()
            && !module.contains(|c: char| c.is_control() || c == '"')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, summary: &str, parameters: Vec<Parameter>) -> String {
        let mut info = Info::owned(name.to_owned(), summary.to_owned());
        info.parameters = parameters.into();
        info.check().expect_err("it is refused")
    }

    #[test]
    fn texts_that_a_scenario_cannot_hold_are_refused_with_the_remedy() {
        let p = |name: &str, default: f64, least: f64, meaning: &str| {
            Parameter::owned(name.to_owned(), Unit::Number, default, (least, 1.0), meaning.to_owned())
        };
        assert!(refused("Mine", "x", vec![]).contains("lower-case letters"));
        assert!(refused("", "x", vec![]).contains("lower-case letters"));
        assert!(refused(":Mine", "x", vec![]).contains("module:Class"));
        assert!(refused("mine.py:", "x", vec![]).contains("module:Class"));
        assert!(Info::owned("a b/mine.py:Mine".to_owned(), "x".to_owned()).check().is_ok());
        assert_eq!(refused("mine", "", vec![]), "the summary must be one line of text");
        assert!(refused("mine", "x", vec![p("name", 0.0, 0.0, "m")]).ends_with("and not be \"name\""));
        assert!(refused("mine", "x", vec![p("a", 0.0, 1.0, "m")]).starts_with("parameter \"a\": the range 1 to 1"));
        assert!(refused("mine", "x", vec![p("a", 0.0, f64::NAN, "m")]).contains("finite limits"));
        assert!(
            refused("mine", "x", vec![p("a", 2.0, 0.0, "m")]).contains("the default 2 is out of its range, 0 to 1")
        );
        assert!(refused("mine", "x", vec![p("a", 0.0, 0.0, "")]).contains("meaning"));
        let twice = refused("mine", "x", vec![p("a", 0.0, 0.0, "m"), p("a", 0.0, 0.0, "m")]);
        assert!(twice.ends_with("two parameters have this name; rename one"), "{twice}");
    }
}
