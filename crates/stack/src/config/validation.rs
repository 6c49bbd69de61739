//! Checks of a configuration.

use super::field::FIELDS;
use super::{Acknowledgement, Config, ConfigError};
use crate::registry::{Choice, Kind};

impl Config {
    /// Returns the configuration if it is valid.
    ///
    /// # Errors
    /// The first fault of [`Config::validate`].
    pub fn checked(self) -> Result<Self, ConfigError> {
        self.validate().map(|()| self)
    }

    /// Checks that every field is in its range and that all fields are consistent.
    ///
    /// # Errors
    /// The first fault found.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.ranges()?;
        for (field, value) in [("min_rto", self.min_rto), ("initial_rto", self.initial_rto)] {
            if value > self.max_rto {
                return Err(ConfigError::AboveMaxRto { field, value, max_rto: self.max_rto });
            }
        }
        if self.opportunistic_retransmission && self.acknowledgement == Acknowledgement::Coupled {
            return Err(ConfigError::Range {
                field: "opportunistic_retransmission",
                value: "true".to_owned(),
                allowed: "false with coupled acknowledgement, which sends no segment again on another subflow"
                    .to_owned(),
            });
        }
        self.needs(&self.controller)?;
        self.needs(&self.detector)?;
        self.needs(&self.reduction)?;
        self.needs(&self.judge)?;
        self.needs(&self.scheduler)
    }

    fn ranges(&self) -> Result<(), ConfigError> {
        match FIELDS.iter().find(|field| !field.allows((field.get)(self))) {
            None => Ok(()),
            Some(field) => Err(ConfigError::Range {
                field: field.name,
                value: (field.get)(self).to_string(),
                allowed: field.allowed(),
            }),
        }
    }

    fn needs<T: ?Sized + Kind>(&self, choice: &Choice<T>) -> Result<(), ConfigError> {
        match choice.info().needs.iter().find(|&&n| !self.meets(n) && !choice.yields()) {
            None => Ok(()),
            Some(&need) => Err(ConfigError::Needs { kind: T::KIND, name: choice.name().to_owned(), need }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DelayedAck;
    use crate::controller::Controller;
    use crate::judge::Judge;
    use crate::time::Duration;

    fn refused(config: Config) -> String {
        config.checked().unwrap_err().to_string()
    }

    #[test]
    fn the_defaults_are_valid() {
        assert!(Config::default().checked().is_ok());
    }

    #[test]
    fn a_field_out_of_its_range_is_named_with_what_is_allowed() {
        let b = Config::default;
        assert_eq!(refused(b().mss(0)), "mss: 0 is out of range; allowed: 1 to 65495");
        assert!(
            refused(b().receive_buffer(Some(0)))
                .starts_with("receive_buffer: 0 is out of range; allowed: unlimited, or 1 to 1073741824 octets")
        );
        assert!(refused(b().delayed_ack(DelayedAck::After(Duration::from_secs(1)))).starts_with("delayed_ack: "));
        assert!(refused(b().user_timeout(Some(Duration::ZERO))).starts_with("user_timeout: "));
        assert!(refused(b().subflow_limit(256)).ends_with("allowed: 1 to 255"));
    }

    /// RFC 5681 4.2, RFC 1122 4.2.3.2.
    /// RFC 9293 3.8.6.3.
    #[test]
    fn an_acknowledgement_waits_for_half_a_second_at_most() {
        let after = |ms| Config::default().delayed_ack(DelayedAck::After(Duration::from_millis(ms))).checked();
        assert!(after(500).is_ok() && after(501).is_err());
    }

    #[test]
    fn a_timeout_above_its_upper_bound_is_refused() {
        let said = refused(Config::default().min_rto(Duration::from_secs(2)).max_rto(Duration::from_secs(1)));
        assert!(said.starts_with("min_rto: 2") && said.ends_with("lower min_rto or raise max_rto"), "{said}");
        let second = Duration::from_secs(1);
        assert!(Config::default().min_rto(second).initial_rto(second).max_rto(second).checked().is_ok());
    }

    #[test]
    fn an_algorithm_without_what_it_needs_is_refused() {
        let with = |judge: &str| Config::default().judge(judge.parse().unwrap());
        assert!(refused(with("dsack").sack(false)).contains("needs sack"));
        assert!(refused(with("eifel").timestamps(false)).contains("needs timestamps"));
        assert!(with("door").sack(false).timestamps(false).checked().is_ok());
    }

    #[test]
    fn a_parameter_is_checked_against_the_list() {
        let door: Choice<dyn Judge> = "door".parse().unwrap();
        assert_eq!(door.clone().with("t1", 2.0).unwrap().values().get("t1"), 2.0);
        let said = |parameter, value| door.clone().with(parameter, value).unwrap_err().to_string();
        assert_eq!(said("t3", 1.0), "judge: \"door\" has no parameter t3; it has: t1, t2");
        assert_eq!(said("t1", -1.0), "judge: t1 of \"door\" is -1; allowed: 0 to 1000");
        assert!(said("t1", f64::NAN).contains("NaN"));
    }

    #[test]
    fn a_name_nobody_registered_is_answered_with_the_list() {
        let said = "reno".parse::<Choice<dyn Controller>>().unwrap_err().to_string();
        assert!(said.starts_with("controller: there is no \"reno\"; choices: uncoupled, coupled"), "{said}");
    }
}
