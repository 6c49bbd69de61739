//! Wi-Fi: a radio channel and its stations, as a link like any other.
//!
//! A wireless link is not a pipe of some rate: its two directions and all other stations of its channel share one medium that
//! carries one frame at a time, each frame costs fixed times far longer than its octets, and what is not acknowledged is
//! sent again. So goodput depends on frame length, on the stream of TCP ACKs in the other direction, and on distance by a
//! cliff; these are what the papers measured and a rate and a loss ratio cannot say.
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

/// A packet, by the number that whoever sends it has given it.
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
    /// There is a wired hop behind the access point: what else describes the link.
    pub wired: bool,
    /// Of data frames, both directions.
    pub rate: rate::Choice,
    /// Both ends, dBm.
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
    /// Errors of what is received.
    pub error_model: error::Model,
    /// Frames below -82 dBm or 4 dB of signal-to-noise ratio are not noticed at all.
    pub preamble_detection: bool,
    /// dB.
    pub noise_figure_db: f64,
}

/// Octets that MAC header, LLC/SNAP header and frame check sequence add to an IPv4 packet.
pub const FRAME_OVERHEAD: u32 = 24 + 8 + 4;

impl Wifi {
    /// The highest rate its data can have, in bit/s.
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
