//! Values that replace those of a document (`--set`), and the seed.

use super::*;

#[test]
fn overrides_reach_every_place() {
    let text = "[transfer]\nbytes = '1 MB'\n[[path]]\n[[path]]\nchanges = [{ at = '1 s', state = 'down' }]";
    let s = over(
        text,
        &[
            ("path[1].delay", "200 ms"),
            ("path.0.delay_up", "\"5 ms\""),
            ("path.0.loss", "0.05"),
            ("path[1].changes[0].at", "2 s"),
            ("path.0.overtaking", "true"),
            ("connection.mss", "1200"),
            ("connection.controller", "uncoupled"),
            ("transfer.duration", "20 s"),
            ("seed", "3"),
            ("title", "2020-01-01"),
        ],
    )
    .unwrap();
    assert_eq!((s.links[1].up.delay.0, s.links[1].down.delay.0), (200_000_000, 200_000_000));
    assert_eq!((s.links[0].up.delay.0, s.links[0].down.delay.0), (5_000_000, 10_000_000));
    assert_eq!((s.links[0].up.loss, s.links[0].down.overtaking), (Loss::Bernoulli(0.05), true));
    assert_eq!((s.links[1].changes[0].at.0, s.seed, s.title.as_str()), (2_000_000_000, 3, "2020-01-01"));
    let c = &s.connections[0];
    assert_eq!((c.config.mss, c.config.controller.name()), (1200, "uncoupled"));
    assert_eq!(c.transfer.application, Application::Bulk(Extent::Duration(Duration::from_secs(20))));
}

#[test]
fn an_override_displaces_what_contradicts_it() {
    let text = "[transfer]\nduration = '9 s'\n[[path]]\nrate_up = '1 Mbit/s'\nrate_down = '2 Mbit/s'";
    let s = over(text, &[("path.0.rate", "3 Mbit/s"), ("transfer.bytes", "1 MB")]).unwrap();
    assert_eq!((s.links[0].up.rate, s.links[0].down.rate), (3_000_000, 3_000_000));
    assert_eq!(s.connections[0].transfer.application, Application::Bulk(Extent::Bytes(1_000_000)));
    let s = over(text, &[("path.0.rate", "3 Mbit/s"), ("path.0.rate_up", "4 Mbit/s")]).unwrap();
    assert_eq!((s.links[0].up.rate, s.links[0].down.rate), (4_000_000, 3_000_000));
    // Of the run, not of the transfer: `bytes` is a switch.
    let s = over("duration = '9 s'\n[transfer]\n[[path]]", &[("bytes", "true")]).unwrap();
    assert_eq!((s.bytes, s.duration.0), (true, 9_000_000_000));
    let s = over("bytes = true\n[transfer]\n[[path]]", &[("duration", "9 s")]).unwrap();
    assert_eq!((s.bytes, s.duration.0), (true, 9_000_000_000));
}

/// A fault that the file has without the override is not blamed on the override.
#[test]
fn a_fault_beside_an_override_is_the_files_own() {
    let text = "[transfer]\nbytes = '1 MB'\nduration = '1 s'\n[[path]]";
    let said = over(text, &[("transfer.start", "1 s")]).unwrap_err();
    assert!(said.contains("transfer: both bytes and duration say"), "{said}");
    let text = "[transfer]\n[[path]]\nname = 'a'\n[[path]]\nname = 'b'";
    let said = over(text, &[("path[1].name", "a")]).unwrap_err();
    assert!(said.contains("(from --set or set())"), "{said}");
}

#[test]
fn a_bad_override_is_told_as_such() {
    let said = |k, v| over("[transfer]\n[[path]]\n[[path]]\nloss = '1 %'", &[(k, v)]).unwrap_err();
    assert_eq!(
        said("path[2].delay", "1 ms"),
        "demo.toml: path[2] (from --set or set()): no such index\n  there are 2: path[0] to path[1]"
    );
    assert!(
        said("path.0.dealy", "1 ms")
            .contains("path[0].dealy (from --set or set()): unknown key\n  did you mean \"delay\"?")
    );
    assert!(
        said("conection.mss", "9")
            .contains("conection (from --set or set()): unknown key\n  did you mean \"connection\"?")
    );
    assert!(said("path.delay", "1 ms").contains("write the number of an element, such as path[0].delay"));
    assert!(said("path.loss.loss_bad", "1 %").contains("such as path[0].loss"));
    assert!(said("path.lte.delay", "1 ms").contains("such as path[0].delay"));
    let named = over("[transfer]\n[[path]]\n[[path]]\nname = 'lte'", &[("path.lte.delay", "1 ms")]).unwrap_err();
    assert!(named.contains("\"lte\" is path[1]: write path[1].delay"), "{named}");
    assert!(said("path[1].loss.loss_bad", "1 %").contains("set path[1].loss itself"));
    assert!(said("transfer[0].bytes", "1 MB").contains("transfer (from --set or set()): is a table, not a list"));
    assert!(said("link[0].rate", "1 Mbit/s").contains("the scenario has no list link"));
    assert!(said("path[1.delay", "1 ms").contains("not a key path"));
    assert!(said("", "1 ms").contains("not a key path"));
    assert!(said("path[0].changes", "[{ at = '1 s'").contains("is not a TOML value"));
    let lines = said("path[0].middleboxes", "[\n'nat',\n'pep',\n]");
    assert!(lines.contains("has line breaks\n  write the value on one line"), "{lines}");
    assert!(said("path[0].delay", "10").contains("path[0].delay (from --set or set()): expected a quantity"));
    assert!(said("path.-1.delay", "1 ms").contains("not a key path"));
    let both = over(SHORT, &[("transfer.bytes", "1 MB"), ("transfer.duration", "1 s")]).unwrap_err();
    assert!(both.contains("both bytes and duration"));
}

