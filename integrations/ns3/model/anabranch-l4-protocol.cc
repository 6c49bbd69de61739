// SPDX-License-Identifier: GPL-2.0-only
#include "anabranch-l4-protocol.h"

#include "anabranch-socket-factory.h"
#include "anabranch-socket.h"

#include <cstring>
#include <ns3/ipv4-interface.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/ipv4-route.h>
#include <ns3/ipv4-routing-protocol.h>
#include <ns3/ipv6-interface.h>
#include <ns3/log.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/socket.h>
#include <ns3/string.h>
#include <vector>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("AnabranchL4Protocol");
NS_OBJECT_ENSURE_REGISTERED(AnabranchL4Protocol);

namespace
{

constexpr uint8_t PROTOCOL = 6;

/// A TCP header with options, as octets.
class OctetsHeader : public Header
{
  public:
    OctetsHeader() = default;

    OctetsHeader(const uint8_t* octets, uint32_t length)
        : m_octets(octets, octets + length)
    {
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
        return m_octets.size();
    }

    void Serialize(Buffer::Iterator start) const override
    {
        start.Write(m_octets.data(), m_octets.size());
    }

    uint32_t Deserialize(Buffer::Iterator start) override
    {
        uint8_t fixed[20];
        Buffer::Iterator copy = start;
        copy.Read(fixed, 20);
        m_octets.resize((fixed[12] >> 4) * 4);
        start.Read(m_octets.data(), m_octets.size());
        return m_octets.size();
    }

    void Print(std::ostream& os) const override
    {
        os << m_octets.size() << " octets of TCP header";
    }

  private:
    std::vector<uint8_t> m_octets;
};

Ipv4Address
FromEngine(const anabranch_address& a)
{
    return Ipv4Address::Deserialize(a.octets);
}

} // namespace

anabranch_address
AnabranchAddress(Ipv4Address address, uint16_t port)
{
    anabranch_address a{};
    a.family = 4;
    a.port = port;
    address.Serialize(a.octets);
    return a;
}

TypeId
AnabranchL4Protocol::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::AnabranchL4Protocol")
            .SetParent<IpL4Protocol>()
            .SetGroupName("Anabranch")
            .AddConstructor<AnabranchL4Protocol>()
            .AddAttribute("Profile",
                          "Defaults of the other parameters; empty: the engine's.",
                          StringValue(""),
                          MakeStringAccessor(&AnabranchL4Protocol::m_profile),
                          MakeStringChecker())
            .AddAttribute("Controller",
                          "Congestion control; empty: the profile's.",
                          StringValue(""),
                          MakeStringAccessor(&AnabranchL4Protocol::m_controller),
                          MakeStringChecker())
            .AddAttribute("Scheduler",
                          "Which subflow takes the next segment; empty: the profile's.",
                          StringValue(""),
                          MakeStringAccessor(&AnabranchL4Protocol::m_scheduler),
                          MakeStringChecker())
            .AddAttribute("Connection",
                          "Further keys of a scenario's table [connection], as TOML.",
                          StringValue(""),
                          MakeStringAccessor(&AnabranchL4Protocol::m_connection),
                          MakeStringChecker())
            .AddAttribute("PathManager",
                          "one-per-interface, full-mesh or none.",
                          StringValue("one-per-interface"),
                          MakeStringAccessor(&AnabranchL4Protocol::m_pathManager),
                          MakeStringChecker());
    return tid;
}

AnabranchL4Protocol::AnabranchL4Protocol()
    : m_host(nullptr),
      m_pumping(false),
      m_again(false)
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
    m_sockets.clear();
    m_listeners.clear();
    m_node = nullptr;
    m_ipv4 = nullptr;
    m_tcp = nullptr;
    m_down.Nullify();
    m_down6.Nullify();
    IpL4Protocol::DoDispose();
}

