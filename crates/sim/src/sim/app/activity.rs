//! What an application counts in, and what decides which part comes next and when.

use anabranch_measures::items::{Items, Kind};
use anabranch_measures::playback::Playback;

use super::NEVER;
use super::messages::Generator;
use super::page::Load;
use super::video::Player;
use anabranch_scenario::{Application, Transfer};

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
    /// Number of the page among those that are loaded, and octets of a request.
    Page(usize, u64),
    Video(Box<Player>),
}

/// What the receiver does next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// Octets of requests to be written.
    pub octets: u64,
    /// When to look again.
    pub wake: u64,
    /// There is nothing more to be asked for.
    pub over: bool,
}

impl Activity {
    /// Of the connection called `name`, which starts at `started`; `None` if its transfer has no parts. `page` is the number of
    /// the page that it loads, if it loads one.
    pub fn new(transfer: &Transfer, seed: u64, name: &str, started: u64, page: Option<usize>) -> Option<Box<Self>> {
        let (kind, deadline, what) = match &transfer.application {
            Application::Messages(m) => {
                let generator = Generator::new(m.clone(), seed, name, started);
                (Kind::Message, m.deadline, What::Messages(generator))
            }
            Application::Page(p) => (Kind::Object, None, What::Page(page.expect("it is loaded"), p.request)),
            Application::Video(v) => (Kind::Segment, None, What::Video(Box::new(Player::new(v.clone())))),
            _ => return None,
        };
        Some(Box::new(Self { items: Items::new(kind, deadline.map(|d| d.0)), what }))
    }

    /// The page that it loads.
    pub fn page(&self) -> Option<usize> {
        match self.what {
            What::Page(page, _) => Some(page),
            _ => None,
        }
    }

    /// What the sender makes of its own accord by `now`, if its connection is `open`; returns when it makes more, and
    /// whether this was all.
    pub fn make(&mut self, now: u64, open: bool) -> (u64, bool) {
        match &mut self.what {
            What::Messages(generator) => generator.run(now, open, &mut self.items),
            What::Page(..) | What::Video(_) => (NEVER, false),
        }
    }

    /// Octets of the answers to requests of `octets` in all.
    pub fn answered(&self, octets: u64) -> u64 {
        let request = match &self.what {
            What::Messages(_) => return 0,
            What::Page(_, request) => *request,
            What::Video(player) => player.request(),
        };
        // A middlebox may have made the requests longer; no more is answered than was asked for.
        self.items.end_of(((octets / request) as usize).min(self.items.all().len()))
    }

    /// The stream is read up to `read`.
    pub fn arrive(&mut self, now: u64, read: u64, loads: &mut [Load]) {
        let there = self.items.arrive(now, read);
        match &mut self.what {
            What::Messages(_) => {}
            What::Page(page, _) => there.iter().for_each(|object| loads[*page].arrive(now, object.number)),
            What::Video(player) => there.iter().for_each(|segment| player.arrive(now, segment)),
        }
    }

    /// Asks for what is to be asked for at `now`, if its connection is `open` or there is no other to ask over; `None` if the
    /// receiver does not ask.
    pub fn ask(&mut self, now: u64, open: bool, loads: &mut [Load]) -> Option<Next> {
        match &mut self.what {
            What::Messages(_) => None,
            What::Page(page, request) => {
                let load = &mut loads[*page];
                let before = self.items.all().len();
                let most = if open || load.each == usize::MAX { load.each } else { 0 };
                while self.items.open() < most {
                    let Some((object, bytes)) = load.take(now) else { break };
                    self.items.ask(now, object, bytes);
                }
                let octets = (self.items.all().len() - before) as u64 * *request;
                let wake = if self.items.open() < most { load.due() } else { NEVER };
                Some(Next { octets, wake, over: load.done.is_some() })
            }
            What::Video(player) => {
                let (octets, wake) = player.ask(now, &mut self.items);
                Some(Next { octets, wake, over: player.is_over(&self.items) })
            }
        }
    }

    /// What became of it, at its end.
    pub fn finish(self, now: u64) -> (Items, Option<Playback>) {
        let playback = match self.what {
            What::Video(mut player) => {
                player.playback.finish(now);
                Some(player.playback)
            }
            _ => None,
        };
        (self.items, playback)
    }
}
