// SPDX-License-Identifier: GPL-2.0-only
#include "anabranch-helper.h"

#include "../model/anabranch-l4-protocol.h"

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

} // namespace ns3
