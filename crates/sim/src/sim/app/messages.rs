//! Messages that are written when their time has come, whatever the connection does.
//!
//! The first one comes when the connection is open, the others follow at intervals. A message counts from its time on, whether
//! there is room for it or not: what waits in the application is a part of its latency.

use std::sync::Arc;

use anabranch_measures::items::Items;

use super::NEVER;
use crate::sim::draw::draw;
use crate::sim::rng::Rng;
use anabranch_scenario::application::{Messages, Until};

/// Where messages come from.
#[derive(Debug)]
pub struct Generator {
    messages: Arc<Messages>,
    size: Rng,
    interval: Rng,
    /// When the next one is due; `None` until the connection is open.
    next: Option<u64>,
    /// No message is due at this time or later.
    end: u64,
    made: u64,
}

impl Generator {
    /// Of the connection called `name`, which starts at `started`.
    pub fn new(messages: Arc<Messages>, seed: u64, name: &str, started: u64) -> Self {
        let rng = |what: &str| Rng::new(seed, &format!("connection {name} message {what}"));
        let end = match messages.until {
            Until::Count(_) => NEVER,
            Until::Duration(d) => started.saturating_add(d.0),
        };
        Self { size: rng("size"), interval: rng("interval"), messages, next: None, end, made: 0 }
    }

    /// Adds to `items` what is due by `now`; returns when the next one is, and whether there is none.
    pub fn run(&mut self, now: u64, open: bool, items: &mut Items) -> (u64, bool) {
        let Some(mut due) = self.next.or(open.then_some(now)) else { return (self.end, now >= self.end) };
        let most = match self.messages.until {
            Until::Count(n) => n,
            Until::Duration(_) => u64::MAX,
        };
        while due <= now && due < self.end && self.made < most {
            items.ask(due, self.made as u32, draw(&self.messages.size, &mut self.size));
            self.made += 1;
            due = due.saturating_add(draw(&self.messages.interval, &mut self.interval));
        }
        self.next = Some(due);
        let over = due >= self.end || self.made == most;
        (if over { NEVER } else { due }, over)
    }
}
