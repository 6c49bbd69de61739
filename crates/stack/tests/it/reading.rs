//! Acknowledgements around a read as Linux sends them (`acknowledge_on_read`), by a capture of Linux 6.1 with 64 kB of receive memory over
//! paths of 10 and 50 ms: what leaves when the long path has closed a hole, and what only when the application has read.

use anabranch_stack::Config;
use anabranch_stack::config::{DelayedAck, Deviations};

use crate::mptcp_bench::{Script, mptcp};
use crate::pair::ms;

const MSS: u32 = 1424;
const BUFFER: u64 = 32_768;
/// What a buffer that has not grown keeps back: a segment as long as without a DSS.
const KEPT: u64 = MSS as u64 + 24;

/// Linux's receiver with a receive buffer of `buffer` octets.
fn with_buffer(buffer: u64) -> Config {
    mptcp()
        .receive_buffer(Some(buffer))
        .receive_initial(Some(65_535))
        .held_charge(0.81)
        .mss(MSS)
        .acknowledge_on_read(true)
        .delayed_ack(DelayedAck::After(ms(40)))
}

/// Two subflows. On the first come a full and a short segment, which together are more than a
/// segment: acknowledged at once.
fn script() -> Script {
    let mut s = Script::server(with_buffer(BUFFER));
    s.join();
    // Alone a full segment waits, and the read that follows does not change that.
    assert!(s.give(0, s.data(0, 1, 0, MSS)).is_empty());
    s.read();
    assert!(s.poll().is_empty());
    let out = s.give(0, s.data(0, 1 + MSS, MSS.into(), 672));
    assert_eq!((out.len(), s.data_ack(&out[0]).map(u64::from)), (1, Some(READ)));
    // A segment is kept back of a buffer that has not grown: what is unread fits in there.
    assert_eq!(u64::from(out[0].segment.window), BUFFER - KEPT);
    s.read();
    assert!(s.poll().is_empty());
    s
}

/// The next octets of the stream, and of each subflow.
const READ: u64 = MSS as u64 + 672;
const HOLE: u64 = 6 * MSS as u64;

/// The short path is ahead by ten segments and a short one; six of the long path are missing.
fn behind_a_hole() -> Script {
    let mut s = script();
    for k in 0..10 {
        let out = s.give(0, s.data(0, 1 + READ as u32 + k * MSS, READ + HOLE + u64::from(k * MSS), MSS));
        assert_eq!(out.len() as u32, k % 2, "every second one");
        assert!(out.iter().all(|t| u64::from(t.segment.window) == BUFFER - KEPT));
    }
    let short = s.data(0, 1 + READ as u32 + 10 * MSS, READ + HOLE + u64::from(10 * MSS), 744);
    assert!(s.give(0, short).is_empty());
    s
}

/// The hole closes: the acknowledgement counts everything unread as memory. Only then the application reads, and the short path
/// acknowledges its short segment; the long path, whose window has not doubled, does not.
#[test]
fn a_closed_hole_is_acknowledged_before_it_is_read() {
    let mut s = behind_a_hole();
    let held = 10 * u64::from(MSS) + 744;
    for k in 0..6 {
        let out = s.give(1, s.data(1, 1 + k * MSS, READ + u64::from(k * MSS), MSS));
        assert_eq!(out.len() as u32, k % 2);
        if k == 5 {
            let left = BUFFER - (0.81 * (u64::from(2 * MSS) + held) as f64) as u64;
            assert_eq!(u64::from(out[0].segment.window), left);
        } else if k % 2 == 1 {
            s.read();
            assert!(s.poll().is_empty(), "the short segment waits as long as anything is held");
        }
    }
    s.read();
    let out = s.poll();
    assert_eq!(out.iter().map(|t| t.subflow).collect::<Vec<_>>(), [0]);
    assert_eq!(u64::from(out[0].segment.window), BUFFER - KEPT);
}

/// A window that has at least doubled is told on the subflow that showed the small one.
#[test]
fn a_window_that_doubles_is_told() {
    let mut s = script();
    let mut shown = BUFFER;
    for k in 0..18 {
        for t in s.give(1, s.data(1, 1 + k * MSS, READ + u64::from(k * MSS), MSS)) {
            shown = t.segment.window.into();
        }
    }
    assert!((BUFFER / 16..BUFFER / 2).contains(&shown), "{shown}");
    s.c.read(1);
    assert!(s.poll().is_empty(), "an octet opens nothing");
    s.read();
    let out = s.poll();
    assert_eq!(out.iter().map(|t| t.subflow).collect::<Vec<_>>(), [1]);
    assert_eq!(u64::from(out[0].segment.window), BUFFER - KEPT);
}

/// RFC 9293 3.8.6.2.2: of a buffer that nobody reads less than a segment is not offered, and the edge never moves back.
#[test]
fn a_window_of_less_than_a_segment_is_not_offered() {
    let mut s = script();
    let (mut at, mut edge) = (0, 0);
    loop {
        let len = MSS.min((edge as u32).saturating_sub(at));
        let len = if edge == 0 { MSS } else { len };
        let out = s.give(1, s.data(1, 1 + at, READ + u64::from(at), len));
        at += len;
        for t in &out {
            let shown = u64::from(s.data_ack(t).unwrap()) - READ + u64::from(t.segment.window);
            assert!(shown >= edge, "{shown} after {edge}");
            assert!(shown == edge || shown - edge >= 8, "{shown} after {edge}");
            edge = shown;
        }
        if edge > 0 && u64::from(at) >= edge {
            break;
        }
        assert!(at < 100_000);
    }
    // Memory of 0.81 for an octet: more octets than the buffer has fit into it, less what is too little for a segment.
    let most = (BUFFER as f64 / 0.81) as u64;
    assert!((most - 2 * u64::from(MSS)..=most).contains(&edge), "{edge} of {most}");
    let refused = s.data(1, 1 + at, READ + u64::from(at), MSS);
    assert_eq!(s.give(1, refused)[0].segment.window, 0);
}

