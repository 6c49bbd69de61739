//! Changes of links while a run goes on: scheduled ones, and delays that follow the application.

use super::{Drop, Network};
use crate::sim::slots::NEVER;
use anabranch_scenario::{Change, ChangeKind, LinkId};

impl Network {
    /// A scheduled change of link `link`.
    pub fn change(&mut self, link: LinkId, change: &Change) {
        for (d, concerned) in [(2 * link, change.up), (2 * link + 1, change.down)] {
            if !concerned {
                continue;
            }
            match change.what {
                ChangeKind::LinkDown => {
                    for id in self.links[d].go_down(self.now) {
                        self.drop_packet(id, Drop::Down);
                    }
                    self.slots.set(d, NEVER);
                    for id in self.radio.go_down(d) {
                        self.drop_packet(id, Drop::Down);
                    }
                    self.schedule_radio(d);
                }
                ChangeKind::LinkUp => {
                    self.links[d].go_up();
                    self.radio.go_up(d);
                }
                ChangeKind::Rate(rate) => self.links[d].set_rate(self.now, rate),
                ChangeKind::Delay(delay) => self.links[d].set_delay(delay.0),
                ChangeKind::Loss(loss) => self.links[d].set_loss(loss),
            }
        }
    }

    /// The application of `connection` wrote: links that redraw their delay then, do.
    pub fn on_write(&mut self, connection: usize) {
        if self.write_rngs.is_empty() {
            return;
        }
        for path in &self.flows[connection].paths {
            for &d in &path.route[0] {
                let link = d / 2;
                let redraws = |d: usize| self.links[d].redraws_on_write();
                if redraws(2 * link) || redraws(2 * link + 1) {
                    let u = self.write_rngs[link].uniform();
                    self.links[2 * link].on_write(u);
                    self.links[2 * link + 1].on_write(u);
                }
            }
        }
    }
}
