// SPDX-License-Identifier: GPL-2.0-only
#include "anabranch-l4-protocol.h"

#include "anabranch-socket-factory.h"
#include "anabranch-socket.h"

#include <algorithm>
#include <ns3/ipv4-interface.h>
#include <ns3/ipv6-interface.h>
#include <ns3/log.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/trace-source-accessor.h>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("AnabranchL4Protocol");
NS_OBJECT_ENSURE_REGISTERED(AnabranchL4Protocol);

namespace
{

/// A TCP header with options, as octets.
class OctetsHeader : public Header
{
  public:
    OctetsHeader()
        : m_octets{},
          m_length(0)
    {
    }

    OctetsHeader(const uint8_t* octets, uint32_t length)
        : m_length(length)
    {
        std::memcpy(m_octets, octets, length);
    }

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::AnabranchOctetsHeader")
                                .SetParent<Header>()
                                .SetGroupName("Anabranch")
                                .AddConstructor<OctetsHeader>();
        return tid;
    }

    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return m_length;
    }

    void Serialize(Buffer::Iterator start) const override
    {
        start.Write(m_octets, m_length);
    }

    uint32_t Deserialize(Buffer::Iterator start) override
    {
        start.Read(m_octets, FIXED);
        m_length = std::max<uint32_t>((m_octets[12] >> 4) * 4, FIXED);
        start.Read(m_octets + FIXED, m_length - FIXED);
        return m_length;
    }

    void Print(std::ostream& os) const override
    {
        os << m_length << " octets of TCP header";
    }

  private:
    static constexpr uint32_t FIXED = 20; //!< Octets of a TCP header without options.
    uint8_t m_octets[AnabranchL4Protocol::LONGEST_HEADER];
    uint32_t m_length;
};

/// The state of RFC 9293 as ns-3 numbers it.
TcpSocket::TcpStates_t
ToState(uint32_t engine)
{
    static const TcpSocket::TcpStates_t states[] = {TcpSocket::CLOSED,
                                                    TcpSocket::SYN_SENT,
                                                    TcpSocket::SYN_RCVD,
                                                    TcpSocket::ESTABLISHED,
                                                    TcpSocket::FIN_WAIT_1,
                                                    TcpSocket::FIN_WAIT_2,
                                                    TcpSocket::CLOSE_WAIT,
                                                    TcpSocket::CLOSING,
                                                    TcpSocket::LAST_ACK,
                                                    TcpSocket::TIME_WAIT};
    return engine < 10 ? states[engine] : TcpSocket::CLOSED;
}

std::string
EndOf(uint32_t reason)
{
    switch (reason)
    {
    case ANABRANCH_END_FINISHED:
        return "closed";
    case ANABRANCH_END_RESET:
        return "reset by the peer";
    case ANABRANCH_END_TIMED_OUT:
        return "no answer from the peer";
    case ANABRANCH_END_REFUSED:
        return "refused";
    case ANABRANCH_END_REMOVED:
        return "address removed";
    case ANABRANCH_END_FAST_CLOSED:
        return "closed at once";
    case ANABRANCH_END_MIDDLEBOX:
        return "a middlebox took options or changed data";
    case ANABRANCH_END_UNREAD:
        return "closed, with data unread";
    default:
        return "ended";
    }
}

std::string
CauseOf(uint32_t fallback)
{
    switch (fallback)
    {
    case ANABRANCH_FALLBACK_SYN:
        return "the SYN was without MP_CAPABLE";
    case ANABRANCH_FALLBACK_SYN_ACK:
        return "the SYN/ACK was without MP_CAPABLE";
    case ANABRANCH_FALLBACK_THIRD_ACK:
        return "the third ACK was without MP_CAPABLE";
    case ANABRANCH_FALLBACK_OPTIONS:
        return "the first data came without a DSS option";
    case ANABRANCH_FALLBACK_CHECKSUM:
        return "a DSS checksum failed on the only subflow";
    case ANABRANCH_FALLBACK_INFINITE_MAPPING:
        return "the peer sent an infinite mapping";
    default:
        return "another cause";
    }
}

