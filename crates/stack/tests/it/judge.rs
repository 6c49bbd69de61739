//! Each judge in each situation that tells them apart, with both endpoints at work and every time exact.
//!
//! The path takes 50 ms each way. A client sends ten segments at 1 s, so that the timeout comes down to 200 ms, and from
//! 2 s on what the test gives it, at first a flight of ten: segments 0 to 9. What befalls them is the situation.
//!
//! The judges by themselves, each in its source's words: [`super::judge_script`]; options and reports on the wire:
//! [`super::judge_door`], [`super::judge_reports`], [`super::judge_frto`]; what follows from a verdict:
//! [`super::judge_response`]; under coupled acknowledgement: [`super::coupled_ack`].

use anabranch_stack::Config;
use anabranch_stack::controller::Cause;
use anabranch_stack::event::{Event, SendKind};
use anabranch_stack::judge::Judge;
use anabranch_stack::registry::Choice;

use crate::pair::{Fate, Packet, Pair, Side, at, ms, tcp};

/// A TCP endpoint with every option a judge may need.
pub fn config(judge: &'static str) -> Config {
    tcp().judge(judge.parse().unwrap()).timestamps(true)
}

/// The same with another T2, if it has one.
fn t2_of(config: Config, t2: f64) -> Config {
    let judge = config.judge.clone().with("t2", t2).unwrap_or_else(|_| config.judge.clone());
    config.judge(judge)
}

/// All judges.
const ALL: [&str; 5] = ["none", "dsack", "eifel", "door", "frto"];

/// Every judge that works with these options.
fn with_options(sack: bool, timestamps: bool) -> Vec<Config> {
    let fits = |name: &&str| (*name != "dsack" || sack) && (*name != "eifel" || timestamps);
    ALL.into_iter().filter(fits).map(|name| config(name).sack(sack).timestamps(timestamps)).collect()
}

/// With and without SACK, with and without timestamps.
fn all_options() -> Vec<Config> {
    let options = [(true, true), (true, false), (false, true), (false, false)];
    options.into_iter().flat_map(|(sack, timestamps)| with_options(sack, timestamps)).collect()
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

    /// Loss episodes undone.
    pub fn undone(&self) -> u64 {
        self.pair[Side::A].conn().subflows()[0].undone()
    }
}

/// A retransmission after a timeout, at these milliseconds, of these segments.
fn timeout(ms: u64, segments: impl IntoIterator<Item = u64>) -> Vec<(u64, u64, SendKind)> {
    segments.into_iter().map(|n| (ms, n, SendKind::Timeout)).collect()
}

/// The registry has no judge that these tests do not know.
#[test]
fn all_judges_are_told_of() {
    let all = Choice::<dyn Judge>::all();
    let mut names: Vec<_> = all.iter().map(Choice::name).collect();
    names.sort_unstable();
    // The stories of "linux", which is made of three others, are by themselves below.
    let mut known: Vec<_> = ALL.into_iter().chain(["linux"]).collect();
    known.sort_unstable();
    assert_eq!(names, known);
}

// ---- a delay spike ------------------------------------------------------------------------------

/// Nothing that the client sends from 2 s on arrives before 2.45 s: the path stands still for 400 ms.
pub fn spike(p: &Packet) -> Fate {
    match number(p) {
        Some(_) if p.at < at(2400) => Fate::Late(at(2400).since(p.at)),
        _ => Fate::Pass,
    }
}

/// 2.0 segments 0-9 | 2.2 timeout, 0 again | 2.45 0-9 arrive, then 0 again | 2.5 their ten ACKs, then the report of 0
///
/// Nothing was lost. Eifel knows with the first ACK, F-RTO with the second, before anything else is retransmitted. Without
/// them slow start sends the whole flight again (two segments for each of the first ACKs), which D-SACK can only tell one
/// round trip later, with the last report. TCP-DOOR sees every packet number in order and says nothing.
#[test]
fn a_delay_spike_makes_a_timeout_spurious() {
    for c in all_options() {
        println!("{} sack {} timestamps {}", c.judge.name(), c.sack, c.timestamps);
        let s = tell(&c, 100, 2600, spike);
        assert_eq!(s.episodes, [(2200, Cause::Timeout)]);
        let first = timeout(2200, [0]);
        let go_back_n = [first.clone(), timeout(2500, 1..10)].concat();
        let (again, verdicts) = match c.judge.name() {
            "eifel" | "frto" => (first, vec![(2500, true, true)]),
            "dsack" => (go_back_n, vec![(2600, true, true)]),
            _ => (go_back_n, vec![]),
        };
        assert_eq!(s.undone(), verdicts.len() as u64);
        assert_eq!((s.again, s.verdicts), (again, verdicts));
    }
}

