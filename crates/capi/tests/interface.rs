//! The C interface, called as a C program calls it.
#![allow(unsafe_code, reason = "the functions of the C interface take pointers")]

use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

use anabranch::address::{anabranch_address, anabranch_tuple};
use anabranch::algorithms::anabranch_algorithms;
use anabranch::config::{anabranch_config, anabranch_config_free, anabranch_config_new};
use anabranch::events::*;
use anabranch::host::{anabranch_host, anabranch_host_free, anabranch_host_new, anabranch_host_options};
use anabranch::info::*;
use anabranch::messages::*;
use anabranch::opening::*;
use anabranch::packets::*;
use anabranch::paths::*;
use anabranch::status::*;
use anabranch::stream::*;

/// A host that is freed at the end of the test.
struct Host(*mut anabranch_host);

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: the host is freed once.
        unsafe { anabranch_host_free(self.0) };
    }
}

fn options(by_reference: bool, secret: u8) -> anabranch_host_options {
    anabranch_host_options {
        size: size_of::<anabranch_host_options>() as u32,
        by_reference: by_reference.into(),
        virtual_time: 1,
        first_port: 32_768,
        last_port: 49_151,
        reserved: [0; 6],
        secret: [secret; 32],
    }
}

/// A host; two hosts with the same secret would draw the same keys.
fn host(by_reference: bool, secret: u8) -> Host {
    let mut made = null_mut();
    // SAFETY: the pointers are those of locals.
    assert_eq!(unsafe { anabranch_host_new(&options(by_reference, secret), &mut made) }, ANABRANCH_OK);
    Host(made)
}

struct Configuration(*mut anabranch_config);

impl Drop for Configuration {
    fn drop(&mut self) {
        // SAFETY: the configuration is freed once.
        unsafe { anabranch_config_free(self.0) };
    }
}

fn config(text: &str) -> Configuration {
    let (text, mut made) = (CString::new(text).expect("no zero octet"), null_mut());
    // SAFETY: the pointers are those of locals.
    assert_eq!(unsafe { anabranch_config_new(text.as_ptr(), &mut made) }, ANABRANCH_OK, "{}", last_error());
    Configuration(made)
}

fn last_error() -> String {
    // SAFETY: the text stays valid until the next error of this thread.
    unsafe { CStr::from_ptr(anabranch_last_error()) }.to_str().expect("UTF-8").to_owned()
}

/// The call fails with `code`, and the text of the error contains `text`.
#[track_caller]
fn fails(answer: i32, code: i32, text: &str) {
    assert_eq!(answer, code, "{}", last_error());
    assert!(last_error().contains(text), "{}", last_error());
}

/// Address `host` of network `net`, IPv6 if `six`.
fn address(six: bool, net: u8, host: u8, port: u16) -> anabranch_address {
    let mut a = anabranch_address { family: if six { 6 } else { 4 }, reserved: 0, port, octets: [0; 16] };
    if six {
        a.octets = [0xfd, 0, 0, 0, 0, 0, 0, net, 0, 0, 0, 0, 0, 0, 0, host];
    } else {
        a.octets[..4].copy_from_slice(&[10, net, 0, host]);
    }
    a
}

fn tuple(six: bool, net: u8) -> anabranch_tuple {
    anabranch_tuple { local: address(six, net, 1, 40_000), remote: address(six, net, 2, 80) }
}

fn event() -> anabranch_event {
    // SAFETY: every field of the struct may be zero.
    anabranch_event { size: size_of::<anabranch_event>() as u32, ..unsafe { std::mem::zeroed() } }
}

fn segment() -> anabranch_segment {
    // SAFETY: every field of the struct may be zero.
    anabranch_segment { size: size_of::<anabranch_segment>() as u32, ..unsafe { std::mem::zeroed() } }
}

fn subflow_info(host: &Host, now: u64, connection: u64, subflow: u32) -> anabranch_subflow_info {
    // SAFETY: every field of the struct may be zero.
    let mut info: anabranch_subflow_info = unsafe { std::mem::zeroed() };
    info.size = size_of::<anabranch_subflow_info>() as u32;
    // SAFETY: the pointers are those of locals and of a host.
    assert_eq!(unsafe { anabranch_subflow_state(host.0, now, connection, subflow, &mut info) }, ANABRANCH_OK);
    info
}

