use super::super::middlebox::describe;
use super::super::parse;
use super::*;

fn read(boxes: &str) -> Result<Vec<Middlebox>, String> {
    let text = format!("transfer = {{}}\npath = [{{ middleboxes = {boxes} }}]");
    parse(&text, "t", &[], None).map(|s| s.links[0].middleboxes.clone()).map_err(|e| e.to_string())
}

#[test]
fn a_name_stands_for_its_defaults_and_every_name_is_read() {
    for entry in REGISTRY {
        let boxes = read(&format!("['{}']", entry.name)).unwrap();
        assert_eq!((boxes.len(), boxes[0].kind), (1, entry.kind));
        assert_eq!((boxes[0].up, boxes[0].down), (true, true));
        assert_eq!(read(&format!("[{{ kind = '{}' }}]", entry.name)).unwrap(), boxes);
        assert_eq!(describe(entry.kind).0, entry.name);
    }
}

#[test]
fn parameters_directions_and_moments_are_read() {
    let boxes = read(
        "['nat', { kind = 'split', size = '200 B', options = 'first', direction = 'up', at = '1 s', until = '2 s' },
          { kind = 'coalesce', hold = '2 ms', size = '3 kB', options = 'last' }, { kind = 'alter-length', grow = -3 }]",
    );
    let boxes = boxes.unwrap();
    assert_eq!(boxes[1].kind, Kind::Split { size: 200, all: false });
    assert_eq!(
        (boxes[1].up, boxes[1].down, boxes[1].at.0, boxes[1].until.0),
        (true, false, 1_000_000_000, 2_000_000_000)
    );
    assert_eq!(boxes[2].kind, Kind::Coalesce { size: 3000, hold: Duration::from_millis(2), last: true });
    assert_eq!(boxes[3].kind, Kind::AlterLength { every: 100_000, grow: -3 });
}

#[test]
fn what_makes_no_sense_is_refused_with_the_remedy() {
    for (boxes, part) in [
        (
            "['strip-mptcp-sny']",
            "path[0].middleboxes[0]: unknown middlebox \"strip-mptcp-sny\"\n  did you mean \"strip-mptcp-syn\"? choices: strip-mptcp,",
        ),
        (
            "[{ kind = 'splitt' }]",
            "path[0].middleboxes[0].kind: unknown middlebox \"splitt\"\n  did you mean \"split\"?",
        ),
        ("[{ size = '1 B' }]", "middleboxes[0].kind: missing"),
        ("[{ kind = 'nat', size = '1 B' }]", "middleboxes[0].size: \"nat\" has no size\n  it has: timeout"),
        ("[{ kind = 'strip-sack', every = '1 B' }]", "\"strip-sack\" has no every\n  remove it"),
        ("[{ kind = 'split', at = '2 s', until = '2 s' }]", "until: is not later than at"),
        ("[{ kind = 'nat', direction = 'up' }]", "a NAT translates both directions"),
        ("[{ kind = 'pep', direction = 'up' }]", "a proxy splits both directions"),
        ("[{ kind = 'pep', end = 'fra' }]", "did you mean \"far\"?"),
        ("[{ kind = 'pep', initial_window = 0 }]", "allowed: a whole number from 1 to 65535"),
        (
            "['nat', 'pep', 'alter-payload']",
            "path[0].middleboxes[1]: \"pep\" and a box that alters payloads cannot be in one scenario",
        ),
        ("[{ kind = 'alter-length', grow = 0 }]", "allowed: -100 to 100 without 0"),
        ("[7]", "expected a middlebox, found 7"),
        ("'nat'", "path[0].middleboxes: expected a list"),
    ] {
        let said = read(boxes).unwrap_err();
        assert!(said.contains(part), "{said}\n--- lacks: {part}");
    }
    let legacy = parse("stack = 'legacy-2011'\ntransfer = {}\npath = [{ middleboxes = ['nat'] }]", "t", &[], None);
    assert!(legacy.unwrap_err().to_string().contains("path[0].middleboxes: the 2011 model has no segments"));
}
