//! The table of subflows: for each its TCP, its state in the connection, and the row that algorithms see.
//!
//! A number identifies a subflow permanently once the subflow was established. The number of a failed join is reused: whoever
//! knows the token can start any number of joins. The number of half-open joins, begun by the peer and not yet authenticated (RFC
//! 8684 3.2), has a limit of its own, apart from the limit of subflows. When it is reached, a new join replaces the oldest one,
//! as in a SYN cache.

use super::handshake::{Join, Member};
use crate::event::SubflowId;
use crate::path::Path;
use crate::tcp::subflow::{State, Subflow};

/// The subflows of a connection, by number.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    /// TCP state of each subflow.
    pub subflows: Vec<Subflow>,
    /// MPTCP state of each subflow.
    pub members: Vec<Member>,
    /// What controllers and schedulers see of each subflow.
    pub rows: Vec<Path>,
    /// Subflows that have not ended, or still have a RST to send, in order of opening.
    pub active: Vec<SubflowId>,
    /// `active` may contain subflows that have ended.
    pub removal_due: bool,
    /// Numbers of failed joins, to be reused.
    free: Vec<SubflowId>,
}

impl Paths {
    /// The active subflows with their MPTCP state, in order of opening. A subflow that ended is included until its RST was sent
    /// and [`Paths::remove_closed`] has run.
    #[inline]
    pub fn active(&self) -> impl Iterator<Item = (&Subflow, &Member)> + Clone {
        self.active.iter().map(|&id| (&self.subflows[id], &self.members[id]))
    }

    /// The number for the next subflow.
    pub fn next_number(&mut self) -> SubflowId {
        self.free.pop().unwrap_or(self.subflows.len())
    }

    /// Adds a subflow.
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

    /// Updates the row of a subflow. Returns its congestion window and threshold if the window has changed.
    #[inline(always)]
    pub fn refresh(&mut self, id: SubflowId) -> Option<(f64, f64)> {
        let (s, m, row) = (&self.subflows[id], &self.members[id], &mut self.rows[id]);
        let before = row.cwnd;
        row.established = m.ready && s.is_open();
        row.backup = m.is_backup();
        s.sender.describe(row);
        if !row.established {
            // The scoreboard of a closed subflow still lists what it had in flight.
            row.oldest = (0, 0);
        }
        (row.cwnd != before).then_some((row.cwnd, row.ssthresh))
    }

    /// A subflow has ended: it counts for no algorithm any more. Its last windows stay for the record.
    pub fn end(&mut self, id: SubflowId) {
        let row = &mut self.rows[id];
        (row.established, row.can_send, row.in_flight, row.oldest) = (false, false, 0, (0, 0));
        (row.takes_data, row.queued) = (false, 0);
    }

    /// Removes subflows that have ended from `active`.
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
                // Keep it until its RST was sent, then look again.
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