/// A number of four octets in network byte order.
uint32_t
Read32(const uint8_t* octets)
{
    return uint32_t(octets[0]) << 24 | octets[1] << 16 | octets[2] << 8 | octets[3];
}

/// Removes the D-SACK block (RFC 2883) of data below the acknowledgement. ns-3's TCP reads SACK blocks
/// before the acknowledgement and fails an assertion if the first segment in flight is in one.
void
RemoveDuplicateSack(anabranch_segment& segment)
{
    constexpr uint8_t END = 0;
    constexpr uint8_t NO_OPERATION = 1;
    constexpr uint8_t SACK = 5;
    constexpr uint32_t BLOCK = 8;
    uint8_t* const header = segment.header;
    for (uint32_t at = 20; at + 1 < segment.header_len && header[at] != END;)
    {
        uint8_t* const option = header + at;
        const uint32_t length = option[0] == NO_OPERATION ? 1 : option[1];
        if (option[0] == SACK && static_cast<int32_t>(Read32(option + 6) - Read32(header + 8)) <= 0)
        {
            const uint32_t left = length == 2 + BLOCK ? 0 : length - BLOCK;
            std::memmove(option + 2, option + 2 + BLOCK, length - 2 - BLOCK);
            std::memset(option + left, NO_OPERATION, length - left);
            if (left > 0)
            {
                option[1] = left;
            }
            return;
        }
        at += length;
    }
}

uint32_t
Octets32(double octets)
{
    return octets >= UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(octets);
}

/// Tells \p to of a change, and keeps the new value in \p before.
template <class T>
void
TraceChange(const TracedCallback<uint64_t, uint32_t, T, T>& to, uint64_t connection, uint32_t subflow, T& before, T now)
{
    if (before != now)
    {
        const T old = before;
        before = now;
        to(connection, subflow, old, now);
    }
}

} // namespace

TypeId
AnabranchL4Protocol::GetTypeId()
{
    typedef AnabranchL4Protocol P;
    static const std::string number = "ns3::AnabranchL4Protocol::NumberCallback";
    static const std::string time = "ns3::AnabranchL4Protocol::TimeCallback";
    static const std::string segment = "ns3::AnabranchL4Protocol::SegmentCallback";
    static const std::string what = "ns3::AnabranchL4Protocol::SubflowCallback";
    static TypeId tid =
        TypeId("ns3::AnabranchL4Protocol")
            .SetParent<IpL4Protocol>()
            .SetGroupName("Anabranch")
            .AddConstructor<P>()
            .AddAttribute("Profile",
                          "Defaults of the other parameters: modern, classic or linux-6.1. Empty: modern, where "
                          "the attributes of sockets count.",
                          StringValue(""),
                          MakeStringAccessor(&P::m_profile),
                          MakeStringChecker())
            .AddAttribute("Controller",
                          "Congestion control, with parameters as \"name parameter=value\"; empty: the profile's.",
                          StringValue(""),
                          MakeStringAccessor(&P::m_controller),
                          MakeStringChecker())
            .AddAttribute("Scheduler",
                          "Which subflow takes the next segment, with parameters as \"name parameter=value\"; "
                          "empty: the profile's.",
                          StringValue(""),
                          MakeStringAccessor(&P::m_scheduler),
                          MakeStringChecker())
            .AddAttribute("Connection",
                          "Further keys of a scenario's table [connection], as TOML. They win over attributes.",
                          StringValue(""),
                          MakeStringAccessor(&P::m_connection),
                          MakeStringChecker())
            .AddAttribute("PathManager",
                          "Which subflows connections open: one-per-interface, full-mesh or none.",
                          StringValue("one-per-interface"),
                          MakeStringAccessor(&P::SetPathManager, &P::GetPathManager),
                          MakeStringChecker())
            .AddTraceSource("CongestionWindow",
                            "Congestion window of a subflow, in octets.",
                            MakeTraceSourceAccessor(&P::m_cwndTrace),
                            number)
            .AddTraceSource("SlowStartThreshold",
                            "Slow-start threshold of a subflow, in octets; UINT32_MAX before the first loss.",
                            MakeTraceSourceAccessor(&P::m_ssthreshTrace),
                            number)
            .AddTraceSource("BytesInFlight",
                            "Octets of a subflow in flight.",
                            MakeTraceSourceAccessor(&P::m_inFlightTrace),
                            number)
            .AddTraceSource("State",
                            "TCP state of a subflow, a TcpSocket::TcpStates_t.",
                            MakeTraceSourceAccessor(&P::m_stateTrace),
                            number)
            .AddTraceSource("RTT",
                            "Smoothed round-trip time of a subflow.",
                            MakeTraceSourceAccessor(&P::m_rttTrace),
                            time)
            .AddTraceSource("RTO",
                            "Retransmission timeout of a subflow, with its back-off.",
                            MakeTraceSourceAccessor(&P::m_rtoTrace),
                            time)
            .AddTraceSource("Retransmission",
                            "Octets are sent again on their subflow.",
                            MakeTraceSourceAccessor(&P::m_retransmissionTrace),
                            segment)
            .AddTraceSource("Tx", "A segment is sent.", MakeTraceSourceAccessor(&P::m_txTrace), segment)
            .AddTraceSource("Rx",
                            "A segment arrives. Not traced: the SYN and the ACK with which the peer opens a "
                            "subflow.",
                            MakeTraceSourceAccessor(&P::m_rxTrace),
                            segment)
            .AddTraceSource("Subflow",
                            "A subflow opens (\"opened\") or ends, and why.",
                            MakeTraceSourceAccessor(&P::m_subflowTrace),
                            what)
            .AddTraceSource("Fallback",
                            "A connection goes on as plain TCP, and why.",
                            MakeTraceSourceAccessor(&P::m_fallbackTrace),
                            what);
    return tid;
}

