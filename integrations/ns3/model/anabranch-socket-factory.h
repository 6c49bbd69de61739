// SPDX-License-Identifier: GPL-2.0-only
#ifndef ANABRANCH_SOCKET_FACTORY_H
#define ANABRANCH_SOCKET_FACTORY_H

#include <ns3/socket-factory.h>
#include <ns3/tcp-socket-factory.h>

namespace ns3
{

class AnabranchL4Protocol;

/// A socket factory that makes sockets over Multipath TCP.
template <class Base>
class AnabranchFactoryOf : public Base
{
  public:
    void SetProtocol(AnabranchL4Protocol* protocol)
    {
        m_protocol = protocol;
    }

    Ptr<Socket> CreateSocket() override;

  private:
    AnabranchL4Protocol* m_protocol{nullptr}; //!< Lives as long as the node that holds both.
};

/// The factory "ns3::AnabranchSocketFactory" that applications choose.
class AnabranchSocketFactory : public AnabranchFactoryOf<SocketFactory>
{
  public:
    static TypeId GetTypeId();
};

/// The factory that applications get for "ns3::TcpSocketFactory" on a node without ns-3's TCP.
class AnabranchTcpSocketFactory : public AnabranchFactoryOf<TcpSocketFactory>
{
  public:
    static TypeId GetTypeId();
};

} // namespace ns3

#endif
