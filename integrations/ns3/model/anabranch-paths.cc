// SPDX-License-Identifier: GPL-2.0-only
// Routes, addresses that come and go, path managers.
#include "anabranch-family.h"
#include "anabranch-l4-protocol.h"
#include "anabranch-socket.h"

#include <algorithm>
#include <ns3/log.h>
#include <ns3/simulator.h>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("AnabranchPaths");

namespace
{

/// Types of the callbacks that RouteInput gets: ns-3 passes them by value before 3.38, by reference
/// since.
template <class Function>
struct RouteInputOf;

template <class Class, class P, class H, class D, class U, class M, class L, class E>
struct RouteInputOf<bool (Class::*)(P, H, D, U, M, L, E)>
{
    typedef U Unicast;
    typedef M Multicast;
    typedef L Local;
    typedef E Error;
};

/// Hears of addresses that come and go, as the last protocol of a node's list routing. Has no routes.
template <class Family>
class AddressObserver : public Family::Listener
{
    typedef RouteInputOf<decltype(&Family::RoutingProtocol::RouteInput)> Input;

  public:
    explicit AddressObserver(AnabranchL4Protocol* protocol)
        : m_protocol(protocol)
    {
    }

    Ptr<typename Family::Route> RouteOutput(Ptr<Packet>,
                                            const typename Family::Header&,
                                            Ptr<NetDevice>,
                                            Socket::SocketErrno& error) override
    {
        error = Socket::ERROR_NOROUTETOHOST;
        return nullptr;
    }

    bool RouteInput(Ptr<const Packet>,
                    const typename Family::Header&,
                    Ptr<const NetDevice>,
                    typename Input::Unicast,
                    typename Input::Multicast,
                    typename Input::Local,
                    typename Input::Error) override
    {
        return false;
    }

    void NotifyInterfaceUp(uint32_t interface) override
    {
        ReportInterface(interface, true);
    }

    void NotifyInterfaceDown(uint32_t interface) override
    {
        ReportInterface(interface, false);
    }

    void NotifyAddAddress(uint32_t interface, typename Family::InterfaceAddress address) override
    {
        if (this->m_ip && this->m_ip->IsUp(interface))
        {
            Report(address, true);
        }
    }

    void NotifyRemoveAddress(uint32_t, typename Family::InterfaceAddress address) override
    {
        Report(address, false);
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }

  private:
    void DoDispose() override
    {
        m_protocol = nullptr;
        this->m_ip = nullptr;
        Family::Listener::DoDispose();
    }

    void ReportInterface(uint32_t interface, bool present)
    {
        for (uint32_t i = 0; this->m_ip && i < this->m_ip->GetNAddresses(interface); i++)
        {
            Report(this->m_ip->GetAddress(interface, i), present);
        }
    }

    void Report(const typename Family::InterfaceAddress& address, bool present)
    {
        if (m_protocol && Family::IsUsable(address))
        {
            m_protocol->AddressChanged(ToEngine(Family::ToIp(address), 0), present);
        }
    }

    AnabranchL4Protocol* m_protocol; //!< Lives as long as the node that holds both.
};

/// After all other protocols of a list.
constexpr int16_t LAST = INT16_MIN;

/// The route of a segment: by the device of its local address, else, unless \p onlyOwnDevice, by any
/// other device.
template <class Family>
Ptr<typename Family::Route>
FindRoute(Ptr<typename Family::L3Protocol> ip, Ptr<Packet> packet, const anabranch_tuple& tuple, bool onlyOwnDevice)
{
    typename Family::Header header;
    header.SetSource(Family::ToIp(tuple.local));
    header.SetDestination(Family::ToIp(tuple.remote));
    Family::SetProtocol(header, AnabranchL4Protocol::PROTOCOL);
    Socket::SocketErrno error;
    const int32_t interface = ip->GetInterfaceForAddress(header.GetSource());
    Ptr<typename Family::Route> route;
    if (interface >= 0 && ip->IsUp(interface))
    {
        route = ip->GetRoutingProtocol()->RouteOutput(packet, header, ip->GetNetDevice(interface), error);
    }
    if (!route && !onlyOwnDevice)
    {
        route = ip->GetRoutingProtocol()->RouteOutput(packet, header, nullptr, error);
    }
    return route;
}

} // namespace

void
AnabranchL4Protocol::Observe()
{
    auto observe = [this](auto family) {
        typedef decltype(family) Family;
        if (auto ip = L3Protocol(family))
        {
            if (auto list = DynamicCast<typename Family::ListRouting>(ip->GetRoutingProtocol()))
            {
                list->AddRoutingProtocol(CreateObject<AddressObserver<Family>>(this), LAST);
            }
            else
            {
                m_locals[Family::NUMBER];
            }
        }
    };
    observe(FamilyIpv4());
    observe(FamilyIpv6());
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

bool
AnabranchL4Protocol::HasRoute(const anabranch_tuple& tuple, bool onlyOwnDevice) const
{
    return WithFamily(tuple.local.family, [&](auto family) {
        const auto ip = L3Protocol(family);
        return ip && FindRoute<decltype(family)>(ip, Create<Packet>(), tuple, onlyOwnDevice);
    });
}

void
AnabranchL4Protocol::SendDown(Ptr<Packet> packet, const anabranch_tuple& tuple)
{
    WithFamily(tuple.local.family, [&](auto family) {
        typedef decltype(family) Family;
        const auto ip = L3Protocol(family);
        if (auto route = ip ? FindRoute<Family>(ip, packet, tuple, false) : nullptr)
        {
            DownTarget(family)(packet, Family::ToIp(tuple.local), Family::ToIp(tuple.remote), PROTOCOL, route);
        }
        else
        {
            NS_LOG_LOGIC("a segment has no route and is lost");
        }
    });
}

anabranch_address
AnabranchL4Protocol::SourceFor(const anabranch_address& remote) const
{
    return WithFamily(remote.family, [&](auto family) {
        typedef decltype(family) Family;
        if (const auto ip = L3Protocol(family))
        {
            typename Family::Header header;
            header.SetDestination(Family::ToIp(remote));
            Socket::SocketErrno error;
            if (auto route = ip->GetRoutingProtocol()->RouteOutput(Create<Packet>(), header, nullptr, error))
            {
                return ToEngine(route->GetSource(), 0);
            }
        }
        return anabranch_address{};
    });
}

std::vector<anabranch_address>
AnabranchL4Protocol::Locals(uint8_t family) const
{
    return WithFamily(family, [this](auto family) {
        typedef decltype(family) Family;
        std::vector<anabranch_address> all;
        const auto ip = L3Protocol(family);
        for (uint32_t i = 0; ip && i < ip->GetNInterfaces(); i++)
        {
            for (uint32_t j = 0; ip->IsUp(i) && j < ip->GetNAddresses(i); j++)
            {
                const auto address = ip->GetAddress(i, j);
                if (Family::IsUsable(address))
                {
                    all.push_back(ToEngine(Family::ToIp(address), 0));
                }
            }
        }
        return all;
    });
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
