//! The state of a path manager beside its connection.

use anabranch_stack::host::path_manager::PairManager;
use anabranch_stack::segment::AddrId;
use anabranch_stack::time::Instant;

/// The path manager of a connection.
#[derive(Debug)]
pub(crate) struct Managed {
    pub manager: PairManager,
    pub locals: Vec<AddrId>,
    /// We opened the connection.
    pub opened: bool,
    pub one_per_interface: bool,
    /// The manager knows that the connection is established.
    pub connected: bool,
    /// Time of the last call that knows it.
    pub now: Instant,
}
