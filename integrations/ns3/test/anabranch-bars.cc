// SPDX-License-Identifier: GPL-2.0-only
// One transfer over one or two links, for comparisons: prints a line of JSON. test/bars.py runs it.
#include "../helper/anabranch-helper.h"

#include <algorithm>
#include <iostream>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-helper.h>

using namespace ns3;

namespace
{

uint64_t g_left;     //!< Octets to be sent.
uint64_t g_received; //!< Octets that have arrived.
double g_last;       //!< When the last of them did, in s.
double g_completed;  //!< When the sender had nothing left to wait for, in s.
uint64_t g_frames;   //!< Packets with payload that the links have carried.

void
Fill(Ptr<Socket> socket, uint32_t)
{
    while (g_left > 0)
    {
        const auto size = static_cast<uint32_t>(std::min<uint64_t>(g_left, 14000));
        if (socket->Send(Create<Packet>(size)) < 0)
        {
            return;
        }
        g_left -= size;
        if (g_left == 0)
        {
            socket->Close();
        }
    }
}

void
Drain(Ptr<Socket> socket)
{
    while (auto packet = socket->Recv())
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        g_received += packet->GetSize();
        g_last = Simulator::Now().GetSeconds();
    }
}

void
Sends(Ptr<Socket> socket)
{
    socket->SetSendCallback(MakeCallback(&Fill));
    Fill(socket, 0);
}

void
Receives(Ptr<Socket> socket)
{
    socket->SetRecvCallback(MakeCallback(&Drain));
}

void
OnClosed(Ptr<Socket> socket)
{
    g_completed = Simulator::Now().GetSeconds();
    socket->Close();
}

void
OnFrame(Ptr<const Packet> packet)
{
    g_frames += packet->GetSize() > 200;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint64_t bytes = 20000000;
    std::string rates = "5Mbps 2Mbps";
    std::string delays = "100ms 10ms";
    std::string queue = "100p";
    std::string profile = "modern";
    std::string controller;
    std::string scheduler;
    std::string manager = "one-per-interface";
    std::string tcp;
    std::string pcap;
    std::string connection;
    std::string stack = "beside";
    double loss = 0;
    bool reverse = false;
    bool ipv6 = false;
    CommandLine cmd(__FILE__);
    cmd.AddValue("bytes", "octets to transfer", bytes);
    cmd.AddValue("rates", "rate of each link", rates);
    cmd.AddValue("delays", "one-way delay of each link", delays);
    cmd.AddValue("queue", "queue of each device", queue);
    cmd.AddValue("profile", "profile", profile);
    cmd.AddValue("connection", "keys of [connection]; ; separates lines", connection);
    cmd.AddValue("controller", "congestion control", controller);
    cmd.AddValue("scheduler", "scheduler", scheduler);
    cmd.AddValue("path-manager", "path manager", manager);
    cmd.AddValue("tcp", "use ns-3's TCP with this congestion control, such as ns3::TcpLinuxReno", tcp);
    cmd.AddValue("loss", "loss of each link and direction, 0 to 1", loss);
    cmd.AddValue("reverse", "the server sends", reverse);
    cmd.AddValue("ipv6", "IPv6", ipv6);
    cmd.AddValue("pcap", "prefix of captures", pcap);
    cmd.AddValue("stack", "beside ns-3's TCP; none: no Internet stack; twice: a second one", stack);
    cmd.Parse(argc, argv);
    std::replace(connection.begin(), connection.end(), ';', '\n');

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1400));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6000000));
    if (!tcp.empty())
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(tcp)));
    }
    if (!pcap.empty())
    {
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    }

    NodeContainer nodes(2);
    if (stack != "none")
    {
        InternetStackHelper().Install(nodes);
    }
    AnabranchHelper anabranch;
    if (stack == "twice")
    {
        anabranch.InstallInternetStack(nodes);
    }
    anabranch.SetAttribute("Profile", StringValue(profile));
    anabranch.SetAttribute("Controller", StringValue(controller));
    anabranch.SetAttribute("Scheduler", StringValue(scheduler));
    anabranch.SetAttribute("PathManager", StringValue(manager));
    anabranch.SetAttribute("Connection", StringValue(connection));
    anabranch.Install(nodes);

    std::istringstream eachRate(rates);
    std::istringstream eachDelay(delays);
    std::string rate;
    std::string delay;
    Address server;
    for (int i = 1; eachRate >> rate && eachDelay >> delay; i++)
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(rate));
        link.SetChannelAttribute("Delay", StringValue(delay));
        link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(queue));
        auto devices = link.Install(nodes);
        const std::string number = std::to_string(i);
        if (ipv6)
        {
            Ipv6AddressHelper addresses(Ipv6Address(("2001:db8:" + number + "::").c_str()), Ipv6Prefix(64));
            auto interfaces = addresses.Assign(devices);
            if (i == 1)
            {
                server = Inet6SocketAddress(interfaces.GetAddress(1, 1), 80);
            }
        }
        else
        {
            Ipv4AddressHelper addresses(("10." + number + ".0.0").c_str(), "255.255.255.0");
            auto interfaces = addresses.Assign(devices);
            if (i == 1)
            {
                server = InetSocketAddress(interfaces.GetAddress(1), 80);
            }
        }
        // The device's queue alone: the queue discipline in front of it would be a second one.
        TrafficControlHelper().Uninstall(devices);
        for (uint32_t end = 0; end < 2; end++)
        {
            devices.Get(end)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&OnFrame));
            if (loss > 0)
            {
                auto model = CreateObject<RateErrorModel>();
                model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
                model->SetRate(loss);
                model->AssignStreams(100 * i + end);
                devices.Get(end)->SetAttribute("ReceiveErrorModel", PointerValue(model));
            }
        }
        if (!pcap.empty())
        {
            link.EnablePcap(pcap, devices);
        }
    }

    const auto factory =
        TypeId::LookupByName(tcp.empty() ? "ns3::AnabranchSocketFactory" : "ns3::TcpSocketFactory");
    g_left = bytes;
    auto listener = Socket::CreateSocket(nodes.Get(1), factory);
    listener->Bind(ipv6 ? Address(Inet6SocketAddress(Ipv6Address::GetAny(), 80))
                        : Address(InetSocketAddress(Ipv4Address::GetAny(), 80)));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                Callback<void, Ptr<Socket>, const Address&>(
                                    [reverse](Ptr<Socket> s, const Address&) {
                                        s->SetCloseCallbacks(MakeCallback(&OnClosed), MakeCallback(&OnClosed));
                                        reverse ? Sends(s) : Receives(s);
                                    }));
    auto client = Socket::CreateSocket(nodes.Get(0), factory);
    client->SetConnectCallback(Callback<void, Ptr<Socket>>([reverse](Ptr<Socket> s) {
                                   reverse ? Receives(s) : Sends(s);
                               }),
                               MakeNullCallback<void, Ptr<Socket>>());
    client->SetCloseCallbacks(MakeCallback(&OnClosed), MakeCallback(&OnClosed));
    client->Connect(server);

    Simulator::Stop(Seconds(3000));
    Simulator::Run();
    std::cout << "{\"received\": " << g_received << ", \"last\": " << g_last << ", \"goodput\": " << std::fixed
              << (g_last > 0 ? g_received * 8e-6 / g_last : 0) << ", \"completed\": " << g_completed
              << ", \"frames\": " << g_frames << ", \"events\": " << Simulator::GetEventCount() << "}\n";
    Simulator::Destroy();
    return g_received == bytes ? 0 : 1;
}
