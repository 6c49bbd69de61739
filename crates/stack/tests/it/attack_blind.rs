//! An attacker off the path, who knows addresses and ports and must guess the numbers (RFC 5961; RFC 9293 3.10.7.4): resets, SYNs,
//! data, old acknowledgements. The sweeps below try every number that a window of 65,535 octets could make them try.

use anabranch_stack::segment::{Flags, Segment};
use anabranch_stack::time::Duration;

use crate::attack::{Victim, config};

/// One try for every window of the sequence space.
const STEP: u32 = 1 << 15;

fn sweep() -> impl Iterator<Item = u32> {
    // None of them hits the number itself.
    (0..=u32::MAX / STEP).map(|i| (i * STEP).wrapping_add(STEP / 2 + 1))
}

/// RFC 5961 3.2: a reset counts only at the very next number. 131,072 resets, two in every window, end nothing; those in the window
/// draw challenge ACKs, at most ten in five seconds. The one that hits ends the connection: one number of 2^32.
#[test]
fn blind_resets_end_nothing_but_at_the_very_number() {
    for mptcp in [false, true] {
        let mut v = Victim::new(&config(mptcp));
        let before = v.condition();
        let (seq, _) = v.numbers();
        let mut answers = 0;
        for flags in [Flags::RST, Flags::RST.with(Flags::ACK)] {
            for guess in sweep() {
                let answered = v.forge(&Segment { seq: seq.wrapping_add(guess), flags, ..Segment::default() }, &[]);
                assert!(answered.iter().all(|t| t.segment.flags == Flags::ACK));
                answers += answered.len();
            }
        }
        // Two windows of 65,535; a subflow of Multipath TCP has none of its own (RFC 8684 3.3.1), and takes all that could be.
        assert_eq!(answers, if mptcp { 10 } else { 4 });
        assert_eq!(v.condition(), before);
        v.works();
        let (seq, _) = v.numbers();
        v.forge(&Segment { seq, flags: Flags::RST, ..Segment::default() }, &[]);
        assert_ne!(v.ends[1].connection(v.ids[1]).map(|_| v.condition()), Some(before));
    }
}

/// RFC 5961 4.2: a SYN, wherever it lies, is challenged and ends nothing, not even at the very number.
#[test]
fn blind_syns_end_nothing_at_any_number() {
    for mptcp in [false, true] {
        let mut v = Victim::new(&config(mptcp));
        let before = v.condition();
        let (seq, ack) = v.numbers();
        let mut answers = 0;
        for flags in [Flags::SYN, Flags::SYN.with(Flags::ACK)] {
            for guess in sweep().chain([0, 1]) {
                let answered =
                    v.forge(&Segment { seq: seq.wrapping_add(guess), ack, flags, ..Segment::default() }, &[]);
                assert!(answered.iter().all(|t| t.segment.flags == Flags::ACK));
                answers += answered.len();
            }
        }
        assert_eq!(answers, 10);
        assert_eq!(v.condition(), before);
        v.works();
    }
}

/// Cao et al. (USENIX Security 2016): where all connections of a host share one allowance of challenge ACKs, an attacker with a
/// connection of his own can count what is left of it, and so learn whether his guess in another connection was in the window.
/// Here each subflow has its own.
#[test]
fn challenges_of_one_connection_say_nothing_of_another() {
    let mut v = Victim::new(&config(false));
    let mut other = v.addresses;
    other.remote.set_port(2000);
    let id = v.ends[0].connect(anabranch_stack::Instant::ZERO, other.reversed(), config(false)).expect("it is free");
    v.exchange();
    assert_eq!(v.ends[0].write(id, b"mine"), Ok(4));
    let mut mine = v.ends[0].poll_transmit(v.now).expect("it is sent").segment;
    v.ends[1].handle_packet(v.now, other, &mine, b"mine");
    v.wait(Duration::from_secs(10));
    // Ten guesses in the window of the victim's connection.
    let (seq, _) = v.numbers();
    let guess = Segment { seq: seq.wrapping_add(5), flags: Flags::RST, ..Segment::default() };
    assert_eq!((0..100).map(|_| v.forge(&guess, &[]).len()).sum::<usize>(), 10);
    // What the attacker gets on his own connection is what he would have got without them.
    (mine.seq, mine.flags, mine.payload) = (mine.seq.wrapping_add(9), Flags::RST, Default::default());
    let challenges = (0..100).map(|_| {
        v.ends[1].handle_packet(v.now, other, &mine, &[]);
        v.answers().len()
    });
    assert_eq!(challenges.sum::<usize>(), 10);
}

