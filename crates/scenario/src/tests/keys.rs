//! The table of keys and the code that reads keys say the same.

use super::super::schema::{Default as Usual, HIDDEN, Key, TABLES, Table, usual};
use super::super::{keys, parse};

/// A document with `line` in `table`, and with what that table needs.
fn document(table: &Table, line: &str) -> String {
    let (transfer, path) = ("transfer = {}", "path = [{}]");
    let nodes = "host = [{ name = 'client' }, { name = 'server' }]";
    let of_path = |inner: String| format!("{transfer}\npath = [{{ {inner} }}]");
    let of_transfer = |inner: String| format!("transfer = {{ {inner} }}\n{path}");
    match table.name {
        // The tables of the document are those below.
        "root" => line.to_owned(),
        "connection" => format!("{transfer}\n{path}\n[connection]\n{line}"),
        "connections" => format!("{path}\n[[connection]]\n{line}"),
        "path" => format!("{transfer}\n[[path]]\n{line}"),
        "transfer" => format!("{path}\n[transfer]\n{line}"),
        "link" => format!("{transfer}\n{nodes}\n[[link]]\n{line}"),
        "host" => format!("{transfer}\n{path}\n[host]\n{line}"),
        "nodes" | "router" => {
            let kind = if table.name == "nodes" { "host" } else { "router" };
            let name = if line.starts_with("name") { "" } else { "name = 'a'\n" };
            format!("{transfer}\nlink = [{{ name = 'l', from = 'client', to = 'server' }}]\n[[{kind}]]\n{name}{line}")
        }
        "wifi" | "loss" | "mtu" | "policer" | "leo" | "cellular" => {
            let preset = match table.name {
                "leo" if !line.starts_with("preset") => "preset = 'starlink-roam', ",
                "cellular" if !line.starts_with("preset") => "preset = 'lte-good', ",
                _ => "",
            };
            of_path(format!("{} = {{ {preset}{line} }}", table.name))
        }
        "red" | "codel" | "fq-codel" => match line.starts_with("name") {
            true => of_path(format!("discipline = {{ name = '{}' }}", table.name)),
            false => of_path(format!("discipline = {{ name = '{}', {line} }}", table.name)),
        },
        "waypoints" => of_path(format!("wifi = {{ waypoints = [{{ {line} }}] }}")),
        "topology" => format!("{transfer}\n[topology]\n{line}"),
        "access" => format!("{transfer}\n[topology]\nkind = 'fat-tree'\nk = 4\naccess = {{ {line} }}"),
        "traffic" => format!("{transfer}\n[topology]\nkind = 'fat-tree'\nk = 4\n[traffic]\n{line}"),
        "path_changes" => format!("{transfer}\n{path}\nconnection = {{ path_changes = [{{ {line} }}] }}"),
        "changes" => of_path(format!("changes = [{{ {line} }}]")),
        "middleboxes" => of_path(format!("middleboxes = [{{ {line} }}]")),
        "page" => of_transfer(format!("page = {{ {line} }}")),
        "object" => of_transfer(format!("page = [{{ {line} }}]")),
        "uniform" | "exponential" | "lognormal" | "pareto" => match line.starts_with("name") {
            true => of_transfer(format!("message = {{ name = '{}' }}, interval = '1 s'", table.name)),
            false => of_transfer(format!("message = {{ name = '{}', {line} }}, interval = '1 s'", table.name)),
        },
        other => panic!("where the table {other} stands is not written here"),
    }
}

fn said(table: &Table, key: &Key) -> String {
    let value = match key.shown().as_str() {
        "..." => "1".to_owned(),
        // Without the file.
        "\"lte.trace\"" => "[1, 2, 3]".to_owned(),
        shown => shown.to_owned(),
    };
    let text = document(table, &format!("{} = {value}", key.name));
    parse(&text, "t", &[], None).map_or_else(|e| e.to_string(), |_| String::new())
}

/// A reader cannot take a key that the table of keys lacks: every table is checked before any of
/// its values is read.
#[test]
fn a_key_that_is_taken_out_of_the_table_is_unknown() {
    for table in TABLES {
        for key in table.keys() {
            let with = said(table, key);
            assert!(!with.contains("unknown key"), "{} in {}: {with}", key.name, table.written);
            HIDDEN.set(Some((table, key.name)));
            let without = said(table, key);
            HIDDEN.set(None);
            assert!(
                without.contains(&format!("{}: unknown key", key.name)),
                "{} in {}: {without}",
                key.name,
                table.written
            );
        }
    }
}

/// The values that `anabranch new` does not write, because another key takes their place, are
/// defaults as well.
#[test]
fn a_default_that_is_written_changes_nothing() {
    let shape = |text: &str| parse(text, "t", &[], None).map(|s| format!("{s:#?}"));
    let mut compared = 0;
    for table in TABLES {
        // The other tables need keys of their own beside a default.
        if !["connection", "path", "wifi", "red", "codel", "fq-codel", "transfer"].contains(&table.name) {
            continue;
        }
        let without = shape(&document(table, "")).unwrap();
        for key in table.keys() {
            let Some(value) = usual(key) else { continue };
            // Names that a table chooses, names of hosts, and keys of other kinds of transfers.
            if key.name == "name" || shape(&document(table, &format!("{} = {value}", key.name))).is_err() {
                continue;
            }
            let with = shape(&document(table, &format!("{} = {value}", key.name))).unwrap();
            assert_eq!(with, without, "{} = {value} in {}", key.name, table.written);
            compared += 1;
        }
    }
    assert!(compared > 90, "{compared}");
}

#[test]
fn each_key_has_a_meaning_that_a_sentence_can_begin_with() {
    for table in TABLES {
        for key in table.keys() {
            let complete = key.meaning.len() > 3 && !key.meaning.ends_with(". ");
            assert!(complete, "{} in {}", key.name, table.written);
            let needs = matches!(key.default, Usual::Required | Usual::Absent) && key.example.is_empty();
            assert!(!needs || key.shown() != "", "{} in {}", key.name, table.written);
        }
    }
    assert_eq!(keys().len(), TABLES.iter().map(|table| table.keys().count()).sum::<usize>());
}

/// Every key of `[connection]` is either refused for other drivers of the engine, or read for them:
/// it changes the configuration, or a wrong value is refused.
#[test]
fn the_keys_of_a_connection_reach_other_drivers_or_are_refused_by_name() {
    let known = crate::algorithms::registered();
    let read = |text: &str| crate::connection_config(text, &known);
    for table in TABLES.iter().filter(|table| table.name == "connection") {
        for key in table.keys() {
            let said = read(&format!("{} = {{ none = 1 }}", key.name)).expect_err(key.name).to_string();
            assert!(said.starts_with(&format!("connection.{}", key.name)), "{said}");
            assert_eq!(said.contains("only the simulator carries it out"), key.simulated, "{said}");
        }
    }
    let said = read("controler = 'olia'").expect_err("misspelt").to_string();
    assert!(said.starts_with("connection.controler: unknown key") && said.contains("\"controller\""), "{said}");
    assert!(read("protocol = 'udp'").expect_err("no connection").to_string().contains("flow of the simulator"));
    assert!(!read("protocol = 'tcp'").expect("plain").mptcp);
}
