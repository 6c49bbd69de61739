//! Segments whose 4-tuple a host does not know: such a segment opens a connection, joins one, or is rejected.

use crate::mptcp::connection::{refusal, reset_for};
use crate::segment::{Flags, Mptcp, Segment, TcpRst};

/// What an acceptable SYN does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Welcome<J> {
    /// It opens a connection.
    Opens,
    /// It has joined a connection (RFC 8684 3.2). The value is the result of `join`.
    Joins(J),
}

/// Examines `segment`. `listens`: connections may be opened at its destination. `join` is called with the token of a SYN with
/// MP_JOIN. It must answer the SYN with [`Connection::accept_join`](crate::Connection::accept_join) of the connection that has
/// the token, or return `None` if there is none.
///
/// # Errors
/// If the segment is rejected: the reason that its [`answer`] gives, if any.
pub fn admit<J>(
    segment: &Segment,
    listens: bool,
    join: impl FnOnce(u32) -> Option<Result<J, TcpRst>>,
) -> Result<Welcome<J>, Option<TcpRst>> {
    let is_syn = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::RST);
    if !is_syn {
        // RFC 9293 3.10.7.1, and 3.10.7.2 second: the segment acknowledges something that was not sent from here.
        return Err(None);
    }
    if let Mptcp::JoinSyn { token, .. } = segment.options.mptcp {
        // RFC 8684 3.2: the token identifies the connection; the port does not.
        return join(token).unwrap_or(Err(TcpRst::UNKNOWN_TOKEN)).map(Welcome::Joins).map_err(Some);
    }
    if listens { Ok(Welcome::Opens) } else { Err(None) }
}

/// The RST that answers a segment without a connection (RFC 9293 3.10.7.1), with the reason if there is one to give (RFC 8684
/// 3.6). `None` if the segment is a RST.
pub fn answer(segment: &Segment, why: Option<TcpRst>) -> Option<Segment> {
    why.map_or_else(|| reset_for(segment), |why| refusal(segment, why))
}
