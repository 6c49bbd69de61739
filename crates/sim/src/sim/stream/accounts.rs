//! What is told of a connection: what its sender waited for, how it fares, what became of it.

use anabranch_measures::account::SubflowAccount;
use anabranch_measures::causes::Cause;
use anabranch_measures::items::Loaded;
use anabranch_measures::series::Sample;
use anabranch_stack::Outgoing;
use anabranch_stack::event::{SendBlock, SendKind};
use anabranch_stack::tcp::State;

use super::{End, Host, Stream};
use crate::sim::network::Network;
use crate::sim::packet::{CLIENT, PacketId, SERVER};
use crate::sim::session::{Session, Slot};

impl Stream {
    /// What the sender of the data waits for now. A closed window is the receiver's reordering, if it holds anything.
    #[inline]
    pub(super) fn note_limit(&mut self, net: &Network) {
        let Some(host) = &self.hosts[self.sender] else { return };
        let limit = host.connection.outbound().limit();
        if self.limit != Some(limit) {
            self.note_other_limit(net, limit);
        }
    }

    fn note_other_limit(&mut self, net: &Network, limit: SendBlock) {
        let Some(host) = self.hosts[self.sender].as_ref().filter(|_| self.account.done.is_none()) else { return };
        if host.connection.subflows()[0].srtt().is_none() {
            return;
        }
        let holds = || self.hosts[1 - self.sender].as_ref().is_some_and(|h| h.connection.inbound().held().0 > 0);
        let wait = Cause::of(limit, holds);
        // What a window is closed by, and whether links are full, may be another thing the next time.
        self.limit = (!wait.is_window()).then_some(limit);
        let full = wait.is_window() && self.fills_links(net);
        self.account.limits.set(net.now, wait, full);
    }

    /// On the slowest link of each path that carries its data something waits.
    pub(super) fn fills_links(&self, net: &Network) -> bool {
        let Some(host) = &self.hosts[self.sender] else { return false };
        let tuples = &net.flows[self.index].tuples;
        let open = |&(id, _): &(usize, &End)| {
            host.connection.subflows()[id].state() == State::Established && !host.connection.is_backup(id)
        };
        let mut carrying = host.ends.as_slice().iter().enumerate().filter(open).peekable();
        carrying.peek().is_some() && carrying.all(|(_, e)| net.is_full(self.index, tuples[e.tuple as usize].path))
    }

    /// Whether it has fallen back from MPTCP to TCP: at one end at least. `None` if it was TCP from the start.
    fn fallback(&self) -> Option<bool> {
        self.multipath.then(|| self.hosts.iter().flatten().any(|h| !h.connection.is_multipath()))
    }

    /// What became of the parts of the transfer goes into the account.
    fn close_parts(&mut self, net: &Network, leads: bool) {
        self.account.fallback = self.fallback();
        let Some(activity) = self.activity.take() else { return };
        if let Some(page) = activity.page().filter(|_| leads) {
            self.account.page = Some(Loaded { at: net.loads[page].done });
        }
        let (items, playback) = activity.finish(net.now);
        self.account.items = Some(items);
        self.account.playback = playback;
    }

    /// Loss episodes undone on each 4-tuple.
    fn undone(&self, tuples: &[SubflowAccount]) -> Vec<u64> {
        let side = self.sender;
        let undone = |(i, t): (usize, &SubflowAccount)| {
            self.subflow_of(side, i as u32, t).map_or(0, |(host, subflow)| host.connection.subflows()[subflow].undone())
        };
        tuples.iter().enumerate().map(undone).collect()
    }

    /// The subflow that a 4-tuple is at a host; none if another one has its number by now.
    fn subflow_of(&self, side: usize, tuple: u32, account: &SubflowAccount) -> Option<(&Host, usize)> {
        let (host, subflow) = self.hosts[side].as_ref().zip(account.at[side])?;
        (host.ends.of(subflow).tuple == tuple).then_some((host, subflow))
    }

