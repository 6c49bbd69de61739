//! Linux's sysctls `net.ipv4.tcp_*` and `net.mptcp.*`: the effect of each on the engine.

use anabranch_sim::scenario::nearest::did_you_mean;
use anabranch_stack::time::Duration;

use super::fast_open::{CLIENT, CLIENT_BARE, EVERY_LISTENER, SERVER, SERVER_BARE, key};
use super::report::{Step, Stop};
use super::settings::Settings;

type Set = fn(&mut Settings, &str) -> Result<(), String>;

/// Sysctls that change the configuration, and how.
const FOLLOWED: &[(&str, Set)] = &[
    ("tcp_timestamps", |s, v| {
        s.config.timestamps = number(v)? != 0;
        Ok(())
    }),
    ("tcp_sack", |s, v| {
        s.config.sack = number(v)? != 0;
        Ok(())
    }),
    ("tcp_ecn", ecn),
    ("tcp_rmem", |s, v| {
        let [_, initial, most] = three(v)?;
        s.config.receive_buffer = Some(most);
        s.config.receive_initial = s.config.receive_initial.map(|_| initial.min(65_535).min(most));
        Ok(())
    }),
    ("tcp_wmem", |s, v| {
        s.config.send_buffer = Some(three(v)?[2]);
        Ok(())
    }),
    ("tcp_invalid_ratelimit", |s, v| {
        s.config.invalid_ack_interval = Duration::from_millis(number(v)?);
        Ok(())
    }),
    ("tcp_rto_max_ms", |s, v| {
        s.config.max_rto = Duration::from_millis(number(v)?.max(1));
        Ok(())
    }),
    ("tcp_rto_min_us", |s, v| {
        s.config.min_rto = Duration(number(v)?.max(1).saturating_mul(1000));
        Ok(())
    }),
    ("tcp_congestion_control", controller),
    ("tcp_fastopen", |s, v| {
        // Linux itself ignores all other bits.
        s.fast_open.0 = number(v)? & (CLIENT | SERVER | CLIENT_BARE | SERVER_BARE | EVERY_LISTENER);
        Ok(())
    }),
    ("tcp_fastopen_key", |s, v| {
        s.fast_open.1 = key(v).ok_or("a key such as a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4 was expected")?;
        Ok(())
    }),
    ("tcp_tso_win_divisor", |s, v| {
        // Linux defers a burst only while it has room for less than 1/value of the window
        // (`tcp_tso_should_defer`). From 100 on, that part is less than one segment for windows up
        // to 100 segments, so no burst is deferred.
        match number(v)? {
            3 => {}
            100.. => s.config.defer_bursts = false,
            _ => return Err("3, or at least 100, was expected".to_owned()),
        }
        Ok(())
    }),
    ("tcp_notsent_lowat", |s, v| {
        s.not_sent = number(v)?.min(u32::MAX.into()) as u32;
        Ok(())
    }),
    ("tcp_synack_retries", |s, v| {
        s.config.syn_ack_retries = Some(number(v)?.min(255) as u32);
        Ok(())
    }),
    ("tcp_slow_start_after_idle", |s, v| flag(v, &mut s.config.restart_after_idle)),
    ("tcp_syn_retries", |s, v| {
        s.config.syn_retries = Some(number(v)?.min(255) as u32);
        Ok(())
    }),
    ("net.mptcp.enabled", |s, v| flag(v, &mut s.multipath)),
    ("net.mptcp.checksum_enabled", |s, v| flag(v, &mut s.config.checksum)),
    ("net.mptcp.stale_loss_cnt", |s, v| {
        s.config.stale_after = number(v)?.min(255) as u32;
        Ok(())
    }),
    ("net.mptcp.close_timeout", |s, v| {
        s.config.time_wait = Duration::from_secs(number(v)?.max(1));
        Ok(())
    }),
    ("net.mptcp.scheduler", scheduler),
];

/// Sysctls whose behaviour is fixed in the engine: the name, the value that agrees with the engine,
/// and what the engine does. With another value the script is unsupported, unless [`INERT`] or
/// [`WITHOUT_MEANING`] names the sysctl, too.
const ALWAYS: &[(&str, &str, &str)] = &[
    ("tcp_dsack", "1", "the engine reports D-SACK (RFC 2883) whenever SACK is on"),
    ("tcp_fack", "0", "the engine has no FACK"),
    ("tcp_reordering", "3", "DupThresh of the engine is 3"),
    ("tcp_shrink_window", "0", "the engine never moves the right edge of its window left"),
    ("tcp_window_scaling", "1", "the engine always offers window scaling (RFC 7323)"),
    ("tcp_syncookies", "1", "the engine drops the oldest half-open connection if a backlog is full"),
    ("tcp_recovery", "1", "the profile chooses the detector of losses"),
    ("tcp_early_retrans", "4", "the profile chooses the detector of losses"),
    ("tcp_frto", "2", "the profile chooses the judge of timeouts"),
    ("tcp_fastopen_blackhole_timeout_sec", "0", "the engine gives up Fast Open for one server, not for all servers"),
    ("tcp_pacing_ss_ratio", "200", "the pacing ratio in slow start is 200 %"),
    ("tcp_pacing_ca_ratio", "120", "the pacing ratio in congestion avoidance is 120 %"),
    ("tcp_no_metrics_save", "1", "the engine keeps no metrics from one connection to the next"),
];

