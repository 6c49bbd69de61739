//! `controller`, `judge` and `scheduler`: a name, or a table with the name and parameters, `{ name = "door", t1 = 2.0 }`.
//!
//! Names and parameters are taken from the engine's registries; they are listed nowhere else.

use anabranch_stack::config::Profile;
use anabranch_stack::registry::{Choice, Info, Kind, Parameter, Registry, Setting, Unit};
use anabranch_stack::time::Duration;
use toml::{Table, Value};

use super::error::Error;
use super::nearest::did_you_mean;
use super::reader::{deciding, ranged, word};
use super::units::TIME;

/// Reads what stands at the key `what`, as one of `known`, in the variant that `profile` has.
pub(super) fn read<T: ?Sized + Kind>(
    value: &Value,
    what: &str,
    known: &Registry<T>,
    profile: Profile,
) -> Result<Choice<T>, Error> {
    let Some(table) = value.as_table() else {
        return named(value, what, known).map(|choice| profile.variant(choice));
    };
    let name = deciding(table, "name", &format!("{what} = {{ name = \"{}\" }}", example(known)))?;
    let choice = profile.variant(named(name, what, known).map_err(|e| e.within("name"))?);
    given(table).try_fold(choice, |choice, (key, value)| {
        let parameter = choice.info().parameter(key).ok_or_else(|| unknown(choice.info(), key))?.clone();
        set(choice, &parameter, value).map_err(|e| e.within(key))
    })
}

/// The parameters of a table: all but the name.
fn given(table: &Table) -> impl Iterator<Item = (&String, &Value)> {
    table.iter().filter(|(key, _)| *key != "name")
}

/// `choice` with `value` for `parameter`.
pub(super) fn set<T: ?Sized + Kind>(
    choice: Choice<T>,
    parameter: &Parameter,
    value: &Value,
) -> Result<Choice<T>, Error> {
    let read = quantity(value, parameter)?;
    choice.with(&parameter.name, read).map_err(|e| Error::new(e.to_string(), ""))
}

fn named<T: ?Sized + Kind>(value: &Value, what: &str, known: &Registry<T>) -> Result<Choice<T>, Error> {
    let all: Vec<Choice<T>> = known.iter().collect();
    let choices: Vec<(&str, usize)> = all.iter().enumerate().map(|(i, c)| (c.name(), i)).collect();
    word(value, what, &choices).map(|i| all[i].clone())
}

/// The name of an algorithm for an example in a message: one with parameters, if there is one.
fn example<T: ?Sized + Kind>(known: &Registry<T>) -> String {
    let all: Vec<Choice<T>> = known.iter().collect();
    let example = all.iter().find(|c| !c.info().parameters.is_empty()).or(all.first());
    example.map_or_else(String::new, |choice| choice.name().to_owned())
}

fn unknown(info: &Info, key: &str) -> Error {
    let own: Vec<&str> = info.parameters.iter().map(|p| &*p.name).collect();
    let remedy = match &*info.parameters {
        [] => "it has no parameters: remove this one".to_owned(),
        list => format!("{}it has: {}", did_you_mean(key, &own), described(list)),
    };
    Error::at(key, format!("\"{}\" has no parameter {key}", info.name), remedy)
}

