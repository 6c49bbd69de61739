//! Segments that differ from the one before on their subflow in a few numbers only.
//!
//! While data flows one way, the segments of a subflow are alike: each data segment has the next numbers of the same mapping, each
//! acknowledgement the next acknowledgement numbers. Such a segment is made from the one before, as 4.4BSD made headers from a template
//! (Wright and Stevens, "TCP/IP Illustrated, Volume 2", 26.4). A template holds until anything has happened that the segment's other
//! fields depend on ([`Basis`]); the next segment is then composed in full, and is the next template.

use crate::segment::{DataAck, Door, Dss, Flags, Mptcp, Payload, Segment, Timestamps};
use crate::seq::Seq;

/// What the fields depend on that stay the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Basis {
    /// Inputs so far that were not predicted, and calls of the application that may change segments.
    pub revision: u64,
    /// Of data segments, RCV.NXT of the subflow; of acknowledgements, SND.NXT.
    pub other: Seq,
    /// Of data segments, the octets that have arrived in order and been read, which only grow; of acknowledgements, nothing.
    pub received: u64,
}

/// A segment, and what the next one shares with it.
#[derive(Debug, Default)]
pub(crate) struct Template {
    pub segment: Segment,
    basis: Basis,
    /// Octets of header and options; zero if nothing is to be made from the segment.
    header_len: u32,
}

impl Template {
    /// `segment`, of `wire_len` octets, was sent and may be followed by segments that differ in numbers only. Data and acknowledgements
    /// with all the usual options are such.
    pub fn keep(&mut self, segment: &Segment, wire_len: u32, basis: Basis) {
        let data = segment.payload.len > 0;
        let mappable = match &segment.options.mptcp {
            Mptcp::None => true,
            Mptcp::Dss(Dss { data_ack: Some(_), mapping: None, data_fin: false }) => !data,
            Mptcp::Dss(Dss { data_ack: Some(_), mapping: Some(m), data_fin: false }) => {
                data && u32::from(m.len) == segment.payload.len && m.checksum.is_none()
            }
            _ => false,
        };
        let usual = segment.flags == Flags::ACK
            && mappable
            && segment.options.signal.is_empty()
            && segment.options.door == Door::default()
            && segment.options.sack.as_slice().is_empty();
        self.header_len = if usual { wire_len - segment.payload.len } else { 0 };
        if usual {
            (self.segment, self.basis) = (*segment, basis);
        }
    }

    /// The next segment may be made from it: one with data or one without.
    #[inline(always)]
    pub fn holds(&self, basis: Basis, data: bool) -> bool {
        self.header_len > 0 && self.basis == basis && (self.segment.payload.len > 0) == data
    }

    /// The next data segment. Returns its length.
    #[inline(always)]
    pub fn next_data(&mut self, seq: Seq, payload: Payload, timestamps: Option<Timestamps>) -> u32 {
        let s = &mut self.segment;
        if let Mptcp::Dss(dss) = &mut s.options.mptcp {
            if let Some(m) = &mut dss.mapping {
                let dsn = m.dsn.wrapping_add(payload.offset.wrapping_sub(s.payload.offset));
                m.dsn = if m.short { u64::from(dsn as u32) } else { dsn };
                m.ssn = m.ssn.wrapping_add(seq.wire().wrapping_sub(s.seq));
                m.len = payload.len as u16;
            }
        }
        (s.seq, s.payload, s.options.timestamps) = (seq.wire(), payload, timestamps);
        self.header_len + payload.len
    }

    /// The next acknowledgement. Returns its length.
    #[inline(always)]
    pub fn next_ack(&mut self, ack: Seq, data_ack: u64, window: u16, timestamps: Option<Timestamps>) -> u32 {
        let s = &mut self.segment;
        if let Mptcp::Dss(dss) = &mut s.options.mptcp {
            dss.data_ack = match dss.data_ack {
                Some(DataAck::Eight(_)) => Some(DataAck::Eight(data_ack)),
                _ => Some(DataAck::Four(data_ack as u32)),
            };
        }
        (s.ack, s.window, s.options.timestamps) = (ack.wire(), window, timestamps);
        self.header_len
    }
}
