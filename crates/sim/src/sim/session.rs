//! What the event loop needs of a connection or flow, whichever protocol it uses.

use std::fmt::Debug;

use anabranch_measures::account::{ConnectionAccount, SubflowAccount};
use anabranch_measures::series::Sample;

use super::network::Network;
use super::packet::PacketId;
use anabranch_scenario::Scenario;

/// The three slots of a session in the event queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The client's timer.
    ClientTimer,
    /// The server's timer.
    ServerTimer,
    /// The applications: their start, and what they wait for.
    Applications,
}

impl Slot {
    /// All slots, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::ClientTimer, Self::ServerTimer, Self::Applications];
}

/// Makes the session of a connection whose stack is not the engine's: of the connection with this
/// number, to start at this time, with the numbers of its slots in the order of [`Slot::ALL`].
/// Returns `None` for a connection of the engine.
pub type Make<'a> = &'a dyn Fn(&Scenario, usize, u64, [usize; 3]) -> Option<Box<dyn Session>>;

/// Both ends of a connection or flow, with their applications and their accounts.
pub trait Session: Debug {
    /// A packet has reached its host.
    fn on_packet(&mut self, net: &mut Network, id: PacketId);
    /// The time of a slot has come.
    fn on_slot(&mut self, net: &mut Network, slot: Slot);
    /// Returns the account of the connection: its counts, sums and times.
    fn account(&self) -> &ConnectionAccount;
    /// Returns the account of the connection, to be changed.
    fn account_mut(&mut self) -> &mut ConnectionAccount;
    /// Ends the session and returns its account.
    fn into_account(self: Box<Self>) -> ConnectionAccount;
    /// The time of the last progress of the transfer.
    fn last_progress(&self) -> u64;
    /// Returns since when data is outstanding without progress; `None` if the session is idle.
    fn stuck_since(&self) -> Option<u64>;
    /// True if a host has data that its peer does not have, and no timer that would ever send it.
    fn is_asleep(&self) -> bool {
        false
    }
    /// Appends the state of every subflow of the sender.
    fn sample(&self, _at: u64, _subflows: &[SubflowAccount], _out: &mut Vec<Sample>) {}
    /// The run is over, before the account is closed.
    fn on_end_of_run(&mut self, _net: &mut Network) {}
    /// The transfer is over, or the run: puts what is known only now into the accounts. `leads`:
    /// the session does not help another one to load its page.
    fn close(&mut self, _net: &Network, _subflows: &mut [SubflowAccount], _leads: bool) {}
}

/// Implements the methods of [`Session`] that return a field: for a session with the fields
/// `account` and `last_progress`.
macro_rules! account_methods {
    () => {
        fn account(&self) -> &anabranch_measures::account::ConnectionAccount {
            &self.account
        }

        fn account_mut(&mut self) -> &mut anabranch_measures::account::ConnectionAccount {
            &mut self.account
        }

        fn into_account(self: Box<Self>) -> anabranch_measures::account::ConnectionAccount {
            self.account
        }

        fn last_progress(&self) -> u64 {
            self.last_progress
        }
    };
}
pub(crate) use account_methods;
