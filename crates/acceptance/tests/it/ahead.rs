//! Links that look ahead against links that do not.
//!
//! A link works out arrivals when it takes a packet, if nothing can interfere. A change that is scheduled for a time after the
//! end of the run keeps it from that, and changes nothing else: everything that is told of both runs has to be the same, to the
//! nanosecond and the octet, but the number of events.

use anabranch_sim::Run;
use anabranch_sim::sim::rng::Rng;
use serde_json::Value;

use crate::determinism::all_examples;
use crate::support::{example, finish, scenario, with};

/// A change that nobody lives to see.
const LATE: &str = "changes = [{ at = '90000 s', state = 'up' }]";

/// Everything that is told of a run, but what it took; and the number of its events.
fn told(run: Run) -> (Value, String, u64) {
    let mut summary = run.summary;
    let removed = ["wall_s", "events"].map(|key| summary.as_object_mut().expect("an object").remove(key));
    let series = format!("{:?}", run.series.samples());
    (summary, series, removed[1].as_ref().and_then(Value::as_u64).expect("a number of events"))
}

struct Dice(Rng);

impl Dice {
    fn among<T: Copy>(&mut self, these: &[T]) -> T {
        these[(self.0.uniform() * these.len() as f64) as usize]
    }

    /// One direction or both of a link: round numbers, so that many events fall on one nanosecond.
    fn link(&mut self) -> String {
        let rate = self.among(&["800 kbit/s", "4 Mbit/s", "8 Mbit/s", "8 Mbit/s", "11 Mbit/s"]);
        let delay = self.among(&["0 ms", "0 ms", "1 ms", "10 ms", "10 ms", "123457 ns"]);
        let queue = self.among(&["0 packets", "1 packets", "7 packets", "20 packets", "100 packets", "2 kB", "15 kB"]);
        let more = self.among(&["", "", "overhead = '26 B'", "ecn_threshold = '3 packets'"]);
        format!("rate = '{rate}'\ndelay = '{delay}'\nqueue = '{queue}'\n{more}\n")
    }

    fn transfer(&mut self) -> &'static str {
        self.among(&[
            "{ bytes = '200 kB' }",
            "{ bytes = '200 kB', direction = 'down' }",
            "{ bytes = '1 MB', start_spread = '100 ms' }",
            "{ duration = '3 s' }",
            "{ duration = '3 s', read_rate = '100 kB/s' }",
        ])
    }

    fn connection(&mut self) -> String {
        let protocol = self.among(&["tcp", "mptcp", "mptcp"]);
        let buffer = self.among(&["", "receive_buffer = '30 kB'", "send_buffer = '50 kB'", "ecn = true"]);
        let controller = self.among(&["coupled", "uncoupled", "cubic"]);
        format!("protocol = '{protocol}'\ncontroller = '{controller}'\n{buffer}\n")
    }
}

/// One to three paths of one link each; or two connections and a flow of datagrams over a dumbbell.
fn random(seed: u64) -> String {
    let mut dice = Dice(Rng::new(seed, "scenario"));
    let mut text = format!("seed = {seed}\nduration = '20 s'\n");
    if dice.among(&[true, false]) {
        text += &format!("transfer = {}\n[connection]\n{}", dice.transfer(), dice.connection());
        for _ in 0..dice.among(&[1, 2, 3]) {
            text += &format!("[[path]]\nCHANGES\n{}", dice.link());
        }
        return text;
    }
    text += "[[router]]\nname = 'near'\n[[router]]\nname = 'far'\n";
    text += &format!("[[link]]\nname = 'both'\nfrom = 'near'\nto = 'far'\nCHANGES\n{}", dice.link());
    for i in 0..3 {
        text += &format!("[[host]]\nname = 'l{i}'\n[[host]]\nname = 'r{i}'\n");
        text += &format!("[[link]]\nname = 'a{i}'\nfrom = 'l{i}'\nto = 'near'\nCHANGES\n{}", dice.link());
        text += &format!("[[link]]\nname = 'b{i}'\nfrom = 'far'\nto = 'r{i}'\n{}", dice.link());
        let what = if i < 2 { dice.connection() } else { "protocol = 'udp'\n".into() };
        let transfer = if i < 2 { dice.transfer() } else { "{ rate = '2 Mbit/s', duration = '3 s' }" };
        text += &format!("[[connection]]\nclient = 'l{i}'\nserver = 'r{i}'\n{what}transfer = {transfer}\n");
    }
    text
}

#[test]
fn a_link_that_looks_ahead_cannot_be_told_from_one_that_does_not() {
    let (mut ahead, mut not) = (0, 0);
    for seed in 0..300 {
        let text = random(seed);
        let one = told(finish(&scenario(&text.replace("CHANGES", ""))));
        let two = told(finish(&scenario(&text.replace("CHANGES", LATE))));
        assert_eq!(one.0, two.0, "{text}");
        assert_eq!(one.1, two.1, "{text}");
        (ahead, not) = (ahead + one.2, not + two.2);
    }
    assert!(ahead * 3 < not * 2, "{ahead} events where there were {not}");
}

#[test]
fn no_example_depends_on_which_links_look_ahead() {
    for name in all_examples().iter().filter(|name| *name != "fat-tree") {
        let mut scenario = with(&example(name), &["duration=30 s"]);
        let ahead = told(finish(&scenario));
        let late = crate::support::scenario(&format!("transfer = {{}}\n[[path]]\n{LATE}")).links[0].changes.clone();
        scenario.links.iter_mut().for_each(|link| link.changes.extend(late.clone()));
        let not = told(finish(&scenario));
        assert_eq!((ahead.0, ahead.1), (not.0, not.1), "{name}");
    }
}
