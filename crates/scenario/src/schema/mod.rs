//! The table of keys: what each key of a scenario is called, which values it takes, its default and
//! its meaning.
//!
//! From this table come the reading of values and the messages about them, `--set`, the resolved
//! scenario, `anabranch new`, `anabranch list keys`, the tables of docs/scenario.md, the JSON
//! schema for editors, what `stack = "legacy-2011"` and `compare-kernel` refuse, and what torture
//! draws. A key that the table lacks is refused in every file. What only code can say, such as that
//! two keys exclude each other, stays with the code that reads them.

mod connection;
mod describe;
mod link;
mod parts;
mod root;
mod transfer;
mod transport;
mod varying;
mod wifi;
mod written;

use anabranch_stack::config::{Config, Field};
use anabranch_stack::registry::{Range, Setting};
use anabranch_stack::time::Duration;

pub use describe::keys;
pub(super) use describe::usual;
pub(super) use parts::{MOST_OBJECTS, MOST_OF_ONE};
pub(super) use transfer::MOST;
pub(super) use wifi::WIFI_HIGH;
use written::written;
pub(super) use written::{allowed, example, plain, unit};

use super::units::{Kind, LATEST};

/// What may stand at a key.
#[derive(Debug)]
pub enum Value {
    /// Values of the engine's field of the same name.
    Field,
    /// Values of the engine's field of the same name, within a narrower range.
    Within(Range),
    /// A value in a range.
    In(Range),
    /// One of some words, or a value in a range.
    Or(&'static [&'static str], Range),
    /// One of a list of words.
    Words(fn() -> Vec<&'static str>),
    /// A quantity of another unit, from the first to the second number of base units.
    Quantity(&'static Kind, i64, i64),
    /// An algorithm of the kind that the key names.
    Algorithm,
    /// A name of 1 to 64 letters, digits, "-", "_" or ".".
    Name,
    /// A value in the first range, or one in the second, which is a range of quantities.
    Either(Range, Range),
    /// A table whose keys have ranges; [`Key::tables`] has it.
    Inner,
    /// A value that only code can read; the text says what is allowed, in Markdown.
    Code(&'static str),
}

/// What a key without a value means.
#[derive(Debug)]
pub enum Default {
    /// The key has to be written.
    Required,
    /// No value: another key takes the place of this one, or the scenario does not need it.
    Absent,
    /// This value.
    Of(Setting),
    /// The value of the profile.
    Profile,
    /// A value in TOML such as `"100 packets"`, or a phrase in Markdown such as `as the others`.
    Text(&'static str),
}

/// How torture draws a value.
#[derive(Clone, Copy, Debug)]
pub enum Draw {
    /// Any allowed value, all equally likely.
    Any,
    /// Whole numbers, octets, packets, kbit/s or microseconds between two bounds, each power of two
    /// as likely as any other.
    Spread(u64, u64),
    /// Whole numbers between two bounds, all equally likely.
    Whole(u64, u64),
    /// Numbers between two bounds.
    Real(f64, f64),
    /// Percents up to a bound.
    Share(f64),
    /// Code draws it.
    Code,
}

/// A key of a scenario.
#[derive(Debug)]
pub struct Key {
    /// The key as it is written, without a direction.
    pub name: &'static str,
    /// Which values are allowed.
    pub value: Value,
    /// What holds if the key is not written.
    pub default: Default,
    /// What the key does, in Markdown. The first sentence is also the comment of `anabranch new`.
    pub meaning: &'static str,
    /// A value as it is written, for keys without a default that can be written.
    pub example: &'static str,
    /// Tables that may stand at the key, or are its only value.
    pub tables: &'static [&'static Table],
    /// Tables that may stand in a list at the key.
    pub lists: &'static [&'static Table],
    /// The key may end in `_up` or `_down`.
    pub directed: bool,
    /// The model of 2011 obeys the key.
    pub heeded: bool,
    /// What the model of 2011 does instead of obeying the key.
    pub instead: &'static str,
    /// The only value in the resolved scenario that `compare-kernel` accepts, as JSON, and why.
    pub linux: Option<(&'static str, &'static str)>,
    /// The name in the resolved scenario, if it is not made of the key's name and its unit.
    json: &'static str,
    /// The resolved scenario has the key only with a value that is not the default, so that runs
    /// stored before the key existed keep their identity.
    pub left_out: bool,
    /// `anabranch new` writes the key commented out: it takes the place of another key, or needs
    /// one.
    pub aside: bool,
    /// Only the simulator carries the key out: another driver of the engine refuses it
    /// ([`connection_config`](super::connection_config)).
    pub simulated: bool,
    /// The reader stores the value in [`More`](super::model::More), not in a field of the model.
    pub stored: bool,
    /// The key that a value from `--set` removes from the same table.
    pub rival: &'static str,
    /// How often in a hundred torture draws the key.
    pub often: u32,
    /// How torture draws a value.
    pub draw: Draw,
}

const fn key(name: &'static str, value: Value, default: Default, meaning: &'static str) -> Key {
    Key {
        name,
        value,
        default,
        meaning,
        example: "",
        tables: &[],
        lists: &[],
        directed: false,
        heeded: false,
        instead: "",
        linux: None,
        json: "",
        left_out: false,
        aside: false,
        simulated: false,
        stored: false,
        rival: "",
        often: 0,
        draw: Draw::Code,
    }
}

impl Key {
    const fn example(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }

    const fn tables(mut self, tables: &'static [&'static Table]) -> Self {
        self.tables = tables;
        self
    }

    const fn lists(mut self, tables: &'static [&'static Table]) -> Self {
        self.lists = tables;
        self
    }

    const fn directed(mut self) -> Self {
        self.directed = true;
        self
    }

    const fn heeded(mut self) -> Self {
        self.heeded = true;
        self
    }

    const fn instead(mut self, instead: &'static str) -> Self {
        self.instead = instead;
        self
    }

    const fn linux(mut self, value: &'static str, why: &'static str) -> Self {
        self.linux = Some((value, why));
        self
    }

    const fn json(mut self, json: &'static str) -> Self {
        self.json = json;
        self
    }

    const fn left_out(mut self) -> Self {
        self.left_out = true;
        self
    }

    const fn aside(mut self) -> Self {
        self.aside = true;
        self
    }

    const fn simulated(mut self) -> Self {
        self.simulated = true;
        self
    }

    const fn stored(mut self) -> Self {
        self.stored = true;
        self
    }

    const fn rival(mut self, rival: &'static str) -> Self {
        self.rival = rival;
        self
    }

    const fn often(mut self, percent: u32, draw: Draw) -> Self {
        self.often = percent;
        self.draw = draw;
        self
    }

    /// The engine's field of the same name.
    ///
    /// # Panics
    /// If there is none.
    pub fn field(&self) -> &'static Field {
        Field::find(self.name).unwrap_or_else(|| panic!("the engine has no field {}", self.name))
    }

    /// The range of values and the words beside it, if the table says them.
    pub fn range(&self) -> Option<(Range, Vec<&'static str>)> {
        match self.value {
            Value::Field => Some((self.field().range, self.field().words.to_vec())),
            Value::Within(range) => Some((range, self.field().words.to_vec())),
            Value::In(range) => Some((range, Vec::new())),
            Value::Or(words, range) => Some((range, words.to_vec())),
            Value::Words(words) => Some((Range::Word, words())),
            Value::Either(range, _) => Some((range, Vec::new())),
            Value::Quantity(..) | Value::Algorithm | Value::Name | Value::Inner | Value::Code(_) => None,
        }
    }

    /// The default, if it is a single value. Of the engine's fields it is that of `config`.
    pub fn usual(&self, config: &Config) -> Option<Setting> {
        match self.default {
            Default::Of(setting) => Some(setting),
            Default::Profile if matches!(self.value, Value::Field | Value::Within(_)) => {
                Some((self.field().get)(config))
            }
            _ => None,
        }
    }

    /// True if the default is a name with a number.
    fn default_is_numbered(&self) -> bool {
        matches!((&self.value, &self.default), (Value::Name, Default::Text(_)))
    }

    /// The table that stands at the key.
    ///
    /// # Panics
    /// If the value is not [`Value::Inner`].
    pub fn inner(&self) -> &'static Table {
        match (&self.value, self.tables) {
            (Value::Inner, [table]) => table,
            _ => panic!("{} is not a table", self.name),
        }
    }

    /// What the key's value is called in a message.
    pub(super) fn called(&self) -> String {
        match self.name {
            "by" | "like" => "word".to_owned(),
            name => name.replace('_', " "),
        }
    }

    /// A value as it is written in a file.
    pub(super) fn shown(&self) -> String {
        if !self.example.is_empty() {
            return self.example.to_owned();
        }
        match (&self.default, self.range()) {
            (Default::Of(setting), range) => written(*setting, range.map(|(range, _)| range)),
            (_, Some((Range::Word, words))) => format!("\"{}\"", words.first().unwrap_or(&"")),
            (_, Some((range, _))) => example(range),
            (_, None) => match self.value {
                Value::Quantity(kind, ..) => format!("\"{}\"", kind.example()),
                Value::Name => format!("\"{}1\"", self.name),
                Value::Inner => self.inner().shown(),
                _ => "...".to_owned(),
            },
        }
    }

    /// The name in the resolved scenario: the key's name and its unit.
    pub fn resolved(&self) -> String {
        if !self.json.is_empty() {
            return self.json.to_owned();
        }
        let ending = self.range().map_or("", |(range, _)| ending(range));
        format!("{}{ending}", self.name)
    }
}

