//! Whether to go on: reading a large document and building a large network take a while, and whoever waits may have left.

use std::ops::ControlFlow;

/// Asked now and then, while much is read or built, whether to go on.
pub type Ask<'a> = &'a dyn Fn() -> ControlFlow<()>;

/// Goes on, whatever it takes.
pub fn go_on() -> ControlFlow<()> {
    ControlFlow::Continue(())
}
