// SPDX-License-Identifier: GPL-2.0-only
// Routes, addresses that come and go, path managers.
#include "anabranch-l4-protocol.h"
#include "anabranch-socket.h"

#include <algorithm>
#include <ns3/ipv4-list-routing.h>
#include <ns3/ipv4-route.h>
#include <ns3/ipv6-list-routing.h>
#include <ns3/ipv6-route.h>
#include <ns3/log.h>
#include <ns3/simulator.h>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("AnabranchPaths");

namespace
{

/// Hears of IPv4 addresses that come and go, as the last protocol of a node's list routing. Has no
/// routes.
class Observer4 : public Ipv4RoutingProtocol
{
  public:
    explicit Observer4(AnabranchL4Protocol* protocol)
        : m_protocol(protocol)
    {
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header&, Ptr<NetDevice>, Socket::SocketErrno& error) override
    {
        error = Socket::ERROR_NOROUTETOHOST;
        return nullptr;
    }

    bool RouteInput(Ptr<const Packet>,
                    const Ipv4Header&,
                    Ptr<const NetDevice>,
                    UnicastForwardCallback,
                    MulticastForwardCallback,
                    LocalDeliverCallback,
                    ErrorCallback) override
    {
        return false;
    }

    void NotifyInterfaceUp(uint32_t interface) override
    {
        All(interface, true);
    }

    void NotifyInterfaceDown(uint32_t interface) override
    {
        All(interface, false);
    }

    void NotifyAddAddress(uint32_t interface, Ipv4InterfaceAddress address) override
    {
        if (m_ipv4 && m_ipv4->IsUp(interface))
        {
            Tell(address.GetLocal(), true);
        }
    }

    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress address) override
    {
        Tell(address.GetLocal(), false);
    }

    void SetIpv4(Ptr<Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }

  private:
    void DoDispose() override
    {
        m_protocol = nullptr;
        m_ipv4 = nullptr;
        Ipv4RoutingProtocol::DoDispose();
    }

    void All(uint32_t interface, bool present)
    {
        for (uint32_t i = 0; m_ipv4 && i < m_ipv4->GetNAddresses(interface); i++)
        {
            Tell(m_ipv4->GetAddress(interface, i).GetLocal(), present);
        }
    }

    void Tell(Ipv4Address address, bool present)
    {
        if (m_protocol && !address.IsLocalhost())
        {
            m_protocol->AddressChanged(ToEngine(address, 0), present);
        }
    }

    AnabranchL4Protocol* m_protocol; //!< Lives as long as the node that holds both.
    Ptr<Ipv4> m_ipv4;
};

/// The same for IPv6.
class Observer6 : public Ipv6RoutingProtocol
{
  public:
    explicit Observer6(AnabranchL4Protocol* protocol)
        : m_protocol(protocol)
    {
    }

    Ptr<Ipv6Route> RouteOutput(Ptr<Packet>, const Ipv6Header&, Ptr<NetDevice>, Socket::SocketErrno& error) override
    {
        error = Socket::ERROR_NOROUTETOHOST;
        return nullptr;
    }

    bool RouteInput(Ptr<const Packet>,
                    const Ipv6Header&,
                    Ptr<const NetDevice>,
                    UnicastForwardCallback,
                    MulticastForwardCallback,
                    LocalDeliverCallback,
                    ErrorCallback) override
    {
        return false;
    }

    void NotifyInterfaceUp(uint32_t interface) override
    {
        All(interface, true);
    }

    void NotifyInterfaceDown(uint32_t interface) override
    {
        All(interface, false);
    }

    void NotifyAddAddress(uint32_t interface, Ipv6InterfaceAddress address) override
    {
        if (m_ipv6 && m_ipv6->IsUp(interface))
        {
            Tell(address, true);
        }
    }

    void NotifyRemoveAddress(uint32_t, Ipv6InterfaceAddress address) override
    {
        Tell(address, false);
    }

    void NotifyAddRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
    {
    }

    void NotifyRemoveRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
    {
    }

    void SetIpv6(Ptr<Ipv6> ipv6) override
    {
        m_ipv6 = ipv6;
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }

  private:
    void DoDispose() override
    {
        m_protocol = nullptr;
        m_ipv6 = nullptr;
        Ipv6RoutingProtocol::DoDispose();
    }

    void All(uint32_t interface, bool present)
    {
        for (uint32_t i = 0; m_ipv6 && i < m_ipv6->GetNAddresses(interface); i++)
        {
            Tell(m_ipv6->GetAddress(interface, i), present);
        }
    }