/// The unit of a range as the ending of a name in the resolved scenario; empty without a unit.
pub(super) fn ending(range: Range) -> &'static str {
    match range {
        Range::Time(..) => "_s",
        Range::Octets(..) => "_bytes",
        Range::Rate(..) => "_bps",
        Range::Packets(..) => "_packets",
        Range::RoundTrips(..) => "_srtt",
        _ => "",
    }
}

/// Keys of a table that belong together.
#[derive(Debug)]
pub struct Part {
    /// A heading; empty if the table has one part.
    pub title: &'static str,
    /// The keys, in the order in which pages list them.
    pub keys: &'static [Key],
}

/// The keys of one kind of table.
#[derive(Debug)]
pub struct Table {
    /// A short name for `anabranch list keys`.
    pub name: &'static str,
    /// How the table is written in a file, for messages.
    pub written: &'static str,
    /// The keys, by part.
    pub parts: &'static [Part],
}

impl Table {
    /// Every key, without the directed variants.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        self.parts.iter().flat_map(|part| part.keys)
    }

    /// The key called `name`, with or without a direction.
    pub fn find(&self, name: &str) -> Option<&'static Key> {
        #[cfg(test)]
        if HIDDEN.get().is_some_and(|hidden| std::ptr::eq(hidden.0, self) && hidden.1 == name) {
            return None;
        }
        let base = name.strip_suffix("_up").or_else(|| name.strip_suffix("_down"));
        self.keys().find(|key| key.name == name || (key.directed && base == Some(key.name)))
    }

    /// The table as it is written, with the keys that have to be.
    fn shown(&self) -> String {
        let needed = self.keys().filter(|key| matches!(key.default, Default::Required));
        let keys: Vec<String> = needed.map(|key| format!("{} = {}", key.name, key.shown())).collect();
        format!("{{ {} }}", keys.join(", "))
    }

    /// True if the table has a key called `name`, with or without a direction.
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}

