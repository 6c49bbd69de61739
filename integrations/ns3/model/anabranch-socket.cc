// SPDX-License-Identifier: GPL-2.0-only
#include "anabranch-socket.h"

#include "anabranch-l4-protocol.h"

#include <algorithm>
#include <ns3/double.h>
#include <ns3/log.h>
#include <ns3/simulator.h>
#include <ns3/string.h>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("AnabranchSocket");
NS_OBJECT_ENSURE_REGISTERED(AnabranchSocket);

TypeId
AnabranchSocket::GetTypeId()
{
    typedef AnabranchSocket S;
    static TypeId tid = TypeId("ns3::AnabranchSocket")
                            .SetParent<TcpSocket>()
                            .SetGroupName("Anabranch")
                            .AddConstructor<S>()
                            .AddAttribute("Profile",
                                          "As that of ns3::AnabranchL4Protocol, for this socket; empty: the node's.",
                                          StringValue(""),
                                          MakeStringAccessor(&S::m_profile),
                                          MakeStringChecker())
                            .AddAttribute("Controller",
                                          "As that of ns3::AnabranchL4Protocol, for this socket; empty: the node's.",
                                          StringValue(""),
                                          MakeStringAccessor(&S::m_controller),
                                          MakeStringChecker())
                            .AddAttribute("Scheduler",
                                          "As that of ns3::AnabranchL4Protocol, for this socket; empty: the node's.",
                                          StringValue(""),
                                          MakeStringAccessor(&S::m_scheduler),
                                          MakeStringChecker())
                            .AddAttribute("Connection",
                                          "As that of ns3::AnabranchL4Protocol, for this socket; empty: the node's.",
                                          StringValue(""),
                                          MakeStringAccessor(&S::m_connectionText),
                                          MakeStringChecker())
                            .AddAttribute("MaxSegLifetime",
                                          "Half of the duration of TIME-WAIT, in s; negative: the default of "
                                          "ns3::TcpSocketBase. Some applications set it on their sockets.",
                                          DoubleValue(-1),
                                          MakeDoubleAccessor(&S::m_segLifetime),
                                          MakeDoubleChecker<double>());
    return tid;
}

AnabranchSocket::AnabranchSocket()
    : m_protocol(nullptr),
      m_errno(ERROR_NOTERROR),
      m_connection(0),
      m_tuple{},
      m_dropAt(64),
      m_accepted(0),
      m_written(0),
      m_sentNow(0),
      m_read(0),
      m_bound(false),
      m_connecting(false),
      m_fromListener(false),
      m_connected(false),
      m_peerIsPlain(false),
      m_writeClosed(false),
      m_closed(false),
      m_recvClosed(false),
      m_ended(false),
      m_notified(false),
      m_set{}
{
}

AnabranchSocket::~AnabranchSocket()
{
    if (m_protocol)
    {
        if (m_bound)
        {
            m_protocol->ReleasePort(m_tuple.local.port);
        }
        m_protocol->m_all.erase(this);
    }
}

void
AnabranchSocket::DoDispose()
{
    m_out.clear();
    m_in.clear();
    TcpSocket::DoDispose();
}

int
AnabranchSocket::Fail(SocketErrno error) const
{
    m_errno = error;
    return -1;
}

enum Socket::SocketErrno
AnabranchSocket::GetErrno() const
{
    return m_errno;
}

enum Socket::SocketType
AnabranchSocket::GetSocketType() const
{
    return NS3_SOCK_STREAM;
}

Ptr<Node>
AnabranchSocket::GetNode() const
{
    return m_node;
}

uint64_t
AnabranchSocket::GetConnection() const
{
    return m_connection;
}

// ---- opening ------------------------------------------------------------------------------------

int
AnabranchSocket::Bind()
{
    return Bind(InetSocketAddress(Ipv4Address::GetAny(), 0));
}

int
AnabranchSocket::Bind6()
{
    return Bind(Inet6SocketAddress(Ipv6Address::GetAny(), 0));
}