/// 2.0 segments 0-9, by a detour of 400 ms | 2.2 timeout, 0 again | 2.25 that arrives | 2.3 its ACK | 2.45 0-9 arrive
///
/// The retransmission overtakes its original: Eifel's and F-RTO's blind spot (the retransmission is what was
/// acknowledged). By 2.45 all is sent again. What the originals bring then are duplicates: D-SACK has its last report at
/// 2.6. For TCP-DOOR the smaller packet numbers are reordering, reported at 2.5: 300 ms after the reduction, which is too
/// late for a T2 of one round trip (100 ms) and not for one of four.
#[test]
fn a_timeout_on_a_path_that_changes_is_seen_by_those_who_see_duplicates_or_reordering() {
    for c in with_options(true, false).into_iter().chain([config("eifel")]) {
        for t2 in [1.0, 4.0] {
            println!("{} T2 {t2}", c.judge.name());
            let c = t2_of(c.clone(), t2);
            let detour =
                |p: &Packet| if number(p).is_some() && p.at == at(2000) { Fate::Late(ms(400)) } else { Fate::Pass };
            let s = tell(&c, 100, 2700, detour);
            assert_eq!(s.episodes[0], (2200, Cause::Timeout));
            let verdicts = match c.judge.name() {
                "dsack" => vec![(2600, true, true)],
                "door" if t2 == 4.0 => vec![(2500, true, true)],
                // At the first ACK; after two new segments, which are SACKed above a hole.
                "eifel" => vec![(2300, false, false)],
                "frto" => vec![(2400, false, false)],
                _ => vec![],
            };
            assert_eq!(s.verdicts, verdicts);
        }
    }
}

// ---- reordering within a subflow ----------------------------------------------------------------

fn late(segment: u64, by: u64) -> impl FnMut(&Packet) -> Fate {
    move |p| if number(p) == Some(segment) && copy(p) == 1 { Fate::Late(ms(by)) } else { Fate::Pass }
}

/// 2.0 segments 0-9 | 2.05 all but 2 arrive | 2.07 2 arrives | 2.1 seven duplicates: 2 again | 2.12 the ACK of the
/// original | 2.15 2 arrives again | 2.2 the report of it
///
/// Segment 2 comes behind seven others. Eifel and TCP-DOOR (whose receiver saw a smaller packet number) know with the ACK
/// of the original, D-SACK one round trip after the retransmission; F-RTO is silent about fast retransmits.
#[test]
fn reordering_beyond_three_segments_makes_a_fast_retransmit_spurious() {
    for c in all_options() {
        println!("{} sack {} timestamps {}", c.judge.name(), c.sack, c.timestamps);
        let s = tell(&c, 100, 2200, late(2, 20));
        assert_eq!(s.episodes, [(2100, Cause::FastRetransmit)]);
        assert_eq!(s.again[0], (2100, 2, SendKind::Fast));
        let verdicts = match c.judge.name() {
            "eifel" | "door" => vec![(2120, true, true)],
            "dsack" => vec![(2200, true, true)],
            _ => vec![],
        };
        assert_eq!((s.undone(), &s.verdicts), (verdicts.len() as u64, &verdicts));
        // Whoever goes on in NewReno's recovery takes each partial ACK for a loss (RFC 6582 3.2 step 3); who left it, or
        // has SACK to tell, does not.
        if c.sack || matches!(c.judge.name(), "eifel" | "door") {
            assert_eq!(s.again.len(), 1);
        } else {
            assert!(s.again.len() > 1);
        }
    }
}

