//! Shell lines: which of their commands the runner carries out, accepts without effect, or reports
//! as unsupported.
//!
//! No shell is started. The runner splits a line into commands and interprets each command itself.
//! A command without effect is noted. Shell scripts such as `defaults.sh` are read from the
//! directory of the script and interpreted line by line.

use std::collections::BTreeMap;
use std::path::Path;

use super::conditions::{self, Branches};
use super::host::COUNTERS;
use super::listing;
use super::report::{Step, Stop};
use super::settings::Settings;
use super::sysctl;

/// Largest size of a shell script, octets.
const LARGEST: u64 = 1 << 20;

/// Largest depth of shell scripts that call each other.
const DEPTH: u32 = 4;

/// Interprets the commands of one shell line.
///
/// # Errors
/// If a command is not supported, or fails.
pub fn run(settings: &mut Settings, line: u32, commands: &str) -> Step<()> {
    each(settings, line, commands, DEPTH)
}

/// Interprets the commands of a shell line or of a shell script, with `if`, variables and `||`.
fn each(settings: &mut Settings, line: u32, commands: &str, depth: u32) -> Step<()> {
    let joined = commands.replace("\\\n", " ");
    let mut branches = Branches::default();
    for command in
        joined.lines().flat_map(|l| uncommented(l).split(';').flat_map(|c| c.split("&&")).collect::<Vec<_>>())
    {
        let Some(command) = branches.take(command, &mut settings.variables)? else { continue };
        let command = conditions::expand(command, &settings.variables);
        if !command.is_empty() && !conditions::assign(&command, &mut settings.variables)? {
            either(settings, line, &command, depth)?;
        }
    }
    branches.close()
}

/// Interprets `a || b`. If `a` is not supported, it counts as failed, and `b` is interpreted. On
/// Linux `sysctl` likewise fails if the kernel does not know the name.
fn either(settings: &mut Settings, line: u32, command: &str, depth: u32) -> Step<()> {
    let mut commands = command.split("||").peekable();
    while let Some(command) = commands.next() {
        match one(settings, line, command.trim(), depth) {
            // The script names an alternative, which is interpreted next. So the unsupported
            // command cannot change the result.
            Err(Stop::Lacks(why)) if commands.peek().is_some() => settings.note_inert(line, why),
            done => return done,
        }
    }
    Ok(())
}

fn uncommented(line: &str) -> &str {
    let start = if line.starts_with('#') { Some(0) } else { line.find(" #") };
    start.map_or(line, |at| &line[..at])
}

/// Splits a command into words without quotes, up to the first redirection or pipe.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut depth) = (Vec::new(), String::new(), None, 0u32);
    for c in command.chars() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('"' | '\'', None) => quote = Some(c),
            (c, None) if c.is_whitespace() && depth == 0 => words.push(std::mem::take(&mut word)),
            (c, _) => {
                depth = depth.saturating_add(u32::from(c == '(')).saturating_sub(u32::from(c == ')'));
                word.push(c);
            }
        }
    }
    words.push(word);
    let kept = words.into_iter().take_while(|w| !matches!(&**w, ">" | "<" | "2>" | "|" | ">>"));
    kept.filter(|w| !w.is_empty() && !w.starts_with("2>") && !w.starts_with('>')).collect()
}

/// Interprets one command.
fn one(settings: &mut Settings, line: u32, command: &str, depth: u32) -> Step<()> {
    let words = words(command);
    let Some((name, rest)) = words.split_first() else { return Ok(()) };
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let base = name.rsplit('/').next().unwrap_or(name);
    match base {
        "sysctl" | "set_sysctls.py" => sysctls(settings, line, &rest),
        "tc" => traffic_control(settings, line, &rest, command),
        "ethtool" if rest.windows(2).any(|w| matches!(w, ["tso" | "gso", "off"])) => {
            settings.joins = false;
            Ok(())
        }
        "ss" | "!" => listed(settings, line, command),
        "grep" if listing::listens(command, &settings.ports).is_some() => {
            match listing::listens(command, &settings.ports) {
                Some(false) => Stop::differs(command, "no socket listens at this port"),
                _ => Ok(()),
            }
        }
        "nstat" | "grep" => {
            if command.starts_with("nstat -n") {
                settings.counters.clear();
            } else if command.contains("grep") {
                let text = format!("`{command}` reads counters of Linux, which the engine does not have");
                settings.unchecked.push(super::report::Note { line, text });
            }
            Ok(())
        }
        // The value 3, Linux's default, enables both criteria of HyStart: ACK train and delay.
        // CUBIC of the Linux profile implements both. CUBIC of other profiles uses HyStart++ (RFC
        // 9406), which tests the delay only.
        "echo" if command == "echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect" => Ok(()),
        "rm" | "dd" if files(&mut settings.files, base, &rest) => Ok(()),
        "rm" | "dd" | "sleep" | "sync" | "echo" | "cp" | "touch" => {
            settings.note(line, format!("`{command}` has no effect: the runner has no shell"));
            Ok(())
        }
        "ip" if rest.starts_with(&["tcp_metrics", "flush"]) => {
            settings.forgets = true;
            Ok(())
        }
        "ip" if matches!(rest[..], ["addr", "add", ..]) => {
            settings.note_inert(line, format!("`{command}` has no effect: segments reach every address in the script"));
            Ok(())
        }
        "ip" if matches!(rest[..], ["link" | "addr" | "route", ..]) => {
            settings.note(line, format!("`{command}` has no effect: the runner has no interface"));
            Ok(())
        }
        "test" if command.contains("nstat") => counter(settings, line, command),
        "ip" if rest.starts_with(&["mptcp"]) => settings.mptcp(&rest[1..]),
        "ip" if matches!(rest[..], ["-4" | "-6", "mptcp", ..]) => settings.mptcp(&rest[2..]),
        "multi-ep.sh" => settings.paths.several(settings.local, &rest),
        _ if base == "true" || base.starts_with("sysctl_restore_") => Ok(()),
        _ if base.ends_with(".sh") => file(settings, line, name, depth),
        _ => Stop::lacks(format!("the command `{command}`")),
    }
}