AnabranchL4Protocol::AnabranchL4Protocol()
    : m_host(nullptr),
      m_swept(0),
      m_compared(0),
      m_pumping(false),
      m_again(false),
      m_policy(ANABRANCH_PATHS_ONE_PER_INTERFACE)
{
}

AnabranchL4Protocol::~AnabranchL4Protocol()
{
    anabranch_host_free(m_host);
}

void
AnabranchL4Protocol::DoDispose()
{
    m_timer.Cancel();
    m_soon.Cancel();
    for (auto socket : m_all)
    {
        socket->m_protocol = nullptr;
        socket->m_node = nullptr;
    }
    m_all.clear();
    m_sockets.clear();
    m_senders.clear();
    m_listeners.clear();
    m_node = nullptr;
    m_ipv4 = nullptr;
    m_ipv6 = nullptr;
    m_tcp = nullptr;
    m_down.Nullify();
    m_down6.Nullify();
    IpL4Protocol::DoDispose();
}

void
AnabranchL4Protocol::Install(Ptr<Node> node)
{
    if (node->GetObject<AnabranchL4Protocol>())
    {
        NS_LOG_WARN("node " << node->GetId() << " has Anabranch already: nothing changes");
        return;
    }
    m_ipv4 = node->GetObject<Ipv4L3Protocol>();
    m_ipv6 = node->GetObject<Ipv6L3Protocol>();
    NS_ABORT_MSG_IF(!m_ipv4 && !m_ipv6,
                    "Anabranch: node " << node->GetId()
                                       << " has no Internet stack: call InternetStackHelper::Install first");
    m_node = node;
    anabranch_host_options options{};
    options.size = sizeof options;
    options.by_reference = 1;
    options.virtual_time = 1;
    options.first_port = FIRST_PORT;
    options.last_port = LAST_PORT;
    // From seed, run and node: a random stream of ns-3 would renumber those of the user.
    const uint64_t words[4] = {RngSeedManager::GetSeed(), RngSeedManager::GetRun(), node->GetId(), 1};
    std::memcpy(options.secret, words, sizeof options.secret);
    NS_ABORT_MSG_IF(anabranch_host_new(&options, &m_host) < 0, "Anabranch: " << anabranch_last_error());

    Ptr<IpL4Protocol> self = this;
    if (m_ipv4)
    {
        m_tcp = m_ipv4->GetProtocol(PROTOCOL);
        if (m_tcp)
        {
            m_ipv4->Remove(m_tcp);
        }
        m_ipv4->Insert(self);
        m_down = MakeCallback(&Ipv4L3Protocol::Send, m_ipv4);
    }
    if (m_ipv6)
    {
        if (auto tcp = m_ipv6->GetProtocol(PROTOCOL))
        {
            m_tcp = tcp;
            m_ipv6->Remove(tcp);
        }
        m_ipv6->Insert(self);
        m_down6 = MakeCallback(&Ipv6L3Protocol::Send, m_ipv6);
    }
    Observe();
    node->AggregateObject(self);
    auto factory = CreateObject<AnabranchSocketFactory>();
    factory->SetProtocol(this);
    node->AggregateObject(factory);
    if (!m_tcp)
    {
        auto tcp = CreateObject<AnabranchTcpSocketFactory>();
        tcp->SetProtocol(this);
        node->AggregateObject(tcp);
    }
}

