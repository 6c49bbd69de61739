//! What `stack = "legacy-2011"` changes: it has its own controllers and recoveries, and keys that the model does not use are
//! refused.
//!
//! A key of the engine with its default value is ignored, so that one file can be run with both stacks. Any other value is
//! refused, since it would have no effect.

use anabranch_stack::config::{Config, Registries};
use toml::Table;

use super::application::Application;
use super::config;
use super::error::Error;
use super::model::{Protocol, Transfer};
use super::reader::{Section, whole, word};
use super::schema::{Key, LONG_CONNECTION, PATH};
use super::units::ratio;
use crate::model_2011::{ACK_DISCARD, CONTROLLERS, LARGEST_MSS, Model, RECOVERIES};

/// Parameters of a connection of the model; those of the engine stay at their defaults.
pub(super) fn read(section: &Section<'_>, protocol: Protocol, known: &Registries) -> Result<(Config, Model), Error> {
    if protocol != Protocol::Mptcp {
        let problem = "the stack \"legacy-2011\" speaks its own multipath TCP only";
        return Err(Error::at("protocol", problem, "remove it, or use stack = \"anabranch\" for a baseline"));
    }
    for key in section.given().filter_map(|name| LONG_CONNECTION.find(name)).filter(|key| !key.heeded) {
        refuse_unless_default(section, key, protocol, known)?;
    }
    if section.get("controller").and_then(|v| v.as_str()) == Some("coupled") {
        let problem = "the stack \"legacy-2011\" has no \"coupled\" (RFC 6356)";
        return Err(Error::at(
            "controller",
            problem,
            "did you mean \"rtt-compensator\", which the papers call Coupled?",
        ));
    }
    let d = Model::default();
    let mut config = Config::default().mptcp(true);
    let mut model = d;
    model.controller = section.or("controller", d.controller, |v| word(v, "controller", CONTROLLERS))?;
    let judge = config::judge_key(section)?;
    model.recovery = section.or(judge, d.recovery, |v| word(v, judge, RECOVERIES))?;
    model.mss = section.or("mss", d.mss, |v| whole(v, 1, u64::from(LARGEST_MSS)).map(|n| n as u32))?;
    model.ack_discard = section.or("ack_discard", ACK_DISCARD, ratio)?;
    config.mss = model.mss;
    Ok((config, model))
}

fn refuse_unless_default(
    section: &Section<'_>,
    entry: &Key,
    protocol: Protocol,
    known: &Registries,
) -> Result<(), Error> {
    let key = entry.name;
    let value = section.get(key).expect("it is given");
    let alone = Table::from_iter([(key.to_owned(), value.clone())]);
    let without = Table::new();
    let config = |table| section.with(table, |s| config::config(s, protocol, known)).map(|c| format!("{c:?}"));
    let never_binds = key.ends_with("_buffer") && value.as_str() == Some("unlimited");
    match (config(&alone), config(&without)) {
        (Ok(with), Ok(without)) if with == without || never_binds => Ok(()),
        // The value is not allowed for this key in any case.
        (Err(e), _) if e.key() == key => Err(e),
        _ => {
            let reason = if entry.instead.is_empty() { "the model has no such parameter" } else { entry.instead };
            let problem = format!("the stack \"legacy-2011\" has no {key}: {reason}");
            Err(Error::at(key, problem, "remove it, or use stack = \"anabranch\""))
        }
    }
}

/// `ack_discard` is the model's alone.
pub(super) fn refuse_ack_discard(section: &Section<'_>) -> Result<(), Error> {
    if section.has("ack_discard") {
        let problem = "only the 2011 model discards acknowledgements, under recovery = \"frto\"";
        return Err(Error::at("ack_discard", problem, "remove it, or set stack = \"legacy-2011\" at the top level"));
    }
    Ok(())
}