/// `linux` has the verdict of whichever of its parts speaks first, with what the options leave of them: the spike at 2500 by
/// timestamps or F-RTO; the reordered segment at 2120 by timestamps, at 2200 by D-SACK, without either never.
#[test]
fn linux_takes_the_first_of_its_parts() {
    for (sack, timestamps, reordered) in
        [(true, true, Some(2120)), (false, true, Some(2120)), (true, false, Some(2200)), (false, false, None)]
    {
        println!("sack {sack} timestamps {timestamps}");
        let c = config("linux").sack(sack).timestamps(timestamps);
        assert_eq!(tell(&c, 100, 2600, spike).verdicts, [(2500, true, true)]);
        let found: Vec<_> = reordered.map(|ms| (ms, true, true)).into_iter().collect();
        assert_eq!(tell(&c, 100, 2200, late(2, 20)).verdicts, found);
        // A genuine loss is undone by none of them.
        let lost = tell(&c, 100, 2600, |p| if number(p) == Some(2) && copy(p) == 1 { Fate::Drop } else { Fate::Pass });
        assert_eq!(lost.undone(), 0);
    }
}

/// Behind two others only, segment 2 draws two duplicates: no retransmission, nothing to judge (and TCP-DOOR's reordering
/// finds nothing to undo).
#[test]
fn reordering_by_two_segments_is_no_loss_for_anybody() {
    for c in all_options() {
        // Segments 5 to 9 later than 2.
        let s = tell(&c, 100, 2200, |p| match number(p) {
            Some(2) => Fate::Late(ms(20)),
            Some(n) if (5..10).contains(&n) => Fate::Late(ms(30)),
            _ => Fate::Pass,
        });
        assert_eq!((s.again, s.verdicts, s.episodes), (vec![], vec![], vec![]), "{}", c.judge.name());
    }
}

/// 2.1 segment 2 again | 2.15 that arrives | 2.2 its ACK | 2.25 the original arrives | 2.3 the report of it
///
/// The retransmission itself is reordered with its original. Eifel sees the retransmission's timestamp: its known blind spot.
/// D-SACK is told of the original, which its old timestamp keeps out of the stream but not out of the report. TCP-DOOR
/// is told of reordering 200 ms after the reduction: too late for a T2 of one round trip, not for one of three.
#[test]
fn a_retransmission_that_overtakes_its_original_deceives_eifel() {
    for c in all_options() {
        for t2 in [1.0, 3.0] {
            println!("{} sack {} timestamps {} T2 {t2}", c.judge.name(), c.sack, c.timestamps);
            let s = tell(&t2_of(c.clone(), t2), 100, 2300, late(2, 200));
            assert_eq!(s.episodes, [(2100, Cause::FastRetransmit)]);
            assert_eq!(s.again, [(2100, 2, SendKind::Fast)]);
            let verdicts = match c.judge.name() {
                "eifel" => vec![(2200, false, false)],
                "dsack" => vec![(2300, true, true)],
                "door" if t2 == 3.0 => vec![(2300, true, true)],
                _ => vec![],
            };
            assert_eq!(s.verdicts, verdicts);
        }
    }
}

// ---- genuine loss -------------------------------------------------------------------------------

/// 2.0 segments 0-9, 2 is lost | 2.1 duplicates: 2 again | 2.2 its ACK
///
/// Nobody undoes. Eifel says so; the retransmission's own packet number keeps TCP-DOOR from taking it for reordering.
#[test]
fn a_genuine_loss_is_undone_by_nobody() {
    for c in all_options() {
        println!("{} sack {} timestamps {}", c.judge.name(), c.sack, c.timestamps);
        let s = tell(&c, 100, 3000, |p| if number(p) == Some(2) && copy(p) == 1 { Fate::Drop } else { Fate::Pass });
        assert_eq!(s.episodes, [(2100, Cause::FastRetransmit)]);
        assert_eq!(s.again, [(2100, 2, SendKind::Fast)]);
        let verdicts = if c.judge.name() == "eifel" { vec![(2200, false, false)] } else { vec![] };
        assert_eq!((s.undone(), &s.verdicts), (0, &verdicts));
        // The ACKs of 0 and 1 had let 10 to 13 out: ssthresh is half of 2 to 13, and limited transmit's two do not count.
        assert_eq!(s.window().1, 6000.0);
    }
}

