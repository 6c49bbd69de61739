//! Names of the system's constants, with Linux's numbers: what scripts write instead of numbers.

/// Constants of `SO_TIMESTAMPING` that the runner itself reads (Linux: `linux/net_tstamp.h`,
/// `linux/errqueue.h`).
pub mod timestamping {
    /// Flag: report when the data left the host.
    pub const TX_SOFTWARE: i64 = 1 << 1;
    /// Flag: identify the data by an octet count in `ee_data`.
    pub const OPT_ID: i64 = 1 << 7;
    /// Flag: report when the data entered the packet scheduler.
    pub const TX_SCHED: i64 = 1 << 8;
    /// Flag: report when the peer acknowledged the data.
    pub const TX_ACK: i64 = 1 << 9;
    /// `ee_info` of the report that the data left the host.
    pub const TSTAMP_SND: i64 = 0;
    /// `ee_info` of the report that the data entered the packet scheduler.
    pub const TSTAMP_SCHED: i64 = 1;
    /// `ee_info` of the report that the peer acknowledged the data.
    pub const TSTAMP_ACK: i64 = 2;
}

/// The numbers by name.
const TABLE: &[(&str, i64)] = &[
    ("NULL", 0),
    ("AF_INET", 2),
    ("AF_INET6", 10),
    ("SOCK_STREAM", 1),
    ("SOCK_NONBLOCK", 0o4000),
    ("SOCK_CLOEXEC", 0o2_000_000),
    ("IPPROTO_IP", 0),
    ("IPPROTO_TCP", 6),
    ("IPPROTO_MPTCP", 262),
    ("SOL_IP", 0),
    ("SOL_SOCKET", 1),
    ("SOL_TCP", 6),
    ("SOL_IPV6", 41),
    ("SO_REUSEADDR", 2),
    ("SO_ERROR", 4),
    ("SO_SNDBUF", 7),
    ("SO_RCVBUF", 8),
    ("SO_KEEPALIVE", 9),
    ("SO_OOBINLINE", 10),
    ("SO_PRIORITY", 12),
    ("SO_LINGER", 13),
    ("SO_REUSEPORT", 15),
    ("SO_SNDBUFFORCE", 32),
    ("SO_RCVBUFFORCE", 33),
    ("SO_MARK", 36),
    ("SO_TIMESTAMPING", 37),
    ("SO_MAX_PACING_RATE", 47),
    ("SO_ZEROCOPY", 60),
    ("SO_EE_ORIGIN_TIMESTAMPING", 4),
    ("SO_EE_ORIGIN_ZEROCOPY", 5),
    ("SO_EE_CODE_ZEROCOPY_COPIED", 1),
    ("SOF_TIMESTAMPING_TX_HARDWARE", 1),
    ("SOF_TIMESTAMPING_TX_SOFTWARE", timestamping::TX_SOFTWARE),
    ("SOF_TIMESTAMPING_RX_SOFTWARE", 1 << 3),
    ("SOF_TIMESTAMPING_SOFTWARE", 1 << 4),
    ("SOF_TIMESTAMPING_OPT_ID", timestamping::OPT_ID),
    ("SOF_TIMESTAMPING_TX_SCHED", timestamping::TX_SCHED),
    ("SOF_TIMESTAMPING_TX_ACK", timestamping::TX_ACK),
    ("SCM_TIMESTAMPING", 37),
    ("SCM_TSTAMP_SND", timestamping::TSTAMP_SND),
    ("SCM_TSTAMP_SCHED", timestamping::TSTAMP_SCHED),
    ("SCM_TSTAMP_ACK", timestamping::TSTAMP_ACK),
    ("ENOMSG", 42),
    ("IPPROTO_UDP", 17),
    ("IP_TOS", 1),
    ("IP_TTL", 2),
    ("IP_MTU_DISCOVER", 10),
    ("IP_RECVERR", 11),
    ("IP_MTU", 14),
    ("IP_FREEBIND", 15),
    ("IP_PMTUDISC_DONT", 0),
    ("IP_PMTUDISC_WANT", 1),
    ("IP_PMTUDISC_DO", 2),
    ("IP_PMTUDISC_PROBE", 3),
    ("IPV6_UNICAST_HOPS", 16),
    ("IPV6_RECVERR", 25),
    ("TCP_IS_MPTCP", 43),
    ("SOL_MPTCP", 284),
    ("AF_PACKET", 17),
    ("TCP_NODELAY", 1),
    ("TCP_MAXSEG", 2),
    ("TCP_CORK", 3),
    ("TCP_KEEPIDLE", 4),
    ("TCP_KEEPINTVL", 5),
    ("TCP_KEEPCNT", 6),
    ("TCP_SYNCNT", 7),
    ("TCP_LINGER2", 8),
    ("TCP_DEFER_ACCEPT", 9),
    ("TCP_WINDOW_CLAMP", 10),
    ("TCP_INFO", 11),
    ("TCP_QUICKACK", 12),
    ("TCP_CONGESTION", 13),
    ("TCP_USER_TIMEOUT", 18),
    ("TCP_FASTOPEN", 23),
    ("TCP_TIMESTAMP", 24),
    ("TCP_NOTSENT_LOWAT", 25),
    ("TCP_FASTOPEN_CONNECT", 30),
    ("TCP_FASTOPEN_KEY", 33),
    ("TCP_FASTOPEN_NO_COOKIE", 34),
    ("TCP_INQ", 36),
    ("TCP_CM_INQ", 36),
    ("MSG_OOB", 1),
    ("MSG_PEEK", 2),
    ("MSG_TRUNC", 0x20),
    ("MSG_DONTWAIT", 0x40),
    ("MSG_EOR", 0x80),
    ("MSG_WAITALL", 0x100),
    ("MSG_ERRQUEUE", 0x2000),
    ("MSG_NOSIGNAL", 0x4000),
    ("MSG_MORE", 0x8000),
    ("MSG_ZEROCOPY", 0x400_0000),
    ("MSG_FASTOPEN", 0x2000_0000),
    ("F_GETFL", 3),
    ("F_SETFL", 4),
    ("O_RDONLY", 0),
    ("O_WRONLY", 1),
    ("O_RDWR", 2),
    ("O_NONBLOCK", 0o4000),
    ("SHUT_RD", 0),
    ("SHUT_WR", 1),
    ("SHUT_RDWR", 2),
    ("SIOCINQ", 0x541b),
    ("FIONREAD", 0x541b),
    ("SIOCOUTQ", 0x5411),
    ("POLLIN", 1),
    ("POLLPRI", 2),
    ("POLLOUT", 4),
    ("POLLERR", 8),
    ("POLLHUP", 16),
    ("POLLRDHUP", 0x2000),
    ("EPOLLIN", 1),
    ("EPOLLPRI", 2),
    ("EPOLLOUT", 4),
    ("EPOLLERR", 8),
    ("EPOLLHUP", 16),
    ("EPOLLRDHUP", 0x2000),
    ("EPOLLEXCLUSIVE", 1 << 28),
    ("EPOLLONESHOT", 1 << 30),
    ("EPOLLET", 1 << 31),
    ("EPOLL_CTL_ADD", 1),
    ("EPOLL_CTL_DEL", 2),
    ("EPOLL_CTL_MOD", 3),
];

/// The number of a constant.
pub fn number(name: &str) -> Option<i64> {
    TABLE.iter().find(|(n, _)| *n == name).map(|(_, number)| *number)
}

/// All names, for "did you mean".
pub fn names() -> Vec<&'static str> {
    TABLE.iter().map(|(name, _)| *name).collect()
}
