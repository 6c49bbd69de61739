//! What becomes of a segment of a 4-tuple that a host does not know: it opens a connection, it joins one, or it is a mistake.

use crate::mptcp::connection::{refusal, reset_for};
use crate::segment::{Flags, Mptcp, Segment, TcpRst};

/// A SYN that is welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Welcome<J> {
    /// It opens a connection.
    Opens,
    /// It has joined one (RFC 8684 3.2): what `join` has made of it.
    Joins(J),
}

/// Looks at `segment`. `listens`: connections may be opened where it went. `join` is given the token of a SYN with MP_JOIN;
/// it answers it with [`Connection::accept_join`](crate::Connection::accept_join) of the connection that has the token, or gives
/// `None` if there is none.
///
/// # Errors
/// If it is not welcome: what its [`answer`] is to say of that, if anything.
pub fn admit<J>(
    segment: &Segment,
    listens: bool,
    join: impl FnOnce(u32) -> Option<Result<J, TcpRst>>,
) -> Result<Welcome<J>, Option<TcpRst>> {
    let is_syn = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::RST);
    if !is_syn {
        // RFC 9293 3.10.7.1, and 3.10.7.2 second: whatever it acknowledges was not sent from here.
        return Err(None);
    }
    if let Mptcp::JoinSyn { token, .. } = segment.options.mptcp {
        // RFC 8684 3.2: the token names the connection, the port does not.
        return join(token).unwrap_or(Err(TcpRst::UNKNOWN_TOKEN)).map(Welcome::Joins).map_err(Some);
    }
    if listens { Ok(Welcome::Opens) } else { Err(None) }
}

/// The reset that a segment for nobody is answered with (RFC 9293 3.10.7.1), with the reason if there is one to tell (RFC 8684
/// 3.6); `None` for a RST.
pub fn answer(segment: &Segment, why: Option<TcpRst>) -> Option<Segment> {
    why.map_or_else(|| reset_for(segment), |why| refusal(segment, why))
}