void
AnabranchL4Protocol::Install(Ptr<Node> node)
{
    NS_ABORT_MSG_IF(node->GetObject<AnabranchL4Protocol>(),
                    "Anabranch: node " << node->GetId() << " has it already: install it once");
    m_ipv4 = node->GetObject<Ipv4>();
    NS_ABORT_MSG_IF(!m_ipv4,
                    "Anabranch: node " << node->GetId()
                                       << " has no IPv4: call InternetStackHelper::Install first");
    m_node = node;
    anabranch_host_options options{};
    options.size = sizeof options;
    options.by_reference = 1;
    options.virtual_time = 1;
    options.first_port = 32768;
    options.last_port = 49151;
    // From seed, run and node: a random stream of ns-3 would renumber those of the user.
    const uint64_t words[4] = {RngSeedManager::GetSeed(), RngSeedManager::GetRun(), node->GetId(), 1};
    std::memcpy(options.secret, words, sizeof options.secret);
    NS_ABORT_MSG_IF(anabranch_host_new(&options, &m_host) < 0,
                    "Anabranch: " << anabranch_last_error());

    auto l3 = DynamicCast<Ipv4L3Protocol>(m_ipv4);
    m_tcp = l3->GetProtocol(PROTOCOL);
    if (m_tcp)
    {
        l3->Remove(m_tcp);
    }
    l3->Insert(Ptr<IpL4Protocol>(this));
    m_down = MakeCallback(&Ipv4::Send, m_ipv4);
    node->AggregateObject(Ptr<Object>(this));
    auto factory = CreateObject<AnabranchSocketFactory>();
    factory->SetProtocol(this);
    node->AggregateObject(factory);
}

Ptr<Socket>
AnabranchL4Protocol::CreateSocket()
{
    auto socket = CreateObject<AnabranchSocket>();
    socket->m_protocol = this;
    socket->m_node = m_node;
    return socket;
}

int
AnabranchL4Protocol::GetProtocolNumber() const
{
    return PROTOCOL;
}

uint64_t
AnabranchL4Protocol::Now() const
{
    return Simulator::Now().GetNanoSeconds();
}

anabranch_config*
AnabranchL4Protocol::MakeConfig(const AnabranchSocket* socket) const
{
    std::string text = m_connection + "\n";
    auto add = [&](const std::string& key, const std::string& value) {
        if (!value.empty() && m_connection.find(key) == std::string::npos)
        {
            text += key + " = " + value + "\n";
        }
    };
    auto word = [](const std::string& w) { return w.empty() ? w : "\"" + w + "\""; };
    add("profile", word(m_profile));
    add("controller", word(m_controller));
    add("scheduler", word(m_scheduler));
    add("mss", std::to_string(socket->m_segSize));
    add("send_buffer", word(std::to_string(socket->m_sndBuf) + " B"));
    add("receive_buffer", word(std::to_string(socket->m_rcvBuf) + " B"));
    anabranch_config* config = nullptr;
    NS_ABORT_MSG_IF(anabranch_config_new(text.c_str(), &config) < 0,
                    "Anabranch: " << anabranch_last_error());
    return config;
}

enum IpL4Protocol::RxStatus
AnabranchL4Protocol::Receive(Ptr<Packet> p, const Ipv4Header& header, Ptr<Ipv4Interface> in)
{
    uint8_t octets[60];
    const uint32_t copied = p->CopyData(octets, sizeof octets);
    const uint16_t port = copied < 20 ? 0 : (octets[2] << 8 | octets[3]);
    if (!m_ports.count(port))
    {
        return m_tcp ? m_tcp->Receive(p, header, in) : RX_ENDPOINT_UNREACH;
    }
    const uint32_t length = (octets[12] >> 4) * 4;
    if (length < 20 || length > p->GetSize())
    {
        return RX_CSUM_FAILED;
    }
    anabranch_tuple tuple{};
    tuple.local = AnabranchAddress(header.GetDestination(), port);
    tuple.remote = AnabranchAddress(header.GetSource(), octets[0] << 8 | octets[1]);
    auto payload = p->CreateFragment(length, p->GetSize() - length);
    std::vector<uint8_t> sum;
    if (Node::ChecksumEnabled() && payload->GetSize() > 0)
    {
        sum.resize(payload->GetSize());
        payload->CopyData(sum.data(), sum.size());
    }
    const int code = anabranch_handle_segment(m_host,
                                              Now(),
                                              &tuple,
                                              header.GetTos() & 3,
                                              octets,
                                              length,
                                              sum.empty() ? nullptr : sum.data(),
                                              payload->GetSize());
    if (code < 0)
    {
        NS_LOG_WARN("Anabranch: " << anabranch_last_error());
        return RX_CSUM_FAILED;
    }
    TakeEvents(payload);
    Pump();
    return RX_OK;
}

