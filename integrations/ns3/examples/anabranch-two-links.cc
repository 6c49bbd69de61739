// SPDX-License-Identifier: GPL-2.0-only
// A client and a server with two links: 5 Mbit/s with 100 ms, and 2 Mbit/s with 10 ms. BulkSend sends
// 20 MB to PacketSink over both.
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
    uint64_t bytes = 20000000;
    std::string controller = "coupled";
    std::string scheduler = "min-rtt";
    std::string manager = "one-per-interface";
    bool pcap = false;
    CommandLine cmd(__FILE__);
    cmd.AddValue("bytes", "octets to transfer", bytes);
    cmd.AddValue("controller", "congestion control", controller);
    cmd.AddValue("scheduler", "which subflow takes the next segment", scheduler);
    cmd.AddValue("path-manager", "one-per-interface, full-mesh or none", manager);
    cmd.AddValue("pcap", "write two-links-*.pcap", pcap);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1400));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6000000));
    if (pcap)
    {
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    }

    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    AnabranchHelper anabranch;
    anabranch.SetAttribute("Controller", StringValue(controller));
    anabranch.SetAttribute("Scheduler", StringValue(scheduler));
    anabranch.SetAttribute("PathManager", StringValue(manager));
    anabranch.Install(nodes);

    // Each controller of Multipath TCP fills these two links, so the goodputs of most are alike.
    const char* rates[] = {"5Mbps", "2Mbps"};
    const char* delays[] = {"100ms", "10ms"};
    const char* networks[] = {"10.1.0.0", "10.2.0.0"};
    Ipv4Address server;
    for (int i = 0; i < 2; i++)
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(rates[i]));
        link.SetChannelAttribute("Delay", StringValue(delays[i]));
        auto devices = link.Install(nodes);
        Ipv4AddressHelper addresses(networks[i], "255.255.255.0");
        auto interfaces = addresses.Assign(devices);
        if (i == 0)
        {
            server = interfaces.GetAddress(1);
        }
        if (pcap)
        {
            link.EnablePcap("two-links", devices);
        }
    }

    BulkSendHelper source("ns3::AnabranchSocketFactory", InetSocketAddress(server, 80));
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

    Simulator::Stop(Seconds(600));
    Simulator::Run();
    const auto received = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    std::cout << received << " octets in " << last.GetSeconds() << " s: "
              << received * 8e-6 / last.GetSeconds() << " Mbit/s, " << Simulator::GetEventCount()
              << " events\n";
    Simulator::Destroy();
    return received == bytes ? 0 : 1;
}