    void Tell(const Ipv6InterfaceAddress& address, bool present)
    {
        if (m_protocol && address.GetScope() == Ipv6InterfaceAddress::GLOBAL)
        {
            m_protocol->AddressChanged(ToEngine(address.GetAddress(), 0), present);
        }
    }

    AnabranchL4Protocol* m_protocol; //!< Lives as long as the node that holds both.
    Ptr<Ipv6> m_ipv6;
};

/// After all other protocols of a list.
constexpr int16_t LAST = INT16_MIN;

} // namespace

void
AnabranchL4Protocol::Observe()
{
    if (auto list = m_ipv4 ? DynamicCast<Ipv4ListRouting>(m_ipv4->GetRoutingProtocol()) : nullptr)
    {
        list->AddRoutingProtocol(Create<Observer4>(this), LAST);
    }
    else if (m_ipv4)
    {
        m_locals[4];
    }
    if (auto list = m_ipv6 ? DynamicCast<Ipv6ListRouting>(m_ipv6->GetRoutingProtocol()) : nullptr)
    {
        list->AddRoutingProtocol(Create<Observer6>(this), LAST);
    }
    else if (m_ipv6)
    {
        m_locals[6];
    }
}

void
AnabranchL4Protocol::CompareAddresses()
{
    auto in = [](const anabranch_address& a, const std::vector<anabranch_address>& all) {
        return std::any_of(all.begin(), all.end(), [&](const anabranch_address& b) {
            return std::memcmp(&a, &b, sizeof a) == 0;
        });
    };
    for (auto& [family, before] : m_locals)
    {
        const auto now = Locals(family);
        if (before)
        {
            for (const auto& address : *before)
            {
                if (!in(address, now))
                {
                    AddressChanged(address, false);
                }
            }
            for (const auto& address : now)
            {
                if (!in(address, *before))
                {
                    AddressChanged(address, true);
                }
            }
        }
        // Connections know the addresses of the first comparison from ManagePaths.
        before = now;
    }
}

void
AnabranchL4Protocol::AddressChanged(const anabranch_address& address, bool present)
{
    bool changed = false;
    for (const auto& [connection, socket] : m_sockets)
    {
        if (socket->m_tuple.local.family == address.family && !m_over.count(connection))
        {
            anabranch_address_changed(m_host, Now(), connection, &address, present);
            changed = true;
        }
    }
    if (changed)
    {
        // The routes of the interface come or go after this call.
        Simulator::ScheduleNow(&AnabranchL4Protocol::Join, this);
        PumpSoon();
    }
}