int
AnabranchSocket::Bind(const Address& address)
{
    anabranch_address local;
    if (!ToEngine(address, local))
    {
        return Fail(ERROR_AFNOSUPPORT);
    }
    if (!m_protocol || m_bound || m_connection)
    {
        return Fail(ERROR_INVAL);
    }
    m_protocol->Sweep();
    if (local.port == 0)
    {
        local.port = m_protocol->DrawPort();
        if (local.port == 0)
        {
            return Fail(ERROR_ADDRNOTAVAIL);
        }
    }
    else if (m_protocol->IsBound(local.port))
    {
        return Fail(ERROR_ADDRINUSE);
    }
    m_tuple.local = local;
    m_bound = true;
    m_protocol->m_ports[local.port]++;
    return 0;
}

int
AnabranchSocket::Listen()
{
    if (!m_protocol || !m_bound || m_connecting || m_closed)
    {
        return Fail(ERROR_INVAL);
    }
    auto config = MakeConfig();
    const int code = anabranch_listen(m_protocol->m_host, m_tuple.local.port, config, 0);
    anabranch_config_free(config);
    if (code < 0)
    {
        return Fail(ERROR_INVAL);
    }
    m_protocol->m_listeners[m_tuple.local.port] = this;
    return 0;
}

int
AnabranchSocket::Connect(const Address& address)
{
    anabranch_address remote;
    if (!ToEngine(address, remote))
    {
        return Fail(ERROR_AFNOSUPPORT);
    }
    if (m_connecting || m_connection)
    {
        return Fail(ERROR_ISCONN);
    }
    if (!m_protocol || m_closed || remote.port == 0 || m_protocol->m_listeners.count(m_tuple.local.port))
    {
        return Fail(ERROR_INVAL);
    }
    const bool any = m_tuple.local.family == 0 || IsUnspecified(m_tuple.local);
    if (!any && m_tuple.local.family != remote.family)
    {
        return Fail(ERROR_AFNOSUPPORT);
    }
    m_tuple.remote = remote;
    m_connecting = true;
    if (Simulator::Now().IsZero() && Simulator::GetEventCount() == 0)
    {
        // Addresses and routes may still be made.
        Simulator::ScheduleNow(&AnabranchSocket::ConnectLater, Ptr<AnabranchSocket>(this));
        return 0;
    }
    const int code = ConnectNow();
    m_connecting = code == 0;
    return code;
}

void
AnabranchSocket::ConnectLater()
{
    if (m_protocol && !m_closed && ConnectNow() < 0)
    {
        m_connecting = false;
        NotifyConnectionFailed();
    }
}

int
AnabranchSocket::ConnectNow()
{
    if (m_tuple.local.family == 0 || IsUnspecified(m_tuple.local))
    {
        const uint16_t port = m_tuple.local.port;
        const auto local = m_protocol->SourceFor(m_tuple.remote);
        if (local.family == 0)
        {
            return Fail(ERROR_NOROUTETOHOST);
        }
        m_tuple.local = local;
        m_tuple.local.port = port;
    }
    else if (!m_protocol->HasRoute(m_tuple, false))
    {
        return Fail(ERROR_NOROUTETOHOST);
    }
    auto host = m_protocol->m_host;
    if (m_tuple.local.port == 0 && anabranch_draw_port(host, &m_tuple, &m_tuple.local.port) < 0)
    {
        return Fail(ERROR_ADDRNOTAVAIL);
    }
    auto config = MakeConfig();
    const int code = anabranch_connect(host, m_protocol->Now(), &m_tuple, config, &m_connection);
    anabranch_config_free(config);
    if (code < 0)
    {
        NS_LOG_WARN(anabranch_last_error());
        m_connection = 0;
        return Fail(code == ANABRANCH_IN_USE ? ERROR_ADDRINUSE : ERROR_INVAL);
    }
    anabranch_set_option(host, m_protocol->Now(), m_connection, ANABRANCH_OPTION_SYN_RETRIES, m_set.synRetries);
    m_protocol->m_sockets[m_connection] = this;
    m_protocol->Bind(m_connection, 0, m_tuple);
    m_protocol->ManagePaths(m_connection, true, m_tuple.local.family);
    m_protocol->PumpSoon();
    return 0;
}

