//! Any octets as a list of TCP options. The list ends; what has a meaning is emitted to octets with that meaning and of the length
//! it says.

use anabranch_stack::wire::mptcp::MptcpOption;
use anabranch_stack::wire::option::{Iter, TcpOption};

use super::kind;
use crate::Target;
use crate::input::{Input, Rng};

/// The target.
pub const TARGET: Target = Target {
    name: "options",
    holds: "a list of options ends; each option with a meaning is emitted to octets of its length that mean it again",
    run,
    seeds,
};

fn seeds() -> Vec<Vec<u8>> {
    let mut rng = Rng(2);
    let mut seeds = Vec::new();
    for _ in 0..64 {
        let choices = rng.octets(120);
        let (segment, _) = super::segment::build(&mut Input(&choices));
        let mut octets = Vec::new();
        anabranch_stack::wire::segment::emit_options(&segment.options, Default::default(), &mut octets);
        seeds.push(octets);
    }
    seeds
}

fn run(octets: &[u8]) -> u64 {
    let mut seen = Vec::new();
    let mut before = 0;
    for option in Iter::new(octets) {
        before += 1;
        assert!(before <= octets.len(), "more options than octets");
        let Ok(option) = option else {
            seen.push((0, 0, 0));
            continue;
        };
        let mut again = Vec::new();
        option.emit(&mut again);
        assert_eq!(again.len(), option.wire_len());
        assert_eq!(TcpOption::parse(again[0], &again[2..]), Ok(option));
        let subtype = if let TcpOption::Mptcp(_) = option { again[2] >> 4 } else { 0 };
        seen.push((again[0], subtype, again[1] % 64));
    }
    let _ = MptcpOption::parse(octets);
    seen.truncate(3);
    kind(seen)
}
