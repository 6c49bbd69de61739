//! A web page that is loaded: which objects can be asked for, and what is still missing.
//!
//! An object is asked for when the one it depends on is there, and `think` has passed. Several connections share a page; each
//! asks for one object at a time, as browsers do over HTTP/1.1, and takes the one that has waited longest. Over a single
//! connection all that can be asked for is asked for at once, and the answers come in the order of the requests, as with
//! HTTP/2 without priorities.

use std::collections::VecDeque;

use super::NEVER;
use crate::sim::draw::normal;
use crate::sim::rng::Rng;
use anabranch_scenario::application::{Content, Object, Page};

/// Standard deviation of the logarithm of file sizes on web servers: the body of the distribution in P. Barford and M. Crovella,
/// "Generating Representative Web Workloads for Network and Server Performance Evaluation", SIGMETRICS 1998.
const SIGMA: f64 = 1.318;

/// A page while it is loaded.
#[derive(Debug)]
pub struct Load {
    objects: Vec<Object>,
    /// By object: those that depend on it.
    next: Vec<Vec<u32>>,
    /// What can be asked for, and from when on, in order of time.
    ready: VecDeque<(u64, u32)>,
    missing: usize,
    think: u64,
    /// Objects that one connection asks for at a time.
    pub each: usize,
    /// When the last object was there.
    pub done: Option<u64>,
    /// Something has changed for the other connections.
    pub news: bool,
    /// Where the applications of its connections are woken.
    pub slots: Vec<usize>,
}

impl Load {
    /// The page of the connection called `name`, which begins at `started`.
    pub fn new(page: &Page, seed: u64, name: &str, started: u64) -> Self {
        let objects = match &page.content {
            Content::Written(objects) => objects.clone(),
            Content::Drawn { objects, bytes, depth } => {
                drawn(*objects, *bytes, *depth, &mut Rng::new(seed, &format!("connection {name} page")))
            }
        };
        let mut next = vec![Vec::new(); objects.len()];
        for (i, object) in objects.iter().enumerate() {
            if let Some(after) = object.after {
                next[after as usize].push(i as u32);
            }
        }
        Self {
            next,
            ready: VecDeque::from([(started, 0)]),
            missing: objects.len(),
            objects,
            think: page.think.0,
            each: if page.connections > 1 { 1 } else { usize::MAX },
            done: None,
            news: false,
            slots: Vec::new(),
        }
    }

    /// An object that can be asked for at `now`, and its octets.
    pub fn take(&mut self, now: u64) -> Option<(u32, u64)> {
        let (_, object) = self.ready.front().copied().filter(|(at, _)| *at <= now)?;
        self.ready.pop_front();
        Some((object, self.objects[object as usize].bytes))
    }

    /// When the next object can be asked for, as far as that is known.
    pub fn due(&self) -> u64 {
        self.ready.front().map_or(NEVER, |(at, _)| *at)
    }

    /// An object is there.
    pub fn arrive(&mut self, now: u64, object: u32) {
        self.ready.extend(self.next[object as usize].iter().map(|o| (now + self.think, *o)));
        self.missing -= 1;
        self.news = true;
        if self.missing == 0 {
            self.done = Some(now);
        }
    }
}

/// Objects of `bytes` in all: the document, and others on `depth` levels in turn, each of which depends on one of the level
/// above. Sizes are in the ratio of lognormal draws; what rounding leaves is the document's.
fn drawn(count: u64, bytes: u64, depth: u64, rng: &mut Rng) -> Vec<Object> {
    let weights: Vec<f64> = (0..count).map(|_| libm::exp(SIGMA * normal(rng))).collect();
    let sum: f64 = weights.iter().sum();
    let spare = (bytes - count) as f64;
    let mut objects: Vec<Object> =
        weights.iter().map(|w| Object { bytes: 1 + (spare * (w / sum)) as u64, after: None }).collect();
    // Rounded down, together they are not more than `bytes`, but for the last bits of a sum of floating-point numbers.
    let others: u64 = objects[1..].iter().map(|o| o.bytes).sum();
    objects[0].bytes = bytes.saturating_sub(others).max(1);
    let levels = depth.max(2) - 1;
    for i in 1..count {
        let level = (i - 1) % levels;
        // Of those on the level above with a smaller number: level, level + levels, ...
        let above = if level == 0 { 1 } else { (i - 1 - level) / levels + 1 };
        let chosen = (rng.uniform() * above as f64) as u64;
        let after = if level == 0 { 0 } else { level + chosen * levels };
        objects[i as usize].after = Some(after as u32);
    }
    objects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawn_page_has_its_octets_its_objects_and_its_depth() {
        for (count, bytes, depth) in [(15, 72 << 10, 2), (138, 3994 << 10, 2), (20, 20, 5), (7, 1000, 4), (1, 9, 1)] {
            let objects = drawn(count, bytes, depth, &mut Rng::new(1, "page"));
            assert_eq!(objects.iter().map(|o| o.bytes).sum::<u64>(), bytes);
            assert!(objects.iter().all(|o| o.bytes > 0) && objects[0].after.is_none());
            let mut level = vec![1_u64];
            for (i, o) in objects.iter().enumerate().skip(1) {
                assert!((o.after.unwrap() as usize) < i);
                level.push(level[o.after.unwrap() as usize] + 1);
            }
            assert_eq!((level.len() as u64, level.iter().max()), (count, Some(&depth.min(count))));
        }
    }

    /// Of lognormal numbers the median's share of the mean is exp(-sigma^2 / 2): 0.42. Over 138 objects of 20 seeds the median of
    /// all has a standard error of sqrt(pi / 2) x 1.318 / sqrt(2760) = 3 % of it.
    #[test]
    fn sizes_are_spread_like_those_of_files_on_servers() {
        let mut sizes: Vec<u64> =
            (0..20).flat_map(|seed| drawn(138, 3994 << 10, 2, &mut Rng::new(seed, "page"))).map(|o| o.bytes).collect();
        sizes.sort_unstable();
        let share = sizes[sizes.len() / 2] as f64 / (f64::from(3994 << 10) / 138.0);
        assert!((share / (-SIGMA * SIGMA / 2.0).exp() - 1.0).abs() < 0.15, "{share}");
    }
}
