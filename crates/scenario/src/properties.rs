//! What a link has and a scheduled change may alter: random loss.

use toml::Value;

use super::error::Error;
use super::model::Loss;
use super::reader::Section;
use super::schema::LOSS;
use super::units::ratio;

/// Bernoulli loss as a ratio, or the four numbers of the Gilbert-Elliott model as a table.
pub(super) fn loss(value: &Value) -> Result<Loss, Error> {
    let Some(model) = value.as_table() else {
        return ratio(value).map(Loss::Bernoulli);
    };
    let section = Section::new(model, &LOSS)?;
    Ok(Loss::GilbertElliott {
        good_to_bad: section.value("good_to_bad")?,
        bad_to_good: section.value("bad_to_good")?,
        loss_good: section.value("loss_good")?,
        loss_bad: section.value("loss_bad")?,
    })
}
