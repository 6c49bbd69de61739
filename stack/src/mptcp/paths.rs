//! The table of subflows: of each its TCP, its part in the connection, and what algorithms may know of it.
//!
//! A number names a subflow for good once it was established. A join that comes to nothing leaves nothing behind: whoever knows the
//! token can make any number of them, so that its number is given again. Of joins that the peer has begun and not authenticated (RFC
//! 8684 3.2) there are so many at most, apart from the limit of subflows; the oldest yields to the newest, as in a SYN cache.

use super::handshake::{Join, Member};
use crate::event::SubflowId;
use crate::path::Path;
use crate::tcp::subflow::{State, Subflow};

/// The subflows of a connection, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    /// The TCP of each.
    pub subflows: Vec<Subflow>,
    /// Its part in the connection.
    pub members: Vec<Member>,
    /// What controllers and schedulers see of it.
    pub rows: Vec<Path>,
    /// Those that have not ended, or have a reset to send, in order of opening: what is walked.
    pub active: Vec<SubflowId>,
    /// Something in `active` may not belong there any more.
    pub removal_due: bool,
    /// Numbers of joins that came to nothing, to be given again.
    free: Vec<SubflowId>,
}

impl Paths {
    /// The subflows that have not ended (or whose reset has not left), and their part in the connection, in order of opening.
    #[inline]
    pub fn active(&self) -> impl Iterator<Item = (&Subflow, &Member)> + Clone {
        self.active.iter().map(|&id| (&self.subflows[id], &self.members[id]))
    }

    /// The number of the next subflow.
    pub fn next_number(&mut self) -> SubflowId {
        self.free.pop().unwrap_or(self.subflows.len())
    }

    /// One more.
    pub fn add(&mut self, subflow: Subflow, member: Member) -> SubflowId {
        let id = subflow.id;
        let row = Path { cwnd: subflow.cwnd(), ssthresh: subflow.ssthresh(), mss: subflow.mss(), ..Path::default() };
        if id < self.subflows.len() {
            (self.subflows[id], self.members[id], self.rows[id]) = (subflow, member, row);
        } else {
            self.subflows.push(subflow);
            self.members.push(member);
            self.rows.push(row);
        }
        self.active.push(id);
        id
    }

    /// Brings the row of a subflow up to date. True if its congestion window has changed.
    #[inline]
    pub fn refresh(&mut self, id: SubflowId) -> bool {
        let (s, m, row) = (&self.subflows[id], &self.members[id], &mut self.rows[id]);
        let before = row.cwnd;
        row.established = m.ready && s.is_open();
        row.backup = m.is_backup();
        s.sender.describe(row);
        row.cwnd != before
    }

    /// What has ended is walked no more.
    pub fn remove_closed(&mut self) {
        if !std::mem::take(&mut self.removal_due) {
            return;
        }
        let Self { active, subflows, members, free, removal_due, .. } = self;
        active.retain(|&id| {
            let s = &subflows[id];
            if s.state != State::Closed {
                return true;
            }
            if s.has_reset() {
                // Once more when it has left.
                *removal_due = true;
                return true;
            }
            if !matches!(members[id].join, Join::First | Join::Done) {
                free.push(id);
            }
            false
        });
    }
}
