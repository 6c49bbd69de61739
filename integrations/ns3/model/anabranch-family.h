// SPDX-License-Identifier: GPL-2.0-only
#ifndef ANABRANCH_FAMILY_H
#define ANABRANCH_FAMILY_H

#include "anabranch-address.h"

#include <ns3/ipv4-l3-protocol.h>
#include <ns3/ipv4-list-routing.h>
#include <ns3/ipv4-route.h>
#include <ns3/ipv6-l3-protocol.h>
#include <ns3/ipv6-list-routing.h>
#include <ns3/ipv6-route.h>

namespace ns3
{

/// ns-3's classes and functions for IPv4. Code for both families takes FamilyIpv4 or FamilyIpv6 as the
/// parameter of a template.
struct FamilyIpv4
{
    typedef Ipv4L3Protocol L3Protocol;
    typedef Ipv4Header Header;
    typedef Ipv4Route Route;
    typedef Ipv4RoutingProtocol RoutingProtocol;
    typedef Ipv4ListRouting ListRouting;
    typedef Ipv4InterfaceAddress InterfaceAddress;

    static constexpr uint8_t NUMBER = 4; //!< As in anabranch_address::family.

    static Ipv4Address ToIp(const anabranch_address& address)
    {
        return ToIpv4(address);
    }

    static Ipv4Address ToIp(const Ipv4InterfaceAddress& address)
    {
        return address.GetLocal();
    }

    static void SetProtocol(Ipv4Header& header, uint8_t protocol)
    {
        header.SetProtocol(protocol);
    }

    /// Returns false for an address that reaches only its own node.
    static bool IsUsable(const Ipv4InterfaceAddress& address)
    {
        return !address.GetLocal().IsLocalhost();
    }

    /// A routing protocol that knows its Ipv4.
    class Listener : public Ipv4RoutingProtocol
    {
      public:
        void SetIpv4(Ptr<Ipv4> ip) override
        {
            m_ip = ip;
        }

      protected:
        Ptr<Ipv4> m_ip;
    };
};

/// ns-3's classes and functions for IPv6.
struct FamilyIpv6
{
    typedef Ipv6L3Protocol L3Protocol;
    typedef Ipv6Header Header;
    typedef Ipv6Route Route;
    typedef Ipv6RoutingProtocol RoutingProtocol;
    typedef Ipv6ListRouting ListRouting;
    typedef Ipv6InterfaceAddress InterfaceAddress;

    static constexpr uint8_t NUMBER = 6; //!< As in anabranch_address::family.

    static Ipv6Address ToIp(const anabranch_address& address)
    {
        return ToIpv6(address);
    }

    static Ipv6Address ToIp(const Ipv6InterfaceAddress& address)
    {
        return address.GetAddress();
    }

    static void SetProtocol(Ipv6Header& header, uint8_t protocol)
    {
        header.SetNextHeader(protocol);
    }

    /// Returns false for an address that reaches only its own node or one link.
    static bool IsUsable(const Ipv6InterfaceAddress& address)
    {
        return address.GetScope() == Ipv6InterfaceAddress::GLOBAL;
    }

    /// A routing protocol that knows its Ipv6.
    class Listener : public Ipv6RoutingProtocol
    {
      public:
        void SetIpv6(Ptr<Ipv6> ip) override
        {
            m_ip = ip;
        }

        void NotifyAddRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
        {
        }

        void NotifyRemoveRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
        {
        }

      protected:
        Ptr<Ipv6> m_ip;
    };
};

/// Calls \p call with FamilyIpv6 if \p family is 6, else with FamilyIpv4, and returns its result.
template <class Call>
auto
WithFamily(uint8_t family, Call call)
{
    return family == FamilyIpv6::NUMBER ? call(FamilyIpv6()) : call(FamilyIpv4());
}

} // namespace ns3

#endif
