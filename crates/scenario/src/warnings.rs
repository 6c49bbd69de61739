//! Warnings about scenarios that are valid but probably not what was meant.

use anabranch_stack::registry::Setting;
use anabranch_stack::time::Duration;
use anabranch_wifi::rate::Choice;

use super::model::{Connection, Direction, Discipline, Link, Protocol, Scenario};
use super::units::TIME;
use crate::model_2011::{ACK_DISCARD, Recovery};

impl Scenario {
    /// The warnings, one line each.
    pub fn warnings(&self) -> Vec<String> {
        let mut said = Vec::new();
        said.extend(self.idle_links());
        for link in &self.links {
            said.extend(self.out_of_range(link));
            if let Some(late) = link.middleboxes.iter().find(|b| b.at.0 >= self.duration.0) {
                let (at, end) = (TIME.write(late.at.0), TIME.write(self.duration.0));
                said.push(format!("link \"{}\" has a middlebox from {at} on, but the run ends at {end}", link.name));
            }
            if let Some(late) = link.changes.iter().find(|c| c.at.0 >= self.duration.0) {
                let (at, end) = (TIME.write(late.at.0), TIME.write(self.duration.0));
                said.push(format!("link \"{}\" changes at {at}, but the run ends at {end}", link.name));
            }
        }
        for node in self.nodes.iter().filter(|node| node.more.get("cores", "").is_some()) {
            if matches!(node.more.get("cost", ""), None | Some(Setting::Time(Duration::ZERO))) {
                said.push(format!("host \"{}\" sets cores without a cost: cores then have no effect", node.name));
            }
        }
        for c in &self.connections {
            let (start, end) = (c.transfer.start.0, self.duration.0);
            if start >= end {
                let (at, end) = (TIME.write(start), TIME.write(end));
                said.push(format!("\"{}\" starts at {at}, but the run ends at {end}", c.name));
            } else if let Some(length) = c.transfer.length().map(|l| l.0).filter(|l| start.saturating_add(*l) > end) {
                let (until, end) = (TIME.write(start.saturating_add(length)), TIME.write(end));
                said.push(format!(
                    "the transfer of \"{}\" is to last until {until}, but the run ends at {end}",
                    c.name
                ));
            }
            if let Some(late) = c.path_changes.iter().find(|p| p.at.0 >= end) {
                let (at, end) = (TIME.write(late.at.0), TIME.write(end));
                said.push(format!("a path of \"{}\" changes at {at}, but the run ends at {end}", c.name));
            }
            if c.legacy.is_some_and(|m| m.recovery != Recovery::Frto && m.ack_discard != ACK_DISCARD) {
                said.push(format!("\"{}\" sets ack_discard, which has no effect unless recovery is \"frto\"", c.name));
            }
            said.extend(c.paths.iter().flatten().filter_map(|l| small_burst(&self.links[*l], c)));
            let directions = || c.paths.iter().flatten().flat_map(|l| [&self.links[*l].up, &self.links[*l].down]);
            let threshold = directions().any(|d| d.ecn_threshold.is_some());
            let marked = threshold || directions().any(|d| d.discipline != Discipline::DropTail);
            if c.protocol != Protocol::Udp && c.config.ecn && !marked {
                let how = "an ecn_threshold or a discipline that marks";
                said.push(format!("\"{}\" uses ecn, but none of its links has {how}", c.name));
            } else if c.protocol != Protocol::Udp && !c.config.ecn && threshold {
                said.push(format!("\"{}\" uses a link with an ecn_threshold, but its key ecn is off", c.name));
            }
        }
        said
    }

