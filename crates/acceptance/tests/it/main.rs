//! The laboratory from outside: scenarios in, summaries and traces out, each figure against
//! something that does not come from the program: a closed formula, a count made anew from the
//! trace, a published model.
//!
//! - [`support`], [`trace`]: running a scenario written in a test, and reading its trace
//! - [`statistics`], [`model`]: bounds for what is drawn by chance; a reference model of a link
//! - [`link`], [`delay`], [`chance`]: one direction of a link by itself
//! - [`ahead`]: links that take one event a packet against those that take two
//! - [`weather`]: links that vary by themselves
//! - [`latency`], [`changes`], [`load`]: links in a run, seen through the trace
//! - [`applications`], [`topology`]: who sends what, and by which way
//! - [`accounting`]: the summary, recomputed from the trace; [`figures`]: fields of one summary
//!   agree
//! - [`endpoint`]: golden scenarios through the code that a live host runs
//! - [`ending`]: how a run ends, and the `status` that its summary states; [`limits`]: the machine
//!   resources that a run may use; [`polls`]: a run asks its caller in time whether to continue
//! - [`determinism`]: what changes a trace and what must not
//! - [`targets`]: what the whole must reach; [`failover`]: a path that goes down and comes back
//! - [`loss_cycles`]: a timeout with more outstanding than the path holds
//! - [`gaps`]: how long nothing is read, and how long a rate takes to be back
//! - [`controllers`]: each against the four goals; [`receivers`]: what the receiver's rule decides;
//!   [`judges`]: what recovery costs where there is nothing to recover, and the truth of loss
//!   episodes
//! - [`paths`]: which paths a connection joins, and what becomes of them
//! - [`columns`]: the tables of docs/columns.md are those of the table of measures
//! - [`messages`], [`pages`], [`films`]: what applications count in
//! - [`queues`]: queue disciplines and links paced by a trace
//! - [`strangers`]: algorithms of another crate, found by name
//! - [`resolved`]: what stored scenarios resolve to; [`variants`]: algorithms as Linux has them, by
//!   name
//! - [`schedulers`]: every scheduler over one path and beside a backup; what some are for
//! - [`wifi`]: wireless links; [`wifi_range`]: their range; [`wifi_frames`], [`wifi_reference`]:
//!   against ns-3
//! - [`capture_own`], [`capture_linux`], [`capture_formats`]: captures in: of our own runs, of
//!   Linux, in every form and damaged; [`capture_accounts`]: reports of captures of all kinds of
//!   runs, by their hashes; [`capture_many`]: many connections, of several protocols, and clocks
//!   that are set; [`capture_faults`], [`capture_numbers`], [`capture_lacking`]: what real captures
//!   have beside that, each case by hand; [`capture_encapsulated`], [`capture_fragments`]: in
//!   tunnels and in IP fragments, with the headers of [`capture_forms`]; [`capture_version0`]:
//!   MPTCP version 0
//! - [`middlebox`]: what becomes of a connection that meets one, all of them; [`middlebox_rules`]:
//!   one by one
//! - [`phase`]: a finding about drop-tail queues without chance
//! - [`legacy`], [`legacy_runs`]: the 2011 model, rule by rule and in runs; [`legacy_reference`]:
//!   against runs of the original
//! - [`torture`]: random scenarios held to invariants
//! - [`examples`]: what the comments in `examples/` promise

use anabranch_acceptance::{support, trace};

mod accounting;
mod ahead;
mod applications;
mod bbr;
mod bytes;
mod capture_accounts;
mod capture_encapsulated;
mod capture_faults;
mod capture_formats;
mod capture_forms;
mod capture_fragments;
mod capture_lacking;
mod capture_linux;
mod capture_many;
mod capture_numbers;
mod capture_own;
mod capture_version0;
mod chance;
mod changes;
mod columns;
mod controllers;
mod controllers_alone;
mod dctcp;
mod delay;
mod determinism;
mod ending;
mod endpoint;
mod examples;
mod failover;
mod fast_open;
mod figures;
mod films;
mod gaps;
mod golden;
mod judges;
mod latency;
mod legacy;
mod legacy_reference;
mod legacy_runs;
mod limits;
mod link;
mod load;
mod loss_cycles;
mod messages;
mod middlebox;
mod middlebox_acks;
mod middlebox_rules;
mod model;
mod new_keys;
mod pages;
mod path_mtu;
mod paths;
mod pcap;
mod pep;
mod phase;
mod polls;
mod queues;
mod receivers;
mod resolved;
mod schedulers;
mod scripts;
mod shortcuts;
mod statistics;
mod strangers;
mod targets;
mod topology;
mod torture;
mod torture_found;
mod variants;
mod weather;
mod weather_presets;
mod wifi;
mod wifi_frames;
mod wifi_ht;
mod wifi_ht_reference;
mod wifi_range;
mod wifi_reference;
mod wifi_scenario;