/// Refuses keys of a path that the model does not use, unless they have their default.
pub(super) fn check_path(section: &Section<'_>) -> Result<(), Error> {
    for key in PATH.keys().filter(|key| !key.instead.is_empty()) {
        if section.setting(key.name)?.is_some_and(|value| key.usual(&Config::default()) != Some(value)) {
            let problem = format!("the stack \"legacy-2011\" has no {} of a path: {}", key.name, key.instead);
            return Err(Error::at(key.name, problem, "remove it, or use stack = \"anabranch\""));
        }
    }
    Ok(())
}

/// The model has one application: a bulk sender at the client, and a sink that reads at once.
pub(super) fn check_transfer(transfer: &Transfer) -> Result<(), Error> {
    let key = match transfer.application {
        Application::Page(_) => "page",
        Application::Video(_) => "ladder",
        _ if !transfer.up || transfer.both => "direction",
        _ if transfer.read_rate.is_some() => "read_rate",
        Application::Bulk(_) => return Ok(()),
        Application::OnOff { .. } => "on",
        Application::RequestResponse { .. } => "request",
        Application::ConstantRate { .. } => "rate",
        Application::Messages(_) => "message",
    };
    let problem = "the stack \"legacy-2011\" knows bulk transfers from client to server only, read at once";
    Err(Error::at(key, problem, "give bytes or duration, or use stack = \"anabranch\""))
}

#[cfg(test)]
mod tests {
    use super::super::{Loss, Redraw, Stack, parse};
    use crate::model_2011::{CONTROLLERS, Controller, RECOVERIES, Recovery};

    fn read(rest: &str) -> Result<super::super::Scenario, String> {
        let text = format!("stack = 'legacy-2011'\n{rest}\n[transfer]\n[[path]]\n[[path]]\nloss = '1 %'");
        parse(&text, "t", &[], None).map_err(|e| e.to_string())
    }

    #[test]
    fn the_stack_changes_the_defaults_of_the_model_and_of_paths() {
        let s = read("").unwrap();
        let model = s.connections[0].legacy.unwrap();
        assert_eq!(
            (s.stack, model.controller, model.recovery),
            (Stack::Legacy2011, Controller::RttCompensator, Recovery::None)
        );
        assert_eq!((model.ack_discard, model.mss, model.standard_receiver), (0.0305, 1400, false));
        for link in &s.links {
            assert_eq!((link.up.delay_redraw, link.down.overtaking), (Redraw::Write, true));
        }
        assert_eq!(s.links[1].up.loss, Loss::Bernoulli(0.01));
        let engine = parse("[transfer]\n[[path]]", "t", &[], None).unwrap();
        assert_eq!((engine.stack, engine.connections[0].legacy.is_none()), (Stack::Anabranch, true));
        assert_eq!((engine.links[0].up.delay_redraw, engine.links[0].up.overtaking), (Redraw::Packet, false));
    }

    #[test]
    fn every_controller_and_recovery_of_the_model_is_known_by_name() {
        for (controller, c) in CONTROLLERS {
            for (recovery, r) in RECOVERIES {
                let s =
                    read(&format!("connection = {{ controller = '{controller}', recovery = '{recovery}' }}")).unwrap();
                let model = s.connections[0].legacy.unwrap();
                let json = s.to_json();
                let named = ["controller", "recovery"].map(|key| &json["connections"][0][key]);
                assert_eq!(named, [*controller, *recovery]);
                assert_eq!((model.controller, model.recovery), (*c, *r));
            }
        }
    }