Ptr<AnabranchSocket>
AnabranchSocket::Fork(uint64_t connection, const anabranch_tuple& tuple)
{
    auto socket = DynamicCast<AnabranchSocket>(m_protocol->CreateSocket());
    socket->m_connection = connection;
    socket->m_connecting = true;
    socket->m_fromListener = true;
    socket->m_tuple = tuple;
    socket->m_set = m_set;
    socket->m_profile = m_profile;
    socket->m_controller = m_controller;
    socket->m_scheduler = m_scheduler;
    socket->m_connectionText = m_connectionText;
    socket->m_segLifetime = m_segLifetime;
    socket->SetIpTos(GetIpTos());
    socket->SetPriority(GetPriority());
    if (IsManualIpTtl())
    {
        socket->SetIpTtl(GetIpTtl());
    }
    if (IsManualIpv6HopLimit())
    {
        socket->SetIpv6HopLimit(GetIpv6HopLimit());
    }
    if (IsManualIpv6Tclass())
    {
        socket->SetIpv6Tclass(GetIpv6Tclass());
    }
    return socket;
}

int
AnabranchSocket::OpenSubflow(const Address& local, const Address& remote, bool backup)
{
    anabranch_tuple tuple{};
    if (!ToEngine(local, tuple.local) || !ToEngine(remote, tuple.remote) ||
        tuple.local.family != tuple.remote.family)
    {
        return Fail(ERROR_AFNOSUPPORT);
    }
    if (!m_protocol || !m_connection)
    {
        return Fail(ERROR_NOTCONN);
    }
    if (!m_protocol->HasRoute(tuple, false))
    {
        return Fail(ERROR_NOROUTETOHOST);
    }
    auto host = m_protocol->m_host;
    if (tuple.local.port == 0 && anabranch_draw_port(host, &tuple, &tuple.local.port) < 0)
    {
        return Fail(ERROR_ADDRNOTAVAIL);
    }
    uint32_t subflow;
    switch (anabranch_open_subflow(host, m_connection, &tuple, backup, &subflow))
    {
    case ANABRANCH_OK:
        m_protocol->Bind(m_connection, subflow, tuple);
        m_protocol->Pump();
        return 0;
    case ANABRANCH_NOT_YET:
        return Fail(ERROR_AGAIN);
    case ANABRANCH_NEVER:
        return Fail(ERROR_OPNOTSUPP);
    case ANABRANCH_IN_USE:
        return Fail(ERROR_ADDRINUSE);
    case ANABRANCH_GONE:
        return Fail(ERROR_NOTCONN);
    default:
        return Fail(ERROR_INVAL);
    }
}

int
AnabranchSocket::SetBackup(uint32_t subflow, bool backup)
{
    if (!m_protocol || anabranch_set_backup(m_protocol->m_host, m_connection, subflow, backup) < 0)
    {
        return Fail(ERROR_INVAL);
    }
    m_protocol->Pump();
    return 0;
}

bool
AnabranchSocket::GetSubflow(uint32_t subflow, anabranch_subflow_info& info) const
{
    info.size = sizeof info;
    return m_protocol && m_connection &&
           anabranch_subflow_state(m_protocol->m_host, m_protocol->Now(), m_connection, subflow, &info) ==
               ANABRANCH_OK;
}

// ---- events -------------------------------------------------------------------------------------

void
AnabranchSocket::OnConnected()
{
    m_connected = true;
    if (!m_fromListener)
    {
        NotifyConnectionSucceeded();
    }
    else
    {
        const auto listener = m_protocol->m_listeners.find(m_tuple.local.port);
        const Ptr<AnabranchSocket> accepting =
            listener == m_protocol->m_listeners.end() ? nullptr : listener->second;
        const Address from = ToSocketAddress(m_tuple.remote);
        if (!accepting || !accepting->NotifyConnectionRequest(from))
        {
            m_closed = m_writeClosed = m_notified = true;
            anabranch_abort(m_protocol->m_host, m_connection);
            return;
        }
        accepting->NotifyNewConnectionCreated(this, from);
    }
    if (m_protocol && GetTxAvailable() > 0)
    {
        NotifySend(GetTxAvailable());
    }
}

void
AnabranchSocket::NotifyEnd(bool orderly)
{
    if (m_notified)
    {
        return;
    }
    m_notified = true;
    if (!m_connected)
    {
        NotifyConnectionFailed();
    }
    else if (orderly)
    {
        NotifyNormalClose();
    }
    else
    {
        NotifyErrorClose();
    }
}

