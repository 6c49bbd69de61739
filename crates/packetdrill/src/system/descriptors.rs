//! close, shutdown, fcntl, ioctl, open, pipe.

use super::{Returned, System, descriptor, socket};
use crate::arguments::value;
use crate::ast::{Call, Expr};
use crate::constants;
use crate::report::{Step, Stop};
use crate::sockets::{Kind, Role};

impl System<'_> {
    pub(super) fn close(&mut self, call: &Call) -> Step<Returned> {
        let Some(kind) = self.sockets.remove(call.int(0)?) else { return Ok(Returned::Error("EBADF")) };
        let Kind::Tcp(tcp) = kind else { return Ok(Returned::Value(0)) };
        match (tcp.role, tcp.local) {
            (Role::Open(id, _), _) => {
                // A connection that is gone is closed.
                let _ = if tcp.abortive { self.host.endpoint.abort(id) } else { self.host.endpoint.close(id) };
            }
            (Role::Listening, Some(local)) if !self.sockets.listens(local.port()) => {
                self.host.endpoint.stop_listening(local.port());
                // RFC 9293 3.10.4 leaves it open; what was never accepted is reset.
                for id in self.host.waiting.remove(&local.port()).unwrap_or_default() {
                    let _ = self.host.endpoint.abort(id);
                }
            }
            _ => {}
        }
        self.host.pump()?;
        Ok(Returned::Value(0))
    }

    pub(super) fn shutdown(&mut self, call: &Call) -> Step<Returned> {
        let how = call.int(1)?;
        let tcp = socket!(self, call);
        let Role::Open(id, _) = tcp.role else { return Ok(Returned::Error("ENOTCONN")) };
        if !(0..=2).contains(&how) {
            return Ok(Returned::Error("EINVAL"));
        }
        tcp.read_shut |= how != 1;
        if how != 0 && self.host.endpoint.shutdown_write(id).is_err() {
            return Ok(Returned::Error("ENOTCONN"));
        }
        self.host.pump()?;
        Ok(Returned::Value(0))
    }

    pub(super) fn fcntl(&mut self, call: &Call) -> Step<Returned> {
        let (command, flags) = (call.word(1), call.args.get(2).map(value).transpose()?.unwrap_or(0));
        let nonblock = constants::number("O_NONBLOCK").unwrap_or(0);
        let tcp = socket!(self, call);
        match &*command {
            "F_GETFL" => Ok(Returned::Value(2 | if tcp.nonblocking { nonblock } else { 0 })),
            "F_SETFL" => {
                tcp.nonblocking = flags & nonblock != 0;
                Ok(Returned::Value(0))
            }
            _ => Stop::lacks(format!("fcntl of {command}: supported are F_GETFL and F_SETFL")),
        }
    }

    pub(super) fn ioctl(&mut self, call: &Call) -> Step<Returned> {
        let command = call.word(1);
        let tcp = socket!(self, call).clone();
        let found = match &*command {
            "SIOCINQ" | "FIONREAD" => self.readable(call)?.0,
            "SIOCOUTQ" => {
                let unacknowledged =
                    tcp.connection(self.host).and_then(|(_, c, _)| c).map(|c| c.outbound().unacknowledged());
                i64::try_from(unacknowledged.unwrap_or(0)).unwrap_or(i64::MAX)
            }
            _ => return Stop::lacks(format!("ioctl of {command}: supported are SIOCINQ and SIOCOUTQ")),
        };
        match call.args.get(2) {
            None | Some(Expr::Any) => {}
            Some(expected) if value(expected)? == found => {}
            Some(expected) => return Stop::differs(format!("{command} {expected}"), format!("{command} [{found}]")),
        }
        Ok(Returned::Value(0))
    }

    /// A file: something that sendfile can send.
    pub(super) fn open(&mut self, call: &Call) -> Step<Returned> {
        let name = if let Expr::Text(name) = call.arg(0)? { name.clone() } else { String::new() };
        let len = self.settings.files.get(&name).copied();
        self.sockets.add(descriptor(call)?, Kind::Other(len)).map(Returned::Value)
    }

    pub(super) fn pipe(&mut self, call: &Call) -> Step<Returned> {
        let Expr::List(ends) = call.arg(0)? else {
            return Stop::wrong("pipe: two descriptors were expected: pipe([5, 6])");
        };
        for end in ends {
            self.sockets.add(value(end)?, Kind::Other(None))?;
        }
        Ok(Returned::Value(0))
    }
}
