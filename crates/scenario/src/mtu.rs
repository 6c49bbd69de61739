//! `mtu`: the longest packet that a link passes on, `"1400 B"`, or with `{ size = "1400 B", icmp = false }` without a word to the sender.

use toml::Value;

use super::error::Error;
use super::model::{Mtu, Stack};
use super::reader::{Section, setting};
use super::schema::MTU;
use super::units::word_or;

pub(super) fn read(value: &Value, stack: Stack) -> Result<Option<Mtu>, Error> {
    let size = |v: &Value| {
        setting(v, MTU.find("size").expect("it is a key of the table")).map(|s| s.whole().map_or(0, |n| n as u32))
    };
    let mtu = match value.as_table() {
        None => word_or(value, &[("none", None)], |v| size(v).map(|size| Some(Mtu { size, icmp: true })), "1400 B")?,
        Some(table) => {
            let section = Section::new(table, &MTU)?;
            Some(Mtu { size: section.value("size")?, icmp: section.value("icmp")? })
        }
    };
    if stack == Stack::Legacy2011 && mtu.is_some() {
        let problem = "the 2011 model has no path MTU discovery and never shortens its segments";
        return Err(Error::new(problem, "remove it, or use stack = \"anabranch\""));
    }
    Ok(mtu)
}
