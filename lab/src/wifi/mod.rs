//! Wi-Fi: a radio channel and its stations, as a link like any other.
//!
//! A wireless link is not a pipe of some rate. Its two directions and all other stations of its channel share one medium that
//! carries one frame at a time. Each frame has fixed overheads that may last far longer than its octets. A frame that is not
//! acknowledged is sent again. So goodput depends on the frame length and on the TCP ACKs in the other direction, and collapses
//! beyond some distance. The papers measured this; a rate and a loss ratio cannot express it.
//!
//! - [`phy`]: rates and frame times
//! - [`error`], `table`: errors against signal-to-noise ratio
//! - [`channel`], [`mobility`]: path loss, fading, positions
//! - [`range`]: where nothing is noticed any more
//! - [`rate`]: which rate the next frame takes
//! - [`queue`]: what waits at a station
//! - [`station`]: one station's part in the contention for the medium
//! - [`medium`]: frames on the air, who hears them, and what follows
//!
//! Sources: IEEE 802.11-2016 (section numbers in comments are its), and where that leaves room, ns-3.37's defaults, since results
//! are compared with it. `docs/wifi.md` says what is modelled, what is not, and how close the results are.

pub mod channel;
pub mod error;
pub mod medium;
pub mod mobility;
pub mod phy;
pub mod queue;
pub mod range;
pub mod rate;
pub mod station;
mod table;

use channel::{Fading, PathLoss};
use mobility::{Movement, Point};

/// A packet's number, given by whoever queues it.
pub type PacketId = u32;

/// A wireless link: a station (the link's first end) and its access point or peer (the second).
#[derive(Clone, Debug, PartialEq)]
pub struct Wifi {
    /// Links of one channel share the medium.
    pub channel: String,
    /// What all links of a channel have in common.
    pub air: Air,
    /// The station.
    pub station: Movement,
    /// Access point or peer, at rest.
    pub access_point: Point,
    /// There is a wired hop behind the access point. The link's rate, delay, queue and loss are those of that hop.
    pub wired: bool,
    /// How the rate of data frames is chosen, in both directions.
    pub rate: rate::Choice,
    /// Transmit power of both ends in dBm.
    pub tx_power_dbm: f64,
    /// Transmissions of a frame, the first included, after which it is dropped.
    pub retry_limit: u32,
    /// Frames of more octets than this are preceded by RTS and CTS.
    pub rts_threshold: Option<u32>,
    /// Packets each end holds at most.
    pub queue: usize,
    /// ns a packet may wait.
    pub max_age: u64,
}

/// The properties of a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Air {
    /// Generation.
    pub standard: phy::Standard,
    /// MHz.
    pub width: u32,
    /// Without access point: no beacons, the long slot at 2.4 GHz.
    pub ad_hoc: bool,
    /// Loss with distance.
    pub path_loss: PathLoss,
    /// Variation from frame to frame.
    pub fading: Fading,
    /// How likely bit errors are.
    pub error_model: error::Model,
    /// Frames below -82 dBm or below a signal-to-noise ratio of 4 dB are not detected at all.
    pub preamble_detection: bool,
    /// Noise figure of the receivers in dB.
    pub noise_figure_db: f64,
}

/// Octets that MAC header, LLC/SNAP header and frame check sequence add to an IPv4 packet.
pub const FRAME_OVERHEAD: u32 = 24 + 8 + 4;

impl Wifi {
    /// The highest rate of data frames, in bit/s.
    pub fn peak_rate(&self) -> u64 {
        let kbps = match self.rate {
            rate::Choice::Constant(kbps) => kbps,
            _ => self.phy().modes.last().map_or(0, |m| m.kbps),
        };
        u64::from(kbps) * 1000
    }

    /// Times and rates of its channel.
    pub fn phy(&self) -> phy::Phy {
        phy::Phy::new(self.air.standard, self.air.width, self.air.ad_hoc)
    }
}
