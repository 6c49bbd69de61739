// SPDX-License-Identifier: GPL-2.0-only
#include "anabranch-helper.h"

#include "../model/anabranch-l4-protocol.h"

#include <ns3/abort.h>
#include <ns3/ipv4-global-routing-helper.h>
#include <ns3/ipv4-list-routing-helper.h>
#include <ns3/ipv4-static-routing-helper.h>
#include <ns3/ipv6-static-routing-helper.h>
#include <ns3/packet-socket-factory.h>

namespace ns3
{

AnabranchHelper::AnabranchHelper()
{
    m_factory.SetTypeId(AnabranchL4Protocol::GetTypeId());
}

void
AnabranchHelper::SetAttribute(std::string name, const AttributeValue& value)
{
    m_factory.Set(name, value);
}

void
AnabranchHelper::Install(NodeContainer nodes) const
{
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        m_factory.Create<AnabranchL4Protocol>()->Install(*node);
    }
}

void
AnabranchHelper::InstallInternetStack(NodeContainer nodes) const
{
    Ipv4ListRoutingHelper lists;
    lists.Add(Ipv4StaticRoutingHelper(), 0);
    lists.Add(Ipv4GlobalRoutingHelper(), -10);
    // Each protocol needs those before it.
    const char* protocols[] = {"ns3::ArpL3Protocol",
                               "ns3::Ipv4L3Protocol",
                               "ns3::Icmpv4L4Protocol",
                               "ns3::Ipv6L3Protocol",
                               "ns3::Icmpv6L4Protocol",
                               "ns3::TrafficControlLayer",
                               "ns3::UdpL4Protocol"};
    for (auto i = nodes.Begin(); i != nodes.End(); ++i)
    {
        const Ptr<Node> node = *i;
        NS_ABORT_MSG_IF(node->GetObject<Ipv4>() || node->GetObject<Ipv6>(),
                        "Anabranch: node " << node->GetId()
                                           << " has an Internet stack: call AnabranchHelper::Install instead");
        for (const char* protocol : protocols)
        {
            ObjectFactory factory;
            factory.SetTypeId(protocol);
            node->AggregateObject(factory.Create<Object>());
        }
        node->GetObject<Ipv4>()->SetRoutingProtocol(lists.Create(node));
        node->GetObject<Ipv6>()->SetRoutingProtocol(Ipv6StaticRoutingHelper().Create(node));
        if (!node->GetObject<PacketSocketFactory>())
        {
            node->AggregateObject(CreateObject<PacketSocketFactory>());
        }
    }
    Install(nodes);
}

} // namespace ns3
