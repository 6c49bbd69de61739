//! Transfers that have parts: what their keys become, or how they are refused.

use anabranch_stack::time::Duration;

use super::super::application::{Draw, Until};
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
        ("", "transfer.count: missing: nothing says when there are no more messages"),
        ("count = 1\nduration = '1 s'", "transfer: both count and duration"),
        ("count = 10_000_001", "transfer.count: 10000001 is out of range"),
        (
            "count = 1\nbytes = '1 MB'",
            "transfer.bytes: not allowed here: \"message\" makes this a transfer of messages",
        ),
        ("count = 1\nthink = '1 s'", "transfer.think: not allowed here"),
        ("count = 1\nrate = '1 Mbit/s'", "it takes message, interval, deadline, count, duration; remove \"rate\""),
    ] {
        let error = read(keys).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
    refusals(&[
        (
            "transfer = { deadline = '1 s' }\npath = [{}]",
            "transfer.deadline: not allowed here: it is a part of \"message\"",
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
            "transfer.message.alpha: 0 is out of range",
        ),
        (
            "transfer = { message = { name = 'uniform', min = '2 kB', max = '1 kB' }, interval = '1 s' }\npath = [{}]",
            "transfer.message.max: below min",
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
