// SPDX-License-Identifier: GPL-2.0-only
#include "anabranch-socket.h"

#include "anabranch-l4-protocol.h"

#include <algorithm>
#include <ns3/ipv4-routing-protocol.h>
#include <ns3/log.h>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("AnabranchSocket");
NS_OBJECT_ENSURE_REGISTERED(AnabranchSocket);

TypeId
AnabranchSocket::GetTypeId()
{
    static TypeId tid = TypeId("ns3::AnabranchSocket")
                            .SetParent<TcpSocket>()
                            .SetGroupName("Anabranch")
                            .AddConstructor<AnabranchSocket>();
    return tid;
}

AnabranchSocket::AnabranchSocket()
    : m_protocol(nullptr),
      m_errno(ERROR_NOTERROR),
      m_connection(0),
      m_tuple{},
      m_accepted(0),
      m_written(0),
      m_read(0),
      m_connected(false),
      m_closing(false),
      m_notified(false),
      m_sndBuf(131072),
      m_rcvBuf(131072),
      m_segSize(536),
      m_ssthresh(UINT32_MAX),
      m_initialCwnd(10),
      m_synRetries(6),
      m_dataRetries(6),
      m_delAckCount(2),
      m_noDelay(true)
{
}

int
AnabranchSocket::Fail(SocketErrno error) const
{
    m_errno = error;
    return -1;
}

