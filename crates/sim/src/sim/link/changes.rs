//! Changes of a link while a run goes on.

use super::{LinkDirection, NEVER, Rare};
use crate::sim::packet::PacketId;
use anabranch_scenario::Loss;

impl LinkDirection {
    /// The link fails: hands out everything that was in it.
    pub fn go_down(&mut self, now: u64) -> Vec<PacketId> {
        debug_assert!(!self.ahead, "a link that changes does not look ahead");
        // In the order: in transmission, waiting, flying.
        self.packets.rotate_left(self.flying as usize);
        let mut lost: Vec<PacketId> = self.packets.drain(..).map(|packet| packet.id).collect();
        if let Some(queue) = &mut self.rare.queue {
            let at = usize::from(self.busy);
            lost.splice(at..at, queue.drain());
        }
        self.rare.capacity.cut(now);
        (self.end, self.arrival) = (NEVER, NEVER);
        (self.flying, self.octets, self.busy, self.down) = (0, 0, false, true);
        lost
    }

    /// The link works again.
    pub fn go_up(&mut self) {
        self.down = false;
    }

    /// A new rate, from the next transmission on.
    pub fn set_rate(&mut self, now: u64, rate: u64) {
        debug_assert!(!self.ahead, "a link that changes does not look ahead");
        // What is in transmission goes on at the old rate: until then there is no other.
        let from = if self.busy && !self.paced { self.end.at().max(now) } else { now };
        self.rare.capacity.change(from, rate);
        self.rate = rate;
    }

    /// A new delay, from the next packet on.
    pub fn set_delay(&mut self, delay: u64) {
        debug_assert!(!self.ahead, "a link that changes does not look ahead");
        self.base_delay = delay;
        self.constant = false;
        self.rare.current_delay = delay;
        self.rare.redraw_at = 0;
    }

    /// New random loss.
    pub fn set_loss(&mut self, loss: Loss) {
        debug_assert!(!self.ahead, "a link that changes does not look ahead");
        let Rare { config, .. } = &*self.rare;
        self.clean = loss == Loss::Bernoulli(0.0)
            && self.rare.weather.is_none()
            && config.corruption == 0.0
            && config.duplication == 0.0;
        self.rare.loss = loss;
        self.rare.bad = false;
    }
}
