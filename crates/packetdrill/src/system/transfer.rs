//! System calls that read or write data.
//!
//! All data are zeros; only the number of octets is compared.

use anabranch_stack::Setting;
use anabranch_stack::host::{ConnectionId, WriteError};

use super::opening::port;
use super::{Returned, System, socket};
use crate::arguments::{buffers, field, value};
use crate::ast::{Call, Expr};
use crate::constants;
use crate::fast_open::CLIENT;
use crate::report::{Step, Stop};
use crate::sockets::{Kind, Role, Tcp};

/// Largest read from or write to the engine at once, octets.
const PIECE: u64 = 1 << 16;

fn flag(flags: i64, name: &str) -> bool {
    flags & constants::number(name).unwrap_or(0) != 0
}

impl System<'_> {
    pub(super) fn read(&mut self, call: &Call) -> Step<Returned> {
        if call.is_null(1) {
            return Ok(Returned::Error("EFAULT"));
        }
        self.receive(call, call.octets(2)?, 0)
    }

    pub(super) fn readv(&mut self, call: &Call) -> Step<Returned> {
        self.receive(call, buffers(call.args.get(1))?, 0)
    }

    pub(super) fn recv(&mut self, call: &Call) -> Step<Returned> {
        if call.is_null(1) {
            return Ok(Returned::Error("EFAULT"));
        }
        self.receive(call, call.octets(2)?, call.int(3)?)
    }

    pub(super) fn recvmsg(&mut self, call: &Call) -> Step<Returned> {
        let message = call.arg(1)?;
        if flag(call.int(2)?, "MSG_ERRQUEUE") {
            return self.error(call, message);
        }
        let returned = self.receive(call, buffers(field(message, "msg_iov"))?, call.int(2)?)?;
        if let (Returned::Value(_), Some(control)) = (returned, field(message, "msg_control")) {
            self.control(call, control)?;
        }
        Ok(returned)
    }

    /// Receives the oldest message of the error queue (MSG_ERRQUEUE) and compares it with
    /// `message`. EAGAIN if the queue is empty.
    fn error(&mut self, call: &Call, message: &Expr) -> Step<Returned> {
        let tcp = socket!(self, call).clone();
        let Some((id, ..)) = tcp.connection(self.host) else { return Ok(Returned::Error("EAGAIN")) };
        let tolerance = self.settings.tolerance.0;
        let found = self.host.known.entry(id).or_default().errors.receive(message, tolerance)?;
        Ok(if found { Returned::Value(0) } else { Returned::Error("EAGAIN") })
    }

    /// Compares the control messages of recvmsg with the script: the octets left to read (TCP_INQ).
    fn control(&mut self, call: &Call, control: &Expr) -> Step<()> {
        let Expr::List(messages) = control else { return Stop::wrong("msg_control is a list") };
        for message in messages {
            let kind = field(message, "cmsg_type").map(ToString::to_string).unwrap_or_default();
            if kind != "TCP_CM_INQ" {
                return Stop::lacks(format!("control messages of type {kind}"));
            }
            let (octets, ended) = self.readable(call)?;
            let left = octets + i64::from(octets == 0 && ended);
            let expected = field(message, "cmsg_data").map(value).transpose()?;
            if expected.is_some_and(|n| n != left) {
                return Stop::differs(format!("cmsg_data={}", expected.unwrap_or(0)), format!("cmsg_data={left}"));
            }
        }
        Ok(())
    }

    /// Returns the number of octets that can be read, and true if the end of the stream follows
    /// them.
    pub(super) fn readable(&mut self, call: &Call) -> Step<(i64, bool)> {
        let tcp = socket_of(self, call)?.clone();
        let Some((_, connection, known)) = tcp.connection(self.host) else { return Ok((0, false)) };
        let octets = connection.map_or(0, |c| c.inbound().readable());
        Ok((i64::try_from(octets).unwrap_or(i64::MAX), known.ended))
    }

    fn receive(&mut self, call: &Call, most: u64, flags: i64) -> Step<Returned> {
        for name in ["MSG_ERRQUEUE", "MSG_OOB", "MSG_WAITALL"] {
            if flag(flags, name) {
                return Stop::lacks(format!("{name} in {}", call.name));
            }
        }
        let tcp = socket!(self, call).clone();
        let Some((id, connection, known)) = tcp.connection(self.host) else {
            // A socket with a deferred connect (TCP_FASTOPEN_CONNECT) counts as connecting.
            return Ok(match tcp.deferred {
                None => Returned::Error("ENOTCONN"),
                Some(_) if waits(&tcp, flags) => Returned::Blocks,
                Some(_) => Returned::Error("EAGAIN"),
            });
        };
        let there = connection.map_or(0, |c| c.inbound().readable()).min(most);
        if there > 0 {
            if !flag(flags, "MSG_PEEK") {
                self.take(id, there)?;
            }
            return Ok(Returned::Value(there.try_into().unwrap_or(i64::MAX)));
        }
        if let Some(error) = self.host.known.entry(id).or_default().error.take() {
            return Ok(Returned::Error(error));
        }
        Ok(match () {
            () if known.orphaned => Returned::Error("ENOTCONN"),
            () if known.ended || known.failed || tcp.read_shut || connection_gone(self, id) => Returned::Value(0),
            () if most == 0 => Returned::Value(0),
            () if !known.connected && matches!(tcp.role, Role::Fresh) => Returned::Error("ENOTCONN"),
            () if waits(&tcp, flags) => Returned::Blocks,
            () => Returned::Error("EAGAIN"),
        })
    }

    fn take(&mut self, id: ConnectionId, mut octets: u64) -> Step<()> {
        let mut piece = vec![0; octets.min(PIECE) as usize];
        while octets > 0 {
            let want = octets.min(PIECE) as usize;
            let Ok(n @ 1..) = self.host.endpoint.read(id, &mut piece[..want]) else { break };
            octets -= n as u64;
        }
        self.host.pump()
    }

    pub(super) fn write(&mut self, call: &Call) -> Step<Returned> {
        if call.is_null(1) {
            return Ok(Returned::Error("EFAULT"));
        }
        self.write_all(call, call.octets(2)?)
    }

    pub(super) fn writev(&mut self, call: &Call) -> Step<Returned> {
        self.write_all(call, buffers(call.args.get(1))?)
    }

    fn write_all(&mut self, call: &Call, octets: u64) -> Step<Returned> {
        self.open_or_transmit(call, octets, 0, None)
    }

    pub(super) fn send(&mut self, call: &Call) -> Step<Returned> {
        if call.is_null(1) {
            return Ok(Returned::Error("EFAULT"));
        }
        self.open_or_transmit(call, call.octets(2)?, call.int(3)?, call.args.get(4))
    }

    pub(super) fn sendmsg(&mut self, call: &Call) -> Step<Returned> {
        let (message, flags) = (call.arg(1)?, call.int(2)?);
        let octets = buffers(field(message, "msg_iov"))?;
        self.open_or_transmit(call, octets, flags, field(message, "msg_name"))
    }

    /// Writes `octets` octets. Opens a connection first if the call has MSG_FASTOPEN (to
    /// `address`), or if connect was deferred (TCP_FASTOPEN_CONNECT).
    fn open_or_transmit(&mut self, call: &Call, octets: u64, flags: i64, address: Option<&Expr>) -> Step<Returned> {
        let tcp = socket!(self, call).clone();
        let asked = flag(flags, "MSG_FASTOPEN");
        match (tcp.role, tcp.deferred) {
            (Role::Fresh, _) if asked => {
                let nowhere = address.is_some_and(|a| a.to_string() == "AF_UNSPEC");
                if nowhere || self.settings.fast_open.0 & CLIENT == 0 {
                    return Ok(Returned::Error("EOPNOTSUPP"));
                }
                self.send_fast(call, port(address.unwrap_or(&Expr::Any))?, octets, flags)
            }
            (Role::Fresh, Some(to)) => self.send_fast(call, to, octets, flags),
            (Role::Open(id, _), _) if asked && !waits(&tcp, flags) && self.host.opening(id) => {
                Ok(Returned::Error("EALREADY"))
            }
            _ => self.transmit(call, octets, flags),
        }
    }

    /// Opens a Fast Open connection (RFC 7413 4.2). With a cookie the SYN carries the data; without
    /// one they are sent after the handshake.
    fn send_fast(&mut self, call: &Call, to: u16, octets: u64, flags: i64) -> Step<Returned> {
        let addresses = self.addresses(call, to)?;
        let with_data = self.begins_with_data(call, addresses)?;
        let Some(id) = self.open_to(call, addresses, true)? else { return Ok(Returned::Error("EADDRNOTAVAIL")) };
        let tcp = socket!(self, call).clone();
        if with_data {
            // A nonblocking call accepts only the data that fit into the SYN.
            let room = self.host.endpoint.connection(id).map_or(0, |c| c.syn_room(self.host.now));
            let most = if waits(&tcp, flags) { octets } else { octets.min(room.into()) };
            match self.put(&tcp, id, most)? {
                Ok(written) => *self.progress = written,
                Err(error) => return Ok(Returned::Error(error)),
            }
            if *self.progress > 0 && !waits(&tcp, flags) {
                self.wrote(&tcp, id, flags);
            }
        } else {
            self.host.pump()?;
        }
        Ok(match () {
            () if waits(&tcp, flags) => Returned::Blocks,
            () if with_data && octets > 0 => Returned::Value(i64::try_from(*self.progress).unwrap_or(i64::MAX)),
            () => Returned::Error("EINPROGRESS"),
        })
    }

    pub(super) fn sendfile(&mut self, call: &Call) -> Step<Returned> {
        let (octets, from) = (call.octets(3)?, call.args.get(2).map_or(Ok(0), value)?);
        let left = match self.sockets.get(call.int(1)?) {
            Some(Kind::Other(Some(len))) => len.saturating_sub(from.unsigned_abs()),
            _ => octets,
        };
        self.transmit(call, octets.min(left), 0)
    }

    pub(super) fn splice(&mut self, call: &Call) -> Step<Returned> {
        let octets = call.octets(4)?;
        if self.sockets.tcp(call.int(0)?).is_some() {
            self.receive(call, octets, 0)
        } else {
            Stop::lacks("splice from a pipe")
        }
    }

    fn transmit(&mut self, call: &Call, octets: u64, flags: i64) -> Step<Returned> {
        for name in ["MSG_OOB", "MSG_EOR"] {
            if flag(flags, name) {
                return Stop::lacks(format!("{name} in {}", call.name));
            }
        }
        let tcp = socket!(self, call).clone();
        let Some((id, _, known)) = tcp.connection(self.host) else {
            return Ok(Returned::Error(if tcp.role == Role::Fresh { "EPIPE" } else { "ENOTCONN" }));
        };
        if let Some(error) = self.host.known.entry(id).or_default().error.take() {
            return Ok(Returned::Error(error));
        }
        if !known.connected && !known.failed {
            return Ok(if waits(&tcp, flags) { Returned::Blocks } else { Returned::Error("EAGAIN") });
        }
        // MSG_MORE corks the connection until a write without it.
        let corked = tcp.chosen.cork || flag(flags, "MSG_MORE");
        if std::mem::replace(&mut self.host.known.entry(id).or_default().corked, corked) != corked {
            let now = self.host.now;
            let _ = self.host.endpoint.configure(id, |c| c.set(now, Setting::Cork(corked)));
        }
        let written = match self.put(&tcp, id, octets - *self.progress)? {
            Ok(written) => written,
            Err(error) => return Ok(Returned::Error(error)),
        };
        *self.progress += written;
        let total = i64::try_from(*self.progress).unwrap_or(i64::MAX);
        if total > 0 && (*self.progress == octets || !waits(&tcp, flags)) {
            self.wrote(&tcp, id, flags);
        }
        Ok(match () {
            () if *self.progress == octets => Returned::Value(total),
            () if waits(&tcp, flags) => Returned::Blocks,
            () if total == 0 => Returned::Error("EAGAIN"),
            () => Returned::Value(total),
        })
    }

    /// Records a write that returns now, so that the error queue gets its zero-copy and timestamp
    /// messages.
    fn wrote(&mut self, tcp: &Tcp, id: ConnectionId, flags: i64) {
        let zero_copy = tcp.zero_copy && flag(flags, "MSG_ZEROCOPY");
        self.host.known.entry(id).or_default().errors.wrote(zero_copy);
        self.host.settle(id);
    }

    /// Writes up to `octets` octets, limited by the send buffer and by TCP_NOTSENT_LOWAT. Returns
    /// the number written, or the errno.
    fn put(&mut self, tcp: &Tcp, id: ConnectionId, octets: u64) -> Step<Result<u64, &'static str>> {
        let unsent = self.host.endpoint.connection(id).map_or(0, |c| c.outbound().unacknowledged());
        let room = tcp.chosen.send_buffer.map_or(octets, |buffer| octets.min(buffer.saturating_sub(unsent)));
        let Some(lowat) = tcp.chosen.lowat(self.settings) else { return self.fill(id, room) };
        let mut written = 0;
        while let Some(part) = self.part(id, lowat).filter(|_| written < room) {
            let part = part.min(room - written);
            match self.fill(id, part)? {
                Err(error) if written == 0 => return Ok(Err(error)),
                Err(_) | Ok(0) => break,
                Ok(n) => {
                    self.host.known.entry(id).or_default().tail += n;
                    written += n;
                }
            }
        }
        Ok(Ok(written))
    }

    /// Returns the number of octets that a write may add now under TCP_NOTSENT_LOWAT (Linux:
    /// `tcp_sendmsg_locked`).
    ///
    /// A write fills the last packet buffer. If that is full, it starts a new one, but only while
    /// fewer than `lowat` octets are unsent; otherwise returns `None`. A packet buffer holds whole
    /// segments, at most half of the peer's largest window (`tcp_bound_to_half_wnd`).
    fn part(&mut self, id: ConnectionId, lowat: u64) -> Option<u64> {
        let info = self.host.endpoint.connection(id)?.info(self.host.now, 0);
        let known = self.host.known.entry(id).or_default();
        known.largest_window = known.largest_window.max(info.peer_window);
        let mss = u64::from(info.mss.max(1));
        let whole = ((known.largest_window / 2).min(PIECE) / mss).max(1) * mss;
        known.tail = known.tail.min(info.unsent);
        if known.tail == 0 || known.tail >= whole {
            known.tail = 0;
            return (info.unsent < lowat).then_some(whole);
        }
        Some(whole - known.tail)
    }

    /// Writes up to `room` octets into the engine's send buffer. Returns the number of octets
    /// written, or the name of the errno (such as `EPIPE`) if the connection takes no data.
    fn fill(&mut self, id: ConnectionId, room: u64) -> Step<Result<u64, &'static str>> {
        let piece = vec![0; room.min(PIECE) as usize];
        let mut written = 0;
        loop {
            let want = (room - written).min(PIECE) as usize;
            match self.host.endpoint.write(id, &piece[..want]) {
                Ok(n) => written += n as u64,
                Err(WriteError::Gone | WriteError::Closed) if written == 0 => return Ok(Err("EPIPE")),
                Err(_) => break,
            }
            if want == 0 || written == room || self.host.endpoint.connection(id).is_none_or(|c| c.writable() == 0) {
                break;
            }
        }
        self.host.known.entry(id).or_default().errors.written += written;
        self.host.pump()?;
        Ok(Ok(written))
    }
}

/// Returns true if the call may block.
fn waits(tcp: &Tcp, flags: i64) -> bool {
    !tcp.nonblocking && !flag(flags, "MSG_DONTWAIT")
}

fn connection_gone(system: &System<'_>, id: ConnectionId) -> bool {
    system.host.endpoint.connection(id).is_none()
}

fn socket_of<'s>(system: &'s mut System<'_>, call: &Call) -> Step<&'s mut Tcp> {
    match system.tcp(call)? {
        Ok(tcp) => Ok(tcp),
        Err(_) => Stop::wrong("not a socket"),
    }
}