/// Sysctls that have no effect on the engine but could change the result on Linux, and why they
/// have none.
const WITHOUT_MEANING: &[(&str, &str)] = &[
    ("tcp_pacing_ss_ratio", "the engine's own pacing ratios are 200 % and 120 %"),
    ("tcp_pacing_ca_ratio", "the engine's own pacing ratios are 200 % and 120 %"),
    ("tcp_fastopen_blackhole_timeout_sec", "the engine gives up Fast Open for one server, not for all servers"),
    ("tcp_no_metrics_save", "the engine keeps no metrics from one connection to the next"),
    ("tcp_moderate_rcvbuf", "the profile chooses whether the receive buffer grows"),
    ("tcp_ecn_fallback", "there is nothing to fall back from"),
    ("net.mptcp.add_addr_timeout", "the engine repeats ADD_ADDR after the initial RTO"),
    ("net.mptcp.pm_type", "the runner has one path manager"),
    ("net.mptcp.path_manager", "the runner has one path manager"),
    ("net.mptcp.allow_join_initial_addr_port", "the engine accepts joins to the first address and port in any case"),
    ("net.mptcp.blackhole_timeout", "the engine keeps no state from one connection to the next"),
];

/// Sysctls that have no effect on the engine and cannot change the result of a script, and why.
const INERT: &[(&str, &str)] = &[
    // Accurate ECN needs `tcp_ecn` of 3 or more, which makes a script unsupported.
    ("tcp_ecn_option", "the engine never negotiates Accurate ECN (RFC 9768), whose option this sysctl controls"),
    ("tcp_ecn_option_beacon", "the engine never negotiates Accurate ECN (RFC 9768), whose option this sysctl controls"),
];

fn number(value: &str) -> Result<u64, String> {
    let value = value.trim();
    let read = value.strip_prefix("0x").map_or_else(|| value.parse().ok(), |hex| u64::from_str_radix(hex, 16).ok());
    read.or_else(|| product(value)).ok_or(format!("{value} where a whole number was expected"))
}

/// Reads a product in shell arithmetic, such as `$((32*1024*1024))`.
fn product(value: &str) -> Option<u64> {
    let inner = value.strip_prefix("$((")?.strip_suffix("))")?;
    inner.split('*').try_fold(1u64, |product, factor| product.checked_mul(factor.trim().parse().ok()?))
}

/// Reads minimum, default and maximum of a buffer in octets. Each is limited to 1 GiB, about the
/// largest scaled window.
fn three(value: &str) -> Result<[u64; 3], String> {
    let read: Result<Vec<_>, _> = value.split_whitespace().map(|v| number(v).map(|n| n.clamp(1, 1 << 30))).collect();
    read?.try_into().map_err(|_| format!("{value} where three numbers were expected"))
}

fn ecn(s: &mut Settings, value: &str) -> Result<(), String> {
    (s.active_ecn, s.config.ecn) = match number(value)? {
        0 => (false, false),
        1 => (true, true),
        2 => (false, true),
        _ => return Err("Accurate ECN (RFC 9768)".to_owned()),
    };
    Ok(())
}

fn controller(s: &mut Settings, value: &str) -> Result<(), String> {
    let name = if value == "reno" { "uncoupled" } else { value };
    let choice = name.parse().map_err(|e| format!("{e}"))?;
    s.config.controller = s.config.profile.variant(choice);
    Ok(())
}

fn flag(value: &str, to: &mut bool) -> Result<(), String> {
    *to = number(value)? != 0;
    Ok(())
}

fn scheduler(s: &mut Settings, value: &str) -> Result<(), String> {
    let name = if value == "default" { "linux" } else { value };
    s.config.scheduler = s.config.profile.variant(name.parse().map_err(|e| format!("{e}"))?);
    Ok(())
}

/// Applies `sysctl name=value` to the settings.
///
/// # Errors
/// If the sysctl or its value is not supported.
pub fn set(settings: &mut Settings, line: u32, name: &str, value: &str) -> Step<()> {
    let plain = name.trim().trim_start_matches("/proc/sys/").replace('/', ".");
    let short = plain.trim_start_matches("net.ipv4.");
    if let Some((_, set)) = FOLLOWED.iter().find(|(n, _)| *n == short) {
        return set(settings, value).or_else(|why| Stop::lacks(format!("{short}={value}: {why}")));
    }
    if ALWAYS.iter().any(|(n, always, _)| *n == short && *always == value.trim()) {
        return Ok(());
    }
    if short == "tcp_min_tso_segs" {
        let text = format!("{short}={value} has no effect: several full segments may be sent for one expected segment");
        // On Linux the size of TSO packets decides which bursts are deferred. So the sysctl could
        // change the result if the engine defers bursts.
        if settings.config.defer_bursts {
            settings.note(line, text)
        } else {
            settings.note_inert(line, text)
        }
        return Ok(());
    }
    if let Some((_, why)) = INERT.iter().find(|(n, _)| *n == short) {
        settings.note_inert(line, format!("{short}={value} has no effect: {why}"));
        return Ok(());
    }
    if let Some((_, why)) = WITHOUT_MEANING.iter().find(|(n, _)| *n == short) {
        settings.note(line, format!("{short}={value} has no effect: {why}"));
        return Ok(());
    }
    if let Some((_, always, why)) = ALWAYS.iter().find(|(n, ..)| *n == short) {
        return Stop::lacks(format!("{short}={value}: only {always} is supported, because {why}"));
    }
    let names: Vec<_> = FOLLOWED.iter().map(|(n, _)| *n).chain(WITHOUT_MEANING.iter().map(|(n, _)| *n)).collect();
    Stop::lacks(format!("sysctl {short}: {}it is not known", did_you_mean(short, &names)))
}
