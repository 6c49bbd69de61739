//! System calls setsockopt and getsockopt.

use anabranch_stack::{Duration, Setting};

use super::{Returned, System, socket};
use crate::arguments::{field, value};
use crate::ast::{Call, Expr};
use crate::fast_open::{CLIENT, Key, key_of_escapes};
use crate::report::{Step, Stop};
use crate::sockets::{Role, Tcp};

/// Socket options that the runner accepts but that have no effect, and why they have none.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("SO_REUSEADDR", "the runner lets every socket use an address again"),
    ("SO_REUSEPORT", "the runner lets every socket use an address again"),
    ("SO_PRIORITY", "the runner has no queue"),
    ("SO_MARK", "the runner has no routing"),
    ("IP_FREEBIND", "the runner has no interfaces"),
    ("IP_RECVERR", "it only permits MSG_ERRQUEUE"),
    ("IP_MTU_DISCOVER", "no packet is too large for the path unless ICMP says so"),
];

/// Options of [`WITHOUT_EFFECT`] that cannot change the result of a script.
const INERT: [&str; 3] = ["SO_PRIORITY", "SO_MARK", "IP_FREEBIND"];

/// Largest buffer, octets: a limit like Linux's `net.core.wmem_max`.
const LARGEST: i64 = 64 << 20;

