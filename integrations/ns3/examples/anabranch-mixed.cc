// SPDX-License-Identifier: GPL-2.0-only
// Multipath TCP and ns-3's own TCP send to one server at the same time:
//
//   mptcp --10.1.0.0-- left --10.4.0.0: 10 Mbit/s, 20 ms--+
//     |                 |                                 core --10.6.0.0-- server
//     |   tcp --10.3.0.0+                                 |
//     +-----10.2.0.0-- right --10.5.0.0: 10 Mbit/s, 20 ms-+
//
// They share the left bottleneck; the right one is for Multipath TCP alone. A coupled controller
// (RFC 6356) sends most of its data over the right one and leaves much of the left one to TCP.
// `--controller=uncoupled` takes half of the left one as well.
#include "../helper/anabranch-helper.h"

#include <iostream>
#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/point-to-point-module.h>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string controller = "coupled";
    double seconds = 20;
    CommandLine cmd(__FILE__);
    cmd.AddValue("controller", "congestion control of Multipath TCP", controller);
    cmd.AddValue("seconds", "how long both send", seconds);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1400));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6000000));

    Ptr<Node> mptcp = CreateObject<Node>();
    Ptr<Node> tcp = CreateObject<Node>();
    Ptr<Node> left = CreateObject<Node>();
    Ptr<Node> right = CreateObject<Node>();
    Ptr<Node> core = CreateObject<Node>();
    Ptr<Node> server = CreateObject<Node>();
    NodeContainer all(mptcp, tcp, left, right);
    all.Add(core);
    all.Add(server);
    InternetStackHelper().Install(all);
    // The server has both: Multipath TCP on port 80, ns-3's TCP on port 81.
    AnabranchHelper anabranch;
    anabranch.SetAttribute("Controller", StringValue(controller));
    anabranch.Install(NodeContainer(mptcp, server));

    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    access.SetChannelAttribute("Delay", StringValue("1ms"));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    bottleneck.SetChannelAttribute("Delay", StringValue("20ms"));
    auto connect = [](PointToPointHelper& link, Ptr<Node> a, Ptr<Node> b, const char* network) {
        return Ipv4AddressHelper(network, "255.255.255.0").Assign(link.Install(a, b));
    };
    connect(access, mptcp, left, "10.1.0.0");
    connect(access, mptcp, right, "10.2.0.0");
    connect(access, tcp, left, "10.3.0.0");
    connect(bottleneck, left, core, "10.4.0.0");
    connect(bottleneck, right, core, "10.5.0.0");
    const auto last = connect(access, core, server, "10.6.0.0");

    // Global routing gives each node the shortest path to each network. A subflow leaves by the device of
    // its own address, so the client with two devices also needs a default route for each of them.
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    auto routes = Ipv4StaticRoutingHelper().GetStaticRouting(mptcp->GetObject<Ipv4>());
    routes->SetDefaultRoute("10.1.0.2", 1);
    routes->SetDefaultRoute("10.2.0.2", 2);

    ApplicationContainer sinks;
    auto send = [&](Ptr<Node> from, uint16_t port, const char* factory) {
        BulkSendHelper source(factory, InetSocketAddress(last.GetAddress(1), port));
        source.SetAttribute("SendSize", UintegerValue(14000));
        source.Install(from).Start(Seconds(0));
        PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(server));
    };
    send(mptcp, 80, "ns3::AnabranchSocketFactory");
    send(tcp, 81, "ns3::TcpSocketFactory");

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    bool both = true;
    for (uint32_t i = 0; i < 2; i++)
    {
        const double rate = DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx() * 8e-6 / seconds;
        both = both && rate > 1;
        std::cout << (i == 0 ? "Multipath TCP: " : "TCP: ") << rate << " Mbit/s\n";
    }
    Simulator::Destroy();
    return both ? 0 : 1;
}
