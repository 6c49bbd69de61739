//! Each recovery in each situation that tells them apart, with both endpoints at work and every time exact.
//!
//! The path takes 50 ms each way. A client sends ten segments at 1 s, so that the timeout comes down to 200 ms, and from
//! 2 s on what the test gives it, at first a flight of ten: segments 0 to 9. What befalls them is the situation.
//!
//! The sources, each in its own words: [`super::recovery_dsack`], [`super::recovery_eifel`], [`super::recovery_frto`],
//! [`super::recovery_door`]; what follows from a verdict: [`super::recovery_response`].

use anabranch_stack::Config;
use anabranch_stack::controller::Cause;
use anabranch_stack::event::{Event, SendKind};
use anabranch_stack::recovery::REGISTRY;

use crate::pair::{Fate, Packet, Pair, Side, at, ms, tcp};

/// A TCP endpoint with every option a recovery may need.
pub fn config(recovery: &'static str) -> Config {
    Config { recovery, timestamps: true, ..tcp() }
}

/// What became of a transfer.
pub struct Story {
    pub pair: Pair,
    /// Retransmissions of the client: milliseconds, number of the segment, kind.
    pub again: Vec<(u64, u64, SendKind)>,
    /// Verdicts: milliseconds, spurious, restored.
    pub verdicts: Vec<(u64, bool, bool)>,
    /// Episodes: milliseconds, cause.
    pub episodes: Vec<(u64, Cause)>,
}

/// Milliseconds of a moment that is a whole number of them.
pub fn whole_ms(t: anabranch_stack::time::Instant) -> u64 {
    assert_eq!(t.0 % 1_000_000, 0, "{t}");
    t.0 / 1_000_000
}

/// Number of the segment among those sent from 2 s on; `None` without payload or from before.
pub fn number(p: &Packet) -> Option<u64> {
    let payload = p.segment().payload;
    (p.from == Side::A && payload.len > 0 && payload.offset >= 10_000).then(|| payload.offset / 1000 - 10)
}

/// How often this segment has been sent, this time included.
pub fn copy(p: &Packet) -> u8 {
    p.transmit.transmissions
}

/// Sends `segments` segments from 2 s on, with `fate` for what leaves from then on, until `end` milliseconds.
pub fn tell(config: &Config, segments: u64, end: u64, mut fate: impl FnMut(&Packet) -> Fate + 'static) -> Story {
    let mut pair = Pair::new(config.clone(), config.clone(), ms(50));
    pair.run_until(at(1000));
    pair.write(Side::A, 10_000);
    pair.run_until(at(2000));
    let s = &pair[Side::A].conn().subflows()[0];
    assert_eq!((s.rto(), s.srtt()), (ms(200), Some(ms(100))));
    pair.filter(move |p| fate(p));
    pair.write(Side::A, segments * 1000);
    pair.run_until(at(end));
    let again = pair.log.iter().filter(|p| copy(p) > 1);
    let again = again.map(|p| (whole_ms(p.at), number(p).expect("data"), p.transmit.kind)).collect();
    let events = &pair[Side::A].events;
    let verdicts = events.iter().filter_map(|(t, e)| match e {
        Event::Judged { spurious, restored, .. } => Some((whole_ms(*t), *spurious, *restored)),
        _ => None,
    });
    let episodes = events.iter().filter_map(|(t, e)| match e {
        Event::Congestion { cause, .. } => Some((whole_ms(*t), *cause)),
        _ => None,
    });
    let (verdicts, episodes) = (verdicts.collect(), episodes.collect());
    Story { again, verdicts, episodes, pair }
}

impl Story {
    /// cwnd and ssthresh in octets, at the end.
    pub fn window(&self) -> (f64, f64) {
        let s = &self.pair[Side::A].conn().subflows()[0];
        (s.cwnd(), s.ssthresh())
    }

    /// Numbers of the segments sent again.
    pub fn numbers(&self) -> Vec<u64> {
        self.again.iter().map(|a| a.1).collect()
    }
}

/// Nothing that the client sends from 2 s on arrives before 2.45 s: the path stands still for 400 ms.
pub fn spike(p: &Packet) -> Fate {
    match number(p) {
        Some(_) if p.at < at(2400) => Fate::Late(at(2400).since(p.at)),
        _ => Fate::Pass,
    }
}

#[test]
fn explore() {
    for r in REGISTRY {
        for sack in [true, false] {
          for timestamps in [true, false] {
            if r.name == "dsack" && !sack || r.name == "eifel" && !timestamps { continue }
            let c = Config { sack, timestamps, ..config(r.name) };
            let name = r.name;
            let show = |what: &str, s: Story| println!("{what:10} {name:6} {sack} {timestamps} {:?}\n    {:?} {:?}\n    {:?} undone {} read {}", s.episodes, s.again.iter().map(|a| (a.0, a.1)).collect::<Vec<_>>(), s.verdicts, s.window(), s.pair[Side::A].conn().subflows()[0].undone(), s.pair[Side::B].read);
            show("reroute", tell(&c, 100, 2700, |p| if number(p).is_some() && p.at < at(2100) { Fate::Late(ms(400)) } else { Fate::Pass }));
            show("swapped t2 3", tell(&Config { door_t2: 3.0, ..c.clone() }, 100, 2400, |p| if number(p) == Some(2) && copy(p) == 1 { Fate::Late(ms(200)) } else { Fate::Pass }));
            show("twice", tell(&c, 100, 2300, |p| if number(p) == Some(2) && copy(p) == 1 { Fate::Late(ms(20)) } else if number(p) == Some(0) { Fate::Twice(ms(1)) } else { Fate::Pass }));
            show("acks 3 swapped", tell(&c, 100, 2300, |p| if p.from == Side::B && p.at == at(2050) && p.segment().ack.wrapping_sub(p.segment().ack / 1000 * 1000) < 1000 && p.n % 5 == 3 { Fate::Late(ms(5)) } else { Fate::Pass }));
            show("nested", tell(&c, 100, 2800, |p| if number(p) == Some(2) && p.at < at(2150) { Fate::Drop } else { Fate::Pass }));
            show("two", tell(&c, 100, 2800, |p| match number(p) { Some(1) if copy(p) == 1 => Fate::Late(ms(70)), Some(3) if copy(p) == 1 => Fate::Drop, _ => Fate::Pass}));
          }
        }
    }
}
