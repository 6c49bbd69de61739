//! `--set path[1].delay="200 ms"`: values put into the document before it is read.
//!
//! A key may be written `path[1].delay` or, since shells expand brackets, `path.1.delay`. A value that is not TOML counts as
//! text, so that neither quantities nor words need quotes on a command line.

use toml::{Table, Value};

use super::error::{Error, show};

use super::schema::{Key, LINK, LONG_CONNECTION, TRANSFER, Value as Shape};

/// One step into the document.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// Applies `overrides` in order; returns their key paths, normalised.
pub(super) fn apply(document: &mut Table, overrides: &[(String, String)]) -> Result<Vec<String>, Error> {
    let parsed: Vec<(Vec<Step>, String, &String)> = overrides
        .iter()
        .map(|(key, value)| {
            let steps = steps(key)?;
            Ok((steps.clone(), written(&steps), value))
        })
        .collect::<Result<_, _>>()?;
    let keys: Vec<String> = parsed.iter().map(|(_, w, _)| w.clone()).collect();
    for (steps, key, raw) in &parsed {
        let mark = |e: Error| e.mark_overridden(std::slice::from_ref(key));
        let value = value(raw).map_err(|e| mark(e.within(key)))?;
        put(document, steps, value, &keys).map_err(mark)?;
    }
    Ok(keys)
}

fn steps(key: &str) -> Result<Vec<Step>, Error> {
    let bad = || {
        let remedy = "write a key path such as path[1].delay or path.1.delay";
        Error::new(format!("\"{key}\" is not a key path"), remedy)
    };
    let mut steps = Vec::new();
    for part in key.trim().split('.') {
        let (word, indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        if !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) {
            steps.push(Step::Index(word.parse().map_err(|_| bad())?));
        } else if word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        {
            steps.push(Step::Key(word.to_owned()));
        } else {
            return Err(bad());
        }
        let mut rest = indices;
        while !rest.is_empty() {
            let (index, tail) = rest.strip_prefix('[').and_then(|r| r.split_once(']')).ok_or_else(bad)?;
            steps.push(Step::Index(index.trim().parse().map_err(|_| bad())?));
            rest = tail;
        }
    }
    if matches!(steps[0], Step::Index(_)) { Err(bad()) } else { Ok(steps) }
}

fn written(steps: &[Step]) -> String {
    let text = steps.iter().fold(String::new(), |text, step| text + &shown(step));
    text.strip_prefix('.').map_or(text.clone(), str::to_owned)
}

/// A step behind another one.
fn shown(step: &Step) -> String {
    match step {
        Step::Index(i) => format!("[{i}]"),
        Step::Key(k) => format!(".{k}"),
    }
}

fn value(raw: &str) -> Result<Value, Error> {
    let raw = raw.trim();
    let parsed = if raw.contains('\n') { None } else { format!("x = {raw}").parse::<Table>().ok() };
    match parsed.and_then(|mut t| t.remove("x")) {
        // No key has a date as its value, so what looks like one is text.
        Some(v) if !v.is_datetime() => Ok(v),
        None if raw.starts_with(['[', '{', '"', '\'']) && raw.contains('\n') => {
            Err(Error::new(format!("{raw} has line breaks"), "write the value on one line"))
        }
        None if raw.starts_with(['[', '{', '"', '\'']) => Err(Error::new(
            format!("{raw} is not a TOML value"),
            "close quotes and brackets; on a command line, put the whole value in quotes",
        )),
        _ => Ok(Value::String(raw.to_owned())),
    }
}

fn put(document: &mut Table, steps: &[Step], value: Value, keys: &[String]) -> Result<(), Error> {
    let mut root = Value::Table(std::mem::take(document));
    let result = descend(&mut root, steps, 0, value, keys);
    if let Value::Table(t) = root {
        *document = t;
    }
    result
}

/// Goes down along `steps[depth..]`, making tables on the way, and puts `value` at the end.
fn descend(here: &mut Value, steps: &[Step], depth: usize, value: Value, keys: &[String]) -> Result<(), Error> {
    let Some(step) = steps.get(depth) else {
        *here = value;
        return Ok(());
    };
    let at = written(&steps[..depth]);
    match (here, step) {
        (Value::Table(table), Step::Key(key)) => {
            let whole = depth + 1 == steps.len();
            let mut key = key.as_str();
            if is_algorithm(&steps[..=depth]) {
                key = algorithm(table, steps, depth, keys);
                if let (true, Some(Value::Table(inside)), Value::String(_)) = (whole, table.get_mut(key), &value) {
                    // Parameters of the algorithm were given before its name.
                    if keys.iter().any(|k| k.starts_with(&format!("{}.", written(steps)))) {
                        inside.insert("name".into(), value);
                        return Ok(());
                    }
                }
            }
            if whole {
                displace(table, key, steps, keys);
            }
            if let (Some(Step::Index(i)), false) = (steps.get(depth + 1), table.contains_key(key)) {
                let list = written(&steps[..=depth]);
                let problem = format!("the scenario has no list {list}");
                let remedy = "write the list into the file first: its elements can be changed, not added";
                return Err(Error::at(&format!("{list}[{i}]"), problem, remedy));
            }
            let next = table.entry(key.to_owned()).or_insert_with(|| Value::Table(Table::new()));
            descend(next, steps, depth + 1, value, keys)
        }
        (Value::Array(list), Step::Index(i)) => {
            let count = list.len();
            let Some(next) = list.get_mut(*i) else {
                let there = match count {
                    0 => "the list is empty".to_owned(),
                    1 => format!("there is only {at}[0]"),
                    _ => format!("there are {count}: {at}[0] to {at}[{}]", count - 1),
                };
                return Err(Error::at(&format!("{at}[{i}]"), "no such index", there));
            };
            descend(next, steps, depth + 1, value, keys)
        }
        (Value::Array(list), Step::Key(key)) => Err(unnumbered(list, key, steps, depth)),
        (Value::Table(_), Step::Index(i)) => {
            let problem = format!("is a table, not a list: it has no [{i}]");
            Err(Error::at(&at, problem, format!("write a key of the table, such as {at}.KEY")))
        }
        (other, _) => {
            let problem = format!("is {}, which has no keys", show(other));
            Err(Error::at(&at, problem, format!("set {at} itself")))
        }
    }
}

