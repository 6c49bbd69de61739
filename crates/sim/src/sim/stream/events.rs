//! What the engine tells a host of a connection, into accounts and trace.

use anabranch_measures::account::ConnectionAccount;
use anabranch_stack::controller::Cause;
use anabranch_stack::event::{ArrivalKind, EndReason, Event};
use anabranch_stack::segment::AddrId;

use super::{Host, Stream};
use crate::sim::app;
use crate::sim::network::Network;
use crate::sim::packet::CLIENT;

impl Stream {
    #[inline]
    pub(super) fn take_events(&mut self, net: &mut Network, side: usize) {
        if self.hosts[side].as_ref().is_some_and(|host| host.connection.has_events()) {
            self.take_all_events(net, side);
        }
    }

    #[inline(never)]
    fn take_all_events(&mut self, net: &mut Network, side: usize) {
        let sends_data = side == self.sender;
        while let Some(host) = &mut self.hosts[side] {
            let Some(event) = host.connection.poll_change() else { return };
            match event {
                Event::Arrived { subflow, data, len, fresh, kind, intact } if !sends_data => {
                    self.taken = true;
                    let held = host.connection.inbound().held();
                    if fresh > 0 {
                        self.account.reorder.arrive(net.now, data, host.connection.inbound().received(), held.0);
                        net.flows[self.index].tuples[host.ends.of(subflow).tuple as usize].fresh += u64::from(fresh);
                    }
                    note_arrival(&mut self.account, fresh, kind, held);
                    let verified = self.config.checksum && host.connection.is_multipath();
                    note_content(
                        &mut self.account,
                        (subflow, kind),
                        (data, len, fresh),
                        intact,
                        self.touched,
                        verified,
                    );
                }
                Event::Window { subflow, cwnd, ssthresh } if sends_data => {
                    let tuple = host.ends.of(subflow).tuple as usize;
                    note_window(net, (self.index, side, tuple), host, subflow, (cwnd, ssthresh), self.read_all);
                }
                Event::Arrived { intact: false, .. } if self.transfer.both => {
                    // What was altered may be taken, or found out, when a later segment completes its mapping.
                    self.account.damaged |= !self.interfered;
                }
                Event::Arrived { .. } | Event::Window { .. } => {}
                rare if sends_data => self.on_sender_event(net, side, rare),
                rare => self.on_event(net, side, rare),
            }
        }
    }

    /// What is told of the sender of the data only.
    #[cold]
    fn on_sender_event(&mut self, net: &mut Network, side: usize, event: Event) {
        let Some(host) = &self.hosts[side] else { return };
        let (Event::SubflowEstablished(subflow) | Event::Congestion { subflow, .. } | Event::Judged { subflow, .. }) =
            event
        else {
            return self.on_event(net, side, event);
        };
        let account = &mut net.flows[self.index].tuples[host.ends.of(subflow).tuple as usize];
        match event {
            Event::Congestion { cause, .. } if cause != Cause::Ecn => account.episodes.begin(net.now),
            Event::Judged { spurious, restored, .. } => account.episodes.judge(net.now, spurious, restored),
            Event::SubflowEstablished(subflow) => {
                let sub = &host.connection.subflows()[subflow];
                account.cwnd.set(net.now, sub.cwnd() / f64::from(sub.mss()));
            }
            _ => {}
        }
    }

    #[cold]
    fn on_event(&mut self, net: &mut Network, side: usize, event: Event) {
        let now = net.now;
        let Some(host) = &mut self.hosts[side] else { return };
        match event {
            Event::Connected => {
                self.last_progress = now;
                if let (CLIENT, Some(taken)) = (side, &mut self.account.fast_open) {
                    *taken = u64::from(host.connection.subflows()[0].fast_opened());
                    net.note_fast_open(self.index, host.connection.subflows()[0].fast_opened());
                }
                if side == CLIENT && self.multipath {
                    self.paths.on_connected(now);
                    if self.paths.is_backup(0, CLIENT) {
                        // MP_CAPABLE has no flag B.
                        host.connection.set_backup(0, true);
                    }
                }
            }
            Event::RemoteAddress { id, addr, .. } if side == CLIENT => {
                self.paths.on_address(now, AddrId { id, addr });
            }
            Event::RemoteAddressRemoved { id } if side == CLIENT => self.paths.on_removal(id),
            Event::SubflowEnded(subflow, _) => self.on_subflow_ended(net, side, subflow),
            Event::EndOfStream => host.end_of_stream = true,
            Event::Closed => {
                host.closed = true;
                self.note_done(now);
                self.note_failure(now);
            }
            Event::Aborted(reason) => {
                host.aborted = true;
                self.account.aborted.get_or_insert((now, side == CLIENT, reason));
                self.note_failure(now);
            }
            _ => {}
        }
    }

