//! Messages on keys of wireless links.

use super::super::parse;

fn read(keys: &str) -> Result<(), String> {
    let text = format!("transfer = {{ bytes = '1 MB' }}\npath = [{{ wifi = {{ distance = '3000 m', {keys} }} }}]");
    parse(&text, "test", &[], None).map(|_| ()).map_err(|e| e.to_string())
}

/// Returns the value that the message on `keys` gives as an example.
fn example(keys: &str) -> String {
    let told = read(keys).unwrap_err();
    told.split("such as \"").nth(1).unwrap_or_else(|| panic!("{told}")).split('"').next().unwrap().into()
}

#[test]
fn the_example_of_a_rate_or_limit_is_allowed_there() {
    for (standard, width) in [
        ("802.11a", "20 MHz"),
        ("802.11b", "20 MHz"),
        ("802.11p", "10 MHz"),
        ("802.11n", "40 MHz"),
        ("802.11ac", "80 MHz"),
        ("802.11ax", "20 MHz"),
    ] {
        let keys = |rate: &str| format!("standard = '{standard}', channel_width = '{width}', rate = '{rate}'");
        let shown = example(&keys("fast"));
        assert_eq!(read(&keys(&shown)), Ok(()), "{standard}: {shown}");
    }
    for key in ["ampdu_limit", "amsdu_limit"] {
        let keys = |limit: &str| format!("standard = '802.11n', {key} = '{limit}'");
        assert_eq!(read(&keys(&example(&keys("much")))), Ok(()), "{key}");
    }
}

#[test]
fn no_lower_mcs_than_zero_is_advised() {
    for (mcs, advised) in [(0, false), (3, true)] {
        let text = format!(
            "transfer = {{ bytes = '1 MB' }}\npath = [{{ wifi = {{ standard = '802.11n', mcs = {mcs}, \
             preamble_detection = false, distance = '3000 m' }} }}]"
        );
        let warnings = parse(&text, "test", &[], None).unwrap().warnings().join("\n");
        assert!(warnings.contains("is out of range"), "{warnings}");
        assert_eq!(warnings.contains("take a lower mcs"), advised, "{warnings}");
    }
}
