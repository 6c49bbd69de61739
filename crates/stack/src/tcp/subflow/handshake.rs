//! Opening a subflow: what SYN and SYN/ACK offer and accept (RFC 9293 3.5, 3.10.7.3; options of RFC 7323, 2018, 3168).

use super::{Check, Subflow};
use crate::config::{Config, DsnOctets};
use crate::controller::Adjust;
use crate::event::{EndReason, Event, Events};
use crate::segment::{Flags, Mptcp, OPTION_SPACE, Options, Payload, Segment, Signal};
use crate::seq::Seq;
use crate::tcp::receiver::reassembly::Receiver;
use crate::tcp::state::State;
use crate::time::Instant;

/// Octets of TCP-DOOR's packet number in a data segment.
pub(super) const DOOR_LEN: u32 = 8;

/// Length of the longest DSS in a data segment, padded to words: a DATA_ACK as long as the peer may require, the configured
/// length of our data sequence numbers, with or without a checksum (RFC 8684 figure 9).
pub(super) fn largest_dss(config: &Config) -> u32 {
    match config.dsn_octets {
        _ if !config.mptcp => 0,
        DsnOctets::Four => 24,
        DsnOctets::Eight => 28,
    }
}

impl Subflow {
    /// Adds `offset`, in milliseconds, to the timestamps that this subflow sends. Call it before
    /// the first segment.
    pub(crate) fn shift_timestamps(&mut self, offset: u32) {
        self.timestamps.shift(offset);
    }

    /// Takes what the peer's SYN offers. An option that either side lacks is off.
    pub(super) fn take_syn(&mut self, syn: &Segment) {
        self.irs = Seq::initial(syn.seq);
        self.receiver = Receiver::new(self.irs + 1);
        self.peer_window.take_syn(syn);
        let o = &syn.options;
        if o.window_scale.is_none() {
            // RFC 7323 2.2, 2.3: it holds if both sides have sent it; without the peer's option neither side scales its window.
            self.own_shift = 0;
        }
        // RFC 9293 3.7.1, RFC 6691 2: the peer's MSS does not count options, so the options of a segment are subtracted from its
        // payload. The default MSS is 536.
        let peer_mss = u32::from(o.mss.unwrap_or(536));
        let options = self.largest_options(syn);
        self.largest_dss = if syn.options.mptcp.is_empty() { 0 } else { self.largest_dss };
        // RFC 2018 4: no SACK unless both sides have permitted it.
        self.sack &= o.sack_permitted;
        // RFC 9293 3.7.1 Eff.snd.MSS: nor does what our own interface takes (MMS_S).
        let largest = self.own_syn.mss_option().map_or(peer_mss, |own| peer_mss.min(own.into()));
        let mss = self.sender.mss.min(largest.saturating_sub(options).max(1));
        self.sender.settle(mss, self.sack);
        self.door.on &= o.door_permitted;
        self.timestamps.take_syn(syn, self.irs);
        self.ecn.take_syn(syn);
    }

    /// Multipath TCP is not used after all: no data segment needs the room for a DSS.
    pub(crate) fn release_dss_room(&mut self, config: &Config) {
        if self.state == State::SynReceived {
            let mss = config.mss.min(self.sender.mss + std::mem::take(&mut self.largest_dss));
            self.sender.settle(mss, self.sack);
        }
    }

    /// Octets of option space that a data segment may need beside its payload, as negotiated.
    fn largest_options(&self, syn: &Segment) -> u32 {
        let timestamps = if self.timestamps.on && syn.options.timestamps.is_some() { 12 } else { 0 };
        let dss = if syn.options.mptcp.is_empty() { 0 } else { self.largest_dss };
        let door = if self.door.on && syn.options.door_permitted { DOOR_LEN } else { 0 };
        (timestamps + dss + door).min(OPTION_SPACE)
    }

