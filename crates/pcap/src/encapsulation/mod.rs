//! From a record to the TCP segments in it: headers are opened one by one until TCP is found or
//! nothing more can be opened.
//!
//! Each header is a [`Layer`], opened by one small function that reads only that header and says
//! what comes next ([`Step`]). A record has at most [`DEPTH`] headers, so headers that contain each
//! other for ever come to an end. The state beside that is bounded, too: fragments that wait for
//! the rest of their packets, the latest packets for copies of them, transmitters of 802.11.
//!
//! Of a tunnel the innermost IP packet counts, and nothing of what is around it.
//!
//! - [`octets`]: octets as captured and as sent
//! - [`link`], [`frames`]: from a link to IP; [`wifi`]: 802.11; [`logs`]: packets logged by a
//!   system; [`tunnels`]: from IP to IP
//! - [`fragments`]: reassembly; [`repeats`]: the same packet in two encapsulations

use anabranch_stack::wire::ip;

use super::packet::{self, Packet, Tap};
use fragments::Fragments;
use octets::Octets;
use repeats::Repeats;
use wifi::Retries;

mod fragments;
pub mod frames;
pub mod link;
pub mod logs;
pub mod octets;
mod repeats;
mod tunnels;
pub mod wifi;

/// The most headers that are opened in one record.
const DEPTH: u32 = 32;
/// Tunnels around one packet that are counted by name, from the outermost one.
const NAMES: usize = 8;