    /// It is open, and nothing was ever asked for over it.
    fn is_idle(&self) -> bool {
        let open = |host: &Host| host.connection.subflows()[0].state() == State::Established;
        self.account.items.as_ref().is_some_and(|items| items.all().is_empty()) && self.hosts.iter().flatten().all(open)
    }
}

impl Session for Stream {
    fn on_packet(&mut self, net: &mut Network, id: PacketId) {
        let _ = Self::on_packet(self, net, id);
    }

    fn on_slot(&mut self, net: &mut Network, slot: Slot) {
        match slot {
            Slot::ClientTimer => self.on_timer(net, CLIENT),
            Slot::ServerTimer => self.on_timer(net, SERVER),
            Slot::Applications => self.on_application(net),
        }
    }

    crate::sim::session::account_methods!();

    /// As opposed to an application that rests. Either host may be the one that has data to send.
    fn stuck_since(&self) -> Option<u64> {
        let waits = |host: &Host| (host.connection.outbound().unacknowledged() > 0).then_some(host.busy_since);
        if self.hosts[self.sender].is_none() || self.account.read == 0 && !self.is_idle() {
            return Some(self.last_progress);
        }
        let since = self.hosts.iter().flatten().filter_map(waits).min()?;
        Some(since.max(self.last_progress))
    }

    fn is_asleep(&self) -> bool {
        self.hosts.iter().flatten().any(|host| {
            let waits = host.connection.outbound().unacknowledged() > 0 && !host.closed && !host.aborted;
            waits && host.connection.poll_timeout().is_none()
        })
    }

    fn close(&mut self, net: &Network, subflows: &mut [SubflowAccount], leads: bool) {
        let undone = self.undone(subflows);
        subflows.iter_mut().zip(undone).for_each(|(t, n)| t.undone = n);
        self.tell_causes(subflows);
        self.close_parts(net, leads);
    }

    fn sample(&self, at: u64, tuples: &[SubflowAccount], out: &mut Vec<Sample>) {
        let sender = self.sender;
        let Some(host) = &self.hosts[sender] else { return };
        for (sub, &End { tuple, .. }) in host.connection.subflows().iter().zip(host.ends.as_slice()) {
            let account = &tuples[tuple as usize];
            let peer = self.subflow_of(1 - sender, tuple, account);
            let held = peer.map_or((0, 0), |(host, subflow)| host.connection.inbound().held_by(subflow));
            out.push(Sample {
                at,
                connection: self.index as u32,
                subflow: tuple,
                cwnd: sub.cwnd(),
                ssthresh: sub.ssthresh(),
                srtt: sub.srtt().map_or(f64::NAN, |d| d.as_secs_f64()),
                rtt_samples: sub.rtt_samples(),
                rto: sub.rto().as_secs_f64(),
                in_flight: sub.octets_in_flight(),
                delivered: account.fresh,
                ooo_buffer: held.0,
                ooo_buffer_bytes: held.1,
            });
        }
    }
}

/// A segment with data leaves the sender of the data.
#[inline(always)]
pub(super) fn note_transmission(account: &mut SubflowAccount, t: &Outgoing, seq: u32) {
    account.segments += 1;
    account.scheduled[0] += u64::from(t.choices > 0);
    account.scheduled[1] += u64::from(t.choices > 1);
    if t.transmissions > 1 || t.kind != SendKind::New {
        note_retransmission(account, t, seq);
    }
}

fn note_retransmission(account: &mut SubflowAccount, t: &Outgoing, seq: u32) {
    match t.kind {
        SendKind::Fast => account.fast += 1,
        SendKind::TailProbe if t.transmissions > 1 => account.fast += 1,
        SendKind::Timeout => account.timeout += 1,
        _ => {}
    }
    if t.transmissions > 1 && t.kind == SendKind::Probe {
        account.fates.probed(seq, t.transmissions);
    } else if t.transmissions > 1 {
        let episode = account.episodes.retransmit();
        account.fates.retransmitted(seq, t.transmissions, episode);
    }
}