enum IpL4Protocol::RxStatus
AnabranchL4Protocol::Receive(Ptr<Packet> p, const Ipv6Header& header, Ptr<Ipv6Interface> in)
{
    return m_tcp ? m_tcp->Receive(p, header, in) : RX_ENDPOINT_UNREACH;
}

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
    const uint16_t port = payload[0] << 8 | payload[1];
    if (!m_ports.count(port))
    {
        if (m_tcp)
        {
            m_tcp->ReceiveIcmp(source, ttl, type, code, info, payloadSource, payloadDestination, payload);
        }
        return;
    }
    anabranch_tuple tuple{};
    tuple.local = AnabranchAddress(payloadSource, port);
    tuple.remote = AnabranchAddress(payloadDestination, payload[2] << 8 | payload[3]);
    const uint32_t seq = uint32_t(payload[4]) << 24 | payload[5] << 16 | payload[6] << 8 | payload[7];
    if (type == 3 && code == 4)
    {
        anabranch_handle_too_big(m_host, Now(), &tuple, seq, info & 0xffff);
    }
    else if (type == 3 && code != 0 && code != 1 && code != 5)
    {
        anabranch_handle_unreachable(m_host, Now(), &tuple, seq);
    }
    else if (type == 3 || type == 11 || type == 12)
    {
        anabranch_handle_soft_error(m_host, &tuple, seq);
    }
    Pump();
}

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
            socket->Place(event.offset, payload->CreateFragment(0, event.len));
        }
    }
}

AnabranchSocket*
AnabranchL4Protocol::Find(const anabranch_event& event)
{
    auto known = m_sockets.find(event.connection);
    if (known != m_sockets.end())
    {
        return PeekPointer(known->second);
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
        return nullptr;
    }
    auto socket = listener->second->Fork(event.connection, info.tuple);
    m_sockets[event.connection] = socket;
    m_ports[info.tuple.local.port]++;
    ManagePaths(event.connection, false);
    return PeekPointer(socket);
}

void
AnabranchL4Protocol::Report(const anabranch_event& event)
{
    Ptr<AnabranchSocket> socket = Find(event);
    if (!socket)
    {
        return;
    }
    switch (event.kind)
    {
    case ANABRANCH_EVENT_JOINS_POSSIBLE:
    case ANABRANCH_EVENT_REMOTE_ADDRESS:
    case ANABRANCH_EVENT_SUBFLOW_ENDED:
        Join(event.connection);
        break;
    default:
        break;
    }
    socket->OnEvent(event);
    if (event.kind == ANABRANCH_EVENT_CLOSED || event.kind == ANABRANCH_EVENT_ABORTED)
    {
        // The engine may still wait in TIME-WAIT: the port stays ours until the node is disposed of.
        m_sockets.erase(event.connection);
    }
}

void
AnabranchL4Protocol::PumpSoon()
{
    if (!m_soon.IsRunning())
    {
        m_soon = Simulator::ScheduleNow(&AnabranchL4Protocol::Pump, this);
    }
}

void
AnabranchL4Protocol::Pump()
{
    if (m_pumping)
    {
        m_again = true;
        return;
    }
    m_pumping = true;
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
    } while (m_again);
    m_pumping = false;
    uint64_t at;
    if (anabranch_poll_timeout(m_host, &at) != ANABRANCH_OK)
    {
        m_timer.Cancel();
    }
    else if (!m_timer.IsRunning() || m_timer.GetTs() != at)
    {
        m_timer.Cancel();
        const uint64_t now = Now();
        m_timer = Simulator::Schedule(NanoSeconds(at > now ? at - now : 0), &AnabranchL4Protocol::OnTimer, this);
    }
}

void
AnabranchL4Protocol::OnTimer()
{
    anabranch_handle_timeout(m_host, Now());
    std::vector<uint64_t> all;
    for (const auto& [connection, socket] : m_sockets)
    {
        all.push_back(connection);
    }
    for (auto connection : all)
    {
        Join(connection);
    }
    Pump();
}

