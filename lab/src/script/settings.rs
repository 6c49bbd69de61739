//! What a script runs with: options of the command and of the script, and what its shell lines configure.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use anabranch_stack::Config;
use anabranch_stack::config::Profile;
use anabranch_stack::time::Duration;

use super::ast::OptionLine;
use super::fast_open::{CLIENT, KEY, Key, SERVER};
use super::listing::Socket;
use super::mptcp::manager::{Change, Manager};
use super::over::ROOM;
use super::report::{Note, Step};

/// What a run of a script is given.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The stack whose defaults hold.
    pub profile: Profile,
    /// The connection is of Multipath TCP, with one subflow, which the script does not see.
    pub over_mptcp: bool,
    /// How far times may be off; `None`: as the script says, else not at all.
    pub tolerance: Option<Duration>,
    /// Words that stand for others.
    pub defines: BTreeMap<String, String>,
    /// Where files that the script names are looked for; `None`: nowhere.
    pub directory: Option<PathBuf>,
}

/// Payload and TCP options that fit into a packet of an Ethernet: 1500 less 40 octets of headers. With IPv6 the interface takes 1520, as
/// packetdrill's own runner has it, so that scripts are the same.
const MSS: u16 = 1460;

/// What holds at a moment of the script.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What new sockets begin with.
    pub config: Config,
    /// How far times may be off.
    pub tolerance: Duration,
    /// Our address, and the peer's.
    pub local: IpAddr,
    /// The peer's address.
    pub remote: IpAddr,
    /// TSval must move on as our clock does; else it is only a name.
    pub exact_stamps: bool,
    /// One expected segment may stand for several that are sent at once, all but the last of them full: what Linux hands to its
    /// interface before the interface takes it apart.
    pub joins: bool,
    /// Payload octets of an arriving segment at most: a longer one arrives in several at once.
    pub largest_arrival: u32,
    /// Unsent octets from which on no more are taken (`tcp_notsent_lowat`).
    pub not_sent: u32,
    /// Sockets of Multipath TCP offer it.
    pub multipath: bool,
    /// ECN for connections that we open; [`Config::ecn`] is for those that we accept.
    pub active_ecn: bool,
    /// Where Fast Open is on, as `tcp_fastopen` says, and the key of listeners' cookies.
    pub fast_open: (u64, Key),
    /// What advertises addresses and opens subflows, while shell lines are followed.
    pub paths: Manager,
    /// What of that the connections there are have not been told of.
    pub changes: Vec<Change>,
    /// Counters of the host.
    pub counters: BTreeMap<&'static str, i64>,
    /// The connections there are, as `ss` lists them, while shell lines are followed.
    pub listing: Vec<Socket>,
    /// The ports at which sockets listen, while shell lines are followed.
    pub ports: Vec<u16>,
    /// Files that shell lines have made, and how long each is.
    pub files: BTreeMap<String, u64>,
    /// The script has ICMP messages.
    pub icmp: bool,
    /// Where files are looked for.
    pub directory: Option<PathBuf>,
    /// The cookies of servers are to be forgotten.
    pub forgets: bool,
    /// Behaviours accepted without being carried out, any of which could change the result.
    pub notes: Vec<Note>,
    /// Behaviours accepted without being carried out that cannot change the result.
    pub inert: Vec<Note>,
    /// Variables of the shell lines, by name.
    pub variables: BTreeMap<String, String>,
    /// What was not checked, because only Linux has it.
    pub unchecked: Vec<Note>,
}

/// Names of the option lines that change nothing here, and why.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("send_omit_free", "there are no buffers to be used again"),
    ("non_fatal", "every mismatch ends the script"),
    ("init_scripts", "no script is run before"),
    ("speed", "there is no link"),
    ("verbose", "the report is always the same"),
    ("dry_run", "use --check"),
    ("so_filename", "the engine is built in"),
    ("wire_protocol", "there is no wire"),
    ("tcp_ts_ecr_scaled", "an echo is a name for a timestamp that was sent"),
];

/// Of those, the ones that cannot change a result.
const INERT: [&str; 6] = ["send_omit_free", "verbose", "so_filename", "wire_protocol", "speed", "non_fatal"];

