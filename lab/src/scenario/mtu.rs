//! `mtu`: the longest packet that a link passes on, `"1400 B"`, or with `{ size = "1400 B", icmp = false }` without a word to the sender.

use toml::Value;

use super::error::Error;
use super::keys::Keys;
use super::model::{Mtu, Stack};
use super::reader::{Section, flag};
use super::units::{BYTES, word_or};

/// The keys of its table.
pub(super) static KEYS: Keys = Keys { table: "mtu = { ... }", plain: &["size", "icmp"], directed: &[] };

/// Whatever message comes, segments keep a payload of 48 octets, beside headers and options of up to 80.
const LEAST: u64 = 128;

pub(super) fn read(value: &Value, stack: Stack) -> Result<Option<Mtu>, Error> {
    let size = |v: &Value| BYTES.read(v, LEAST, 65_535).map(|n| n as u32);
    let mtu = match value.as_table() {
        None => word_or(value, &[("none", None)], |v| size(v).map(|size| Some(Mtu { size, icmp: true })), "1400 B")?,
        Some(table) => {
            let section = Section::new(table, &KEYS)?;
            Some(Mtu { size: section.require("size", "\"1400 B\"", size)?, icmp: section.or("icmp", true, flag)? })
        }
    };
    if stack == Stack::Legacy2011 && mtu.is_some() {
        let problem = "the 2011 model hears no messages from routers";
        return Err(Error::new(problem, "remove it, or use stack = \"anabranch\""));
    }
    Ok(mtu)
}
