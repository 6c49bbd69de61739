//! Whole documents: what they become, or how they are refused.

use anabranch_stack::registry::Setting;
use anabranch_stack::time::Duration;

use super::*;

mod applications;
mod keys;
mod overrides;
mod resolved;
mod routes;
mod wifi;

const SHORT: &str = "[transfer]\n[[path]]\n";

fn read(text: &str) -> Scenario {
    parse(text, "demo.toml", &[], None).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

fn refused(text: &str) -> String {
    let said = parse(text, "demo.toml", &[], None).expect_err(text).to_string();
    assert!(said.starts_with("demo.toml: ") && (1..=3).contains(&said.lines().count()), "{said}");
    said
}

/// Each pair: a document, and what its refusal must contain.
fn refusals(cases: &[(&str, &str)]) {
    for (text, part) in cases {
        let said = refused(text);
        assert!(said.contains(part), "{text}\n---\n{said}\n--- lacks: {part}");
    }
}

#[test]
fn the_shortest_scenario_has_the_documented_defaults() {
    let s = read(SHORT);
    assert_eq!((s.title.as_str(), s.duration, s.seed), ("", Duration::from_secs(3600), 1));
    let names: Vec<&str> = s.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["client", "server"]);
    let l = &s.links[0];
    assert_eq!((l.name.as_str(), l.a, l.b, l.changes.len()), ("path0", 0, 1, 0));
    for d in [&l.up, &l.down] {
        assert_eq!((d.rate, d.delay, d.queue), (10_000_000, Duration::from_millis(10), Queue::Packets(100)));
        assert_eq!((d.delay_variation, d.delay_redraw, d.overtaking), (Setting::Number(0.0), Redraw::Packet, false));
        assert_eq!((d.loss, d.duplication, d.corruption), (Loss::Bernoulli(0.0), 0.0, 0.0));
        assert_eq!((d.overhead, d.ecn_threshold), (0, None));
    }
    let c = &s.connections[0];
    assert_eq!((c.name.as_str(), c.protocol, c.client, c.server), ("connection0", Protocol::Mptcp, 0, 1));
    assert_eq!(c.paths, [[0]]);
    assert_eq!(format!("{:?}", c.config), format!("{:?}", anabranch_stack::config::Config::default()));
    assert!(c.transfer.up && c.transfer.read_rate.is_none());
    assert_eq!(c.transfer.application, Application::Bulk(Extent::Bytes(50_000_000)));
}

/// Each switch of the engine reaches its configuration.
#[test]
fn every_switch_of_a_connection_is_read() {
    let of = |key: &str, on: bool| {
        let s = read(&format!("[connection]\n{key} = {on}\n[transfer]\n[[path]]"));
        format!("{:?}", s.connections[0].config)
    };
    for key in [
        "opportunistic_retransmission",
        "penalisation",
        "byte_counting",
        "sack_timing",
        "window_validation",
        "count_segments",
        "ecn",
        "pacing",
        "nagle",
        "delayed_ack_adapts",
        "push_acks",
        "defer_bursts",
        "acknowledge_on_read",
        "checksum",
    ] {
        assert_ne!(of(key, true), of(key, false), "{key}");
    }
}

#[test]
fn a_path_has_cost_weight_and_priority() {
    let s = read("[transfer]\n[[path]]\n[[path]]\ncost = 2\nweight = 0.5\npriority = 3");
    let of = |i: usize| (s.links[i].policy.cost, s.links[i].policy.weight, s.links[i].policy.priority);
    assert_eq!((of(0), of(1)), ((1.0, 1.0, 0), (2.0, 0.5, 3)));
    let json = s.to_json();
    assert_eq!([&json["links"][1]["cost"], &json["links"][1]["weight"]], [2.0, 0.5]);
    assert_eq!(json["links"][1]["priority"], 3);
    refusals(&[
        ("[transfer]\n[[path]]\ncost = 0", "path[0].cost: expected a number from 0.000001 to 1000000, found 0"),
        (
            "[transfer]\n[[path]]\nweight = -1.0",
            "path[0].weight: expected a number from 0.000001 to 1000000, found -1.0",
        ),
        ("[transfer]\n[[path]]\nweight = '1'", "allowed: a number from 0.000001 to 1000000, without quotes"),
        ("[transfer]\n[[path]]\npriority = -1", "path[0].priority: -1 is out of range"),
    ]);
}

