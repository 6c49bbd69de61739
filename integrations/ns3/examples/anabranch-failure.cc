// SPDX-License-Identifier: GPL-2.0-only
// A client sends 20 MB over two links of 10 Mbit/s. The first link, over which the connection was
// opened, fails at 5 s and works again at 9 s. Everything arrives.
#include "../helper/anabranch-helper.h"
#include "../model/anabranch-l4-protocol.h"

#include <iostream>
#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/point-to-point-module.h>

using namespace ns3;

namespace
{

void
OnSubflow(uint64_t, uint32_t subflow, std::string what)
{
    std::cout << Simulator::Now().GetSeconds() << " s: subflow " << subflow << ": " << what << "\n";
}

} // namespace

int
main(int argc, char* argv[])
{
    uint64_t bytes = 20000000;
    CommandLine cmd(__FILE__);
    cmd.AddValue("bytes", "octets to transfer", bytes);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1400));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6000000));

    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    AnabranchHelper().Install(nodes);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    link.SetChannelAttribute("Delay", StringValue("20ms"));
    const auto first = Ipv4AddressHelper("10.1.0.0", "255.255.255.0").Assign(link.Install(nodes));
    Ipv4AddressHelper("10.2.0.0", "255.255.255.0").Assign(link.Install(nodes));

    // The interface of the client goes down and comes up: the path manager notices both.
    auto client = nodes.Get(0)->GetObject<Ipv4>();
    Simulator::Schedule(Seconds(5), &Ipv4::SetDown, client, 1);
    Simulator::Schedule(Seconds(9), &Ipv4::SetUp, client, 1);
    nodes.Get(0)->GetObject<AnabranchL4Protocol>()->TraceConnectWithoutContext("Subflow", MakeCallback(&OnSubflow));

    BulkSendHelper source("ns3::AnabranchSocketFactory", InetSocketAddress(first.GetAddress(1), 80));
    source.SetAttribute("MaxBytes", UintegerValue(bytes));
    source.SetAttribute("SendSize", UintegerValue(14000));
    source.Install(nodes.Get(0)).Start(Seconds(0));
    PacketSinkHelper sink("ns3::AnabranchSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 80));
    auto sinks = sink.Install(nodes.Get(1));
    Time last;
    sinks.Get(0)->TraceConnectWithoutContext(
        "Rx",
        Callback<void, Ptr<const Packet>, const Address&>(
            [&last](Ptr<const Packet>, const Address&) { last = Simulator::Now(); }));

    Simulator::Stop(Seconds(100));
    Simulator::Run();
    const auto received = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    std::cout << received << " octets in " << last.GetSeconds() << " s\n";
    Simulator::Destroy();
    return received == bytes ? 0 : 1;
}