bool
AnabranchSocket::IsOpen() const
{
    anabranch_connection_info info{};
    info.size = sizeof info;
    return m_connection && anabranch_connection_state(m_protocol->m_host, m_connection, &info) == ANABRANCH_OK;
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

int
AnabranchSocket::Bind()
{
    m_tuple.local = AnabranchAddress(Ipv4Address::GetAny(), 0);
    return 0;
}

int
AnabranchSocket::Bind6()
{
    return Fail(ERROR_AFNOSUPPORT);
}

int
AnabranchSocket::Bind(const Address& address)
{
    if (!InetSocketAddress::IsMatchingType(address))
    {
        return Fail(ERROR_AFNOSUPPORT);
    }
    const auto local = InetSocketAddress::ConvertFrom(address);
    if (m_protocol->m_listeners.count(local.GetPort()))
    {
        return Fail(ERROR_ADDRINUSE);
    }
    m_tuple.local = AnabranchAddress(local.GetIpv4(), local.GetPort());
    return 0;
}

int
AnabranchSocket::Listen()
{
    const uint16_t port = m_tuple.local.port;
    if (m_connection || port == 0)
    {
        return Fail(ERROR_INVAL);
    }
    auto config = m_protocol->MakeConfig(this);
    const int code = anabranch_listen(m_protocol->m_host, port, config, 0);
    anabranch_config_free(config);
    if (code < 0)
    {
        return Fail(ERROR_INVAL);
    }
    m_protocol->m_listeners[port] = this;
    m_protocol->m_ports[port]++;
    return 0;
}

int
AnabranchSocket::Connect(const Address& address)
{
    if (!InetSocketAddress::IsMatchingType(address))
    {
        return Fail(ERROR_AFNOSUPPORT);
    }
    if (m_connection)
    {
        return Fail(ERROR_ISCONN);
    }
    const auto remote = InetSocketAddress::ConvertFrom(address);
    m_tuple.remote = AnabranchAddress(remote.GetIpv4(), remote.GetPort());
    if (m_tuple.local.family == 0 || Ipv4Address::Deserialize(m_tuple.local.octets).IsAny())
    {
        Ipv4Header header;
        header.SetDestination(remote.GetIpv4());
        SocketErrno error;
        auto route =
            m_protocol->m_ipv4->GetRoutingProtocol()->RouteOutput(Create<Packet>(), header, nullptr, error);
        if (!route)
        {
            return Fail(ERROR_NOROUTETOHOST);
        }
        m_tuple.local = AnabranchAddress(route->GetSource(), m_tuple.local.port);
    }
    auto host = m_protocol->m_host;
    if (m_tuple.local.port == 0 && anabranch_draw_port(host, &m_tuple, &m_tuple.local.port) < 0)
    {
        return Fail(ERROR_ADDRNOTAVAIL);
    }
    auto config = m_protocol->MakeConfig(this);
    const int code = anabranch_connect(host, m_protocol->Now(), &m_tuple, config, &m_connection);
    anabranch_config_free(config);
    if (code < 0)
    {
        m_connection = 0;
        return Fail(ERROR_ADDRINUSE);
    }
    m_protocol->m_sockets[m_connection] = this;
    m_protocol->m_ports[m_tuple.local.port]++;
    m_protocol->ManagePaths(m_connection, true);
    m_protocol->PumpSoon();
    return 0;
}

Ptr<AnabranchSocket>
AnabranchSocket::Fork(uint64_t connection, const anabranch_tuple& tuple)
{
    auto socket = DynamicCast<AnabranchSocket>(m_protocol->CreateSocket());
    socket->m_connection = connection;
    socket->m_tuple = tuple;
    socket->m_sndBuf = m_sndBuf;
    socket->m_rcvBuf = m_rcvBuf;
    socket->m_segSize = m_segSize;
    return socket;
}

void
AnabranchSocket::OnEvent(const anabranch_event& event)
{
    switch (event.kind)
    {
    case ANABRANCH_EVENT_CONNECTED: {
        m_connected = true;
        auto listener = m_protocol->m_listeners.find(m_tuple.local.port);
        if (listener != m_protocol->m_listeners.end())
        {
            Ptr<AnabranchSocket> accepting = listener->second;
            const Address from =
                InetSocketAddress(Ipv4Address::Deserialize(m_tuple.remote.octets), m_tuple.remote.port);
            if (accepting->NotifyConnectionRequest(from))
            {
                accepting->NotifyNewConnectionCreated(this, from);
                NotifySend(GetTxAvailable());
            }
            else
            {
                anabranch_abort(m_protocol->m_host, m_connection);
            }
            break;
        }
        NotifyConnectionSucceeded();
        NotifySend(GetTxAvailable());
        break;
    }
    case ANABRANCH_EVENT_WRITABLE:
        DropAcknowledged();
        WriteMore();
        if (m_written == m_accepted && !m_closing)
        {
            NotifySend(GetTxAvailable());
        }
        break;
    case ANABRANCH_EVENT_READABLE:
        NotifyDataRecv();
        break;
    case ANABRANCH_EVENT_END_OF_STREAM:
    case ANABRANCH_EVENT_CLOSED:
        if (!m_notified)
        {
            m_notified = true;
            NotifyNormalClose();
        }
        break;
    case ANABRANCH_EVENT_ABORTED:
        if (!m_connected)
        {
            NotifyConnectionFailed();
        }
        else if (!m_notified)
        {
            m_notified = true;
            NotifyErrorClose();
        }
        break;
    default:
        break;
    }
}

uint32_t
AnabranchSocket::GetTxAvailable() const
{
    // A packet that the engine has taken only in part blocks the application.
    return m_written < m_accepted || m_closing ? 0 : m_sndBuf;
}

int
AnabranchSocket::Send(Ptr<Packet> p, uint32_t flags)
{
    if (!m_connected || m_connection == 0)
    {
        return Fail(ERROR_NOTCONN);
    }
    if (m_closing)
    {
        return Fail(ERROR_SHUTDOWN);
    }
    if (p->GetSize() > GetTxAvailable())
    {
        return Fail(ERROR_MSGSIZE);
    }
    if (p->GetSize() > 0)
    {
        m_out.push_back({m_accepted, p->Copy()});
        m_accepted += p->GetSize();
        WriteMore();
        m_protocol->Pump();
    }
    return p->GetSize();
}

int
AnabranchSocket::SendTo(Ptr<Packet> p, uint32_t flags, const Address&)
{
    return Send(p, flags);
}

void
AnabranchSocket::WriteMore()
{
    uint64_t taken = 0;
    if (m_written < m_accepted)
    {
        anabranch_write_count(m_protocol->m_host, m_connection, m_accepted - m_written, &taken);
        m_written += taken;
    }
    if (m_closing && m_written == m_accepted)
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
AnabranchSocket::Octets(uint64_t offset, uint32_t length)
{
    auto after = [](uint64_t at, const Piece& piece) { return at < piece.offset; };
    auto piece = std::upper_bound(m_out.begin(), m_out.end(), offset, after);
    NS_ASSERT_MSG(piece != m_out.begin(), "octets that were dropped are sent again");
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
AnabranchSocket::Place(uint64_t offset, Ptr<Packet> octets)
{
    // Octets that are there already stay.
    while (octets->GetSize() > 0)
    {
        const uint64_t end = offset + octets->GetSize();
        uint64_t start = std::max(offset, m_read);
        auto next = m_in.upper_bound(start);
        if (next != m_in.begin())
        {
            auto before = std::prev(next);
            start = std::max(start, before->first + before->second->GetSize());
        }
        if (start >= end)
        {
            return;
        }
        next = m_in.lower_bound(start);
        const uint64_t stop = next == m_in.end() ? end : std::min(end, next->first);
        if (stop > start)
        {
            m_in[start] = octets->CreateFragment(start - offset, stop - start);
        }
        octets = octets->CreateFragment(stop - offset, end - stop);
        offset = stop;
    }
}

uint32_t
AnabranchSocket::GetRxAvailable() const
{
    anabranch_connection_info info{};
    info.size = sizeof info;
    if (!m_connection || anabranch_connection_state(m_protocol->m_host, m_connection, &info) < 0)
    {
        return 0;
    }
    return info.readable;
}

Ptr<Packet>
AnabranchSocket::Recv(uint32_t maxSize, uint32_t flags)
{
    uint64_t count = 0;
    if (m_connection)
    {
        anabranch_read_count(m_protocol->m_host, m_connection, maxSize, &count);
    }
    if (count == 0)
    {
        return IsOpen() ? nullptr : Create<Packet>();
    }
    auto packet = Create<Packet>();
    while (count > 0)
    {
        auto first = m_in.begin();
        NS_ASSERT_MSG(first != m_in.end() && first->first == m_read, "octets in order are missing");
        auto octets = first->second;
        m_in.erase(first);
        const uint32_t size = octets->GetSize();
        const uint32_t part = std::min<uint64_t>(count, size);
        if (part < size)
        {
            m_in[m_read + part] = octets->CreateFragment(part, size - part);
            octets = octets->CreateFragment(0, part);
        }
        packet->AddAtEnd(octets);
        m_read += part;
        count -= part;
    }
    m_protocol->Pump();
    return packet;
}

Ptr<Packet>
AnabranchSocket::RecvFrom(uint32_t maxSize, uint32_t flags, Address& from)
{
    GetPeerName(from);
    return Recv(maxSize, flags);
}

int
AnabranchSocket::ShutdownSend()
{
    if (!m_connection)
    {
        return Fail(ERROR_NOTCONN);
    }
    m_closing = true;
    WriteMore();
    m_protocol->Pump();
    return 0;
}

int
AnabranchSocket::ShutdownRecv()
{
    return 0;
}

int
AnabranchSocket::Close()
{
    if (m_connection)
    {
        return ShutdownSend();
    }
    auto listener = m_protocol->m_listeners.find(m_tuple.local.port);
    if (listener != m_protocol->m_listeners.end() && PeekPointer(listener->second) == this)
    {
        Ptr<AnabranchSocket> self = this;
        anabranch_stop_listening(m_protocol->m_host, m_tuple.local.port);
        m_protocol->m_listeners.erase(listener);
    }
    return 0;
}

int
AnabranchSocket::GetSockName(Address& address) const
{
    address = InetSocketAddress(Ipv4Address::Deserialize(m_tuple.local.octets), m_tuple.local.port);
    return 0;
}

int
AnabranchSocket::GetPeerName(Address& address) const
{
    if (!m_connection)
    {
        return Fail(ERROR_NOTCONN);
    }
    address = InetSocketAddress(Ipv4Address::Deserialize(m_tuple.remote.octets), m_tuple.remote.port);
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

void
AnabranchSocket::SetSndBufSize(uint32_t value)
{
    m_sndBuf = value;
}

uint32_t
AnabranchSocket::GetSndBufSize() const
{
    return m_sndBuf;
}

void
AnabranchSocket::SetRcvBufSize(uint32_t value)
{
    m_rcvBuf = value;
}

uint32_t
AnabranchSocket::GetRcvBufSize() const
{
    return m_rcvBuf;
}

void
AnabranchSocket::SetSegSize(uint32_t value)
{
    m_segSize = value;
}

uint32_t
AnabranchSocket::GetSegSize() const
{
    return m_segSize;
}

void
AnabranchSocket::SetInitialSSThresh(uint32_t value)
{
    m_ssthresh = value;
}

uint32_t
AnabranchSocket::GetInitialSSThresh() const
{
    return m_ssthresh;
}

void
AnabranchSocket::SetInitialCwnd(uint32_t value)
{
    m_initialCwnd = value;
}

uint32_t
AnabranchSocket::GetInitialCwnd() const
{
    return m_initialCwnd;
}

void
AnabranchSocket::SetConnTimeout(Time value)
{
    m_connTimeout = value;
}

Time
AnabranchSocket::GetConnTimeout() const
{
    return m_connTimeout;
}

void
AnabranchSocket::SetSynRetries(uint32_t value)
{
    m_synRetries = value;
}

uint32_t
AnabranchSocket::GetSynRetries() const
{
    return m_synRetries;
}

void
AnabranchSocket::SetDataRetries(uint32_t value)
{
    m_dataRetries = value;
}

uint32_t
AnabranchSocket::GetDataRetries() const
{
    return m_dataRetries;
}

void
AnabranchSocket::SetDelAckTimeout(Time value)
{
    m_delAck = value;
}

Time
AnabranchSocket::GetDelAckTimeout() const
{
    return m_delAck;
}

void
AnabranchSocket::SetDelAckMaxCount(uint32_t value)
{
    m_delAckCount = value;
}

uint32_t
AnabranchSocket::GetDelAckMaxCount() const
{
    return m_delAckCount;
}

void
AnabranchSocket::SetTcpNoDelay(bool value)
{
    m_noDelay = value;
}

bool
AnabranchSocket::GetTcpNoDelay() const
{
    return m_noDelay;
}

void
AnabranchSocket::SetPersistTimeout(Time value)
{
    m_persist = value;
}

Time
AnabranchSocket::GetPersistTimeout() const
{
    return m_persist;
}

} // namespace ns3