void
AnabranchSocket::OnEvent(const anabranch_event& event)
{
    switch (event.kind)
    {
    case ANABRANCH_EVENT_CONNECTED:
        OnConnected();
        break;
    case ANABRANCH_EVENT_WRITABLE:
        DropAcknowledged();
        WriteMore();
        if (GetTxAvailable() > 0)
        {
            NotifySend(GetTxAvailable());
        }
        break;
    case ANABRANCH_EVENT_READABLE:
        if (m_recvClosed)
        {
            Discard();
        }
        else if (m_connected && GetRxAvailable() > 0)
        {
            NotifyDataRecv();
        }
        break;
    case ANABRANCH_EVENT_END_OF_STREAM:
        m_ended = true;
        NotifyEnd(true);
        break;
    case ANABRANCH_EVENT_CLOSED:
        NotifyEnd(true);
        break;
    case ANABRANCH_EVENT_ABORTED:
        m_writeClosed = m_ended = true;
        NotifyEnd(false);
        break;
    default:
        break;
    }
}

// ---- sending ------------------------------------------------------------------------------------

uint32_t
AnabranchSocket::GetTxAvailable() const
{
    // A packet that the engine has taken only in part blocks the application.
    return !m_connected || m_written < m_accepted || m_writeClosed ? 0 : m_set.sndBuf;
}

int
AnabranchSocket::Send(Ptr<Packet> p, uint32_t)
{
    if (!m_protocol || !m_connected)
    {
        return Fail(ERROR_NOTCONN);
    }
    if (m_writeClosed)
    {
        return Fail(ERROR_SHUTDOWN);
    }
    const uint32_t size = p->GetSize();
    if (size > GetTxAvailable())
    {
        return Fail(ERROR_MSGSIZE);
    }
    if (size > 0)
    {
        auto octets = p->Copy();
        octets->RemoveAllPacketTags();
        m_out.push_back({m_accepted, octets});
        m_accepted += size;
        if (m_out.size() >= m_dropAt)
        {
            DropAcknowledged();
            m_dropAt = std::max<size_t>(64, 2 * m_out.size());
        }
        WriteMore();
        m_protocol->Pump();
    }
    return size;
}

int
AnabranchSocket::SendTo(Ptr<Packet> p, uint32_t flags, const Address&)
{
    return Send(p, flags);
}

void
AnabranchSocket::WriteMore()
{
    if (m_written < m_accepted)
    {
        // The engine writes short: only so it knows that the application is blocked.
        uint64_t taken = 0;
        anabranch_write_count(m_protocol->m_host, m_connection, m_accepted - m_written, &taken);
        m_written += taken;
    }
    if (m_written == m_accepted && m_closed)
    {
        anabranch_close(m_protocol->m_host, m_connection);
    }
    else if (m_written == m_accepted && m_writeClosed)
    {
        anabranch_shutdown_write(m_protocol->m_host, m_connection);
    }
}

void
AnabranchSocket::DropAcknowledged()
{
    uint64_t needed;
    if (anabranch_needed_from(m_protocol->m_host, m_connection, &needed) == ANABRANCH_OK)
    {
        while (!m_out.empty() && m_out.front().offset + m_out.front().octets->GetSize() <= needed)
        {
            m_out.pop_front();
        }
    }
}

Ptr<Packet>
AnabranchSocket::Octets(uint64_t offset, uint32_t length) const
{
    auto after = [](uint64_t at, const Piece& piece) { return at < piece.offset; };
    auto piece = std::upper_bound(m_out.begin(), m_out.end(), offset, after);
    NS_ABORT_MSG_IF(piece == m_out.begin(), "Anabranch: octets that were dropped are sent again");
    --piece;
    Ptr<Packet> packet;
    while (length > 0)
    {
        const uint32_t from = offset - piece->offset;
        const uint32_t count = std::min(length, piece->octets->GetSize() - from);
        auto part = piece->octets->CreateFragment(from, count);
        if (packet)
        {
            packet->AddAtEnd(part);
        }
        else
        {
            packet = part;
        }
        offset += count;
        length -= count;
        ++piece;
    }
    return packet;
}