impl System<'_> {
    pub(super) fn setsockopt(&mut self, call: &Call) -> Step<Returned> {
        let (name, line) = (call.word(2), self.line);
        let (argument, len) = (call.arg(3)?.clone(), call.int(4).unwrap_or(4));
        let on = self.settings.fast_open.0 & CLIENT != 0;
        let tcp = socket!(self, call);
        if let Some((_, why)) = WITHOUT_EFFECT.iter().find(|(n, _)| *n == name) {
            if !matches!(&*name, "SO_REUSEADDR" | "SO_REUSEPORT") {
                let text = format!("{name} has no effect: {why}");
                // The path MTU changes only by ICMP messages, so IP_MTU_DISCOVER is inert without
                // them.
                let inert = INERT.contains(&&*name) || name == "IP_MTU_DISCOVER" && !self.settings.icmp;
                if inert { self.settings.note_inert(line, text) } else { self.settings.note(line, text) }
            }
            return Ok(Returned::Value(0));
        }
        let open = matches!(tcp.role, Role::Open(..));
        match &*name {
            "SO_RCVBUF" | "SO_RCVBUFFORCE" if !open => tcp.chosen.receive_buffer = Some(buffer(&argument)?),
            "SO_SNDBUF" | "SO_SNDBUFFORCE" => tcp.chosen.send_buffer = Some(buffer(&argument)?),
            "TCP_NODELAY" => tcp.chosen.nodelay = Some(value(&argument)? != 0),
            "TCP_CORK" => tcp.chosen.cork = value(&argument)? != 0,
            "TCP_USER_TIMEOUT" => {
                let ms = value(&argument)?;
                let Ok(ms) = u64::try_from(ms) else { return Ok(Returned::Error("EINVAL")) };
                tcp.chosen.user_timeout = (ms > 0).then(|| Duration::from_millis(ms));
            }
            "TCP_SYNCNT" => match syn_retries(value(&argument)?) {
                None => return Ok(Returned::Error("EINVAL")),
                retries => tcp.chosen.syn_retries = retries,
            },
            fast if fast.starts_with("TCP_FASTOPEN") => {
                if let Some(error) = fast_open(tcp, fast, &argument, len, on)? {
                    return Ok(Returned::Error(error));
                }
            }
            "SO_KEEPALIVE" => tcp.chosen.keepalive = value(&argument)? != 0,
            "TCP_KEEPIDLE" | "TCP_KEEPINTVL" | "TCP_KEEPCNT" => keepalive(tcp, &name, value(&argument)?),
            "TCP_MAXSEG" if !open => {
                let Some(mss) = u16::try_from(value(&argument)?).ok().filter(|mss| (88..=32_767).contains(mss)) else {
                    return Ok(Returned::Error("EINVAL"));
                };
                tcp.chosen.maxseg = Some(mss);
            }
            "SO_LINGER" => tcp.abortive = lingers_not(&argument)?,
            "IP_TOS" | "IP_TTL" | "IPV6_UNICAST_HOPS" => {
                if !tcp.ip.set(&name, value(&argument)?) {
                    return Ok(Returned::Error("EINVAL"));
                }
            }
            "TCP_NOTSENT_LOWAT" => tcp.chosen.not_sent = value(&argument)?,
            "TCP_INQ" => tcp.inq = value(&argument)? != 0,
            "SO_ZEROCOPY" => tcp.zero_copy = value(&argument)? != 0,
            "SO_TIMESTAMPING" => return self.stamp(call, value(&argument)?),
            _ if open => return Stop::lacks(format!("setsockopt of {name} on a connection")),
            _ => return Stop::lacks(format!("setsockopt of {name}")),
        }
        self.renew(call)?;
        self.reconfigure(call, &name)?;
        Ok(Returned::Value(0))
    }

    /// Sets SO_TIMESTAMPING: `flags` select the messages about sent data for the error queue.
    /// Unsupported before the socket has a connection.
    fn stamp(&mut self, call: &Call, flags: i64) -> Step<Returned> {
        let tcp = socket!(self, call).clone();
        let Some((id, connection, _)) = tcp.connection(self.host) else {
            return Stop::lacks("setsockopt of SO_TIMESTAMPING without a connection");
        };
        let unacknowledged = connection.map_or(0, |c| c.outbound().unacknowledged());
        let errors = &mut self.host.known.entry(id).or_default().errors;
        errors.stamp(flags, errors.written.saturating_sub(unacknowledged));
        Ok(Returned::Value(0))
    }

    /// Applies an option to the socket's connection, if it can be changed on an open connection.
    fn reconfigure(&mut self, call: &Call, name: &str) -> Step<()> {
        let Some(tcp) = self.sockets.tcp(call.int(0)?) else { return Ok(()) };
        let (Role::Open(id, _), chosen) = (tcp.role, tcp.chosen) else { return Ok(()) };
        self.host.known.entry(id).or_default().ip = tcp.ip;
        let now = self.host.now;
        if name == "TCP_CORK" {
            self.host.known.entry(id).or_default().corked = chosen.cork;
        }
        // An error means that the connection no longer exists, so there is nothing to change.
        let _ = self.host.endpoint.configure(id, |c| match name {
            "TCP_NODELAY" => c.set(now, Setting::NoDelay(chosen.nodelay == Some(true))),
            "TCP_CORK" => c.set(now, Setting::Cork(chosen.cork)),
            "TCP_USER_TIMEOUT" => c.set(now, Setting::UserTimeout(chosen.user_timeout)),
            "TCP_SYNCNT" => c.set(now, Setting::SynRetries(chosen.syn_retries)),
            "SO_KEEPALIVE" | "TCP_KEEPIDLE" | "TCP_KEEPINTVL" | "TCP_KEEPCNT" => {
                c.set(now, Setting::KeepAlive(chosen.keepalive.then_some(chosen.keepalives)));
            }
            _ => {}
        });
        self.host.pump()
    }

    /// If the socket listens, applies its options to connections that it will accept.
    fn renew(&mut self, call: &Call) -> Step<()> {
        if let Some(tcp) = self.sockets.tcp(call.int(0)?).filter(|t| t.role == Role::Listening) {
            let tcp: Tcp = tcp.clone();
            tcp.listen(self.host, self.settings, BACKLOG);
        }
        Ok(())
    }

    /// Returns the size of a buffer as getsockopt reports it. Linux doubles the size that was set,
    /// to allow for bookkeeping overhead (socket(7)).
    fn shown(&self, buffer: Option<u64>) -> i64 {
        let octets = buffer.map_or(i64::MAX, |b| b as i64);
        if self.settings.config.profile.is_linux() { octets.saturating_mul(2) } else { octets }
    }

    pub(super) fn getsockopt(&mut self, call: &Call) -> Step<Returned> {
        let name = call.word(2);
        let tcp = socket!(self, call).clone();
        let connection = tcp.connection(self.host);
        let found = match &*name {
            "SO_ERROR" => {
                let id = connection.map(|(id, ..)| id);
                let error = id.and_then(|id| self.host.known.get_mut(&id)?.error.take());
                return match (error, call.arg(3)?) {
                    (_, Expr::Any) => Ok(Returned::Value(0)),
                    (None, Expr::List(items)) if matches!(items[..], [Expr::Names(_)]) => {
                        Stop::differs(format!("SO_ERROR {}", items[0]), "SO_ERROR [0]")
                    }
                    (None, expected) if value(expected)? == 0 => Ok(Returned::Value(0)),
                    (Some(error), Expr::List(items)) if items[..] == [Expr::Names(vec![error.to_owned()])] => {
                        Ok(Returned::Value(0))
                    }
                    (error, expected) => Stop::differs(format!("SO_ERROR {expected}"), error.unwrap_or("SO_ERROR [0]")),
                };
            }
            "SO_SNDBUF" => self.shown(tcp.chosen.config(self.settings, false).send_buffer),
            "SO_RCVBUF" => self.shown(tcp.chosen.config(self.settings, false).receive_buffer),
            // Linux: a connection reports whether it uses MPTCP, any other socket whether it would.
            "TCP_IS_MPTCP" => match connection {
                Some((_, connection, _)) => connection.is_some_and(anabranch_stack::Connection::is_multipath).into(),
                None => tcp.chosen.mptcp.into(),
            },
            "IP_TOS" => tcp.ip.tos.into(),
            "IP_TTL" | "IPV6_UNICAST_HOPS" => tcp.ip.ttl.into(),
            "TCP_NODELAY" => i64::from(!tcp.chosen.config(self.settings, false).nagle),
            "TCP_CORK" => tcp.chosen.cork.into(),
            "TCP_NOTSENT_LOWAT" => tcp.chosen.not_sent,
            // Linux returns its default if the option was not set. The engine's default is a time,
            // 180 s; eight retransmissions take at least as long.
            "TCP_SYNCNT" => tcp.chosen.config(self.settings, true).syn_retries.unwrap_or(8).into(),
            "TCP_USER_TIMEOUT" => tcp.chosen.user_timeout.map_or(0, |t| (t.0 / 1_000_000) as i64),
            "TCP_FASTOPEN" => tcp.chosen.fast_listen,
            "TCP_FASTOPEN_CONNECT" => tcp.chosen.fast_connect.into(),
            "TCP_FASTOPEN_NO_COOKIE" => tcp.chosen.fast_bare.into(),
            "SO_KEEPALIVE" => tcp.chosen.keepalive.into(),
            "TCP_KEEPIDLE" => (tcp.chosen.keepalives.idle.0 / 1_000_000_000) as i64,
            "TCP_KEEPINTVL" => (tcp.chosen.keepalives.interval.0 / 1_000_000_000) as i64,
            "TCP_KEEPCNT" => tcp.chosen.keepalives.probes.into(),
            "TCP_MAXSEG" => {
                let mss = connection.and_then(|(_, c, _)| c.map(|c| c.subflows()[0].mss()));
                mss.or(tcp.chosen.maxseg.map(u32::from)).unwrap_or(self.settings.config.mss).into()
            }
            _ => return Stop::lacks(format!("getsockopt of {name}")),
        };
        match call.arg(3)? {
            Expr::Any => {}
            expected if value(expected)? == found => {}
            expected => return Stop::differs(format!("{name} {expected}"), format!("{name} [{found}]")),
        }
        Ok(Returned::Value(0))
    }
}