fn connection_info(host: &Host, connection: u64) -> anabranch_connection_info {
    // SAFETY: every field of the struct may be zero.
    let mut info: anabranch_connection_info = unsafe { std::mem::zeroed() };
    info.size = size_of::<anabranch_connection_info>() as u32;
    // SAFETY: the pointers are those of locals and of a host.
    assert_eq!(unsafe { anabranch_connection_state(host.0, connection, &mut info) }, ANABRANCH_OK);
    info
}

/// Octet number `i` of the client's stream.
fn octet(i: u64) -> u8 {
    (i * i / 255) as u8
}

/// A client and a server by reference, with a wire without delay between them.
struct Pair {
    ends: [Host; 2],
    now: u64,
    /// The server's stream as it has arrived.
    arrived: Vec<u8>,
    /// Kinds of the events of either end.
    seen: [Vec<u32>; 2],
    /// Connection of the server.
    accepted: u64,
    six: bool,
    policy: u32,
    /// Segments from these networks are lost.
    dead: Vec<u8>,
}

const NETS: [u8; 2] = [1, 2];

impl Pair {
    /// The client has opened connection 1 from network 1.
    fn new(six: bool, policy: u32, text: &str) -> Self {
        let (ends, config) = ([host(true, 1), host(true, 2)], config(text));
        let mut connection = 0;
        // SAFETY: the pointers are those of locals and of hosts.
        unsafe {
            assert_eq!(anabranch_listen(ends[1].0, 80, config.0, 0), ANABRANCH_OK);
            assert_eq!(anabranch_connect(ends[0].0, 0, &tuple(six, 1), config.0, &mut connection), ANABRANCH_OK);
            let ours = NETS.map(|net| address(six, net, 1, 0));
            assert_eq!(anabranch_manage_paths(ends[0].0, 0, connection, policy, 1, ours.as_ptr(), 2), ANABRANCH_OK);
        }
        assert_eq!(connection, 1);
        let seen = [Vec::new(), Vec::new()];
        Self { ends, now: 0, arrived: Vec::new(), seen, accepted: 0, six, policy, dead: Vec::new() }
    }

    fn events(&mut self, side: usize, payload: &[u8]) {
        let mut e = event();
        // SAFETY: the pointers are those of locals and of hosts.
        while unsafe { anabranch_poll_event(self.ends[side].0, &mut e) } == ANABRANCH_OK {
            self.seen[side].push(e.kind);
            if side == 1 && e.kind == ANABRANCH_EVENT_ARRIVED {
                let end = (e.offset + u64::from(e.len)) as usize;
                self.arrived.resize(self.arrived.len().max(end), 0);
                self.arrived[e.offset as usize..end].copy_from_slice(&payload[..e.len as usize]);
            }
            if side == 1 && e.kind == ANABRANCH_EVENT_CONNECTED {
                self.accepted = e.connection;
                let theirs = NETS.map(|net| address(self.six, net, 2, 0));
                let (host, now) = (self.ends[1].0, self.now);
                // SAFETY: as above.
                let code =
                    unsafe { anabranch_manage_paths(host, now, e.connection, self.policy, 0, theirs.as_ptr(), 2) };
                assert_eq!(code, ANABRANCH_OK);
            }
        }
    }

    /// Opens the subflows that the client's path manager wants. Returns true if it opened one.
    fn join(&mut self) -> bool {
        let mut opened = false;
        let (host, mut wanted, mut subflow) = (self.ends[0].0, anabranch_tuple::default(), 0);
        let (mut connection, mut backup) = (0, 9);
        // SAFETY: the pointers are those of locals and of hosts.
        unsafe {
            while anabranch_poll_join(host, self.now, &mut connection, &mut wanted, &mut backup) == ANABRANCH_OK {
                assert_eq!((connection, backup), (1, 0));
                if wanted.local.octets[if self.six { 7 } else { 1 }]
                    != wanted.remote.octets[if self.six { 7 } else { 1 }]
                {
                    assert_eq!(anabranch_join_failed(host, self.now, 1, &wanted), ANABRANCH_OK);
                    continue;
                }
                assert_eq!(anabranch_draw_port(host, &wanted, &mut wanted.local.port), ANABRANCH_OK);
                assert_eq!(anabranch_open_subflow(host, 1, &wanted, 0, &mut subflow), ANABRANCH_OK);
                opened = true;
            }
        }
        opened
    }