impl Settings {
    /// What holds at the beginning.
    ///
    /// # Errors
    /// An option line that cannot be followed: its line, and why.
    pub fn new(options: &Options, lines: &[OptionLine]) -> Result<Self, Note> {
        let config = options.profile.config();
        let (mptcp, mss) = (options.over_mptcp, largest(MSS, options));
        let config = Config { mptcp, mss: MSS.into(), mss_option: Some(mss), ..config };
        let mut settings = Self {
            active_ecn: config.ecn,
            multipath: true,
            fast_open: (CLIENT | SERVER, KEY),
            config,
            tolerance: options.tolerance.unwrap_or(Duration::ZERO),
            local: IpAddr::from([192, 168, 0, 1]),
            remote: IpAddr::from([192, 0, 2, 1]),
            exact_stamps: false,
            joins: true,
            largest_arrival: u32::MAX,
            not_sent: u32::MAX,
            paths: Manager::default(),
            changes: Vec::new(),
            counters: BTreeMap::new(),
            listing: Vec::new(),
            ports: Vec::new(),
            files: BTreeMap::new(),
            icmp: false,
            forgets: false,
            directory: options.directory.clone(),
            notes: Vec::new(),
            inert: Vec::new(),
            variables: BTreeMap::new(),
            unchecked: Vec::new(),
        };
        // How large headers are follows from the version, wherever its line stands.
        let (versions, others): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.name == "ip_version");
        for line in versions.into_iter().chain(others) {
            settings.option(options, line).map_err(|text| Note { line: line.line, text })?;
        }
        settings.define_variables();
        Ok(settings)
    }

    /// Variables of the environment, as packetdrill sets them for shell lines.
    fn define_variables(&mut self) {
        let version = if self.local.is_ipv6() { "ipv6" } else { "ipv4" };
        let variables = [
            ("OPT_IP_VERSION", version.to_owned()),
            ("OPT_LOCAL_IP", self.local.to_string()),
            ("OPT_REMOTE_IP", self.remote.to_string()),
            ("OPT_NETMASK_IP", "255.255.0.0".to_owned()),
            ("OPT_LOCAL_DEV", "tun0".to_owned()),
        ];
        self.variables.extend(variables.map(|(name, value)| (name.to_owned(), value)));
    }

    fn option(&mut self, options: &Options, line: &OptionLine) -> Result<(), String> {
        let OptionLine { name, value, .. } = line;
        let number = || value.parse::<u64>().map_err(|_| format!("--{name}={value}: a whole number was expected"));
        match name.as_str() {
            "tolerance_usecs" => {
                let said = Duration(number()?.saturating_mul(1000));
                self.tolerance = options.tolerance.map_or(said, |asked| asked.max(said));
            }
            "tcp_ts_tick_usecs" => match number()? {
                0 => self.exact_stamps = false,
                1000 => self.exact_stamps = true,
                n => return Err(format!("--{name}={n}: the engine's timestamps tick every 1000 microseconds")),
            },
            "ip_version" => match value.as_str() {
                "ipv4" | "ipv4-mapped-ipv6" => {}
                "ipv6" => {
                    self.local = IpAddr::from([0xfd3d, 0x0a0b, 0x17d6, 0, 0, 0, 0, 1]);
                    self.remote = IpAddr::from([0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1]);
                }
                _ => return Err(format!("--{name}={value}: ipv4 or ipv6 was expected")),
            },
            "mss" => {
                let mss = u32::try_from(number()?).ok().filter(|mss| *mss > 0);
                self.largest_arrival = mss.ok_or(format!("--mss={value}: 1 to {}", u32::MAX))?;
            }
            "strict_segments" => self.joins = false,
            "local_ip" => self.local = address(name, value)?,
            "remote_ip" => self.remote = address(name, value)?,
            "gateway_ip" | "netmask_ip" | "bind_port" | "connect_port" => {
                return Err(format!("--{name}: addresses of the network cannot be chosen; leave the line out"));
            }
            "mtu" => {
                let headers = if self.local.is_ipv6() { 60 } else { 40 };
                let fits = number()?.checked_sub(headers).and_then(|mss| u16::try_from(mss).ok());
                let mss = fits
                    .filter(|mss| (1..=65_495).contains(mss))
                    .ok_or(format!("--mtu={value}: {} to 65535", headers + 1))?;
                (self.config.mss, self.config.mss_option) = (mss.into(), Some(largest(mss, options)));
            }
            _ => match WITHOUT_EFFECT.iter().find(|(n, _)| n == name) {
                Some((_, why)) => {
                    let text = format!("--{name} has no effect: {why}");
                    if INERT.contains(&name.as_str()) {
                        self.note_inert(line.line, text)
                    } else {
                        self.note(line.line, text)
                    }
                }
                None => {
                    return Err(format!(
                        "--{name} is no option of a script; options: tolerance_usecs, tcp_ts_tick_usecs, ip_version, local_ip, remote_ip, mtu, strict_segments"
                    ));
                }
            },
        }
        Ok(())
    }

    /// Follows `ip mptcp`.
    ///
    /// # Errors
    /// If its words are not supported.
    pub fn mptcp(&mut self, words: &[&str]) -> Step<()> {
        let changes = self.paths.configure(words)?;
        self.changes.extend(changes);
        Ok(())
    }

    /// Notes a behaviour that is accepted without being carried out, and could change the result.
    pub fn note(&mut self, line: u32, text: String) {
        self.notes.push(Note { line, text });
    }

    /// Notes a behaviour that is accepted without being carried out, and cannot change the result.
    pub fn note_inert(&mut self, line: u32, text: String) {
        self.inert.push(Note { line, text });
    }
}

/// What fits into a packet of our interface besides headers; over Multipath TCP a DSS besides.
fn largest(mss: u16, options: &Options) -> u16 {
    if options.over_mptcp { mss.saturating_add(ROOM) } else { mss }
}

fn address(name: &str, value: &str) -> Result<IpAddr, String> {
    value.parse().map_err(|_| format!("--{name}={value}: an IP address was expected"))
}
