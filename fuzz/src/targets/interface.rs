//! The C interface, called in random order with any numbers, octets and structs. What callers owe is
//! kept (pointers are null or point to enough octets); everything else comes from the input. Nothing
//! panics: no answer is `ANABRANCH_PANIC`, every answer is a known code, and no host talks without
//! end.
#![allow(unsafe_code, reason = "the functions of the C interface take pointers")]

use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

use anabranch::address::{anabranch_address, anabranch_tuple};
use anabranch::config::{anabranch_config, anabranch_config_free, anabranch_config_new};
use anabranch::events::{anabranch_event, anabranch_poll_event};
use anabranch::host::{anabranch_host, anabranch_host_free, anabranch_host_new, anabranch_host_options};
use anabranch::info::{
    anabranch_connection_info, anabranch_connection_state, anabranch_connections, anabranch_subflow_info,
    anabranch_subflow_state,
};
use anabranch::messages::{anabranch_handle_soft_error, anabranch_handle_too_big, anabranch_handle_unreachable};
use anabranch::opening::*;
use anabranch::packets::*;
use anabranch::paths::*;
use anabranch::status::*;
use anabranch::stream::*;

use super::kind;
use crate::Target;
use crate::input::{Input, Rng};

/// The target.
pub const TARGET: Target = Target {
    name: "interface",
    holds: "the C interface answers every call with a code and no host panics, whatever the arguments",
    run,
    seeds,
};

/// Calls by chance, with those first that open a connection and carry its segments.
fn seeds() -> Vec<Vec<u8>> {
    let mut rng = Rng(5);
    let mut seeds = Vec::new();
    for form in 0..4 {
        for _ in 0..12 {
            let n = 60 + rng.below(400);
            // Listen, connect, carry; then anything, with segments carried in between.
            let mut seed = vec![form, rng.below(6) as u8, 123, 0, 0, 128, 0, 0];
            for octet in rng.octets(n) {
                let side = octet & 1;
                match rng.below(4) {
                    0 | 1 => seed.extend([side, octet & 56]),
                    2 => seed.extend([52 + (octet & 31), octet >> 7, octet >> 4]),
                    _ => seed.push(octet),
                }
            }
            seeds.push(seed);
        }
    }
    seeds
}

/// Calls that are played.
const CALLS: usize = 300;
/// The latest time that hosts take, in ns.
const LATEST: u64 = 1 << 62;
/// Segments, or events, that a host may have at one moment.
const ENDLESS: usize = 20_000;

/// A segment under way: its 4-tuple as seen from the receiver, header, ECN field and length of the
/// payload; or, without a header, a packet.
struct Flying {
    tuple: anabranch_tuple,
    octets: Vec<u8>,
    ecn: u8,
    payload: u32,
}

struct World<'a> {
    i: Input<'a>,
    hosts: [*mut anabranch_host; 2],
    by_reference: bool,
    config: *mut anabranch_config,
    wires: [VecDeque<Flying>; 2],
    now: u64,
    seen: u64,
}

impl Drop for World<'_> {
    fn drop(&mut self) {
        // SAFETY: each is freed once, and was made by its function.
        unsafe {
            self.hosts.into_iter().for_each(|host| anabranch_host_free(host));
            anabranch_config_free(self.config);
        }
    }
}

