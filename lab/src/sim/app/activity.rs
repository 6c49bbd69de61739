//! What an application counts in, and what decides which part comes next and when.

use super::messages::Generator;
use crate::metrics::items::{Items, Kind};
use crate::scenario::{Application, Transfer};

/// The parts of a transfer that has parts.
#[derive(Debug)]
pub struct Activity {
    /// All of them, as far as they are known.
    pub items: Items,
    what: What,
}

#[derive(Debug)]
enum What {
    Messages(Generator),
}

impl Activity {
    /// Of the connection called `name`, which starts at `started`; `None` if its transfer has no parts.
    pub fn new(transfer: &Transfer, seed: u64, name: &str, started: u64) -> Option<Box<Self>> {
        let (kind, deadline, what) = match &transfer.application {
            Application::Messages(m) => {
                let generator = Generator::new(m.clone(), seed, name, started);
                (Kind::Message, m.deadline, What::Messages(generator))
            }
            _ => return None,
        };
        Some(Box::new(Self { items: Items::new(kind, deadline.map(|d| d.0)), what }))
    }

    /// What the sender makes of its own accord by `now`, if its connection is `open`; returns when it makes more, and
    /// whether this was all.
    pub fn make(&mut self, now: u64, open: bool) -> (u64, bool) {
        match &mut self.what {
            What::Messages(generator) => generator.run(now, open, &mut self.items),
        }
    }

    /// The stream is read up to `read`.
    pub fn arrive(&mut self, now: u64, read: u64) {
        self.items.arrive(now, read);
    }
}
