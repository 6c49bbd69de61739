// SPDX-License-Identifier: GPL-2.0-only
// A phone downloads over LTE and Wi-Fi at once:
//
//            LTE 7.0.0.0/8        10.3.0.0/24
//          +------ eNB ... PGW ---------------+
//   phone -+                                  router --10.5.0.0/24-- server
//          +------ access point --------------+
//            Wi-Fi 10.1.0.0/24    10.4.0.0/24
//
// With 5G-LENA: NrHelper and NrPointToPointEpcHelper instead of LteHelper and PointToPointEpcHelper;
// NrHelper::InstallGnbDevice, InstallUeDevice and AttachToClosestGnb instead of the calls of LteHelper;
// NrRlcUm (before version 4: LteRlcUm) for the size of the queue. With ns3-mmwave: MmWaveHelper and
// MmWavePointToPointEpcHelper, InstallEnbDevice, InstallUeDevice, AttachToClosestEnb. Everything from
// "Addresses and routes" on stays as it is.
#include "../helper/anabranch-helper.h"

#include <iostream>
#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/lte-module.h>
#include <ns3/mobility-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/wifi-module.h>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string paths = "both";
    std::string controller = "coupled";
    double seconds = 6;
    CommandLine cmd(__FILE__);
    cmd.AddValue("paths", "both, lte or wifi", paths);
    cmd.AddValue("controller", "congestion control", controller);
    cmd.AddValue("seconds", "length of the simulation in s; the download starts at 0.5 s", seconds);
    cmd.Parse(argc, argv);
    NS_ABORT_MSG_IF(paths != "both" && paths != "lte" && paths != "wifi", "--paths is both, lte or wifi");
    const bool wifi = paths != "lte";

    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1400));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6000000));
    // ns-3's queue of a bearer takes 10 kB, seven segments: no TCP fills LTE with that.
    Config::SetDefault("ns3::LteRlcUm::MaxTxBufferSize", UintegerValue(200000));

    Ptr<Node> phone = CreateObject<Node>();
    Ptr<Node> eNodeB = CreateObject<Node>();
    Ptr<Node> accessPoint = CreateObject<Node>();
    Ptr<Node> router = CreateObject<Node>();
    Ptr<Node> server = CreateObject<Node>();
    InternetStackHelper().Install(NodeContainer(phone, accessPoint, router, server));
    AnabranchHelper anabranch;
    anabranch.SetAttribute("Controller", StringValue(controller));
    anabranch.SetAttribute("PathManager", StringValue(paths == "both" ? "one-per-interface" : "none"));
    anabranch.Install(NodeContainer(phone, server));

    // The phone stands 10 m from the access point and 200 m from the base station.
    MobilityHelper mobility;
    auto positions = CreateObject<ListPositionAllocator>();
    positions->Add(Vector(0, 0, 1.5));
    positions->Add(Vector(200, 0, 30));
    positions->Add(Vector(10, 0, 1.5));
    mobility.SetPositionAllocator(positions);
    mobility.Install(NodeContainer(phone, eNodeB, accessPoint));

    // Wi-Fi: IEEE 802.11a at 24 Mbit/s.
    YansWifiPhyHelper phy;
    phy.SetChannel(YansWifiChannelHelper::Default().Create());
    WifiHelper wlan;
    wlan.SetStandard(WIFI_STANDARD_80211a);
    wlan.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("OfdmRate24Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(Ssid("home")));
    auto wireless = wlan.Install(phy, mac, phone);
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("home")));
    wireless.Add(wlan.Install(phy, mac, accessPoint));

    // LTE: 25 resource blocks (5 MHz) for the only user.
    auto epc = CreateObject<PointToPointEpcHelper>();
    auto lte = CreateObject<LteHelper>();
    lte->SetEpcHelper(epc);
    auto base = lte->InstallEnbDevice(eNodeB);
    auto modem = lte->InstallUeDevice(phone);
    Ptr<Node> gateway = epc->GetPgwNode();

    // Wires.
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    wire.SetChannelAttribute("Delay", StringValue("5ms"));
    auto connect = [&wire](Ptr<Node> a, Ptr<Node> b, const char* network) {
        return Ipv4AddressHelper(network, "255.255.255.0").Assign(wire.Install(a, b));
    };

    // ---- Addresses and routes ----

    Ipv4AddressHelper("10.1.0.0", "255.255.255.0").Assign(wireless); // phone .1, access point .2
    connect(gateway, router, "10.3.0.0");                           // gateway .1, router .2
    connect(accessPoint, router, "10.4.0.0");                       // access point .1, router .2
    connect(router, server, "10.5.0.0");                            // router .1, server .2
    epc->AssignUeIpv4Address(modem);                                // phone 7.0.0.2
    lte->Attach(modem, base.Get(0));

    Ipv4StaticRoutingHelper routing;
    auto of = [&routing](Ptr<Node> node) { return routing.GetStaticRouting(node->GetObject<Ipv4>()); };
    auto interface = [](Ptr<Node> node, const char* address) {
        return node->GetObject<Ipv4>()->GetInterfaceForAddress(Ipv4Address(address));
    };
    const Ipv4Mask mask("255.255.255.0");
    auto lteInterface = phone->GetObject<Ipv4>()->GetInterfaceForDevice(modem.Get(0));

    // The phone reaches the server by both of its devices. A segment leaves by the device of its local
    // address, so each device needs a route: with one default route, the second subflow could not be
    // opened. Where a segment has no local address yet (the SYN of the first subflow), the route with
    // the lowest metric counts.
    of(phone)->SetDefaultRoute(epc->GetUeDefaultGatewayAddress(), lteInterface, paths == "wifi" ? 1 : 0);
    of(phone)->SetDefaultRoute("10.1.0.2", interface(phone, "10.1.0.1"), paths == "wifi" ? 0 : 1);
    // The gateway of LTE knows the phones (7.0.0.0/8, by its tunnel); everything else is at the router.
    of(gateway)->SetDefaultRoute("10.3.0.2", interface(gateway, "10.3.0.1"));
    // The access point knows its wireless network; everything else is at the router.
    of(accessPoint)->SetDefaultRoute("10.4.0.2", interface(accessPoint, "10.4.0.1"));
    // The router is where the paths part: each address of the phone is reached by its own network.
    of(router)->AddNetworkRouteTo("7.0.0.0", "255.0.0.0", "10.3.0.1", interface(router, "10.3.0.2"));
    of(router)->AddNetworkRouteTo("10.1.0.0", mask, "10.4.0.1", interface(router, "10.4.0.2"));
    // The server has one device and one default route, to the router.
    of(server)->SetDefaultRoute("10.5.0.1", interface(server, "10.5.0.2"));

    // ---- Applications: the phone connects, the server sends ----

    // BulkSend sends where it connects to, so the server would have to know the phone's address. Here
    // the server answers each connection with as much as the socket takes.
    auto listener = Socket::CreateSocket(server, TypeId::LookupByName("ns3::AnabranchSocketFactory"));
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 80));
    listener->Listen();
    Callback<void, Ptr<Socket>, uint32_t> fill([](Ptr<Socket> socket, uint32_t) {
        while (socket->Send(Create<Packet>(14000)) > 0)
        {
        }
    });
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                Callback<void, Ptr<Socket>, const Address&>(
                                    [fill](Ptr<Socket> socket, const Address&) { socket->SetSendCallback(fill); }));

    uint64_t received = 0;
    auto client = Socket::CreateSocket(phone, TypeId::LookupByName("ns3::AnabranchSocketFactory"));
    client->SetRecvCallback(Callback<void, Ptr<Socket>>([&received](Ptr<Socket> socket) {
        while (auto packet = socket->Recv())
        {
            received += packet->GetSize();
        }
    }));
    Simulator::Schedule(Seconds(0.5), [client] { client->Connect(InetSocketAddress("10.5.0.2", 80)); });

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << paths << ": " << received * 8e-6 / (seconds - 0.5) << " Mbit/s\n";
    Simulator::Destroy();
    return received > 1000000 ? 0 : 1;
}