Ptr<Socket>
AnabranchL4Protocol::CreateSocket()
{
    auto socket = CreateObject<AnabranchSocket>();
    socket->m_protocol = this;
    socket->m_node = m_node;
    m_all.insert(PeekPointer(socket));
    return socket;
}

int
AnabranchL4Protocol::GetProtocolNumber() const
{
    return PROTOCOL;
}

bool
AnabranchL4Protocol::HasChecksums()
{
    if (!m_checksums)
    {
        m_checksums = Node::ChecksumEnabled();
    }
    return *m_checksums;
}

uint64_t
AnabranchL4Protocol::Now() const
{
    return Simulator::Now().GetNanoSeconds();
}

// ---- segments -----------------------------------------------------------------------------------

template <class Header, class Interface>
enum IpL4Protocol::RxStatus
AnabranchL4Protocol::Dispatch(Ptr<Packet> p, const Header& header, Ptr<Interface> in, uint8_t trafficClass)
{
    uint8_t octets[LONGEST_HEADER] = {};
    const uint32_t copied = p->CopyData(octets, sizeof octets);
    const uint16_t port = octets[2] << 8 | octets[3];
    if (m_tcp && !m_ports.count(port))
    {
        return m_tcp->Receive(p, header, in);
    }
    const uint32_t length = copied < 20 ? 0 : (octets[12] >> 4) * 4;
    if (length < 20 || length > p->GetSize())
    {
        NS_LOG_WARN("a segment of " << p->GetSize() << " octets is dropped: its header is cut");
        return RX_CSUM_FAILED;
    }
    // IPv4 and IPv6 pass a copy of the packet, for us to keep.
    p->RemoveAtStart(length);
    return ReceiveSegment(p,
                          octets,
                          length,
                          {ToEngine(header.GetDestination(), port),
                           ToEngine(header.GetSource(), octets[0] << 8 | octets[1])},
                          trafficClass & 3);
}

enum IpL4Protocol::RxStatus
AnabranchL4Protocol::Receive(Ptr<Packet> p, const Ipv4Header& header, Ptr<Ipv4Interface> in)
{
    return Dispatch(p, header, in, header.GetTos());
}

enum IpL4Protocol::RxStatus
AnabranchL4Protocol::Receive(Ptr<Packet> p, const Ipv6Header& header, Ptr<Ipv6Interface> in)
{
    return Dispatch(p, header, in, header.GetTrafficClass());
}

enum IpL4Protocol::RxStatus
AnabranchL4Protocol::ReceiveSegment(Ptr<Packet> payload,
                                    const uint8_t* header,
                                    uint32_t length,
                                    const anabranch_tuple& tuple,
                                    uint8_t ecn)
{
    std::vector<uint8_t> octets;
    if (HasChecksums())
    {
        octets.resize(payload->GetSize());
        payload->CopyData(octets.data(), octets.size());
        if (anabranch_verify_checksum(&tuple, header, length, octets.data(), octets.size()) != ANABRANCH_OK)
        {
            NS_LOG_WARN("a segment with a wrong TCP checksum is dropped");
            return RX_CSUM_FAILED;
        }
    }
    const auto subflow = m_subflows.find(tuple);
    if (subflow != m_subflows.end())
    {
        Touch(subflow->second.first);
        TraceSegment(m_rxTrace, subflow->second.first, subflow->second.second, payload, header, length);
    }
    const int code = anabranch_handle_segment(m_host,
                                              Now(),
                                              &tuple,
                                              ecn,
                                              header,
                                              length,
                                              octets.empty() ? nullptr : octets.data(),
                                              payload->GetSize());
    if (code < 0)
    {
        NS_LOG_WARN(anabranch_last_error());
        return RX_CSUM_FAILED;
    }
    TakeEvents(payload);
    Pump();
    return RX_OK;
}

