//! The table of keys for others: documentation, editors, Python.

use anabranch_stack::config::{Config, PROFILES};
use anabranch_stack::registry::Range;
use serde_json::{Value as Json, json};

use super::{Default, Key, TABLES, Table, Value, allowed, plain, written};

/// The default as it is written in a scenario of the profile `modern`, if it can be written.
pub fn usual(key: &Key) -> Option<String> {
    if let Some(setting) = key.usual(&PROFILES[0].1.config()) {
        return Some(written(setting, key.range().map(|(range, _)| range)));
    }
    match (&key.default, key.name) {
        (Default::Text(text), _) if is_value(text) => Some((*text).to_owned()),
        (Default::Profile, name) => chosen(&PROFILES[0].1.config(), name),
        _ => None,
    }
}

/// The algorithm of a configuration at the key `name`, as it is written.
fn chosen(config: &Config, name: &str) -> Option<String> {
    let chosen = match name {
        "controller" => config.controller.name(),
        "detector" => config.detector.name(),
        "reduction" => config.reduction.name(),
        "judge" => config.judge.name(),
        "scheduler" => config.scheduler.name(),
        _ => return None,
    };
    Some(format!("\"{chosen}\""))
}

/// True if a text is a value in TOML and not a phrase.
fn is_value(text: &str) -> bool {
    !text.contains('`') && format!("x = {text}").parse::<toml::Table>().is_ok()
}

/// The default in Markdown.
fn default(key: &Key) -> String {
    match (usual(key), &key.default) {
        (Some(value), _) if key.default_is_numbered() => format!("`{value}`, ..."),
        (Some(value), _) => format!("`{value}`"),
        (None, Default::Required) => "required".to_owned(),
        (None, Default::Text(text)) => (*text).to_owned(),
        (None, _) => String::new(),
    }
}

/// The type of the value for a JSON schema.
fn kind(key: &Key) -> Json {
    let words = |list: Vec<&str>| json!({ "enum": list });
    match (&key.value, key.range()) {
        (Value::Algorithm, _) => json!({ "type": ["string", "object"] }),
        (Value::Name | Value::Quantity(..), _) => json!({ "type": "string" }),
        (Value::Either(..), _) => json!({ "type": ["string", "number"] }),
        (Value::Inner, _) => json!({ "type": "object" }),
        (Value::Code(_), _) | (_, None) => json!({}),
        (_, Some((Range::Word, list))) => words(list),
        (_, Some((Range::Flag, _))) => json!({ "type": "boolean" }),
        (_, Some((Range::Whole(least, most), _))) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        (_, Some((Range::Number(least, most) | Range::RoundTrips(least, most), _))) => {
            json!({ "type": "number", "minimum": least, "maximum": most })
        }
        (_, Some((Range::Share(..), _))) => json!({ "type": ["string", "number"] }),
        (_, Some(_)) => json!({ "type": "string" }),
    }
}

/// Every key of every table, in order: `table`, `written` (how the table is written), `part`,
/// `key`, `directed`, `default` and `allowed` in Markdown, `meaning` in Markdown, `plain` (the
/// meaning without marks), `example`, `tables` and `lists` (names of tables that may stand at the
/// key, or in a list at it), `schema` (JSON schema of the value), `json` (name in the resolved
/// scenario), `linux` (the only resolved value that `compare-kernel` accepts, and why) and
/// `profiles` (the default of each profile).
pub fn keys() -> Vec<Json> {
    let mut all = Vec::new();
    for table in TABLES {
        for (part, key) in table.parts.iter().flat_map(|part| part.keys.iter().map(move |key| (part, key))) {
            let profiles = matches!(key.default, Default::Profile).then(|| {
                let of = |profile: anabranch_stack::config::Profile| {
                    let config = profile.config();
                    let setting = key.usual(&config).map(|s| written(s, key.range().map(|(range, _)| range)));
                    setting.or_else(|| chosen(&config, key.name))
                };
                PROFILES
                    .iter()
                    .filter(|(name, profile)| profile.name() == *name)
                    .map(|(name, profile)| ((*name).to_owned(), of(*profile).into()))
                    .collect::<serde_json::Map<_, _>>()
            });
            let linux = key.linux.map(|(value, why)| {
                json!({ "value": serde_json::from_str::<Json>(value).expect("the table has JSON here"), "why": why })
            });
            let names = |tables: &[&Table]| tables.iter().map(|table| table.name).collect::<Vec<_>>();
            all.push(json!({
                "table": table.name,
                "tables": names(key.tables),
                "lists": names(key.lists),
                "written": table.written,
                "part": part.title,
                "key": key.name,
                "directed": key.directed,
                "default": default(key),
                "allowed": allowed(key),
                "meaning": key.meaning,
                "plain": plain(key.meaning),
                "example": key.shown(),
                "schema": kind(key),
                "json": key.resolved(),
                "linux": linux,
                "profiles": profiles,
            }));
        }
    }
    all
}
