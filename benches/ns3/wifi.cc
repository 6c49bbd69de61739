// Goodput over Wi-Fi in ns-3: one access point (or first ad hoc node) and one station, or several. What docs/wifi.md
// compares with, and what the cost of a simulated second is compared with.
//
//   wifi --standard=80211g --rate=ErpOfdmRate54Mbps --distance=30 --traffic=tcp --seed=1        (--PrintHelp: all)
//
// Data flows from 1 s on, for --time seconds; goodput is the payload received in them. TCP: NewReno, 1400-octet segments,
// 4 MB buffers, the rest ns-3's defaults. UDP: a constant rate, --offered Mbit/s. ARP is static, and the MAC queue is the
// only one. With fading the stations associate at 1 m and are moved at 0.9 s. Prints the goodput in Mbit/s (the sum of
// all stations) and the user time of the simulation in seconds. An access category is that of the data, not of TCP's ACKs.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

using namespace ns3;

namespace
{

const Time BEGIN = Seconds(1);
uint64_t g_received = 0;
/// PPDUs with QoS data, frames in them, and how many of those had been sent before; those with TCP's ACKs, which go the other way, are left out.
uint64_t g_ppdus = 0, g_mpdus = 0, g_again = 0;
bool g_down = true;

void
OnReceive(Ptr<const Packet> packet, const Address&)
{
    g_received += packet->GetSize();
}

void
OnPpdu(WifiConstPsduMap psdus, WifiTxVector, double)
{
    for (const auto& [station, psdu] : psdus)
    {
        const WifiMacHeader& header = psdu->GetHeader(0);
        const bool back = g_down ? header.IsToDs() : header.IsFromDs();
        if (header.IsQosData() && header.HasData() && psdu->GetSize() > 200 && !back)
        {
            g_ppdus++;
            g_mpdus += psdu->GetNMpdus();
            for (const auto& mpdu : *psdu)
            {
                g_again += mpdu->GetHeader().IsRetry();
            }
        }
    }
}

double
UserSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_utime.tv_sec) + double(usage.ru_utime.tv_usec) / 1e6;
}

