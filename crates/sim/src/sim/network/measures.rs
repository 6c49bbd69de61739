//! Questions about paths: their rate, their capacity, how much they carried, whether they are full.

use super::Network;

impl Network {
    /// Rate in bit/s of the slowest link of a path in the direction of the data.
    pub fn path_rate(&self, connection: usize, path: usize) -> u64 {
        let flow = &self.flows[connection];
        let path = &flow.paths[path];
        let d = path.route[usize::from(!flow.up)][usize::from(path.slowest)];
        self.radio.peak_rate(d).unwrap_or_else(|| self.links[d].rate())
    }

    /// Something waits on the slowest link of a path in the direction of the data.
    pub fn is_full(&self, connection: usize, path: usize) -> bool {
        let flow = &self.flows[connection];
        let path = &flow.paths[path];
        let d = path.route[usize::from(!flow.up)][usize::from(path.slowest)];
        if self.radio.limits(d) { self.radio.is_full(d) } else { self.links[d].has_waiting(self.event) }
    }

    /// Octets that a 4-tuple has put on the slowest link of its path in the direction of the data.
    pub fn wire(&self, connection: usize, tuple: usize) -> u64 {
        let flow = &self.flows[connection];
        let account = &flow.tuples[tuple];
        let path = &flow.paths[account.path];
        let d = path.route[usize::from(!flow.up)][usize::from(path.slowest)];
        let its = |id| {
            let packet = self.pool.get(id);
            packet.connection as usize == connection && packet.tuple as usize == tuple
        };
        account.wire - self.links[d].untransmitted(self.event, its)
    }

    /// A receiving application has read `octets`.
    #[inline]
    pub fn note_read(&mut self, octets: u64) {
        self.read += octets;
        self.moved = self.now;
    }

    /// `connection` begins now.
    pub fn mark_start(&mut self, connection: usize) {
        self.moved = self.now;
        let paths = self.flows[connection].paths.len();
        self.flows[connection].idle_capacity = (0..paths).map(|p| self.capacity_bits(connection, p, true)).collect();
    }

    /// What the slowest link of a path could have carried in the direction of the data since the start, in bits.
    pub fn capacity_since_start(&self, connection: usize, path: usize) -> f64 {
        self.capacity_bits(connection, path, false) - self.flows[connection].idle_capacity[path]
    }

    /// What the slowest link of a path could have carried until now, or `before` now, in bits.
    fn capacity_bits(&self, connection: usize, path: usize, before: bool) -> f64 {
        let flow = &self.flows[connection];
        let path = &flow.paths[path];
        let d = path.route[usize::from(!flow.up)][usize::from(path.slowest)];
        let link = &self.links[d];
        match before {
            _ if self.radio.limits(d) => self.radio.capacity_bits(d, self.now),
            true => link.capacity_bits_before(self.now),
            false => link.capacity_bits(self.now),
        }
    }
}
