//! Configuration of a run: options of the command line, option lines of the script, and settings
//! made by its shell lines.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use anabranch_stack::Config;
use anabranch_stack::config::Profile;
use anabranch_stack::host::path_manager::Change;
use anabranch_stack::time::Duration;

use super::ast::OptionLine;
use super::fast_open::{CLIENT, KEY, Key, SERVER};
use super::mptcp::manager::Manager;
use super::over::ROOM;
use super::report::{Note, Step};

/// A line of `ss`: protocol and state of a socket.
pub type Socket = (&'static str, &'static str);

/// Options of one run of a script.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Profile whose defaults apply.
    pub profile: Profile,
    /// Runs a script of plain TCP over an MPTCP connection with one subflow. The script does not
    /// see the MPTCP options.
    pub over_mptcp: bool,
    /// Tolerance for event times; `None` means zero. A larger `--tolerance_usecs` of the script
    /// overrides this value.
    pub tolerance: Option<Duration>,
    /// Words given with `--define WORD=TEXT`: each occurrence of the word in the script is replaced
    /// with the text.
    pub defines: BTreeMap<String, String>,
    /// Directory of the files that the script names; `None`: the script may not read files.
    pub directory: Option<PathBuf>,
}

/// Payload and TCP options in an Ethernet packet, octets: 1500 less 40 for the IPv4 and TCP
/// headers. With IPv6 the interface has an MTU of 1520, as in packetdrill's own runner, so that
/// scripts can have the same sizes for both versions.
const MSS: u16 = 1460;

/// Configuration at one moment of the script.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Configuration of new sockets.
    pub config: Config,
    /// Tolerance for event times.
    pub tolerance: Duration,
    /// Our address.
    pub local: IpAddr,
    /// The peer's address.
    pub remote: IpAddr,
    /// Requires the TSvals in the script to advance with our clock. If false, a TSval in the script
    /// is only a name for the value that was sent.
    pub exact_stamps: bool,
    /// Accepts several segments sent at the same time for one expected segment, if all but the last
    /// have full size. Scripts for Linux expect packets as they are before segmentation offload
    /// (TSO) divides them.
    pub joins: bool,
    /// Largest payload of an arriving segment, octets (`--mss`). A longer segment of the script
    /// arrives as several segments at the same time.
    pub largest_arrival: u32,
    /// Unsent octets at which a socket accepts no further writes (`tcp_notsent_lowat`); `u32::MAX`:
    /// no limit.
    pub not_sent: u32,
    /// MPTCP sockets offer MP_CAPABLE (`net.mptcp.enabled`).
    pub multipath: bool,
    /// Use of ECN on connections that we open; [`Config::ecn`] holds for connections that we
    /// accept.
    pub active_ecn: bool,
    /// Bits of `tcp_fastopen`, and the key from which listeners compute cookies.
    pub fast_open: (u64, Key),
    /// Path manager, which advertises addresses and opens subflows. Valid only during a shell line.
    pub paths: Manager,
    /// Changes to `paths` that are not yet applied to the existing connections.
    pub changes: Vec<Change>,
    /// Counters of the host, by Linux's name. Valid only during a shell line.
    pub counters: BTreeMap<&'static str, i64>,
    /// The host's connections as `ss` would list them. Valid only during a shell line.
    pub listing: Vec<Socket>,
    /// Ports at which sockets listen. Valid only during a shell line.
    pub ports: Vec<u16>,
    /// Files that shell lines created, by name, with their length in octets.
    pub files: BTreeMap<String, u64>,
    /// The script contains at least one ICMP message.
    pub icmp: bool,
    /// Directory of the files that the script names; `None`: the script may not read files.
    pub directory: Option<PathBuf>,
    /// A shell line asked to forget the Fast Open cookies of all servers (`ip tcp_metrics flush`).
    pub forgets: bool,
    /// Settings and behaviours of Linux that the runner accepts without carrying them out. Each
    /// could change the result.
    pub notes: Vec<Note>,
    /// Settings and behaviours of Linux that the runner accepts without carrying them out. None can
    /// change the result.
    pub inert: Vec<Note>,
    /// Values of the shell variables, by name.
    pub variables: BTreeMap<String, String>,
    /// Checks that were skipped, because they query something that only Linux has.
    pub unchecked: Vec<Note>,
}

