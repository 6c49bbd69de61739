use super::*;

const MSS: u32 = 100;

fn sent(n: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for i in 0..n {
        board.push(Seq(1_000 + 100 * i), MSS, 100 * i, Instant(i), false);
    }
    board
}

fn sack(board: &mut Scoreboard, from: u64, to: u64) -> u64 {
    let fresh = board.sack(Seq(1_000 + 100 * from), Seq(1_000 + 100 * to)).octets;
    board.update_lost(u64::from(DUP_THRESH - 1) * u64::from(MSS), DUP_THRESH);
    fresh
}

/// `pipe` and `IsLost` recomputed from their definitions in RFC 6675 4.
fn check(board: &Scoreboard) {
    let lost = |i: usize| {
        let above = || board.segments.iter().skip(i + 1);
        let octets: u64 = above().filter(|s| s.is(SACKED)).map(|s| u64::from(s.len)).sum();
        let mut runs = 0;
        let mut before = false;
        for s in above() {
            runs += u32::from(s.is(SACKED) && !before);
            before = s.is(SACKED);
        }
        octets > 2 * u64::from(MSS) || runs >= 3
    };
    let mut pipe = 0;
    for (i, s) in board.segments.iter().enumerate() {
        if s.is(SACKED) {
            continue;
        }
        assert_eq!(s.is(LOST), lost(i), "segment {i} of {board:?}");
        pipe += u64::from(s.len) * (u64::from(!lost(i)) + u64::from(s.is(RETRANSMITTED)));
    }
    assert_eq!(board.pipe(), pipe);
}

#[test]
fn three_full_segments_sacked_above_make_a_segment_lost() {
    let mut board = sent(10);
    assert_eq!(sack(&mut board, 1, 3), 200);
    assert!(!board.front_is_lost());
    assert_eq!(sack(&mut board, 1, 4), 100);
    assert!(board.front_is_lost());
    assert_eq!(board.pipe(), 600); // 10 - 3 SACKed - 1 lost
    check(&board);
    let first = board.next_lost().unwrap();
    assert_eq!(board.retransmit(first, Instant(50)).seq, Seq(1_000));
    assert_eq!(board.next_lost(), None);
    check(&board);
}

#[test]
fn three_islands_make_a_small_segment_lost() {
    let mut board = Scoreboard::default();
    for i in 0..8 {
        board.push(Seq(10 + i), 1, i, Instant(0), false);
    }
    for at in [1, 3, 5] {
        assert!(!board.front_is_lost());
        board.sack(Seq(10 + at), Seq(11 + at));
        board.update_lost(u64::from(DUP_THRESH - 1) * u64::from(MSS), DUP_THRESH);
    }
    assert!(board.front_is_lost());
}

#[test]
fn a_sample_needs_segments_sent_once_and_not_sacked() {
    let mut board = sent(6);
    assert_eq!(board.acknowledge(Seq(1_200)).sample, Some(Instant(1)));
    sack(&mut board, 3, 6);
    let i = board.next_lost().unwrap();
    board.retransmit(i, Instant(99));
    let acked = board.acknowledge(Seq(1_600));
    assert_eq!((acked.octets, acked.sample, acked.retransmitted), (400, None, true));
    assert_eq!(board.pipe(), 0);
}

/// Random SACKs, retransmissions, new data and cumulative ACKs against the definitions.
/// RFC 6675 4.
#[test]
fn pipe_and_is_lost_agree_with_their_definitions() {
    let mut x = 7_u64;
    let mut next = |n: u64| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) % n
    };
    for _ in 0..500 {
        let mut board = sent(20);
        let mut una = 0;
        let mut end = 20;
        for _ in 0..30 {
            match next(6) {
                0..=2 => {
                    let from = una + next(end - una);
                    let to = (from + 1 + next(4)).min(end);
                    // The receiver never SACKs what it could acknowledge cumulatively.
                    if from > una {
                        sack(&mut board, from, to);
                    }
                }
                3 => {
                    if let Some(i) = board.next_lost() {
                        board.retransmit(i, Instant(1));
                    }
                }
                4 => {
                    board.push(Seq(1_000 + 100 * end), MSS, 100 * end, Instant(2), false);
                    end += 1;
                }
                _ => {
                    una += next(3).min(end - una - 1);
                    board.acknowledge(Seq(1_000 + 100 * una));
                    board.begin_episode(Seq(1_000 + 100 * una));
                }
            }
            // IsLost is monotone: an acknowledged SACKed segment no longer counts above a segment, but no outstanding segment is
            // left below it.
            check(&board);
        }
    }
}

