//! Segments that leave: handshakes, retransmissions, reinjected and new data, acknowledgements, and the signals that ride on
//! them.

use super::*;

impl Connection {
    /// The next segment to send at `now`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        if self.quiet_until().is_some_and(|until| now < until) {
            return self.poll_quiet(now);
        }
        self.schedule_at = None;
        if let Some(id) = self.flowing {
            return self.poll_flow(now, id);
        }
        self.disturb();
        if self.fast_close.is_some() {
            return self.poll_closing(now);
        }
        let (mut calm, mut acks) = (true, false);
        for k in 0..self.living.len() {
            let id = self.living[k];
            let s = &mut self.subflows[id];
            acks |= s.ack_is_due();
            if s.is_calm() {
                continue;
            }
            calm = false;
            if let Some(segment) = s.poll_reset(now) {
                return Some(Transmit { subflow: id, kind: SendKind::Control, transmissions: 0, choices: 0, segment });
            }
            match s.state {
                State::Closed => continue,
                State::SynSent | State::SynReceived => {
                    if let Some(t) = self.poll_syn(now, id) {
                        return Some(t);
                    }
                }
                _ => {
                    if let Some((sent, kind)) = s.next_retransmission(now) {
                        return Some(self.retransmission(now, id, &sent, kind));
                    }
                }
            }
        }
        self.limit = self.nothing_to_send();
        if !self.reinjections.is_empty() || self.data_nxt < self.written {
            if let Some(t) = self.poll_data(now) {
                let flows = calm && !acks && t.kind == SendKind::New && !self.subflows[t.subflow].ack_is_due();
                self.flowing = flows.then_some(t.subflow);
                return Some(t);
            }
        }
        if !calm {
            if let Some(t) = self.poll_rescue(now) {
                return Some(t);
            }
        }
        let control = self.poll_control(now, !calm || acks);
        if control.is_none() && calm {
            self.settle();
        }
        control
    }

    /// What recovery sends again when there is no new data to send.
    fn poll_rescue(&mut self, now: Instant) -> Option<Transmit> {
        for k in 0..self.living.len() {
            let id = self.living[k];
            if self.subflows[id].state == State::Closed {
                continue;
            }
            if self.subflows[id].lacks_probe() {
                self.subflows[id].stop_probing();
                if let Some((sent, kind)) = self.subflows[id].next_retransmission(now) {
                    return Some(self.retransmission(now, id, &sent, kind));
                }
            }
            if let Some((sent, kind)) = self.subflows[id].next_rescue(now) {
                return Some(self.retransmission(now, id, &sent, kind));
            }
        }
        None
    }

    /// FASTCLOSE_WAIT: resets, and MP_FASTCLOSE (RFC 8684 3.5).
    fn poll_closing(&mut self, now: Instant) -> Option<Transmit> {
        let reset = self.living.iter().find_map(|&id| Some((id, self.subflows[id].poll_reset(now)?)));
        let (subflow, segment) = reset.or_else(|| self.poll_fast_close(now))?;
        Some(Transmit { subflow, kind: SendKind::Control, transmissions: 0, choices: 0, segment })
    }

    pub(super) fn poll_syn(&mut self, now: Instant, id: SubflowId) -> Option<Transmit> {
        let checksum = self.config.checksum;
        let s = &self.subflows[id];
        let tried = s.state == State::SynSent && s.retries >= CAPABLE_SYNS && self.members[id].join == Join::First;
        if tried && matches!(self.mode, Mode::Negotiating { .. }) {
            // RFC 8684 3.1: how many SYNs with MP_CAPABLE go unanswered before one without, is local policy.
            self.never_multipath(id, FallbackCause::Syn);
        }
        if !self.subflows[id].syn_is_due() {
            return None;
        }
        let mptcp = match (self.members[id].join, self.mode) {
            (Join::First, Mode::Negotiating { own_key }) => match self.subflows[id].state {
                State::SynSent => Mptcp::CapableSyn { checksum },
                _ => Mptcp::CapableSynAck { checksum, key: own_key },
            },
            (Join::First, _) => Mptcp::None,
            (_, Mode::Mptcp(k)) => join_option(&self.members[id], &k),
            _ => Mptcp::None,
        };
        let window = self.edge - self.reassembly.nxt();
        let segment = self.subflows[id].poll_syn(now, window, mptcp, &self.config)?;
        Some(Transmit { subflow: id, kind: SendKind::Control, transmissions: 0, choices: 0, segment })
    }

    /// The window field of a segment on `id`, and the edge it promises.
    pub(super) fn window(&mut self, id: SubflowId) -> u16 {
        let nxt = self.reassembly.nxt();
        let goal = match self.config.receive_buffer {
            None => nxt + MAX_WINDOW,
            Some(buffer) => {
                // RFC 9293 3.8.6.2.2: no small steps.
                let goal = self.read + buffer;
                let step = u64::from(self.config.mss).min(buffer / 2).max(1);
                if goal >= self.edge + step { goal } else { self.edge }
            }
        };
        let goal = goal.max(self.edge);
        let shift = self.subflows[id].own_shift;
        let field = ((goal - nxt) >> shift).min(65_535);
        self.edge = self.edge.max(nxt + (field << shift));
        field as u16
    }

    /// The DSS option of a segment that maps `data` (if any).
    pub(super) fn dss(&self, k: &Keys, id: SubflowId, data: Option<(u64, u32, Seq)>) -> Dss {
        let fin_received = u64::from(self.peer_closed);
        let ack = k.peer_first_dsn.wrapping_add(self.reassembly.nxt() + fin_received);
        // 3.3.2: a 64-bit data sequence number MUST be acknowledged with as many bits.
        let ack = if self.long_dsn { DataAck::Eight(ack) } else { DataAck::Four(ack as u32) };
        let mut dss = Dss { data_ack: Some(ack), ..Dss::default() };
        if let Some((data, len, seq)) = data {
            let last = data + u64::from(len) == self.written && self.write_closed && self.fin != Fin::Open;
            dss.data_fin = last;
            let ssn = (seq.0 - self.subflows[id].iss.0) as u32;
            dss.mapping = Some(self.mapping(k, id, data, ssn, (len + u32::from(last)) as u16));
        }
        dss
    }

    /// A mapping of `len` octets from `data` on, to go out on `id`. Beside DOOR's number there is room for four octets of the data
    /// sequence number only.
    fn mapping(&self, k: &Keys, id: SubflowId, data: u64, ssn: u32, len: u16) -> Mapping {
        let dsn = k.own_first_dsn.wrapping_add(data);
        // The checksum covers all 64 bits, whatever is carried (3.3.1).
        let checksum = self.checksum_of(dsn, ssn, len);
        let short = self.config.dsn_octets == DsnOctets::Four || self.subflows[id].door.on;
        Mapping { dsn: if short { dsn & u64::from(u32::MAX) } else { dsn }, short, ssn, len, checksum }
    }

    /// The MPTCP option of a segment with payload.
    pub(super) fn data_option(&mut self, id: SubflowId, sent: &Sent) -> Mptcp {
        match self.mode {
            Mode::Mptcp(k) => {
                // 3.1: the first data carries the keys, whatever became of the third ACK. The option has room for no
                // other subflow sequence number than the first: a copy of these data after others needs a DSS.
                let first_here = sent.seq == self.subflows[id].iss + 1;
                if self.client && sent.data == 0 && first_here && self.members[id].join == Join::First {
                    return Mptcp::CapableAck {
                        checksum: self.config.checksum,
                        sender_key: k.own,
                        receiver_key: k.peer,
                        data: Some((sent.len as u16, self.checksum_of(k.own_first_dsn, 1, sent.len as u16))),
                    };
                }
                Mptcp::Dss(self.dss(&k, id, Some((sent.data, sent.len, sent.seq))))
            }
            _ => self.infinite_option(sent),
        }
    }

    pub(super) fn retransmission(&mut self, now: Instant, id: SubflowId, sent: &Sent, kind: SendKind) -> Transmit {
        let window = self.window(id);
        let mut segment = self.subflows[id].resend(now, sent, window);
        if sent.is_fin() {
            segment.options.mptcp = self.control_option(id);
            return Transmit { subflow: id, kind: SendKind::Control, transmissions: 0, choices: 0, segment };
        }
        segment.options.mptcp = self.data_option(id, sent);
        self.subflows[id].door.number_packet(&mut segment);
        Transmit { subflow: id, kind, transmissions: sent.transmissions, choices: 0, segment }
    }

    /// Reinjected and new data (RFC 8684 3.3.6; RFC 9293 3.8.6.2.1 for small segments and windows).
    pub(super) fn poll_data(&mut self, now: Instant) -> Option<Transmit> {
        // RFC 8684 3.3.8: a backup carries data only when no regular subflow works.
        let works = |(s, m): (&Subflow, &Member)| m.ready && s.may_send() && !s.is_stale();
        let has_regular =
            self.living().any(|(_, m)| m.is_backup()) && self.living().any(|(s, m)| works((s, m)) && !m.is_backup());
        for &id in &self.living {
            let (c, s, m) = (&mut self.candidates[id], &self.subflows[id], &self.members[id]);
            c.can_send = works((s, m)) && !(has_regular && m.is_backup());
            if c.can_send {
                c.srtt = s.srtt().unwrap_or_default();
                c.look(s);
            }
        }
        self.poll_candidates(now)
    }

    /// As [`Connection::poll_data`], with all candidates up to date.
    pub(super) fn poll_candidates(&mut self, now: Instant) -> Option<Transmit> {
        if !self.candidates.iter().any(|c| c.can_send) {
            self.limit = Limit::Cwnd;
            return None;
        }
        let candidates = &self.candidates;
        let has_way = |stuck_on| candidates.iter().enumerate().any(|(id, c)| c.can_send && Some(id) != stuck_on);
        if let Some(stretch) = self.reinjections.next(has_way) {
            let home = stretch.stuck_on.map(|id| std::mem::take(&mut self.candidates[id].can_send));
            if let Some(id) = self.pick(now) {
                let len = (stretch.end - stretch.start).min(u64::from(self.subflows[id].mss)) as u32;
                self.reinjections.advance(stretch.stuck_on, u64::from(len));
                let choices = self.choices();
                self.scheduler.on_sent(id);
                let transmit = self.send(now, id, stretch.start, len, SendKind::Reinjection);
                return Some(Transmit { choices, ..transmit });
            }
            if let (Some(id), Some(home)) = (stretch.stuck_on, home) {
                self.candidates[id].can_send = home;
            }
        }
        let left = self.written - self.data_nxt;
        let usable = self.peer_edge.saturating_sub(self.data_nxt).min(left);
        if left == 0 {
            return None;
        }
        if usable == 0 {
            self.limit = Limit::ReceiveWindow;
            self.arm_persist(now);
            return None;
        }
        let Some(id) = self.pick(now) else {
            self.limit = Limit::Scheduler;
            return None;
        };
        let mss = self.subflows[id].mss;
        let len = usable.min(u64::from(mss)) as u32;
        if len < mss {
            // RFC 9293 3.7.4, 3.8.6.2.1: a small segment leaves if it is all there is and nothing is unacknowledged (or
            // Nagle's algorithm is off, or nothing will follow); else only if it is half of the largest window seen, or if
            // the window has not opened further in a while.
            let all = usable == left;
            let idle = self.data_nxt == self.data_una;
            let pushed = all && (idle || self.write_closed || !self.config.nagle);
            let half = !all && 2 * usable >= self.peer_window && (idle || !self.config.nagle);
            if !pushed && !half {
                if idle && !all {
                    self.arm_persist(now);
                }
                self.limit = if all { self.nothing_to_send() } else { Limit::ReceiveWindow };
                return None;
            }
        }
        let data = self.data_nxt;
        self.data_nxt += u64::from(len);
        let choices = self.choices();
        self.scheduler.on_sent(id);
        let mut transmit = self.send(now, id, data, len, SendKind::New);
        transmit.choices = choices;
        Some(transmit)
    }

    /// Why there is nothing to send: the application has not written more, or could not.
    pub(super) fn nothing_to_send(&self) -> Limit {
        let full = !self.write_closed && self.writable() == 0;
        if full { Limit::SendBuffer } else { Limit::Application }
    }

    /// How many subflows the scheduler could choose from.
    fn choices(&self) -> u16 {
        self.candidates.iter().filter(|c| c.can_send).count() as u16
    }

    /// The scheduler's choice among the candidates; `None` if it waits, which is noted.
    fn pick(&mut self, now: Instant) -> Option<SubflowId> {
        match self.scheduler.pick(now, &self.candidates) {
            Decision::Send(id) => Some(id),
            Decision::Wait(until) => {
                // A time that has come is no time to wait for: it would only stay due.
                let until = until.filter(|&at| at > now);
                self.schedule_at = self.schedule_at.into_iter().chain(until).min();
                None
            }
        }
    }

    pub(super) fn send(&mut self, now: Instant, id: SubflowId, data: u64, len: u32, kind: SendKind) -> Transmit {
        self.persist_at = None;
        let last = data + u64::from(len) == self.written;
        if last && self.write_closed && self.fin == Fin::Open && matches!(self.mode, Mode::Mptcp(_)) && data > 0 {
            // The DATA_FIN rides on the last data (3.3.3). (Not with MP_CAPABLE, which has no room for it.)
            self.fin = Fin::Sent { again_at: now + self.fin_patience(), tries: 1 };
        }
        let window = self.window(id);
        let owed_ack = self.subflows[id].owes_ack();
        let (mut segment, sent) = self.subflows[id].send_new(now, data, len, last, window);
        if kind == SendKind::Probe {
            self.subflows[id].make_probe(&mut segment);
        }
        self.note_run(&sent, id);
        segment.options.mptcp = self.data_option(id, &sent);
        if owed_ack && self.reassembly.nxt() > 0 && matches!(segment.options.mptcp, Mptcp::CapableAck { .. }) {
            // It acknowledges on the subflow only: there is no room for a DATA_ACK beside the keys (3.1). A pure one follows.
            self.subflows[id].ack_now();
        }
        self.subflows[id].door.number_packet(&mut segment);
        Transmit { subflow: id, kind, transmissions: 1, choices: 0, segment }
    }

    /// RFC 9293 3.8.6.1, 3.8.6.2.1: the window is closed, or too small to be worth a segment, and nothing is in flight that
    /// would bring news of it.
    pub(super) fn arm_persist(&mut self, now: Instant) {
        let hopeful = |(s, m): (&Subflow, &Member)| {
            let probing = (1..=PROBES).contains(&m.probes_unanswered);
            s.state != State::Closed && !s.board.is_empty() && (probing || !s.is_stale())
        };
        if self.living().any(hopeful) {
            return;
        }
        if self.persist_at.is_none() {
            let rto = self.living().filter(|(s, _)| s.may_send()).map(|(s, _)| s.rto()).min();
            self.persist_at = Some(now + rto.unwrap_or(self.config.initial_rto));
        }
    }

    /// How long a DATA_FIN waits for its DATA_ACK: the slowest subflow's timeout.
    pub(super) fn fin_patience(&self) -> Duration {
        let open = self.living().filter(|(s, _)| s.is_open());
        open.map(|(s, _)| s.rto()).max().unwrap_or(self.config.initial_rto)
    }

    /// The MPTCP option of a pure acknowledgement on `id`.
    pub(super) fn control_option(&self, id: SubflowId) -> Mptcp {
        let Mode::Mptcp(k) = self.mode else { return Mptcp::None };
        match self.members[id].join {
            Join::AwaitAck { hmac, .. } => Mptcp::JoinAck { hmac },
            // 3.1: the third ACK carries the keys until the peer shows that it knows them.
            Join::First if self.client && !self.confirmed && self.data_nxt == 0 => Mptcp::CapableAck {
                checksum: self.config.checksum,
                sender_key: k.own,
                receiver_key: k.peer,
                data: None,
            },
            _ => Mptcp::Dss(self.dss(&k, id, None)),
        }
    }

    /// Acknowledgements, FIN, DATA_FIN, zero-window probes, addresses. `some`: a subflow has something to send of itself.
    pub(super) fn poll_control(&mut self, now: Instant, some: bool) -> Option<Transmit> {
        let control = |id, segment| {
            Some(Transmit { subflow: id, kind: SendKind::Control, transmissions: 0, choices: 0, segment })
        };
        if self.persist_at.is_some_and(|at| at <= now) {
            if let Some(t) = self.probe(now) {
                return Some(t);
            }
        }
        if let Some((id, segment)) = self.poll_data_fin(now) {
            return control(id, segment);
        }
        if let Some((id, segment)) = self.poll_signals(now) {
            return control(id, segment);
        }
        if matches!(self.mode, Mode::Tcp) {
            self.subflows[self.plain.subflow].close |= self.write_closed && self.data_nxt == self.written;
        } else if !some && self.failing.is_none() {
            return None;
        }
        for k in 0..self.living.len() {
            let id = self.living[k];
            let s = &self.subflows[id];
            if s.state == State::Closed {
                continue;
            }
            if s.close {
                let window = self.window(id);
                if let Some(mut segment) = self.subflows[id].poll_fin(now, window) {
                    segment.options.mptcp = self.control_option(id);
                    return control(id, segment);
                }
            }
            if self.subflows[id].ack_is_due() || self.fail_is_due(now, id) {
                let option = self.control_option(id);
                return control(id, self.acknowledgement(now, id, option));
            }
        }
        None
    }

    pub(super) fn acknowledgement(&mut self, now: Instant, id: SubflowId, option: Mptcp) -> Segment {
        // Beside timestamps and a mapping there is no room for MP_FAIL: it waits for the next acknowledgement. Beside keys or an HMAC
        // neither, but a peer whose data failed has had these.
        let mapping = matches!(option, Mptcp::Dss(Dss { mapping: Some(_), .. }));
        let signal = if mapping { Signal::None } else { self.fail_signal(now, id) };
        let handshake = matches!(option, Mptcp::CapableAck { .. } | Mptcp::JoinAck { .. });
        let option = if handshake && !signal.is_empty() { Mptcp::None } else { option };
        self.signalling(now, id, option, signal)
    }

    /// A pure acknowledgement with a signal.
    pub(super) fn signalling(&mut self, now: Instant, id: SubflowId, option: Mptcp, signal: Signal) -> Segment {
        let window = self.window(id);
        self.subflows[id].make_ack(now, window, option, signal)
    }

    /// What a small window takes, or one octet beyond a closed one.
    pub(super) fn probe(&mut self, now: Instant) -> Option<Transmit> {
        self.persist_at = None;
        if self.data_nxt == self.written {
            return None;
        }
        let ready = |&id: &usize| self.members[id].ready && self.subflows[id].may_send();
        let key = |&id: &usize| (self.subflows[id].is_stale(), self.subflows[id].rto());
        let id = self.living.iter().copied().filter(ready).min_by_key(key)?;
        let (data, mss) = (self.data_nxt, u64::from(self.subflows[id].mss));
        let usable = self.peer_edge.saturating_sub(data).min(self.written - data).min(mss);
        let (len, kind) = if usable == 0 { (1, SendKind::Probe) } else { (usable, SendKind::New) };
        if kind == SendKind::New && !self.subflows[id].has_room(len as u32) {
            // What fills the window will be acknowledged or lost, and then this is asked again.
            self.persist_at = Some(now + self.subflows[id].rto());
            return None;
        }
        self.data_nxt += len;
        Some(self.send(now, id, data, len as u32, kind))
    }

    /// A DATA_FIN by itself (RFC 8684 3.3.3): with subflow sequence number 0 and length 1.
    pub(super) fn poll_data_fin(&mut self, now: Instant) -> Option<(SubflowId, Segment)> {
        let Mode::Mptcp(k) = self.mode else { return None };
        if !self.write_closed || self.data_nxt < self.written {
            return None;
        }
        // 3.1: the third ACK with the keys goes first, without which a DSS means nothing to the server.
        if self.client && !self.confirmed && self.subflows[0].ack_is_due() {
            return None;
        }
        let tries = match self.fin {
            Fin::Open => 0,
            Fin::Sent { again_at, tries } if again_at <= now => tries,
            _ => return None,
        };
        let open = |&id: &usize| self.members[id].ready && self.subflows[id].is_open();
        // Repeated on every subflow in turn: one of them may be dead.
        let n = self.living.iter().copied().filter(open).count();
        let id = self.living.iter().copied().filter(open).nth(tries as usize % n.max(1))?;
        // With all data acknowledged nothing else finds out that the peer is gone.
        if tries > FIN_TRIES * self.config.max_retransmissions && self.data_una == self.written {
            self.give_up();
            return None;
        }
        let patience = self.fin_patience().saturating_mul(1 << tries.min(FIN_BACKOFF));
        self.fin = Fin::Sent { again_at: now + patience, tries: tries + 1 };
        let mut dss = self.dss(&k, id, None);
        dss.data_fin = true;
        dss.mapping = Some(self.mapping(&k, id, self.written, 0, 1));
        Some((id, self.acknowledgement(now, id, Mptcp::Dss(dss))))
    }

    /// A subflow that may carry signals of the connection.
    pub(super) fn ready_subflow(&self) -> Option<SubflowId> {
        self.living().find(|(s, m)| m.ready && s.is_open()).map(|(s, _)| s.id)
    }
}