    /// A warning if the station of a wireless link is out of range at any time of the run.
    fn out_of_range(&self, link: &Link) -> Option<String> {
        let wifi = link.wifi.as_ref()?;
        let at = wifi.out_of_range_from(self.duration.0)?;
        let (name, least) = (&link.name, wifi.least_dbm());
        let (power, metres) = (wifi.received_dbm(at), wifi.distance(at));
        const NEARER: &str = "bring them nearer, or raise tx_power";
        let (what, remedy) = match wifi.rate {
            Choice::Mcs { mcs, .. } if least > wifi.noticed_dbm() => {
                let lower = if mcs > 0 { "bring them nearer, raise tx_power, or take a lower mcs" } else { NEARER };
                (format!("MCS {mcs} is decoded"), lower)
            }
            _ => ("frames are noticed".into(), NEARER),
        };
        Some(if at == 0 {
            format!(
                "link \"{name}\" is out of range: at {metres:.0} m its ends receive {power:.1} dBm of each other, and {what} \
                 from {least} dBm on; {remedy}"
            )
        } else {
            let at = TIME.write(at / 1_000_000 * 1_000_000);
            format!(
                "link \"{name}\" goes out of range at {at}: beyond {metres:.0} m its ends receive less than {least} dBm"
            )
        })
    }

    /// Links that no path uses. If there are many, as in large networks, only their number.
    fn idle_links(&self) -> Vec<String> {
        let mut used = vec![false; self.links.len()];
        self.connections.iter().flat_map(|c| c.paths.iter().flatten()).for_each(|l| used[*l] = true);
        let ignored = |link: &usize| self.connections.iter().any(|c| c.ignored.contains(link));
        let why = |known: bool| if known { " (TCP and UDP use their first path only)" } else { "" };
        let idle: Vec<usize> = (0..self.links.len()).filter(|&link| !used[link]).collect();
        let name = |link: usize| &self.links[link].name;
        match idle.as_slice() {
            [first, .., last] if idle.len() > MANY => {
                let (n, all, why) = (idle.len(), self.links.len(), why(idle.iter().all(ignored)));
                let (first, last) = (name(*first), name(*last));
                vec![format!("{n} of {all} links carry no connection{why}, such as \"{first}\" and \"{last}\"")]
            }
            few => few
                .iter()
                .map(|link| format!("link \"{}\" carries no connection{}", name(*link), why(ignored(link))))
                .collect(),
        }
    }
}

/// Octets of the IPv4 and TCP headers without options, and of the IPv4 and UDP headers.
const HEADERS: [u32; 2] = [40, 28];

/// If there are more warnings of one kind than this, only their number is given.
const MANY: usize = 5;

