//! The state of a connection's measures when the time of its transfer is over.
//!
//! A transfer that is to last 20 s and stalls after five is measured over its 20 s, not over the hour that the run may take. So
//! at the end of a transfer's own time, and again with each octet that is read later, the numbers from which rates and means
//! are computed are noted. They are used if the transfer does not complete.

use anabranch_measures::account::{ConnectionAccount, SubflowAccount, TimeMean};
use anabranch_measures::causes::Waiting;

/// The numbers of one 4-tuple.
#[derive(Clone, Copy, Debug)]
struct Noted {
    wire: u64,
    capacity: f64,
    cwnd: TimeMean,
    srtt: TimeMean,
}

/// The numbers of a connection.
#[derive(Clone, Debug)]
pub struct Measured {
    at: u64,
    subflows: Vec<Noted>,
    limits: Waiting,
}

impl Measured {
    /// At `now`; `carried` is what each subflow put on its path's slowest link so far, and what that could have carried.
    pub fn new(
        now: u64,
        account: &ConnectionAccount,
        subflows: &[SubflowAccount],
        carried: impl Iterator<Item = (u64, f64)>,
    ) -> Self {
        let noted = |(s, (wire, capacity)): (&SubflowAccount, _)| Noted { wire, capacity, cwnd: s.cwnd, srtt: s.srtt };
        Self { at: now, subflows: subflows.iter().zip(carried).map(noted).collect(), limits: account.limits.clone() }
    }

    /// Something was read after these numbers were noted.
    pub fn is_older_than(&self, account: &ConnectionAccount) -> bool {
        account.last_read.is_some_and(|last| last > self.at)
    }

    /// Puts these numbers into the account.
    pub fn apply(self, account: &mut ConnectionAccount) {
        account.measured = Some(self.at);
        account.limits = self.limits;
        for (s, noted) in account.subflows.iter_mut().zip(self.subflows) {
            (s.wire, s.capacity, s.cwnd, s.srtt) = (noted.wire, noted.capacity, noted.cwnd, noted.srtt);
        }
        // A subflow that was opened later keeps its zeros: it had none of that time.
    }
}