#[test]
fn a_seed_from_outside_replaces_that_of_the_document() {
    assert_eq!(parse("seed = 5\n[transfer]\n[[path]]", "t", &[], Some(9)).unwrap().seed, 9);
    assert!(
        parse(SHORT, "t", &[], Some(u64::MAX)).unwrap_err().to_string().contains("seed: 18446744073709551615 is out")
    );
}

/// Linux's sizes in octets of memory: half is window, the first at most what a SYN can say; a send buffer holds payload.
#[test]
fn buffers_can_be_written_as_linux_writes_them() {
    let text = "[connection]\ntcp_rmem = '4096 131072 6291456'\ntcp_wmem = '4096 16384 4194304'\n[transfer]\n[[path]]";
    let of = |overrides: &[(&str, &str)]| over(text, overrides).map(|s| s.connections[0].config.clone()).unwrap();
    let c = of(&[("connection.profile", "classic")]);
    let sizes = (c.receive_initial, c.receive_buffer, c.send_buffer);
    assert_eq!(sizes, (Some(65_535), Some(3_145_728), Some(4_194_304)));
    let c = of(&[("connection.truesize", "3")]);
    assert_eq!((c.receive_initial, c.receive_buffer), (Some(43_690), Some(2_097_152)));
}

/// Written keys win over the profile, wherever either stands; the alias is resolved; a detector is refused only if it was named.
#[test]
fn a_profile_sets_the_defaults_of_the_others() {
    let text = "[connection]\ndetector = 'ncr'\nprofile = 'classic'\n[transfer]\n[[path]]";
    let of = |overrides: &[(&str, &str)]| over(text, overrides).map(|s| s.connections[0].config.clone());
    let c = of(&[]).unwrap();
    assert_eq!(
        (c.profile.name(), c.detector.name(), c.reduction.name(), c.sack_timing),
        ("classic", "ncr", "rfc6675", false)
    );
    let c = of(&[("connection.sack_timing", "true"), ("connection.profile", "linux")]).unwrap();
    assert_eq!((c.profile.name(), c.detector.name(), c.scheduler.name()), ("linux-6.1", "ncr", "linux"));
    assert_eq!(c.controller.values().get("linux"), 1.0);
    let c = of(&[("connection.controller", "uncoupled"), ("connection.profile", "linux-6.1")]).unwrap();
    assert_eq!((c.controller.name(), c.controller.values().get("linux")), ("uncoupled", 1.0));
    let plain = |text: &str| over(text, &[("connection.sack", "false")]);
    assert!(plain("[transfer]\n[[path]]").is_ok());
    let said = plain("[connection]\ndetector = 'rack'\n[transfer]\n[[path]]").unwrap_err();
    assert!(said.contains("connection.detector: \"rack\" needs sack, which is off"), "{said}");
    let said = of(&[("connection.acknowledgement", "coupled")]).unwrap_err();
    assert!(
        said.contains("\"ncr\" needs SACK blocks of what has arrived, and coupled acknowledgement sends none"),
        "{said}"
    );
}

/// A stored scenario names the profile of each connection, so that a later version with other defaults runs the same.
#[test]
fn a_stored_scenario_names_its_profile() {
    let stored = |text: &str| Source::new(text).named("t").resolved_toml().unwrap();
    assert!(stored("[transfer]\n[[path]]").contains("profile = \"modern\""));
    assert!(stored("connection = { profile = 'linux' }\n[transfer]\n[[path]]").contains("profile = \"linux-6.1\""));
    let two = "path = [{}]\n[[connection]]\ntransfer = {}\n[[connection]]\nprofile = 'classic'\ntransfer = {}";
    assert!(stored(two).matches("profile = ").count() == 2 && stored(two).contains("classic"));
}