/// A buffer without a limit has no window to open; what is owed for a short segment is acknowledged all the same once it has been read.
#[test]
fn a_short_segment_is_acknowledged_when_it_was_read_without_a_limit_too() {
    let config = mptcp().receive_buffer(None).acknowledge_on_read(true).mss(MSS);
    let mut s = Script::server(config.delayed_ack(DelayedAck::After(ms(40))));
    assert!(s.give(0, s.data(0, 1, 0, MSS)).is_empty());
    assert_eq!(s.give(0, s.data(0, 1 + MSS, MSS.into(), 500)).len(), 1);
    assert!(s.give(0, s.data(0, 501 + MSS, u64::from(MSS) + 500, 500)).is_empty());
    s.read();
    let out = s.poll();
    assert_eq!((out.len(), s.data_ack(&out[0])), (1, Some(MSS + 1000)));
}

/// With Multipath TCP the window has to double over what was advertised last, on any subflow (`mptcp_cleanup_rbuf`). The second subflow has shown
/// 5086 octets, then the first one 2902 and, as it reads, 6142: twice as much as the second had shown is not enough for that one, before it is
/// twice 6142.
#[test]
fn a_window_doubles_over_what_was_told_last() {
    let mut s = script();
    let mut shown = Vec::new();
    for k in 0..28 {
        let (flow, seq) = if k < 24 { (1, 1 + k * MSS) } else { (0, 1 + READ as u32 + (k - 24) * MSS) };
        let out = s.give(flow, s.data(flow, seq, READ + u64::from(k * MSS), MSS));
        shown.extend(out.iter().map(|t| (flow, t.segment.window)));
        if k == 23 {
            s.c.read(3000);
            assert!(s.poll().is_empty());
        }
    }
    assert_eq!(shown[shown.len() - 3..], [(1, 5086), (0, 5209), (0, 2902)]);
    let mut told = Vec::new();
    for n in 1..=12 {
        assert_eq!(s.c.read(1000), 1000);
        told.extend(s.poll().iter().map(|t| (n, t.subflow, t.segment.window)));
    }
    assert_eq!(told, [(4, 0, 6142), (12, 0, 12_622), (12, 1, 12_622)]);
}

/// RFC 9293 3.8.6.2.2: however little the application reads at a time, the right edge of a small
/// buffer moves by a segment at least, by half of the buffer if that is less, or to the end of the
/// buffer.
#[test]
fn the_edge_of_a_small_buffer_moves_by_segments() {
    for buffer in [2000, 2848, 4096, 8192, 16_000_u64] {
        let mut s = Script::server(with_buffer(buffer));
        let reserve = if buffer > 2 * KEPT { KEPT } else { 0 };
        let (mut at, mut edge, mut read, mut moves) = (0_u64, buffer - reserve, 0_u64, 0);
        for k in 0..4000_u64 {
            let len = u64::from(MSS).min(edge - at);
            let mut out = if len > 0 { s.give(0, s.data(0, 1 + at as u32, at, len as u32)) } else { Vec::new() };
            at += len;
            read += s.c.read(k * 7919 % 97);
            out.extend(s.poll());
            out.extend(s.wait(ms(20)).into_iter().map(|(_, t)| t));
            for t in &out {
                let shown = u64::from(s.data_ack(t).unwrap()) + u64::from(t.segment.window);
                let step = u64::from(MSS).min(buffer / 2);
                let whole = u64::from(t.segment.window) == buffer - reserve;
                assert!(shown <= edge || shown >= edge + step || whole, "{buffer}: {edge} to {shown}");
                moves += u64::from(shown > edge);
                edge = edge.max(shown);
            }
        }
        // The transfer goes on, at the speed of the reader.
        assert!(read > 150_000 && moves >= read / buffer, "{buffer}: {read} octets, {moves} moves");
    }
}

/// Arriving data without timestamps show no round trip. The handshake's counts unless the buffer
/// goes by arriving data alone: 10 segments in its first round trip, 15 in the second, and the
/// buffer of 20,000 octets grows.
#[test]
fn a_buffer_that_tunes_itself_may_wait_for_a_round_trip_of_data() {
    let largest_window = |on| {
        let deviations = if on { Deviations::NONE.and("tunes_by_arriving_data") } else { Deviations::NONE };
        let sizes = (Some(1_000_000), Some(20_000));
        let config = mptcp().deviations(deviations).receive_buffer(sizes.0).receive_initial(sizes.1);
        let mut s = Script::server(config);
        let (mut at, mut largest) = (0_u32, 0_u32);
        for segments in [10, 15, 1, 1] {
            for _ in 0..segments {
                let out = s.give(0, s.data(0, 1 + at, at.into(), 1000));
                // A million octets need a shift of 4.
                largest = out.iter().map(|t| u32::from(t.segment.window) << 4).max().unwrap_or(0).max(largest);
                at += 1000;
                s.read();
            }
            s.wait(ms(500));
        }
        largest
    };
    assert_eq!((largest_window(true) <= 20_000, largest_window(false) > 20_000), (true, true));
}
