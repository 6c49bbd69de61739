//! System calls poll and epoll: the events that hold for a descriptor.

use std::collections::BTreeMap;

use super::{Returned, System, descriptor};
use crate::arguments::{field, value};
use crate::ast::{Call, Expr};
use crate::constants;
use crate::report::{Step, Stop};
use crate::sockets::{Kind, Role, Watch};

fn bit(name: &str) -> i64 {
    constants::number(name).unwrap_or(0)
}

impl System<'_> {
    /// Returns the events that hold for a descriptor now (poll(2)), or `None` if it is not a TCP
    /// socket.
    fn ready(&mut self, fd: i64) -> Option<i64> {
        let tcp = self.sockets.tcp(fd)?.clone();
        let mut events = 0;
        match (tcp.role, tcp.local) {
            (Role::Listening, Some(local)) => {
                let waits = self.host.waiting.get(&local.port()).is_some_and(|w| !w.is_empty());
                events |= if waits { bit("POLLIN") } else { 0 };
            }
            (Role::Open(..), _) => {
                let (_, connection, known) = tcp.connection(self.host)?;
                let over = connection.is_none() || known.failed;
                let readable =
                    connection.is_some_and(|c| c.inbound().readable() > 0) || known.ended || over || tcp.read_shut;
                let lowat = tcp.chosen.lowat(self.settings);
                let room = |c: &anabranch_stack::Connection| {
                    // Linux reports POLLOUT only while the unsent octets are fewer than half of
                    // TCP_NOTSENT_LOWAT (`tcp_stream_memory_free`).
                    lowat.is_none_or(|lowat| c.info(self.host.now, 0).unsent.saturating_mul(2) < lowat)
                        && tcp
                            .chosen
                            .send_buffer
                            .map_or(c.writable(), |b| b.saturating_sub(c.outbound().unacknowledged()))
                            > 0
                };
                let writable = over || (known.connected && connection.is_some_and(room));
                events |= if readable { bit("POLLIN") } else { 0 };
                events |= if writable { bit("POLLOUT") } else { 0 };
                events |= if known.ended || over { bit("POLLRDHUP") } else { 0 };
                events |= if over { bit("POLLHUP") } else { 0 };
                let error = known.error.is_some() || known.errors.is_ready();
                events |= if error { bit("POLLERR") } else { 0 };
            }
            // A socket with a deferred connect (TCP_FASTOPEN_CONNECT) is writable (Linux:
            // `tcp_poll`).
            _ if tcp.deferred.is_some() => events |= bit("POLLOUT"),
            _ => events |= bit("POLLOUT") | bit("POLLHUP"),
        }
        Some(events)
    }

    pub(super) fn poll(&mut self, call: &Call) -> Step<Returned> {
        let Expr::List(descriptors) = call.arg(0)? else {
            return Stop::wrong("poll: a list was expected: [{fd=3, events=POLLIN, revents=POLLIN}]");
        };
        let always = bit("POLLERR") | bit("POLLHUP");
        let (mut ready, mut found) = (0, Vec::new());
        for one in descriptors {
            let (Some(fd), Some(events)) = (field(one, "fd"), field(one, "events")) else {
                return Stop::wrong(format!("{one} where {{fd=3, events=POLLIN, revents=POLLIN}} was expected"));
            };
            let revents = self.ready(value(fd)?).unwrap_or(0) & (value(events)? | always);
            ready += i64::from(revents != 0);
            found.push((one, revents));
        }
        if ready == 0 && call.int(2)? != 0 {
            return Ok(Returned::Blocks);
        }
        for (one, revents) in found {
            let expected = field(one, "revents").map(value).transpose()?;
            if expected.is_some_and(|e| e != revents) {
                return Stop::differs(format!("{one}"), format!("revents={}", shown(revents)));
            }
        }
        Ok(Returned::Value(ready))
    }

    pub(super) fn epoll_create(&mut self, call: &Call) -> Step<Returned> {
        self.sockets.add(descriptor(call)?, Kind::Epoll(BTreeMap::new())).map(Returned::Value)
    }

    pub(super) fn epoll_ctl(&mut self, call: &Call) -> Step<Returned> {
        let (command, fd) = (call.word(1), call.int(2)?);
        let events = call.args.get(3).and_then(|e| field(e, "events")).map(value).transpose()?;
        let Some(Kind::Epoll(watches)) = self.sockets.get(call.int(0)?) else { return Ok(Returned::Error("EINVAL")) };
        let watch = Watch { events: events.unwrap_or(0), reported: 0, seen: (0, 0), spent: false };
        Ok(match (&*command, watches.contains_key(&fd)) {
            ("EPOLL_CTL_ADD", true) => Returned::Error("EEXIST"),
            ("EPOLL_CTL_MOD" | "EPOLL_CTL_DEL", false) => Returned::Error("ENOENT"),
            ("EPOLL_CTL_DEL", true) => {
                watches.remove(&fd);
                Returned::Value(0)
            }
            ("EPOLL_CTL_ADD" | "EPOLL_CTL_MOD", _) => {
                watches.insert(fd, watch);
                Returned::Value(0)
            }
            _ => return Stop::lacks(format!("epoll_ctl of {command}")),
        })
    }

    /// Returns the number of arrivals of data on a descriptor, and the number of messages put into
    /// its error queue. With EPOLLET each increase is an edge.
    fn wakes(&mut self, fd: i64) -> (u64, u64) {
        let known = self.sockets.tcp(fd).and_then(|tcp| tcp.connection(self.host)).map(|(_, _, known)| known);
        known.map_or((0, 0), |known| (known.arrivals, known.errors.posted))
    }

    /// Waits for events. With EPOLLET reports a descriptor only if an event did not hold at the
    /// previous epoll_wait, or if data or an error-queue message arrived since then
    /// ([`System::wakes`]).
    pub(super) fn epoll_wait(&mut self, call: &Call) -> Step<Returned> {
        let Some(Kind::Epoll(watches)) = self.sockets.get(call.int(0)?) else { return Ok(Returned::Error("EINVAL")) };
        let all: Vec<_> = watches.iter().map(|(fd, watch)| (*fd, *watch)).collect();
        let (mut found, always) = (Vec::new(), bit("EPOLLERR") | bit("EPOLLHUP"));
        for (fd, watch) in all {
            let now = self.ready(fd).unwrap_or(0) & (watch.events | always);
            let seen = self.wakes(fd);
            let arrived = seen.0 > watch.seen.0 && now & bit("EPOLLIN") != 0;
            let woken = arrived || seen.1 > watch.seen.1 && now & bit("EPOLLERR") != 0;
            let edge = watch.events & bit("EPOLLET") != 0;
            let news = if edge && !woken { now & !watch.reported } else { now };
            let report = news != 0 && !watch.spent;
            if report {
                found.push((fd, now));
            }
            let spent = watch.spent || (report && watch.events & bit("EPOLLONESHOT") != 0);
            if let Some(Kind::Epoll(watches)) = self.sockets.get(call.int(0)?) {
                watches.insert(fd, Watch { reported: now, seen, spent, ..watch });
            }
        }
        if found.is_empty() && call.int(3)? != 0 {
            return Ok(Returned::Blocks);
        }
        let expected = match call.arg(1)? {
            Expr::List(items) => items.iter().collect(),
            one => vec![one],
        };
        for (expected, (fd, events)) in expected.iter().zip(&found) {
            let wanted = field(expected, "events").map(value).transpose()?;
            if wanted.is_some_and(|w| w != *events) {
                return Stop::differs(format!("{expected}"), format!("{{events={}, fd={fd}}}", shown(*events)));
            }
        }
        Ok(Returned::Value(found.len() as i64))
    }
}

/// Formats events by name.
fn shown(events: i64) -> String {
    let names = ["POLLIN", "POLLPRI", "POLLOUT", "POLLERR", "POLLHUP", "POLLRDHUP"];
    let names: Vec<_> = names.into_iter().filter(|name| events & bit(name) != 0).collect();
    if names.is_empty() { "0".to_owned() } else { names.join("|") }
}
