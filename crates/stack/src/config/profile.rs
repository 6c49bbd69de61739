//! Profiles: the defaults of a configuration, by the stack whose behaviour they describe.

use super::{Config, Deviations, RtoFloor};
use crate::registry::{Choice, Kind};
use crate::time::Duration;
use crate::{controller, detector, judge, reduction, scheduler};

/// Which stack the defaults describe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// A sender as standards-track RFCs describe it today: RACK-TLP (RFC 8985 1, 9.3) and PRR (RFC 9937) where SACK is agreed, NewReno
    /// (RFC 6582) where it is not.
    #[default]
    Modern,
    /// The defaults of version 0.1: RFC 6675 and RFC 6298 as they stand, without what came later.
    Classic,
    /// Linux 6.1, as far as `docs/linux.md` says.
    Linux61,
    /// Linux 6.18, as far as `docs/linux.md` says: [`Profile::Linux61`] with what changed since.
    Linux618,
}

/// Names of the profiles in scenarios. The last one is an alias.
pub const PROFILES: &[(&str, Profile)] = &[
    ("modern", Profile::Modern),
    ("classic", Profile::Classic),
    ("linux-6.1", Profile::Linux61),
    ("linux-6.18", Profile::Linux618),
    ("linux", Profile::Linux61),
];

impl Profile {
    /// The name in resolved scenarios.
    pub fn name(self) -> &'static str {
        PROFILES.iter().find(|(_, p)| *p == self).map_or("", |(name, _)| name)
    }

    /// Whose behaviour it is, in a line, and where that is from.
    pub fn described(self) -> (&'static str, &'static str) {
        match self {
            Self::Modern => ("a sender as in today's standards-track RFCs", "RFC 8985, RFC 9937"),
            Self::Classic => {
                ("the defaults of version 0.1, without what came after RFC 6675 and RFC 6298", "RFC 6675, RFC 6298")
            }
            Self::Linux61 => ("a sender as in Linux 6.1", "docs/linux.md"),
            Self::Linux618 => ("a sender as in Linux 6.18", "docs/linux.md"),
        }
    }

    /// The configuration with the defaults of this profile.
    pub fn config(self) -> Config {
        match self {
            Self::Modern => Config::default(),
            Self::Classic => classic(),
            Self::Linux61 => linux(),
            Self::Linux618 => linux_618(),
        }
    }
}

impl Config {
    /// The defaults of version 0.1 ([`Profile::Classic`]).
    pub fn classic() -> Self {
        classic()
    }
}

/// The same algorithm as Linux has it, if it differs from the RFC's.
fn as_linux<T: ?Sized + Kind>(choice: Choice<T>) -> Choice<T> {
    choice.clone().with("linux", 1.0).unwrap_or(choice)
}

impl Profile {
    /// The algorithm as the stack of this profile has it: what a scenario names without a value for a parameter that the profile
    /// knows.
    pub fn variant<T: ?Sized + Kind>(self, choice: Choice<T>) -> Choice<T> {
        if self.is_linux() { as_linux(choice) } else { choice }
    }

    /// Returns true if the profile describes a version of Linux.
    pub fn is_linux(self) -> bool {
        matches!(self, Self::Linux61 | Self::Linux618)
    }
}

fn classic() -> Config {
    Config {
        profile: Profile::Classic,
        detector: Choice::new(&detector::rfc6675::BUILTIN),
        reduction: Choice::new(&reduction::rfc6675::BUILTIN),
        rto_floor: RtoFloor::Timeout,
        sack_timing: false,
        ..Config::default()
    }
}

fn linux() -> Config {
    Config {
        profile: Profile::Linux61,
        controller: as_linux(Choice::new(&controller::cubic::BUILTIN)),
        scheduler: Choice::new(&scheduler::linux::BUILTIN),
        judge: Choice::new(&judge::linux::BUILTIN).yielding(),
        receive_buffer: Some(3 << 20),
        receive_initial: Some(65_535),
        held_charge: 0.5,
        stale_after: 4,
        deviations: Deviations::LINUX_61,
        syn_retries: Some(6),
        window_validation: true,
        count_segments: true,
        quick_acks: 16,
        delayed_ack_adapts: true,
        push_acks: true,
        defer_bursts: true,
        acknowledge_on_read: true,
        ack_compression: Duration::from_millis(1),
        ..Config::default()
    }
}

fn linux_618() -> Config {
    Config {
        profile: Profile::Linux618,
        deviations: Deviations::LINUX_618,
        // Half of the largest tcp_rmem, 32 MB since Linux 6.16.
        receive_buffer: Some(16 << 20),
        ..linux()
    }
}
