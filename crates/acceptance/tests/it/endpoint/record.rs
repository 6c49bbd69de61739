//! Records of a trace that two runs with other secrets have in common.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

use anabranch_sim::sim::link::Drop;
use anabranch_sim::sim::packet::Packet;
use anabranch_sim::sim::trace::{Kind, Watch};
use anabranch_stack::segment::{DataAck, Flags, Mptcp, Options, Segment, Signal};

/// The records so far.
#[derive(Clone, Debug, Default)]
pub struct Lines(Rc<RefCell<Vec<String>>>);

impl Lines {
    pub fn take(self) -> Vec<String> {
        self.0.take()
    }
}

/// Writes each record as a line.
#[derive(Debug, Default)]
pub struct Recorder {
    lines: Lines,
    /// By connection, 4-tuple and direction: the initial sequence number.
    first: BTreeMap<(u32, u32, bool), u32>,
    /// By connection and direction: the low half of the first data sequence number seen, of a mapping
    /// or a DATA_ACK.
    first_data: BTreeMap<(u32, bool), u32>,
}

impl Recorder {
    pub fn new() -> (Self, Lines) {
        let recorder = Self::default();
        let lines = recorder.lines.clone();
        (recorder, lines)
    }

    /// The options with numbers counted from the first ones, and without keys and what is derived
    /// from keys.
    fn options(&mut self, p: &Packet, initial: (u32, u32)) -> String {
        let mut o: Options = p.segment.options;
        let mut text = String::new();
        for (from, to) in o.sack.as_slice() {
            let _ = write!(text, " sack {}-{}", from.wrapping_sub(initial.1), to.wrapping_sub(initial.1));
        }
        o.sack = Default::default();
        let mut data = |up: bool, low: u32| {
            let first = *self.first_data.entry((p.connection, up)).or_insert(low);
            low.wrapping_sub(first) as i32
        };
        match &mut o.mptcp {
            Mptcp::Dss(dss) => {
                if let Some(m) = dss.mapping {
                    let _ = write!(text, " map {}@{}+{} short {}", data(p.up, m.dsn as u32), m.ssn, m.len, m.short);
                    // The checksum covers the data sequence number.
                    let _ = write!(text, " checksum {}", m.checksum.is_some());
                }
                let ack = dss.data_ack.map(|ack| match ack {
                    DataAck::Four(low) => (4, data(!p.up, low)),
                    DataAck::Eight(whole) => (8, data(!p.up, whole as u32)),
                });
                let _ = write!(text, " data_ack {ack:?} data_fin {}", dss.data_fin);
                o.mptcp = Mptcp::None;
            }
            Mptcp::CapableSynAck { key, .. } => *key = 0,
            Mptcp::CapableAck { sender_key, receiver_key, data, .. } => {
                (*sender_key, *receiver_key) = (0, 0);
                if let Some((_, checksum)) = data {
                    *checksum = checksum.map(|_| 0);
                }
            }
            Mptcp::JoinSyn { token, nonce, .. } => (*token, *nonce) = (0, 0),
            Mptcp::JoinSynAck { hmac, nonce, .. } => (*hmac, *nonce) = (0, 0),
            Mptcp::JoinAck { hmac } => *hmac = Default::default(),
            Mptcp::CapableSyn { .. } | Mptcp::None => {}
        }
        match &mut o.signal {
            Signal::AddAddr { hmac, .. } => *hmac = 0,
            Signal::Fail { dsn } => *dsn = 0,
            Signal::Fastclose { key } => *key = 0,
            _ => {}
        }
        let _ = write!(text, " {o:?}");
        text
    }
}

impl Watch for Recorder {
    fn segment(&mut self, now: u64, kind: Kind, p: &Packet, dropped: Option<Drop>) {
        let Segment { seq, ack, window, flags, ecn, payload, .. } = p.segment;
        let mut initial = |up: bool, number: u32| *self.first.entry((p.connection, p.tuple, up)).or_insert(number);
        let initial = (initial(p.up, seq), if flags.has(Flags::ACK) { initial(!p.up, ack) } else { 0 });
        let (seq, ack) =
            (seq.wrapping_sub(initial.0), if flags.has(Flags::ACK) { ack.wrapping_sub(initial.1) } else { 0 });
        let options = self.options(p, initial);
        self.lines.0.borrow_mut().push(format!(
            "{now} {kind:?} {} tuple {} up {} {flags} seq {seq} ack {ack} window {window} {ecn:?} {}+{} {:?} {dropped:?}{options}",
            p.connection, p.tuple, p.up, payload.offset, payload.len, p.kind,
        ));
    }

    fn deliver(&mut self, now: u64, connection: u32, up: bool, offset: u64, octets: u64) {
        self.lines.0.borrow_mut().push(format!("{now} deliver {connection} up {up} {offset}+{octets}"));
    }

    fn window(&mut self, _: u64, _: u32, _: u32, _: f64, _: f64) {}
}