fn run(octets: &[u8]) -> u64 {
    let mut i = Input(octets);
    let form = i.u8();
    let by_reference = form & 1 != 0;
    let host = |n| {
        let options = anabranch_host_options {
            size: size_of::<anabranch_host_options>() as u32,
            by_reference: by_reference.into(),
            virtual_time: form >> 1 & 1,
            first_port: 0,
            last_port: 0,
            reserved: [0; 6],
            secret: [n; 32],
        };
        let mut host = null_mut();
        // SAFETY: the pointers are those of locals.
        assert_eq!(unsafe { anabranch_host_new(&options, &mut host) }, ANABRANCH_OK);
        host
    };
    let texts = [
        "",
        "checksum = true\nscheduler = 'round-robin'",
        "profile = 'linux-6.1'",
        "mss = 1\nreceive_buffer = '3000 B'",
        "fast_open = true\necn = true",
        "protocol = 'tcp'",
    ];
    let text = CString::new(texts[i.below(texts.len())]).expect("no zero octet");
    let mut config = null_mut();
    // SAFETY: the pointers are those of locals.
    assert_eq!(unsafe { anabranch_config_new(text.as_ptr(), &mut config) }, ANABRANCH_OK);
    let hosts = [host(1), host(2)];
    let mut world = World { i, hosts, by_reference, config, wires: Default::default(), now: 0, seen: 0 };
    for _ in 0..CALLS {
        if world.i.is_empty() {
            break;
        }
        world.step();
    }
    kind((world.seen, by_reference))
}