void
AnabranchSocket::Tag(Ptr<Packet> segment, uint8_t ecn) const
{
    if (m_tuple.local.family == 4)
    {
        const uint8_t tos = (GetIpTos() & 0xfc) | ecn;
        if (tos != 0)
        {
            SocketIpTosTag tag;
            tag.SetTos(tos);
            segment->ReplacePacketTag(tag);
        }
        if (IsManualIpTtl())
        {
            SocketIpTtlTag tag;
            tag.SetTtl(GetIpTtl());
            segment->ReplacePacketTag(tag);
        }
    }
    else
    {
        const uint8_t tclass = ((IsManualIpv6Tclass() ? GetIpv6Tclass() : 0) & 0xfc) | ecn;
        if (tclass != 0)
        {
            SocketIpv6TclassTag tag;
            tag.SetTclass(tclass);
            segment->ReplacePacketTag(tag);
        }
        if (IsManualIpv6HopLimit())
        {
            SocketIpv6HopLimitTag tag;
            tag.SetHopLimit(GetIpv6HopLimit());
            segment->ReplacePacketTag(tag);
        }
    }
    if (GetPriority() != 0)
    {
        SocketPriorityTag tag;
        tag.SetPriority(GetPriority());
        segment->ReplacePacketTag(tag);
    }
}

void
AnabranchSocket::ReportSent()
{
    if (m_sentNow > 0)
    {
        const uint32_t sent = m_sentNow;
        m_sentNow = 0;
        NotifyDataSent(sent);
    }
}

// ---- receiving ----------------------------------------------------------------------------------

void
AnabranchSocket::Place(uint64_t offset, uint32_t length, Ptr<Packet> payload)
{
    payload->RemoveAllPacketTags();
    const uint64_t end = offset + length;
    uint64_t start = std::max(offset, m_read);
    while (start < end)
    {
        // Octets that are there already stay.
        const auto next = m_in.upper_bound(start);
        if (next != m_in.begin())
        {
            const auto before = std::prev(next);
            start = std::max(start, before->first + before->second->GetSize());
        }
        const uint64_t stop = next == m_in.end() ? end : std::min(end, next->first);
        if (start < stop)
        {
            const bool whole = stop - start == payload->GetSize();
            m_in.emplace_hint(next,
                              start,
                              whole ? payload : payload->CreateFragment(start - offset, stop - start));
        }
        start = std::max(start, stop);
    }
}

uint32_t
AnabranchSocket::GetRxAvailable() const
{
    anabranch_connection_info info{};
    info.size = sizeof info;
    if (!m_protocol || !m_connection || m_recvClosed ||
        anabranch_connection_state(m_protocol->m_host, m_connection, &info) < 0)
    {
        return 0;
    }
    return info.readable;
}

Ptr<Packet>
AnabranchSocket::Recv(uint32_t maxSize, uint32_t)
{
    uint64_t count = 0;
    if (m_protocol && m_connection && !m_recvClosed)
    {
        anabranch_read_count(m_protocol->m_host, m_connection, maxSize, &count);
    }
    if (count == 0)
    {
        if (m_ended)
        {
            return Create<Packet>();
        }
        m_errno = ERROR_AGAIN;
        return nullptr;
    }
    Ptr<Packet> packet;
    while (count > 0)
    {
        auto first = m_in.begin();
        NS_ABORT_MSG_IF(first == m_in.end() || first->first != m_read, "Anabranch: octets in order are missing");
        auto octets = first->second;
        m_in.erase(first);
        const uint32_t size = octets->GetSize();
        const uint32_t part = std::min<uint64_t>(count, size);
        if (part < size)
        {
            m_in.emplace(m_read + part, octets->CreateFragment(part, size - part));
            octets = octets->CreateFragment(0, part);
        }
        if (packet)
        {
            packet->AddAtEnd(octets);
        }
        else
        {
            packet = octets;
        }
        m_read += part;
        count -= part;
    }
    m_protocol->Pump();
    return packet;
}

Ptr<Packet>
AnabranchSocket::RecvFrom(uint32_t maxSize, uint32_t flags, Address& from)
{
    auto packet = Recv(maxSize, flags);
    if (packet && packet->GetSize() > 0)
    {
        from = ToSocketAddress(m_tuple.remote);
    }
    return packet;
}

void
AnabranchSocket::Discard()
{
    uint64_t count = 0;
    anabranch_read_count(m_protocol->m_host, m_connection, UINT64_MAX, &count);
    m_read += count;
    while (!m_in.empty() && m_in.begin()->first < m_read)
    {
        m_in.erase(m_in.begin());
    }
    m_protocol->Pump();
}

// ---- ending -------------------------------------------------------------------------------------

int
AnabranchSocket::ShutdownSend()
{
    if (!m_protocol || !m_connection)
    {
        return Fail(ERROR_NOTCONN);
    }
    m_writeClosed = true;
    WriteMore();
    m_protocol->Pump();
    return 0;
}