/// 2.0 segments 0-9, all lost | 2.2 timeout, 0 again | 2.3 its ACK | 2.4 what followed it arrived, too
///
/// Nobody undoes. At 2.3 slow start sends 1 and 2 again; F-RTO sends 10 and 11, whose duplicates at 2.4 say that the loss
/// was genuine: conventional recovery with a window of three segments (RFC 5682 2.1 step 3a), two of which 10 and 11 take
/// unless SACK takes them out. Either way what was lost is sent again once.
#[test]
fn a_genuine_timeout_is_undone_by_nobody() {
    for c in all_options() {
        println!("{} sack {} timestamps {}", c.judge.name(), c.sack, c.timestamps);
        let gone = |p: &Packet| number(p).is_some_and(|n| n < 10) && copy(p) == 1;
        let s = tell(&c, 100, 2800, move |p| if gone(p) { Fate::Drop } else { Fate::Pass });
        assert_eq!(s.episodes, [(2200, Cause::Timeout)]);
        let early = s.again.iter().filter(|a| a.0 <= 2400).copied().collect::<Vec<_>>();
        let conventional = [timeout(2200, [0]), timeout(2300, [1, 2]), timeout(2400, 3..7)].concat();
        let forward = [timeout(2200, [0]), timeout(2400, if c.sack { 1..4 } else { 1..2 })].concat();
        assert_eq!(early, if c.judge.name() == "frto" { forward } else { conventional });
        let verdicts = match c.judge.name() {
            "eifel" => vec![(2300, false, false)],
            "frto" => vec![(2400, false, false)],
            _ => vec![],
        };
        assert_eq!((s.undone(), s.verdicts), (0, verdicts));
        let mut lost: Vec<u64> = s.again.iter().map(|a| a.1).collect();
        lost.sort_unstable();
        assert_eq!(lost, (0..10).collect::<Vec<_>>());
    }
}

// ---- the way back -------------------------------------------------------------------------------

/// 2.0 segments 0-9 arrive | 2.05 their ACKs are lost | 2.2 timeout, 0 again | 2.25 it arrives | 2.3 one ACK for all of it
///
/// The retransmission was needless, but the way back is congested: RFC 3522 3.3 (step 5) and RFC 3708 2 (A.1) leave the
/// window cut, F-RTO is told nothing (RFC 5682 2.1 step 2a), and packet numbers are in order.
#[test]
fn a_lost_window_of_acknowledgements_is_undone_by_nobody() {
    for c in all_options() {
        println!("{} sack {} timestamps {}", c.judge.name(), c.sack, c.timestamps);
        let lost = |p: &Packet| p.from == Side::B && p.at < at(2200);
        let s = tell(&c, 100, 2600, move |p| if lost(p) { Fate::Drop } else { Fate::Pass });
        assert_eq!(s.episodes, [(2200, Cause::Timeout)]);
        assert_eq!(s.again, timeout(2200, [0]));
        let verdicts = if matches!(c.judge.name(), "eifel" | "frto") { vec![(2300, false, false)] } else { vec![] };
        assert_eq!((s.undone(), s.verdicts), (0, verdicts));
    }
}

/// A single ACK that comes through lets everybody see as before: the ACK of segment 4 is the only one of ten, and late.
///
/// 2.2 timeout, 0 again | 2.3 that one's report, with the ACK of all ten: the window of ACKs was not lost
#[test]
fn one_acknowledgement_of_a_window_is_enough() {
    for c in all_options() {
        println!("{} sack {} timestamps {}", c.judge.name(), c.sack, c.timestamps);
        // The ACK of segments 0 to 4 arrives at 2.21, after the timeout and before anything else.
        let mut acks = 0;
        let s = tell(&c, 100, 2250, move |p| {
            acks += u64::from(p.from == Side::B);
            match p.from {
                Side::B if acks == 5 => Fate::Late(ms(110)),
                Side::B => Fate::Drop,
                Side::A => Fate::Pass,
            }
        });
        let verdicts = if c.judge.name() == "eifel" { vec![(2210, true, true)] } else { vec![] };
        assert_eq!(s.verdicts, verdicts);
        // F-RTO waits for a second one, with two new segments out; the others went back.
        let again = match c.judge.name() {
            "eifel" | "frto" => timeout(2200, [0]),
            _ => [timeout(2200, [0]), timeout(2210, [5, 6])].concat(),
        };
        assert_eq!(s.again, again);
    }
}

