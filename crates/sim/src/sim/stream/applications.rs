//! What the applications of a host do when it is served: they write, read, and open further subflows.

use super::{App, Stream};
use crate::sim::app;
use crate::sim::network::Network;
use crate::sim::packet::{CLIENT, SERVER};

impl Stream {
    /// The application of a host may have something to do, by what it was told. (What it does at a certain time, it does when
    /// it is woken.)
    #[inline(always)]
    pub(super) fn has_work(&self, side: usize) -> bool {
        let Some(host) = &self.hosts[side] else { return false };
        let c = &host.connection;
        (side == CLIENT && self.paths.wants())
            || c.inbound().readable() > 0
            || host.app.has_work(c, host.end_of_stream)
            || host.other.as_ref().is_some_and(|other| other.has_work(c, host.end_of_stream))
    }

    /// Runs the application of a host; returns whether it wrote or read.
    pub(super) fn run_application(&mut self, net: &mut Network, side: usize) -> bool {
        let now = net.now;
        if side == CLIENT && self.paths.wants() {
            self.join(net);
        }
        let Some(host) = &mut self.hosts[side] else { return false };
        if host.connection.outbound().unacknowledged() == 0 {
            // Whatever it writes now is what it waits for from now on.
            host.busy_since = now;
        }
        let activity = self.activity.as_deref_mut();
        let (busy, wake) = match &mut host.app {
            App::Sender(sender) => {
                let asked = host.connection.inbound().readable();
                if asked > 0 && !self.transfer.both {
                    sender.on_read(host.connection.read(asked));
                    self.last_progress = now;
                }
                let (wrote, wake) = sender.run(now, &mut host.connection, activity, host.end_of_stream);
                if wrote {
                    net.on_write(self.index);
                }
                (wrote, wake)
            }
            App::Receiver(receiver) => {
                let offset = receiver.read;
                let (octets, wake) =
                    receiver.run(now, host.end_of_stream, &mut host.connection, activity, &mut net.loads);
                self.read_all |= host.end_of_stream && host.connection.inbound().readable() == 0;
                if octets > 0 {
                    self.account.note_read(now, octets);
                    net.note_read(octets);
                    self.account.altered.settle(offset + octets);
                    self.last_progress = now;
                    net.trace.deliver(now, self.index as u32, side == SERVER, offset, octets);
                }
                (octets > 0, wake)
            }
        };
        if wake < app::NEVER {
            self.wake(net, wake);
        }
        if !net.loads.is_empty() {
            self.tell_helpers(net);
        }
        if !self.transfer.both {
            return busy;
        }
        let other = self.run_other(net, side);
        self.note_done(now);
        other || busy
    }

    /// Runs the application of a host for the other direction; returns whether it wrote or read.
    #[cold]
    fn run_other(&mut self, net: &mut Network, side: usize) -> bool {
        let now = net.now;
        let Some(host) = &mut self.hosts[side] else { return false };
        let (busy, wake) = match host.other.as_deref_mut() {
            None => return false,
            Some(App::Sender(sender)) => {
                let (wrote, wake) = sender.run(now, &mut host.connection, None, host.end_of_stream);
                if wrote {
                    net.on_write(self.index);
                }
                (wrote, wake)
            }
            Some(App::Receiver(receiver)) => {
                let offset = receiver.read;
                let (octets, wake) = receiver.run(now, host.end_of_stream, &mut host.connection, None, &mut []);
                if octets > 0 {
                    self.account.reverse.get_or_insert_default().note_read(now, octets);
                    net.note_read(octets);
                    self.last_progress = now;
                    net.trace.deliver(now, self.index as u32, side == SERVER, offset, octets);
                }
                (octets > 0, wake)
            }
        };
        if wake < app::NEVER {
            self.wake(net, wake);
        }
        busy
    }

    /// What one connection of a page has fetched may be what others wait for.
    #[cold]
    fn tell_helpers(&self, net: &mut Network) {
        let Some(page) = self.activity.as_ref().and_then(|a| a.page()) else { return };
        if std::mem::take(&mut net.loads[page].news) {
            for i in 0..net.loads[page].slots.len() {
                let slot = net.loads[page].slots[i];
                if net.now < net.slots.at(slot) {
                    net.schedule(slot, net.now);
                }
            }
        }
    }
}
