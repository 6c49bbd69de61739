//! Reordering of a connection's data as its receiver saw it.
//!
//! - RBD, reorder buffer-occupancy density (RFC 5236 6): how many packets the buffer held after each non-duplicate arrival.
//! - Reorder extent (RFC 4737 4.2.1): for a packet that arrives after one with a larger number, how many arrivals back the
//!   first such packet was.
//! - Reorder density (RFC 5236 5): displacement of each packet, its arrival position minus its position in the stream.
//! - Head-of-line delay: how long each packet waited for what came before it in the stream.
//!
//! Positions count distinct data segments. Every segment arrives in the end, so each has a position.

use std::collections::VecDeque;

use super::counts::Counts;

/// Entries of a density. The last one (of displacements also the first one) counts everything beyond.
pub const ENTRIES: usize = 512;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    data: u64,
    /// Arrival position.
    position: u64,
    at: u64,
}

/// The account of one direction of a connection.
#[derive(Clone, Debug)]
pub struct Reorder {
    occupancy: Counts,
    displacement: Counts,
    extent_max: u64,
    delays: Delays,
    arrived: u64,
    delivered: u64,
    /// Packets that came in order and found none waiting; they are in no other count.
    in_order: u64,
    waiting: VecDeque<Waiting>,
    /// Arrivals that had the largest data offset at their time: offset and arrival position.
    records: VecDeque<(u64, u64)>,
}

impl Default for Reorder {
    fn default() -> Self {
        Self {
            occupancy: Counts::new(ENTRIES),
            displacement: Counts::new(2 * ENTRIES),
            extent_max: 0,
            delays: Delays::default(),
            arrived: 0,
            delivered: 0,
            in_order: 0,
            waiting: VecDeque::new(),
            records: VecDeque::new(),
        }
    }
}

impl Reorder {
    /// A packet with new data from `data` on arrived at `now`; after it the stream is in order up to `nxt` and the buffer
    /// holds `held` packets.
    #[inline(always)]
    pub fn arrive(&mut self, now: u64, data: u64, nxt: u64, held: u64) {
        if held == 0 && data < nxt && self.waiting.is_empty() {
            // In order, and nothing waited for it: the usual case.
            self.in_order += 1;
            self.records.clear();
            return;
        }
        self.arrive_late(now, data, nxt, held);
    }

    /// As above, where something waits, or will.
    fn arrive_late(&mut self, now: u64, data: u64, nxt: u64, held: u64) {
        let position = self.arrived;
        self.arrived += 1;
        self.occupancy.add((held as usize).min(ENTRIES - 1));
        if self.waiting.is_empty() && data < nxt {
            self.deliver(now, Waiting { data, position, at: now });
            self.records.clear();
            return;
        }
        match self.records.back() {
            // The first record tells the largest extent that there may be.
            Some(&(last, _)) if last > data && position - self.records[0].1 <= self.extent_max => {}
            Some(&(last, _)) if last > data => {
                let i = self.records.partition_point(|r| r.0 <= data);
                self.extent_max = self.extent_max.max(position - self.records[i].1);
            }
            _ => self.records.push_back((data, position)),
        }
        let w = Waiting { data, position, at: now };
        let first = data < nxt && self.waiting.front().is_none_or(|first| first.data > data);
        match self.waiting.back() {
            _ if first => self.deliver(now, w),
            Some(last) if last.data > data => {
                let i = self.waiting.partition_point(|w| w.data < data);
                self.waiting.insert(i, w);
            }
            _ => self.waiting.push_back(w),
        }
        while let Some(first) = self.waiting.front().copied().filter(|w| w.data < nxt) {
            self.waiting.pop_front();
            self.deliver(now, first);
        }
        // Records below the next expected offset matter no more, except the last of them.
        while self.records.len() > 1 && self.records[1].0 < nxt {
            self.records.pop_front();
        }
    }

    #[inline]
    fn deliver(&mut self, now: u64, w: Waiting) {
        let late = w.position as i64 - self.delivered as i64;
        let edge = ENTRIES as i64 - 1;
        self.displacement.add((late.clamp(-edge, edge) + edge) as usize);
        self.delays.add(now.saturating_sub(w.at));
        self.delivered += 1;
    }

    /// RBD: share of arrivals after which the buffer held 0, 1, ... packets; without trailing zeros.
    pub fn occupancy_density(&self) -> Vec<f64> {
        density(&self.occupancy, 0, self.in_order)
    }

    /// Reorder density as pairs of displacement in packets and share, where the share is not zero.
    pub fn displacement_density(&self) -> Vec<(i64, f64)> {
        let edge = ENTRIES as i64 - 1;
        let shares = density(&self.displacement, edge as usize, self.in_order);
        shares.into_iter().enumerate().filter(|(_, s)| *s > 0.0).map(|(i, s)| (i as i64 - edge, s)).collect()
    }

