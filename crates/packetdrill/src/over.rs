//! `--over-mptcp`: a script of plain TCP over a connection of one subflow.
//!
//! The endpoint under test speaks Multipath TCP; the script does not know of it. Between them stands this peer, which adds to what
//! arrives the options that RFC 8684 wants there, and takes from what is sent what a script of TCP would not show. Both see the same
//! sequence numbers, as the octets of one subflow are numbered like those of the data stream. Only the FIN differs: the script's is the
//! DATA_FIN, which takes a number of the data stream and none of the subflow. The subflow's own FINs follow when both streams have
//! ended (3.3.3); this peer answers them by itself.

use anabranch_stack::mptcp::keys::initial_dsn;
use anabranch_stack::segment::{DataAck, Dss, Flags, Mapping, Mptcp, Options, Segment, Signal};

/// The peer's key.
const KEY: u64 = 0x0123_4567_89ab_cdef;

/// Octets that a DSS takes of a data segment's options at most: a DATA_ACK and a mapping with 64 bits each (RFC 8684 figure 9). The MSS
/// options on both sides grow by so much, that segments carry as much as without.
pub const ROOM: u16 = 28;

/// Whose a segment is.
#[derive(Clone, Debug)]
pub enum Taken {
    /// The script's.
    Script,
    /// This peer's, with its answer, if it needs one.
    Held(Option<Box<Segment>>),
}

/// The peer's side of a connection.
#[derive(Clone, Debug, Default)]
pub struct Over {
    /// Initial sequence numbers, ours and the peer's.
    iss: u32,
    irs: u32,
    /// Our key, once it was seen.
    key: Option<u64>,
    /// The third segment of the handshake has both keys: sent by the peer, or not needed.
    confirmed: bool,
    /// The numbers that the FINs have in the script, counted from the initial ones: ours and the peer's.
    our_fin: Option<u32>,
    peer_fin: Option<u32>,
    /// The subflow is being closed: what is sent there is no more of the script's.
    closing: bool,
}

impl Over {
    /// A segment of the script arrives: gives it its options.
    pub fn arrives(&mut self, segment: &mut Segment, len: u32) {
        let flags = segment.flags;
        if flags.has(Flags::SYN) {
            self.irs = segment.seq;
            // RFC 9293 3.7.1 (MUST-15): 536 without the option.
            segment.options.mss = Some(segment.options.mss.unwrap_or(536).saturating_add(ROOM));
            let answer = flags.has(Flags::ACK);
            self.confirmed |= answer;
            let (no_join, checksum, key) = (false, false, KEY);
            segment.options.mptcp = if answer {
                Mptcp::CapableSynAck { no_join, checksum, key }
            } else {
                Mptcp::CapableSyn { no_join, checksum }
            };
            return;
        }
        let at = segment.seq.wrapping_sub(self.irs);
        if self.peer_fin.is_some_and(|fin| at > fin) {
            segment.seq = segment.seq.wrapping_sub(1);
        }
        let acked = segment.ack.wrapping_sub(self.iss);
        if self.our_fin.is_some_and(|fin| acked == fin.wrapping_add(1)) {
            segment.ack = segment.ack.wrapping_sub(1);
        }
        let Some(key) = self.key.filter(|_| flags.has(Flags::ACK) && !flags.has(Flags::RST)) else { return };
        let fin = flags.has(Flags::FIN);
        if fin {
            segment.flags = Flags(flags.0 & !Flags::FIN.0);
            self.peer_fin = Some(at.wrapping_add(len));
        }
        if !std::mem::replace(&mut self.confirmed, true) && !fin {
            let data = (len > 0).then_some((len as u16, None));
            segment.options.mptcp = Mptcp::CapableAck { checksum: false, sender_key: KEY, receiver_key: key, data };
            return;
        }
        let mapping = (len > 0 || fin).then(|| Mapping {
            dsn: initial_dsn(KEY).wrapping_add(u64::from(at)),
            short: false,
            ssn: if len > 0 { at } else { 0 },
            len: (len as u16).saturating_add(fin.into()),
            checksum: None,
        });
        let data_ack = Some(DataAck::Eight(initial_dsn(key).wrapping_add(u64::from(acked))));
        segment.options.mptcp = Mptcp::Dss(Dss { data_ack, mapping, data_fin: fin });
    }

    /// A segment is sent: takes from it what TCP does not have.
    pub fn sent(&mut self, segment: &mut Segment, len: u32) -> Taken {
        let signal = segment.options.signal;
        let signal = if matches!(signal, Signal::FastOpen(_)) { signal } else { Signal::None };
        let options = Options { mptcp: Mptcp::None, signal, tcp_rst: None, ..segment.options };
        let had = std::mem::replace(&mut segment.options, options).mptcp;
        match had {
            Mptcp::CapableSynAck { key, .. } => self.key = Some(key),
            Mptcp::CapableAck { sender_key, .. } => self.key = Some(sender_key),
            _ => {}
        }
        if segment.flags.has(Flags::SYN) {
            self.iss = segment.seq;
            segment.options.mss = segment.options.mss.map(|mss| mss.saturating_sub(ROOM));
            return Taken::Script;
        }
        if segment.flags.has(Flags::FIN) || self.closing {
            let again = !std::mem::replace(&mut self.closing, true) || segment.flags.has(Flags::FIN);
            return Taken::Held(again.then(|| Box::new(answer(segment))));
        }
        let at = segment.seq.wrapping_sub(self.iss);
        if let Mptcp::Dss(Dss { data_fin: true, .. }) = had {
            segment.flags = segment.flags.with(Flags::FIN);
            self.our_fin = Some(at.wrapping_add(len));
        } else if self.our_fin == Some(at) && len == 0 {
            segment.seq = segment.seq.wrapping_add(1);
        }
        if let (Mptcp::Dss(dss), Some(fin)) = (had, self.peer_fin) {
            let fin = initial_dsn(KEY).wrapping_add(u64::from(fin)).wrapping_add(1);
            let acked = match dss.data_ack {
                Some(DataAck::Eight(n)) => n == fin,
                Some(DataAck::Four(n)) => n == fin as u32,
                None => false,
            };
            segment.ack = segment.ack.wrapping_add(acked.into());
        }
        Taken::Script
    }
}

/// The subflow's FIN is acknowledged, and answered with one.
fn answer(fin: &Segment) -> Segment {
    Segment {
        seq: fin.ack,
        ack: fin.seq.wrapping_add(1),
        window: u16::MAX,
        flags: Flags::FIN.with(Flags::ACK),
        ..Segment::default()
    }
}