    /// Carries segments until nothing more happens now.
    fn settle(&mut self) {
        let mut busy = true;
        while std::mem::take(&mut busy) {
            for side in [0, 1] {
                let mut s = segment();
                // SAFETY: the pointers are those of locals and of hosts.
                while unsafe { anabranch_poll_segment(self.ends[side].0, self.now, &mut s) } == ANABRANCH_OK {
                    busy = true;
                    if self.dead.contains(&s.tuple.local.octets[if self.six { 7 } else { 1 }]) {
                        continue;
                    }
                    let payload: Vec<u8> =
                        (s.payload_offset..s.payload_offset + u64::from(s.payload_len)).map(octet).collect();
                    let back = anabranch_tuple { local: s.tuple.remote, remote: s.tuple.local };
                    let (other, len) = (self.ends[1 - side].0, usize::from(s.header_len));
                    // SAFETY: as above.
                    let code = unsafe {
                        assert_eq!(anabranch_fill_checksums(&mut s, payload.as_ptr()), ANABRANCH_OK);
                        let header = s.header.as_ptr();
                        anabranch_handle_segment(
                            other,
                            self.now,
                            &back,
                            s.ecn,
                            header,
                            len,
                            payload.as_ptr(),
                            s.payload_len,
                        )
                    };
                    assert_eq!(code, ANABRANCH_OK, "{}", last_error());
                    self.events(1 - side, &payload);
                }
                self.events(side, &[]);
            }
            busy |= self.join();
        }
    }

    /// Runs timers for `ns`.
    fn run(&mut self, ns: u64) {
        let end = self.now + ns;
        loop {
            self.settle();
            let mut next = end;
            for side in [0, 1] {
                let mut at = 0;
                // SAFETY: the pointers are those of locals and of hosts.
                if unsafe { anabranch_poll_timeout(self.ends[side].0, &mut at) } == ANABRANCH_OK {
                    next = next.min(at);
                }
            }
            if next >= end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            // SAFETY: as above.
            unsafe {
                assert_eq!(anabranch_handle_timeout(self.ends[0].0, self.now), ANABRANCH_OK);
                assert_eq!(anabranch_handle_timeout(self.ends[1].0, self.now), ANABRANCH_OK);
            }
        }
    }

    /// Writes `octets` octets from the client to the server, which reads them.
    fn transfer(&mut self, octets: u64) {
        let (client, mut left) = (self.ends[0].0, octets);
        let mut rounds = 0;
        while left > 0 || connection_info(&self.ends[0], 1).unacknowledged > 0 {
            let (mut taken, mut read) = (0, 0);
            // SAFETY: the pointers are those of locals and of hosts.
            assert_eq!(unsafe { anabranch_write_count(client, 1, left, &mut taken) }, ANABRANCH_OK);
            left -= taken;
            self.run(1_000_000);
            // SAFETY: as above.
            let code = unsafe { anabranch_read_count(self.ends[1].0, self.accepted, u64::MAX, &mut read) };
            assert_eq!(code, ANABRANCH_OK);
            rounds += 1;
            assert!(rounds < 1_000_000, "{left} octets are left");
        }
    }
}