    #[test]
    fn what_the_model_has_not_is_refused_with_the_reason() {
        for (key, value, part) in [
            ("controller", "'coupled'", "did you mean \"rtt-compensator\""),
            ("controller", "'cubic'", "choices: uncoupled, fully-coupled, linked-increases, rtt-compensator"),
            ("recovery", "'rack'", "choices: none, dsack, eifel, door, frto"),
            ("protocol", "'tcp'", "its own multipath TCP only"),
            ("min_rto", "'1 s'", "has no lower bound"),
            ("scheduler", "'round-robin'", "a round robin of its own"),
            ("initial_window", "1", "one segment"),
            ("sack", "false", "no selective acknowledgement"),
            ("timestamps", "false", "\"eifel\" and only then"),
            ("delayed_ack", "'off'", "every segment at once"),
            ("checksum", "true", "no checksums"),
            ("receive_buffer", "'64 kB'", "never holds the sender up"),
            ("send_buffer", "'64 kB'", "whenever a window has room"),
            ("max_rto", "'100 ms'", "multiplier of 64"),
            ("sack", "'yes'", "expected true or false"),
            ("mss", "2001", "allowed: a whole number from 1 to 2000"),
        ] {
            let said = read(&format!("connection.{key} = {value}")).unwrap_err();
            assert!(said.starts_with(&format!("t: connection.{key}: ")) && said.contains(part), "{said}");
        }
    }

    #[test]
    fn what_schedulers_are_told_of_a_path_is_refused() {
        let long =
            "host = [{ name = 'client' }, { name = 'server' }]\n[[link]]\nname = 'l'\nfrom = 'client'\nto = 'server'";
        for (table, links) in [("path", "[[path]]"), ("link", long)] {
            for (key, usual, value) in [("cost", "1.0", "2.0"), ("weight", "1.0", "0.5"), ("priority", "0", "3")] {
                let text = |value| format!("stack = 'legacy-2011'\ntransfer = {{}}\n{links}\n{key} = {value}");
                let said = parse(&text(value), "t", &[], None).unwrap_err().to_string();
                assert!(
                    said.starts_with(&format!("t: {table}[0].{key}: the stack \"legacy-2011\" has no {key}")),
                    "{said}"
                );
                // The long form lacks a connection here; whatever is said of it is not about this key.
                let usual = parse(&text(usual), "t", &[], None).map_err(|e| e.to_string());
                assert!(usual.err().is_none_or(|said| table == "link" && !said.contains(key)), "{key}");
            }
        }
    }

    #[test]
    fn what_stands_at_its_default_is_ignored() {
        let keys = "acknowledgement = 'independent', min_rto = '0.2 s', scheduler = 'min-rtt', initial_window = 10, sack = true, delayed_ack = '40 ms'";
        assert!(read(&format!("connection = {{ {keys} }}")).is_ok());
    }

    #[test]
    fn only_bulk_transfers_upwards_are_known() {
        for (transfer, key) in [
            ("direction = 'down'", "direction"),
            ("read_rate = '1 MB/s'", "read_rate"),
            ("on = '1 s', off = '1 s'", "on"),
            ("request = '1 B', response = '1 B'", "request"),
        ] {
            let text = format!("stack = 'legacy-2011'\ntransfer = {{ {transfer} }}\npath = [{{}}]");
            let said = parse(&text, "t", &[], None).unwrap_err().to_string();
            assert!(said.starts_with(&format!("t: transfer.{key}: the stack \"legacy-2011\" knows bulk")), "{said}");
            let text = format!("stack = 'legacy-2011'\npath = [{{}}]\n[[connection]]\ntransfer = {{ {transfer} }}");
            let said = parse(&text, "t", &[], None).unwrap_err().to_string();
            assert!(said.starts_with(&format!("t: connection[0].transfer.{key}: ")), "{said}");
        }
    }

    #[test]
    fn the_engine_has_no_ack_discard() {
        let said = parse("connection.ack_discard = 0.1\ntransfer = {}\npath = [{}]", "t", &[], None).unwrap_err();
        assert!(said.to_string().contains("connection.ack_discard: only the 2011 model"), "{said}");
    }

    #[test]
    fn an_ack_discard_that_nothing_reads_is_told() {
        assert_eq!(read("connection.ack_discard = 0.0").unwrap().warnings().len(), 1);
        assert!(read("connection = { ack_discard = 0.0, recovery = 'frto' }").unwrap().warnings().is_empty());
    }
}
