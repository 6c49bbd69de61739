//! Any octets as an IP packet, as a capture may hold them. No question to a view panics; what is parsed as a segment is emitted
//! to octets that are parsed to the same; checksums of what is emitted are right.

use anabranch_stack::segment::OPTION_SPACE;
use anabranch_stack::wire::checksum::Sum;
use anabranch_stack::wire::segment::{emit, parse};
use anabranch_stack::wire::{ip, tcp};

use super::{kind, segment};
use crate::Target;
use crate::input::{Input, Rng};

/// The target.
pub const TARGET: Target = Target {
    name: "packet",
    holds: "views answer every question; a parsed segment is emitted to octets that parse to it again, checksums right",
    run,
    seeds,
};

fn seeds() -> Vec<Vec<u8>> {
    let mut rng = Rng(1);
    (0..64)
        .map(|_| {
            let choices = rng.octets(200);
            let (segment, envelope) = segment::build(&mut Input(&choices));
            let mut octets = Vec::new();
            emit(&segment, &envelope, None, |_| {}, &mut octets).expect("built to fit");
            octets
        })
        .collect()
}

fn run(octets: &[u8]) -> u64 {
    // The last octet says how much was cut off.
    let sent = octets.len() + usize::from(octets.last().copied().unwrap_or(0));
    let ip = match ip::View::cut(octets, sent) {
        Ok(ip) => ip,
        Err(error) => return kind(error.to_string().len()),
    };
    assert!(ip.payload().len() <= ip.payload_len());
    let _ = (ip::Header::parse(&ip), ip.checksum_ok(), ip.id());
    let mut seen = vec![ip.header_len() as u64, u64::from(ip.is_fragment())];
    let Ok(view) = tcp::View::new(ip.payload()) else { return kind(seen) };
    let _ = (tcp::Header::parse(&view), view.urgent(), view.checksum());
    let _ = view.checksum_ok(ip.src(), ip.dst(), ip.payload_len());
    let mut options = 0u64;
    for (number, option) in view.options().enumerate() {
        assert!(number < 40, "more options than octets");
        options |= option.map_or(1 << 63, |option| 1 << (option.wire_len() % 63));
    }
    seen.push(options);
    if let Ok((segment, envelope, payload)) = parse(octets) {
        seen.push(2000);
        if segment.options.wire_len() <= OPTION_SPACE {
            let mut again = Vec::new();
            let fill = |out: &mut [u8]| out.copy_from_slice(payload);
            // Checksums are the real ones already: nothing is to be added.
            emit(&segment, &envelope, Some(Sum(0)), fill, &mut again).expect("it fits");
            assert_eq!(parse(&again), Ok((segment, envelope, payload)));
            let ip = ip::View::new(&again).expect("emitted");
            let tcp = tcp::View::new(ip.payload()).expect("emitted");
            assert!(ip.checksum_ok() && tcp.checksum_ok(ip.src(), ip.dst(), ip.payload_len()) == Some(true));
        }
    }
    kind(seen)
}
