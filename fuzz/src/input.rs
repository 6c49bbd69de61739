//! Octets as a source of choices, and choices as octets. What is beyond the end is zero.

/// Choices read from octets.
#[derive(Clone, Debug)]
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// There is nothing left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next octets as a number, most significant first.
    fn number(&mut self, octets: usize) -> u64 {
        self.take(octets).iter().fold(0, |n, &octet| n << 8 | u64::from(octet))
    }

    /// The next octet.
    pub fn u8(&mut self) -> u8 {
        self.number(1) as u8
    }

    /// The next two octets.
    pub fn u16(&mut self) -> u16 {
        self.number(2) as u16
    }

    /// The next four octets.
    pub fn u32(&mut self) -> u32 {
        self.number(4) as u32
    }

    /// The next eight octets.
    pub fn u64(&mut self) -> u64 {
        self.number(8)
    }

    /// A coin.
    pub fn flag(&mut self) -> bool {
        self.u8() & 1 != 0
    }

    /// A number below `n`, which is at most 256.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.u8()) % n
    }

    /// The next `n` octets, or what is left.
    pub fn take(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Something, or nothing.
    pub fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.flag() { Some(value(self)) } else { None }
    }
}

/// SplitMix64: the driver's own choices, the same for the same seed.
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`; zero if `n` is.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.draw() % n as u64) as usize }
    }

    /// `n` octets.
    pub fn octets(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.draw() as u8).collect()
    }
}
