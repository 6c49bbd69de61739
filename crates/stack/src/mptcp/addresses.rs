//! The addresses that this host has announced to the peer and those that the peer has announced
//! (RFC 8684 3.4).
//!
//! ADD_ADDR is answered by an echo, so it is retransmitted until the echo arrives. REMOVE_ADDR has
//! no answer and is sent once.

use super::fast_path::FastPath;
use crate::segment::{AddrIds, Advertised};
use crate::time::{Duration, Instant};

/// Transmissions of an ADD_ADDR that gets no echo.
const TRIES: u32 = 8;

/// An ADD_ADDR of this host that the peer has not echoed.
#[derive(Clone, Copy, Debug)]
struct Announcement {
    advertised: Advertised,
    /// When to send it again.
    at: Instant,
    /// How often it has been sent.
    tries: u32,
}

/// What an authentic ADD_ADDR of the peer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remote {
    /// A new address, or a known one with another port.
    New,
    /// Exactly what is known.
    Known,
    /// Another address under a known identifier: the peer must remove the old one first.
    Contradictory,
    /// The limit of addresses is reached.
    Excess,
}

/// The addresses that this host and its peer have announced to each other.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    announcements: Vec<Announcement>,
    /// Identifiers of our removed addresses that the peer is still to be told of.
    removals: Vec<u8>,
    /// Addresses that the peer has announced and not removed.
    remote: Vec<Advertised>,
}

impl Addresses {
    /// Returns true if no ADD_ADDR or REMOVE_ADDR of this host waits to be sent or echoed.
    #[inline]
    pub fn are_settled(&self) -> bool {
        self.announcements.is_empty() && self.removals.is_empty()
    }

    /// Announces an address of ours. Announcing a known one again invites the peer to join there
    /// once more.
    pub fn announce(&mut self, advertised: Advertised, fast: &mut FastPath) {
        self.forget_announcement(advertised.address.id, fast);
        self.announcements.push(Announcement { advertised, at: Instant::ZERO, tries: 0 });
    }

    /// Stops announcing our address `id`.
    pub fn forget_announcement(&mut self, id: u8, fast: &mut FastPath) {
        fast.invalidate();
        self.announcements.retain(|a| a.advertised.address.id != id);
    }

    /// Queues a REMOVE_ADDR for our address `id`.
    pub fn remove(&mut self, id: u8, fast: &mut FastPath) {
        fast.invalidate();
        self.removals.push(id);
    }

    /// Stops repeating `advertised`: the peer has echoed it, or no segment has room for it.
    pub fn settle(&mut self, advertised: Advertised) {
        self.announcements.retain(|a| a.advertised != advertised);
    }

    /// Forgets what is to be sent, because the connection has become plain TCP.
    pub fn clear(&mut self) {
        self.announcements.clear();
        self.removals.clear();
    }

    /// Takes the identifiers for the next REMOVE_ADDR, at most `room`; `None` if there are none.
    pub fn next_removals(&mut self, room: usize) -> Option<AddrIds> {
        if self.removals.is_empty() {
            return None;
        }
        let ids = AddrIds::new(&self.removals[..room.min(self.removals.len())]);
        self.removals.drain(..ids.as_slice().len());
        Some(ids)
    }

    /// The next ADD_ADDR that is due at `now`, counted as sent. It is repeated after `patience`,
    /// which doubles each time. `one_by_one`: as in Linux, none is sent for the first time while
    /// another one waits for its echo (`mptcp_pm_add_addr_echoed`).
    pub fn next_announcement(&mut self, now: Instant, patience: Duration, one_by_one: bool) -> Option<Advertised> {
        let blocked = one_by_one && self.announcements.iter().any(|a| (1..TRIES).contains(&a.tries));
        let is_due = |a: &&mut Announcement| if a.tries == 0 { !blocked } else { a.tries < TRIES && a.at <= now };
        let due = self.announcements.iter_mut().find(is_due)?;
        due.tries += 1;
        due.at = now + patience.saturating_mul(1 << (due.tries - 1));
        Some(due.advertised)
    }

    /// When the next ADD_ADDR is to be repeated; [`Instant::FAR_FUTURE`] if none is.
    pub fn deadline(&self) -> Instant {
        let waiting = |a: &&Announcement| a.tries > 0 && a.tries < TRIES;
        self.announcements.iter().filter(waiting).map(|a| a.at).min().unwrap_or(Instant::FAR_FUTURE)
    }

    /// Returns true if an ADD_ADDR of this host is to be sent or was not echoed.
    pub fn announces(&self) -> bool {
        !self.announcements.is_empty()
    }

    /// Addresses that the peer has announced and not removed.
    pub fn remote(&self) -> &[Advertised] {
        &self.remote
    }

    /// What an authentic ADD_ADDR says, if `limit` addresses are kept (RFC 8684 3.4.1).
    fn judge(&self, advertised: Advertised, limit: usize) -> Remote {
        match self.remote.iter().find(|a| a.address.id == advertised.address.id) {
            Some(old) if old.address != advertised.address => Remote::Contradictory,
            Some(old) if *old == advertised => Remote::Known,
            None if self.remote.len() >= limit => Remote::Excess,
            _ => Remote::New,
        }
    }

    /// An authentic ADD_ADDR has arrived: keeps its address, if `limit` permits it. Returns whether
    /// the address is news; `None` if the signal is ignored, or repeats what is known although it
    /// `may_repeat` nothing now. A known address is echoed again.
    pub fn take(&mut self, advertised: Advertised, limit: usize, may_repeat: impl FnOnce() -> bool) -> Option<bool> {
        match self.judge(advertised, limit) {
            Remote::Contradictory | Remote::Excess => None,
            Remote::Known => may_repeat().then_some(false),
            Remote::New => {
                self.keep(advertised);
                Some(true)
            }
        }
    }