#[test]
fn a_key_with_a_direction_overrides_that_direction_only() {
    let s =
        read("[transfer]\n[[path]]\nrate = '5 Mbit/s'\nrate_up = '1 Mbit/s'\nloss_down = '5 %'\nqueue_up = '64 kB'");
    let l = &s.links[0];
    assert_eq!((l.up.rate, l.down.rate), (1_000_000, 5_000_000));
    assert_eq!((l.up.loss, l.down.loss), (Loss::Bernoulli(0.0), Loss::Bernoulli(0.05)));
    assert_eq!((l.up.queue, l.down.queue), (Queue::Bytes(64_000), Queue::Packets(100)));
}

#[test]
fn every_key_of_a_link_is_read() {
    let s = read(
        "[transfer]\n[[path]]\nname = 'wifi'\ndelay_variation = '20 %'\ndelay_redraw = '100 ms'\novertaking = true
        loss = { good_to_bad = '1 %', bad_to_good = '30 %', loss_bad = '50 %' }\nduplication = '1 %'
        corruption = '2 %'\noverhead = '18 B'\necn_threshold = '20 packets'
        changes = [{ at = '20 s', state = 'up' }, { at = '10 s', state = 'down' }, { at = '20 s', rate = '1 Mbit/s', direction = 'up' }]",
    );
    let (l, d) = (&s.links[0], &s.links[0].down);
    assert_eq!((l.name.as_str(), d.delay_variation, d.overtaking), ("wifi", Setting::Number(0.2), true));
    assert_eq!(d.delay_redraw, Redraw::Every(Duration::from_millis(100)));
    let bursts = Loss::GilbertElliott { good_to_bad: 0.01, bad_to_good: 0.3, loss_good: 0.0, loss_bad: 0.5 };
    assert_eq!((d.loss, d.duplication, d.corruption), (bursts, 0.01, 0.02));
    assert_eq!((d.overhead, d.ecn_threshold), (18, Some(20)));
    let changes: Vec<_> = l.changes.iter().map(|c| (c.at.0 / 1_000_000_000, c.up, c.down, c.what)).collect();
    let expected = [
        (10, true, true, ChangeKind::LinkDown),
        (20, true, true, ChangeKind::LinkUp),
        (20, true, false, ChangeKind::Rate(1_000_000)),
    ];
    assert_eq!(changes, expected);
}

#[test]
fn a_discipline_is_a_word_or_a_table() {
    let of = |value: &str| read(&format!("[transfer]\n[[path]]\ndiscipline = {value}")).links[0].up.discipline;
    let codel = CodelParameters { target: Duration::from_millis(5), interval: Duration::from_millis(100) };
    assert_eq!(of("'codel'"), Discipline::Codel(codel));
    let slow = CodelParameters { target: Duration::from_millis(20), ..codel };
    assert_eq!(of("{ name = 'codel', target = '20 ms' }"), Discipline::Codel(slow));
    let fq = FqCodelParameters { codel, quantum: 300, flows: 16 };
    assert_eq!(of("{ name = 'fq-codel', quantum = '300 B', flows = 16 }"), Discipline::FqCodel(fq));
    let red = RedParameters { min: 20.0, max: 60.0, probability: 0.02, weight: 0.002 };
    assert_eq!(of("{ name = 'red', min = '20 packets', probability = '2 %' }"), Discipline::Red(red));
    let refused =
        |value: &str| parse(&format!("[transfer]\n[[path]]\ndiscipline = {value}"), "t", &[], None).unwrap_err();
    assert!(refused("'codle'").to_string().contains("did you mean \"codel\"?"));
    let message = refused("{ name = 'codel', quantum = '300 B' }").to_string();
    assert!(message.contains("path[0].discipline.quantum: unknown key"), "{message}");
    assert!(refused("{ name = 'red', min = '5 packets', max = '5 packets' }").to_string().contains("not above min"));
    assert!(refused("{ target = '5 ms' }").to_string().contains("discipline.name: missing"));
}

