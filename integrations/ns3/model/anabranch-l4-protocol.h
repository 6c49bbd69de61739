// SPDX-License-Identifier: GPL-2.0-only
#ifndef ANABRANCH_L4_PROTOCOL_H
#define ANABRANCH_L4_PROTOCOL_H

#include <anabranch.h>
#include <deque>
#include <map>
#include <ns3/event-id.h>
#include <ns3/ip-l4-protocol.h>
#include <ns3/ipv4.h>
#include <ns3/node.h>

namespace ns3
{

class AnabranchSocket;

/**
 * Multipath TCP of a node, beside the node's TCP.
 *
 * Takes the place of IPv4 protocol 6. Segments for ports of Anabranch's sockets go to the engine, all
 * others to the TCP that was there before.
 */
class AnabranchL4Protocol : public IpL4Protocol
{
  public:
    static TypeId GetTypeId();
    AnabranchL4Protocol();
    ~AnabranchL4Protocol() override;

    /// Puts itself in the place of TCP on \p node, which needs an Internet stack with IPv4.
    void Install(Ptr<Node> node);

    Ptr<Socket> CreateSocket();

    int GetProtocolNumber() const override;
    enum RxStatus Receive(Ptr<Packet> p, const Ipv4Header& header, Ptr<Ipv4Interface> in) override;
    enum RxStatus Receive(Ptr<Packet> p, const Ipv6Header& header, Ptr<Ipv6Interface> in) override;
    void ReceiveIcmp(Ipv4Address source,
                     uint8_t ttl,
                     uint8_t type,
                     uint8_t code,
                     uint32_t info,
                     Ipv4Address payloadSource,
                     Ipv4Address payloadDestination,
                     const uint8_t payload[8]) override;
    void SetDownTarget(DownTargetCallback cb) override;
    void SetDownTarget6(DownTargetCallback6 cb) override;
    DownTargetCallback GetDownTarget() const override;
    DownTargetCallback6 GetDownTarget6() const override;

  protected:
    void DoDispose() override;

  private:
    friend class AnabranchSocket;

    /// Makes the configuration of a socket's connections; ends the simulation if its text is wrong.
    anabranch_config* MakeConfig(const AnabranchSocket* socket) const;
    /// Sends what is due, reports events, and sets the timer. Safe inside callbacks.
    void Pump();
    /// Pump() in an event of its own, at the current time.
    void PumpSoon();
    void OnTimer();
    /// Moves the engine's events to m_events; the payload of the segment at hand goes to its socket.
    void TakeEvents(Ptr<Packet> payload);
    void Report(const anabranch_event& event);
    AnabranchSocket* Find(const anabranch_event& event);
    void SendSegment(anabranch_segment& segment);
    Ptr<Ipv4Route> Route(Ptr<Packet> packet, const anabranch_tuple& tuple, bool onlyOwnDevice) const;
    /// Gives a connection the path manager of the attribute PathManager.
    void ManagePaths(uint64_t connection, bool opened);
    /// Opens the subflows that the path manager of \p connection wants and that have a route.
    void Join(uint64_t connection);
    void Forget(AnabranchSocket* socket);
    uint64_t Now() const;

    Ptr<Node> m_node;
    Ptr<Ipv4> m_ipv4;
    Ptr<IpL4Protocol> m_tcp; //!< The node's TCP.
    anabranch_host* m_host;
    std::map<uint64_t, Ptr<AnabranchSocket>> m_sockets;
    std::map<uint16_t, Ptr<AnabranchSocket>> m_listeners;
    std::map<uint16_t, uint32_t> m_ports; //!< Our local ports, and how many connections use each.
    std::deque<anabranch_event> m_events;
    EventId m_timer;
    EventId m_soon;
    bool m_pumping;
    bool m_again;
    std::string m_controller;
    std::string m_scheduler;
    std::string m_profile;
    std::string m_connection;
    std::string m_pathManager;
    DownTargetCallback m_down;
    DownTargetCallback6 m_down6;
};

} // namespace ns3

#endif