    /// Keeps an address of the peer, in place of what was known under its identifier.
    fn keep(&mut self, advertised: Advertised) {
        self.forget_remote(advertised.address.id);
        self.remote.push(advertised);
    }

    /// The peer has removed its address `id`. Returns whether it was known.
    pub fn forget_remote(&mut self, id: u8) -> bool {
        let before = self.remote.len();
        self.remote.retain(|a| a.address.id != id);
        self.remote.len() < before
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU16;

    use super::*;
    use crate::segment::AddrId;

    fn advertised(id: u8, last: u8, port: u16) -> Advertised {
        let address = AddrId { id, addr: [10, 0, 0, last].into() };
        Advertised { address, port: NonZeroU16::new(port) }
    }

    /// RFC 8684 3.4.1: ADD_ADDR is sent again until it is echoed.
    #[test]
    fn an_announcement_is_repeated_at_doubling_intervals_until_its_echo() {
        let mut addresses = Addresses::default();
        let (first, second) = (Duration::from_secs(1), Duration::from_secs(2));
        addresses.announce(advertised(1, 1, 0), &mut FastPath::for_tests());
        assert_eq!(addresses.deadline(), Instant::FAR_FUTURE);
        assert!(addresses.next_announcement(Instant::ZERO, first, false).is_some());
        assert_eq!(addresses.deadline(), Instant::ZERO + first);
        assert_eq!(addresses.next_announcement(Instant::ZERO, first, false), None);
        assert!(addresses.next_announcement(Instant::ZERO + first, first, false).is_some());
        assert_eq!(addresses.deadline(), Instant::ZERO + first + second);
        addresses.settle(advertised(1, 1, 80));
        assert!(addresses.announces(), "the echo of another port is not its echo");
        addresses.settle(advertised(1, 1, 0));
        assert!(addresses.are_settled() && addresses.deadline() == Instant::FAR_FUTURE);
    }

    #[test]
    fn an_announcement_is_given_up_after_eight_transmissions() {
        let mut addresses = Addresses::default();
        addresses.announce(advertised(1, 1, 0), &mut FastPath::for_tests());
        let (mut now, mut sent) = (Instant::ZERO, 0);
        while addresses.next_announcement(now, Duration::from_secs(1), false).is_some() {
            (now, sent) = (addresses.deadline(), sent + 1);
        }
        assert_eq!((sent, addresses.deadline()), (8, Instant::FAR_FUTURE));
    }

    #[test]
    fn linux_announces_an_address_when_the_one_before_has_its_echo() {
        let mut addresses = Addresses::default();
        addresses.announce(advertised(1, 1, 0), &mut FastPath::for_tests());
        addresses.announce(advertised(2, 2, 0), &mut FastPath::for_tests());
        let next = |addresses: &mut Addresses, one_by_one| {
            addresses.next_announcement(Instant::ZERO, Duration::from_secs(1), one_by_one).map(|a| a.address.id)
        };
        assert_eq!(next(&mut addresses, true), Some(1));
        assert_eq!(next(&mut addresses, true), None);
        addresses.settle(advertised(1, 1, 0));
        assert_eq!(next(&mut addresses, true), Some(2));
        addresses.announce(advertised(3, 3, 0), &mut FastPath::for_tests());
        assert_eq!(next(&mut addresses, false), Some(3), "others need not wait");
    }

    #[test]
    fn removals_are_told_once_and_as_many_as_fit() {
        let mut addresses = Addresses::default();
        (1..=3).for_each(|id| addresses.remove(id, &mut FastPath::for_tests()));
        let told = |ids: Option<AddrIds>| ids.map(|ids| ids.as_slice().to_vec());
        assert_eq!(told(addresses.next_removals(2)), Some(vec![1, 2]));
        assert_eq!(told(addresses.next_removals(2)), Some(vec![3]));
        assert_eq!(told(addresses.next_removals(2)), None);
    }

    /// RFC 8684 3.4.1: an identifier stands for one address until it is removed; a host may limit
    /// how many it keeps.
    #[test]
    fn an_address_of_the_peer_is_new_known_contradictory_or_too_much() {
        let mut addresses = Addresses::default();
        assert_eq!(addresses.judge(advertised(1, 1, 0), 0), Remote::Excess);
        assert_eq!(addresses.judge(advertised(1, 1, 0), 1), Remote::New);
        addresses.keep(advertised(1, 1, 0));
        assert_eq!(addresses.judge(advertised(1, 1, 0), 1), Remote::Known);
        assert_eq!(addresses.judge(advertised(1, 2, 0), 1), Remote::Contradictory);
        assert_eq!(addresses.judge(advertised(1, 1, 80), 1), Remote::New, "the same address with another port");
        addresses.keep(advertised(1, 1, 80));
        assert_eq!(addresses.remote(), [advertised(1, 1, 80)]);
        assert!(addresses.forget_remote(1) && !addresses.forget_remote(1));
    }

    /// RFC 8684 3.4.1: an address is news once. A known one may be echoed again.
    #[test]
    fn an_address_of_the_peer_is_news_once() {
        let mut addresses = Addresses::default();
        assert_eq!(addresses.take(advertised(1, 1, 0), 1, || false), Some(true));
        assert_eq!(addresses.take(advertised(1, 1, 0), 1, || true), Some(false));
        assert_eq!(addresses.take(advertised(1, 1, 0), 1, || false), None);
        assert_eq!(addresses.take(advertised(1, 2, 0), 1, || true), None, "another address under a known identifier");
        assert_eq!(addresses.take(advertised(2, 2, 0), 1, || true), None, "there is room for one");
        assert_eq!(addresses.remote(), [advertised(1, 1, 0)]);
    }
}
