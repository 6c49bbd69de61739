//! Wi-Fi: a radio channel and its stations, as a link like any other.
//!
//! A wireless link is not a pipe of some rate. Its two directions and all other stations of its channel share one medium that
//! carries one frame at a time. Each frame has fixed overheads that may last far longer than its octets. A frame that is not
//! acknowledged is sent again. So goodput depends on the frame length and on the TCP ACKs in the other direction, and collapses
//! beyond some distance. The papers measured this; a rate and a loss ratio cannot express it.
//!
//! - [`phy`]: rates and frame times
//! - [`formats`]: those of data from 802.11n on
//! - [`aggregate`]: frames of several packets
//! - [`block_ack`]: windows of frames, and the recipient's order
//! - [`high`]: what a station has of that
//! - [`edca`]: how the categories of access contend
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
#![forbid(unsafe_code)]
// Whoever reads these pages has the source beside them: links may lead to what is private.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(rustdoc::broken_intra_doc_links)]

pub mod aggregate;
pub mod block_ack;
pub mod channel;
pub mod edca;
pub mod error;
pub mod formats;
pub mod high;
pub mod medium;
pub mod minstrel_ht;
pub mod mobility;
pub mod modulation;
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
    /// What there is from 802.11n on.
    pub high: Option<HighThroughput>,
}

/// What a link has from 802.11n on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HighThroughput {
    /// Spatial streams, 1 or 2.
    pub streams: u8,
    /// Guard interval in ns.
    pub guard: u32,
    /// What its frames may hold.
    pub limits: aggregate::Limits,
    /// How both ends contend.
    pub category: edca::Category,
    /// TXOP limit in ns, if it is not the category's.
    pub txop: Option<u64>,
}

/// The properties of a channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Air {
    /// Generation.
    pub standard: phy::Standard,
    /// MHz.
    pub width: u32,
    /// 2.4 or 5 GHz.
    pub band: phy::Band,
    /// Where ns-3.37 departs from the standard, which of them.
    pub like: phy::Like,
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
            rate::Choice::Mcs { mcs, streams, guard } => {
                let phy = self.phy();
                phy.find_mcs(mcs, streams, guard).map_or(0, |i| phy.modes[i].kbps)
            }
            rate::Choice::MinstrelHt { streams, guard } => {
                let fits = |m: &&phy::Mode| m.ppdu.is_some_and(|p| p.streams <= streams && p.guard == guard);
                self.phy().modes.iter().filter(fits).map(|m| m.kbps).max().unwrap_or(0)
            }
            _ => self.phy().modes.last().map_or(0, |m| m.kbps),
        };
        u64::from(kbps) * 1000
    }

    /// Times and rates of its channel.
    pub fn phy(&self) -> phy::Phy {
        let Air { standard, width, band, ad_hoc, like, .. } = self.air;
        match standard.format() {
            None => phy::Phy::new(standard, width, ad_hoc),
            Some(format) => phy::Phy::high(standard, format, width, band, like),
        }
    }
}