int
AnabranchSocket::ShutdownRecv()
{
    if (!m_protocol || !m_connection)
    {
        return Fail(ERROR_NOTCONN);
    }
    m_recvClosed = true;
    Discard();
    return 0;
}

int
AnabranchSocket::Close()
{
    const Ptr<AnabranchSocket> self = this;
    if (!m_protocol || m_closed)
    {
        return 0;
    }
    m_closed = m_writeClosed = true;
    if (m_bound)
    {
        const uint16_t port = m_tuple.local.port;
        auto listener = m_protocol->m_listeners.find(port);
        if (listener != m_protocol->m_listeners.end() && PeekPointer(listener->second) == this)
        {
            anabranch_stop_listening(m_protocol->m_host, port);
            m_protocol->m_listeners.erase(listener);
        }
        m_bound = false;
        m_protocol->ReleasePort(port);
    }
    if (m_connection)
    {
        WriteMore();
        m_protocol->Pump();
    }
    return 0;
}

int
AnabranchSocket::GetSockName(Address& address) const
{
    address = ToSocketAddress(m_tuple.local);
    return 0;
}

int
AnabranchSocket::GetPeerName(Address& address) const
{
    if (!m_connecting)
    {
        return Fail(ERROR_NOTCONN);
    }
    address = ToSocketAddress(m_tuple.remote);
    return 0;
}

bool
AnabranchSocket::SetAllowBroadcast(bool allow)
{
    return !allow;
}

bool
AnabranchSocket::GetAllowBroadcast() const
{
    return false;
}

// ---- attributes of TcpSocket --------------------------------------------------------------------

void
AnabranchSocket::SetSndBufSize(uint32_t value)
{
    m_set.sndBuf = value;
}

uint32_t
AnabranchSocket::GetSndBufSize() const
{
    return m_set.sndBuf;
}

void
AnabranchSocket::SetRcvBufSize(uint32_t value)
{
    m_set.rcvBuf = value;
}

uint32_t
AnabranchSocket::GetRcvBufSize() const
{
    return m_set.rcvBuf;
}

void
AnabranchSocket::SetSegSize(uint32_t value)
{
    m_set.segSize = value;
}

uint32_t
AnabranchSocket::GetSegSize() const
{
    return m_set.segSize;
}

void
AnabranchSocket::SetInitialSSThresh(uint32_t value)
{
    m_set.ssthresh = value;
}

uint32_t
AnabranchSocket::GetInitialSSThresh() const
{
    return m_set.ssthresh;
}

void
AnabranchSocket::SetInitialCwnd(uint32_t value)
{
    m_set.initialCwnd = value;
}

uint32_t
AnabranchSocket::GetInitialCwnd() const
{
    return m_set.initialCwnd;
}

void
AnabranchSocket::SetConnTimeout(Time value)
{
    m_set.connTimeout = value;
}

Time
AnabranchSocket::GetConnTimeout() const
{
    return m_set.connTimeout;
}

void
AnabranchSocket::SetSynRetries(uint32_t value)
{
    m_set.synRetries = value;
}

uint32_t
AnabranchSocket::GetSynRetries() const
{
    return m_set.synRetries;
}

void
AnabranchSocket::SetDataRetries(uint32_t value)
{
    m_set.dataRetries = value;
}

uint32_t
AnabranchSocket::GetDataRetries() const
{
    return m_set.dataRetries;
}

void
AnabranchSocket::SetDelAckTimeout(Time value)
{
    m_set.delAck = value;
}

Time
AnabranchSocket::GetDelAckTimeout() const
{
    return m_set.delAck;
}

void
AnabranchSocket::SetDelAckMaxCount(uint32_t value)
{
    m_set.delAckCount = value;
}

uint32_t
AnabranchSocket::GetDelAckMaxCount() const
{
    return m_set.delAckCount;
}

void
AnabranchSocket::SetTcpNoDelay(bool value)
{
    m_set.noDelay = value;
}

bool
AnabranchSocket::GetTcpNoDelay() const
{
    return m_set.noDelay;
}

void
AnabranchSocket::SetPersistTimeout(Time value)
{
    m_set.persist = value;
}

Time
AnabranchSocket::GetPersistTimeout() const
{
    return m_set.persist;
}

} // namespace ns3