#[cfg(test)]
thread_local! {
    /// A key that a test takes out of its table.
    pub static HIDDEN: std::cell::Cell<Option<(&'static Table, &'static str)>> = const { std::cell::Cell::new(None) };
}

const ZERO: Duration = Duration::ZERO;
const NANOSECOND: Duration = Duration(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);
const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The highest rate of a link, 1 Tbit/s.
pub(super) const FASTEST: u64 = 1_000_000_000_000;
/// The most packets of a queue.
pub(super) const MOST_PACKETS: u64 = 10_000_000;
/// The most octets of a queue.
pub(super) const MOST_BYTES: u64 = 1_000_000_000_000;
const RATE: Range = Range::Rate(1, FASTEST);
/// One-way propagation delays of at most an hour, about that to Jupiter.
const DELAY: Range = Range::Time(ZERO, HOUR);
const RATIO: Range = Range::Share(0.0, 1.0);
/// Lengths of time above zero.
const SPAN: Range = Range::Time(NANOSECOND, LATEST);
/// Lengths of time and moments, zero included.
const PAUSE: Range = Range::Time(ZERO, LATEST);
/// Numbers above zero.
const POSITIVE: Range = Range::Number(1e-6, 1e6);

/// The names of a list of names and values.
macro_rules! names {
    ($list:expr) => {
        || $list.iter().map(|(name, _)| *name).collect()
    };
}
use names;

