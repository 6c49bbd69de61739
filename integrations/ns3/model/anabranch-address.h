// SPDX-License-Identifier: GPL-2.0-only
#ifndef ANABRANCH_ADDRESS_H
#define ANABRANCH_ADDRESS_H

#include <anabranch.h>
#include <cstring>
#include <ns3/inet-socket-address.h>
#include <ns3/inet6-socket-address.h>

namespace ns3
{

/// Address and port in the form of the engine.
inline anabranch_address
ToEngine(Ipv4Address address, uint16_t port)
{
    anabranch_address a{};
    a.family = 4;
    a.port = port;
    address.Serialize(a.octets);
    return a;
}

inline anabranch_address
ToEngine(Ipv6Address address, uint16_t port)
{
    anabranch_address a{};
    a.family = 6;
    a.port = port;
    address.Serialize(a.octets);
    return a;
}

/// Writes address and port of a socket address to \p out; false if it is neither IPv4 nor IPv6.
inline bool
ToEngine(const Address& address, anabranch_address& out)
{
    if (InetSocketAddress::IsMatchingType(address))
    {
        const auto inet = InetSocketAddress::ConvertFrom(address);
        out = ToEngine(inet.GetIpv4(), inet.GetPort());
        return true;
    }
    if (Inet6SocketAddress::IsMatchingType(address))
    {
        const auto inet = Inet6SocketAddress::ConvertFrom(address);
        out = ToEngine(inet.GetIpv6(), inet.GetPort());
        return true;
    }
    return false;
}

inline Ipv4Address
ToIpv4(const anabranch_address& a)
{
    return Ipv4Address::Deserialize(a.octets);
}

inline Ipv6Address
ToIpv6(const anabranch_address& a)
{
    return Ipv6Address::Deserialize(a.octets);
}

/// The socket address that applications see.
inline Address
ToSocketAddress(const anabranch_address& a)
{
    if (a.family == 6)
    {
        return Inet6SocketAddress(ToIpv6(a), a.port);
    }
    return InetSocketAddress(a.family == 4 ? ToIpv4(a) : Ipv4Address::GetAny(), a.port);
}

inline bool
IsUnspecified(const anabranch_address& a)
{
    static const uint8_t zeros[16] = {};
    return std::memcmp(a.octets, zeros, sizeof zeros) == 0;
}

} // namespace ns3

#endif