/// Returns true if the value of SO_LINGER is on with a time of zero.
fn lingers_not(argument: &Expr) -> Step<bool> {
    let part = |i: usize, name| match argument {
        Expr::Struct(fields) => field(argument, name).or(fields.get(i).map(|(_, v)| v)).map_or(Ok(0), value),
        other => Stop::wrong(format!("{other} where {{onoff=1, linger=0}} was expected")),
    };
    Ok(part(0, "onoff")? != 0 && part(1, "linger")? == 0)
}

/// Checks the value of TCP_SYNCNT. Returns `None` outside of Linux's range, 1 to 127
/// (`MAX_TCP_SYNCNT`).
fn syn_retries(n: i64) -> Option<u32> {
    (1..=127).contains(&n).then_some(n as u32)
}

/// Sets a keep-alive option, within Linux's limits of 32767 s and 127 probes.
fn keepalive(tcp: &mut Tcp, name: &str, value: i64) {
    let (n, keepalives) = (value.clamp(1, 32_767).unsigned_abs(), &mut tcp.chosen.keepalives);
    match name {
        "TCP_KEEPIDLE" => keepalives.idle = Duration::from_secs(n),
        "TCP_KEEPINTVL" => keepalives.interval = Duration::from_secs(n),
        _ => keepalives.probes = n.min(127) as u32,
    }
}

/// Sets a Fast Open option. `on`: `tcp_fastopen` allows clients to use Fast Open. Returns the errno
/// if the option or its value is refused.
fn fast_open(tcp: &mut Tcp, name: &str, argument: &Expr, len: i64, on: bool) -> Step<Option<&'static str>> {
    let open = matches!(tcp.role, Role::Open(..));
    match name {
        "TCP_FASTOPEN" => tcp.chosen.fast_listen = value(argument)?,
        "TCP_FASTOPEN_CONNECT" if !on => return Ok(Some("EOPNOTSUPP")),
        "TCP_FASTOPEN_CONNECT" | "TCP_FASTOPEN_NO_COOKIE" if open => return Ok(Some("EINVAL")),
        "TCP_FASTOPEN_CONNECT" => tcp.chosen.fast_connect = value(argument)? != 0,
        "TCP_FASTOPEN_NO_COOKIE" => tcp.chosen.fast_bare = value(argument)? != 0,
        "TCP_FASTOPEN_KEY" => match fast_open_key(argument, len)? {
            Some(key) => tcp.chosen.fast_key = Some(key),
            None => return Ok(Some("EINVAL")),
        },
        _ => return Stop::lacks(format!("setsockopt of {name}")),
    }
    Ok(None)
}

fn fast_open_key(argument: &Expr, len: i64) -> Step<Option<Key>> {
    match argument {
        Expr::Text(text) => Ok(key_of_escapes(text, len)),
        other => Stop::wrong(format!("{other} where a key was expected: \"\\xa1\\xa1...\"")),
    }
}

/// Backlog of a listener whose options change; the value of its listen call is not kept.
const BACKLOG: usize = 1024;

fn buffer(argument: &Expr) -> Step<u64> {
    Ok(value(argument)?.clamp(1, LARGEST).unsigned_abs())
}
