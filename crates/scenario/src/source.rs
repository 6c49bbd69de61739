//! The text of a scenario and how it is read.

use anabranch_measures::ask::{Ask, go_on};
use anabranch_stack::config::Registries;
use toml::{Table, Value};

use super::error::{Error, asked};
use super::model::{Scenario, Stack};
use super::parse::{Context, scenario};
use super::{generated, overrides, presets, syntax, trace};
use crate::algorithms::registered;

/// The text of a scenario, with the overrides, the seed and the algorithms to read it with.
///
/// ```
/// use anabranch_scenario::Source;
///
/// let text = "transfer = { bytes = '1 MB' }\npath = [{ rate = '10 Mbit/s', delay = '20 ms' }]";
/// let scenario = Source::new(text).set("connection.controller", "cubic").seed(7).read()?;
/// assert_eq!(scenario.connections[0].config.controller.name(), "cubic");
/// let error = Source::new(text).named("mine.toml").set("connection.controller", "cubik").read().unwrap_err();
/// assert!(error.to_string().starts_with("mine.toml: connection.controller (from --set or set()): unknown controller \"cubik\""));
/// # Ok::<(), anabranch_scenario::Error>(())
/// ```
#[derive(Clone)]
pub struct Source<'a> {
    text: &'a str,
    name: &'a str,
    overrides: Vec<(String, String)>,
    seed: Option<u64>,
    known: Option<&'a Registries>,
    ask: Ask<'a>,
}

impl<'a> Source<'a> {
    /// A TOML document, called `scenario` in messages.
    pub fn new(text: &'a str) -> Self {
        Self { text, name: "scenario", overrides: Vec::new(), seed: None, known: None, ask: &go_on }
    }

    /// Sets the file as messages name it. Files that the scenario names are looked for beside this
    /// file.
    #[must_use]
    pub fn named(mut self, name: &'a str) -> Self {
        self.name = name;
        self
    }

    /// Overrides the value at a key path: `set("path[1].delay", "200 ms")`. Overrides are applied
    /// in order.
    #[must_use]
    pub fn set(mut self, key: &str, value: &str) -> Self {
        self.overrides.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Adds overrides: key paths and values.
    #[must_use]
    pub fn overrides(mut self, overrides: &[(String, String)]) -> Self {
        self.overrides.extend_from_slice(overrides);
        self
    }

    /// Replaces the seed of the document, unless `seed` is `None`.
    #[must_use]
    pub fn seed(mut self, seed: impl Into<Option<u64>>) -> Self {
        self.seed = seed.into();
        self
    }

    /// Sets the algorithms whose names the scenario may use. The default is all algorithms of the
    /// engine and all that this process has registered ([`crate::algorithms::register`]).
    #[must_use]
    pub fn registries(mut self, known: &'a Registries) -> Self {
        self.known = Some(known);
        self
    }

    /// Calls `ask` at each link and at each connection. If `ask` breaks off the reading, the result
    /// is an error that [is no fault](Error::is_stopped).
    #[must_use]
    pub fn ask(mut self, ask: Ask<'a>) -> Self {
        self.ask = ask;
        self
    }

    /// Reads and validates the scenario.
    ///
    /// # Errors
    /// The first fault found, with its place and remedy.
    pub fn read(&self) -> Result<Scenario, Error> {
        self.document().map(|(_, scenario)| scenario)
    }

    /// The document with its overrides and seed applied, as TOML. Read without overrides it gives
    /// the same scenario, in this version and in later ones, since each connection names its
    /// profile. Comments are lost.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub fn resolved_toml(&self) -> Result<String, Error> {
        let (mut document, scenario) = self.document()?;
        if scenario.stack == Stack::Anabranch {
            name_profiles(&mut document, &scenario);
        }
        Ok(document.to_string())
    }

    /// As [`Source::resolved_toml`], with `[topology]` and `[traffic]` written out as hosts,
    /// routers, links and connections.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub fn expanded_toml(&self) -> Result<String, Error> {
        let (document, scenario) = self.document()?;
        let expanded = generated::expand(&document, scenario.stack, scenario.seed, &go_on);
        Ok(expanded.map_err(|e| e.in_file(self.name))?.unwrap_or(document).to_string())
    }

    /// The document with its overrides applied and with the contents of the files that it names in
    /// place of their names; `None` if it names none. It is not validated otherwise.
    ///
    /// # Errors
    /// If the text is not TOML, an override does not fit, or a file cannot be read.
    pub fn inlined_toml(&self) -> Result<Option<String>, Error> {
        let mut document = syntax::parse(self.text).map_err(|e| e.in_file(self.name))?;
        let overridden = overrides::apply(&mut document, &self.overrides).map_err(|e| e.in_file(self.name))?;
        let any = trace::inline(&mut document, self.name);
        let any = any.map_err(|e| e.mark_overridden(&overridden).in_file(self.name))?;
        Ok(any.then(|| document.to_string()))
    }

    fn document(&self) -> Result<(Table, Scenario), Error> {
        self.document_with(&self.overrides).map_err(|fault| match self.document_with(&[]) {
            // An override inside a table does not cause every fault of that table.
            Err(own) => fault.unmark_if_like(&own),
            Ok(_) => fault,
        })
    }

    fn document_with(&self, overrides: &[(String, String)]) -> Result<(Table, Scenario), Error> {
        let in_file = |e: Error| e.in_file(self.name);
        let mut document = syntax::parse(self.text).map_err(in_file)?;
        let overridden = overrides::apply(&mut document, overrides).map_err(in_file)?;
        let fault = |e: Error| e.mark_overridden(&overridden).in_file(self.name);
        if let Some(seed) = self.seed {
            let too_large =
                |_| Error::at("seed", format!("{seed} is out of range"), format!("allowed: 0 to {}", i64::MAX));
            let seed = i64::try_from(seed).map_err(too_large).map_err(in_file)?;
            document.insert("seed".into(), Value::Integer(seed));
        }
        trace::inline(&mut document, self.name).map_err(fault)?;
        presets::expand(&mut document).map_err(fault)?;
        asked(self.ask)?;
        let of_process;
        let known = match self.known {
            Some(known) => known,
            None => {
                of_process = registered();
                &*of_process
            }
        };
        let scenario = scenario(&document, Context { known, ask: self.ask }).map_err(fault)?;
        Ok((document, scenario))
    }
}

/// Reads and validates a scenario.
///
/// `name` is the file as messages name it. `overrides` are key paths and raw values
/// (`path[1].delay`, `200 ms`), applied in order before anything is read; `seed`, if given,
/// replaces the document's. [`Source`] can do more.
///
/// # Errors
/// The first fault found, with its place and remedy. Nothing has run by then.
pub fn parse(text: &str, name: &str, overrides: &[(String, String)], seed: Option<u64>) -> Result<Scenario, Error> {
    Source::new(text).named(name).overrides(overrides).seed(seed).read()
}

/// Writes the profile of each connection into the document.
fn name_profiles(document: &mut Table, scenario: &Scenario) {
    let of = |i: usize| scenario.connections.get(i).map(|c| Value::from(c.config.profile.name()));
    match document.entry("connection").or_insert_with(|| Value::Table(Table::new())) {
        Value::Array(list) => {
            for (i, connection) in list.iter_mut().enumerate() {
                if let (Some(table), Some(profile)) = (connection.as_table_mut(), of(i)) {
                    table.insert("profile".into(), profile);
                }
            }
        }
        Value::Table(table) => {
            table.extend(of(0).map(|profile| ("profile".to_owned(), profile)));
        }
        _ => {}
    }
}
