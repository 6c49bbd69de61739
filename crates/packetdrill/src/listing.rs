//! Results of `ss | grep WORD` and of `grep` on `/proc/net/tcp`: the host's sockets as Linux lists
//! them.

use anabranch_stack::Connection;
use anabranch_stack::tcp::State;

use super::host::{Host, Known};
use super::settings::Socket;

/// Lists the connected sockets, ordered by the opening of their connections. An MPTCP connection is
/// followed by its subflows.
pub fn of(host: &Host) -> Vec<Socket> {
    let mut sockets = Vec::new();
    for id in host.endpoint.connections() {
        let Some(connection) = host.endpoint.connection(id) else { continue };
        if connection.is_multipath() {
            sockets.push(("mptcp", streams(connection, host.known.get(&id))));
        }
        sockets.extend(connection.subflows().iter().filter_map(|s| Some(("tcp", name(s.state())?))));
    }
    sockets
}

/// Returns the state of an MPTCP connection. A DATA_FIN changes it as a FIN changes the state of
/// TCP (RFC 8684 3.3.3, RFC 9293 3.3.2).
fn streams(connection: &Connection, known: Option<&Known>) -> &'static str {
    let (ended, first) = known.map_or((false, false), |known| (known.ended, known.ended_first));
    match (connection.outbound().is_end_acknowledged(), ended) {
        (None, false) => "ESTAB",
        (None, true) => "CLOSE-WAIT",
        (Some(false), false) => "FIN-WAIT-1",
        (Some(true), false) => "FIN-WAIT-2",
        (Some(false), true) if first => "LAST-ACK",
        (Some(false), true) => "CLOSING",
        (Some(true), true) => "UNCONN",
    }
}

/// Returns the name of a state in the list, or `None` for states that `ss` omits by default.
fn name(state: State) -> Option<&'static str> {
    Some(match state {
        State::Established => "ESTAB",
        State::SynSent => "SYN-SENT",
        State::FinWait1 => "FIN-WAIT-1",
        State::FinWait2 => "FIN-WAIT-2",
        State::CloseWait => "CLOSE-WAIT",
        State::LastAck => "LAST-ACK",
        State::Closing => "CLOSING",
        State::SynReceived | State::TimeWait | State::Closed => return None,
    })
}

/// Returns true if `ss -Mtn | grep -q WORD` would succeed on `sockets`, or would fail if `!`
/// precedes it. Returns `None` for any other command.
pub fn holds(command: &str, sockets: &[Socket]) -> Option<bool> {
    let (not, command) = match command.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, command),
    };
    let (list, search) = command.split_once('|')?;
    let [list, search]: [Vec<&str>; 2] = [list, search].map(|part| part.split_whitespace().collect());
    let (["ss", flags], ["grep", "-q", word] | ["grep", word]) = (&list[..], &search[..]) else { return None };
    let flags = flags.strip_prefix('-').filter(|flags| flags.chars().all(|flag| "Mtn".contains(flag)))?;
    let asked = |kind| flags.contains(if kind == "mptcp" { 'M' } else { 't' });
    let word = word.trim_matches(['"', '\'']);
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let found = sockets.iter().any(|(kind, state)| asked(*kind) && (kind.contains(word) || state.contains(word)));
    plain.then_some(found != not)
}

/// Returns true if `grep " 0A " /proc/net/tcp | grep ":PORT"` would succeed, which means that a
/// socket listens at the hexadecimal `PORT`. Returns `None` for any other command.
pub fn listens(command: &str, ports: &[u16]) -> Option<bool> {
    let (list, search) = command.split_once('|')?;
    let files = list.trim().strip_prefix("grep \" 0A \" ")?;
    let known = |file: &str| matches!(file, "/proc/net/tcp" | "/proc/net/tcp6");
    let port = search.trim().strip_prefix("grep \":")?.strip_suffix('"')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    files.split_whitespace().all(known).then(|| ports.contains(&port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_in_the_list() {
        let command = "grep \" 0A \" /proc/net/tcp /proc/net/tcp6 | grep \":1F90\"";
        assert_eq!((listens(command, &[8080]), listens(command, &[80])), (Some(true), Some(false)));
        assert_eq!(listens("grep \" 01 \" /proc/net/tcp | grep \":1F90\"", &[8080]), None);
        assert_eq!(listens("grep \" 0A \" /etc/hosts | grep \":1F90\"", &[8080]), None);
    }

    #[test]
    fn a_word_is_in_the_list_or_not() {
        let sockets = [("mptcp", "FIN-WAIT-2"), ("tcp", "ESTAB")];
        let holds = |command| holds(command, &sockets);
        assert_eq!(holds("ss -Mn | grep -q FIN-WAIT-2"), Some(true));
        assert_eq!(holds("ss -Mn | grep -q ESTAB"), Some(false));
        assert_eq!(holds("ss -Mtn | grep ESTAB"), Some(true));
        assert_eq!(holds("! ss -tn | grep tcp"), Some(false));
        assert_eq!(holds("! ss -tn | grep \"LAST-ACK\""), Some(true));
        for other in
            ["ss -Mn", "ss -tin | grep ESTAB", "ss -Mn | grep -c ESTAB", "ss -Mn | grep 'E.*B'", "ss | grep tcp"]
        {
            assert_eq!(holds(other), None, "{other}");
        }
    }
}
