//! The cork: small segments wait for more data (RFC 9293 3.7.4, 3.8.6.2.1).

use crate::mptcp::fast_path::FastPath;

/// Holds segments of less than full size back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cork {
    on: bool,
    /// Data before this offset leaves although the cork is on.
    pushed_to: u64,
}

impl Cork {
    /// Switches the cork on or off.
    pub fn set(&mut self, on: bool, fast: &mut FastPath) {
        fast.look_again();
        self.on = on;
    }

    /// Lets all data before the offset `end` leave.
    pub fn push(&mut self, end: u64, fast: &mut FastPath) {
        fast.look_again();
        self.pushed_to = self.pushed_to.max(end);
    }

    /// Returns true if the cork is on.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Returns true if a small segment before the data offset `end` may leave. `free`: Nagle's
    /// algorithm permits it.
    pub fn passes(&self, end: u64, free: bool) -> bool {
        end <= self.pushed_to || (!self.on && free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cork_holds_back_what_was_not_pushed() {
        let mut cork = Cork::default();
        assert!(cork.passes(5, true) && !cork.passes(5, false));
        cork.set(true, &mut FastPath::for_tests());
        assert!(cork.is_on() && !cork.passes(5, true));
        cork.push(5, &mut FastPath::for_tests());
        cork.push(3, &mut FastPath::for_tests());
        assert!(cork.passes(5, false) && !cork.passes(6, true));
    }
}
