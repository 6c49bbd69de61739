//! socket, bind, listen, accept, connect.

use std::net::SocketAddr;

use anabranch_stack::host::{Addresses, ConnectionId};

use super::{PORT, Returned, System, descriptor, socket};
use crate::arguments::field;
use crate::ast::{Call, Expr};
use crate::constants;
use crate::fast_open::{CLIENT, CLIENT_BARE};
use crate::report::{Step, Stop};
use crate::sockets::{Kind, Role, Tcp};

impl System<'_> {
    pub(super) fn socket(&mut self, call: &Call) -> Step<Returned> {
        let kind = call.int(1)?;
        let protocol = call.word(2);
        if kind & 0xf == 1 && matches!(&*protocol, "IPPROTO_UDP" | "17") {
            return Ok(Returned::Error("EPROTONOSUPPORT"));
        }
        if kind & 0xf != constants::number("SOCK_STREAM").unwrap_or(1)
            || !matches!(&*protocol, "IPPROTO_TCP" | "0" | "6" | "IPPROTO_MPTCP" | "262")
        {
            return Stop::lacks(format!(
                "socket of {} and {protocol}: only TCP and Multipath TCP are supported",
                call.word(1)
            ));
        }
        let nonblocking = kind & constants::number("SOCK_NONBLOCK").unwrap_or(0) != 0;
        let mut tcp = Tcp::new(nonblocking);
        tcp.chosen.mptcp = matches!(&*protocol, "IPPROTO_MPTCP" | "262");
        self.sockets.add(descriptor(call)?, Kind::Tcp(tcp)).map(Returned::Value)
    }

    pub(super) fn bind(&mut self, call: &Call) -> Step<Returned> {
        let port = port(call.arg(1)?)?;
        let local = SocketAddr::new(self.settings.local, port);
        if self.sockets.listens(port) {
            return Ok(Returned::Error("EADDRINUSE"));
        }
        let tcp = socket!(self, call);
        if tcp.local.is_some() {
            return Ok(Returned::Error("EINVAL"));
        }
        tcp.local = Some(local);
        Ok(Returned::Value(0))
    }

    pub(super) fn listen(&mut self, call: &Call) -> Step<Returned> {
        let backlog = usize::try_from(call.int(1)?.max(1)).unwrap_or(1);
        let local = SocketAddr::new(self.settings.local, PORT);
        let tcp = socket!(self, call);
        if let Role::Open(..) = tcp.role {
            return Ok(Returned::Error("EINVAL"));
        }
        tcp.local.get_or_insert(local);
        tcp.role = Role::Listening;
        let tcp = tcp.clone();
        // The next SYN comes from a new port.
        self.host.current = None;
        tcp.listen(self.host, self.settings, backlog);
        Ok(Returned::Value(0))
    }

    pub(super) fn accept(&mut self, call: &Call) -> Step<Returned> {
        let tcp = socket!(self, call).clone();
        let (Role::Listening, Some(local)) = (tcp.role, tcp.local) else { return Ok(Returned::Error("EINVAL")) };
        let waiting = self.host.waiting.entry(local.port()).or_default();
        let Some(&id) = waiting.front() else {
            return Ok(if tcp.nonblocking { Returned::Error("EAGAIN") } else { Returned::Blocks });
        };
        if let Some(Expr::Int(-1)) = call.result {
            return Ok(Returned::Value(0)); // there is one: not what the script expects
        }
        waiting.pop_front();
        let nonblocking = call.name == "accept4" && call.int(3)? & constants::number("SOCK_NONBLOCK").unwrap_or(0) != 0;
        let accepted = Tcp {
            role: Role::Open(id, false),
            local: Some(local),
            inq: tcp.inq,
            zero_copy: tcp.zero_copy,
            ip: tcp.ip,
            chosen: tcp.chosen,
            ..Tcp::new(nonblocking)
        };
        self.host.known.entry(id).or_default().ip = accepted.ip;
        self.sockets.add(descriptor(call)?, Kind::Tcp(accepted)).map(Returned::Value)
    }

    pub(super) fn connect(&mut self, call: &Call) -> Step<Returned> {
        let port = port(call.arg(1)?)?;
        let tcp = socket!(self, call);
        let (nonblocking, fast) = (tcp.nonblocking, tcp.chosen.fast_connect);
        match tcp.role {
            Role::Listening => return Ok(Returned::Error("EISCONN")),
            Role::Open(..) => return self.connected(call),
            // A connection that waits for its first data counts as there.
            Role::Fresh if tcp.deferred.is_some() => return Ok(Returned::Error("EISCONN")),
            Role::Fresh => {}
        }
        let addresses = self.addresses(call, port)?;
        if fast && self.begins_with_data(call, addresses)? {
            if let Some(tcp) = self.sockets.tcp(call.int(0)?) {
                tcp.deferred = Some(port);
            }
            return Ok(Returned::Value(0));
        }
        let Some(_) = self.open_to(call, addresses, fast)? else { return Ok(Returned::Error("EADDRNOTAVAIL")) };
        self.host.pump()?;
        Ok(if nonblocking { Returned::Error("EINPROGRESS") } else { Returned::Blocks })
    }

    /// The addresses of a connection that the socket opens.
    pub(super) fn addresses(&mut self, call: &Call, port: u16) -> Step<Addresses> {
        let remote = SocketAddr::new(self.settings.remote, port);
        let free = self.host.free_port(self.settings.local, remote);
        let Some(tcp) = self.sockets.tcp(call.int(0)?) else { return Stop::wrong("not a socket") };
        Ok(Addresses { local: *tcp.local.get_or_insert(free), remote })
    }

    /// The SYN of a connection with these addresses takes data: there is a cookie, or none is needed.
    pub(super) fn begins_with_data(&mut self, call: &Call, addresses: Addresses) -> Step<bool> {
        let Some(tcp) = self.sockets.tcp(call.int(0)?) else { return Stop::wrong("not a socket") };
        let bits = self.settings.fast_open.0;
        let bare = tcp.chosen.fast_bare || bits & CLIENT_BARE != 0;
        let known = self.host.endpoint.has_fast_open_cookie(self.host.now, addresses);
        Ok(bits & CLIENT != 0 && (known || bare))
    }

    /// Opens a connection, whose SYN leaves with the next pump. `None`: the addresses are in use.
    pub(super) fn open_to(&mut self, call: &Call, addresses: Addresses, fast: bool) -> Step<Option<ConnectionId>> {
        let Some(tcp) = self.sockets.tcp(call.int(0)?) else { return Stop::wrong("not a socket") };
        let mut config = tcp.chosen.config(self.settings, true);
        config.fast_open = fast && self.settings.fast_open.0 & CLIENT != 0;
        let Ok(id) = self.host.endpoint.connect(self.host.now, addresses, config) else { return Ok(None) };
        (tcp.role, tcp.deferred) = (Role::Open(id, true), None);
        self.host.opened(id, tcp.ip);
        self.host.enter(addresses);
        Ok(Some(id))
    }

    /// A socket that has a connection is told to connect: what became of it.
    fn connected(&mut self, call: &Call) -> Step<Returned> {
        let tcp = socket!(self, call).clone();
        let Some((id, _, known)) = tcp.connection(self.host) else { return Ok(Returned::Error("EINVAL")) };
        let Role::Open(_, pending) = tcp.role else { return Ok(Returned::Error("EINVAL")) };
        if let Some(error) = self.host.known.entry(id).or_default().error.take() {
            return Ok(Returned::Error(error));
        }
        Ok(match (known.connected, pending) {
            (false, _) if tcp.nonblocking => Returned::Error("EALREADY"),
            (false, _) => Returned::Blocks,
            (true, true) => {
                if let Some(tcp) = self.sockets.tcp(call.int(0)?) {
                    tcp.role = Role::Open(id, false);
                }
                Returned::Value(0)
            }
            (true, false) => Returned::Error("EISCONN"),
        })
    }
}

/// The port of an address; packetdrill's if it is `...`.
pub(super) fn port(address: &Expr) -> Step<u16> {
    match field(address, "sin_port").or_else(|| field(address, "sin6_port")) {
        None => Ok(PORT),
        Some(port) => {
            let port = crate::arguments::value(port)?;
            u16::try_from(port).or_else(|_| Stop::wrong(format!("port {port}")))
        }
    }
}