Ptr<Ipv4Route>
AnabranchL4Protocol::Route4(Ptr<Packet> packet, const anabranch_tuple& tuple, bool onlyOwnDevice) const
{
    Ipv4Header header;
    header.SetSource(ToIpv4(tuple.local));
    header.SetDestination(ToIpv4(tuple.remote));
    header.SetProtocol(GetProtocolNumber());
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

Ptr<Ipv6Route>
AnabranchL4Protocol::Route6(Ptr<Packet> packet, const anabranch_tuple& tuple, bool onlyOwnDevice) const
{
    Ipv6Header header;
    header.SetSource(ToIpv6(tuple.local));
    header.SetDestination(ToIpv6(tuple.remote));
    header.SetNextHeader(GetProtocolNumber());
    Socket::SocketErrno error;
    const int32_t interface = m_ipv6->GetInterfaceForAddress(header.GetSource());
    Ptr<Ipv6Route> route;
    if (interface >= 0 && m_ipv6->IsUp(interface))
    {
        auto device = m_ipv6->GetNetDevice(interface);
        route = m_ipv6->GetRoutingProtocol()->RouteOutput(packet, header, device, error);
    }
    if (!route && !onlyOwnDevice)
    {
        route = m_ipv6->GetRoutingProtocol()->RouteOutput(packet, header, nullptr, error);
    }
    return route;
}

bool
AnabranchL4Protocol::HasRoute(const anabranch_tuple& tuple, bool onlyOwnDevice) const
{
    if (tuple.local.family == 6)
    {
        return m_ipv6 && Route6(Create<Packet>(), tuple, onlyOwnDevice);
    }
    return m_ipv4 && Route4(Create<Packet>(), tuple, onlyOwnDevice);
}

void
AnabranchL4Protocol::SendDown(Ptr<Packet> packet, const anabranch_tuple& tuple)
{
    if (tuple.local.family == 6)
    {
        if (auto route = m_ipv6 ? Route6(packet, tuple, false) : nullptr)
        {
            m_down6(packet, ToIpv6(tuple.local), ToIpv6(tuple.remote), GetProtocolNumber(), route);
            return;
        }
    }
    else if (auto route = m_ipv4 ? Route4(packet, tuple, false) : nullptr)
    {
        m_down(packet, ToIpv4(tuple.local), ToIpv4(tuple.remote), GetProtocolNumber(), route);
        return;
    }
    NS_LOG_LOGIC("a segment has no route and is lost");
}

anabranch_address
AnabranchL4Protocol::SourceFor(const anabranch_address& remote) const
{
    Socket::SocketErrno error;
    if (remote.family == 6 && m_ipv6)
    {
        Ipv6Header header;
        header.SetDestination(ToIpv6(remote));
        if (auto route = m_ipv6->GetRoutingProtocol()->RouteOutput(Create<Packet>(), header, nullptr, error))
        {
            return ToEngine(route->GetSource(), 0);
        }
    }
    else if (remote.family == 4 && m_ipv4)
    {
        Ipv4Header header;
        header.SetDestination(ToIpv4(remote));
        if (auto route = m_ipv4->GetRoutingProtocol()->RouteOutput(Create<Packet>(), header, nullptr, error))
        {
            return ToEngine(route->GetSource(), 0);
        }
    }
    return anabranch_address{};
}

std::vector<anabranch_address>
AnabranchL4Protocol::Locals(uint8_t family) const
{
    std::vector<anabranch_address> all;
    if (family == 4)
    {
        for (uint32_t i = 0; m_ipv4 && i < m_ipv4->GetNInterfaces(); i++)
        {
            for (uint32_t j = 0; m_ipv4->IsUp(i) && j < m_ipv4->GetNAddresses(i); j++)
            {
                const auto local = m_ipv4->GetAddress(i, j).GetLocal();
                if (!local.IsLocalhost())
                {
                    all.push_back(ToEngine(local, 0));
                }
            }
        }
        return all;
    }
    for (uint32_t i = 0; m_ipv6 && i < m_ipv6->GetNInterfaces(); i++)
    {
        for (uint32_t j = 0; m_ipv6->IsUp(i) && j < m_ipv6->GetNAddresses(i); j++)
        {
            const auto local = m_ipv6->GetAddress(i, j);
            if (local.GetScope() == Ipv6InterfaceAddress::GLOBAL)
            {
                all.push_back(ToEngine(local.GetAddress(), 0));
            }
        }
    }
    return all;
}

void
AnabranchL4Protocol::SetPathManager(std::string word)
{
    if (word == "one-per-interface")
    {
        m_policy = ANABRANCH_PATHS_ONE_PER_INTERFACE;
    }
    else if (word == "full-mesh")
    {
        m_policy = ANABRANCH_PATHS_FULL_MESH;
    }
    else
    {
        NS_ABORT_MSG_IF(word != "none",
                        "ns3::AnabranchL4Protocol::PathManager is \""
                            << word << "\": one-per-interface, full-mesh or none");
        m_policy = ANABRANCH_PATHS_NONE;
    }
}

std::string
AnabranchL4Protocol::GetPathManager() const
{
    static const char* words[] = {"none", "one-per-interface", "full-mesh"};
    return words[m_policy];
}

void
AnabranchL4Protocol::ManagePaths(uint64_t connection, bool opened, uint8_t family)
{
    const auto locals = Locals(family);
    const int code =
        anabranch_manage_paths(m_host, Now(), connection, m_policy, opened, locals.data(), locals.size());
    NS_ABORT_MSG_IF(code < 0, "Anabranch: " << anabranch_last_error());
}

void
AnabranchL4Protocol::Join()
{
    uint64_t connection;
    anabranch_tuple tuple{};
    uint8_t backup;
    while (m_node && anabranch_poll_join(m_host, Now(), &connection, &tuple, &backup) == ANABRANCH_OK)
    {
        uint32_t subflow;
        uint16_t port;
        if (HasRoute(tuple, true) && anabranch_draw_port(m_host, &tuple, &port) == ANABRANCH_OK)
        {
            auto from = tuple;
            from.local.port = port;
            const int code = anabranch_open_subflow(m_host, connection, &from, backup, &subflow);
            if (code == ANABRANCH_OK)
            {
                Bind(connection, subflow, from);
            }
            if (code == ANABRANCH_OK || code == ANABRANCH_NEVER)
            {
                continue;
            }
        }
        anabranch_join_failed(m_host, Now(), connection, &tuple);
    }
}

} // namespace ns3
