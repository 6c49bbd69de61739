// SPDX-License-Identifier: GPL-2.0-only
#ifndef ANABRANCH_L4_PROTOCOL_H
#define ANABRANCH_L4_PROTOCOL_H

#include "anabranch-family.h"

#include <deque>
#include <map>
#include <ns3/event-id.h>
#include <ns3/ip-l4-protocol.h>
#include <ns3/node.h>
#include <ns3/tcp-header.h>
#include <ns3/traced-callback.h>
#include <optional>
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
    static constexpr uint8_t PROTOCOL = 6; //!< TCP's number in the header of IP.
    static constexpr uint32_t LONGEST_HEADER = 60; //!< Octets of the longest TCP header.
    /// Ephemeral ports, first and last: ns-3's TCP has those above.
    static constexpr uint16_t FIRST_PORT = 32768;
    static constexpr uint16_t LAST_PORT = 49151;

    static TypeId GetTypeId();
    AnabranchL4Protocol();
    ~AnabranchL4Protocol() override;

    /// Replaces TCP on \p node, which needs an Internet stack. A second call changes nothing.
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

    /// Tells all connections that an address of this node was added or removed. A node with list
    /// routing (IPv4's default) calls this by itself. Other routing protocols (IPv6's default) do not:
    /// the change is then noticed when a segment is sent or arrives, at most every 100 ms.
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

    /// Values last reported to the trace sources of a subflow.
    struct LastReported
    {
        uint32_t cwnd{0};
        uint32_t ssthresh{UINT32_MAX};
        uint32_t inFlight{0};
        uint32_t state{0};
        Time rtt;
        Time rto;
    };

    /// Passes an arriving segment to TCP, if its port is not ours, or else to ReceiveSegment().
    template <class Header, class Interface>
    enum RxStatus Dispatch(Ptr<Packet> p, const Header& header, Ptr<Interface> in, uint8_t trafficClass);
    /// A segment for one of our ports, of either family. Keeps \p payload.
    enum RxStatus ReceiveSegment(Ptr<Packet> payload,
                                 const uint8_t* header,
                                 uint32_t length,
                                 const anabranch_tuple& tuple,
                                 uint8_t ecn);
    /// Passes an ICMP message about a segment of ours to the engine.
    void ReceiveIcmpError(const anabranch_tuple& tuple, uint32_t seq, uint32_t mtu, bool hard);
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
    /// Notes a connection whose state may have changed, if a trace source for states has listeners.
    void Touch(uint64_t connection);
    void TraceStates();

    const Ptr<Ipv4L3Protocol>& L3Protocol(FamilyIpv4) const
    {
        return m_ipv4;
    }

    const Ptr<Ipv6L3Protocol>& L3Protocol(FamilyIpv6) const
    {
        return m_ipv6;
    }

    const DownTargetCallback& DownTarget(FamilyIpv4) const
    {
        return m_down;
    }

    const DownTargetCallback6& DownTarget(FamilyIpv6) const
    {
        return m_down6;
    }

    bool HasRoute(const anabranch_tuple& tuple, bool onlyOwnDevice) const;
    /// Source address of the route to \p remote; family 0 if there is no route.
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
    /// Forgets closed connections that the engine has forgotten, and frees their ports.
    void Sweep();
    /// Counts one user of a local port less.
    void ReleasePort(uint16_t port);
    /// Returns true if a socket is bound to a local port.
    bool IsBound(uint16_t port) const;
    /// A local port that nobody uses; 0 if there is none.
    uint16_t DrawPort() const;
    uint64_t Now() const;
    /// Returns true if segments have checksums: the global value ChecksumEnabled at the first segment.
    bool HasChecksums();

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
    std::set<uint64_t> m_over; //!< Closed connections; the engine may still hold TIME-WAIT.
    uint64_t m_swept;          //!< Time of the last Sweep, in ns.
    std::deque<anabranch_event> m_events;
    /// Addresses of each family without list routing; empty before the first comparison.
    std::map<uint8_t, std::optional<std::vector<anabranch_address>>> m_locals;
    uint64_t m_compared; //!< Time of the last CompareAddresses, in ns.
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
    std::map<uint64_t, std::vector<LastReported>> m_reported;
    std::set<uint64_t> m_touched; //!< Connections whose state may have changed.
    std::vector<Ptr<AnabranchSocket>> m_senders; //!< Sockets that have not reported octets that were sent.
    std::optional<bool> m_checksums;

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
