//! Golden scenarios through [`Endpoint`], the code that a live host runs: every packet is the one
//! that the simulator's own hosts send, at the same time.
//!
//! [`session`]: both ends of a connection as two endpoints in the simulator's network. [`record`]: what
//! the trace shows of each packet, with sequence numbers and keys counted from the first one, because
//! an endpoint draws the secrets of its connections itself. Congestion windows are not compared: an
//! endpoint does not report them.

mod record;
mod session;

use std::ops::ControlFlow;

use anabranch_sim::legacy;
use anabranch_sim::scenario::{Application, Extent, Scenario};
use anabranch_sim::sim::session::Session;
use anabranch_sim::sim::world::World;

use self::record::Recorder;
use self::session::EndpointSession;
use crate::golden::goldens;
use crate::support::scenario;

/// The records of a run, one a line, and the virtual time at its end. `endpoints`: both ends of every
/// connection are endpoints.
fn records(scenario: &Scenario, endpoints: bool) -> (Vec<String>, u64) {
    let make = |scenario: &Scenario, index: usize, started: u64, slots: [usize; 3]| {
        if endpoints {
            return Some(Box::new(EndpointSession::new(scenario, index, started, slots)) as Box<dyn Session>);
        }
        legacy::session::session(scenario, index, started, slots)
    };
    let mut world = World::new(scenario, None, &make, &|| ControlFlow::Continue(())).expect("nobody stops it");
    let (recorder, lines) = Recorder::new();
    world.watch(Box::new(recorder));
    let outcome = world.run(&mut |_| ControlFlow::Continue(()));
    (lines.take(), outcome.now)
}

/// Returns the number of records; if one differs, the first, with the records before it.
fn compare(scenario: &Scenario) -> Result<usize, String> {
    let (simulated, live) = (records(scenario, false), records(scenario, true));
    let differs = simulated.0.iter().zip(&live.0).position(|(a, b)| a != b);
    if let Some(i) = differs {
        let before = simulated.0[i.saturating_sub(4)..i].join("\n");
        return Err(format!("record {i}:\n{before}\nsimulator: {}\nendpoint:  {}", simulated.0[i], live.0[i]));
    }
    let ends = [&simulated, &live].map(|(records, end)| (records.len(), *end));
    if ends[0] == ends[1] { Ok(simulated.0.len()) } else { Err(format!("numbers of records, and the end: {ends:?}")) }
}

/// True if [`EndpointSession`] has the application of `scenario`'s connections.
fn is_bulk(scenario: &Scenario) -> bool {
    scenario.connections.iter().all(|c| {
        let bulk = matches!(c.transfer.application, Application::Bulk(Extent::Bytes(_)));
        c.legacy.is_none() && bulk && !c.transfer.both && !c.config.fast_open
    })
}

#[test]
fn golden_scenarios_send_the_same_packets_through_endpoints() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for golden in goldens() {
        let scenario = scenario(&golden.text);
        if !is_bulk(&scenario) {
            continue;
        }
        match compare(&scenario) {
            Ok(records) => println!("{:32} {records} records", golden.name),
            Err(first) => wrong.push(format!("{}, {first}", golden.name)),
        }
        compared += 1;
    }
    assert!(wrong.is_empty(), "{} of {compared} differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared >= 30, "{compared}");
}

/// What the goldens lack, in small.
#[test]
fn further_kinds_of_scenarios_send_the_same_packets_through_endpoints() {
    let path = |loss: &str| {
        format!(
            "path = [{{ rate = '10 Mbit/s', delay = '10 ms'{loss} }}, {{ rate = '5 Mbit/s', delay = '40 ms'{loss} }}]\n"
        )
    };
    let mut wrong = Vec::new();
    let mut run = |text: String| match compare(&scenario(&text)) {
        Ok(records) => println!("{records:6} records of {}", text.replace('\n', "; ")),
        Err(first) => wrong.push(format!("{text}{first}")),
    };
    for text in [
        "transfer = { bytes = '1 kB' }\nconnection.protocol = 'tcp'\n",
        "transfer = { bytes = '30 kB' }\n",
        "transfer = { bytes = '30 kB', direction = 'down' }\n",
        "transfer = { bytes = '2 MB' }\n",
        "transfer = { bytes = '2 MB', direction = 'down' }\n",
        "transfer = { bytes = '1 MB', read_rate = '2 Mbit/s' }\nconnection.receive_buffer = '100 kB'\n",
        "transfer = { bytes = '1 MB' }\nconnection.checksum = true\n",
        "transfer = { bytes = '1 MB' }\nconnection.acknowledgement = 'coupled'\n",
        "transfer = { bytes = '2 MB' }\nconnection.profile = 'linux-6.1'\n",
        "transfer = { bytes = '2 MB', direction = 'down' }\nconnection.profile = 'linux-6.1'\n",
        "transfer = { bytes = '1 MB' }\nconnection.path_manager = 'none'\n",
        "transfer = { bytes = '1 MB' }\nconnection.path_manager = 'full-mesh'\n",
        "transfer = { bytes = '1 MB' }\nconnection.path_changes = [{ at = '0.3 s', path = 1, action = 'remove' }, { at = '0.6 s', path = 1, action = 'add' }]\n",
        "transfer = { bytes = '1 MB' }\nconnection.path_changes = [{ at = '0.3 s', path = 1, action = 'remove', by = 'server' }, { at = '0.6 s', path = 1, action = 'add', by = 'server' }]\n",
        "transfer = { bytes = '1 MB' }\nconnection.path_changes = [{ at = '0.3 s', path = 1, action = 'backup' }, { at = '0.6 s', path = 1, action = 'regular', by = 'server' }]\n",
        "transfer = { bytes = '1 MB' }\nconnection.path_changes = [{ at = '0.3 s', path = 0, action = 'remove' }]\n",
    ] {
        run(format!("{text}{}", path("")));
    }
    for seed in 1..=5 {
        for text in [
            "transfer = { bytes = '500 kB' }\nconnection.protocol = 'tcp'\n",
            "transfer = { bytes = '1 MB' }\n",
            "transfer = { bytes = '1 MB' }\nconnection.profile = 'linux-6.1'\n",
        ] {
            run(format!("seed = {seed}\n{text}{}", path(", loss = '2 %'")));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
