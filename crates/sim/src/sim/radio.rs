//! The radio part of wireless links: which link is on which channel of [`anabranch_wifi`], and
//! which of its ends is which station.
//!
//! A wireless link leads from a station (its first end) to an access point, and, if it has one,
//! over a wired hop behind that to its second end. Up, a packet crosses the radio first and the
//! wire last; down, the reverse.

use anabranch_wifi::Wifi;
use anabranch_wifi::high::Counts;
use anabranch_wifi::medium::{Discard, Ends, Medium, Outcome};

use super::link::Drop;
use super::packet::PacketId;
use super::routes::DirectionId;
use anabranch_scenario::{Ask, Scenario};

impl From<Discard> for Drop {
    fn from(why: Discard) -> Self {
        match why {
            Discard::Down => Self::Down,
            Discard::Queue => Self::Queue,
            Discard::Age => Self::Age,
            Discard::Retries => Self::Retries,
        }
    }
}

/// A link's place on its channel.
#[derive(Clone, Copy, Debug)]
struct Place {
    channel: usize,
    /// Its number among the channel's links.
    number: usize,
    ends: Ends,
    /// There is a wired hop behind the access point.
    wired: bool,
    /// Rate of its fastest frames in bit/s.
    peak_rate: u64,
    /// By direction: the radio is not faster than the wired hop.
    limits: [bool; 2],
}

/// All channels.
#[derive(Debug, Default)]
pub struct Radio {
    media: Vec<Medium>,
    /// By channel: its links.
    members: Vec<Vec<usize>>,
    /// By link; empty if there is no wireless link at all.
    places: Vec<Option<Place>>,
    outcomes: Vec<Outcome>,
    /// Packets given up in the last event; the network drops them.
    pub lost: Vec<(PacketId, Drop)>,
    /// Packets that arrived by the last event, in order, each with the direction it came from.
    pub arrived: Vec<(DirectionId, PacketId)>,
}

impl Radio {
    /// The channels of a scenario. `None` if `ask` does not want to go on.
    pub fn new(scenario: &Scenario, ask: Ask<'_>) -> Option<Self> {
        let mut radio = Self::default();
        if scenario.links.iter().all(|l| l.wifi.is_none()) {
            return Some(radio);
        }
        radio.places = vec![None; scenario.links.len()];
        let mut names: Vec<&str> = Vec::new();
        let wireless = || scenario.links.iter().enumerate().filter_map(|(i, l)| l.wifi.as_ref().map(|w| (i, w)));
        for (_, wifi) in wireless() {
            if !names.contains(&wifi.channel.as_str()) {
                names.push(&wifi.channel);
            }
        }
        for (channel, name) in names.into_iter().enumerate() {
            let links: Vec<(usize, &Wifi)> = wireless().filter(|(_, w)| w.channel == name).collect();
            let described: Vec<(&str, Option<usize>, &Wifi)> = links
                .iter()
                .map(|(i, w)| {
                    let link = &scenario.links[*i];
                    (link.name.as_str(), scenario.nodes[link.b].router.then_some(link.b), *w)
                })
                .collect();
            let (medium, ends) = Medium::new(&described, scenario.seed, ask)?;
            radio.media.push(medium);
            for (number, ((i, wifi), ends)) in links.iter().zip(ends).enumerate() {
                let link = &scenario.links[*i];
                let peak_rate = wifi.peak_rate();
                let limits = [&link.up, &link.down].map(|d| !wifi.wired || peak_rate <= d.rate);
                let place = Place { channel, number, ends, wired: wifi.wired, peak_rate, limits };
                radio.places[*i] = Some(place);
            }
            radio.members.push(links.into_iter().map(|(i, _)| i).collect());
        }
        Some(radio)
    }

    /// How many channels there are.
    pub fn channels(&self) -> usize {
        self.media.len()
    }

    #[inline]
    fn place(&self, d: DirectionId) -> Option<&Place> {
        self.places.get(d / 2)?.as_ref()
    }

    /// Direction `d` begins with the radio.
    #[inline]
    pub fn first(&self, d: DirectionId) -> bool {
        self.place(d).is_some_and(|p| d % 2 == 0 || !p.wired)
    }

    /// Direction `d` ends with the radio, behind a wired hop.
    #[inline]
    pub fn last(&self, d: DirectionId) -> bool {
        self.place(d).is_some_and(|p| d % 2 == 1 && p.wired)
    }

    /// Behind the radio of direction `d` there is a wired hop.
    #[inline]
    pub fn wire_follows(&self, d: DirectionId) -> bool {
        self.place(d).is_some_and(|p| d % 2 == 0 && p.wired)
    }