#[test]
fn a_trace_gives_the_rate() {
    let s = read("[transfer]\n[[path]]\ntrace_down = [0, 1, 1, 4]\nrate_up = '1 Mbit/s'");
    let d = &s.links[0].down;
    // Four times 1500 octets in 4 ms.
    assert_eq!((d.rate, d.trace.as_ref().unwrap().stamps.to_vec()), (12_000_000, vec![0, 1, 1, 4]));
    assert!(s.links[0].up.trace.is_none());
    let refused = |keys: &str| parse(&format!("[transfer]\n[[path]]\n{keys}"), "t", &[], None).unwrap_err().to_string();
    assert!(refused("trace = [1, 2]\nrate = '1 Mbit/s'").contains("path[0].rate: a trace paces this link"));
    assert!(refused("trace_up = [1, 2]\nrate_up = '1 Mbit/s'").contains("path[0].rate_up: a trace paces this link"));
    assert!(refused("trace = []").contains("path[0].trace: the trace is empty"));
    assert!(refused("trace = [0, 0]").contains("lasts no time"));
    assert!(refused("trace = [5, 4]").contains("path[0].trace[1]: 4 is less than the time before it"));
    assert!(refused("trace = [1, -2]").contains("path[0].trace[1]: -2 is not a time in milliseconds"));
    assert!(refused("trace = 'nowhere.trace'").contains("cannot read the trace file \"nowhere.trace\""));
    let changed = refused("trace = [1, 2]\nchanges = [{ at = '1 s', rate = '1 Mbit/s' }]");
    assert!(changed.contains("a trace paces this link"), "{changed}");
}

/// The resolved document holds the stamps, so that it reads the same without the file.
#[test]
fn a_trace_file_is_found_beside_the_scenario_and_kept_with_it() {
    let folder = std::env::temp_dir().join(format!("anabranch-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.trace"), "3\n3\n7\n").unwrap();
    std::fs::write(folder.join("bad.trace"), "3\n4\nfive\n").unwrap();
    let name = folder.join("s.toml").display().to_string();
    let text = "[transfer]\n[[path]]\ntrace = 'a.trace'";
    let resolved = Source::new(text).named(&name).resolved_toml();
    let refused = parse(&text.replace("a.trace", "bad.trace"), &name, &[], None);
    let over = |file: &str| [("path.0.trace".to_string(), file.to_string())];
    let inlined = |text: &str, file: &str| Source::new(text).named(&name).overrides(&over(file)).inlined_toml();
    let (found, none) = (inlined("path = [{}]", "a.trace"), Source::new("path = [{}]").named(&name).inlined_toml());
    assert!(found.unwrap().unwrap().contains("[3, 3, 7]"));
    assert!(none.unwrap().is_none());
    assert!(inlined(text, "bad.trace").unwrap_err().to_string().contains("path[0].trace (from --set or set())"));
    std::fs::remove_dir_all(&folder).unwrap();
    let again = parse(&resolved.unwrap(), "elsewhere", &[], None).unwrap();
    assert_eq!(again.links[0].up.trace.as_ref().unwrap().stamps.to_vec(), [3, 3, 7]);
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("path[0].trace:") && refused.contains("bad.trace, line 3: not a whole number"),
        "{refused}"
    );
    assert!(!refused.contains("five"), "{refused}");
}