namespace
{

/// The 4-tuple and the sequence number of the segment that an ICMP message quotes; \p p: its first
/// eight octets.
template <class IpAddress>
std::pair<anabranch_tuple, uint32_t>
Quoted(IpAddress source, IpAddress destination, const uint8_t p[8])
{
    return {{ToEngine(source, p[0] << 8 | p[1]), ToEngine(destination, p[2] << 8 | p[3])},
            Read32(p + 4)};
}

} // namespace

void
AnabranchL4Protocol::ReceiveIcmp(Ipv4Address source,
                                 uint8_t ttl,
                                 uint8_t type,
                                 uint8_t code,
                                 uint32_t info,
                                 Ipv4Address payloadSource,
                                 Ipv4Address payloadDestination,
                                 const uint8_t payload[8])
{
    const auto [tuple, seq] = Quoted(payloadSource, payloadDestination, payload);
    if (m_tcp && !m_ports.count(tuple.local.port))
    {
        m_tcp->ReceiveIcmp(source, ttl, type, code, info, payloadSource, payloadDestination, payload);
    }
    else if (type == 3 || type == 11 || type == 12)
    {
        // RFC 9293 3.9.2.2: soft are net, host and source route unreachable. "Fragmentation needed"
        // without an MTU comes from a router older than RFC 1191.
        const bool hard = type == 3 && code != 0 && code != 1 && code != 4 && code != 5;
        ReceiveIcmpError(tuple, seq, type == 3 && code == 4 ? info & 0xffff : 0, hard);
    }
}

void
AnabranchL4Protocol::ReceiveIcmp(Ipv6Address source,
                                 uint8_t ttl,
                                 uint8_t type,
                                 uint8_t code,
                                 uint32_t info,
                                 Ipv6Address payloadSource,
                                 Ipv6Address payloadDestination,
                                 const uint8_t payload[8])
{
    const auto [tuple, seq] = Quoted(payloadSource, payloadDestination, payload);
    if (m_tcp && !m_ports.count(tuple.local.port))
    {
        m_tcp->ReceiveIcmp(source, ttl, type, code, info, payloadSource, payloadDestination, payload);
    }
    else if (type >= 1 && type <= 4)
    {
        // RFC 4443: 1 unreachable (soft are 0, no route, and 3, address), 2 too big, 3 time exceeded, 4
        // parameter problem.
        ReceiveIcmpError(tuple, seq, type == 2 ? info : 0, type == 1 && code != 0 && code != 3);
    }
}

void
AnabranchL4Protocol::ReceiveIcmpError(const anabranch_tuple& tuple, uint32_t seq, uint32_t mtu, bool hard)
{
    if (mtu > 0)
    {
        anabranch_handle_too_big(m_host, Now(), &tuple, seq, mtu);
    }
    else if (hard)
    {
        anabranch_handle_unreachable(m_host, Now(), &tuple, seq);
    }
    else
    {
        anabranch_handle_soft_error(m_host, &tuple, seq);
    }
    PumpSoon();
}

