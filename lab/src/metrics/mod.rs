//! What a run measured: counts and means ([`account`]), time series ([`series`]), the summary object ([`summary`]).

pub mod account;
pub mod fates;
pub mod series;
pub mod summary;