/// Nobody knows where a device or a pipe ends, and a file may be too large.
#[test]
fn a_trace_is_a_regular_file_of_bounded_size() {
    let folder = std::env::temp_dir().join(format!("anabranch-large-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::File::create(folder.join("large.trace")).unwrap().set_len(64_000_001).unwrap();
    let name = folder.join("s.toml").display().to_string();
    let refused = |file: &str| parse(&format!("[transfer]\n[[path]]\ntrace = '{file}'"), &name, &[], None).unwrap_err();
    let said = ["large.trace", ".", "/dev/zero"].map(|file| refused(file).to_string());
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(said[0].contains("large.trace\" is larger than 64 MB"), "{}", said[0]);
    assert!(said[1].contains("is not a regular file"), "{}", said[1]);
    // (Elsewhere than on Unix there is none.)
    assert!(said[2].contains("is not a regular file") || said[2].contains("cannot read"), "{}", said[2]);
}

#[test]
fn the_keys_of_a_transfer_tell_the_application() {
    let application = |keys: &str| {
        let text = format!(
            "connection.protocol = '{}'\ntransfer = {{ {keys} }}\npath = [{{}}]",
            if keys.starts_with("rate") { "udp" } else { "mptcp" }
        );
        read(&text).connections[0].transfer.application.clone()
    };
    let s = Duration::from_secs;
    assert_eq!(application("duration = '20 s'"), Application::Bulk(Extent::Duration(s(20))));
    assert_eq!(
        application("on = '1 s', off = '2 s', bytes = '1 MB', rate = '1 Mbit/s'"),
        Application::OnOff { extent: Extent::Bytes(1_000_000), on: s(1), off: s(2), rate: Some(1_000_000) }
    );
    assert_eq!(
        application("request = '200 B', response = '1 kB', count = 3, think = '1 s'"),
        Application::RequestResponse { request: 200, response: 1000, count: 3, think: s(1) }
    );
    assert_eq!(
        application("rate = '1 Mbit/s', duration = '5 s'"),
        Application::ConstantRate { extent: Extent::Duration(s(5)), rate: Some(1_000_000) }
    );
    let t = &read(
        "transfer = { start = '1 s', start_spread = '2 s', read_rate = '1 MB/s', direction = 'down' }\npath = [{}]",
    )
    .connections[0]
        .transfer;
    assert_eq!((t.start.0, t.start_spread, t.read_rate, t.up), (1_000_000_000, s(2), Some(1_000_000), false));
}

#[test]
fn a_dialogue_is_no_longer_than_any_other_transfer() {
    refusals(&[
        (
            "transfer = { request = '1 B', response = '1 TB', count = 1001 }\npath = [{}]",
            "transfer.count: 1001 times 1 TB",
        ),
        ("transfer = { request = '1000 TB', response = '1 B', count = 2 }\npath = [{}]", "lower count or request"),
    ]);
    read("transfer = { request = '1 B', response = '1 TB', count = 1000 }\npath = [{}]");
}

#[test]
fn applications_do_not_mix() {
    refusals(&[
        ("transfer = { bytes = '1 MB', duration = '1 s' }\npath = [{}]", "transfer: both bytes and duration"),
        ("transfer = { rate = '1 Mbit/s' }\npath = [{}]", "transfer.rate: a bulk transfer has no rate"),
        ("transfer = { on = '1 s' }\npath = [{}]", "transfer.off: missing"),
        ("transfer = { request = '1 B' }\npath = [{}]", "transfer.response: missing"),
        (
            "transfer = { request = '1 B', response = '1 B', bytes = '1 B' }\npath = [{}]",
            "transfer.bytes: not allowed here",
        ),
        (
            "connection.protocol = 'udp'\ntransfer = { on = '1 s', rate = '1 kbps' }\npath = [{}]",
            "transfer.on: not allowed",
        ),
    ]);
}

#[test]
fn plain_tcp_takes_the_first_path() {
    let s = read("connection.protocol = 'tcp'\ntransfer = {}\npath = [{}, {}]");
    assert_eq!(s.connections[0].paths, [[0]]);
    assert!(!s.connections[0].config.mptcp);
}

#[test]
fn bad_values_name_place_value_range_and_nearest_word() {
    let path = |keys: &str| refused(&format!("[transfer]\n[[path]]\n[[path]]\n{keys}"));
    assert_eq!(path("los = '5 %'").lines().collect::<Vec<_>>()[..1], ["demo.toml: path[1].los: unknown key"]);
    assert!(path("los = '5 %'").contains("did you mean \"loss\"?"));
    assert_eq!(
        path("rate = '-5 Mbit/s'"),
        "demo.toml: path[1].rate: \"-5 Mbit/s\" is negative\n  allowed: 1 bit/s to 1 Tbit/s"
    );
    assert!(path("delay = 10").contains("path[1].delay: expected a quantity in quotes such as \"10 ms\", found 10"));
    assert!(path("rate = '0 Mbit/s'").contains("is out of range"));
    assert!(path("rate = nan").contains("found nan"));
    assert!(path("loss = nan").contains("path[1].loss: nan is out of range"));
    assert!(path("delay = '2 h'").contains("allowed: 0 ns to 1 h"));
    assert!(path("delay_redraw = 'writes'").contains("allowed: \"packet\", \"write\""));
    assert!(path("queue = '100 parcels'").contains("\"100 packets\" or \"64 kB\""));
    assert!(path("loss = { good_to_bad = '1 %', bad_to_god = '3 %' }").contains("loss.bad_to_god: unknown key"));
    assert!(path("loss = { good_to_bad = '1 %' }").contains("path[1].loss.bad_to_good: missing"));
    assert!(path("mss = 1200").contains("it belongs in [connection]"));
    assert!(
        path("changes = [{ at = '1 s', state = 'dwon' }]").contains("path[1].changes[0].state: unknown state \"dwon\"")
    );
    assert!(path("changes = [{ at = '1 s' }]").contains("path[1].changes[0]: nothing changes"));
    assert!(path("delay_variaton_up = '1 %'").contains("did you mean \"delay_variation_up\"?"));
    refusals(&[
        ("[connection]\ncontroller = 'copled'\n[transfer]\n[[path]]", "did you mean \"coupled\"? choices: uncoupled, "),
        ("[connection]\nprotocol = 'sctp'\n[transfer]\n[[path]]", "unknown protocol \"sctp\""),
        ("[connection]\nmss = 0\n[transfer]\n[[path]]", "allowed: a whole number from 1 to 65455"),
        ("[connection]\nmss = '1400'\n[transfer]\n[[path]]", "expected a whole number, found \"1400\""),
        ("[connection]\nsack = 'yes'\n[transfer]\n[[path]]", "expected true or false"),
        ("[connection]\nmin_rto = '3 min'\n[transfer]\n[[path]]", "connection.min_rto: 3 min is more than max_rto"),
        ("[connection]\ndelayed_ack = '1 s'\n[transfer]\n[[path]]", "allowed: 1 ns to 500 ms, or \"off\""),
        ("[connection]\nacknowledgement = 5\n[transfer]\n[[path]]", "expected an acknowledgement in quotes, found 5"),
        ("[connection]\ndsn_octets = 6\n[transfer]\n[[path]]", "allowed: 4 or 8"),
        (
            "[connection]\ndsn_octets = 4\n[transfer]\n[[path]]\nrate = '200 Mbit/s'\n[[path]]\nrate = '100 Mbit/s'",
            "can wrap within two minutes, since the paths together carry 300 Mbit/s",
        ),
        ("[connection]\nreceive_buffer = 'infinite'\n[transfer]\n[[path]]", "allowed: \"unlimited\""),
        (
            "[connection]\ntcp_rmem = '4096 131072'\n[transfer]\n[[path]]",
            "connection.tcp_rmem: expected three sizes from 1 B to 1 GiB",
        ),
        (
            "[connection]\ntcp_rmem = '4096 131072 6291456'\nreceive_buffer = '1 MB'\n[transfer]\n[[path]]",
            "connection.receive_buffer: is set by tcp_rmem already",
        ),
        ("[connection]\ntruesize = 3\n[transfer]\n[[path]]", "connection.truesize: has no effect without tcp_rmem"),
        (
            "[connection]\ntcp_wmem = '4096 16384 4194304'\nsend_buffer = '1 MB'\n[transfer]\n[[path]]",
            "connection.send_buffer: is set by tcp_wmem already",
        ),
        ("seed = -1\n[transfer]\n[[path]]", "demo.toml: seed: -1 is out of range"),
        ("duration = '0 s'\n[transfer]\n[[path]]", "duration: \"0 s\" is out of range"),
        ("bytes = '5 MB'\n[transfer]\n[[path]]", "it belongs in [transfer]"),
        ("[transfers]\n[[path]]", "transfers: unknown key\n  did you mean \"transfer\"?"),
    ]);
}

#[test]
fn what_is_missing_or_of_the_wrong_shape_is_told() {
    refusals(&[
        ("", "path: the scenario has no path"),
        ("[transfer]\npath = []", "path: the scenario has no path"),
        ("[[path]]", "transfer: missing"),
        ("[transfer]\n[path]\nrate = '1 Mbit/s'", "path: expected a list, found"),
        ("[[transfer]]\n[[path]]", "write [transfer] once"),
        ("connection = 5\n[transfer]\n[[path]]", "connection: expected a table, found 5"),
        ("[transfer]\n[[connection]]\ntransfer = {}\n[[path]]", "[transfer] cannot stand beside [[connection]]"),
        ("[[connection]]\n[[path]]", "connection[0].transfer: missing"),
        ("[transfer]\n[[path]]\n[[host]]\nname = 'x'", "host: [[host]] cannot stand beside [[path]]"),
        ("[transfer]\n[[path]]\n[link]\nrate = '1 Mbit/s'", "link: [[link]] cannot stand beside [[path]]"),
        ("[transfer]\n[[path]]\n[router]\nname = 'x'", "router: [[router]] cannot stand beside [[path]]"),
        ("[transfer]\n[link]\nname = 'x'", "link: expected a list, found"),
        ("[transfer]\n[topology]\nkind = 'dumbbell'\nhosts = 2\n[link]\na = 'x'", "link: [[link]] cannot stand beside"),
        ("[transfer]\n[[path]]\nleo = { prset = 'starlink-roam' }", "path[0].leo.prset: unknown key"),
        ("[transfer]\n[[path]]\ndiscipline = { nam = 'red' }", "did you mean \"name\"?"),
        ("[connection]\ncontroller = { gamm = 1 }\n[transfer]\n[[path]]", "connection.controller.name: missing in"),
        ("[transfer]\n[[path]]\ndelay_variation = '10 mss'", "allowed: "),
        ("[transfer]\n[[path]]\ndelay_variation = '10 MB'", "0 to 1 h"),
        ("[transfer]\ncores = 2\n[[path]]", "it belongs in [host]"),
        ("[[router]]\nname = 'x'\ncost = '1 us'", "it belongs in [host] or [[path]]"),
        ("[transfer]\n[[path]]\nchanges = [{ rat = '1 Mbit/s' }]", "did you mean \"rate\"?"),
        ("[transfer]\n[[path]]\nname = 'path1'\n[[path]]", "path[1].name: the name \"path1\" is taken"),
        ("[transfer]\n[[path]]\nname = 'a b'", "path[0].name: \"a b\" is not a name"),
        ("title = \"a\\nb\"\n[transfer]\n[[path]]", "title: not a title"),
        ("title = \"a\\u202Eb\"\n[transfer]\n[[path]]", "title: not a title"),
        ("title = \"a\\u2028b\"\n[transfer]\n[[path]]", "title: not a title"),
        ("title = \"\\u2066b\"\n[transfer]\n[[path]]", "none of which controls a terminal or the direction of writing"),
    ]);
}

fn over(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, String> {
    let owned: Vec<(String, String)> = overrides.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    parse(text, "demo.toml", &owned, None).map_err(|e| e.to_string())
}

fn examples() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
    let mut examples: Vec<(String, String)> = files
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .map(|p| (p.display().to_string(), std::fs::read_to_string(&p).unwrap()))
        .collect();
    examples.sort();
    assert!(examples.len() >= 8);
    examples
}

#[test]
fn every_example_reads_without_a_warning_and_says_what_to_expect() {
    for (name, text) in examples() {
        let scenario = parse(&text, &name, &[], None).unwrap_or_else(|e| panic!("{e}"));
        assert!(scenario.warnings().is_empty(), "{name}: {:?}", scenario.warnings());
        let comment: String = text.lines().take_while(|l| l.starts_with('#')).collect();
        assert!(comment.to_lowercase().contains("expect"), "{name}");
    }
}

#[test]
fn a_resolved_document_reads_as_the_same_scenario() {
    let overrides = [("path.0.delay".to_owned(), "33.3 ms".to_owned()), ("transfer.read_rate".into(), "7 MB/s".into())];
    let mut documents = vec![(String::from("template"), template())];
    documents.extend(examples());
    for (name, text) in documents {
        let long = text.contains("[[connection]]") || !text.contains("[[path]]");
        let with = if long { &overrides[..0] } else { &overrides[..] };
        let scenario = parse(&text, &name, with, Some(42)).unwrap();
        let resolved = Source::new(&text).named(&name).overrides(with).seed(42).resolved_toml().unwrap();
        let again = parse(&resolved, &name, &[], None).unwrap();
        assert_eq!(format!("{scenario:?}"), format!("{again:?}"), "{resolved}");
        assert_eq!(scenario.to_json(), again.to_json());
    }
}

/// A document cut anywhere either still reads or is refused politely.
#[test]
fn a_truncated_document_is_refused_with_a_line_and_a_remedy() {
    for (i, _) in template().char_indices().filter(|(i, _)| i % 7 == 0) {
        if let Err(e) = parse(&template()[..i], "demo.toml", &[], None) {
            let said = e.to_string();
            assert!(said.lines().count() == 2, "{said}");
            assert!(said.contains("line ") || said.contains("missing") || said.contains("has no path"), "{said}");
        }
    }
}

/// Whatever is done to a document, it reads or is refused in three lines; nothing panics.
#[test]
fn damaged_documents_are_refused_in_three_lines() {
    let pieces =
        ["", "\"", "=", "[", "]", "{", "}", "-", "9", "e9", "\n", ".", ",", "\u{fc}", "_", "nan", "\\u0007", "''"];
    let mut state = 1_u64;
    let mut draw = |below: usize| {
        // Knuth's 64-bit linear congruential generator.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let sources: Vec<String> =
        examples().into_iter().map(|(_, t)| t).chain([template().replace("\n# ", "\n")]).collect();
    for _ in 0..3000 {
        let mut text: Vec<char> = sources[draw(sources.len())].chars().collect();
        for _ in 0..=draw(3) {
            let at = draw(text.len());
            let end = (at + draw(4)).min(text.len());
            text.splice(at..end, pieces[draw(pieces.len())].chars());
        }
        let text: String = text.into_iter().collect();
        if let Err(e) = parse(&text, "demo.toml", &[], None) {
            assert!((1..=3).contains(&e.to_string().lines().count()), "{e}");
        }
    }
}