    /// RFC 9293 3.10.7.3: processes a segment in SYN-SENT.
    pub(crate) fn on_segment_in_syn_sent(&mut self, now: Instant, seg: &Segment) -> (Check, Option<EndReason>) {
        let ack_ok = if seg.flags.has(Flags::ACK) {
            let ack = Seq::unwrap(seg.ack, self.sender.una);
            if ack <= self.iss || ack > self.sender.nxt {
                if !seg.flags.has(Flags::RST) {
                    self.set_reset(Segment { seq: seg.ack, flags: Flags::RST, ..Segment::default() });
                }
                return (Check::Drop, None);
            }
            true
        } else {
            false
        };
        if seg.flags.has(Flags::RST) {
            return (Check::Drop, ack_ok.then(|| self.end(EndReason::Reset)));
        }
        if !seg.flags.has(Flags::SYN) {
            return (Check::Drop, None);
        }
        self.take_syn(seg);
        self.peer_window.set(self.irs, self.iss);
        if ack_ok {
            self.finish_handshake(now, seg);
            self.fast_open.tx = self.sender.on_syn_data_acked(now, Seq::unwrap(seg.ack, self.iss + 1));
            self.acks.now();
        } else {
            // Simultaneous open (RFC 9293 3.5, figure 7). RFC 7413 4.2.2: a cookie beside SYN and ACK is one that is given, and ours was
            // the peer's.
            self.state = State::SynReceived;
            self.fast_open.option = None;
            self.own_syn.ask();
        }
        (Check::Accept, None)
    }

    pub(super) fn finish_handshake(&mut self, now: Instant, seg: &Segment) {
        self.acks.on_handshake(now, self.state == State::SynReceived);
        self.state = State::Established;
        // RFC 5681 3.1: SYN/ACK and its acknowledgement do not enlarge the window.
        self.sender.on_syn_acked(self.iss + 1);
        if self.own_syn.was_retransmitted() {
            // RFC 5681 3.1: the window is one segment if a SYN or SYN/ACK was lost; ssthresh stays. RFC 6298 5.7: the RTO is 3 s.
            self.sender.controller.adjust(Adjust::LostSyn);
            if let Some(ecr) = self.timestamps.echo(seg) {
                self.sender.sample_from_echo(now, ecr);
            }
            self.sender.rtt.after_lost_syn();
        } else {
            // RFC 7323 3.2: no echo is read of a SYN without ACK; the time of our own SYN serves.
            self.sender.sample_rtt(now, now.since(self.own_syn.sent_at()));
        }
        self.sender.restart_after_syn(now);
    }

    /// The connection is given up, or a router says that the SYN was not forwarded. RFC 7413 4.1.3.1: "(and most importantly) no response (SYN-ACK) from the server at all" is a refusal of
    /// what the SYN carried.
    pub(crate) fn note_silence(&self, events: &mut Events) {
        if self.state == State::SynSent && self.fast_open.option.is_some() {
            events.push_back(Event::FastOpenRefused);
        }
    }

    /// A SYN or SYN/ACK must be sent.
    #[inline]
    pub(crate) fn syn_is_due(&self) -> bool {
        self.own_syn.is_due()
    }

    /// The SYN or SYN/ACK, if one must be sent. `data`: so many octets are there to be sent with a SYN. `window` is in unscaled octets (RFC 7323 2.2: never scaled on a SYN).
    pub(crate) fn poll_syn(
        &mut self,
        now: Instant,
        window: u64,
        mptcp: Mptcp,
        config: &Config,
        data: u64,
    ) -> Option<Segment> {
        if !self.own_syn.is_due() {
            return None;
        }
        self.own_syn.note_sent(now);
        self.sender.nxt = self.sender.nxt.max(self.iss + 1);
        self.sender.rto_at = now + self.sender.rtt.rto();
        let mut flags = Flags::SYN;
        if self.state == State::SynReceived {
            flags = flags.with(Flags::ACK);
        }
        if self.ecn.on {
            // RFC 3168 6.1.1.
            flags = flags.with(Flags::ECE);
            if self.state == State::SynSent {
                flags = flags.with(Flags::CWR);
            }
        }
        let answering = self.state == State::SynReceived;
        let mut options = self.syn_options(now, mptcp, config);
        let len = data.min(u64::from(self.add_fast_open(&mut options, config))) as u32;
        if len > 0 {
            self.fast_open.sent = len;
            self.sender.send_new(now, 0, len);
        }
        // RFC 7323 4.3: what came with the SYN is acknowledged, so Last.ACK.sent is behind it.
        self.timestamps.last_ack_sent = self.receiver.rcv_nxt;
        let ack = if answering { self.receiver.rcv_nxt.wire() } else { 0 };
        Some(Segment {
            seq: self.iss.wire(),
            ack,
            window: window.min(u64::from(u16::MAX)) as u16,
            flags,
            options,
            payload: Payload::new(0, len),
            ..Segment::default()
        })
    }