/// The list of parameters for a message.
fn described(list: &[Parameter]) -> String {
    let one = |p: &Parameter| format!("{} ({}; {}, default {})", p.name, p.meaning, range(p), write(p, p.default));
    list.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn range(p: &Parameter) -> String {
    let unit = if p.unit == Unit::RoundTrips { " smoothed round-trip times" } else { "" };
    format!("{} to {}{unit}", write(p, p.least), write(p, p.most))
}

fn write(p: &Parameter, value: f64) -> String {
    match p.unit {
        Unit::Time => TIME.write(nanoseconds(value).0),
        Unit::Share => format!("{} %", (value * 1e14).round() / 1e12),
        _ => value.to_string(),
    }
}

fn nanoseconds(seconds: f64) -> Duration {
    Duration((seconds * 1e9).round() as u64)
}

/// A value of `parameter`, within its range.
fn quantity(value: &Value, parameter: &Parameter) -> Result<f64, Error> {
    ranged(value, parameter.range()).map(|setting| match setting {
        Setting::Whole(n) => n as f64,
        Setting::Time(time) => time.as_secs_f64(),
        Setting::Number(n) => n,
        Setting::Flag(_) | Setting::Word(_) | _ => unreachable!("no parameter is a flag or a word"),
    })
}

/// The values of `choice` for the resolved scenario, with their unit in the name; `None` if it has no parameters.
pub(super) fn json<T: ?Sized>(choice: &Choice<T>) -> Option<serde_json::Value> {
    let ending = |unit| match unit {
        Unit::Time => "_s",
        Unit::RoundTrips => "_srtt",
        _ => "",
    };
    let values: serde_json::Map<_, _> =
        choice.values().iter().map(|(p, v)| (format!("{}{}", p.name, ending(p.unit)), v.into())).collect();
    (!values.is_empty()).then(|| values.into())
}

#[cfg(test)]
mod tests {
    use anabranch_stack::judge::Judge;
    use anabranch_stack::registry::{Factory, Setup, Values};

    use super::super::parse;
    use super::*;

    /// Registered by nobody but this test, with a parameter of each unit.
    #[derive(Debug)]
    struct Strange(Info);

    static PARAMETERS: [Parameter; 4] = [
        Parameter::new("weight", Unit::Number, 0.5, (-1.0, 1.0), "of the newest"),
        Parameter::new("rounds", Unit::Whole, 3.0, (1.0, 9.0), "until it speaks"),
        Parameter::new("wait", Unit::Time, 0.01, (0.001, 1.0), "before it speaks"),
        Parameter::new("part", Unit::Share, 0.25, (0.1, 0.5), "that it needs to see"),
    ];

    impl Factory<dyn Judge> for Strange {
        fn info(&self) -> &Info {
            &self.0
        }

        fn make(&self, setup: &Setup, _: &Values) -> Box<dyn Judge> {
            "none".parse::<Choice<dyn Judge>>().unwrap().make(setup)
        }
    }

    fn of(text: &str) -> Result<Choice<dyn Judge>, String> {
        let table: Table = format!("judge = {text}").parse().unwrap();
        let strange = Strange(Info::new("strange", "of a test").parameters(&PARAMETERS));
        let known = Registry::default().with(strange).unwrap();
        read(&table["judge"], "judge", &known, Profile::default()).map_err(|e| e.to_string())
    }

    #[test]
    fn an_algorithm_is_a_name_or_a_table() {
        assert_eq!(of("'dsack'").unwrap().name(), "dsack");
        assert_eq!(of("{ name = 'dsack' }").unwrap().name(), "dsack");
        assert_eq!(of("'door'").unwrap().values().get("t1"), 1.0);
        let door = of("{ name = 'door', t1 = 2, t2 = 0.5 }").unwrap();
        assert_eq!((door.values().get("t1"), door.values().get("t2")), (2.0, 0.5));
    }

    #[test]
    fn one_of_another_crate_is_read_by_its_own_list() {
        let read = of("{ name = 'strange', weight = -0.5, rounds = 4, wait = '20 ms', part = '30 %' }").unwrap();
        let values: Vec<f64> = read.values().iter().map(|(_, v)| v).collect();
        assert_eq!(values, [-0.5, 4.0, 0.02, 0.3]);
        assert_eq!(json(&read).unwrap()["wait_s"], 0.02);
        assert!(of("{ name = 'strange', wait = '2 s' }").unwrap_err().starts_with("wait: "));
        assert!(of("{ name = 'strange', rounds = 10 }").unwrap_err().contains("a whole number from 1 to 9"));
        assert!(of("{ name = 'strange', part = '60 %' }").unwrap_err().contains("allowed: 10 % to 50 %"));
        assert!(of("{ name = 'strange', weight = 2 }").unwrap_err().contains("a number from -1 to 1, found 2"));
    }

    #[test]
    fn an_unknown_parameter_is_answered_with_the_list() {
        assert_eq!(
            of("{ name = 'door', t3 = 1 }").unwrap_err(),
            "t3: \"door\" has no parameter t3\n  did you mean \"t1\"? it has: t1 (T1: how long the window and the timer are \
             held after reordering; 0 to 1000 smoothed round-trip times, default 1), t2 (T2: largest age of a window \
             reduction that is undone; 0 to 1000 smoothed round-trip times, default 1)"
        );
        assert!(of("{ name = 'none', t1 = 1 }").unwrap_err().ends_with("it has no parameters: remove this one"));
        assert!(of("{ t1 = 1 }").unwrap_err().contains("write, for example, judge = { name = \"door\" }"));
        assert!(
            of("{ name = 'dor' }").unwrap_err().starts_with("name: unknown judge \"dor\"\n  did you mean \"door\"?")
        );
    }

    fn judge(connection: &str) -> Result<Choice<dyn Judge>, String> {
        let text = format!("connection = {connection}\ntransfer = {{}}\npath = [{{}}]");
        let read = parse(&text, "t", &[], None).map_err(|e| e.to_string());
        read.map(|s| s.connections[0].config.judge.clone())
    }

    #[test]
    fn recovery_is_another_name_of_judge() {
        for written in ["{ judge = 'door' }", "{ recovery = 'door' }", "{ recovery = { name = 'door' } }"] {
            assert_eq!(judge(written).unwrap().name(), "door");
        }
        let both = judge("{ judge = 'door', recovery = 'door' }").unwrap_err();
        assert!(both.starts_with("t: connection.recovery: is an alias of judge, and both are given"), "{both}");
        assert!(judge("{ recovery = 'rack' }").unwrap_err().contains("connection.recovery: unknown recovery \"rack\""));
        assert!(judge("{ judge = 'rack' }").unwrap_err().contains("connection.judge: unknown judge \"rack\""));
    }

    #[test]
    fn door_t1_and_door_t2_are_other_names_of_its_parameters() {
        let door = judge("{ recovery = 'door', door_t1 = 2, door_t2 = 0.5 }").unwrap();
        assert_eq!((door.values().get("t1"), door.values().get("t2")), (2.0, 0.5));
        assert_eq!(judge("{ judge = 'dsack', door_t1 = 2 }").unwrap().name(), "dsack");
        let both = judge("{ judge = { name = 'door', t1 = 1 }, door_t1 = 2 }").unwrap_err();
        assert!(both.starts_with("t: connection.door_t1: is an alias of judge.t1, and both are given"), "{both}");
        let wrong = judge("{ door_t1 = 'long' }").unwrap_err();
        assert!(wrong.contains("expected a number of smoothed round-trip times from 0 to 1000, found \"long\""));
    }

    #[test]
    fn what_an_algorithm_needs_is_told_under_the_name_that_was_written() {
        let said = judge("{ recovery = 'dsack', sack = false }").unwrap_err();
        assert_eq!(
            said,
            "t: connection.recovery: \"dsack\" needs sack, which is off\n  set sack = true, or choose another recovery"
        );
        let said = judge("{ judge = 'eifel', timestamps = false }").unwrap_err();
        assert!(said.starts_with("t: connection.judge: \"eifel\" needs timestamps, which is off"), "{said}");
        assert!(judge("{ judge = 'door', sack = false, timestamps = false }").is_ok());
    }

    /// What the judge of `connection` is with these overrides.
    fn with(connection: &str, overrides: &[(&str, &str)]) -> String {
        let text = format!("connection = {connection}\ntransfer = {{}}\npath = [{{}}]");
        let overrides: Vec<_> = overrides.iter().map(|(k, v)| (format!("connection.{k}"), (*v).to_owned())).collect();
        match parse(&text, "t", &overrides, None) {
            Ok(s) => format!("{} {:?}", s.connections[0].judge_key, s.connections[0].config.judge),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn parameters_are_set_one_by_one_in_any_order() {
        let (name, parameter) = (("judge", "door"), ("judge.t1", "2"));
        assert_eq!(with("{}", &[name, parameter]), "judge door t1=2 t2=1");
        assert_eq!(with("{}", &[parameter, name]), "judge door t1=2 t2=1");
        assert_eq!(with("{ judge = 'door' }", &[parameter]), "judge door t1=2 t2=1");
        assert_eq!(with("{ judge = { name = 'door', t2 = 3 } }", &[parameter]), "judge door t1=2 t2=3");
        assert!(with("{}", &[parameter]).starts_with("t: connection.judge.name: missing in"));
        let other = with("{ judge = 'dsack' }", &[parameter]);
        assert!(
            other.starts_with("t: connection.judge.t1 (from --set or set()): \"dsack\" has no parameter t1"),
            "{other}"
        );
        // A name alone is all there is to say.
        assert_eq!(with("{ judge = { name = 'door', t2 = 3 } }", &[("judge", "door")]), "judge door t1=1 t2=1");
    }

    #[test]
    fn an_override_finds_the_judge_under_either_name() {
        let (name, parameter) = (("judge", "door"), ("judge.t1", "2"));
        assert_eq!(with("{ recovery = 'dsack' }", &[("judge", "eifel")]), "judge eifel");
        assert_eq!(with("{ judge = 'dsack' }", &[("recovery", "eifel")]), "recovery eifel");
        assert_eq!(with("{ recovery = 'door' }", &[parameter]), "recovery door t1=2 t2=1");
        assert_eq!(with("{ recovery = 'dsack' }", &[name, parameter]), "judge door t1=2 t2=1");
        assert_eq!(with("{ recovery = 'dsack' }", &[parameter, name]), "judge door t1=2 t2=1");
        // A document with both is refused, but not if an override replaces them.
        assert_eq!(with("{ recovery = 'dsack', judge = 'door' }", &[("judge", "eifel")]), "judge eifel");
        assert_eq!(with("{ recovery = 'dsack', judge = 'door' }", &[("recovery", "eifel")]), "recovery eifel");
        let both = with("{}", &[("recovery", "door"), ("judge", "door")]);
        assert!(both.contains("is an alias of judge, and both are given"), "{both}");
    }
}
