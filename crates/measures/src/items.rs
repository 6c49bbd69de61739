//! What an application counts in: messages that it sends, objects and pieces of a film that it asks for. Each is a part of the
//! data stream, asked for at one time and there, whole, at another.

/// Not there yet.
const NEVER: u64 = u64::MAX;

/// What the parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Written by the sender when its time came.
    Message,
    /// Of a page, asked for by the receiver.
    Object,
    /// Of a film, asked for by the receiver.
    Segment,
}

impl Kind {
    /// Its name in frames.
    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Object => "object",
            Self::Segment => "segment",
        }
    }
}

/// One part of the stream.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// Its number in what it is a part of.
    pub number: u32,
    /// Octets.
    pub bytes: u64,
    /// Where it ends in the stream.
    pub end: u64,
    /// When it was written, or asked for, in nanoseconds.
    pub asked: u64,
    /// When its last octet was read; [`NEVER`] if it was not.
    done: u64,
}

impl Item {
    /// When its last octet was read, if it was.
    pub fn done(&self) -> Option<u64> {
        (self.done != NEVER).then_some(self.done)
    }

    /// From the one to the other, in nanoseconds.
    pub fn latency(&self) -> Option<u64> {
        self.done().map(|done| done - self.asked)
    }
}

/// A page that was to be loaded.
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    /// When the last of its objects was there, in nanoseconds; `None` if not all came.
    pub at: Option<u64>,
}

/// The parts of one stream, in its order.
#[derive(Clone, Debug)]
pub struct Items {
    /// What they are.
    pub kind: Kind,
    /// For how long after it was asked a part is of use, in nanoseconds.
    pub deadline: Option<u64>,
    items: Vec<Item>,
    /// How many are there.
    arrived: usize,
}

impl Items {
    /// None so far.
    pub fn new(kind: Kind, deadline: Option<u64>) -> Self {
        Self { kind, deadline, items: Vec::new(), arrived: 0 }
    }

    /// Another one, asked for at `now`.
    pub fn ask(&mut self, now: u64, number: u32, bytes: u64) {
        let end = self.asked() + bytes;
        self.items.push(Item { number, bytes, end, asked: now, done: NEVER });
    }

    /// Octets of all that were asked for.
    pub fn asked(&self) -> u64 {
        self.end_of(self.items.len())
    }

    /// How many are asked for and not there.
    pub fn open(&self) -> usize {
        self.items.len() - self.arrived
    }

    /// Octets of the first `n`.
    pub fn end_of(&self, n: usize) -> u64 {
        n.checked_sub(1).map_or(0, |last| self.items[last].end)
    }

    /// At `now` the stream is read up to `read`: which items are there now.
    pub fn arrive(&mut self, now: u64, read: u64) -> &[Item] {
        let before = self.arrived;
        while let Some(item) = self.items.get_mut(self.arrived).filter(|i| i.end <= read) {
            item.done = now;
            self.arrived += 1;
        }
        &self.items[before..self.arrived]
    }

    /// All, in order.
    pub fn all(&self) -> &[Item] {
        &self.items
    }

    /// Of those whose deadline has passed by `end`: how many there are, and how many were not there in time.
    pub fn missed(&self, end: u64) -> Option<(u64, u64)> {
        let deadline = self.deadline?;
        let due = |i: &&Item| i.done != NEVER || i.asked.saturating_add(deadline) < end;
        let late = |i: &&Item| i.latency().is_none_or(|l| l > deadline);
        let all = self.items.iter().filter(due);
        Some((all.clone().count() as u64, all.filter(late).count() as u64))
    }
}

/// The value below which the share `p` of `sorted` is, with linear interpolation between two of them (Hyndman and Fan 1996,
/// type 7; the default of numpy and R).
pub fn quantile(sorted: &[u64], p: f64) -> Option<f64> {
    let place = p * (sorted.len().checked_sub(1)?) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let low = sorted[below] as f64;
    let high = sorted[(below + 1).min(sorted.len() - 1)] as f64;
    Some(low + (high - low) * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_there_when_its_last_octet_is_read() {
        let mut items = Items::new(Kind::Message, Some(10));
        items.ask(0, 0, 100);
        items.ask(5, 1, 50);
        items.ask(6, 2, 1);
        assert_eq!(items.asked(), 151);
        assert!(items.arrive(7, 99).is_empty());
        assert_eq!(items.arrive(10, 149).len(), 1);
        assert_eq!(items.arrive(16, 151).iter().map(|i| i.number).collect::<Vec<_>>(), [1, 2]);
        let latency: Vec<_> = items.all().iter().map(Item::latency).collect();
        assert_eq!(latency, [Some(10), Some(11), Some(10)]);
        // Ten is in time, eleven is not.
        assert_eq!(items.missed(20), Some((3, 1)));
    }

    #[test]
    fn what_is_not_there_counts_as_missed_once_its_deadline_has_passed() {
        let mut items = Items::new(Kind::Message, Some(10));
        items.ask(0, 0, 100);
        items.ask(5, 1, 100);
        assert_eq!(items.missed(10), Some((0, 0)));
        assert_eq!(items.missed(11), Some((1, 1)));
        assert_eq!(items.missed(16), Some((2, 2)));
        assert_eq!(Items::new(Kind::Message, None).missed(16), None);
    }

    /// numpy.quantile([1, 2, 3, 10], [0, 0.5, 0.95, 1]).
    #[test]
    fn quantiles_are_interpolated() {
        let x = [1, 2, 3, 10];
        let of = |p| quantile(&x, p).unwrap();
        assert_eq!((of(0.0), of(0.5), of(1.0)), (1.0, 2.5, 10.0));
        assert!((of(0.95) - 8.95).abs() < 1e-12);
        assert_eq!((quantile(&[], 0.5), quantile(&[7], 0.999)), (None, Some(7.0)));
    }
}
