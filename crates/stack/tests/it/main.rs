//! Tests of the engine from outside: what goes in, what comes out, at exact virtual times.
//!
//! - [`bench`]: one endpoint against a script in packetdrill's dialect
//! - [`pair`]: two endpoints and a filter between them
//! - the `rfc` modules, [`windows`], [`wrap`]: TCP, one rule a test
//! - [`conformance`]: what holds for everything registered, whatever the network does
//! - [`host`]: endpoints with addresses and octets, over a network that does what networks do
//! - [`mptcp_bench`]: one MPTCP endpoint against a hand-written peer

mod attack;
mod attack_blind;
mod attack_flood;
mod attack_peer;
mod attack_signals;
mod bench;
mod bursts;
#[allow(dead_code, reason = "more than each of its users needs")]
mod by_reference;
mod closing;
mod conformance;
mod coupled_ack;
mod deviations;
mod fast_open;
mod holds;
mod host;
mod interfaces;
mod judge;
mod judge_door;
mod judge_frto;
mod judge_reports;
mod judge_response;
mod judge_script;
mod manner;
mod mptcp_address;
mod mptcp_backup;
#[allow(dead_code)]
mod mptcp_bench;
mod mptcp_capable;
mod mptcp_checksum;
mod mptcp_close;
mod mptcp_dss;
mod mptcp_fallback;
mod mptcp_fastclose;
mod mptcp_idle;
mod mptcp_join;
mod mptcp_linux;
mod mptcp_middlebox;
mod mptcp_random;
mod mptcp_reinject;
mod mptcp_remove;
mod mptcp_window;
mod pair;
mod path_mtu;
mod patience;
mod reading;
mod rfc1122;
mod rfc2018;
mod rfc2861;
mod rfc3042;
mod rfc3168;
mod rfc3465;
mod rfc4653;
mod rfc5681;
mod rfc5961;
mod rfc6298;
mod rfc6582;
mod rfc6675;
mod rfc6928;
mod rfc7323;
mod rfc8257;
mod rfc8985;
mod rfc9293;
mod rfc9937;
mod strangers;
mod time_wait;
mod timers;
mod urgent;
mod windows;
mod wire;
mod wire_linux;
mod wrap;
