//! The commented scenario that `anabranch new` prints.

/// A scenario in the short form with every key, its default value and a comment. It can be run as it is.
pub fn template() -> &'static str {
    include_str!("template.toml")
}

#[cfg(test)]
mod tests {
    use super::super::keys::{CONNECTION, PATH, TOPOLOGY, TRAFFIC, TRANSFER};
    use super::super::parse;
    use super::template;

    #[test]
    fn the_template_states_the_defaults() {
        let short = "[transfer]\n[[path]]\n[[path]]\nrate = '2 Mbit/s'\ndelay = '30 ms'";
        let read = |text| format!("{:#?}", parse(text, "t", &[], None).unwrap());
        assert_eq!(read(template()), read(short));
    }

    #[test]
    fn the_template_names_every_key() {
        let long = ["name", "client", "server", "paths"];
        let connection = CONNECTION.all().filter(|k| !long.contains(k));
        let generated = TOPOLOGY.plain.iter().chain(TRAFFIC.plain).copied();
        for key in connection.chain(TRANSFER.all()).chain(PATH.all()).chain(generated) {
            let given = |l: &str| l.trim_start_matches("# ").starts_with(&format!("{key} = "));
            assert!(template().lines().any(given), "{key}");
        }
    }
}
