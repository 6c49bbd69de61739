//! Which subflows there are: those that live are walked at every event, those that have ended are not.
//!
//! A number names a subflow for good once it was established. A join that comes to nothing leaves nothing behind: whoever knows the
//! token can make any number of them, so that its number is given again. Of joins that the peer has begun and not authenticated (RFC
//! 8684 3.2) there are so many at most, apart from the limit of subflows; the oldest yields to the newest, as in a SYN cache.

use super::*;

/// Joins of the peer's that wait for its third ACK at once: as many as there may be subflows at most.
const HALF_OPEN: usize = 255;

impl Connection {
    /// The subflows that have not ended (or whose reset has not left), and their part in the connection, in order of opening.
    #[inline]
    pub(super) fn living(&self) -> impl Iterator<Item = (&Subflow, &Member)> + Clone {
        self.living.iter().map(|&id| (&self.subflows[id], &self.members[id]))
    }

    /// The number of the next subflow.
    pub(super) fn next_number(&mut self) -> SubflowId {
        self.free.pop().unwrap_or(self.subflows.len())
    }

    pub(super) fn add_subflow(&mut self, subflow: Subflow, member: Member) -> SubflowId {
        let id = subflow.id;
        let view = View { established: false, cwnd: subflow.controller.window().cwnd, srtt: Duration::ZERO };
        if id < self.subflows.len() {
            (self.subflows[id], self.members[id]) = (subflow, member);
            (self.views[id], self.candidates[id]) = (view, Candidate::default());
        } else {
            self.subflows.push(subflow);
            self.members.push(member);
            self.views.push(view);
            self.candidates.push(Candidate::default());
        }
        self.living.push(id);
        id
    }

    /// No further subflow may be opened now. Half-open ones do not count.
    pub(super) fn is_full(&self) -> bool {
        let open = self.living().filter(|(s, m)| s.state != State::Closed && !m.is_half_open());
        open.count() >= self.config.subflow_limit
    }

    /// Room for one more half-open join: the oldest of too many yields. It is not told, for it may be nobody.
    pub(super) fn make_room(&mut self) {
        // Who yielded before; whoever yields now keeps its number until the driver has heard of it.
        self.tidy();
        let half_open = self.living().filter(|(s, m)| s.state != State::Closed && m.is_half_open());
        let crowded = half_open.clone().count() >= HALF_OPEN;
        let oldest = half_open.map(|(s, _)| s.id).next();
        if let Some(oldest) = oldest.filter(|_| crowded) {
            self.subflows[oldest].end(EndReason::Refused);
            self.on_subflow_end(oldest, EndReason::Refused);
        }
    }

    /// What has ended is walked no more.
    pub(super) fn tidy(&mut self) {
        if !std::mem::take(&mut self.untidy) {
            return;
        }
        let Self { living, subflows, members, free, untidy, .. } = self;
        living.retain(|&id| {
            let s = &subflows[id];
            if s.state != State::Closed {
                return true;
            }
            if s.has_reset() {
                // Once more when it has left.
                *untidy = true;
                return true;
            }
            if !matches!(members[id].join, Join::First | Join::Done) {
                free.push(id);
            }
            false
        });
    }
}
