//! Variables and `if [[ ... ]]` in the shell commands of a script: the part of bash that the public
//! packetdrill suites use.
//!
//! - Assignments: `NAME=value`, and `let NAME=a+b` for sums
//! - Expansions: `$NAME`, `${NAME}`
//! - Conditions: `a = b`, `a == b`, `a != b`, `-n a` (not empty), `-z a` (empty) and
//!   `a =~ pattern`, where the pattern is a POSIX extended regular expression
//!
//! A script with any other condition ends with the status "unsupported".

use std::collections::BTreeMap;

use regex_lite::Regex;

use super::report::{Step, Stop};

/// Values of shell variables by name. As in bash, `BASH_REMATCH[1]` holds the text that the first
/// group of the latest `=~` matched.
pub type Variables = BTreeMap<String, String>;

/// Stack of the `if` commands whose `fi` has not come yet, the innermost last.
#[derive(Debug, Default)]
pub struct Branches(Vec<Branch>);

#[derive(Clone, Copy, Debug)]
struct Branch {
    /// True if the commands of the current branch are executed.
    followed: bool,
    /// True if the remaining branches of this `if` are skipped: one was executed, or an enclosing
    /// branch is skipped.
    decided: bool,
}

impl Branches {
    /// Processes one shell command. Returns the command to execute, without `then` or `else`;
    /// `None` if there is none or it is in a skipped branch.
    ///
    /// # Errors
    /// If a condition is not supported, or `elif`, `else`, `then` or `fi` has no `if`.
    pub fn take<'c>(&mut self, command: &'c str, variables: &mut Variables) -> Step<Option<&'c str>> {
        let command = command.trim();
        let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let outside = self.0.iter().rev().skip(1).all(|branch| branch.followed);
        match (word, self.0.last_mut()) {
            ("if", _) => {
                let inside = self.followed();
                let followed = inside && holds(rest, variables)?;
                self.0.push(Branch { followed, decided: followed || !inside });
                Ok(None)
            }
            ("elif", Some(branch)) => {
                branch.followed = !branch.decided && outside && holds(rest, variables)?;
                branch.decided |= branch.followed;
                Ok(None)
            }
            ("else", Some(branch)) => {
                (branch.followed, branch.decided) = (!branch.decided, true);
                Ok(Some(rest).filter(|rest| self.followed() && !rest.is_empty()))
            }
            ("then", Some(_)) => Ok(Some(rest).filter(|rest| self.followed() && !rest.is_empty())),
            ("fi", Some(_)) => {
                self.0.pop();
                Ok(None)
            }
            ("elif" | "else" | "then" | "fi", None) => Stop::wrong(format!("`{command}`: no `if` stands before it")),
            _ => Ok(Some(command).filter(|_| self.followed())),
        }
    }

    fn followed(&self) -> bool {
        self.0.iter().all(|branch| branch.followed)
    }

    /// Checks at the end of the script that every `if` has its `fi`.
    ///
    /// # Errors
    /// If an `if` is still open.
    pub fn close(&self) -> Step<()> {
        if self.0.is_empty() { Ok(()) } else { Stop::wrong("this if does not end: fi is missing") }
    }
}

/// Evaluates the condition `[[ ... ]]`. A match of `=~` sets the variables `BASH_REMATCH[N]`.
fn holds(condition: &str, variables: &mut Variables) -> Step<bool> {
    let inner = condition.trim().strip_prefix("[[ ").and_then(|rest| rest.trim_end().strip_suffix(" ]]"));
    let Some(inner) = inner.map(str::trim) else { return Stop::lacks(format!("the condition `{condition}`")) };
    let value = |word: &str| expand(word.trim(), variables).trim_matches('"').to_owned();
    for (operator, wanted) in [("-n ", true), ("-z ", false)] {
        if let Some(word) = inner.strip_prefix(operator) {
            return complete(&value(word)).map(|value| value.is_empty() != wanted);
        }
    }
    for (operator, wanted) in [(" = ", true), (" == ", true), (" != ", false)] {
        if let Some((left, right)) = inner.split_once(operator) {
            return Ok((complete(&value(left))? == complete(&value(right))?) == wanted);
        }
    }
    let Some((left, pattern)) = inner.split_once(" =~ ") else {
        return Stop::lacks(format!("the condition `{condition}`"));
    };
    let text = complete(&value(left))?.to_owned();
    let Some(regex) = posix_pattern(pattern.trim()) else {
        return Stop::lacks(format!("the pattern {pattern}"));
    };
    let Some(groups) = regex.captures(&text) else { return Ok(false) };
    for (i, group) in groups.iter().enumerate() {
        variables.insert(format!("BASH_REMATCH[{i}]"), group.map_or("", |group| group.as_str()).to_owned());
    }
    Ok(true)
}

/// Returns `value` if nothing in it remains to be expanded: no unknown variable and no command
/// substitution.
fn complete(value: &str) -> Step<&str> {
    if value.contains('$') || value.contains('`') { Stop::lacks(format!("the expansion `{value}`")) } else { Ok(value) }
}

