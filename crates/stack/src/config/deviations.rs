//! Deviations of an endpoint from the engine's reading of the RFCs, each with a name of its own.
//!
//! A profile sets the deviations of its stack together; each can also be set alone. What is a key
//! of a scenario is a field of [`Config`](super::Config); what only a stack as a whole would do is
//! here, described once.

macro_rules! deviations {
    ($($(#[$doc:meta])+ $name:ident: $linux_61:literal $linux_618:literal,)*) => {
        /// Deviations by name. [`Default`]: none.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Deviations {
            $($(#[$doc])+ pub $name: bool,)*
        }

        impl Deviations {
            /// No deviation: the RFCs as this engine reads them.
            pub const NONE: Self = Self { $($name: false,)* };
            /// The deviations of Linux 6.1.
            pub const LINUX_61: Self = Self { $($name: $linux_61,)* };
            /// The deviations of Linux 6.18.
            pub const LINUX_618: Self = Self { $($name: $linux_618,)* };
            /// The names of all deviations, in the order of the fields.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];

            /// The deviation called `name`, to be read or set; `None` if no deviation has this
            /// name.
            pub fn by_name(&mut self, name: &str) -> Option<&mut bool> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }

            /// These deviations with the one called `name` as well.
            ///
            /// # Panics
            /// If no deviation has this name; [`Deviations::NAMES`] lists them.
            #[must_use]
            pub fn and(mut self, name: &str) -> Self {
                *self.by_name(name).unwrap_or_else(|| panic!("no deviation is called \"{name}\"")) = true;
                self
            }
        }
    };
}

// After each name: whether Linux 6.1 has it, whether Linux 6.18 has it.
deviations! {
    /// Accepts a segment without timestamps although both hosts agreed on timestamps. RFC 7323 3.2:
    /// SHOULD drop it. Linux: `tcp_validate_incoming`.
    accepts_missing_timestamps: true true,
    /// Echoes the timestamp of a repeated segment that ends where the last acknowledgement did, so
    /// that a lost acknowledgement does not lengthen the measured round trip. RFC 7323 5.3 rejects
    /// the segment (R2) before R3 takes its timestamp. Linux: `tcp_sequence`,
    /// `tcp_replace_ts_recent`.
    echoes_repeated_timestamps: true true,
    /// Acknowledges a DATA_FIN without data with 32 bits, whatever the length of its data sequence
    /// number: RFC 8684 3.3.2 speaks of data. Linux: `mptcp_check_data_fin`.
    short_ack_of_data_fin: true true,
    /// Sends a DATA_FIN, and acknowledges the peer's, on every subflow, and repeats its own in
    /// every acknowledgement until the DATA_ACK. RFC 8684 3.3.3 leaves that open. Linux:
    /// `mptcp_write_data_fin`, `mptcp_check_data_fin`, `__mptcp_wr_shutdown`.
    data_fin_on_all: true true,
    /// Repeats a DATA_FIN after the minimum RTO, twice, then after twice the previous interval.
    /// RFC 8684 3.3.3 leaves the interval open. Linux: `mptcp_set_datafin_timeout`.
    data_fin_after_min_rto: true true,
    /// Repeats the third ACK of a join at equal intervals. RFC 8684 3.2 asks for the repetition and
    /// leaves the interval open. Linux: `mptcp_established_options_mp`.
    join_ack_without_backoff: true true,
    /// A client that has received a DSS sends its first data with a DSS, without its keys (RFC 8684
    /// 3.1). Linux: `mptcp_established_options_mp`.
    first_data_with_dss: true true,
    /// A RST that answers MP_FASTCLOSE carries MP_TCPRST with the reason 0 (RFC 8684 3.5, 3.6).
    /// Linux: `mptcp_do_fastclose`.
    reason_after_fast_close: true true,
    /// Data in a SYN leave 40 octets for options, however many options there are. RFC 7413 4.1.3
    /// subtracts those that are there. Linux: `tcp_send_syn_data`.
    full_options_beside_syn_data: true true,
    /// The host's own MSS bounds data in a SYN if the server's MSS is unknown. RFC 7413 4.1.3: 536
    /// octets. Linux: `tcp_connect_init`.
    own_mss_bounds_syn_data: true true,
    /// A server's first refusal of Fast Open has no effect. RFC 7413 4.1.3.1 pauses after one.
    /// Linux: `tcp_fastopen_cookie_check`.
    forgives_fast_open_refusal: true true,
    /// Announces a further address when the peer has echoed the previous one. RFC 8684 3.4.1 does
    /// not order announcements. Linux: `mptcp_pm_add_addr_echoed`.
    announces_one_by_one: true true,
    /// The window of a SYN is a whole number of segments. Linux: `tcp_select_initial_window`.
    whole_segments_in_syn_window: true true,
    /// Less than a segment waits only while a segment as small is unacknowledged (Minshall's
    /// variant of Nagle's algorithm). RFC 9293 3.7.4 waits for everything unacknowledged. Linux:
    /// `tcp_nagle_check`, `tcp_minshall_check`.
    minshall: true true,
    /// The last data of a plain TCP connection that was closed carry the FIN. RFC 9293 3.10.4
    /// leaves open whether the FIN has a segment of its own. Linux: `tcp_send_fin`.
    fin_on_last_data: true true,
    /// A client's third ACK is a segment of its own although data are written already: the program
    /// writes after `connect` has returned. RFC 9293 3.10.7.3 allows data on it. Linux:
    /// `tcp_rcv_synsent_state_process`.
    third_ack_alone: true true,
    /// An ADD_ADDR shows a client that the server has its keys, so that it may join at once. RFC
    /// 8684 3.1 waits for a DSS. Linux: `check_fully_established`.
    add_addr_confirms: true true,
    /// A burst of `scheduler = "linux"` is 64 kB or what the peer's window takes, even if less is
    /// written. Linux: `mptcp_subflow_get_send`.
    bursts_of_window: true true,
    /// A receive buffer that tunes itself goes by the longest round trip that arriving data show. A
    /// subflow without data has none, and without any the buffer stays as it is. Otherwise the
    /// handshake's round trip counts, too. Linux: `mptcp_rcv_space_adjust`, `tcp_rcv_space_adjust`.
    tunes_by_arriving_data: true true,
    /// A receive buffer that tunes itself grows by the memory of whole segments, half of which is
    /// window: 1492 octets for a segment of 1448. Linux before 6.6: `rcvmem` in
    /// `tcp_rcv_space_adjust`.
    tunes_by_memory: true false,
    /// A receive buffer of Multipath TCP that tunes itself measures its first round trip from the
    /// first read on, without what was read then. Otherwise from the first arrival on. Linux before
    /// 6.12: `mptcp_rcv_space_adjust`, after `mptcp_rcv_space_init` has taken an earlier time.
    skips_first_read: true false,
    /// The window scale is chosen for the memory of the receive buffer, half of which is window.
    /// RFC 7323 2.3 leaves the choice open. Linux: `tcp_select_initial_window`.
    scale_of_memory: true true,
    /// Unread and held data take memory beside their octets: 768 octets, and as many for each five
    /// segments, which are merged into one buffer. `held_charge` counts both. Linux:
    /// `SKB_TRUESIZE`, `mptcp_try_coalesce`.
    charges_buffers: true true,
    /// Less than a segment at the end of a subflow's queue waits by Nagle's algorithm even if the
    /// peer's window ends there, other subflows have taken what follows, or the stream was closed.
    /// RFC 9293 3.7.4 speaks of the connection's data. Linux: `tcp_nagle_test`, `tcp_skb_is_last`.
    nagle_by_subflow: true true,
    /// With `scheduler = "linux"`, the connection's send buffer is the sum of the subflows' send
    /// buffers. Without: the largest of them. Linux since 6.7: `__mptcp_sync_sndbuf`; before:
    /// `mptcp_propagate_sndbuf`.
    sums_send_buffers: false true,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, PROFILES, Profile};

    #[test]
    fn the_profiles_of_linux_set_theirs_and_the_others_none() {
        for (name, profile) in PROFILES {
            let wanted = match profile {
                Profile::Linux61 => Deviations::LINUX_61,
                Profile::Linux618 => Deviations::LINUX_618,
                _ => Deviations::NONE,
            };
            assert_eq!(profile.config().deviations, wanted, "{name}");
        }
        assert_eq!(Config::default().deviations, Deviations::default());
    }

    #[test]
    fn each_is_set_by_its_name_alone() {
        let mut all = Deviations::NONE;
        for name in Deviations::NAMES {
            let one = Deviations::NONE.and(name);
            let set = |name: &&&str| one.clone().by_name(name).is_some_and(|on| *on);
            assert_eq!(Deviations::NAMES.iter().filter(set).collect::<Vec<_>>(), [name]);
            all = all.and(name);
        }
        let mut versions = (Deviations::LINUX_61, Deviations::LINUX_618);
        for name in Deviations::NAMES {
            let has = versions.0.by_name(name).is_some_and(|on| *on);
            let has_later = versions.1.by_name(name).is_some_and(|on| *on);
            assert!(has || has_later, "no version of Linux has {name}");
            let differs = ["tunes_by_memory", "skips_first_read", "sums_send_buffers"].contains(name);
            assert_eq!(has != has_later, differs, "{name}");
        }
        assert!(all.by_name("as_linux").is_none());
    }
}
