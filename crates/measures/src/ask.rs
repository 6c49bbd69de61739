//! Whether to go on: reading a large document and building a large network take a while, and the caller may want to stop.

use std::ops::ControlFlow;

/// A function of the caller's, called now and then while much is read or built: it says whether to go on.
pub type Ask<'a> = &'a dyn Fn() -> ControlFlow<()>;

/// An [`Ask`] that never stops.
pub fn go_on() -> ControlFlow<()> {
    ControlFlow::Continue(())
}