/// Option lines that the runner accepts but that have no effect, and why they have none.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("send_omit_free", "the runner reuses no buffers"),
    ("non_fatal", "every mismatch ends the script"),
    ("init_scripts", "the runner runs no other script first"),
    ("speed", "the runner has no link"),
    ("verbose", "the report always has the same detail"),
    ("dry_run", "use --check"),
    ("so_filename", "the engine is built in"),
    ("wire_protocol", "the runner has no wire"),
    ("tcp_ts_ecr_scaled", "the runner compares an echo with the timestamp that was sent, not with its number"),
];

/// Option lines of [`WITHOUT_EFFECT`] that cannot change the result of a script.
const INERT: [&str; 6] = ["send_omit_free", "verbose", "so_filename", "wire_protocol", "speed", "non_fatal"];

impl Settings {
    /// Returns the configuration before the first event of the script.
    ///
    /// # Errors
    /// If the runner does not support an option line; the note has its line number and the reason.
    pub fn new(options: &Options, lines: &[OptionLine]) -> Result<Self, Note> {
        let config = options.profile.config();
        let (mptcp, mss) = (options.over_mptcp, largest(MSS, options));
        let config = config.mptcp(mptcp).mss(MSS.into()).mss_option(Some(mss));
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
        // `ip_version` decides the header sizes, so its line is read first.
        let (versions, others): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.name == "ip_version");
        for line in versions.into_iter().chain(others) {
            settings.option(options, line).map_err(|text| Note { line: line.line, text })?;
        }
        settings.define_variables();
        Ok(settings)
    }

    /// Defines the environment variables that packetdrill sets for shell commands.
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
                self.largest_arrival =
                    mss.ok_or(format!("--mss={value}: a whole number from 1 to {} was expected", u32::MAX))?;
            }
            "strict_segments" => self.joins = false,
            "local_ip" => self.local = address(name, value)?,
            "remote_ip" => self.remote = address(name, value)?,
            "gateway_ip" | "netmask_ip" | "bind_port" | "connect_port" => {
                return Err(format!("--{name}: a script cannot choose this address or port; leave the line out"));
            }
            "mtu" => {
                let headers = if self.local.is_ipv6() { 60 } else { 40 };
                let fits = number()?.checked_sub(headers).and_then(|mss| u16::try_from(mss).ok());
                let mss = fits
                    .filter(|mss| (1..=65_495).contains(mss))
                    .ok_or(format!("--mtu={value}: a whole number from {} to 65535 was expected", headers + 1))?;
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
                        "--{name} is no option of a script; options: tolerance_usecs, tcp_ts_tick_usecs, ip_version, local_ip, remote_ip, mss, mtu, strict_segments"
                    ));
                }
            },
        }
        Ok(())
    }

    /// Carries out the command `ip mptcp`, followed by `words`.
    ///
    /// # Errors
    /// If the path manager does not support `words`.
    pub fn mptcp(&mut self, words: &[&str]) -> Step<()> {
        let changes = self.paths.configure(words)?;
        self.changes.extend(changes);
        Ok(())
    }

    /// Notes a setting or behaviour that the runner accepts without carrying it out, and that could
    /// change the result.
    pub fn note(&mut self, line: u32, text: String) {
        self.notes.push(Note { line, text });
    }

    /// Notes a setting or behaviour that the runner accepts without carrying it out, and that
    /// cannot change the result.
    pub fn note_inert(&mut self, line: u32, text: String) {
        self.inert.push(Note { line, text });
    }
}

/// Returns the largest TCP payload and options of a packet. If the script runs over MPTCP, adds the
/// room for a DSS option to `mss`.
fn largest(mss: u16, options: &Options) -> u16 {
    if options.over_mptcp { mss.saturating_add(ROOM) } else { mss }
}

fn address(name: &str, value: &str) -> Result<IpAddr, String> {
    value.parse().map_err(|_| format!("--{name}={value}: an IP address was expected"))
}