fn moves_octets_over_two_subflows(six: bool, policy: u32) {
    let mut pair = Pair::new(six, policy, "checksum = true\nscheduler = 'round-robin'\nsend_buffer = '200 kB'");
    pair.settle();
    pair.transfer(3_000_000);
    assert_eq!(pair.arrived.len(), 3_000_000);
    assert!(pair.arrived.iter().zip(0..).all(|(&o, i)| o == octet(i)));
    let info = connection_info(&pair.ends[0], 1);
    assert_eq!((info.multipath, info.subflows, info.kept_out), (1, 2, 0));
    assert_eq!(info.token, connection_info(&pair.ends[0], 1).token);
    for subflow in [0, 1] {
        let info = subflow_info(&pair.ends[0], pair.now, 1, subflow);
        assert_eq!((info.state, info.tuple.local.octets[if six { 7 } else { 1 }]), (3, subflow as u8 + 1));
        assert!(info.octets_acked > 1_000_000, "{info:?}");
    }
    for kind in [ANABRANCH_EVENT_CONNECTED, ANABRANCH_EVENT_JOINS_POSSIBLE, ANABRANCH_EVENT_SUBFLOW_ESTABLISHED] {
        assert!(pair.seen[0].contains(&kind), "{kind}");
    }
    assert!(pair.seen[0].contains(&ANABRANCH_EVENT_WRITABLE) && pair.seen[1].contains(&ANABRANCH_EVENT_READABLE));
    let (mut needed, mut ranges, mut count) = (0, [anabranch_range::default(); 4], 4);
    // SAFETY: the pointers are those of locals and of hosts.
    unsafe {
        assert_eq!(anabranch_needed_from(pair.ends[0].0, 1, &mut needed), ANABRANCH_OK);
        assert_eq!(anabranch_still_in_flight(pair.ends[0].0, 1, ranges.as_mut_ptr(), &mut count), ANABRANCH_OK);
    }
    assert_eq!((needed, count), (3_000_000, 0));
}

#[test]
fn a_full_mesh_moves_octets_in_ipv4() {
    moves_octets_over_two_subflows(false, ANABRANCH_PATHS_FULL_MESH);
}

#[test]
fn one_subflow_per_interface_moves_octets_in_ipv6() {
    moves_octets_over_two_subflows(true, ANABRANCH_PATHS_ONE_PER_INTERFACE);
}

#[test]
fn an_address_that_goes_takes_its_subflow_and_brings_it_back() {
    let mut pair = Pair::new(false, ANABRANCH_PATHS_ONE_PER_INTERFACE, "");
    pair.settle();
    pair.transfer(100_000);
    assert_eq!(connection_info(&pair.ends[0], 1).subflows, 2);
    let second = address(false, 2, 1, 0);
    let client = pair.ends[0].0;
    // SAFETY: the pointers are those of locals and of hosts.
    assert_eq!(unsafe { anabranch_address_changed(client, pair.now, 1, &second, 0) }, ANABRANCH_OK);
    pair.run(1_000_000_000);
    assert_eq!(subflow_info(&pair.ends[0], pair.now, 1, 1).state, 0);
    pair.transfer(100_000);
    pair.run(15_000_000_000);
    pair.seen[0].clear();
    // SAFETY: as above.
    assert_eq!(unsafe { anabranch_address_changed(client, pair.now, 1, &second, 1) }, ANABRANCH_OK);
    pair.run(1_000_000_000);
    let live = (0..connection_info(&pair.ends[0], 1).subflows)
        .filter(|&s| subflow_info(&pair.ends[0], pair.now, 1, s).state == 3)
        .count();
    assert_eq!(live, 2, "{:?}", pair.seen[0]);
}

