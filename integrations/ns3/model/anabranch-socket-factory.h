// SPDX-License-Identifier: GPL-2.0-only
#ifndef ANABRANCH_SOCKET_FACTORY_H
#define ANABRANCH_SOCKET_FACTORY_H

#include <ns3/socket-factory.h>

namespace ns3
{

class AnabranchL4Protocol;

/// Makes sockets over Multipath TCP: the protocol "ns3::AnabranchSocketFactory" of applications.
class AnabranchSocketFactory : public SocketFactory
{
  public:
    static TypeId GetTypeId();
    void SetProtocol(AnabranchL4Protocol* protocol);
    Ptr<Socket> CreateSocket() override;

  private:
    AnabranchL4Protocol* m_protocol{nullptr}; //!< Lives as long as the node that holds both.
};

} // namespace ns3

#endif
