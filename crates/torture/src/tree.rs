//! Values inside a document, by their place.

use toml::{Table, Value};

/// The steps of a key path such as `path[1].loss`.
pub fn steps(key: &str) -> Vec<String> {
    key.split(['.', '[']).filter(|s| !s.is_empty()).map(|s| s.trim_end_matches(']').to_owned()).collect()
}

/// Takes away what stands at `place`; false if nothing does.
pub fn take(document: &mut Table, place: &[String]) -> bool {
    match place {
        [] => false,
        [key] => document.remove(key).is_some(),
        [key, rest @ ..] => document.get_mut(key).is_some_and(|value| take_from(value, rest)),
    }
}

fn take_from(value: &mut Value, place: &[String]) -> bool {
    match value {
        Value::Table(table) => take(table, place),
        Value::Array(list) => {
            let Some(index) = place[0].parse::<usize>().ok().filter(|i| *i < list.len()) else { return false };
            match &place[1..] {
                [] => {
                    list.remove(index);
                    true
                }
                rest => take_from(&mut list[index], rest),
            }
        }
        _ => false,
    }
}

/// What stands at `place`, to change it.
pub fn at<'a>(document: &'a mut Table, place: &[String]) -> Option<&'a mut Value> {
    let (first, rest) = place.split_first()?;
    rest.iter().try_fold(document.get_mut(first)?, |value, step| match value {
        Value::Table(table) => table.get_mut(step),
        Value::Array(list) => list.get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The places of all values, those of tables and lists before those inside them.
pub fn places(document: &Table) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut here = Vec::new();
    for (key, value) in document {
        here.push(key.clone());
        walk(value, &mut here, &mut all);
        here.pop();
    }
    all
}

fn walk(value: &Value, here: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    all.push(here.clone());
    match value {
        Value::Table(table) => table.iter().for_each(|(key, inner)| {
            here.push(key.clone());
            walk(inner, here, all);
            here.pop();
        }),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, inner)| {
            here.push(i.to_string());
            walk(inner, here, all);
            here.pop();
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_path_leads_to_its_value_and_takes_it_away() {
        let mut document: Table = "a = 1\npath = [{ loss = 0.1 }, { loss = 0.2, x = [1, 2] }]".parse().unwrap();
        let place = steps("path[1].x[0]");
        assert_eq!(at(&mut document, &place), Some(&mut Value::Integer(1)));
        assert!(
            take(&mut document, &place) && take(&mut document, &steps("path[0]")) && take(&mut document, &steps("a"))
        );
        assert!(!take(&mut document, &steps("path[5].x")) && !take(&mut document, &steps("b.c")));
        assert_eq!(document, "path = [{ loss = 0.2, x = [2] }]".parse().unwrap());
        assert_eq!(places(&document).len(), 5);
    }
}