#[test]
fn icmp_reaches_the_connection_that_sent_the_segment() {
    let mut pair = Pair::new(false, ANABRANCH_PATHS_NONE, "");
    pair.settle();
    pair.transfer(100_000);
    let client = pair.ends[0].0;
    let mut taken = 0;
    let mut s = segment();
    // SAFETY: the pointers are those of locals and of hosts.
    unsafe {
        assert_eq!(anabranch_write_count(client, 1, 5000, &mut taken), ANABRANCH_OK);
        assert_eq!(anabranch_poll_segment(client, pair.now, &mut s), ANABRANCH_OK);
        let seq = u32::from_be_bytes(s.header[4..8].try_into().expect("four octets"));
        assert_eq!(anabranch_handle_soft_error(client, &s.tuple, seq), ANABRANCH_OK);
        assert_eq!(anabranch_handle_too_big(client, pair.now, &s.tuple, seq, 600), ANABRANCH_OK);
        // No link of IPv4 has an MTU below 68 octets.
        assert_eq!(anabranch_handle_too_big(client, pair.now, &s.tuple, seq, 60), ANABRANCH_OK);
    }
    pair.settle();
    assert!(pair.seen[0].contains(&ANABRANCH_EVENT_SOFT_ERROR));
    let mss = subflow_info(&pair.ends[0], pair.now, 1, 0).mss;
    assert!((400..=560).contains(&mss), "{mss}");

    let fresh = host(true, 1);
    let config = config("");
    let (mut connection, mut e) = (0, event());
    // SAFETY: as above.
    unsafe {
        assert_eq!(anabranch_connect(fresh.0, 0, &tuple(true, 1), config.0, &mut connection), ANABRANCH_OK);
        assert_eq!(anabranch_poll_segment(fresh.0, 0, &mut s), ANABRANCH_OK);
        let seq = u32::from_be_bytes(s.header[4..8].try_into().expect("four octets"));
        assert_eq!(anabranch_handle_unreachable(fresh.0, 0, &s.tuple, seq), ANABRANCH_OK);
        assert_eq!(anabranch_poll_segment(fresh.0, 0, &mut s), ANABRANCH_NOTHING);
        let mut kinds = Vec::new();
        while anabranch_poll_event(fresh.0, &mut e) == ANABRANCH_OK {
            kinds.push(e.kind);
        }
        assert!(kinds.contains(&ANABRANCH_EVENT_ABORTED), "{kinds:?}");
    }
}

#[test]
fn options_change_a_connection_at_run_time() {
    let mut pair = Pair::new(false, ANABRANCH_PATHS_NONE, "");
    pair.settle();
    pair.transfer(1000);
    let (host, now) = (pair.ends[0].0, pair.now);
    // SAFETY: the pointers are those of locals and of hosts.
    unsafe {
        for option in ANABRANCH_OPTION_NO_DELAY..=ANABRANCH_OPTION_SYN_RETRIES {
            assert_eq!(anabranch_set_option(host, now, 1, option, 0), ANABRANCH_OK);
        }
        fails(anabranch_set_option(host, now, 1, 6, 1), ANABRANCH_ARGUMENT, "option 6 does not exist");
        fails(anabranch_set_keepalive(host, now, 1, 1, 0, 9), ANABRANCH_ARGUMENT, "interval 0 ns");
        assert_eq!(anabranch_set_keepalive(host, now, 1, 1_000_000_000, 1_000_000_000, 2), ANABRANCH_OK);
        fails(anabranch_set_path_policy(host, 1, 0, f64::NAN, 1.0, 0), ANABRANCH_ARGUMENT, "cost is NaN");
        assert_eq!(anabranch_set_path_policy(host, 1, 0, 2.0, 1.0, 3), ANABRANCH_OK);
        assert_eq!(anabranch_set_backup(host, 1, 0, 1), ANABRANCH_OK);
        let mut has = 9;
        assert_eq!(anabranch_has_fast_open_cookie(host, now, &tuple(false, 1), &mut has), ANABRANCH_OK);
        assert_eq!(has, 0);
        assert_eq!(anabranch_set_fast_open_key(pair.ends[1].0, 80, [3; 32].as_ptr()), ANABRANCH_OK);
        assert_eq!(anabranch_forget_fast_open_servers(host), ANABRANCH_OK);
        assert_eq!(anabranch_identify(host, 1, &address(false, 9, 1, 0), 77), ANABRANCH_OK);
        fails(anabranch_identify(host, 1, &address(false, 8, 1, 0), 77), ANABRANCH_IN_USE, "another identifier");
        let (mut ids, mut count) = ([0; 1], 1);
        assert_eq!(anabranch_connections(host, ids.as_mut_ptr(), &mut count), ANABRANCH_OK);
        assert_eq!((ids, count), ([1], 1));
        count = 0;
        fails(anabranch_connections(host, null_mut(), &mut count), ANABRANCH_SMALL, "1 connections, and room for 0");
        assert_eq!(count, 1);
    }
    // Keep-alives that nobody answers end the connection.
    pair.dead = vec![1];
    pair.run(10_000_000_000);
    assert!(pair.seen[0].contains(&ANABRANCH_EVENT_ABORTED), "{:?}", pair.seen[0]);
}

