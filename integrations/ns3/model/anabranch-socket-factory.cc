// SPDX-License-Identifier: GPL-2.0-only
#include "anabranch-socket-factory.h"

#include "anabranch-l4-protocol.h"

#include <ns3/socket.h>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(AnabranchSocketFactory);

TypeId
AnabranchSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::AnabranchSocketFactory")
                            .SetParent<SocketFactory>()
                            .SetGroupName("Anabranch")
                            .AddConstructor<AnabranchSocketFactory>();
    return tid;
}

void
AnabranchSocketFactory::SetProtocol(AnabranchL4Protocol* protocol)
{
    m_protocol = protocol;
}

Ptr<Socket>
AnabranchSocketFactory::CreateSocket()
{
    return m_protocol->CreateSocket();
}

} // namespace ns3
