//! The commented scenario that `anabranch new` prints.

use super::schema::{CONNECTION, HOST, Key, PATH, ROOT, TOPOLOGY, TRAFFIC, TRANSFER, Table, plain, usual};

/// Comments stand beside their key if the line is no longer than this.
const LONG: usize = 120;
/// Comments above their key wrap at this column.
const WIDTH: usize = 100;
/// Column at which comments begin beside their key.
const COLUMN: usize = 34;

const HEAD: &str = "\
# A scenario of Anabranch. Every key of the short form is here with its default. Keys that have no
# default, or take the place of another key, are commented out. Remove what you do not change.
# Quantities carry their unit: \"0.5 Mbit/s\", \"10 ms\", \"50 MB\", \"64 KiB\", \"5 %\".
# docs/scenario.md and `anabranch list keys` explain each key.
";

const SECOND_PATH: &str = "
[[path]]                          # a second path that differs from the first (not a default)
rate = \"2 Mbit/s\"
delay = \"30 ms\"
";

/// A scenario in the short form with every key, its default value and a comment. It can be run as it is.
pub fn template() -> String {
    let mut out = HEAD.to_owned();
    // Tables of the document are written below, and those of the long form not at all.
    let scalar = |key: &&Key| {
        !["connection", "transfer", "path", "host", "router", "link", "topology", "traffic"].contains(&key.name)
    };
    out.push('\n');
    ROOT.keys().filter(scalar).for_each(|key| line(&mut out, key, false));
    let short = |key: &&Key| !["name", "client", "server", "paths"].contains(&key.name);
    section(&mut out, "[connection]", &CONNECTION, short);
    section(&mut out, "[transfer]", &TRANSFER, |_| true);
    section(&mut out, "[[path]]", &PATH, |_| true);
    out.push_str(SECOND_PATH);
    out.push_str("\n# What segments cost their hosts:\n# [host]\n");
    HOST.keys().for_each(|key| line(&mut out, key, true));
    out.push_str("\n# Instead of [[path]], a generated network, whose links have the keys of a path:\n# [topology]\n");
    TOPOLOGY.keys().filter(|key| !key.directed).for_each(|key| line(&mut out, key, true));
    out.push_str("# [traffic]\n");
    TRAFFIC.keys().for_each(|key| line(&mut out, key, true));
    out
}

fn section(out: &mut String, written: &str, table: &Table, only: impl Fn(&&Key) -> bool) {
    out.push_str(&format!("\n{written}\n"));
    for (i, part) in table.parts.iter().enumerate() {
        if !part.title.is_empty() {
            out.push_str(&format!("# -- {} --\n", part.title));
        }
        // Each kind of transfer takes the place of a bulk transfer.
        let commented = i > 0 && table.name == TRANSFER.name;
        part.keys.iter().filter(|key| only(key)).for_each(|key| line(out, key, commented));
    }
}

/// Adds a line with the key, its default and its meaning. The key is commented out if it has no
/// default or `commented` is set.
fn line(out: &mut String, key: &Key, commented: bool) {
    let text = plain(key.meaning);
    let comment = text.split(". ").next().unwrap_or(&text);
    let value = usual(key);
    let written = match &value {
        Some(value) if !commented && !key.aside => format!("{} = {value}", key.name),
        Some(value) => format!("# {} = {value}", key.name),
        None => format!("# {} = {}", key.name, key.shown()),
    };
    let beside = format!("{written:COLUMN$} # {comment}");
    if beside.chars().count() <= LONG {
        out.push_str(&beside);
        out.push('\n');
    } else {
        let mut rest = comment.split(' ').peekable();
        while rest.peek().is_some() {
            let mut text = String::from("#");
            while let Some(word) = rest.peek().filter(|word| text.chars().count() + 1 + word.chars().count() <= WIDTH) {
                text.push(' ');
                text.push_str(word);
                rest.next();
            }
            out.push_str(&text);
            out.push('\n');
        }
        out.push_str(&written);
        out.push('\n');
    }
    if value.is_some() && !key.example.is_empty() {
        out.push_str(&format!("# {} = {}\n", key.name, key.example));
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn the_template_states_the_defaults() {
        let short = "[transfer]\n[[path]]\n[[path]]\nrate = '2 Mbit/s'\ndelay = '30 ms'";
        let read = |text: &str| format!("{:#?}", parse(text, "t", &[], None).unwrap());
        assert_eq!(read(&template()), read(short));
    }

    #[test]
    fn the_template_names_every_key() {
        let long = ["name", "client", "server", "paths"];
        let connection = CONNECTION.keys().filter(|key| !long.contains(&key.name));
        let generated = TOPOLOGY.keys().filter(|key| !key.directed).chain(TRAFFIC.keys()).chain(HOST.keys());
        for key in connection.chain(TRANSFER.keys()).chain(PATH.keys()).chain(generated) {
            let given = |l: &str| l.trim_start_matches("# ").starts_with(&format!("{} = ", key.name));
            assert!(template().lines().any(given), "{}", key.name);
        }
    }
}
