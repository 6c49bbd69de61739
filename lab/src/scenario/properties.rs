//! What a link has and a scheduled change may alter: rate, delay, random loss.

use anabranch_stack::time::Duration;
use toml::Value;

use super::error::Error;
use super::keys::Keys;
use super::model::Loss;
use super::reader::Section;
use super::units::{RATE, ratio, time};

pub(super) static GILBERT: Keys =
    Keys { table: "loss = { ... }", plain: &["good_to_bad", "bad_to_good", "loss_bad", "loss_good"], directed: &[] };

/// The highest rate of a link, 1 Tbit/s.
pub(super) const FASTEST: u64 = 1_000_000_000_000;
pub(super) const HOUR: Duration = Duration::from_secs(3600);
/// A rate from 1 bit/s to 1 Tbit/s.
pub(super) fn rate(value: &Value) -> Result<u64, Error> {
    RATE.read(value, 1, FASTEST)
}

/// A one-way propagation delay of at most an hour, about that to Jupiter.
pub(super) fn delay(value: &Value) -> Result<Duration, Error> {
    time(value, Duration::ZERO, HOUR)
}

/// Bernoulli loss as a ratio, or the four numbers of the Gilbert-Elliott model as a table.
pub(super) fn loss(value: &Value) -> Result<Loss, Error> {
    let Some(model) = value.as_table() else {
        return ratio(value).map(Loss::Bernoulli);
    };
    let section = Section::new(model, &GILBERT)?;
    Ok(Loss::GilbertElliott {
        good_to_bad: section.require("good_to_bad", "\"1 %\"", ratio)?,
        bad_to_good: section.require("bad_to_good", "\"30 %\"", ratio)?,
        loss_good: section.or("loss_good", 0.0, ratio)?,
        loss_bad: section.or("loss_bad", 1.0, ratio)?,
    })
}
