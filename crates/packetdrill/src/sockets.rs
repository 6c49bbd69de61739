//! Descriptors of the application and their sockets, files and epoll instances.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anabranch_stack::config::KeepAlive;
use anabranch_stack::host::ConnectionId;
use anabranch_stack::{Config, Connection, Duration};

use super::fast_open::{CLIENT_BARE, EVERY_LISTENER, Key, SERVER, SERVER_BARE};
use super::host::{Host, Ip, Known};
use super::over::ROOM;
use super::report::{Step, Stop};
use super::settings::Settings;

/// Object behind a descriptor.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A TCP socket.
    Tcp(Tcp),
    /// An epoll instance: its watched descriptors.
    Epoll(BTreeMap<i64, Watch>),
    /// A file or a pipe. A file that a shell line created has its length in octets.
    Other(Option<u64>),
}

/// State of a descriptor in an epoll instance.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// Requested events and flags (EPOLLET, EPOLLONESHOT).
    pub events: i64,
    /// Events that held at the latest epoll_wait, to find new events for EPOLLET.
    pub reported: i64,
    /// Number of arrivals of data, and of messages put into the error queue, up to the latest
    /// epoll_wait.
    pub seen: (u64, u64),
    /// EPOLLONESHOT: the descriptor was reported once and is disabled.
    pub spent: bool,
}

/// The state of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Neither connected nor listening.
    Fresh,
    /// Accepts connections.
    Listening,
    /// Has a connection. The flag is true if this socket opened it and no call has reported the
    /// success of connect yet.
    Open(ConnectionId, bool),
}

/// A TCP socket.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// State of the socket.
    pub role: Role,
    /// Local address, once bound.
    pub local: Option<SocketAddr>,
    /// O_NONBLOCK: calls do not block.
    pub nonblocking: bool,
    /// The application will read no more (SHUT_RD).
    pub read_shut: bool,
    /// SO_LINGER with a time of zero: close aborts the connection.
    pub abortive: bool,
    /// TCP_INQ: recvmsg reports the octets left to read.
    pub inq: bool,
    /// SO_ZEROCOPY: writes honour MSG_ZEROCOPY.
    pub zero_copy: bool,
    /// IP_TOS and IP_TTL.
    pub ip: Ip,
    /// TCP_FASTOPEN_CONNECT: the connection to this port opens with the first write.
    pub deferred: Option<u16>,
    /// Values set by socket options.
    pub chosen: Chosen,
}

/// Socket options that change the configuration. `None` keeps the configured value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chosen {
    /// SO_RCVBUF.
    pub receive_buffer: Option<u64>,
    /// SO_SNDBUF.
    pub send_buffer: Option<u64>,
    /// TCP_NODELAY.
    pub nodelay: Option<bool>,
    /// TCP_CORK.
    pub cork: bool,
    /// TCP_NOTSENT_LOWAT.
    pub not_sent: i64,
    /// TCP_MAXSEG.
    pub maxseg: Option<u16>,
    /// TCP_USER_TIMEOUT.
    pub user_timeout: Option<Duration>,
    /// TCP_SYNCNT.
    pub syn_retries: Option<u32>,
    /// SO_KEEPALIVE.
    pub keepalive: bool,
    /// TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT.
    pub keepalives: KeepAlive,
    /// TCP_FASTOPEN: if more than zero, a listener accepts data in SYNs.
    pub fast_listen: i64,
    /// TCP_FASTOPEN_CONNECT: connect defers the SYN to the first write.
    pub fast_connect: bool,
    /// TCP_FASTOPEN_NO_COOKIE: Fast Open needs no cookie, neither as client nor as listener.
    pub fast_bare: bool,
    /// TCP_FASTOPEN_KEY.
    pub fast_key: Option<Key>,
    /// The socket was created with IPPROTO_MPTCP.
    pub mptcp: bool,
}

impl Chosen {
    /// Returns the number of unsent octets at which writes on this socket stop: TCP_NOTSENT_LOWAT,
    /// or else `tcp_notsent_lowat`. `None`: only the send buffer limits writes.
    pub fn lowat(&self, settings: &Settings) -> Option<u64> {
        let own = u32::try_from(self.not_sent).ok().filter(|own| *own > 0);
        own.or(Some(settings.not_sent)).filter(|lowat| *lowat < u32::MAX).map(u64::from)
    }

