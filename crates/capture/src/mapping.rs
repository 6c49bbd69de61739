//! Where a segment's octets belong in the data stream (RFC 8684 3.3.1), and whether DSS checksums hold.
//!
//! A mapping may cover one segment, or many that all carry it (offloading hosts repeat it on each), or many of which only
//! one carries it. Mappings count subflow sequence numbers from the initial one, which a capture that begins later has not
//! seen. It is inferred in two cases. A mapping as long as its segment begins with that segment. And a mapping that continues
//! the one before in the data stream begins with the first segment that carries it, if that segment follows on the one before.

use std::collections::VecDeque;

use anabranch_stack::mptcp::dss::Mappings;
use anabranch_stack::segment::Mapping;
use anabranch_stack::seq::Seq;
use anabranch_stack::wire::checksum::{Sum, dss_pseudo_header};

/// At most so many mappings wait for the rest of their octets to be summed.
const OPEN: usize = 64;

/// A mapping whose first subflow sequence number is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placed {
    start: Seq,
    data: u64,
    octets: u64,
}

/// The mappings of one direction of a subflow.
#[derive(Clone, Debug, Default)]
pub struct Mapper {
    /// The initial sequence number.
    pub iss: Option<Seq>,
    /// Octets of data in the SYN, which mappings do not count (RFC 8684 appendix B).
    pub in_syn: u64,
    kept: Mappings,
    latest: Option<Placed>,
    /// The latest mapping as it was sent, and where the latest segment ended, while `iss` is not known.
    raw: Option<(Mapping, Seq)>,
    /// An infinite mapping (RFC 8684 3.7): from this sequence number on the subflow is the data stream, from this data offset on.
    infinite: Option<(Seq, u64)>,
}

impl Mapper {
    /// Data offset of the `len` octets at `seq` that carry `mapping` (or none). `offset` gives the data offset of a mapping's
    /// sequence number.
    #[inline]
    pub fn resolve(
        &mut self,
        seq: Seq,
        len: u32,
        mapping: Option<&Mapping>,
        data_fin: bool,
        offset: impl FnOnce(&Mapping) -> Option<u64>,
    ) -> Option<u64> {
        let end = seq + u64::from(len);
        if let Some(m) = mapping {
            let octets = u64::from(m.len).saturating_sub(u64::from(data_fin));
            if octets > 0 || m.len == 0 {
                if let (Some(start), Some(data)) = (self.start(seq, len, m, octets), offset(m)) {
                    let placed = Placed { start, data, octets };
                    if m.len == 0 {
                        self.infinite = Some((start, data));
                    } else if start <= seq && end <= start + octets {
                        if octets > u64::from(len) && self.latest != Some(placed) {
                            self.keep(placed);
                        }
                        return Some(data.wrapping_add(seq - start));
                    } else {
                        self.keep(placed);
                    }
                }
            }
        }
        if self.iss.is_none() {
            self.raw = mapping.copied().or(self.raw.map(|(m, _)| m)).map(|m| (m, end));
        }
        if let Some((start, data)) = self.infinite.filter(|(start, _)| *start <= seq) {
            return data.checked_add(seq - start);
        }
        let (data, covered) = self.kept.find(seq)?;
        (covered >= u64::from(len)).then_some(data)
    }

    fn keep(&mut self, placed: Placed) {
        self.kept.add(placed.start, placed.data, placed.octets);
        self.latest = Some(placed);
    }

    /// Where a mapping of `octets` begins that came with the segment at `seq`.
    fn start(&mut self, seq: Seq, len: u32, m: &Mapping, octets: u64) -> Option<Seq> {
        if self.iss.is_none() {
            let continues = self
                .raw
                .is_some_and(|(before, end)| end == seq && before.ssn.wrapping_add(u32::from(before.len)) == m.ssn);
            if octets == u64::from(len) || continues {
                self.iss = Some(Seq(seq.0.checked_sub(m.ssn.into())?));
            }
        }
        Some(Seq::unwrap(self.base()?.wire().wrapping_add(m.ssn), seq))
    }

    /// Sequence number from which mappings count.
    #[inline]
    pub fn base(&self) -> Option<Seq> {
        Some(self.iss? + self.in_syn)
    }

    /// Drops mappings of octets below `seq`, which are not resolved again.
    pub fn forget_below(&mut self, seq: Seq) {
        self.kept.forget_below(seq);
    }
}

/// A mapping whose octets are being summed up.
#[derive(Clone, Copy, Debug)]
struct Open {
    start: Seq,
    octets: u64,
    seen: u64,
    sum: Sum,
}

/// A mapping with a checksum.
#[derive(Clone, Copy, Debug)]
pub struct Summed {
    start: Seq,
    octets: u64,
    header: Sum,
}

impl Summed {
    /// The mapping `m` that begins at `start`, with the 64-bit data sequence number `dsn`; `None` if it has no checksum or no
    /// octets.
    pub fn new(start: Seq, dsn: u64, m: &Mapping, data_fin: bool) -> Option<Summed> {
        let checksum = m.checksum?;
        let octets = u64::from(m.len).checked_sub(u64::from(data_fin)).filter(|octets| *octets > 0)?;
        Some(Summed { start, octets, header: dss_pseudo_header(dsn, m.ssn, m.len).plus(Sum(checksum)) })
    }
}

/// DSS checksums of one direction of a subflow (RFC 8684 3.3.1), from the octets of the capture.
#[derive(Clone, Debug, Default)]
pub struct Checksums {
    open: VecDeque<Open>,
    /// Mappings whose octets were all captured and match the checksum.
    pub verified: u64,
    /// Mappings whose octets were all captured and do not match the checksum.
    pub failed: u64,
    /// Mappings with a checksum whose octets were not all captured.
    pub incomplete: u64,
}

impl Checksums {
    /// A segment not seen before has the octets `payload` of `len` at `seq`.
    pub fn add(&mut self, seq: Seq, len: u32, payload: &[u8], Summed { start, octets, header }: Summed) {
        let whole = payload.len() == len as usize;
        if start > seq || seq + u64::from(len) > start + octets {
            return;
        }
        if octets == u64::from(len) {
            match whole {
                true => self.count(header.plus(Sum::of(payload))),
                false => self.incomplete += 1,
            }
            return;
        }
        let i = match self.open.iter().rposition(|o| o.start == start) {
            Some(i) => i,
            None => {
                if self.open.len() == OPEN {
                    self.open.pop_front();
                    self.incomplete += 1;
                }
                self.open.push_back(Open { start, octets, seen: 0, sum: header });
                self.open.len() - 1
            }
        };
        let open = &mut self.open[i];
        if whole {
            open.seen += u64::from(len);
            open.sum = open.sum.plus(Sum::of(payload).at(seq - start));
        }
        if open.seen == open.octets {
            let sum = open.sum;
            self.open.remove(i);
            self.count(sum);
        }
    }

    fn count(&mut self, sum: Sum) {
        match sum.is_valid() {
            true => self.verified += 1,
            false => self.failed += 1,
        }
    }

    /// Final counts: verified, failed, incomplete.
    pub fn totals(&self) -> [u64; 3] {
        [self.verified, self.failed, self.incomplete + self.open.len() as u64]
    }
}
