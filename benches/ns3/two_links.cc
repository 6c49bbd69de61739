// Two TCP connections in ns-3, each over a point-to-point link of its own: the nearest thing to the two-path jobs of
// this directory that ns-3 does out of the box (it has no Multipath TCP).
//
//   two_links RATE DELAY1 DELAY2 BYTES SECONDS      e.g.  two_links 100Mbps 20ms 20ms 500000000 1
//
// Each connection sends half of BYTES: NewReno, SACK, timestamps, 1400-octet segments, delayed ACKs, drop-tail queues of
// 100 packets and nothing above them, buffers larger than any window. The job is repeated in one process until it has
// taken SECONDS of user time. Prints one line of JSON: runs, data segments sent (retransmissions included), user seconds.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace ns3;

namespace
{

uint64_t g_segments = 0;

void
OnTransmit(Ptr<const Packet> packet, const TcpHeader&, Ptr<const TcpSocketBase>)
{
    g_segments += packet->GetSize() > 0;
}

void
WatchTransmissions(Ptr<BulkSendApplication> application)
{
    application->GetSocket()->TraceConnectWithoutContext("Tx", MakeCallback(&OnTransmit));
}

double
UserSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec) + double(usage.ru_utime.tv_usec) / 1e6;
}

/// One connection over a new link; returns its sink.
Ptr<PacketSink>
AddConnection(const std::string& rate, const std::string& delay, const std::string& network, uint64_t bytes)
{
    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("100p"));
    NetDeviceContainer devices = link.Install(nodes);

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses(network.c_str(), "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    // The link's own queue is the only one, as in Anabranch.
    TrafficControlHelper().Uninstall(devices);

    const uint16_t port = 5001;
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    ApplicationContainer server = sink.Install(nodes.Get(1));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), port));
    source.SetAttribute("MaxBytes", UintegerValue(bytes));
    source.SetAttribute("SendSize", UintegerValue(1400));
    ApplicationContainer client = source.Install(nodes.Get(0));

    // The socket exists once the application has started.
    Simulator::Schedule(NanoSeconds(1), &WatchTransmissions, DynamicCast<BulkSendApplication>(client.Get(0)));
    return DynamicCast<PacketSink>(server.Get(0));
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc != 6)
    {
        std::fprintf(stderr, "usage: two_links RATE DELAY1 DELAY2 BYTES SECONDS\n");
        return 2;
    }
    const uint64_t half = std::strtoull(argv[4], nullptr, 10) / 2;
    const double seconds = std::strtod(argv[5], nullptr);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1400));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));

    const double start = UserSeconds();
    unsigned runs = 0;
    do
    {
        std::vector<Ptr<PacketSink>> sinks{AddConnection(argv[1], argv[2], "10.0.1.0", half),
                                           AddConnection(argv[1], argv[3], "10.0.2.0", half)};
        Simulator::Run();
        for (const auto& sink : sinks)
        {
            if (sink->GetTotalRx() != half)
            {
                std::fprintf(stderr, "two_links: %lu of %lu octets arrived\n",
                             (unsigned long)sink->GetTotalRx(), (unsigned long)half);
                return 1;
            }
        }
        sinks.clear();
        Simulator::Destroy();
        ++runs;
    } while (UserSeconds() - start < seconds);

    std::printf("{\"runs\": %u, \"segments\": %lu, \"seconds\": %.4f}\n", runs, (unsigned long)g_segments,
                UserSeconds() - start);
    return 0;
}