    fn on_subflow_ended(&mut self, net: &mut Network, side: usize, subflow: usize) {
        let Some(host) = &mut self.hosts[side] else { return };
        if side != self.sender {
            let verified = self.config.checksum && host.connection.is_multipath();
            self.account.altered.end(subflow, host.connection.inbound().received(), verified);
        }
        if side == CLIENT {
            let path = net.flows[self.index].tuples[host.ends.of(subflow).tuple as usize].path;
            self.paths.on_ended(net.now, path, host.closed || !self.multipath);
            let next = self.paths.wake(net.now);
            if next < app::NEVER {
                self.wake(net, next);
            }
        }
    }

    /// The transfer is over when both ends have closed and their applications, which may be slow, have read everything.
    pub(super) fn note_done(&mut self, now: u64) {
        let over = |h: &Host| h.closed && h.connection.inbound().readable() == 0;
        if self.account.done.is_none() && self.hosts.iter().flatten().filter(|h| over(h)).count() == 2 {
            self.account.done = Some(now);
        }
    }

    /// If an end has aborted and the other, if it ever knew of the connection, will do nothing more, that was it. (Where nobody
    /// answers any more, that is a stall, and the run goes on to its end.)
    fn note_failure(&mut self, now: u64) {
        let over = self.hosts.iter().flatten().all(|h| h.closed || h.aborted);
        let told = self.account.aborted.is_some_and(|(_, _, why)| why != EndReason::TimedOut);
        if over && told && self.account.done.is_none() {
            self.account.failed.get_or_insert(now);
        }
    }
}

/// The congestion window of `subflow` of the sender of the data has changed. `over`: means over the transfer have ended.
#[inline(always)]
pub(super) fn note_window(
    net: &mut Network,
    (connection, side, tuple): (usize, usize, usize),
    host: &Host,
    subflow: usize,
    (cwnd, ssthresh): (f64, f64),
    over: bool,
) {
    if !over {
        let mss = f64::from(host.connection.subflows()[subflow].mss());
        net.flows[connection].tuples[tuple].cwnd.set(net.now, cwnd / mss);
    }
    net.trace.window(net.now, connection as u32, tuple as u32, side == CLIENT, cwnd, ssthresh);
}

/// Octets that middleboxes changed and the receiver took; what else is not as sent is this program's fault. `verified`: DSS checksums are in use.
pub(super) fn note_content(
    account: &mut ConnectionAccount,
    (subflow, kind): (usize, ArrivalKind),
    (data, len, fresh): (u64, u32, u32),
    intact: bool,
    (altered, displaced): (u16, bool),
    verified: bool,
) {
    let held = kind == ArrivalKind::HeldInSubflow;
    let kept = !matches!(kind, ArrivalKind::DuplicateInSubflow | ArrivalKind::DuplicateInData);
    if kept {
        let new = if fresh > 0 { fresh } else { len };
        let octets = if intact { new.min(altered.into()) } else { new };
        // If it is no duplicate though nothing of it is new, the receiver has dropped the earlier copy. With checksums an altered one is not in
        // the stream: it waits for the rest of its mapping, and will be found out, whichever copy comes into the stream in its stead.
        let replaces = verified || (fresh == 0 && !held);
        let misplaced = !intact && !displaced;
        account.altered.arrive((data, data + u64::from(len)), octets.into(), misplaced, subflow, held, replaces);
    } else if verified && intact && altered == 0 {
        account.altered.arrive_elsewhere((data, data + u64::from(len)), subflow);
    }
}

#[inline(always)]
pub(super) fn note_arrival(account: &mut ConnectionAccount, fresh: u32, kind: ArrivalKind, held: (u64, u64)) {
    if held.0 > 0 {
        account.held_packets = account.held_packets.max(held.0);
        account.held_octets = account.held_octets.max(held.1);
    }
    if fresh > 0 {
        let ahead = matches!(kind, ArrivalKind::AheadInData | ArrivalKind::HeldInSubflow);
        account.distinct += 1;
        account.out_of_order += u64::from(ahead);
    }
}
