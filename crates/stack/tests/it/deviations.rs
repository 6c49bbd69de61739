//! Deviations of Linux from this engine's reading of the RFCs, one by one: each flag alone changes
//! what its documentation says. The tests of these flags are in other modules:
//!
//! - `bursts`: `minshall`, `nagle_by_subflow`, `whole_segments_in_syn_window`, `scale_of_memory`,
//!   `announces_one_by_one`;
//! - `closing`: `fin_on_last_data`; `mptcp_close`: `data_fin_on_all`, `data_fin_after_min_rto`;
//! - `fast_open`: the flags of data in a SYN;
//! - `reading`: `tunes_by_arriving_data`;
//! - unit tests of the engine: `bursts_of_window` (`scheduler::linux`), `charges_buffers`
//!   (`mptcp::charge`), `tunes_by_memory` (`mptcp::tuning`), timestamps (`tcp::timestamps`).

use core::net::{IpAddr, Ipv4Addr};

use anabranch_stack::config::Deviations;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{AddrId, DataAck, Mptcp, ResetReason, Signal, TcpRst};
use anabranch_stack::{Config, Duration};

use crate::bench::Bench;
use crate::mptcp_bench::{Script, add_addr, mptcp};
use crate::pair::tcp;

/// A configuration with the one deviation called `name`, or with none.
fn with(name: &str, on: bool) -> Config {
    mptcp().deviations(if on { Deviations::NONE.and(name) } else { Deviations::NONE })
}

/// RFC 8684 3.3.2: 64 bits answer "data ... received with a 64-bit DSN"; a DATA_FIN alone is no
/// data.
#[test]
fn a_data_fin_without_data_is_acknowledged_with_32_bits() {
    for (on, wanted) in [(true, 4), (false, 8)] {
        let mut s = Script::server(with("short_ack_of_data_fin", on));
        let out = s.give(0, s.data_fin(0, 1, 0, 0));
        let lengths: Vec<_> = out.iter().filter_map(|t| t.segment.dss()?.data_ack).collect();
        let lengths: Vec<_> = lengths.iter().map(|ack| if matches!(ack, DataAck::Four(_)) { 4 } else { 8 }).collect();
        assert_eq!(lengths, [wanted]);
    }
}

/// RFC 8684 3.2: the third ACK of a join is repeated until the fourth ACK comes.
#[test]
fn the_third_ack_of_a_join_is_repeated_at_equal_intervals() {
    let intervals = |on| {
        let mut s = Script::client(with("join_ack_without_backoff", on));
        let (flow, nonce) = s.open();
        let answer = s.join_answer(flow, nonce);
        let mut times = vec![s.now];
        assert_eq!(s.give(flow, answer).len(), 1, "the third ACK");
        times.extend(s.wait(Duration::from_secs(2)).iter().map(|(at, _)| *at));
        let intervals: Vec<_> = times.windows(2).map(|w| w[1].since(w[0])).collect();
        assert!(intervals.len() >= 3, "{intervals:?}");
        intervals[..3].iter().map(|i| i.0 / intervals[0].0).collect::<Vec<_>>()
    };
    assert_eq!((intervals(true), intervals(false)), (vec![1, 1, 1], vec![1, 2, 4]));
}

/// RFC 8684 3.1: the first data of a client carries its keys, whether or not the third ACK arrived.
#[test]
fn a_client_that_has_received_a_dss_sends_its_first_data_with_a_dss() {
    for on in [true, false] {
        let mut s = Script::client(with("first_data_with_dss", on));
        s.c.write(1000);
        let out = s.poll();
        let keys = matches!(out[0].segment.options.mptcp, Mptcp::CapableAck { data: Some(_), .. });
        assert_eq!((out[0].segment.payload.len, keys, out[0].segment.dss().is_some()), (1000, !on, on));
    }
}

/// RFC 8684 3.5: MP_FASTCLOSE is answered by resets.
#[test]
fn a_reset_that_answers_a_fast_close_gives_a_reason() {
    for on in [true, false] {
        let mut s = Script::server(with("reason_after_fast_close", on));
        s.join();
        let key = s.key;
        let out = s.give(0, s.signal(0, Signal::Fastclose { key }));
        let reason = TcpRst { transient: false, reason: ResetReason::UNSPECIFIED };
        let told: Vec<_> = out.iter().map(|t| t.segment.options.tcp_rst).collect();
        assert_eq!(told, [on.then_some(reason); 2]);
    }
}

/// RFC 9293 3.10.7.3: the third ACK may carry data, and does unless the program writes later.
#[test]
fn the_third_ack_is_a_segment_of_its_own() {
    for (on, alone) in [(true, "0.1 > . 1:1(0) ack 1\n"), (false, "")] {
        let deviations = if on { Deviations::NONE.and("third_ack_alone") } else { Deviations::NONE };
        let mut b = Bench::client(tcp().deviations(deviations));
        b.play(&format!(
            "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
             0.05 write 1500
             0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK>
             {alone}0.1 > . 1:1001(1000) ack 1
             0.2 < . 1:1(0) ack 1001 win 65535
             0.2 > P. 1001:1501(500) ack 1"
        ));
    }
}

/// RFC 8684 3.1: a client waits for a DSS before it joins; here an ADD_ADDR comes before the first.
#[test]
fn an_add_addr_shows_that_the_server_has_the_keys() {
    for on in [true, false] {
        let mut s = Script::opening(with("add_addr_confirms", on));
        s.give(0, s.syn_ack(Mptcp::CapableSynAck { no_join: false, checksum: false, key: s.peer_key }));
        let address = AddrId { id: 2, addr: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)) };
        assert_eq!(s.c.open_subflow(1, 2, false), None);
        let forged = keys::add_addr_hmac(s.peer_key, s.key, address.id, address.addr, 1);
        s.give(0, s.signal(0, add_addr(address, Some(forged))));
        assert_eq!(s.c.open_subflow(1, 2, false), None);
        let hmac = keys::add_addr_hmac(s.peer_key, s.key, address.id, address.addr, 0);
        s.give(0, s.signal(0, add_addr(address, Some(hmac))));
        assert_eq!(s.c.open_subflow(1, 2, false), on.then_some(1));
    }
}
