// SPDX-License-Identifier: GPL-2.0-only
#ifndef ANABRANCH_HELPER_H
#define ANABRANCH_HELPER_H

#include <ns3/node-container.h>
#include <ns3/object-factory.h>

namespace ns3
{

/// Installs Multipath TCP on nodes.
class AnabranchHelper
{
  public:
    AnabranchHelper();
    /// Sets an attribute of ns3::AnabranchL4Protocol for the nodes installed next.
    void SetAttribute(std::string name, const AttributeValue& value);

    /// Puts Multipath TCP beside the TCP of nodes that have an Internet stack.
    void Install(NodeContainer nodes) const;

    /**
     * Gives nodes an Internet stack with Multipath TCP instead of ns-3's TCP.
     *
     * Applications that name ns3::TcpSocketFactory get sockets of this module. Routing is as that of
     * InternetStackHelper: list routing with static and global routes for IPv4, static routes for IPv6.
     * A node that has an Internet stack ends the simulation.
     */
    void InstallInternetStack(NodeContainer nodes) const;

  private:
    ObjectFactory m_factory;
};

} // namespace ns3

#endif
