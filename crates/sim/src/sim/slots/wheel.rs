//! Entries that are not due soon, by the interval of time in which they are.
//!
//! A calendar queue (R. Brown, CACM 31(10), 1988) without its years: what is due after all intervals is not taken. The intervals are places of
//! a ring, each the head of a chain of entries in one pool, in any order.

use super::Key;

/// No entry.
const END: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    key: Key,
    next: u32,
}

/// The intervals after the present one.
#[derive(Debug)]
pub struct Wheel {
    /// An interval is 2 to this power, in nanoseconds.
    shift: u32,
    /// The present one, counted from time 0; the ring has those after it.
    present: u64,
    /// Of each place of the ring, its chain. Their number is a power of two, at least 64.
    heads: Vec<u32>,
    /// Bit by bit, which have one.
    taken: Vec<u64>,
    pool: Vec<Waiting>,
    /// Entries of the pool, at most: sources that are moved often leave many behind.
    most: usize,
    /// The chain of places in the pool that are free.
    free: u32,
}

impl Wheel {
    /// For `count` sources of events, most of them due within `reach` nanoseconds: that long is the ring, and an interval so that few are
    /// in one.
    pub fn new(count: usize, reach: u64) -> Self {
        let places = count.next_power_of_two().clamp(64, 4096);
        let interval = (reach / places as u64 + 1).next_power_of_two();
        Self {
            shift: interval.trailing_zeros(),
            present: 0,
            heads: vec![END; places],
            taken: vec![0; places / 64],
            pool: Vec::new(),
            most: 4 * count + 64,
            free: END,
        }
    }

    /// When the ring begins: the end of the present interval, in nanoseconds.
    pub fn begins(&self) -> u64 {
        (self.present + 1) << self.shift
    }

    /// Takes an entry that is due after [`Wheel::begins`]; false if it is due after the end of the ring, or if there are far more entries than
    /// sources.
    #[inline]
    pub fn insert(&mut self, key: Key) -> bool {
        let interval = key.at() >> self.shift;
        let mask = self.heads.len() - 1;
        if interval - self.present > mask as u64 {
            return false;
        }
        let place = interval as usize & mask;
        let id = self.free;
        let waiting = Waiting { key, next: self.heads[place] };
        if let Some(free) = self.pool.get_mut(id as usize) {
            (self.free, *free) = (free.next, waiting);
        } else if self.pool.len() < self.most {
            self.pool.push(waiting);
        } else {
            return false;
        }
        self.heads[place] = if id == END { self.pool.len() as u32 - 1 } else { id };
        self.taken[place / 64] |= 1 << (place % 64);
        true
    }

    /// Moves on to the next interval that has entries, and gives them out. False if there is none.
    pub fn turn(&mut self, mut give: impl FnMut(Key)) -> bool {
        let Some(ahead) = self.next_taken() else { return false };
        self.present += ahead;
        let place = self.present as usize & (self.heads.len() - 1);
        self.taken[place / 64] &= !(1 << (place % 64));
        let mut id = std::mem::replace(&mut self.heads[place], END);
        while id != END {
            let Waiting { key, next } = self.pool[id as usize];
            give(key);
            self.pool[id as usize].next = std::mem::replace(&mut self.free, id);
            id = next;
        }
        true
    }

    /// There are no entries: the present interval is that of `at`.
    pub fn skip_to(&mut self, at: u64) {
        self.present = self.present.max(at >> self.shift);
    }

    /// How many intervals after the present one the next is that has entries.
    fn next_taken(&self) -> Option<u64> {
        let mask = self.heads.len() - 1;
        let from = (self.present as usize + 1) & mask;
        let (word, bit) = (from / 64, from % 64);
        // The first word is looked at twice: from `bit` on, and in the end up to there.
        let parts = (0..=self.taken.len()).map(|i| {
            let w = (word + i) % self.taken.len();
            let bits = if i == 0 { self.taken[w] >> bit << bit } else { self.taken[w] };
            (w, bits)
        });
        let (w, bits) = parts.into_iter().find(|&(_, bits)| bits != 0)?;
        let place = w * 64 + bits.trailing_zeros() as usize;
        Some((place.wrapping_sub(from) & mask) as u64 + 1)
    }
}