#[test]
fn the_algorithms_are_listed_with_their_parameters() {
    let mut text = null();
    // SAFETY: the pointers are those of locals; the text lives as long as the program.
    let list = unsafe {
        fails(anabranch_algorithms(null_mut()), ANABRANCH_NULL, "out is null");
        assert_eq!(anabranch_algorithms(&mut text), ANABRANCH_OK);
        CStr::from_ptr(text).to_str().expect("UTF-8")
    };
    for word in ["\"olia\"", "\"blest\"", "\"parameters\"", "\"cubic\""] {
        assert!(list.contains(word), "{word}");
    }
}

#[test]
fn wrong_configurations_say_what_is_wrong() {
    let read = |text: &[u8]| {
        let (text, mut out) = (CString::new(text).expect("no zero octet"), null_mut());
        // SAFETY: the pointers are those of locals.
        unsafe { anabranch_config_new(text.as_ptr(), &mut out) }
    };
    fails(read(b"controller = 'olai'"), ANABRANCH_CONFIG, "did you mean \"olia\"?");
    fails(read(b"contoller = 'olia'"), ANABRANCH_CONFIG, "did you mean \"controller\"?");
    fails(read(b"controller = "), ANABRANCH_CONFIG, "");
    fails(read(b"\xff"), ANABRANCH_CONFIG, "not UTF-8");
    fails(read(b"path_manager = 'none'"), ANABRANCH_CONFIG, "only the simulator carries it out");
    let mut out = null_mut();
    // SAFETY: the pointers are null or those of locals.
    unsafe {
        fails(anabranch_config_new(null(), &mut out), ANABRANCH_NULL, "text is null");
        fails(anabranch_config_new(c"".as_ptr(), null_mut()), ANABRANCH_NULL, "out is null");
        anabranch_config_free(null_mut());
    }
}

#[test]
fn null_pointers_are_refused() {
    let (made, config, mut out) = (host(true, 1), config(""), null_mut());
    let (h, t, none) = (made.0, tuple(false, 1), null_mut::<anabranch_host>());
    let (mut n, mut m) = (0_u64, 0_u32);
    // SAFETY: the pointers are null or those of locals and of a host.
    let answers = unsafe {
        anabranch_host_free(none);
        [
            anabranch_host_new(null(), &mut out),
            anabranch_host_new(&options(true, 1), null_mut()),
            anabranch_listen(none, 80, config.0, 0),
            anabranch_listen(h, 80, null(), 0),
            anabranch_stop_listening(none, 80),
            anabranch_draw_port(h, null(), null_mut()),
            anabranch_draw_port(h, &t, null_mut()),
            anabranch_connect(h, 0, null(), config.0, &mut n),
            anabranch_connect(h, 0, &t, null(), &mut n),
            anabranch_connect(h, 0, &t, config.0, null_mut()),
            anabranch_open_subflow(h, 1, null(), 0, &mut m),
            anabranch_open_subflow(h, 1, &t, 0, null_mut()),
            anabranch_advertise(h, 1, null()),
            anabranch_withdraw(h, 1, null()),
            anabranch_identify(h, 1, null(), 1),
            anabranch_set_backup(none, 1, 0, 1),
            anabranch_set_path_policy(none, 1, 0, 1.0, 1.0, 0),
            anabranch_set_fast_open_key(none, 80, null()),
            anabranch_forget_fast_open_servers(none),
            anabranch_has_fast_open_cookie(h, 0, &t, null_mut()),
            anabranch_handle_packet(none, 0, null(), 0),
            anabranch_handle_segment(h, 0, &t, 0, null(), 20, null(), 0),
            anabranch_handle_segment(h, 0, null(), 0, null(), 0, null(), 0),
            anabranch_poll_segment(h, 0, null_mut()),
            anabranch_fill_checksums(null_mut(), null()),
            anabranch_poll_timeout(none, &mut n),
            anabranch_handle_timeout(none, 0),
            anabranch_poll_event(h, null_mut()),
            anabranch_handle_too_big(h, 0, null(), 0, 1500),
            anabranch_handle_unreachable(h, 0, null(), 0),
            anabranch_handle_soft_error(h, null(), 0),
            anabranch_connection_state(h, 1, null_mut()),
            anabranch_subflow_state(h, 0, 1, 0, null_mut()),
            anabranch_connections(h, null_mut(), null_mut()),
            anabranch_write_count(h, 1, 1, null_mut()),
            anabranch_read_count(h, 1, 1, null_mut()),
            anabranch_shutdown_write(none, 1),
            anabranch_close(none, 1),
            anabranch_abort(none, 1),
            anabranch_set_option(none, 0, 1, 1, 1),
            anabranch_set_keepalive(none, 0, 1, 1, 1, 2),
            anabranch_manage_paths(h, 0, 1, 1, 1, null(), 2),
            anabranch_poll_join(h, 0, &mut n, null_mut(), null_mut()),
            anabranch_join_failed(h, 0, 1, null()),
            anabranch_address_changed(h, 0, 1, null(), 0),
        ]
    };
    for (i, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer, ANABRANCH_NULL, "call {i}");
    }
}