// ---- data that run out, episodes within episodes ------------------------------------------------

/// The delay spike, but ten segments are all there is: F-RTO has nothing new to ask with and goes back like anybody (RFC 5682
/// 2.1 step 2b); Eifel needs nothing but an ACK.
#[test]
fn without_new_data_frto_goes_back() {
    for c in all_options() {
        println!("{} sack {} timestamps {}", c.judge.name(), c.sack, c.timestamps);
        let s = tell(&c, 10, 2700, spike);
        let go_back_n = [timeout(2200, [0]), timeout(2500, 1..10)].concat();
        let (again, verdicts) = match c.judge.name() {
            "eifel" => (timeout(2200, [0]), vec![(2500, true, true)]),
            "dsack" => (go_back_n, vec![(2600, true, true)]),
            _ => (go_back_n, vec![]),
        };
        assert_eq!((s.again, s.verdicts), (again, verdicts));
    }
}

/// 2.0 segments 0-9, 2 is lost | 2.1 2 again, lost | 2.3 timeout (from 2.1), 2 again | 2.4 its ACK
///
/// A timeout within fast recovery. F-RTO does not ask (RFC 5682 3.1 step 1, an episode's retransmissions are out), D-SACK
/// has nothing reported, Eifel compares with the timeout's retransmission: nobody undoes.
#[test]
fn a_timeout_within_fast_recovery_is_undone_by_nobody() {
    for c in all_options() {
        println!("{} sack {} timestamps {}", c.judge.name(), c.sack, c.timestamps);
        let s = tell(&c, 100, 2800, |p| if number(p) == Some(2) && p.at < at(2150) { Fate::Drop } else { Fate::Pass });
        assert_eq!(s.episodes, [(2100, Cause::FastRetransmit), (2300, Cause::Timeout)]);
        assert_eq!(s.again, [(2100, 2, SendKind::Fast), (2300, 2, SendKind::Timeout)]);
        let verdicts = if c.judge.name() == "eifel" { vec![(2400, false, false)] } else { vec![] };
        assert_eq!((s.undone(), s.verdicts), (0, verdicts));
    }
}

/// 2.0 segments 0-9, 1 comes 70 ms late, 3 is lost | 2.1 1 again | 2.17 the ACK of 1 and 2
///
/// One segment of an episode was needlessly sent again and one was lost. Without a verdict 3 is sent again with the ACK at
/// 2.17. D-SACK is told of one of two: no verdict (RFC 3708 2, B.2). Eifel judges by the first alone and undoes; the loss of
/// 3 is found by the duplicates of what was sent then, at 2.2, and cuts the window in an episode of its own. TCP-DOOR holds
/// the window for a round trip: it sends 3 again and cuts nothing, its known cost.
#[test]
fn one_genuine_loss_among_several_retransmissions() {
    for c in all_options() {
        println!("{} sack {} timestamps {}", c.judge.name(), c.sack, c.timestamps);
        let s = tell(&c, 100, 2400, |p| match number(p) {
            Some(1) if copy(p) == 1 => Fate::Late(ms(70)),
            Some(3) if copy(p) == 1 => Fate::Drop,
            _ => Fate::Pass,
        });
        assert_eq!(s.again[0], (2100, 1, SendKind::Fast));
        let second = if matches!(c.judge.name(), "eifel" | "door") { 2200 } else { 2170 };
        assert_eq!(s.again[1..], [(second, 3, SendKind::Fast)]);
        let verdicts = match c.judge.name() {
            "eifel" => vec![(2170, true, true), (2300, false, false)],
            "door" => vec![(2170, true, true), (2200, true, false)],
            _ => vec![],
        };
        assert_eq!(s.verdicts, verdicts);
        assert_eq!(s.window().1.is_finite(), c.judge.name() != "door");
    }
}