    /// The options of our SYN or SYN/ACK, without that of Fast Open.
    fn syn_options(&self, now: Instant, mptcp: Mptcp, config: &Config) -> Options {
        let answering = self.state == State::SynReceived;
        let mut options = Options {
            // RFC 9293 3.2, 3.7.1: on every SYN, and on no other segment (MUST-65), what can be received (MUST-67).
            mss: Some(config.mss_option.unwrap_or((config.mss + OPTION_SPACE).min(u32::from(u16::MAX)) as u16)),
            // RFC 2018 2: on SYNs only.
            sack_permitted: self.sack,
            door_permitted: self.door.on,
            mptcp,
            ..Options::default()
        };
        // RFC 7323 2.2, 2.3: window scale is offered with any shift, and in answer to an offer.
        if self.own_shift > 0 || self.peer_window.shift > 0 || !answering {
            options.window_scale = Some(self.own_shift);
        }
        options.timestamps = self.timestamps.option(now);
        options
    }

    /// Adds the Fast Open option, if it is wanted and fits, to the first SYN or SYN/ACK (RFC 7413 4.2.1, 4.2.2: not to one that is sent
    /// again). Returns how much payload the SYN can carry: up to the server's MSS.
    fn add_fast_open(&self, options: &mut Options, config: &Config) -> u32 {
        let Some(cookie) = self.fast_open.option.filter(|_| !self.own_syn.was_retransmitted()) else { return 0 };
        if !self.fast_open.bare {
            options.signal = Signal::FastOpen(cookie);
            if options.wire_len() > OPTION_SPACE {
                // 4.2.2: "abort TFO and fall back to the regular 3WHS".
                options.signal = Signal::None;
                return 0;
            }
        }
        if !self.fast_open.carries_data() || self.state != State::SynSent {
            return 0;
        }
        // Linux leaves room for as many options as there can be (`MAX_TCP_OPTION_SPACE`).
        let taken = if config.deviations.full_options_beside_syn_data { OPTION_SPACE } else { options.wire_len() };
        let own = config.mss_option.map_or(config.mss + OPTION_SPACE, u32::from);
        self.fast_open.peer_mss.min(own).saturating_sub(taken)
    }

    /// How much payload the SYN that is about to be sent can carry.
    pub(crate) fn syn_room(&self, now: Instant, mptcp: Mptcp, config: &Config) -> u32 {
        self.add_fast_open(&mut self.syn_options(now, mptcp, config), config)
    }

    /// What stands behind the SYN in a SYN/ACK that has completed the handshake, if anything does,
    /// as a segment of its own. RFC 9293 3.10.7.3: other controls and text are processed as if they
    /// had come behind it. (With Multipath TCP data need a mapping, for which a SYN has no room:
    /// they come again.)
    pub(crate) fn behind_syn(&self, seg: &Segment) -> Option<Segment> {
        if self.state != State::Established || (seg.payload.len == 0 && !seg.flags.has(Flags::FIN)) {
            return None;
        }
        let mut rest = *seg;
        rest.seq = seg.seq.wrapping_add(1);
        rest.flags.0 &= !Flags::SYN.0;
        // RFC 7323 2.2: the window of a SYN is not scaled.
        rest.window = seg.window >> self.peer_window.shift;
        Some(rest)
    }
}