#[test]
fn wrong_addresses_times_and_sizes_are_refused() {
    let (made, config) = (host(true, 1), config(""));
    let (h, mut n, mut port) = (made.0, 0, 0);
    let mut mixed = tuple(false, 1);
    mixed.remote = address(true, 1, 2, 80);
    let (mut strange, mut portless) = (tuple(false, 1), tuple(false, 1));
    strange.local.family = 5;
    portless.local.port = 0;
    // SAFETY: the pointers are those of locals and of a host.
    unsafe {
        fails(anabranch_connect(h, 0, &mixed, config.0, &mut n), ANABRANCH_ARGUMENT, "different families");
        fails(anabranch_draw_port(h, &strange, &mut port), ANABRANCH_ARGUMENT, "local.family is 5: 4 or 6");
        fails(anabranch_connect(h, 0, &portless, config.0, &mut n), ANABRANCH_ARGUMENT, "anabranch_draw_port");
        assert_eq!(anabranch_handle_timeout(h, 1000), ANABRANCH_OK);
        fails(anabranch_handle_timeout(h, 999), ANABRANCH_ARGUMENT, "now is 999 ns, before 1000 ns");
        fails(anabranch_handle_timeout(h, u64::MAX), ANABRANCH_ARGUMENT, "at most");
        fails(anabranch_set_option(h, 1000, 1, 3, u64::MAX), ANABRANCH_ARGUMENT, "at most");
        assert_eq!(anabranch_connect(h, 1000, &tuple(false, 1), config.0, &mut n), ANABRANCH_OK);
        fails(anabranch_connect(h, 1000, &tuple(false, 1), config.0, &mut n), ANABRANCH_IN_USE, "is in use");
        let (mut s, mut e) = (segment(), event());
        s.size = 8;
        fails(anabranch_poll_segment(h, 1000, &mut s), ANABRANCH_ARGUMENT, "segment.size is 8");
        s.size = size_of::<anabranch_segment>() as u32;
        assert_eq!(anabranch_poll_segment(h, 1000, &mut s), ANABRANCH_OK, "the segment is still there");
        e.size = 4;
        fails(anabranch_poll_event(h, &mut e), ANABRANCH_ARGUMENT, "event.size is 4");
        let small = anabranch_host_options { size: 4, ..options(true, 1) };
        fails(anabranch_host_new(&small, &mut null_mut()), ANABRANCH_ARGUMENT, "options.size is 4");
        let ports = anabranch_host_options { first_port: 9, last_port: 8, ..options(true, 1) };
        fails(anabranch_host_new(&ports, &mut null_mut()), ANABRANCH_ARGUMENT, "first_port 9 is above last_port 8");
        fails(anabranch_manage_paths(h, 1000, 1, 3, 1, null(), 0), ANABRANCH_ARGUMENT, "policy 3 does not exist");
        fails(anabranch_set_backup(h, 1, 4, 1), ANABRANCH_ARGUMENT, "subflow 4 does not exist");
    }
}

