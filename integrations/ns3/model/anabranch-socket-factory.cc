// SPDX-License-Identifier: GPL-2.0-only
#include "anabranch-socket-factory.h"

#include "anabranch-l4-protocol.h"

#include <ns3/socket.h>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(AnabranchSocketFactory);
NS_OBJECT_ENSURE_REGISTERED(AnabranchTcpSocketFactory);

template <class Base>
Ptr<Socket>
AnabranchFactoryOf<Base>::CreateSocket()
{
    return m_protocol->CreateSocket();
}

template class AnabranchFactoryOf<SocketFactory>;
template class AnabranchFactoryOf<TcpSocketFactory>;

TypeId
AnabranchSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::AnabranchSocketFactory")
                            .SetParent<SocketFactory>()
                            .SetGroupName("Anabranch")
                            .AddConstructor<AnabranchSocketFactory>();
    return tid;
}

TypeId
AnabranchTcpSocketFactory::GetTypeId()
{
    static TypeId tid = TypeId("ns3::AnabranchTcpSocketFactory")
                            .SetParent<TcpSocketFactory>()
                            .SetGroupName("Anabranch")
                            .AddConstructor<AnabranchTcpSocketFactory>();
    return tid;
}

} // namespace ns3