    /// The radio is the slower part of direction `d`.
    #[inline]
    pub fn limits(&self, d: DirectionId) -> bool {
        self.place(d).is_some_and(|p| p.limits[d % 2])
    }

    /// Rate of its fastest frames in bit/s, if the radio is the slower part of direction `d`.
    pub fn peak_rate(&self, d: DirectionId) -> Option<u64> {
        self.place(d).filter(|p| p.limits[d % 2]).map(|p| p.peak_rate)
    }

    /// What frames at the highest rate could have carried until `now`, without a gap, in bits.
    pub fn capacity_bits(&self, d: DirectionId, now: u64) -> f64 {
        self.place(d).map_or(0.0, |p| p.peak_rate as f64 * now as f64 / 1e9)
    }

    /// A packet waits at the sending station of direction `d`.
    pub fn is_full(&self, d: DirectionId) -> bool {
        self.place(d).is_some_and(|p| self.media[p.channel].is_waiting(p.ends.stations[d % 2]))
    }

    /// A packet of `wire_len` octets comes to the sending station of direction `d`.
    #[inline]
    pub fn enqueue(&mut self, now: u64, d: DirectionId, id: PacketId, wire_len: u32) -> Result<(), Drop> {
        let Some(Some(place)) = self.places.get(d / 2) else { return Err(Drop::Down) };
        let [a, b] = place.ends.stations;
        let ends = if d % 2 == 0 { [a, b] } else { [b, a] };
        self.media[place.channel].enqueue(now, ends, place.number, id, wire_len).map_err(Drop::from)
    }

    /// The channel of direction `d`.
    #[inline]
    pub fn channel(&self, d: DirectionId) -> Option<usize> {
        self.place(d).map(|p| p.channel)
    }

    /// When the next event of `channel` is due.
    #[inline]
    pub fn next_of(&self, channel: usize) -> u64 {
        self.media[channel].next()
    }

    /// What the next event of `channel` costs, in ordinary events, roughly.
    #[inline]
    pub fn steps(&self, channel: usize) -> u64 {
        self.media[channel].steps()
    }

    /// Runs the event of `channel` that is due: what `arrived` by it, and what is `lost`.
    #[inline]
    pub fn run(&mut self, channel: usize, now: u64) {
        self.media[channel].run(now, &mut self.outcomes);
        // Most events end no packet's way.
        if self.outcomes.is_empty() {
            return;
        }
        for outcome in self.outcomes.drain(..) {
            match outcome {
                Outcome::Arrived { id, link, from } => {
                    let link = self.members[channel][link];
                    let up = self.places[link].is_some_and(|p| p.ends.stations[0] == from);
                    self.arrived.push((2 * link + usize::from(!up), id));
                }
                Outcome::Lost { id, why } => self.lost.push((id, why.into())),
            }
        }
    }

    /// What was sent up and down over each link of 802.11n and later.
    pub fn counts(&self) -> Vec<(usize, [Counts; 2])> {
        let places = self.places.iter().enumerate().filter_map(|(i, p)| p.map(|p| (i, p)));
        let counted = |p: Place| {
            let [a, b] = p.ends.stations;
            let medium = &self.media[p.channel];
            Some([medium.counts([a, b])?, medium.counts([b, a])?])
        };
        places.filter_map(|(i, p)| Some((i, counted(p)?))).collect()
    }

    /// Direction `d` of a link fails: the packets that its station had.
    pub fn go_down(&mut self, d: DirectionId) -> Vec<PacketId> {
        let Some(&place) = self.place(d) else { return Vec::new() };
        let mut gone = Vec::new();
        self.media[place.channel].go_down(place.number, place.ends.stations[d % 2], |id| gone.push(id));
        gone
    }

    /// Direction `d` works again.
    pub fn go_up(&mut self, d: DirectionId) {
        if let Some(&place) = self.place(d) {
            self.media[place.channel].go_up(place.number, place.ends.stations[d % 2]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 54 Mbit/s for half a second.
    #[test]
    fn the_capacity_is_that_of_the_fastest_frames_without_a_gap() {
        let text = "transfer = {}\npath = [{ wifi = { standard = '802.11a', distance = '5 m' } }]";
        let scenario = anabranch_scenario::parse(text, "t", &[], None).unwrap_or_else(|e| panic!("{e}"));
        let radio = Radio::new(&scenario, &|| std::ops::ControlFlow::Continue(())).expect("nobody breaks it off");
        assert_eq!((radio.capacity_bits(0, 500_000_000), radio.peak_rate(0)), (27e6, Some(54_000_000)));
    }
}