/// RFC 5961 5.2: data are taken only with an acknowledgement from one window before SND.UNA up to SND.NXT. Even if the attacker
/// had guessed the sequence number, two tries of 131,072 would be taken (one octet each here), and with RFC 9293 alone half of
/// them: all those before SND.NXT.
#[test]
fn blind_data_need_an_acknowledgement_in_the_window() {
    let mut v = Victim::new(&config(false));
    let mut answered = 0;
    let mut taken = 0;
    let (_, ack) = v.numbers();
    for guess in sweep() {
        let (seq, _) = v.numbers();
        let seq = seq.wrapping_add(taken);
        let forged = Segment { seq, ack: ack.wrapping_sub(guess), flags: Flags::ACK, window: 1, ..Segment::default() };
        let before = v.connection().inbound().received();
        answered += v.forge(&forged, b"!").len();
        taken += (v.connection().inbound().received() - before) as u32;
    }
    assert_eq!(taken, 2);
    assert!(answered <= 131_072, "no more than it was sent");
}

/// RFC 8684 3.3.1: on a subflow of Multipath TCP, data without a mapping, or with one outside the window of the data, are not
/// taken even if both numbers of the subflow are right: 32 more bits to guess, of which the window leaves about 16.
#[test]
fn data_without_the_right_mapping_have_no_place() {
    use anabranch_stack::segment::{Dss, Mapping, Mptcp};
    let mut v = Victim::new(&config(true));
    let before = v.condition();
    let bare = v.genuine(Flags::ACK);
    v.forge(&bare, b"!!!!");
    let ssn = 1 + crate::attack::GREETING.len() as u32;
    for guess in 0..=u16::MAX {
        let mapping = Mapping { dsn: u64::from(guess) << 48, short: false, ssn, len: 4, checksum: None };
        let mut mapped = bare;
        mapped.options.mptcp = Mptcp::Dss(Dss { data_ack: None, mapping: Some(mapping), data_fin: false });
        v.forge(&mapped, b"!!!!");
    }
    assert_eq!(v.condition(), before);
    v.works();
}

/// RFC 5961 5, RFC 9293 3.10.7.4: ACKs below SND.UNA less the largest window, and ACKs of unsent
/// data, change neither SND.UNA nor the window. At most ten of these ACKs are answered in five
/// seconds.
#[test]
fn old_and_future_acknowledgements_move_nothing() {
    for mptcp in [false, true] {
        let mut v = Victim::new(&config(mptcp));
        // Something is in flight: the client does not get it yet.
        assert_eq!(v.ends[1].write(v.ids[1], &[7; 5000]), Ok(5000));
        let flight = v.answers();
        assert!(flight.len() >= 4);
        let before = v.condition();
        let (seq, ack) = v.numbers();
        let mut answers = 0;
        for guess in sweep().filter(|&guess| guess.wrapping_neg() > 5000) {
            let forged = Segment { seq, ack: ack.wrapping_add(5000 + guess), flags: Flags::ACK, ..Segment::default() };
            answers += v.forge(&forged, &[]).len();
        }
        assert_eq!(v.condition(), before);
        assert!(answers <= 11, "{answers}");
        for t in flight {
            v.ends[0].handle_packet(v.now, t.addresses.reversed(), &t.segment, &t.payload);
        }
        v.wait(Duration::from_secs(60));
        assert_eq!(v.read(0), [7; 5000]);
        v.works();
    }
}
