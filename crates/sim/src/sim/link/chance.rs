//! What is left to chance on a link: whether a packet is lost, damaged or delivered twice, and how long it flies.

use anabranch_stack::registry::Setting;

use super::{Fate, LinkDirection, Rare};

use anabranch_scenario::{Loss, Redraw};

impl LinkDirection {
    fn vary(&self, u: f64) -> u64 {
        match self.rare.config.delay_variation {
            Setting::Time(most) => (self.base_delay as f64 + most.0 as f64 * (2.0 * u - 1.0)).max(0.0) as u64,
            Setting::Number(share) => (self.base_delay as f64 * (1.0 + share * (2.0 * u - 1.0))) as u64,
            _ => self.base_delay,
        }
    }

    pub(super) fn draw_delay(&mut self) -> u64 {
        let u = self.rare.rng_delay.uniform();
        self.vary(u)
    }

    #[inline]
    pub(super) fn delay(&mut self, now: u64) -> u64 {
        if self.steady {
            return self.base_delay;
        }
        if let Some(weather) = &self.rare.weather {
            return self.base_delay + weather.passage.delay;
        }
        match self.rare.config.delay_redraw {
            Redraw::Packet => self.draw_delay(),
            Redraw::Write => self.rare.current_delay,
            Redraw::Every(interval) => {
                if now >= self.rare.redraw_at {
                    self.rare.current_delay = self.draw_delay();
                    self.rare.redraw_at = now - now % interval.0.max(1) + interval.0;
                }
                self.rare.current_delay
            }
        }
    }

    /// An application wrote: with [`Redraw::Write`] both directions take a delay from one draw `u`.
    pub fn on_write(&mut self, u: f64) {
        if self.rare.config.delay_redraw == Redraw::Write {
            self.rare.current_delay = self.vary(u);
        }
    }

    /// This direction redraws its delay at writes.
    pub fn redraws_on_write(&self) -> bool {
        !self.steady && self.rare.config.delay_redraw == Redraw::Write
    }
}

impl Rare {
    /// When a packet has been transmitted on a link that has no rate of its own.
    pub(super) fn pace(&mut self, now: u64, octets: u32, idle: bool) -> u64 {
        match (&mut self.trace, &mut self.weather) {
            (Some(trace), _) => trace.transmit(now, octets, idle),
            (None, Some(weather)) => weather.transmit(now, octets, idle),
            (None, None) => unreachable!("a paced link has a trace or weather"),
        }
    }

    pub(super) fn fate(&mut self) -> Fate {
        if self.weather.as_ref().is_some_and(|w| w.passage.lost) {
            return Fate::Lost;
        }
        let lost = match self.loss {
            Loss::Bernoulli(p) => self.rng_loss.chance(p),
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let turn = if self.bad { bad_to_good } else { good_to_bad };
                self.bad ^= self.rng_loss.chance(turn);
                self.rng_loss.chance(if self.bad { loss_bad } else { loss_good })
            }
        };
        if lost {
            return Fate::Lost;
        }
        Fate::Sent {
            corrupted: self.rng_corruption.chance(self.config.corruption),
            duplicated: self.rng_duplication.chance(self.config.duplication),
        }
    }
}