/// Updates `files` (length in octets, by name) for `rm -f FILE` and `dd bs=N count=N if=/dev/zero
/// of=FILE`. The file system is not touched. Returns false for any other command.
fn files(files: &mut BTreeMap<String, u64>, name: &str, rest: &[&str]) -> bool {
    if let ("rm", ["-f", file]) = (name, rest) {
        files.remove(*file);
        return true;
    }
    let of = |key: &str| rest.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let number = |key: &str| of(key)?.parse::<u64>().ok();
    let len = number("bs").zip(number("count")).and_then(|(size, count)| size.checked_mul(count));
    match (name, of("if"), of("of"), len) {
        ("dd", Some("/dev/zero"), Some(file), Some(len)) => {
            files.insert(file.to_owned(), len);
            true
        }
        _ => false,
    }
}

/// Evaluates `ss -Mtn | grep WORD` or `! ss -Mtn | grep WORD`. A plain `ss` succeeds: it only
/// prints.
fn listed(settings: &mut Settings, line: u32, command: &str) -> Step<()> {
    match listing::holds(command, &settings.listing) {
        Some(true) => Ok(()),
        Some(false) => Stop::differs(command, format!("{:?}", settings.listing)),
        None if command.contains("grep") || command.starts_with('!') => {
            settings.unchecked.push(super::report::Note {
                line,
                text: format!("`{command}` reads a list of Linux, which the engine does not have"),
            });
            Ok(())
        }
        None => Ok(()),
    }
}

/// Evaluates `test $(nstat -zjs | jq '.kernel.NAME') -eq N` for a counter that the host keeps. It
/// counts since the last `nstat -n`.
fn counter(settings: &mut Settings, line: u32, command: &str) -> Step<()> {
    let name = command.split(".kernel.").nth(1).and_then(|rest| rest.split('\'').next()).unwrap_or_default();
    let wanted = command.split("-eq").nth(1).and_then(|rest| rest.trim().parse::<i64>().ok());
    match (COUNTERS.contains(&name), wanted) {
        (true, Some(wanted)) => {
            let found = settings.counters.get(name).copied().unwrap_or(0);
            if found == wanted {
                Ok(())
            } else {
                Stop::differs(format!("{name} = {wanted}"), format!("{name} = {found}"))
            }
        }
        _ => {
            settings.unchecked.push(super::report::Note {
                line,
                text: format!("`{command}` reads a counter of Linux, which the engine does not have"),
            });
            Ok(())
        }
    }
}

fn sysctls(settings: &mut Settings, line: u32, rest: &[&str]) -> Step<()> {
    for word in rest.iter().filter(|w| !w.starts_with('-')) {
        let Some((name, value)) = word.split_once('=') else { continue };
        sysctl::set(settings, line, name, value)?;
    }
    Ok(())
}

fn traffic_control(settings: &mut Settings, line: u32, rest: &[&str], command: &str) -> Step<()> {
    match rest {
        ["qdisc", "add" | "replace" | "change", .., "pfifo" | "pfifo_fast"] | ["qdisc", "delete" | "del", ..] => Ok(()),
        ["qdisc", "add" | "replace" | "change", .., "fq"] => {
            settings.note(line, "fq: the engine paces segments".to_owned());
            settings.config.pacing = true;
            Ok(())
        }
        _ => Stop::lacks(format!("`{command}`: the runner has no queue before the network")),
    }
}

fn file(settings: &mut Settings, line: u32, name: &str, depth: u32) -> Step<()> {
    let Some(depth) = depth.checked_sub(1) else {
        return Stop::lacks(format!("{name}: too many nested includes"));
    };
    let Some(directory) = &settings.directory else {
        return Stop::lacks(format!("{name}: a script that is not a file cannot include files"));
    };
    let path = directory.join(name);
    match read(&path) {
        Ok(text) => each(settings, line, &text, depth),
        Err(why) => Stop::lacks(format!("{}: {why}", path.display())),
    }
}

fn read(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path).map_err(|e| e.to_string())?.len();
    if size > LARGEST {
        return Err(format!("{size} octets; at most {LARGEST}"));
    }
    std::fs::read_to_string(path).map_err(|e| e.to_string())
}
