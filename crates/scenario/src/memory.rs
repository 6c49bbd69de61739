//! Buffers as Linux's administrators write them: `tcp_rmem` and `tcp_wmem`, least, first and largest size in octets of memory.
//! They set `receive_initial`, `receive_buffer` and `send_buffer`, which are octets of payload.

use anabranch_stack::config::Config;
use toml::Value;

use super::error::{Error, show};
use super::reader::Section;

/// A SYN carries no scaled window (RFC 7323 2.2).
const FIRST_WINDOW: u64 = 65_535;
const LARGEST: u64 = 1 << 30;

/// Puts what the kernel's keys say in place of the defaults.
pub(super) fn defaults(section: &Section<'_>, d: &mut Config) -> Result<(), Error> {
    let truesize: Option<f64> = section.given_value("truesize")?;
    let receive = section.read("tcp_rmem", triple)?;
    if let Some((first, largest)) = receive {
        alone(section, "tcp_rmem", &["receive_buffer", "receive_initial"])?;
        // Half of the memory is window unless said otherwise (tcp_adv_win_scale = 1).
        let window = |memory: u64| ((memory as f64 / truesize.unwrap_or(2.0)) as u64).max(1);
        d.receive_buffer = Some(window(largest));
        d.receive_initial = Some(window(first).min(FIRST_WINDOW).min(window(largest)));
    } else if truesize.is_some() {
        return Err(Error::at("truesize", "has no effect without tcp_rmem", "remove it, or set tcp_rmem"));
    }
    if let Some((_, largest)) = section.read("tcp_wmem", triple)? {
        alone(section, "tcp_wmem", &["send_buffer"])?;
        d.send_buffer = Some(largest);
    }
    Ok(())
}

/// One of two names of the same thing.
fn alone(section: &Section<'_>, key: &str, others: &[&str]) -> Result<(), Error> {
    match others.iter().find(|other| section.has(other)) {
        Some(other) => {
            Err(Error::at(other, format!("is set by {key} already, and both are given"), "remove one of the two"))
        }
        None => Ok(()),
    }
}

/// First and largest size of "4096 131072 6291456".
fn triple(value: &Value) -> Result<(u64, u64), Error> {
    let wrong = || {
        let remedy = "write least, first and largest size in octets, as sysctl does: \"4096 131072 6291456\"";
        Error::new(
            format!("expected three sizes from 1 B to 1 GiB, none smaller than the one before, found {}", show(value)),
            remedy,
        )
    };
    let text = value.as_str().ok_or_else(wrong)?;
    let sizes: Vec<u64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
    match sizes[..] {
        [least, first, largest] if 1 <= least && least <= first && first <= largest && largest <= LARGEST => {
            Ok((first, largest))
        }
        _ => Err(wrong()),
    }
}
