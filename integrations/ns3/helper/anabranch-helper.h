// SPDX-License-Identifier: GPL-2.0-only
#ifndef ANABRANCH_HELPER_H
#define ANABRANCH_HELPER_H

#include <ns3/node-container.h>
#include <ns3/object-factory.h>

namespace ns3
{

/// Installs Multipath TCP beside the TCP of nodes that have an Internet stack.
class AnabranchHelper
{
  public:
    AnabranchHelper();
    /// Sets an attribute of ns3::AnabranchL4Protocol for the nodes installed next.
    void SetAttribute(std::string name, const AttributeValue& value);
    void Install(NodeContainer nodes) const;

  private:
    ObjectFactory m_factory;
};

} // namespace ns3

#endif
