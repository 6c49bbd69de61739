//! The parts of a connection with one established subflow, made without a handshake, for tests of
//! what borrows them.

use super::composing::Composing;
use super::distribution::{Distribution, Sending};
use super::fallback::Fallback;
use super::fast_path::FastPath;
use super::handshake::{Join, Keys, Member};
use super::keys::Entropy;
use super::negotiation::Negotiation;
use super::paths::Paths;
use super::receiving::Receiving;
use super::recv_stream::{RecvStream, window_shift};
use super::send_stream::SendStream;
use super::timers::Timers;
use crate::config::Config;
use crate::event::{Event, Events};
use crate::segment::{Flags, Mptcp, Options, Segment};
use crate::tcp::subflow::{State, Subflow};
use crate::time::Instant;

/// Initial sequence numbers of both ends.
pub(super) const ISS: u32 = 1000;
pub(super) const IRS: u32 = 5000;

/// Keys of both ends.
pub(super) const OWN_KEY: u64 = 11;
pub(super) const PEER_KEY: u64 = 22;

/// The server's end. Its peer offers a window of 64,000 octets and an MSS of 1000.
pub(super) struct Parts {
    pub paths: Paths,
    pub send: SendStream,
    pub recv: RecvStream,
    pub timers: Timers,
    pub fast: FastPath,
    pub events: Events,
    pub negotiation: Negotiation,
    pub fallback: Fallback,
    pub config: Config,
    pub distribution: Distribution,
    pub out: Segment,
}

impl Parts {
    /// `config.mptcp`: both keys are known, and the peer has confirmed ours.
    pub fn new(config: Config) -> Self {
        let config = Config { timestamps: false, ..config };
        let distribution = Distribution::new(&config);
        let mut fast = FastPath::new(&config, distribution.scheduler());
        let mut negotiation = Negotiation::new(false);
        let mut options = Options { mss: Some(1000), ..Options::default() };
        if config.mptcp {
            options.mptcp = Mptcp::CapableSyn { checksum: config.checksum, no_join: false };
            negotiation.begin(OWN_KEY);
            negotiation.agree(Keys::new(OWN_KEY, PEER_KEY), true, &mut fast);
        }
        let syn = Segment { seq: IRS, window: 64_000, flags: Flags::SYN, options, ..Segment::default() };
        let subflow = Subflow::accept(0, &config, ISS, window_shift(&config), &syn);
        let mut paths = Paths::new(Entropy::new([3; 32]));
        let member = Member { ready: true, ..Member::new(Join::First, 0) };
        paths.add(subflow, member, &mut fast);
        let mut send = SendStream::new();
        send.begin_window(64_000);
        let mut parts = Self {
            paths,
            send,
            recv: RecvStream::new(&config),
            timers: Timers::default(),
            fast,
            events: Events::new(),
            negotiation,
            fallback: Fallback::default(),
            config,
            distribution,
            out: Segment::default(),
        };
        parts.establish();
        parts
    }

    /// Sends the SYN/ACK, and takes its acknowledgement 1 ms later.
    fn establish(&mut self) {
        self.composing().poll_own(Instant::ZERO, 0).expect("the SYN/ACK");
        assert_eq!((self.out.seq, self.out.ack), (ISS, IRS + 1));
        let ack = Segment { seq: IRS + 1, ack: ISS + 1, window: 64_000, flags: Flags::ACK, ..Segment::default() };
        let subflow = &mut self.paths.subflows[0];
        subflow.on_ack(Instant(1_000_000), &ack, &self.paths.rows, &mut self.events, self.config.mptcp);
        assert_eq!(subflow.state, State::Established);
        self.paths.refresh(0);
    }

    pub fn receiving(&mut self) -> Receiving<'_> {
        let Self { paths, recv, fallback, fast, events, negotiation, config, .. } = self;
        Receiving { paths, recv, fallback, fast, events, negotiation, config }
    }

    pub fn composing(&mut self) -> Composing<'_> {
        let Self { paths, send, recv, timers, fast, events, negotiation, fallback, config, distribution, out } = self;
        let w = Sending { paths, send, timers, fast, events, negotiation, fallback, config };
        Composing { w, distribution, recv, out }
    }

    /// The events so far.
    pub fn told(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.events.pop()).collect()
    }
}