impl World<'_> {
    fn note(&mut self, call: u8, code: i32) {
        assert_ne!(code, ANABRANCH_PANIC, "call {call}: {}", last_error());
        assert!((ANABRANCH_SMALL..=ANABRANCH_NOT_YET).contains(&code), "call {call} answers {code}");
        if code < 0 {
            assert!(!last_error().is_empty(), "call {call} fails with {code} and says nothing");
        }
        self.seen |= 1 << (kind((call, code)) % 64);
    }

    /// An address: usually one of the few that the hosts have.
    fn address(&mut self, host: u8) -> anabranch_address {
        let what = self.i.u8();
        if what >= 250 {
            let (family, port) = (self.i.u8(), self.i.u16());
            let mut octets = [0; 16];
            let some = self.i.take(16);
            octets[..some.len()].copy_from_slice(some);
            return anabranch_address { family, reserved: 0, port, octets };
        }
        let mut a = anabranch_address { family: 4, reserved: 0, port: 0, octets: [0; 16] };
        if what & 64 != 0 {
            a.family = 6;
            a.octets[0] = 0xfd;
            (a.octets[7], a.octets[15]) = (what & 3, host);
        } else {
            a.octets[..4].copy_from_slice(&[10, what & 3, 0, host]);
        }
        a.port = if host == 2 { 80 } else { 40_000 + u16::from(what >> 2 & 7) };
        a
    }

    fn tuple(&mut self, side: usize) -> anabranch_tuple {
        let (local, remote) = if side == 0 { (1, 2) } else { (2, 1) };
        anabranch_tuple { local: self.address(local), remote: self.address(remote) }
    }

    /// A number of a connection: usually one that exists.
    fn connection(&mut self) -> u64 {
        let n = self.i.u8();
        if n >= 250 { self.i.u64() } else { 1 + u64::from(n & 1) }
    }

    fn step(&mut self) {
        let call = self.i.u8();
        let side = usize::from(call & 1);
        let code = match call >> 1 {
            0..=25 => self.carry(side),
            26..=60 => self.stream(side, call >> 1),
            61..=85 => self.opening(side, call >> 1),
            86..=105 => self.packets(side, call >> 1),
            _ => self.inspect(side, call >> 1),
        };
        self.note(call >> 1, code);
        self.poll(side);
    }

    /// Time passes, or segments arrive.
    fn carry(&mut self, side: usize) -> i32 {
        let what = self.i.u8();
        let host = self.hosts[side];
        if what & 7 == 7 {
            let mut at = 0;
            // SAFETY: the pointers are those of locals and of a host.
            if unsafe { anabranch_poll_timeout(host, &mut at) } == ANABRANCH_OK {
                self.now = LATEST.min(self.now.max(at));
            }
            // SAFETY: as above.
            return unsafe { anabranch_handle_timeout(host, self.now) };
        }
        if what & 64 != 0 {
            self.now = LATEST.min(self.now + (1 << (what & 31)));
        }
        let mut code = ANABRANCH_OK;
        for _ in 0..=what >> 3 & 7 {
            let Some(mut f) = self.wires[1 - side].pop_front() else { break };
            if what == 255 {
                // Damaged.
                let (at, octet) = (usize::from(self.i.u16()), self.i.u8());
                let len = f.octets.len();
                f.octets[at % len] = octet;
            }
            code = self.deliver(side, &f);
        }
        code
    }

    fn deliver(&mut self, side: usize, f: &Flying) -> i32 {
        let (host, payload) = (self.hosts[side], vec![0; f.payload as usize]);
        // SAFETY: the pointers are those of locals and of a host, the lengths those of their octets.
        unsafe {
            if self.by_reference {
                let (header, len) = (f.octets.as_ptr(), f.octets.len());
                anabranch_handle_segment(host, self.now, &f.tuple, f.ecn, header, len, payload.as_ptr(), f.payload)
            } else {
                anabranch_handle_packet(host, self.now, f.octets.as_ptr(), f.octets.len())
            }
        }
    }

    /// Takes what a host has to send and to tell.
    fn poll(&mut self, side: usize) {
        let host = self.hosts[side];
        let (mut room, mut polled) = ([0; 65_535], 0);
        loop {
            polled += 1;
            assert!(polled < ENDLESS, "host {side} sends without end");
            // SAFETY: every field of the struct may be zero.
            let mut s: anabranch_segment = unsafe { std::mem::zeroed() };
            s.size = size_of::<anabranch_segment>() as u32;
            let mut len = room.len();
            // SAFETY: the pointers are those of locals and of a host.
            let code = unsafe {
                if self.by_reference {
                    anabranch_poll_segment(host, self.now, &mut s)
                } else {
                    anabranch_poll_packet(host, self.now, room.as_mut_ptr(), &mut len)
                }
            };
            if code == ANABRANCH_NOTHING {
                break;
            }
            assert_eq!(code, ANABRANCH_OK, "{}", last_error());
            let mut f = Flying { tuple: s.tuple, octets: room[..len].to_vec(), ecn: s.ecn, payload: s.payload_len };
            if self.by_reference {
                // SAFETY: as above; the segment is one that was polled.
                assert_eq!(unsafe { anabranch_fill_checksums(&mut s, null()) }, ANABRANCH_OK);
                f.octets = s.header[..usize::from(s.header_len)].to_vec();
                f.tuple = anabranch_tuple { local: s.tuple.remote, remote: s.tuple.local };
            }
            if self.wires[side].len() < 256 {
                self.wires[side].push_back(f);
            }
        }
        // SAFETY: every field of the struct may be zero.
        let mut event: anabranch_event = unsafe { std::mem::zeroed() };
        event.size = size_of::<anabranch_event>() as u32;
        polled = 0;
        // SAFETY: the pointers are those of locals and of a host.
        while unsafe { anabranch_poll_event(host, &mut event) } == ANABRANCH_OK {
            polled += 1;
            assert!(polled < ENDLESS, "host {side} tells without end");
            self.seen |= 1 << (kind(event.kind) % 64);
        }
    }

    fn stream(&mut self, side: usize, call: u8) -> i32 {
        let (host, id) = (self.hosts[side], self.connection());
        let len = 1_usize << (self.i.u8() & 15);
        let (mut n, mut moved, mut octets) = (0, 0, vec![7; len]);
        // SAFETY: the pointers are those of locals and of a host, the lengths those of their octets.
        unsafe {
            match call {
                26..=35 if self.by_reference => anabranch_write_count(host, id, len as u64, &mut n),
                26..=35 => anabranch_write(host, id, octets.as_ptr(), len, &mut moved),
                36..=44 if self.by_reference => anabranch_read_count(host, id, len as u64, &mut n),
                36..=44 => anabranch_read(host, id, octets.as_mut_ptr(), len, &mut moved),
                45 => anabranch_shutdown_write(host, id),
                46 => anabranch_close(host, id),
                47 => anabranch_abort(host, id),
                48 => anabranch_needed_from(host, id, &mut n),
                49 => {
                    let (mut ranges, mut count) = ([anabranch_range::default(); 8], 8);
                    anabranch_still_in_flight(host, id, ranges.as_mut_ptr(), &mut count)
                }
                50..=56 => {
                    let (option, value) = (u32::from(self.i.u8() & 7), self.i.u64() >> (self.i.u8() & 63));
                    anabranch_set_option(host, self.now, id, option, value)
                }
                57 => {
                    let (idle, interval) = (self.i.u32().into(), self.i.u32().into());
                    anabranch_set_keepalive(host, self.now, id, idle, interval, self.i.u8().into())
                }
                58 => anabranch_write_count(host, id, self.i.u64(), &mut n),
                59 => anabranch_read_count(host, id, self.i.u64(), &mut n),
                _ => anabranch_write(host, id, null(), len, &mut moved),
            }
        }
    }

    fn opening(&mut self, side: usize, call: u8) -> i32 {
        let host = self.hosts[side];
        let (mut n, mut subflow, mut port) = (0, 0, 0);
        // SAFETY: the pointers are null or those of locals and of a host.
        unsafe {
            match call {
                61 | 62 => anabranch_listen(host, [80, 0, 40_000][self.i.below(3)], self.config, self.i.u8().into()),
                63 => anabranch_stop_listening(host, 80),
                64..=67 => {
                    let tuple = self.tuple(side);
                    anabranch_connect(host, self.now, &tuple, self.config, &mut n)
                }
                68..=70 => {
                    let (id, tuple) = (self.connection(), self.tuple(side));
                    anabranch_open_subflow(host, id, &tuple, self.i.u8() & 1, &mut subflow)
                }
                71 => anabranch_draw_port(host, &self.tuple(side), &mut port),
                72 => anabranch_advertise(host, self.connection(), &self.address(1 + side as u8)),
                73 => anabranch_withdraw(host, self.connection(), &self.address(1 + side as u8)),
                74 => anabranch_set_backup(host, self.connection(), u32::from(self.i.u8() & 3), self.i.u8() & 1),
                75 => anabranch_identify(host, self.connection(), &self.address(1 + side as u8), self.i.u8()),
                76 => {
                    let (cost, weight) = (f64::from_bits(self.i.u64()), f64::from(self.i.u8()));
                    anabranch_set_path_policy(host, self.connection(), u32::from(self.i.u8() & 3), cost, weight, 1)
                }
                77 => anabranch_set_fast_open_key(host, 80, [1; 32].as_ptr()),
                78 => anabranch_forget_fast_open_servers(host),
                79 => {
                    let (tuple, mut has) = (self.tuple(side), 0);
                    anabranch_has_fast_open_cookie(host, self.now, &tuple, &mut has)
                }
                80..=82 => {
                    let ours = [self.address(1 + side as u8), self.address(1 + side as u8)];
                    let (id, policy, opened) = (self.connection(), u32::from(self.i.u8() & 3), self.i.u8() & 1);
                    anabranch_manage_paths(host, self.now, id, policy, opened, ours.as_ptr(), self.i.below(3))
                }
                83 => {
                    let (mut id, mut tuple, mut backup) = (0, anabranch_tuple::default(), 0);
                    let code = anabranch_poll_join(host, self.now, &mut id, &mut tuple, &mut backup);
                    if code != ANABRANCH_OK {
                        return code;
                    }
                    anabranch_draw_port(host, &tuple, &mut tuple.local.port);
                    match anabranch_open_subflow(host, id, &tuple, backup, &mut subflow) {
                        ANABRANCH_OK => ANABRANCH_OK,
                        _ => anabranch_join_failed(host, self.now, id, &tuple),
                    }
                }
                84 => anabranch_join_failed(host, self.now, self.connection(), &self.tuple(side)),
                _ => {
                    let (id, address) = (self.connection(), self.address(1 + side as u8));
                    anabranch_address_changed(host, self.now, id, &address, self.i.u8() & 1)
                }
            }
        }
    }

    /// Octets that no host has sent.
    fn packets(&mut self, side: usize, call: u8) -> i32 {
        let (host, tuple) = (self.hosts[side], self.tuple(side));
        let n = usize::from(self.i.u8());
        let octets = self.i.take(n);
        // SAFETY: the pointers are null or those of locals and of a host, the lengths those of their octets.
        unsafe {
            match call {
                86..=90 => {
                    let (header, len) = (octets.as_ptr(), octets.len());
                    let payload = self.i.u32() >> (self.i.u8() & 31);
                    anabranch_handle_segment(host, self.now, &tuple, self.i.u8(), header, len, null(), payload)
                }
                91..=94 => anabranch_handle_packet(host, self.now, octets.as_ptr(), octets.len()),
                95..=97 => anabranch_handle_too_big(host, self.now, &tuple, self.i.u32(), self.i.u16().into()),
                98 => anabranch_handle_unreachable(host, self.now, &tuple, self.i.u32()),
                99 | 100 => anabranch_handle_soft_error(host, &tuple, self.i.u32()),
                101 => {
                    // Back, or far ahead.
                    let at = self.i.u64() >> (self.i.u8() & 63);
                    let code = anabranch_handle_timeout(host, at);
                    if code == ANABRANCH_OK {
                        self.now = self.now.max(at);
                    }
                    code
                }
                102 => {
                    // A size of the caller's that need not be right, up to what is there.
                    let mut s: anabranch_segment = std::mem::zeroed();
                    s.size = u32::from(self.i.u8()).min(size_of::<anabranch_segment>() as u32);
                    anabranch_poll_segment(host, self.now, &mut s)
                }
                103 => {
                    let mut s: anabranch_segment = std::mem::zeroed();
                    (s.header_len, s.dss_checksum, s.tuple) = (self.i.u8(), self.i.u8(), tuple);
                    (s.dss_checksum_at, s.payload_len) = (self.i.u32(), self.i.u32());
                    anabranch_fill_checksums(&mut s, null())
                }
                104 => {
                    let (mut room, mut len) = ([0; 8], 8);
                    anabranch_poll_packet(host, self.now, room.as_mut_ptr(), &mut len)
                }
                _ => {
                    let text = CString::new(octets.iter().map(|o| o | 1).collect::<Vec<_>>()).expect("no zero octet");
                    let mut config = null_mut();
                    let code = anabranch_config_new(text.as_ptr(), &mut config);
                    if code == ANABRANCH_OK {
                        anabranch_config_free(config);
                    }
                    code
                }
            }
        }
    }

    fn inspect(&mut self, side: usize, call: u8) -> i32 {
        let (host, id) = (self.hosts[side], self.connection());
        // SAFETY: every field of the structs may be zero; the pointers are those of locals and of a host.
        unsafe {
            match call {
                106..=112 => {
                    let mut info: anabranch_connection_info = std::mem::zeroed();
                    info.size = size_of::<anabranch_connection_info>() as u32;
                    anabranch_connection_state(host, id, &mut info)
                }
                113..=120 => {
                    let mut info: anabranch_subflow_info = std::mem::zeroed();
                    info.size = size_of::<anabranch_subflow_info>() as u32;
                    anabranch_subflow_state(host, self.now, id, u32::from(self.i.u8() & 7), &mut info)
                }
                _ => {
                    let (mut ids, mut count) = ([0; 4], self.i.below(5));
                    anabranch_connections(host, ids.as_mut_ptr(), &mut count)
                }
            }
        }
    }
}

fn last_error() -> String {
    // SAFETY: the text stays valid until the next error of this thread.
    unsafe { CStr::from_ptr(anabranch_last_error()) }.to_string_lossy().into_owned()
}