void
AnabranchL4Protocol::SendSegment(anabranch_segment& segment)
{
    Ptr<Packet> packet;
    const auto socket = m_sockets.find(segment.connection);
    if (segment.payload_len == 0)
    {
        packet = Create<Packet>();
    }
    else if (socket != m_sockets.end())
    {
        packet = socket->second->Octets(segment.payload_offset, segment.payload_len);
    }
    else
    {
        NS_FATAL_ERROR("Anabranch: connection " << segment.connection << " sends and has no socket");
    }
    if (socket != m_sockets.end() && socket->second->m_peerIsPlain)
    {
        RemoveDuplicateSack(segment);
    }
    if (segment.connection != 0)
    {
        Touch(segment.connection);
        TraceSegment(m_txTrace, segment.connection, segment.subflow, packet, segment.header, segment.header_len);
        if (segment.kind == ANABRANCH_SEND_FAST || segment.kind == ANABRANCH_SEND_TIMEOUT)
        {
            TraceSegment(m_retransmissionTrace,
                         segment.connection,
                         segment.subflow,
                         packet,
                         segment.header,
                         segment.header_len);
        }
    }
    if (HasChecksums())
    {
        std::vector<uint8_t> payload(segment.payload_len);
        packet->CopyData(payload.data(), payload.size());
        anabranch_fill_checksums(&segment, payload.data());
    }
    packet->AddHeader(OctetsHeader(segment.header, segment.header_len));
    if (socket != m_sockets.end())
    {
        socket->second->Tag(packet, segment.ecn);
        if (segment.kind == ANABRANCH_SEND_NEW)
        {
            if (socket->second->m_sentNow == 0)
            {
                m_senders.push_back(socket->second);
            }
            socket->second->m_sentNow += segment.payload_len;
        }
    }
    else if (segment.ecn != ANABRANCH_ECN_NONE)
    {
        SocketIpTosTag tos;
        tos.SetTos(segment.ecn);
        packet->AddPacketTag(tos);
    }
    SendDown(packet, segment.tuple);
}

// ---- events and time ----------------------------------------------------------------------------

void
AnabranchL4Protocol::TakeEvents(Ptr<Packet> payload)
{
    anabranch_event event{};
    event.size = sizeof event;
    while (anabranch_poll_event(m_host, &event) == ANABRANCH_OK)
    {
        if (event.kind != ANABRANCH_EVENT_ARRIVED)
        {
            m_events.push_back(event);
        }
        else if (auto socket = Find(event); socket && payload)
        {
            socket->Place(event.offset, event.len, std::exchange(payload, nullptr));
        }
    }
}

Ptr<AnabranchSocket>
AnabranchL4Protocol::Find(const anabranch_event& event)
{
    auto known = m_sockets.find(event.connection);
    if (known != m_sockets.end())
    {
        return known->second;
    }
    anabranch_subflow_info info{};
    info.size = sizeof info;
    if (anabranch_subflow_state(m_host, Now(), event.connection, 0, &info) < 0)
    {
        return nullptr;
    }
    auto listener = m_listeners.find(info.tuple.local.port);
    if (listener == m_listeners.end())
    {
        anabranch_abort(m_host, event.connection);
        return nullptr;
    }
    auto socket = listener->second->Fork(event.connection, info.tuple);
    m_sockets[event.connection] = socket;
    Bind(event.connection, 0, info.tuple);
    ManagePaths(event.connection, false, info.tuple.local.family);
    return socket;
}

void
AnabranchL4Protocol::Report(const anabranch_event& event)
{
    auto socket = Find(event);
    if (!socket)
    {
        return;
    }
    Touch(event.connection);
    switch (event.kind)
    {
    case ANABRANCH_EVENT_JOINS_POSSIBLE:
    case ANABRANCH_EVENT_REMOTE_ADDRESS:
        Join();
        break;
    case ANABRANCH_EVENT_SUBFLOW_ESTABLISHED: {
        anabranch_subflow_info info{};
        info.size = sizeof info;
        if (anabranch_subflow_state(m_host, Now(), event.connection, event.subflow, &info) == ANABRANCH_OK)
        {
            Bind(event.connection, event.subflow, info.tuple);
        }
        m_subflowTrace(event.connection, event.subflow, "opened");
        break;
    }
    case ANABRANCH_EVENT_SUBFLOW_ENDED:
        if (!m_subflowTrace.IsEmpty())
        {
            m_subflowTrace(event.connection, event.subflow, EndOf(event.reason));
        }
        Join();
        break;
    case ANABRANCH_EVENT_FALLBACK:
        socket->m_peerIsPlain |= event.reason == ANABRANCH_FALLBACK_SYN || event.reason == ANABRANCH_FALLBACK_SYN_ACK;
        if (!m_fallbackTrace.IsEmpty())
        {
            m_fallbackTrace(event.connection, event.subflow, CauseOf(event.reason));
        }
        break;
    case ANABRANCH_EVENT_CLOSED:
    case ANABRANCH_EVENT_ABORTED:
        // The engine may still wait in TIME-WAIT, or send octets again that one subflow has lost.
        m_over.insert(event.connection);
        break;
    default:
        break;
    }
    socket->OnEvent(event);
}

