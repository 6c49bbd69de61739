// SPDX-License-Identifier: GPL-2.0-only
#ifndef ANABRANCH_L4_PROTOCOL_H
#define ANABRANCH_L4_PROTOCOL_H

#include "anabranch-address.h"

#include <deque>
#include <map>
#include <ns3/event-id.h>
#include <ns3/ip-l4-protocol.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/ipv6-l3-protocol.h>
#include <ns3/node.h>
#include <ns3/tcp-header.h>
#include <ns3/traced-callback.h>
#include <set>
#include <vector>

namespace ns3
{

class AnabranchSocket;

/**
 * Multipath TCP of a node, beside the node's TCP.
 *
 * Takes the place of protocol 6 of IPv4 and IPv6. Segments for ports of Anabranch's sockets go to the
 * engine, all others to the TCP that was there before.
 *
 * Trace sources have the number of the connection (AnabranchSocket::GetConnection) and of the subflow
 * before their values. Nothing is computed for a source to which nobody is connected.
 */
class AnabranchL4Protocol : public IpL4Protocol
{
  public:
    static TypeId GetTypeId();
    AnabranchL4Protocol();
    ~AnabranchL4Protocol() override;

    /// Takes the place of TCP on \p node, which needs an Internet stack; done already: changes nothing.
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
    void ReceiveIcmp(Ipv6Address source,
                     uint8_t ttl,
                     uint8_t type,
                     uint8_t code,
                     uint32_t info,
                     Ipv6Address payloadSource,
                     Ipv6Address payloadDestination,
                     const uint8_t payload[8]) override;
    void SetDownTarget(DownTargetCallback cb) override;
    void SetDownTarget6(DownTargetCallback6 cb) override;
    DownTargetCallback GetDownTarget() const override;
    DownTargetCallback6 GetDownTarget6() const override;

    /// An address of this node has come or gone. A node with list routing (IPv4's default) reports it by
    /// itself. With another routing protocol (IPv6's default) it is noticed when the next segment is
    /// sent or arrives, at most every 100 ms; call this to have it noticed at once.
    void AddressChanged(const anabranch_address& address, bool present);

    typedef void (*NumberCallback)(uint64_t connection, uint32_t subflow, uint32_t before, uint32_t after);
    typedef void (*TimeCallback)(uint64_t connection, uint32_t subflow, Time before, Time after);
    typedef void (*SegmentCallback)(uint64_t connection,
                                    uint32_t subflow,
                                    Ptr<const Packet> payload,
                                    const TcpHeader& header);
    typedef void (*SubflowCallback)(uint64_t connection, uint32_t subflow, std::string what);

  protected:
    void DoDispose() override;

  private:
    friend class AnabranchSocket;

    /// What a subflow's trace sources have told last.
    struct Told
    {
        uint32_t cwnd{0};
        uint32_t ssthresh{UINT32_MAX};
        uint32_t inFlight{0};
        uint32_t state{0};
        Time rtt;
        Time rto;
    };

    /// A segment for one of our ports, of either family.
    enum RxStatus Arrive(Ptr<Packet> p, const anabranch_address& from, const anabranch_address& to, uint8_t ecn);
    /// Passes an ICMP message about a segment of ours to the engine.
    void Message(const anabranch_tuple& tuple, uint32_t seq, uint32_t mtu, bool hard);
    /// Sends what is due, reports events, and sets the timer. Safe inside callbacks.
    void Pump();
    /// Pump() in an event of its own, at the current time.
    void PumpSoon();
    void OnTimer();
    void SetTimer();
    /// Moves the engine's events to m_events; the payload of the segment at hand goes to its socket.
    void TakeEvents(Ptr<Packet> payload);
    void Report(const anabranch_event& event);
    Ptr<AnabranchSocket> Find(const anabranch_event& event);
    void SendSegment(anabranch_segment& segment);
    void SendDown(Ptr<Packet> packet, const anabranch_tuple& tuple);
    void TraceSegment(const TracedCallback<uint64_t, uint32_t, Ptr<const Packet>, const TcpHeader&>& to,
                      uint64_t connection,
                      uint32_t subflow,
                      Ptr<const Packet> payload,
                      const uint8_t* header,
                      uint32_t length) const;
    void TraceStates();

