//! The octets from some header on: those that were captured, and how many were sent.
//!
//! A snap length, or a mirror that truncates (ERSPAN), leaves fewer octets than were sent. Headers are read from the captured
//! ones only; the number sent counts where an IP header gives no length.

/// Octets of a record from some header on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Octets<'a> {
    /// The octets that were captured.
    pub here: &'a [u8],
    /// How many octets were sent; never fewer than `here` has.
    pub sent: usize,
}

impl<'a> Octets<'a> {
    /// The octets `here` of `sent` (a smaller number counts as that of `here`).
    pub fn new(here: &'a [u8], sent: usize) -> Self {
        Self { here, sent: sent.max(here.len()) }
    }

    /// What follows the first `at` octets; `None` if the capture does not have all of these.
    pub fn from(self, at: usize) -> Option<Self> {
        Some(Self { here: self.here.get(at..)?, sent: self.sent - at })
    }

    /// At most the first `sent` octets: what follows them is padding or a trailer.
    pub fn first(self, sent: usize) -> Self {
        let here = &self.here[..self.here.len().min(sent)];
        Self { here, sent: self.sent.min(sent) }
    }

    /// The capture lacks octets at the end.
    pub fn is_cut(self) -> bool {
        self.here.len() < self.sent
    }

    /// The octet at `at`.
    pub fn u8(self, at: usize) -> Option<u8> {
        self.here.get(at).copied()
    }

    /// The `N` octets at `at`.
    pub fn array<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.here.get(at..)?.first_chunk().copied()
    }

    /// Two octets at `at`, the most significant first.
    pub fn u16(self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_be_bytes)
    }

    /// Four octets at `at`, the most significant first.
    pub fn u32(self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_be_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_beyond_the_captured_octets() {
        let o = Octets::new(&[1, 2, 3, 4, 5], 9);
        assert_eq!(
            (o.u8(4), o.u8(5), o.u16(3), o.u16(4), o.u32(1), o.u32(2)),
            (Some(5), None, Some(0x0405), None, Some(0x0203_0405), None)
        );
        assert_eq!((o.u16(usize::MAX), o.u32(usize::MAX)), (None, None));
        assert_eq!(o.from(2), Some(Octets { here: &[3, 4, 5], sent: 7 }));
        assert_eq!((o.from(5), o.from(6)), (Some(Octets { here: &[], sent: 4 }), None));
        assert_eq!(o.first(3), Octets { here: &[1, 2, 3], sent: 3 });
        assert_eq!(o.first(7), Octets { here: &[1, 2, 3, 4, 5], sent: 7 });
        assert!(o.is_cut() && !o.first(5).is_cut());
        assert_eq!(Octets::new(&[1, 2], 1).sent, 2);
    }
}