void
AnabranchL4Protocol::PumpSoon()
{
    if (m_soon.IsExpired())
    {
        m_soon = Simulator::ScheduleNow(&AnabranchL4Protocol::Pump, this);
    }
}

void
AnabranchL4Protocol::Pump()
{
    if (!m_host || !m_node)
    {
        return;
    }
    if (m_pumping)
    {
        m_again = true;
        return;
    }
    m_pumping = true;
    if (!m_locals.empty() && Now() >= m_compared + 100000000)
    {
        m_compared = Now();
        CompareAddresses();
    }
    anabranch_segment segment{};
    do
    {
        m_again = false;
        segment.size = sizeof segment;
        while (anabranch_poll_segment(m_host, Now(), &segment) == ANABRANCH_OK)
        {
            SendSegment(segment);
        }
        TakeEvents(nullptr);
        while (!m_events.empty())
        {
            const auto event = m_events.front();
            m_events.pop_front();
            Report(event);
            m_again = true;
        }
        // Callbacks send nothing while m_pumping.
        for (const auto& socket : m_senders)
        {
            socket->ReportSent();
        }
        m_senders.clear();
    } while (m_again);
    TraceStates();
    m_touched.clear();
    m_pumping = false;
    if (m_again)
    {
        // A callback of TraceStates has used a socket.
        PumpSoon();
    }
    if (!m_over.empty() && Now() >= m_swept + 1000000000)
    {
        Sweep();
    }
    SetTimer();
}

void
AnabranchL4Protocol::SetTimer()
{
    uint64_t at;
    if (anabranch_poll_timeout(m_host, &at) != ANABRANCH_OK)
    {
        return;
    }
    // A timer that is early is left alone: most deadlines move on before they come, and ns-3 also counts
    // events that were cancelled. A delay takes at least one step of ns-3's time resolution.
    const uint64_t now = Now();
    const Time delay = at > now ? Max(NanoSeconds(at - now), TimeStep(1)) : TimeStep(0);
    if (m_timer.IsExpired() || Simulator::GetDelayLeft(m_timer) > delay)
    {
        m_timer.Cancel();
        m_timer = Simulator::Schedule(delay, &AnabranchL4Protocol::OnTimer, this);
    }
}

void
AnabranchL4Protocol::OnTimer()
{
    uint64_t at;
    if (anabranch_poll_timeout(m_host, &at) == ANABRANCH_OK && at <= Now())
    {
        anabranch_handle_timeout(m_host, Now());
        Join();
        Pump();
    }
    else
    {
        SetTimer();
    }
}

void
AnabranchL4Protocol::Sweep()
{
    m_swept = Now();
    anabranch_connection_info info{};
    info.size = sizeof info;
    for (auto connection : std::set<uint64_t>(m_over))
    {
        if (anabranch_connection_state(m_host, connection, &info) == ANABRANCH_GONE)
        {
            Forget(connection);
        }
    }
}

// ---- which subflow a segment belongs to ---------------------------------------------------------

void
AnabranchL4Protocol::Bind(uint64_t connection, uint32_t subflow, const anabranch_tuple& tuple)
{
    auto& known = m_tuples[Subflow(connection, subflow)];
    if (std::memcmp(&known, &tuple, sizeof tuple) == 0)
    {
        return;
    }
    if (known.local.family != 0)
    {
        // The number of a join that failed is used again.
        m_subflows.erase(known);
        ReleasePort(known.local.port);
    }
    known = tuple;
    m_subflows[tuple] = Subflow(connection, subflow);
    m_ports[tuple.local.port]++;
}

