//! Transfers that have parts: what their keys become, or how they are refused.

use anabranch_stack::time::Duration;

use super::super::application::{Content, Draw, Object, Until};
use super::super::{Application, parse};
use super::refusals;

#[test]
fn messages_are_drawn_and_bounded() {
    let read = |keys: &str| {
        let text = format!("[transfer]\nmessage = '1 kB'\ninterval = '20 ms'\n{keys}\n[[path]]");
        parse(&text, "t", &[], None).map_err(|e| e.to_string())
    };
    let messages = |keys: &str| match &read(keys).unwrap().connections[0].transfer.application {
        Application::Messages(m) => *m.clone(),
        other => panic!("{other:?}"),
    };
    let m = messages("count = 3\ndeadline = '1 s'");
    assert_eq!((m.size, m.interval), (Draw::fixed(1000), Draw::fixed(20_000_000)));
    assert_eq!((m.deadline, m.until), (Some(Duration::from_secs(1)), Until::Count(3)));
    assert_eq!(messages("duration = '2 s'").until, Until::Duration(Duration::from_secs(2)));
    for (keys, said) in [
        ("", "transfer.count: missing: neither count nor duration says when the messages end"),
        ("count = 1\nduration = '1 s'", "transfer: both count and duration"),
        ("count = 10_000_001", "transfer.count: 10000001 is out of range"),
        (
            "count = 1\nbytes = '1 MB'",
            "transfer.bytes: not allowed here: \"message\" makes this a transfer of messages",
        ),
        ("count = 1\nthink = '1 s'", "transfer.think: not allowed here"),
        (
            "count = 1\nrate = '1 Mbit/s'",
            "remove \"rate\"; keys of such a transfer: message, interval, deadline, count, duration",
        ),
    ] {
        let error = read(keys).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
    refusals(&[
        (
            "transfer = { deadline = '1 s' }\npath = [{}]",
            "transfer.deadline: not allowed here without the key \"message\"",
        ),
        ("transfer = { message = '1 kB', count = 1 }\npath = [{}]", "transfer.interval: missing"),
        (
            "transfer = { message = '0 B', interval = '1 s', count = 1 }\npath = [{}]",
            "transfer.message: \"0 B\" is out",
        ),
        ("transfer = { message = { mean = '1 kB' } }\npath = [{}]", "transfer.message.name: missing"),
        ("transfer = { message = { name = 'normal' } }\npath = [{}]", "did you mean \"lognormal\"?"),
        (
            "transfer = { message = { name = 'pareto', min = '1 kB', alpha = 0 }, interval = '1 s' }\npath = [{}]",
            "transfer.message.alpha: expected a number from 0.1 to 100, found 0",
        ),
        (
            "transfer = { message = { name = 'uniform', min = '2 kB', max = '1 kB' }, interval = '1 s' }\npath = [{}]",
            "transfer.message.max: max is below min",
        ),
        (
            "connection.protocol = 'udp'\ntransfer = { message = '1 kB', interval = '1 s', count = 1 }\npath = [{}]",
            "transfer.message: not allowed here: protocol = \"udp\"",
        ),
        (
            "stack = 'legacy-2011'\ntransfer = { message = '1 kB', interval = '1 s', count = 1 }\npath = [{}]",
            "transfer.message: the stack \"legacy-2011\" knows bulk",
        ),
    ]);
}

#[test]
fn a_page_is_named_drawn_or_written() {
    let read = |keys: &str| parse(&format!("[transfer]\n{keys}\n[[path]]"), "t", &[], None).unwrap();
    let page = |keys: &str| match &read(keys).connections[0].transfer.application {
        Application::Page(p) => (**p).clone(),
        other => panic!("{other:?}"),
    };
    let p = page("page = 'amazon'");
    assert_eq!(p.content, Content::Drawn { objects: 54, bytes: 1024 << 10, depth: 2 });
    assert_eq!((p.connections, p.request, p.think), (1, 400, Duration::ZERO));
    let p = page("page = { objects = 3, bytes = '10 kB', depth = 3 }\nrequest = '1 kB'\nthink = '1 ms'");
    assert_eq!(p.content, Content::Drawn { objects: 3, bytes: 10_000, depth: 3 });
    assert_eq!((p.request, p.think), (1000, Duration::from_millis(1)));
    let written = page("page = [{ size = '2 kB' }, { size = '1 B' }, { size = '3 B', after = 1 }]").content;
    let object = |bytes, after| Object { bytes, after };
    assert_eq!(written, Content::Written(vec![object(2000, None), object(1, Some(0)), object(3, Some(1))]));
    // Who asks is the client.
    assert!(!read("page = 'amazon'").connections[0].transfer.up);
    assert!(read("page = 'amazon'\ndirection = 'up'").connections[0].transfer.up);
}

/// They stand behind those that are written, so that the numbers of these stay.
#[test]
fn further_connections_of_a_page_come_last() {
    let s = parse("[transfer]\npage = 'amazon'\nconnections = 3\n[[path]]", "t", &[], None).unwrap();
    let named: Vec<_> = s.connections.iter().map(|c| (c.name.as_str(), c.helps)).collect();
    assert_eq!(named, [("connection0", None), ("connection0-2", Some(0)), ("connection0-3", Some(0))]);
    let two = "path = [{}]\n[[connection]]\ntransfer = { page = 'amazon', connections = 2 }\n[[connection]]
        name = 'x'\ntransfer = {}";
    let s = parse(two, "t", &[], None).unwrap();
    let named: Vec<_> = s.connections.iter().map(|c| (c.name.as_str(), c.helps)).collect();
    assert_eq!(named, [("connection0", None), ("x", None), ("connection0-2", Some(0))]);
    refusals(&[(&two.replace("'x'", "'connection0-2'"), "the name \"connection0-2\" is taken")]);
}

#[test]
fn a_film_has_its_ladder_and_its_buffer() {
    let text = "[transfer]\nladder = ['1 Mbit/s', '3 Mbit/s']\ncount = 5\n[[path]]";
    let s = parse(text, "t", &[], None).unwrap();
    let Application::Video(v) = &s.connections[0].transfer.application else { panic!() };
    let seconds = Duration::from_secs;
    assert_eq!((&v.ladder[..], v.count, v.request), (&[1_000_000, 3_000_000][..], 5, 400));
    assert_eq!((v.segment, v.buffer, v.startup), (seconds(4), seconds(30), seconds(4)));
    assert_eq!((v.octets(0), v.octets(1), s.connections[0].transfer.up), (500_000, 1_500_000, false));
}

/// A buffer that just holds a segment, and a start with a full buffer, make sense.
#[test]
fn a_film_may_start_when_its_buffer_is_full() {
    for (keys, startup) in [("buffer = '4 s'", 4), ("buffer = '12 s'\nstartup = '12 s'", 12)] {
        let s = parse(
            &format!("[transfer]\nladder = ['1 Mbit/s']\ncount = 1\nsegment = '4 s'\n{keys}\n[[path]]"),
            "t",
            &[],
            None,
        )
        .unwrap();
        let Application::Video(v) = &s.connections[0].transfer.application else { panic!("a film") };
        assert_eq!(v.startup, Duration::from_secs(startup));
    }
}

#[test]
fn pages_and_films_that_make_no_sense_are_refused() {
    let page = |keys: &str| format!("[transfer]\npage = {keys}\n[[path]]");
    let film = |keys: &str| format!("[transfer]\nladder = ['1 Mbit/s']\n{keys}\n[[path]]");
    for (text, said) in [
        (page("'amazone'"), "transfer.page: unknown page \"amazone\"\n  did you mean \"amazon\"?"),
        (page("7"), "transfer.page: expected a name, a table or a list, found 7"),
        (page("[]"), "transfer.page: the page has no objects"),
        (page("[{ size = '1 kB', after = 0 }]"), "transfer.page[0].after: the first object is the document"),
        (page("[{ size = '1 kB' }, { size = '1 B', after = 1 }]"), "transfer.page[1].after: 1 is out of range"),
        (page("[{ size = '1 kB' }, { bytes = '1 B' }]"), "transfer.page[1].bytes: unknown key"),
        (page("{ objects = 3 }"), "transfer.page.bytes: missing"),
        (
            page("{ objects = 3, bytes = '2 B' }"),
            "transfer.page.bytes: 2 B are less than an octet for each of 3 objects",
        ),
        (
            page("{ objects = 3, bytes = '1 kB', depth = 4 }"),
            "transfer.page.depth: 4 is more than the number of objects, 3",
        ),
        (page("{ objects = 3, bytes = '1 kB', depth = 1 }"), "transfer.page.depth: a page of"),
        (page("'amazon'\nconnections = 0"), "transfer.connections: 0 is out of range"),
        (page("'amazon'\nbytes = '1 MB'"), "transfer.bytes: not allowed here: \"page\" makes this a web page"),
        (page("'amazon'\ncount = 3"), "transfer.count: not allowed here"),
        (film("count = 0"), "transfer.count: 0 is out of range"),
        (film(""), "transfer.count: missing"),
        (
            film("count = 1\nsegment = '40 s'\nbuffer = '30 s'"),
            "transfer.buffer: 30 s is shorter than one segment, 40 s",
        ),
        (film("count = 9\nstartup = '29 s'"), "transfer.startup: 29 s is more than the buffer can hold, 28 s"),
        (film("count = 1\nrate = '1 Mbit/s'"), "transfer.rate: not allowed here: \"ladder\" makes this a film"),
        (film("count = 1\npage = 'amazon'"), "transfer.ladder: not allowed here: \"page\" makes this a web page"),
        ("[transfer]\nladder = []\n[[path]]".into(), "transfer.ladder: the list has 0 bit rates"),
        (
            "[transfer]\nladder = ['2 Mbit/s', '2 Mbit/s']\ncount = 1\n[[path]]".into(),
            "transfer.ladder[1]: 2 Mbit/s is not above 2 Mbit/s",
        ),
        ("[transfer]\nladder = '2 Mbit/s'\n[[path]]".into(), "transfer.ladder: expected a list"),
        (
            "[transfer]\nconnections = 2\n[[path]]".into(),
            "transfer.connections: not allowed here without the key \"page\"",
        ),
        ("[transfer]\nbuffer = '2 s'\n[[path]]".into(), "transfer.buffer: not allowed here without the key \"ladder\""),
        (format!("connection.protocol = 'udp'\n{}", page("'amazon'")), "transfer.page: not allowed here: protocol"),
        (format!("stack = 'legacy-2011'\n{}", film("count = 1\ndirection = 'up'")), "transfer.ladder: the stack"),
        (format!("stack = 'legacy-2011'\n{}", page("'amazon'")), "transfer.page: the stack"),
    ] {
        refusals(&[(&text, said)]);
    }
}

#[test]
fn both_directions_are_for_those_who_only_send() {
    let s = parse("[transfer]\ndirection = 'both'\n[[path]]", "t", &[], None).unwrap();
    assert!(s.connections[0].transfer.both && s.connections[0].transfer.up);
    assert_eq!(s.to_json()["connections"][0]["transfer"]["direction"], "both");
    for keys in ["page = 'amazon'", "request = '1 B'\nresponse = '1 B'", "message = '1 B'\ninterval = '1 s'\ncount = 1"]
    {
        let text = format!("[transfer]\ndirection = 'both'\n{keys}\n[[path]]");
        refusals(&[(&text, "transfer.direction: \"both\" is for bulk and on-off transfers")]);
    }
    let both = "[transfer]\ndirection = 'both'\n[[path]]";
    refusals(&[
        (&format!("connection.protocol = 'udp'\n{both}"), "transfer.direction: \"both\" is for bulk and on-off"),
        (&format!("stack = 'legacy-2011'\n{both}"), "transfer.direction: the stack \"legacy-2011\" knows bulk"),
    ]);
}