    /// Returns the configuration of a new connection. `active`: this socket opens it.
    pub fn config(&self, settings: &Settings, active: bool) -> Config {
        let mut config = settings.config.clone();
        // A script of plain TCP run over MPTCP must not see the room that a DSS takes.
        let over = config.mptcp;
        config.mptcp = over || self.mptcp && settings.multipath;
        config.ecn = if active { settings.active_ecn } else { config.ecn };
        if let Some(buffer) = self.receive_buffer {
            config.receive_buffer = Some(buffer);
            config.receive_initial = config.receive_initial.map(|initial| initial.min(buffer));
        }
        let (bits, every) = (settings.fast_open.0, settings.fast_open.0 & EVERY_LISTENER != 0);
        config.fast_open = !active && bits & SERVER != 0 && (self.fast_listen > 0 || every);
        let bare = if active { CLIENT_BARE } else { SERVER_BARE };
        config.fast_open_without_cookies = self.fast_bare || bits & bare != 0;
        config.send_buffer = self.send_buffer.or(config.send_buffer);
        config.nagle = self.nodelay.map_or(config.nagle, |on| !on);
        config.user_timeout = self.user_timeout;
        config.syn_retries = self.syn_retries.or(config.syn_retries);
        config.keepalive = self.keepalive.then_some(self.keepalives);
        if let Some(mss) = self.maxseg {
            let room = if over { ROOM } else { 0 };
            config.mss = config.mss.min(mss.into());
            config.mss_option = config.mss_option.map(|m| m.min(mss.saturating_add(room)));
        }
        config
    }
}

impl Tcp {
    /// Returns a socket as socket(2) creates it.
    pub fn new(nonblocking: bool) -> Self {
        let (role, local, chosen) = (Role::Fresh, None, Chosen::default());
        Self {
            role,
            local,
            nonblocking,
            read_shut: false,
            abortive: false,
            inq: false,
            zero_copy: false,
            ip: Ip::default(),
            deferred: None,
            chosen,
        }
    }

    /// Returns the socket's connection: its ID, the engine's connection if it still exists, and the
    /// additional state of the host. `None` if the socket has no connection.
    pub fn connection<'a>(&self, host: &'a Host) -> Option<(ConnectionId, Option<&'a Connection>, Known)> {
        match self.role {
            Role::Open(id, _) => {
                Some((id, host.endpoint.connection(id), host.known.get(&id).cloned().unwrap_or_default()))
            }
            _ => None,
        }
    }

    /// Starts to listen, or listens again with the present configuration.
    pub fn listen(&self, host: &mut Host, settings: &Settings, backlog: usize) {
        if let Some(local) = self.local {
            let config = self.chosen.config(settings, false);
            host.endpoint.listen_with_backlog(local.port(), config, backlog);
            host.endpoint.set_fast_open_key(local.port(), self.chosen.fast_key.or(Some(settings.fast_open.1)));
        }
    }
}

/// The descriptors of the application.
#[derive(Clone, Debug, Default)]
pub struct Sockets(BTreeMap<i64, Kind>);

impl Sockets {
    /// Adds a descriptor with the number that the script expects. An open descriptor with the same
    /// number stays open under a negative number that the script cannot use.
    ///
    /// # Errors
    /// If the number is negative.
    pub fn add(&mut self, fd: i64, kind: Kind) -> Step<i64> {
        if fd < 0 {
            return Stop::differs(fd, "a descriptor");
        }
        if let Some(before) = self.0.insert(fd, kind) {
            let below = self.0.first_key_value().map_or(0, |(least, _)| *least).min(0) - 1;
            self.0.insert(below, before);
        }
        Ok(fd)
    }

    /// Returns the object behind a descriptor.
    pub fn get(&mut self, fd: i64) -> Option<&mut Kind> {
        self.0.get_mut(&fd)
    }

    /// Returns the TCP socket behind a descriptor, or `None` for any other object.
    pub fn tcp(&mut self, fd: i64) -> Option<&mut Tcp> {
        match self.0.get_mut(&fd) {
            Some(Kind::Tcp(tcp)) => Some(tcp),
            _ => None,
        }
    }

    /// Removes a descriptor.
    pub fn remove(&mut self, fd: i64) -> Option<Kind> {
        self.0.remove(&fd)
    }

    /// Returns all TCP sockets.
    pub fn all(&self) -> impl Iterator<Item = &Tcp> {
        self.0.values().filter_map(|kind| if let Kind::Tcp(tcp) = kind { Some(tcp) } else { None })
    }

    /// Returns true if a TCP socket listens at this port.
    pub fn listens(&self, port: u16) -> bool {
        self.all().any(|t| t.role == Role::Listening && t.local.is_some_and(|local| local.port() == port))
    }
}