    /// Largest reorder extent in packets.
    pub fn extent_max(&self) -> u64 {
        self.extent_max
    }

    /// Head-of-line delay in seconds below which the share `p` of the packets waited.
    pub fn delay_quantile(&self, p: f64) -> Option<f64> {
        self.delays.quantile_with(p, self.in_order)
    }
}

/// Shares of the numbers counted, `n` another `more` times.
fn density(counts: &Counts, n: usize, more: u64) -> Vec<f64> {
    let sum = counts.sum() + more;
    let all = counts.iter().enumerate().map(|(i, c)| if i == n { c + more } else { c });
    let shares = all.clone().map(|c| c as f64 / sum as f64);
    shares.take(all.enumerate().filter(|c| c.1 > 0).last().map_or(0, |c| c.0 + 1)).collect()
}

/// A histogram of times in buckets a thirty-second of an octave wide (2 %); zero has a bucket of its own.
#[derive(Clone, Debug)]
pub struct Delays {
    zero: u64,
    buckets: Counts,
}

/// Nanoseconds of the first bucket, and sub-buckets an octave.
const SHORTEST: u64 = 1 << 10;
const PER_OCTAVE: u64 = 32;
/// Up to 2^44 ns, five hours.
const BUCKETS: usize = 35 * PER_OCTAVE as usize;

impl Default for Delays {
    fn default() -> Self {
        Self { zero: 0, buckets: Counts::new(BUCKETS) }
    }
}

impl Delays {
    /// Counts `ns` nanoseconds.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        if ns < SHORTEST {
            self.zero += 1;
            return;
        }
        // The octave, then linear within it.
        let octave = u64::from(63 - ns.leading_zeros());
        let within = (ns - (1 << octave)) >> (octave - u64::from(PER_OCTAVE.ilog2()));
        let i = (octave - 10) * PER_OCTAVE + within;
        self.buckets.add((i as usize).min(BUCKETS - 1));
    }

    /// The time in seconds below which the share `p` of them is.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        self.quantile_with(p, 0)
    }

    /// The same with `zero` more times of nothing.
    fn quantile_with(&self, p: f64, zero: u64) -> Option<f64> {
        let zero = self.zero + zero;
        let total = zero + self.buckets.sum();
        if total == 0 {
            return None;
        }
        let wanted = (p * total as f64).ceil() as u64;
        let mut seen = zero;
        if seen >= wanted {
            return Some(0.0);
        }
        for (i, n) in self.buckets.iter().enumerate() {
            seen += n;
            if seen >= wanted {
                let (octave, within) = (i as u64 / PER_OCTAVE + 10, i as u64 % PER_OCTAVE);
                let low = (1_u64 << octave) as f64 * (1.0 + within as f64 / PER_OCTAVE as f64);
                // The middle of the bucket.
                return Some(low * (1.0 + 0.5 / PER_OCTAVE as f64) / 1e9);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of one octet, in order of arrival; a receiver that holds what is ahead.
    fn arrivals(order: &[u64]) -> Reorder {
        let mut r = Reorder::default();
        let mut held: Vec<u64> = Vec::new();
        let mut nxt = 0;
        for (t, &data) in order.iter().enumerate() {
            held.push(data);
            while let Some(i) = held.iter().position(|d| *d == nxt) {
                held.remove(i);
                nxt += 1;
            }
            r.arrive(t as u64 * 1_000_000, data, nxt, held.len() as u64);
        }
        r
    }

    /// Order 0 1 3 4 2 5: packets 3 and 4 come one position early, packet 2 comes two late; its extent is 2, since
    /// packet 3 came two arrivals before it; the buffer held 0 0 1 2 0 0.
    #[test]
    fn a_late_packet_by_hand() {
        let r = arrivals(&[0, 1, 3, 4, 2, 5]);
        assert_eq!(r.occupancy_density(), vec![4.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]);
        assert_eq!(r.extent_max(), 2);
        assert_eq!(r.displacement_density(), vec![(-1, 2.0 / 6.0), (0, 0.5), (2, 1.0 / 6.0)]);
        // Packet 3 waited 2 ms, packet 4 1 ms, the others not at all.
        assert_eq!(r.delay_quantile(0.5), Some(0.0));
        assert!((r.delay_quantile(0.99).unwrap() - 0.002).abs() < 0.000_04);
    }

    #[test]
    fn in_order_is_all_zero() {
        let r = arrivals(&[0, 1, 2, 3]);
        assert_eq!((r.occupancy_density(), r.extent_max()), (vec![1.0], 0));
        assert_eq!(r.displacement_density(), vec![(0, 1.0)]);
    }
}