/// A header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The frame of a link type.
    Link(u32),
    /// Ethernet.
    Ethernet,
    /// The payload of an EtherType.
    EtherType(u16),
    /// IEEE 802.2.
    Llc,
    /// PPP.
    Ppp,
    /// Cisco HDLC.
    CiscoHdlc,
    /// Frame Relay.
    FrameRelay,
    /// IEEE 802.11, without radiotap or the like; with octets that align the payload.
    Wifi {
        /// There may be two octets between header and payload.
        padded: bool,
    },
    /// Several payloads of 802.11 in one frame.
    Aggregate,
    /// A stack of MPLS labels.
    Mpls,
    /// IP of either version.
    Ip,
}

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// What comes next.
    Next(Layer, Octets<'a>),
    /// The same, behind a tag or on a session with this number.
    Tagged(u32, Layer, Octets<'a>),
    /// The same, recorded on the interface with this index.
    At(u32, Layer, Octets<'a>),
    /// The same, within a tunnel of this name and number.
    Into(&'static str, u32, Layer, Octets<'a>),
    /// Something of this name, which may hold TCP and cannot be opened.
    Closed(&'static str),
    /// Something that does not hold TCP.
    Nothing,
    /// Something unknown.
    Unknown,
    /// A link type that is not known.
    UnknownLink,
    /// The same frame again.
    Again,
}

impl Step<'_> {
    /// Adds the number of a tag to the way.
    pub fn through(self, number: u32) -> Self {
        match self {
            Self::Next(layer, rest) => Self::Tagged(number, layer, rest),
            other => other,
        }
    }
}

/// The headers around a packet.
#[derive(Clone, Copy, Debug, Default)]
struct Route {
    depth: u32,
    /// Distinguishes routes: zero without tags and tunnels.
    number: u32,
    /// Interface index at the host that captured, or zero.
    index: u32,
    names: [&'static str; NAMES],
    named: usize,
    /// The latest step entered a tunnel.
    entered: bool,
}

impl Route {
    fn add(&mut self, number: u32) {
        self.number = (self.number.rotate_left(5) ^ number.wrapping_add(0x9e37)).wrapping_mul(0x9e37_79b1) | 1;
    }

    fn enter(&mut self, name: &'static str, number: u32) {
        self.add(number ^ name.bytes().fold(0, |n: u32, octet| n.wrapping_mul(31) ^ u32::from(octet)));
        if self.named < NAMES && !self.names[..self.named].contains(&name) {
            self.names[self.named] = name;
            self.named += 1;
        }
    }
}

/// Counts of packets by name.
pub type Named = Vec<(&'static str, u64)>;

fn count(named: &mut Named, name: &'static str) {
    match named.iter_mut().find(|(n, _)| *n == name) {
        Some((_, packets)) => *packets += 1,
        None => named.push((name, 1)),
    }
}

/// [`packet::parse`] as a function of its own, for what does not come by the short way.
#[inline(never)]
fn parsed(o: Octets<'_>, time: u64, tap: Tap) -> Option<Packet<'_>> {
    packet::parse(o.here, o.sent, time, tap)
}

/// What was found in and around the packets of a capture.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// TCP segments found in each kind of tunnel.
    pub opened: Named,
    /// Packets that may hold TCP and cannot be opened.
    pub closed: Named,
    /// Packets cut within their headers.
    pub cut: u64,
    /// IP fragments of packets that may hold TCP.
    pub fragments: u64,
    /// Those of them whose packets are not complete.
    pub incomplete: u64,
    /// Packets that were reassembled from fragments.
    pub reassembled: u64,
    /// Packets that were recorded before: in another encapsulation, or as the same frame of 802.11.
    pub repeated: u64,
}

/// A record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Link type.
    pub link: u32,
    /// The frame.
    pub frame: &'a [u8],
    /// Octets that it had on the wire.
    pub sent: u32,
    /// Nanoseconds.
    pub time: u64,
    /// File and interface.
    pub tap: Tap,
}

/// Who is told of each segment.
type Sink<'a> = &'a mut dyn FnMut(&Packet<'_>);

/// Opens records.
#[derive(Clone, Debug, Default)]
pub struct Opener {
    fragments: Fragments,
    repeats: Repeats,
    retries: Retries,
    told: Told,
}

impl Opener {
    /// A TCP segment that is not in any encapsulation is seen; returns whether it was recorded before in one.
    #[inline]
    pub fn is_repeat(&mut self, p: &Packet<'_>) -> bool {
        let repeat = self.repeats.is_repeat(p, 0);
        self.told.repeated += u64::from(repeat);
        repeat
    }

    /// Tells `sink` of the TCP segments in record `r`; returns whether its link type is known.
    pub fn open(&mut self, r: &Record<'_>, sink: Sink<'_>) -> bool {
        let frame = Octets::new(r.frame, r.sent as usize);
        self.walk(Layer::Link(r.link), frame, Route::default(), r, sink)
    }

    /// What was found so far.
    pub fn told(&self) -> Told {
        let mut told = self.told.clone();
        told.opened.sort_by_key(|(name, packets)| (std::cmp::Reverse(*packets), *name));
        told.closed.sort_by_key(|(name, packets)| (std::cmp::Reverse(*packets), *name));
        told.fragments = self.fragments.seen;
        told.incomplete = self.fragments.incomplete();
        told.reassembled = self.fragments.reassembled;
        told
    }

    /// Opens header after header from `layer` on; returns false if a link type is unknown.
    fn walk(&mut self, mut layer: Layer, mut o: Octets<'_>, mut route: Route, r: &Record<'_>, sink: Sink<'_>) -> bool {
        loop {
            if route.depth == DEPTH {
                count(&mut self.told.closed, "more than 32 headers");
                return true;
            }
            route.depth += 1;
            let step = match layer {
                Layer::Ip => {
                    let Some(next) = self.ip(o, route, r, sink) else { return true };
                    Some(next)
                }
                Layer::Aggregate => {
                    self.aggregate(o, route, r, sink);
                    return true;
                }
                Layer::Wifi { padded } => self.retries.open(o, padded),
                Layer::Link(link) => link::start(link, o),
                Layer::Ethernet => frames::ethernet(o),
                Layer::EtherType(kind) => frames::ether_type(kind, o),
                Layer::Llc => frames::llc(o),
                Layer::Ppp => frames::ppp(o),
                Layer::CiscoHdlc => frames::cisco_hdlc(o),
                Layer::FrameRelay => frames::frame_relay(o),
                Layer::Mpls => frames::mpls(o),
            };
            let within = std::mem::take(&mut route.entered);
            (layer, o) = match step {
                Some(Step::Next(layer, rest)) => (layer, rest),
                Some(Step::Tagged(number, layer, rest)) => {
                    route.add(number);
                    (layer, rest)
                }
                Some(Step::At(index, layer, rest)) => {
                    route.index = index;
                    (layer, rest)
                }
                Some(Step::Into(name, number, layer, rest)) => {
                    route.enter(name, number);
                    route.entered = true;
                    (layer, rest)
                }
                Some(other) => return self.end(other, within, &route),
                None => {
                    self.told.cut += u64::from(o.is_cut());
                    return true;
                }
            };
        }
    }

    /// A step after which nothing comes; `within`: directly in a tunnel. Returns false for an unknown link type.
    fn end(&mut self, step: Step<'_>, within: bool, route: &Route) -> bool {
        match step {
            Step::Closed(name) => count(&mut self.told.closed, name),
            Step::Unknown if within && route.named > 0 => count(&mut self.told.closed, route.names[route.named - 1]),
            Step::Again => self.told.repeated += 1,
            Step::UnknownLink => return false,
            _ => {}
        }
        true
    }

    /// An IP packet: a segment, a fragment, or something else, of which the next step is returned; `None` if that is all.
    fn ip<'a>(&mut self, o: Octets<'a>, route: Route, r: &Record<'_>, sink: Sink<'_>) -> Option<Step<'a>> {
        let Ok(view) = ip::View::cut(o.here, o.sent) else {
            self.told.cut += u64::from(o.is_cut());
            return None;
        };
        let tap = Tap { index: route.index, ..r.tap };
        if let Some(fragment) = view.fragment() {
            if tunnels::can_hold_tcp(fragment.protocol) {
                if let Some(whole) = self.fragments.add(r.time, &view, &fragment, tap, route.number) {
                    self.walk(Layer::Ip, Octets::new(&whole.octets, whole.sent), route, r, sink);
                }
            }
            return None;
        }
        let payload = Octets::new(view.payload(), view.payload_len());
        match view.protocol() {
            ip::TCP => {}
            tunnels::AH => {
                self.authenticated(&view, payload, route, r, sink);
                return None;
            }
            _ => {
                let step = tunnels::ip_payload(&view, payload);
                self.told.cut += u64::from(step.is_none() && payload.is_cut());
                return step;
            }
        }
        let Some(p) = parsed(o, r.time, tap) else {
            self.told.cut += u64::from(payload.is_cut());
            return None;
        };
        if self.repeats.is_repeat(&p, route.number) {
            self.told.repeated += 1;
            return None;
        }
        route.names[..route.named].iter().for_each(|name| count(&mut self.told.opened, name));
        sink(&p);
        None
    }

    /// IPv4 with an authentication header (RFC 4302 2): the packet as it would be without. (In IPv6 it is an extension header.)
    fn authenticated(&mut self, view: &ip::View<'_>, o: Octets<'_>, route: Route, r: &Record<'_>, sink: Sink<'_>) {
        let header = || Some((o.u8(0)?, o.from(4 * (usize::from(o.u8(1)?) + 2))?));
        let Some((protocol, rest)) = header() else {
            self.told.cut += u64::from(o.is_cut());
            return;
        };
        let Ok(payload_len) = u16::try_from(rest.sent) else { return };
        let mut octets = Vec::new();
        if (ip::Header { protocol, payload_len, ..ip::Header::parse(view) }).emit(&mut octets).is_ok() {
            octets.extend(rest.here);
            let sent = octets.len() - rest.here.len() + rest.sent;
            self.walk(Layer::Ip, Octets::new(&octets, sent), route, r, sink);
        }
    }

    /// The payloads in an A-MSDU.
    fn aggregate(&mut self, o: Octets<'_>, route: Route, r: &Record<'_>, sink: Sink<'_>) {
        let mut rest = Some(o);
        while let Some((payload, next)) = rest.filter(|o| o.sent > 0).and_then(wifi::subframe) {
            self.walk(Layer::Llc, payload, route, r, sink);
            rest = next;
        }
    }
}