void
AnabranchL4Protocol::Forget(uint64_t connection)
{
    const auto first = m_tuples.lower_bound(Subflow(connection, 0));
    const auto last = m_tuples.lower_bound(Subflow(connection + 1, 0));
    for (auto i = first; i != last; ++i)
    {
        auto subflow = m_subflows.find(i->second);
        if (subflow != m_subflows.end() && subflow->second.first == connection)
        {
            m_subflows.erase(subflow);
        }
        ReleasePort(i->second.local.port);
    }
    m_tuples.erase(first, last);
    m_reported.erase(connection);
    m_over.erase(connection);
    m_sockets.erase(connection);
}

void
AnabranchL4Protocol::ReleasePort(uint16_t port)
{
    auto users = m_ports.find(port);
    if (--users->second == 0)
    {
        m_ports.erase(users);
    }
}

bool
AnabranchL4Protocol::IsBound(uint16_t port) const
{
    return std::any_of(m_all.begin(), m_all.end(), [port](const AnabranchSocket* socket) {
        return socket->m_bound && socket->m_tuple.local.port == port;
    });
}

uint16_t
AnabranchL4Protocol::DrawPort() const
{
    uint16_t port = FIRST_PORT;
    while (m_ports.count(port) && port < LAST_PORT)
    {
        port++;
    }
    return m_ports.count(port) ? 0 : port;
}

// ---- traces -------------------------------------------------------------------------------------

void
AnabranchL4Protocol::TraceSegment(
    const TracedCallback<uint64_t, uint32_t, Ptr<const Packet>, const TcpHeader&>& to,
    uint64_t connection,
    uint32_t subflow,
    Ptr<const Packet> payload,
    const uint8_t* header,
    uint32_t length) const
{
    if (to.IsEmpty())
    {
        return;
    }
    Ptr<Packet> segment = Create<Packet>(header, length);
    TcpHeader parsed;
    segment->PeekHeader(parsed);
    // The packet itself goes on: its callers add and remove octets.
    to(connection, subflow, payload->Copy(), parsed);
}

void
AnabranchL4Protocol::Touch(uint64_t connection)
{
    if (!m_cwndTrace.IsEmpty() || !m_ssthreshTrace.IsEmpty() || !m_inFlightTrace.IsEmpty() ||
        !m_stateTrace.IsEmpty() || !m_rttTrace.IsEmpty() || !m_rtoTrace.IsEmpty())
    {
        m_touched.insert(connection);
    }
}

void
AnabranchL4Protocol::TraceStates()
{
    anabranch_connection_info all{};
    all.size = sizeof all;
    anabranch_subflow_info info{};
    for (auto connection : m_touched)
    {
        if (anabranch_connection_state(m_host, connection, &all) != ANABRANCH_OK)
        {
            continue;
        }
        auto& told = m_reported[connection];
        told.resize(std::max<size_t>(told.size(), all.subflows));
        for (uint32_t s = 0; s < all.subflows; s++)
        {
            info.size = sizeof info;
            if (anabranch_subflow_state(m_host, Now(), connection, s, &info) != ANABRANCH_OK)
            {
                continue;
            }
            auto& last = told[s];
            TraceChange(m_cwndTrace, connection, s, last.cwnd, Octets32(info.cwnd));
            TraceChange(m_ssthreshTrace, connection, s, last.ssthresh, Octets32(info.ssthresh));
            TraceChange(m_inFlightTrace, connection, s, last.inFlight, Octets32(info.in_flight));
            TraceChange(m_stateTrace, connection, s, last.state, uint32_t(ToState(info.state)));
            TraceChange(m_rttTrace, connection, s, last.rtt, NanoSeconds(info.srtt));
            TraceChange(m_rtoTrace, connection, s, last.rto, NanoSeconds(info.rto));
        }
    }
}

void
AnabranchL4Protocol::SetDownTarget(DownTargetCallback cb)
{
    m_down = cb;
}

void
AnabranchL4Protocol::SetDownTarget6(DownTargetCallback6 cb)
{
    m_down6 = cb;
}

IpL4Protocol::DownTargetCallback
AnabranchL4Protocol::GetDownTarget() const
{
    return m_down;
}

IpL4Protocol::DownTargetCallback6
AnabranchL4Protocol::GetDownTarget6() const
{
    return m_down6;
}

} // namespace ns3