/// Replaces `$NAME` and `${NAME}` by the values of known variables. Leaves unknown variables
/// unchanged.
pub fn expand(text: &str, variables: &Variables) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let braced = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (name, after) = braced.unwrap_or(rest.split_at(end));
        match variables.get(name) {
            Some(value) => {
                out.push_str(value);
                rest = after;
            }
            None => out.push('$'),
        }
    }
    out + rest
}

/// Executes the assignment `NAME=value` or `let NAME=sum`. The variables in `command` are expanded
/// already. Returns false if `command` is not an assignment.
///
/// # Errors
/// If the value contains an unknown variable, or the sum has a term that is not a whole number.
pub fn assign(command: &str, variables: &mut Variables) -> Step<bool> {
    let (sums, words) = command.strip_prefix("let ").map_or((false, command), |rest| (true, rest.trim()));
    let Some((name, value)) = words.split_once('=') else { return Ok(false) };
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let single = value.starts_with('"') || !value.contains(char::is_whitespace);
    if !plain(name) || !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || !single {
        return Ok(false);
    }
    let value = complete(value.trim_matches('"'))?;
    let sum = || value.split('+').try_fold(0i64, |sum, term| sum.checked_add(term.trim().parse().ok()?));
    let value = match sums.then(sum) {
        None => value.to_owned(),
        Some(Some(sum)) => sum.to_string(),
        Some(None) => return Stop::lacks(format!("`{command}`: only sums of whole numbers")),
    };
    variables.insert(name.to_owned(), value);
    Ok(true)
}

/// Reads an extended regular expression of POSIX. Returns `None` if it is malformed, or if the
/// library would read it otherwise than POSIX: alternatives (POSIX takes the longest match), lazy
/// repetitions, `(?`, and classes such as `\d`.
fn posix_pattern(text: &str) -> Option<Regex> {
    let escapes_a_letter = text.split('\\').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
    let differs = ["|", "(?", "*?", "+?", "??", "}?"].iter().any(|piece| text.contains(piece)) || escapes_a_letter;
    if differs { None } else { Regex::new(text).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(commands: &[&str]) -> Step<Vec<String>> {
        let mut variables = Variables::from([("VERSION".to_owned(), "ipv4".to_owned())]);
        let (mut branches, mut out) = (Branches::default(), Vec::new());
        for command in commands {
            let Some(command) = branches.take(command, &mut variables)? else { continue };
            let command = expand(command, &variables);
            if !assign(&command, &mut variables)? {
                out.push(command);
            }
        }
        branches.close().map(|()| out)
    }

    #[test]
    fn one_branch_is_followed() {
        let branches = |version: &str| {
            let first = format!("if [[ $VERSION = \"{version}\" ]]");
            followed(&[&first, "then a", "elif [[ -n $VERSION ]]", "then b", "else", "c", "fi", "d"])
        };
        assert_eq!(branches("ipv4"), Ok(vec!["a".to_owned(), "d".to_owned()]));
        assert_eq!(branches("ipv6"), Ok(vec!["b".to_owned(), "d".to_owned()]));
        let inner = ["if [[ -z $VERSION ]]", "if [[ $UNKNOWN = 1 ]]", "a", "else", "b", "fi", "else c", "fi"];
        assert_eq!(
            followed(&inner),
            Ok(vec!["c".to_owned()]),
            "the condition of a branch that is not followed may be unknown"
        );
    }

    #[test]
    fn what_is_not_known_is_said() {
        assert!(matches!(followed(&["if true", "fi"]), Err(Stop::Lacks(_))));
        assert!(matches!(followed(&["if [[ $UNKNOWN = 1 ]]", "fi"]), Err(Stop::Lacks(_))));
        assert!(matches!(followed(&["if [[ -n $VERSION ]]"]), Err(Stop::Wrong(_))));
        assert!(matches!(followed(&["fi"]), Err(Stop::Wrong(_))));
        assert!(matches!(followed(&["if [[ a =~ a|b ]]", "fi"]), Err(Stop::Lacks(_))));
    }

    #[test]
    fn groups_of_a_pattern_become_variables() {
        let commands = [
            "if [[ 192.168.0.1 =~ ([0-9]+[.][0-9]+[.][0-9]+[.])([0-9]+) ]]",
            "let next=${BASH_REMATCH[2]}+1",
            "host=\"${BASH_REMATCH[1]}$next\"",
            "add $host/16",
            "fi",
        ];
        assert_eq!(followed(&commands), Ok(vec!["add 192.168.0.2/16".to_owned()]));
    }

    #[test]
    fn a_pattern_that_posix_reads_otherwise_is_refused() {
        for pattern in ["a|ab", "(?:a)", "a*?", "\\d", "(a", "[b-a]"] {
            assert!(posix_pattern(pattern).is_none(), "{pattern}");
        }
        let longest = posix_pattern("(.*):([0-9a-f]+)").expect("a pattern").captures("fd3d::1").expect("a match");
        assert_eq!((&longest[1], &longest[2]), ("fd3d:", "1"));
    }
}
