//! What a connection's sender spends its time with, as `TCP_INFO` counts it (Linux: `tcp_chrono`).

use anabranch_stack::Connection;
use anabranch_stack::event::Limit;

/// Nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chrono {
    /// Something was written and not acknowledged.
    pub busy: u64,
    /// The peer's window kept something from being sent.
    pub receive_window: u64,
    /// Everything was sent, and the send buffer had no room for more.
    pub send_buffer: u64,
    /// The application has been refused room in the send buffer, and there has been none since.
    pub refused: bool,
}

impl Chrono {
    /// Time passes in which nothing happens.
    pub fn pass(&mut self, connection: &Connection, ns: u64) {
        if connection.unacknowledged() == 0 {
            self.refused = false;
            return;
        }
        self.busy += ns;
        if connection.unsent() > 0 && connection.limit() == Limit::ReceiveWindow {
            self.receive_window += ns;
        } else if self.refused && connection.unsent() == 0 {
            self.send_buffer += ns;
        }
    }
}
