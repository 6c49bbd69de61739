//! Growth in congestion avoidance in whole segments (RFC 3465 2.1): the window grows by one segment for each window of octets
//! acknowledged.
//!
//! A controller whose increase is a share of NewReno's counts that share of the octets. With a share of one it is NewReno, window
//! by window; a negative share takes a segment away.

use super::Window;

/// Octets counted since the window last changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counter {
    octets: f64,
}

impl Counter {
    /// Counts `octets`, and moves the window by a segment if they are a window. It stays at one segment or more.
    #[inline]
    pub fn count(&mut self, w: &mut Window, octets: f64) {
        self.octets += octets;
        if self.octets >= w.cwnd {
            self.octets -= w.cwnd;
            w.cwnd += w.mss;
        } else if self.octets <= -w.cwnd {
            self.octets += w.cwnd;
            w.cwnd = (w.cwnd - w.mss).max(w.mss);
        }
    }

    /// The window was reduced: counting begins again.
    pub fn reset(&mut self) {
        self.octets = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three segments: three acknowledged segments make four; four windows taken away leave one segment, not none.
    #[test]
    fn a_window_of_octets_is_a_segment_up_or_down() {
        let mut w = Window { cwnd: 3000.0, ssthresh: 2000.0, mss: 1000.0, initial: 3000.0, vegas_rate: 0.0 };
        let mut c = Counter::default();
        let mut seen = |octets| {
            c.count(&mut w, octets);
            w.cwnd
        };
        assert_eq!([seen(1000.0), seen(1000.0), seen(1000.0)], [3000.0, 3000.0, 4000.0]);
        assert_eq!([seen(-4000.0), seen(-3000.0), seen(-2000.0), seen(-1000.0)], [3000.0, 2000.0, 1000.0, 1000.0]);
    }
}
