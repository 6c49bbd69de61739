//! What an application does: who writes what, and when.

use std::sync::Arc;

use anabranch_stack::time::Duration;

/// What the sending application does.
#[derive(Clone, Debug, PartialEq)]
pub enum Application {
    /// Writes without pause until a number of octets is written or a time has passed since the start.
    Bulk(Extent),
    /// Writes at `rate` (or without pause) for `on`, rests for `off`, and so on.
    OnOff {
        /// When it ends.
        extent: Extent,
        /// Length of a busy period.
        on: Duration,
        /// Length of a pause.
        off: Duration,
        /// Rate in bit/s during a busy period; `None`: as fast as the connection takes it.
        rate: Option<u64>,
    },
    /// The receiver asks with `request` octets, the sender answers with `response` octets, then rests for `think`; `count` times.
    RequestResponse {
        /// Octets of a request.
        request: u64,
        /// Octets of a response.
        response: u64,
        /// Number of requests.
        count: u64,
        /// Pause between a response and the next request.
        think: Duration,
    },
    /// Datagrams of `mss` payload octets (UDP only).
    ConstantRate {
        /// When it ends.
        extent: Extent,
        /// Rate of the payload in bit/s; `None`: more than the path can carry.
        rate: Option<u64>,
    },
    /// Messages, each written when its time has come.
    Messages(Arc<Messages>),
    /// A web page, whose objects the receiver asks for.
    Page(Arc<Page>),
    /// A film, whose segments the receiver asks for.
    Video(Arc<Video>),
}

/// When an application is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// After this many octets.
    Bytes(u64),
    /// After this time since its start.
    Duration(Duration),
    /// Never: it goes on until the run ends.
    Run,
}

/// Messages of an application that cannot wait: game, voice, remote control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Messages {
    /// Octets of each.
    pub size: Draw,
    /// Nanoseconds from one to the next.
    pub interval: Draw,
    /// How long after it was written a message is of use; `None`: always.
    pub deadline: Option<Duration>,
    /// How many there are, or how long after the start of the transfer the last one may be written.
    pub until: Until,
}

/// When there are no more messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After so many.
    Count(u64),
    /// After this time since the start.
    Duration(Duration),
}

/// A web page, and how it is loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Its objects.
    pub content: Content,
    /// How many connections load it together.
    pub connections: u64,
    /// Octets of a request.
    pub request: u64,
    /// Time from the arrival of an object to the requests for what depends on it.
    pub think: Duration,
}

/// What a page consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// These objects; the first is the document.
    Written(Vec<Object>),
    /// Objects whose sizes and dependencies are drawn.
    Drawn {
        /// How many, with the document.
        objects: u64,
        /// Octets of all.
        bytes: u64,
        /// Objects in the longest chain of dependencies.
        depth: u64,
    },
}

/// A part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Octets.
    pub bytes: u64,
    /// The object that has to be there before this one is asked for; the document has none.
    pub after: Option<u32>,
}

/// A film in segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// Bit rates of its qualities, rising.
    pub ladder: Vec<u64>,
    /// Playing time of a segment.
    pub segment: Duration,
    /// Segments.
    pub count: u64,
    /// Playing time that the player keeps at most.
    pub buffer: Duration,
    /// Playing time that has to be there before it plays.
    pub startup: Duration,
    /// Octets of a request.
    pub request: u64,
}

impl Video {
    /// Octets of a segment of the quality `rung`.
    pub fn octets(&self, rung: usize) -> u64 {
        let bits = u128::from(self.ladder[rung]) * u128::from(self.segment.0) / 1_000_000_000;
        (bits / 8).max(1) as u64
    }
}

/// How a number is drawn, in base units (octets, nanoseconds). What is drawn is rounded, at least 1, and at most `most`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// From which distribution.
    pub law: Law,
    /// Larger draws become this.
    pub most: u64,
}

/// A distribution of positive numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Always the same.
    Fixed(u64),
    /// Each number from `min` to `max` alike.
    Uniform {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// Memoryless, with this mean.
    Exponential {
        /// The mean.
        mean: u64,
    },
    /// The logarithm is normally distributed.
    Lognormal {
        /// Half of the numbers are smaller.
        median: u64,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
    /// The share beyond x is (min / x)^alpha.
    Pareto {
        /// The smallest.
        min: u64,
        /// Shape: the mean is finite above 1, the variance above 2.
        alpha: f64,
    },
}

impl Draw {
    /// Always `n`.
    pub fn fixed(n: u64) -> Self {
        Self { law: Law::Fixed(n), most: u64::MAX }
    }

    /// The mean without the limit `most`; `None` where it is infinite.
    pub fn mean(&self) -> Option<f64> {
        match self.law {
            Law::Fixed(n) => Some(n as f64),
            Law::Uniform { min, max } => Some((min as f64 + max as f64) / 2.0),
            Law::Exponential { mean } => Some(mean as f64),
            Law::Lognormal { median, sigma } => Some(median as f64 * libm::exp(sigma * sigma / 2.0)),
            Law::Pareto { min, alpha } => (alpha > 1.0).then(|| min as f64 * alpha / (alpha - 1.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// exp(2 * 2 / 2) = e^2 for the log-normal law; 100 * 3 / (3 - 1) for Pareto's, whose mean is
    /// infinite up to a shape of 1.
    #[test]
    fn means_are_those_of_the_laws() {
        let mean = |law| Draw { law, most: 50 }.mean();
        assert_eq!(Draw::fixed(7).mean(), Some(7.0));
        assert_eq!(mean(Law::Uniform { min: 10, max: 30 }), Some(20.0));
        assert_eq!(mean(Law::Exponential { mean: 9 }), Some(9.0));
        let lognormal = mean(Law::Lognormal { median: 1000, sigma: 2.0 }).unwrap();
        assert!((lognormal - 7389.056).abs() < 0.001, "{lognormal}");
        assert_eq!(mean(Law::Pareto { min: 100, alpha: 3.0 }), Some(150.0));
        assert_eq!(mean(Law::Pareto { min: 100, alpha: 1.0 }), None);
    }
}