/// The fault of a key at `steps[depth]` where the document has a list. The remedy names the element
/// that is called so, if there is one.
fn unnumbered(list: &[Value], key: &str, steps: &[Step], depth: usize) -> Error {
    let at = written(&steps[..depth]);
    let named = |value: &Value| value.get("name").and_then(Value::as_str) == Some(key);
    let rest = |from: usize| steps[from..].iter().fold(String::new(), |text, step| text + &shown(step));
    let remedy = match list.iter().position(named) {
        Some(i) => format!("\"{key}\" is {at}[{i}]: write {at}[{i}]{}", rest(depth + 1)),
        None => {
            let known = entry(&steps[..=depth]).is_some() || depth + 1 == steps.len();
            format!("write the number of an element, such as {at}[0]{}", rest(if known { depth } else { depth + 1 }))
        }
    };
    Error::at(&at, format!("is a list of {}", list.len()), remedy)
}

/// The entry of the key at the end of `steps` in the table of keys, if it is a key of a connection,
/// a transfer, a path or a link.
fn entry(steps: &[Step]) -> Option<&'static Key> {
    let names: Vec<&str> =
        steps.iter().filter_map(|s| if let Step::Key(k) = s { Some(k.as_str()) } else { None }).collect();
    match names[..] {
        ["connection", key] => LONG_CONNECTION.find(key),
        ["transfer", key] | ["connection", "transfer", key] => TRANSFER.find(key),
        ["path" | "link" | "topology", key] => LINK.find(key),
        _ => None,
    }
}

/// True if the key names an algorithm, as `connection.judge` or `connection[1].controller` does:
/// its value is a name, or a table with a name.
fn is_algorithm(steps: &[Step]) -> bool {
    let ends_in_key = matches!(steps.last(), Some(Step::Key(_)));
    ends_in_key && entry(steps).is_some_and(|key| matches!(key.value, Shape::Algorithm) || key.name == "recovery")
}

/// Prepares the value at `steps[depth]` for a new name or, if that is not the last step, for a parameter. `judge` and
/// `recovery` are the same, so only one of them is kept; and a name becomes a table. Returns the key that the document uses.
fn algorithm<'a>(table: &mut Table, steps: &'a [Step], depth: usize, keys: &[String]) -> &'a str {
    let Step::Key(key) = &steps[depth] else { unreachable!("an algorithm stands at a key") };
    let other = entry(&steps[..=depth]).map_or("", |key| key.rival);
    let mut key = key.as_str();
    if !table.contains_key(key) && table.contains_key(other) {
        let rival = written(&[&steps[..depth], &[Step::Key(other.into())]].concat());
        if depth + 1 < steps.len() {
            key = other;
        } else if !keys.contains(&rival) {
            let value = table.remove(other).expect("it is there");
            table.insert(key.to_owned(), value);
        }
    }
    if let (true, Some(name @ Value::String(_))) = (depth + 1 < steps.len(), table.get_mut(key)) {
        *name = Value::Table(Table::from_iter([("name".to_owned(), name.clone())]));
    }
    key
}

/// An override removes keys of the document that contradict it: `rate` removes `rate_up` and `rate_down`; `judge` removes
/// `recovery`, its other name; a transfer's `bytes` removes its `duration` (at the top level these two are independent). Keys
/// that are overridden themselves stay: overrides that contradict each other are a fault, which is found later.
fn displace(table: &mut Table, key: &str, steps: &[Step], keys: &[String]) {
    let mut rivals = vec![format!("{key}_up"), format!("{key}_down")];
    rivals.extend(entry(steps).map(|key| key.rival.to_owned()).filter(|rival| !rival.is_empty()));
    for rival in rivals {
        let mut sibling = steps[..steps.len() - 1].to_vec();
        sibling.push(Step::Key(rival.clone()));
        if !keys.contains(&written(&sibling)) {
            table.remove(&rival);
        }
    }
}