    Ptr<Ipv4Route> Route4(Ptr<Packet> packet, const anabranch_tuple& tuple, bool onlyOwnDevice) const;
    Ptr<Ipv6Route> Route6(Ptr<Packet> packet, const anabranch_tuple& tuple, bool onlyOwnDevice) const;
    bool HasRoute(const anabranch_tuple& tuple, bool onlyOwnDevice) const;
    /// The address from which a connection to \p remote leaves; of family 0: there is no route.
    anabranch_address SourceFor(const anabranch_address& remote) const;
    /// Our addresses of a family, without those that reach only this node or one link.
    std::vector<anabranch_address> Locals(uint8_t family) const;
    void Observe();
    /// Looks for addresses that have come or gone, if no list routing reports them.
    void CompareAddresses();
    /// Gives a connection the path manager of the attribute PathManager.
    void ManagePaths(uint64_t connection, bool opened, uint8_t family);
    /// Opens the subflows that path managers want and that have a route.
    void Join();
    void SetPathManager(std::string word);
    std::string GetPathManager() const;
    /// Notes a subflow of a connection: segments for its port are ours.
    void Bind(uint64_t connection, uint32_t subflow, const anabranch_tuple& tuple);
    void Forget(uint64_t connection);
    uint16_t DrawListeningPort() const;
    uint64_t Now() const;

    typedef std::pair<uint64_t, uint32_t> Subflow;

    struct Before
    {
        bool operator()(const anabranch_tuple& a, const anabranch_tuple& b) const
        {
            return std::memcmp(&a, &b, sizeof a) < 0;
        }
    };

    Ptr<Node> m_node;
    Ptr<Ipv4L3Protocol> m_ipv4;
    Ptr<Ipv6L3Protocol> m_ipv6;
    Ptr<IpL4Protocol> m_tcp; //!< The node's TCP.
    anabranch_host* m_host;
    std::map<uint64_t, Ptr<AnabranchSocket>> m_sockets;
    std::map<uint16_t, Ptr<AnabranchSocket>> m_listeners;
    std::set<AnabranchSocket*> m_all;               //!< All sockets of this node.
    std::map<uint16_t, uint32_t> m_ports;           //!< Our local ports, and how many sockets and subflows use each.
    std::map<anabranch_tuple, Subflow, Before> m_subflows;
    std::map<Subflow, anabranch_tuple> m_tuples;
    std::set<uint64_t> m_over;                      //!< Closed connections that the engine may still know.
    uint64_t m_swept;                               //!< When m_over was last looked through.
    std::deque<anabranch_event> m_events;
    std::map<uint8_t, std::vector<anabranch_address>> m_locals; //!< Of families without list routing.
    uint64_t m_compared;                            //!< When they were last compared.
    EventId m_timer;
    EventId m_soon;
    bool m_pumping;
    bool m_again;
    std::string m_controller;
    std::string m_scheduler;
    std::string m_profile;
    std::string m_connection;
    uint32_t m_policy;
    DownTargetCallback m_down;
    DownTargetCallback6 m_down6;
    std::map<uint64_t, std::vector<Told>> m_told;
    std::set<uint64_t> m_touched;                   //!< Connections whose state may have changed.

    TracedCallback<uint64_t, uint32_t, uint32_t, uint32_t> m_cwndTrace;
    TracedCallback<uint64_t, uint32_t, uint32_t, uint32_t> m_ssthreshTrace;
    TracedCallback<uint64_t, uint32_t, uint32_t, uint32_t> m_inFlightTrace;
    TracedCallback<uint64_t, uint32_t, uint32_t, uint32_t> m_stateTrace;
    TracedCallback<uint64_t, uint32_t, Time, Time> m_rttTrace;
    TracedCallback<uint64_t, uint32_t, Time, Time> m_rtoTrace;
    TracedCallback<uint64_t, uint32_t, Ptr<const Packet>, const TcpHeader&> m_retransmissionTrace;
    TracedCallback<uint64_t, uint32_t, Ptr<const Packet>, const TcpHeader&> m_txTrace;
    TracedCallback<uint64_t, uint32_t, Ptr<const Packet>, const TcpHeader&> m_rxTrace;
    TracedCallback<uint64_t, uint32_t, std::string> m_subflowTrace;
    TracedCallback<uint64_t, uint32_t, std::string> m_fallbackTrace;
};

} // namespace ns3

#endif