#[test]
fn damaged_segments_and_packets_are_dropped() {
    let (by_reference, octets) = (host(true, 1), host(false, 2));
    let mut header = [0; 60];
    header[12] = 5 << 4;
    let t = tuple(false, 1);
    let handle = |header: &[u8], payload: u32| {
        // SAFETY: the pointers are those of locals and of a host.
        unsafe { anabranch_handle_segment(by_reference.0, 0, &t, 0, header.as_ptr(), header.len(), null(), payload) }
    };
    assert_eq!(handle(&header[..19], 0), ANABRANCH_PACKET);
    assert_eq!(handle(&header[..20], 0), ANABRANCH_OK);
    fails(handle(&header[..20], 65_536), ANABRANCH_ARGUMENT, "payload_len is 65536: at most 65535");
    header[12] = 6 << 4; // longer than the octets that are there
    assert_eq!(handle(&header[..20], 0), ANABRANCH_PACKET);
    assert_eq!(handle(&header[..28], 0), ANABRANCH_PACKET);
    header[12] = 4 << 4; // shorter than any header
    assert_eq!(handle(&header[..20], 0), ANABRANCH_PACKET);
    // SAFETY: as above.
    let packet =
        |octets: &Host, bytes: &[u8]| unsafe { anabranch_handle_packet(octets.0, 0, bytes.as_ptr(), bytes.len()) };
    for bytes in [vec![], vec![0x45; 19], vec![0x45; 65_536], vec![0x60; 65_536], vec![0; 40]] {
        assert_eq!(packet(&octets, &bytes), ANABRANCH_PACKET, "{} octets", bytes.len());
    }
    fails(packet(&by_reference, &[0x45; 40]), ANABRANCH_FORM, "by reference");
    let mut s = segment();
    // SAFETY: as above.
    fails(unsafe { anabranch_poll_segment(octets.0, 0, &mut s) }, ANABRANCH_FORM, "set by_reference");
    s.header_len = 61;
    s.tuple = t;
    // SAFETY: as above.
    fails(unsafe { anabranch_fill_checksums(&mut s, null()) }, ANABRANCH_ARGUMENT, "anabranch_poll_segment");
    (s.header_len, s.payload_len) = (20, u32::MAX);
    // SAFETY: as above.
    fails(unsafe { anabranch_fill_checksums(&mut s, null()) }, ANABRANCH_ARGUMENT, "payload_len is 4294967295");
}

#[test]
fn connections_that_are_gone_and_closed_directions_are_named() {
    let mut pair = Pair::new(false, ANABRANCH_PATHS_NONE, "");
    pair.settle();
    pair.transfer(1000);
    let (client, server, mut n) = (pair.ends[0].0, pair.ends[1].0, 0);
    // SAFETY: the pointers are those of locals and of hosts.
    unsafe {
        assert_eq!(anabranch_shutdown_write(client, 1), ANABRANCH_OK);
        fails(anabranch_write_count(client, 1, 5, &mut n), ANABRANCH_CLOSED, "after shutdown_write");
        fails(anabranch_write(client, 1, null(), 0, &mut 0), ANABRANCH_FORM, "by reference");
        fails(anabranch_write_count(client, 2, 5, &mut n), ANABRANCH_GONE, "open another one");
        assert_eq!(anabranch_close(server, pair.accepted), ANABRANCH_OK);
    }
    pair.run(600_000_000_000);
    let mut subflow = 0;
    let mut join = tuple(false, 2);
    join.local.port = 5;
    // SAFETY: as above.
    let answers = unsafe {
        [
            anabranch_write_count(client, 1, 5, &mut n),
            anabranch_read_count(client, 1, 5, &mut n),
            anabranch_needed_from(client, 1, &mut n),
            anabranch_shutdown_write(client, 1),
            anabranch_close(client, 1),
            anabranch_abort(client, 1),
            anabranch_set_option(client, pair.now, 1, 1, 1),
            anabranch_open_subflow(client, 1, &join, 0, &mut subflow),
            anabranch_advertise(client, 1, &join.local),
            anabranch_withdraw(client, 1, &join.local),
            anabranch_manage_paths(client, pair.now, 1, 1, 1, null(), 0),
        ]
    };
    assert_eq!(answers, [ANABRANCH_GONE; 11]);
    for kinds in &pair.seen {
        assert!(kinds.contains(&ANABRANCH_EVENT_CLOSED), "{kinds:?}");
    }
}