/// A warning if the policer of `link` has a smaller burst than a full segment of `c` needs.
fn small_burst(link: &Link, c: &Connection) -> Option<String> {
    let udp = c.protocol == Protocol::Udp;
    let full = u64::from(c.config.mss + HEADERS[usize::from(udp)]);
    let small = |d: &Direction| {
        let burst = d.more.get("policer", "burst").and_then(Setting::whole)?;
        (burst < full + u64::from(d.overhead)).then_some(burst)
    };
    let burst = [&link.up, &link.down].into_iter().find_map(small)?;
    let (link, name, what) = (&link.name, &c.name, if udp { "datagram" } else { "segment" });
    Some(format!(
        "the policer of link \"{link}\" has a burst of {burst} B, which is too small for a full {what} of \"{name}\""
    ))
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    fn warnings(text: &str) -> Vec<String> {
        parse(text, "t", &[], None).unwrap().warnings()
    }

    #[test]
    fn a_baseline_over_one_path_says_which_links_are_idle() {
        let said = warnings("connection.protocol = 'tcp'\ntransfer = {}\n[[path]]\n[[path]]");
        assert_eq!(said, ["link \"path1\" carries no connection (TCP and UDP use their first path only)"]);
        // Neither connection names the second link.
        let both = "[[path]]\nname = 'a'\n[[path]]\nname = 'b'\n[[connection]]\npaths = ['a']\ntransfer = {}\n\
            [[connection]]\nprotocol = 'tcp'\npaths = ['a']\ntransfer = {}";
        assert_eq!(warnings(both), ["link \"b\" carries no connection"]);
    }

    #[test]
    fn what_comes_after_the_end_is_told() {
        let said = warnings(
            "duration = '10 s'\ntransfer = { start = '10 s' }\npath = [{ changes = [{ at = '1 min', state = 'down' }] }]",
        );
        assert_eq!(said[0], "link \"path0\" changes at 1 min, but the run ends at 10 s");
        assert_eq!(said[1], "\"connection0\" starts at 10 s, but the run ends at 10 s");
        let said = warnings("duration = '10 s'\ntransfer = { duration = '11 s' }\npath = [{}]");
        assert_eq!(said, ["the transfer of \"connection0\" is to last until 11 s, but the run ends at 10 s"]);
    }

    #[test]
    fn a_station_out_of_range_is_told_with_its_power() {
        let wifi =
            |keys: &str| warnings(&format!("duration = '100 s'\ntransfer = {{}}\npath = [{{ wifi = {{ {keys} }} }}]"));
        assert!(wifi("standard = '802.11g', distance = '30 m'").is_empty());
        let far = wifi("standard = '802.11g', distance = '500 m'");
        assert!(far[0].starts_with("link \"path0\" is out of range: at 500 m its ends receive -1"), "{far:?}");
        assert!(far[0].contains("frames are noticed from -82 dBm on"), "{far:?}");
        let high = wifi("standard = '802.11ax', mcs = 11, distance = '20 m'");
        assert!(
            high[0].contains("at 20 m its ends receive -69.7 dBm of each other, and MCS 11 is decoded from -5"),
            "{high:?}"
        );
        assert!(wifi("standard = '802.11ax', mcs = 'minstrel', distance = '20 m'").is_empty());
        let walk = wifi("standard = '802.11g', distance = '10 m', velocity = '5 m/s'");
        assert!(walk[0].starts_with("link \"path0\" goes out of range at "), "{walk:?}");
    }

    #[test]
    fn ecn_needs_both_ends_and_links() {
        assert_eq!(warnings("transfer = {}\nconnection.ecn = true\npath = [{}]").len(), 1);
        assert_eq!(warnings("transfer = {}\npath = [{ ecn_threshold = '20 packets' }]").len(), 1);
        assert!(warnings("transfer = {}\nconnection.ecn = true\npath = [{ ecn_threshold = '20 packets' }]").is_empty());
    }

    #[test]
    fn a_policer_that_no_full_segment_passes_is_told() {
        let policed = |burst: &str| {
            warnings(&format!(
                "transfer = {{}}\npath = [{{ policer_up = {{ rate = '1 Mbit/s', burst = '{burst}' }} }}]\nconnection.mss = 1460"
            ))
        };
        let said = "the policer of link \"path0\" has a burst of 1500 B, which is too small for a full segment of \"connection0\"";
        assert!(policed("1500 B").is_empty());
        let long = warnings(
            "transfer = {}\npath = [{ policer_up = { rate = '1 Mbit/s', burst = '1500 B' } }]\nconnection.mss = 1461",
        );
        assert_eq!(long, [said]);
        let datagrams = |mss: u32| {
            warnings(&format!(
                "transfer = {{ rate = '1 Mbit/s' }}\npath = [{{ policer_up = {{ rate = '1 Mbit/s', burst = '1500 B' }} }}]\nconnection = {{ protocol = 'udp', mss = {mss} }}"
            ))
        };
        assert!(datagrams(1472).is_empty());
        assert!(datagrams(1473)[0].ends_with("too small for a full datagram of \"connection0\""));
    }

    #[test]
    fn cores_without_a_cost_are_told() {
        let said = warnings("host = { cores = 2 }\ntransfer = {}\npath = [{}]");
        assert_eq!(said[0], "host \"client\" sets cores without a cost: cores then have no effect");
        assert!(warnings("host = { cores = 2, cost = '1 us' }\ntransfer = {}\npath = [{}]").is_empty());
    }

    #[test]
    fn the_shortest_scenario_has_no_warnings() {
        assert!(warnings("[transfer]\n[[path]]").is_empty());
    }
}