Ptr<Ipv4Route>
AnabranchL4Protocol::Route(Ptr<Packet> packet, const anabranch_tuple& tuple, bool onlyOwnDevice) const
{
    Ipv4Header header;
    header.SetSource(FromEngine(tuple.local));
    header.SetDestination(FromEngine(tuple.remote));
    header.SetProtocol(PROTOCOL);
    Socket::SocketErrno error;
    const int32_t interface = m_ipv4->GetInterfaceForAddress(header.GetSource());
    Ptr<Ipv4Route> route;
    if (interface >= 0 && m_ipv4->IsUp(interface))
    {
        auto device = m_ipv4->GetNetDevice(interface);
        route = m_ipv4->GetRoutingProtocol()->RouteOutput(packet, header, device, error);
    }
    if (!route && !onlyOwnDevice)
    {
        route = m_ipv4->GetRoutingProtocol()->RouteOutput(packet, header, nullptr, error);
    }
    return route;
}

void
AnabranchL4Protocol::SendSegment(anabranch_segment& segment)
{
    Ptr<Packet> packet = Create<Packet>();
    if (segment.payload_len > 0)
    {
        auto socket = m_sockets.find(segment.connection);
        NS_ASSERT_MSG(socket != m_sockets.end(), "data of a connection without a socket");
        packet = socket->second->Octets(segment.payload_offset, segment.payload_len);
    }
    if (Node::ChecksumEnabled())
    {
        std::vector<uint8_t> payload(segment.payload_len);
        packet->CopyData(payload.data(), payload.size());
        anabranch_fill_checksums(&segment, payload.data());
    }
    packet->AddHeader(OctetsHeader(segment.header, segment.header_len));
    if (segment.ecn != ANABRANCH_ECN_NONE)
    {
        SocketIpTosTag tos;
        tos.SetTos(segment.ecn);
        packet->AddPacketTag(tos);
    }
    auto route = Route(packet, segment.tuple, false);
    if (!route)
    {
        NS_LOG_LOGIC("no route to " << FromEngine(segment.tuple.remote));
        return;
    }
    m_down(packet, FromEngine(segment.tuple.local), FromEngine(segment.tuple.remote), PROTOCOL, route);
}

void
AnabranchL4Protocol::ManagePaths(uint64_t connection, bool opened)
{
    uint32_t policy = ANABRANCH_PATHS_NONE;
    if (m_pathManager == "one-per-interface")
    {
        policy = ANABRANCH_PATHS_ONE_PER_INTERFACE;
    }
    else if (m_pathManager == "full-mesh")
    {
        policy = ANABRANCH_PATHS_FULL_MESH;
    }
    else
    {
        NS_ABORT_MSG_IF(m_pathManager != "none",
                        "Anabranch: PathManager \"" << m_pathManager
                                                    << "\": one-per-interface, full-mesh or none");
    }
    std::vector<anabranch_address> addresses;
    for (uint32_t i = 0; i < m_ipv4->GetNInterfaces(); i++)
    {
        for (uint32_t j = 0; m_ipv4->IsUp(i) && j < m_ipv4->GetNAddresses(i); j++)
        {
            const auto local = m_ipv4->GetAddress(i, j).GetLocal();
            if (!local.IsLocalhost())
            {
                addresses.push_back(AnabranchAddress(local, 0));
            }
        }
    }
    const int code = anabranch_manage_paths(m_host,
                                            Now(),
                                            connection,
                                            policy,
                                            opened,
                                            addresses.data(),
                                            addresses.size());
    NS_ABORT_MSG_IF(code < 0, "Anabranch: " << anabranch_last_error());
}

void
AnabranchL4Protocol::Join(uint64_t connection)
{
    anabranch_tuple tuple{};
    while (anabranch_poll_join(m_host, Now(), connection, &tuple) == ANABRANCH_OK)
    {
        uint16_t port;
        uint32_t subflow;
        if (!Route(Create<Packet>(), tuple, true) || anabranch_draw_port(m_host, &tuple, &port) < 0)
        {
            continue;
        }
        tuple.local.port = port;
        if (anabranch_open_subflow(m_host, connection, &tuple, 0, &subflow) == ANABRANCH_OK)
        {
            m_ports[port]++;
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