#[test]
fn every_transmission_that_is_lost_is_counted_once() {
    let mut board = sent(5);
    sack(&mut board, 1, 2);
    board.mark_lost(Seq(1_000));
    board.mark_lost(Seq(1_000));
    assert_eq!(board.marked(), 100);
    board.retransmit(0, Instant(10));
    board.mark_lost(Seq(1_000));
    assert_eq!((board.marked(), board.pipe()), (200, 300));
    board.mark_all_lost(Seq(1_000), Seq(1_500)); // segments 2 to 4; segment 1 is SACKed, segment 0 lost already
    assert_eq!((board.marked(), board.pipe()), (500, 0));
}

/// RFC 6675 4 NextSeg rule (4), 5 (C.2): a retransmission moves HighRxt beyond it, a rescue does not.
#[test]
fn a_rescue_does_not_move_high_rxt() {
    let mut board = sent(6);
    sack(&mut board, 2, 5); // segments 0 and 1 are lost, 5 is the last
    let first = board.next_lost().unwrap();
    assert_eq!(board.retransmit(first, Instant(10)).seq, Seq(1_000));
    assert_eq!(board.high_rxt, Seq(1_100));
    let last = board.last_unsacked().unwrap();
    assert_eq!(board.rescue(last, Instant(10)).seq, Seq(1_500));
    assert_eq!(board.high_rxt, Seq(1_100));
    assert_eq!(board.next_lost(), Some(1));
}

/// RFC 2018 8: after a timeout the receiver may have discarded what it had SACKed. Then nothing counts as SACKed any more.
#[test]
fn forgotten_sacks_are_counted_no_more() {
    let mut board = sent(10);
    sack(&mut board, 2, 4);
    assert!(board.has_sacked());
    board.mark_all_lost(Seq(1_000), Seq(2_000));
    assert_eq!((board.has_sacked(), board.sacked_octets()), (true, 200));
    board.forget_sacks();
    assert_eq!((board.has_sacked(), board.sacked_octets()), (false, 0));
}

/// A detector may only mark a segment that is in flight: not one that was SACKed, nor by an octet within one.
#[test]
fn what_has_arrived_is_not_marked_lost() {
    let mut board = sent(3);
    sack(&mut board, 1, 2);
    board.mark_lost(Seq(1_100));
    board.mark_lost(Seq(1_150));
    assert!(!board.has_lost());
    board.mark_lost(Seq(1_200));
    assert_eq!((board.has_lost(), board.pipe()), (true, 100));
}

/// Data and the FIN in one segment: the FIN stays behind the last octet, whatever becomes of the
/// data.
#[test]
fn a_segment_with_data_and_the_fin_is_cut_before_the_fin() {
    let board = || {
        let mut board = Scoreboard::default();
        board.push(Seq(1), 1000, 0, Instant::ZERO, false);
        board.add_fin();
        board
    };
    let parts = |b: &Scoreboard| b.iter().map(|s| (s.data, s.data_len(), s.len, s.is_fin())).collect::<Vec<_>>();
    let mut whole = board();
    assert_eq!((parts(&whole), whole.pipe()), (vec![(0, 1000, 1001, true)], 1001));
    assert!(!whole.acknowledge(Seq(1001)).fin);
    assert_eq!((parts(&whole), whole.pipe()), (vec![(1000, 0, 1, true)], 1));
    assert!(whole.acknowledge(Seq(1002)).fin && whole.is_empty());
    let mut cut = board();
    assert!(!cut.cut(1000) && cut.cut(600));
    assert_eq!(parts(&cut), [(0, 600, 600, false), (600, 400, 401, true)]);
}
