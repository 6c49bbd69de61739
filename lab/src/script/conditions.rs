//! Variables of shell lines, and `if [[ ... ]]` over them: as much of bash as files of public suites need.
//!
//! Known are `NAME=value`, `let NAME=sum`, `$NAME`, `${NAME}`, and in brackets `a = b`, `a == b`, `a != b`, `-n a`, `-z a` and
//! `a =~ pattern` with an extended regular expression of POSIX. Everything else is reported as unsupported.

use std::collections::BTreeMap;

use super::report::{Step, Stop};

/// Values by name. `BASH_REMATCH[1]` is the name of what the first group of the latest pattern matched.
pub type Variables = BTreeMap<String, String>;

/// The branches of the `if` commands that are open.
#[derive(Debug, Default)]
pub struct Branches(Vec<Branch>);

#[derive(Clone, Copy, Debug)]
struct Branch {
    /// The commands of this branch are followed.
    followed: bool,
    /// A branch of this `if` was or is followed, or none can be.
    decided: bool,
}

impl Branches {
    /// Takes one command. Returns what of it is to be followed, if anything.
    ///
    /// # Errors
    /// If a condition is not supported, or a branch belongs to no `if`.
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
            ("elif" | "else" | "then" | "fi", None) => Stop::wrong(format!("`{command}`: this belongs to no if")),
            _ => Ok(Some(command).filter(|_| self.followed())),
        }
    }

    fn followed(&self) -> bool {
        self.0.iter().all(|branch| branch.followed)
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// If an `if` is still open.
    pub fn close(&self) -> Step<()> {
        if self.0.is_empty() { Ok(()) } else { Stop::wrong("this if does not end: fi is missing") }
    }
}

/// Evaluates `[[ ... ]]`.
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
    let Some(groups) = Pattern::read(pattern.trim()).map(|pattern| pattern.find(&text)) else {
        return Stop::lacks(format!("the pattern {pattern}"));
    };
    for (i, group) in groups.iter().flatten().enumerate() {
        variables.insert(format!("BASH_REMATCH[{i}]"), group.clone());
    }
    Ok(groups.is_some())
}

/// The value is there: no expansion is left in it that is not known.
fn complete(value: &str) -> Step<&str> {
    if value.contains('$') || value.contains('`') { Stop::lacks(format!("the expansion `{value}`")) } else { Ok(value) }
}

/// Replaces `$NAME` and `${NAME}` of known variables by their values. Everything else stays as it is.
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

/// Follows `NAME=value` and `let NAME=sum`. Returns false if the command, whose variables are expanded, is neither.
///
/// # Errors
/// If the value needs an expansion that is not known.
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

/// One item of a pattern, repeated between `least` and `most` times.
#[derive(Debug)]
struct Item {
    of: Of,
    least: usize,
    most: usize,
}

#[derive(Debug)]
enum Of {
    /// One character of these ranges, or of none of them.
    One(Vec<(char, char)>, bool),
    /// A group, with its number.
    Group(usize, Vec<Item>),
}

/// An extended regular expression without alternatives, anchors and bounds.
struct Pattern {
    items: Vec<Item>,
    groups: usize,
}

type Groups = Vec<(usize, usize)>;

impl Pattern {
    fn read(text: &str) -> Option<Self> {
        let (mut chars, mut groups) = (text.chars().collect::<Vec<_>>().into_iter().peekable(), 0);
        let items = items(&mut chars, &mut groups, 0)?;
        chars.next().is_none().then_some(Self { items, groups })
    }

    /// The leftmost match: the whole, then each group.
    fn find(&self, text: &str) -> Option<Vec<String>> {
        let text: Vec<char> = text.chars().collect();
        (0..=text.len()).find_map(|from| {
            let mut groups = vec![(0, 0); self.groups + 1];
            let mut end = |at: usize, groups: &mut Groups| {
                groups[0] = (from, at);
                true
            };
            sequence(&self.items, &text, from, &mut groups, &mut end)
                .then(|| groups.iter().map(|(a, b)| text[*a..*b].iter().collect()).collect())
        })
    }
}

type Chars = std::iter::Peekable<std::vec::IntoIter<char>>;

/// How deep groups may lie in each other.
const DEPTH: usize = 8;

fn items(chars: &mut Chars, groups: &mut usize, depth: usize) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    while let Some(c) = chars.next_if(|c| *c != ')') {
        let of = match c {
            '(' if depth < DEPTH => {
                *groups += 1;
                let number = *groups;
                let inner = self::items(chars, groups, depth + 1)?;
                chars.next_if_eq(&')')?;
                Of::Group(number, inner)
            }
            '[' => set(chars)?,
            '.' => Of::One(vec![(char::MIN, char::MAX)], true),
            '\\' => chars.next().map(|c| Of::One(vec![(c, c)], true))?,
            '|' | '^' | '$' | '{' | '*' | '+' | '?' | '(' => return None,
            c => Of::One(vec![(c, c)], true),
        };
        let repeat = chars.next_if(|c| matches!(c, '*' | '+' | '?'));
        let (least, most) = match repeat {
            None => (1, 1),
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some(_) => (0, 1),
        };
        items.push(Item { of, least, most });
    }
    Some(items)
}

/// `[a-f]`, `[^:]`; the bracket was taken.
fn set(chars: &mut Chars) -> Option<Of> {
    let wanted = chars.next_if_eq(&'^').is_none();
    let mut ranges = Vec::new();
    loop {
        let first = chars.next()?;
        if first == ']' && !ranges.is_empty() {
            return Some(Of::One(ranges, wanted));
        }
        let last = if chars.next_if_eq(&'-').is_some() { chars.next()? } else { first };
        ranges.push((first, last));
    }
}

type Then<'t> = dyn FnMut(usize, &mut Groups) -> bool + 't;

fn sequence(items: &[Item], text: &[char], at: usize, groups: &mut Groups, then: &mut Then<'_>) -> bool {
    match items.split_first() {
        None => then(at, groups),
        Some((first, rest)) => {
            repeat(first, text, at, 0, groups, &mut |at, groups| sequence(rest, text, at, groups, then))
        }
    }
}

/// As often as possible first.
fn repeat(item: &Item, text: &[char], at: usize, done: usize, groups: &mut Groups, then: &mut Then<'_>) -> bool {
    let again = done < item.most
        && match &item.of {
            Of::One(ranges, wanted) => {
                let fits = |c: &char| ranges.iter().any(|(a, b)| a <= c && c <= b) == *wanted;
                text.get(at).is_some_and(fits) && repeat(item, text, at + 1, done + 1, groups, then)
            }
            Of::Group(number, inner) => sequence(inner, text, at, groups, &mut |end, groups| {
                let before = std::mem::replace(&mut groups[*number], (at, end));
                let found = (end > at || done < item.least) && repeat(item, text, end, done + 1, groups, then);
                if !found {
                    groups[*number] = before;
                }
                found
            }),
        };
    again || (done >= item.least && then(at, groups))
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
    fn patterns_match_as_far_as_they_can() {
        let find = |pattern: &str, text: &str| Pattern::read(pattern).expect("it is a pattern").find(text);
        let all = |words: &[&str]| Some(words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert_eq!(find("(.*):([0-9a-f]+)", "fd3d::1"), all(&["fd3d::1", "fd3d:", "1"]));
        assert_eq!(find("a(b?)c", "xabc"), all(&["abc", "b"]));
        assert_eq!(find("(ab)+", "ababa"), all(&["abab", "ab"]));
        assert_eq!(find("[^a]x", "axbx"), all(&["bx"]));
        assert_eq!(find("a+b", "aac"), None);
    }
}