/// Every node knows the addresses of all others for ever.
void
FillArp(const NetDeviceContainer& devices, const Ipv4InterfaceContainer& interfaces)
{
    for (uint32_t i = 0; i < devices.GetN(); i++)
    {
        Ptr<ArpCache> cache = CreateObject<ArpCache>();
        Ptr<Ipv4Interface> interface = interfaces.Get(i).first->GetObject<Ipv4L3Protocol>()->GetInterface(
            interfaces.Get(i).second);
        cache->SetDevice(devices.Get(i), interface);
        for (uint32_t j = 0; j < devices.GetN(); j++)
        {
            if (j != i)
            {
                ArpCache::Entry* entry = cache->Add(interfaces.GetAddress(j));
                entry->SetMacAddress(devices.Get(j)->GetAddress());
                entry->MarkPermanent();
            }
        }
        interface->SetArpCache(cache);
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string standard = "80211g", mode = "infrastructure", rate = "ErpOfdmRate54Mbps", control, traffic = "udp";
    std::string direction = "down", loss = "log-distance", fading = "none", error = "table", delay;
    std::string band = "5", category = "best-effort";
    double distance = 30, power = 16.0206, offered = 36, exponent = 3, seconds = 20, frequency = 5.15e9;
    uint32_t stations = 1, rts = 65535, payload = 1400, seed = 1, retries = 7;
    uint32_t width = 80, guard = 800, streams = 1, ampdu = 65535, amsdu = 0, window = 64, queue = 500;
    bool preamble = true, frames = false;
    CommandLine options;
    options.AddValue("standard", "80211a, 80211b, 80211g or 80211p; at 5 GHz 80211n, 80211ac or 80211ax", standard);
    options.AddValue("width", "MHz, from 80211n on", width);
    options.AddValue("guard", "interval in ns, from 80211n on", guard);
    options.AddValue("streams", "from 80211n on", streams);
    options.AddValue("ampdu", "most octets of an A-MPDU", ampdu);
    options.AddValue("amsdu", "most octets of an A-MSDU", amsdu);
    options.AddValue("window", "of block acknowledgement", window);
    options.AddValue("band", "5 or 2.4 GHz, of 80211n and 80211ax", band);
    options.AddValue("category", "background, best-effort, video or voice", category);
    options.AddValue("queue", "packets", queue);
    options.AddValue("mode", "infrastructure or ad-hoc", mode);
    options.AddValue("rate", "name of a mode, or arf, aarf, minstrel, minstrel-ht", rate);
    options.AddValue("control", "mode of RTS; without it the data's", control);
    options.AddValue("distance", "m", distance);
    options.AddValue("power", "dBm", power);
    options.AddValue("loss", "log-distance or friis", loss);
    options.AddValue("exponent", "of log-distance", exponent);
    options.AddValue("frequency", "Hz, of friis", frequency);
    options.AddValue("fading", "none, nakagami or rayleigh", fading);
    options.AddValue("error", "table or nist", error);
    options.AddValue("preamble", "whether there is preamble detection", preamble);
    options.AddValue("traffic", "udp or tcp", traffic);
    options.AddValue("direction", "down or up", direction);
    options.AddValue("offered", "Mbit/s of UDP, of each station", offered);
    options.AddValue("stations", "how many", stations);
    options.AddValue("rts", "threshold in octets", rts);
    options.AddValue("retries", "transmissions of a frame", retries);
    options.AddValue("payload", "octets", payload);
    options.AddValue("delay", "of a wired hop of 100 Mbit/s behind the access point, such as 10ms", delay);
    options.AddValue("frames", "print frames of a PPDU with data, and the share sent again", frames);
    options.AddValue("time", "s", seconds);
    options.AddValue("seed", "run number", seed);
    options.Parse(argc, argv);
    g_down = direction == "down";

    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(rts));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(retries));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));

    NodeContainer nodes(1 + stations);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    if (loss == "friis")
    {
        channel.AddPropagationLoss("ns3::FriisPropagationLossModel", "Frequency", DoubleValue(frequency));
    }
    else
    {
        channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel",
                                   "Exponent",
                                   DoubleValue(exponent),
                                   "ReferenceLoss",
                                   DoubleValue(46.6777));
    }
    if (fading == "nakagami")
    {
        channel.AddPropagationLoss("ns3::NakagamiPropagationLossModel");
    }
    else if (fading == "rayleigh")
    {
        channel.AddPropagationLoss("ns3::NakagamiPropagationLossModel",
                                   "m0",
                                   DoubleValue(1),
                                   "m1",
                                   DoubleValue(1),
                                   "m2",
                                   DoubleValue(1));
    }
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(power));
    phy.Set("TxPowerEnd", DoubleValue(power));
    if (error == "nist")
    {
        phy.SetErrorRateModel("ns3::NistErrorRateModel");
    }
    if (!preamble)
    {
        phy.DisablePreambleDetectionModel();
    }
    const std::map<std::string, WifiStandard> standards{{"80211a", WIFI_STANDARD_80211a},
                                                        {"80211b", WIFI_STANDARD_80211b},
                                                        {"80211g", WIFI_STANDARD_80211g},
                                                        {"80211p", WIFI_STANDARD_80211p}};
    WifiHelper wifi;
    const std::map<std::string, WifiStandard> high{{"80211n", WIFI_STANDARD_80211n},
                                                   {"80211ac", WIFI_STANDARD_80211ac},
                                                   {"80211ax", WIFI_STANDARD_80211ax}};
    if (high.count(standard))
    {
        const bool low = band == "2.4";
        const std::map<uint32_t, uint32_t> channels{{20, low ? 1 : 36}, {40, low ? 3 : 38}, {80, 42}, {160, 50}};
        wifi.SetStandard(high.at(standard));
        phy.Set("ChannelSettings",
                StringValue("{" + std::to_string(channels.at(width)) + ", " + std::to_string(width) +
                            (low ? ", BAND_2_4GHZ, 0}" : ", BAND_5GHZ, 0}")));
        phy.Set("Antennas", UintegerValue(streams));
        phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(streams));
        phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(streams));
        for (const std::string ac : {"BK", "BE", "VI", "VO"})
        {
            Config::SetDefault("ns3::WifiMac::" + ac + "_MaxAmpduSize", UintegerValue(ampdu));
            Config::SetDefault("ns3::WifiMac::" + ac + "_MaxAmsduSize", UintegerValue(amsdu));
        }
        if (guard >= 800)
        {
            Config::SetDefault("ns3::HeConfiguration::GuardInterval", TimeValue(NanoSeconds(guard)));
        }
        Config::SetDefault("ns3::HeConfiguration::MpduBufferSize", UintegerValue(window));
        Config::SetDefault("ns3::HtConfiguration::ShortGuardIntervalSupported", BooleanValue(guard == 400));
    }
    else
    {
        wifi.SetStandard(standards.at(standard));
    }
    const std::map<std::string, std::string> managers{{"arf", "ns3::ArfWifiManager"},
                                                      {"aarf", "ns3::AarfWifiManager"},
                                                      {"minstrel", "ns3::MinstrelWifiManager"},
                                                      {"minstrel-ht", "ns3::MinstrelHtWifiManager"}};
    if (managers.count(rate))
    {
        wifi.SetRemoteStationManager(managers.at(rate));
    }
    else
    {
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode",
                                     StringValue(rate),
                                     "ControlMode",
                                     StringValue(control.empty() ? rate : control));
    }

    NodeContainer clients;
    for (uint32_t i = 1; i <= stations; i++)
    {
        clients.Add(nodes.Get(i));
    }
    WifiMacHelper mac;
    NetDeviceContainer devices;
    if (mode == "infrastructure")
    {
        mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("x")));
        devices.Add(wifi.Install(phy, mac, nodes.Get(0)));
        mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(Ssid("x")));
        devices.Add(wifi.Install(phy, mac, clients));
    }
    else
    {
        mac.SetType("ns3::AdhocWifiMac");
        devices = wifi.Install(phy, mac, nodes);
    }

    const bool moved = fading != "none";
    Ptr<ListPositionAllocator> positions = CreateObject<ListPositionAllocator>();
    positions->Add(Vector(0, 0, 0));
    for (uint32_t i = 0; i < stations; i++)
    {
        positions->Add(Vector(moved ? 1 : distance, 0, 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
    if (moved)
    {
        Simulator::Schedule(Seconds(0.9), [&clients, distance] {
            for (uint32_t i = 0; i < clients.GetN(); i++)
            {
                clients.Get(i)->GetObject<MobilityModel>()->SetPosition(Vector(distance, 0, 0));
            }
        });
    }

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    FillArp(devices, interfaces);
    Ptr<Node> server = nodes.Get(0);
    Ipv4Address serverAddress = interfaces.GetAddress(0);
    if (!delay.empty())
    {
        server = CreateObject<Node>();
        InternetStackHelper().Install(server);
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
        wire.SetChannelAttribute("Delay", StringValue(delay));
        wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000p"));
        NetDeviceContainer hop = wire.Install(nodes.Get(0), server);
        Ipv4AddressHelper wired("10.0.1.0", "255.255.255.0");
        serverAddress = wired.Assign(hop).GetAddress(1);
        TrafficControlHelper().Uninstall(hop);
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }

    // The upper three bits are the user priority (802.11-2016, table 10-1).
    const std::map<std::string, uint8_t> tos{{"background", 0x20}, {"best-effort", 0}, {"video", 0xa0}, {"voice", 0xc0}};
    const bool udp = traffic == "udp";
    const std::string factory = udp ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory";
    for (uint32_t i = 0; i < stations; i++)
    {
        const bool down = direction == "down";
        const uint16_t port = 5001 + i;
        PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
        ApplicationContainer to = sink.Install(down ? clients.Get(i) : server);
        to.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&OnReceive));
        InetSocketAddress target(down ? interfaces.GetAddress(1 + i) : serverAddress, port);
        target.SetTos(tos.at(category));
        Ptr<Node> from = down ? server : clients.Get(i);
        ApplicationContainer source;
        if (udp)
        {
            OnOffHelper constant(factory, target);
            constant.SetConstantRate(DataRate(uint64_t(offered * 1e6)), payload);
            source = constant.Install(from);
        }
        else
        {
            BulkSendHelper bulk(factory, target);
            bulk.SetAttribute("SendSize", UintegerValue(payload));
            source = bulk.Install(from);
        }
        source.Start(BEGIN);
    }

    if (frames)
    {
        Simulator::Schedule(BEGIN + NanoSeconds(1), [] {
            Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::WifiNetDevice/Phy/PhyTxPsduBegin",
                                          MakeCallback(&OnPpdu));
        });
    }
    Simulator::Stop(BEGIN + Seconds(seconds));
    const double start = UserSeconds();
    Simulator::Run();
    std::printf("%.4f %.3f", double(g_received) * 8 / seconds / 1e6, UserSeconds() - start);
    if (frames)
    {
        std::printf(" %.3f %.4f", double(g_mpdus) / double(g_ppdus), double(g_again) / double(g_mpdus));
    }
    std::printf("\n");
    Simulator::Destroy();
    return 0;
}