macro_rules! tables {
    ($($constant:ident = $name:literal, $written:literal, $parts:expr;)*) => {
        $(
            #[doc = concat!("The keys of `", $written, "`.")]
            pub static $constant: Table = Table { name: $name, written: $written, parts: $parts };
        )*
        /// All tables of keys.
        pub static TABLES: &[&Table] = &[$(&$constant),*];
    };
}

/// A table in one part.
macro_rules! one {
    ($keys:expr) => {
        &[Part { title: "", keys: $keys }]
    };
}

tables! {
    ROOT = "root", "the top level", one!(root::ROOT);
    CONNECTION = "connection", "[connection]", connection::PARTS.split_at(connection::PARTS.len() - 1).0;
    LONG_CONNECTION = "connections", "[[connection]]", connection::PARTS;
    PATH = "path", "[[path]]", link::PATH;
    TRANSFER = "transfer", "[transfer]", transfer::TRANSFER;
    LINK = "link", "[[link]]", link::LINK;
    NODE = "nodes", "[[host]]", root::NODES;
    ROUTER = "router", "[[router]]", one!(root::NODE);
    HOST = "host", "[host]", root::HOST;
    WIFI = "wifi", "wifi = { ... }", wifi::WIFI;
    TOPOLOGY = "topology", "[topology]", root::TOPOLOGY;
    ACCESS = "access", "access = { ... }", root::ACCESS;
    TRAFFIC = "traffic", "[traffic]", one!(root::TRAFFIC);
    PATH_CHANGE = "path_changes", "path_changes = [ { ... } ]", one!(parts::PATH_CHANGE);
    CHANGE = "changes", "changes = [ { ... } ]", one!(parts::CHANGE);
    MIDDLEBOX = "middleboxes", "middleboxes = [ { ... } ]", one!(parts::MIDDLEBOX);
    POLICER = "policer", "policer = { ... }", one!(parts::POLICER);
    LOSS = "loss", "loss = { ... }", one!(parts::LOSS);
    MTU = "mtu", "mtu = { ... }", one!(parts::MTU);
    RED = "red", "discipline = { name = \"red\" }", parts::RED;
    CODEL = "codel", "discipline = { name = \"codel\" }", parts::CODEL;
    FQ_CODEL = "fq-codel", "discipline = { name = \"fq-codel\" }", parts::FQ_CODEL;
    LEO = "leo", "leo = { ... }", varying::LEO;
    CELLULAR = "cellular", "cellular = { ... }", varying::CELLULAR;
    WAYPOINT = "waypoints", "waypoints = [ { ... } ]", one!(parts::WAYPOINT);
    PAGE = "page", "page = { ... }", one!(parts::PAGE);
    OBJECT = "object", "page = [{ ... }]", one!(parts::OBJECT);
    UNIFORM = "uniform", "{ name = \"uniform\" }", one!(parts::UNIFORM);
    EXPONENTIAL = "exponential", "{ name = \"exponential\" }", one!(parts::EXPONENTIAL);
    LOGNORMAL = "lognormal", "{ name = \"lognormal\" }", one!(parts::LOGNORMAL);
    PARETO = "pareto", "{ name = \"pareto\" }", one!(parts::PARETO);
}

/// Tables in which a misplaced key is looked for.
pub(super) static HOMES: &[&Table] = &[&CONNECTION, &HOST, &PATH, &TRANSFER, &LINK, &ROOT, &WIFI, &TOPOLOGY, &TRAFFIC];
