//! Tests of [`SendStream`] alone, without a connection.

use super::*;

/// A stream of 100 written octets of which 60 were sent, into a window of 50.
fn stream() -> SendStream {
    let mut s = SendStream::new();
    s.begin_window(50);
    s.write(100, &mut FastPath::for_tests());
    send(&mut s, 60, 0);
    s
}

/// Sends the next `len` octets on `subflow`, whose sequence numbers are the data offsets.
fn send(s: &mut SendStream, len: u32, subflow: SubflowId) {
    let data = s.advance(len.into());
    s.note_run(&Sent::first(Seq(data), data, len, Instant::ZERO), subflow);
}

/// A scheduler that assigns ahead has assigned 40 octets that no subflow has sent. RFC 8684
/// 3.3.2: the peer cannot acknowledge them. 3.7: they do not prevent a fallback.
#[test]
fn assigned_data_is_not_sent_data() {
    let mut s = stream();
    s.advance(40);
    s.acknowledge(100);
    assert_eq!((s.una(), s.max_ack()), (0, 60));
    s.acknowledge(20);
    assert_eq!(s.contiguous(0, (Seq(0), 0), None), Some((Seq(20), 20)));
    s.acknowledge(60);
    assert_eq!(s.contiguous(1, (Seq(0), 0), Some(Seq(7))), Some((Seq(7), 60)));
    s.take_back_unsent();
    assert_eq!((s.nxt(), s.unassigned()), (60, 40));
}

/// Subflow 1 has sent the data after what subflow 0 was assigned and has not sent.
#[test]
fn unsent_data_before_sent_data_is_not_taken_back() {
    let mut s = stream();
    s.acknowledge(60);
    s.advance(10);
    send(&mut s, 10, 1);
    assert_eq!(s.contiguous(1, (Seq(0), 0), None), None);
    s.note_run(&Sent::first(Seq(60), 60, 10, Instant::ZERO), 0);
    assert_eq!(s.contiguous(0, (Seq(0), 0), None), None);
    s.take_back_unsent();
    assert_eq!((s.nxt(), s.max_ack()), (80, 80));
}

#[test]
fn an_acknowledgement_of_data_that_was_not_sent_is_ignored() {
    let mut s = stream();
    s.acknowledge(61);
    assert_eq!(s.una(), 0);
    s.acknowledge(60);
    assert_eq!((s.una(), s.unacknowledged(), s.unassigned()), (60, 40, 40));
}

/// RFC 8684 3.3.3: the DATA_FIN occupies one octet after the data.
#[test]
fn the_data_fin_is_acknowledged_with_one_octet_more() {
    let mut s = stream();
    send(&mut s, 40, 0);
    s.close(&mut FastPath::for_tests());
    s.acknowledge(101);
    assert_eq!((s.una(), s.fin()), (0, Fin::Open), "it was not sent");
    s.fin_sent();
    s.fin_sent();
    assert_eq!((s.fin(), s.max_ack()), (Fin::Sent { tries: 2 }, 101));
    s.acknowledge(101);
    assert_eq!((s.una(), s.fin()), (100, Fin::Acked));
}

#[test]
fn a_window_that_opens_tells_what_the_peer_refused() {
    let mut s = stream();
    assert_eq!((s.window_left(), s.usable()), (0, 0));
    assert_eq!(s.move_edge(50), EdgeMove::None);
    assert_eq!(s.move_edge(70), EdgeMove::Refused(50));
    assert_eq!((s.window_left(), s.usable()), (10, 10));
    assert_eq!(s.move_edge(300), EdgeMove::Opened);
    assert_eq!((s.usable(), s.largest_window()), (40, 300));
    assert_eq!(s.move_edge(80), EdgeMove::None);
    assert_eq!((s.edge(), s.largest_window()), (80, 300));
}

/// RFC 8684 3.7: a fallback to plain TCP needs one subflow that has carried all data without a
/// DATA_ACK, in order and once.
#[test]
fn data_is_contiguous_on_one_subflow_until_another_carries_some() {
    let first = (Seq(1), 0);
    let mut s = SendStream::new();
    s.write(300, &mut FastPath::for_tests());
    assert_eq!(s.contiguous(0, first, None), Some(first));
    for _ in 0..2 {
        let data = s.advance(100);
        s.note_run(&Sent::first(Seq(1 + data), data, 100, Instant::ZERO), 0);
    }
    s.acknowledge(50);
    assert_eq!(s.contiguous(0, first, None), Some((Seq(51), 50)));
    assert_eq!(s.contiguous(1, first, None), None);
    s.note_repeated(100);
    assert_eq!(s.contiguous(0, first, None), None, "a part of it has a second place");
    s.acknowledge(100);
    assert_eq!(s.contiguous(0, first, None), Some((Seq(101), 100)));
    let data = s.advance(100);
    s.note_run(&Sent::first(Seq(1), data, 100, Instant::ZERO), 1);
    assert_eq!(s.contiguous(0, first, None), None);
    s.acknowledge(300);
    assert_eq!(s.contiguous(0, first, Some(Seq(201))), Some((Seq(201), 300)));
}

#[test]
fn what_the_peer_leaves_of_the_data_in_the_syn_is_sent_again() {
    let mut s = SendStream::new();
    s.write(10, &mut FastPath::for_tests());
    s.sent_with_syn(8);
    s.taken_with_syn(5);
    assert_eq!((s.una(), s.nxt(), s.unassigned()), (5, 5, 5));
}
