// SPDX-License-Identifier: GPL-2.0-only
#include "../helper/anabranch-helper.h"
#include "../model/anabranch-l4-protocol.h"
#include "../model/anabranch-socket.h"

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/seq-ts-size-header.h>
#include <ns3/test.h>
#include <set>

using namespace ns3;

namespace
{

/// A byte tag with a number.
class NumberTag : public Tag
{
  public:
    explicit NumberTag(uint32_t number = 0)
        : m_number(number)
    {
    }

    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::AnabranchNumberTag").SetParent<Tag>().AddConstructor<NumberTag>();
        return tid;
    }

    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t GetSerializedSize() const override
    {
        return 4;
    }

    void Serialize(TagBuffer i) const override
    {
        i.WriteU32(m_number);
    }

    void Deserialize(TagBuffer i) override
    {
        m_number = i.ReadU32();
    }

    void Print(std::ostream& os) const override
    {
        os << m_number;
    }

    uint32_t m_number;
};

/// Two nodes with two links; both have Anabranch.
struct Two
{
    NodeContainer nodes;
    std::vector<NetDeviceContainer> devices;
    Ipv4Address server[2];
    Ipv4Address client[2];
    Ipv6Address server6[2];
    Ipv6Address client6[2];

    /// \p instead: Anabranch is there instead of ns-3's TCP, not beside it.
    explicit Two(std::string manager = "one-per-interface", double loss = 0, bool instead = false)
    {
        nodes.Create(2);
        AnabranchHelper anabranch;
        anabranch.SetAttribute("PathManager", StringValue(manager));
        if (instead)
        {
            anabranch.InstallInternetStack(nodes);
        }
        else
        {
            InternetStackHelper().Install(nodes);
            anabranch.Install(nodes);
        }
        for (int i = 0; i < 2; i++)
        {
            PointToPointHelper link;
            link.SetDeviceAttribute("DataRate", StringValue(i == 0 ? "10Mbps" : "5Mbps"));
            link.SetChannelAttribute("Delay", StringValue(i == 0 ? "20ms" : "5ms"));
            devices.push_back(link.Install(nodes));
            const std::string number = std::to_string(i + 1);
            auto four = Ipv4AddressHelper(("10." + number + ".0.0").c_str(), "255.255.255.0").Assign(devices[i]);
            auto six = Ipv6AddressHelper(Ipv6Address(("2001:db8:" + number + "::").c_str()), Ipv6Prefix(64))
                           .Assign(devices[i]);
            client[i] = four.GetAddress(0);
            server[i] = four.GetAddress(1);
            client6[i] = six.GetAddress(0, 1);
            server6[i] = six.GetAddress(1, 1);
            for (uint32_t end = 0; loss > 0 && end < 2; end++)
            {
                auto model = CreateObject<RateErrorModel>();
                model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
                model->SetRate(loss);
                model->AssignStreams(10 * i + end);
                devices[i].Get(end)->SetAttribute("ReceiveErrorModel", PointerValue(model));
            }
        }
    }

    Ptr<Socket> Make(uint32_t node, std::string factory = "ns3::AnabranchSocketFactory") const
    {
        return Socket::CreateSocket(nodes.Get(node), TypeId::LookupByName(factory));
    }

    Ptr<Socket> Listener(Address at, std::string factory = "ns3::AnabranchSocketFactory") const
    {
        auto listener = Make(1, factory);
        listener->Bind(at);
        listener->Listen();
        return listener;
    }
};

/// Messages with SeqTsSizeHeader, with real and virtual payload and byte tags, arrive in order.
class Messages : public TestCase
{
  public:
    Messages(bool ipv6, uint32_t count)
        : TestCase(std::string("messages over two subflows with losses, ") + (ipv6 ? "IPv6" : "IPv4")),
          m_ipv6(ipv6),
          m_count(count)
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1400));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(500000));
        Two two("one-per-interface", 0.01);
        auto listener = two.Listener(m_ipv6 ? Address(Inet6SocketAddress(Ipv6Address::GetAny(), 80))
                                            : Address(InetSocketAddress(Ipv4Address::GetAny(), 80)));
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    MakeCallback(&Messages::Accept, this));
        auto client = two.Make(0);
        client->SetSendCallback(MakeCallback(&Messages::Send, this));
        // Before Simulator::Run: waits for the start.
        const int code = client->Connect(m_ipv6 ? Address(Inet6SocketAddress(two.server6[0], 80))
                                                : Address(InetSocketAddress(two.server[0], 80)));
        NS_TEST_ASSERT_MSG_EQ(code, 0, "Connect before the start");
        Simulator::Stop(Seconds(600));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_next, m_count, "messages that have arrived");
        NS_TEST_EXPECT_MSG_EQ(m_wrong, 0, "messages with other content");
        NS_TEST_EXPECT_MSG_EQ(m_ended, true, "the receiver saw the end");
        for (uint32_t subflow = 0; subflow < 2; subflow++)
        {
            NS_TEST_EXPECT_MSG_EQ(m_found[subflow], true, "subflow " << subflow << " exists");
            NS_TEST_EXPECT_MSG_GT(m_octets[subflow], 1000, "octets over subflow " << subflow);
        }
        Simulator::Destroy();
        Config::Reset();
    }

    Ptr<Packet> Make(uint32_t number) const
    {
        // Odd messages have octets, even ones virtual payload.
        const uint32_t size = 100 + number * 37 % 3000;
        Ptr<Packet> packet;
        if (number % 2)
        {
            std::vector<uint8_t> octets(size);
            for (uint32_t i = 0; i < size; i++)
            {
                octets[i] = number + i;
            }
            packet = Create<Packet>(octets.data(), size);
        }
        else
        {
            packet = Create<Packet>(size);
        }
        SeqTsSizeHeader header;
        header.SetSeq(number);
        header.SetSize(size + header.GetSerializedSize());
        packet->AddHeader(header);
        packet->AddByteTag(NumberTag(number));
        return packet;
    }

    void Send(Ptr<Socket> socket, uint32_t)
    {
        while (m_sent < m_count && socket->Send(Make(m_sent)) > 0)
        {
            m_sent++;
        }
        if (m_sent == m_count)
        {
            socket->Close();
        }
    }

    void Accept(Ptr<Socket> socket, const Address&)
    {
        m_stream = Create<Packet>();
        socket->SetRecvCallback(MakeCallback(&Messages::Read, this));
        socket->SetCloseCallbacks(MakeCallback(&Messages::End, this), MakeNullCallback<void, Ptr<Socket>>());
    }

    void End(Ptr<Socket> socket)
    {
        m_ended = true;
        for (uint32_t s = 0; s < 2; s++)
        {
            anabranch_subflow_info info{};
            m_found[s] = DynamicCast<AnabranchSocket>(socket)->GetSubflow(s, info);
            m_octets[s] = info.octets_received;
        }
        socket->Close();
    }

    void Read(Ptr<Socket> socket)
    {
        while (auto packet = socket->Recv(777, 0))
        {
            if (packet->GetSize() == 0)
            {
                break;
            }
            m_stream->AddAtEnd(packet);
        }
        SeqTsSizeHeader header;
        const uint32_t least = header.GetSerializedSize();
        while (m_stream->GetSize() >= least)
        {
            m_stream->PeekHeader(header);
            const uint32_t size = header.GetSize();
            if (size < least || size > 4000 || m_stream->GetSize() < size)
            {
                m_wrong += size < least || size > 4000;
                break;
            }
            auto message = m_stream->CreateFragment(0, size);
            m_stream->RemoveAtStart(size);
            Check(message, header.GetSeq());
        }
    }

    void Check(Ptr<Packet> message, uint32_t number)
    {
        auto expected = Make(m_next);
        m_wrong += number != m_next || message->GetSize() != expected->GetSize();
        SeqTsSizeHeader header;
        message->RemoveHeader(header);
        expected->RemoveHeader(header);
        std::vector<uint8_t> a(message->GetSize());
        std::vector<uint8_t> b(expected->GetSize());
        message->CopyData(a.data(), a.size());
        expected->CopyData(b.data(), b.size());
        m_wrong += a != b;
        NumberTag tag;
        m_wrong += !message->FindFirstMatchingByteTag(tag) || tag.m_number != m_next;
        m_next++;
    }

    bool m_ipv6;
    uint32_t m_count;
    uint32_t m_sent{0};
    uint32_t m_next{0};
    uint32_t m_wrong{0};
    bool m_ended{false};
    bool m_found[2]{};
    uint64_t m_octets[2]{};
    Ptr<Packet> m_stream;
};

/// What Send, Bind, Listen and Connect refuse, with which errno.
class Refusals : public TestCase
{
  public:
    Refusals()
        : TestCase("errno of what is refused")
    {
    }

  private:
    void Expect(int code, Socket::SocketErrno error, std::string what, Ptr<Socket> socket)
    {
        NS_TEST_EXPECT_MSG_EQ(code, -1, what);
        NS_TEST_EXPECT_MSG_EQ(socket->GetErrno(), error, what);
    }

    void DoRun() override
    {
        Two two;
        // A second Install changes nothing.
        const auto protocol = two.nodes.Get(1)->GetObject<AnabranchL4Protocol>();
        AnabranchHelper().Install(two.nodes);
        NS_TEST_EXPECT_MSG_EQ(two.nodes.Get(1)->GetObject<AnabranchL4Protocol>(), protocol, "Install twice");
        const InetSocketAddress port80(Ipv4Address::GetAny(), 80);
        auto unbound = two.Make(1);
        Expect(unbound->Listen(), Socket::ERROR_INVAL, "Listen unbound", unbound);
        auto listener = two.Listener(port80);
        auto second = two.Make(1);
        Expect(second->Bind(port80), Socket::ERROR_ADDRINUSE, "port in use", second);
        // Data offset in words, and octets of the segment: too short for TCP, shorter than its header, and
        // with a header that is too short.
        for (const auto& [offset, size] : {std::pair(5, 19), std::pair(15, 40), std::pair(4, 20)})
        {
            std::vector<uint8_t> octets(size);
            octets[3] = 80;
            octets[12] = offset << 4;
            const auto status = protocol->Receive(Create<Packet>(octets.data(), size),
                                                  Ipv4Header(),
                                                  two.nodes.Get(1)->GetObject<Ipv4L3Protocol>()->GetInterface(1));
            NS_TEST_EXPECT_MSG_EQ(status, IpL4Protocol::RX_CSUM_FAILED, size << " octets, data offset " << offset);
        }
        auto client = two.Make(0);
        Expect(client->Send(Create<Packet>(1)), Socket::ERROR_NOTCONN, "Send before Connect", client);
        Expect(client->Bind(PacketSocketAddress()), Socket::ERROR_AFNOSUPPORT, "Bind to another family", client);
        Expect(client->ShutdownSend(), Socket::ERROR_NOTCONN, "ShutdownSend before Connect", client);
        NS_TEST_EXPECT_MSG_EQ(bool(client->Recv()), false, "nothing to receive");
        client->SetSendCallback(MakeCallback(&Refusals::OnConnected, this));
        client->Connect(InetSocketAddress(two.server[0], 80));
        Expect(client->Connect(port80), Socket::ERROR_ISCONN, "Connect twice", client);
        // ns-3 has no route there once the simulation runs.
        m_nowhere = two.Make(0);
        Simulator::Schedule(Seconds(1), [this] {
            Expect(m_nowhere->Connect(InetSocketAddress("192.0.2.1", 80)),
                   Socket::ERROR_NOROUTETOHOST,
                   "no route",
                   m_nowhere);
        });
        // Before the simulation runs, the same call fails later.
        auto early = two.Make(0);
        early->SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(), MakeCallback(&Refusals::OnFailed, this));
        NS_TEST_EXPECT_MSG_EQ(early->Connect(InetSocketAddress("192.0.2.1", 80)), 0, "waits for the start");
        // A port where nobody listens answers with RST, of ns-3's TCP.
        auto closed = two.Make(0);
        closed->SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(), MakeCallback(&Refusals::OnFailed, this));
        closed->Connect(InetSocketAddress(two.server[0], 81));
        Simulator::Stop(Seconds(20));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_failed, 2, "connections that failed");
        NS_TEST_EXPECT_MSG_EQ(m_connected, true, "the client is connected");
        Simulator::Destroy();
    }

    void OnFailed(Ptr<Socket>)
    {
        m_failed++;
    }

    void OnConnected(Ptr<Socket> socket, uint32_t)
    {
        if (m_connected)
        {
            return;
        }
        m_connected = true;
        Expect(socket->Send(Create<Packet>(131073)), Socket::ERROR_MSGSIZE, "more than the buffer", socket);
        NS_TEST_EXPECT_MSG_EQ(socket->Send(Create<Packet>(131072)), 131072, "as much as the buffer");
        NS_TEST_EXPECT_MSG_EQ(socket->Send(Create<Packet>(131072)), 131072, "taken in part by the engine");
        NS_TEST_EXPECT_MSG_EQ(socket->GetTxAvailable(), 0, "now it is full");
        Expect(socket->Send(Create<Packet>(1)), Socket::ERROR_MSGSIZE, "no room", socket);
        socket->ShutdownSend();
        Expect(socket->Send(Create<Packet>(1)), Socket::ERROR_SHUTDOWN, "after ShutdownSend", socket);
        socket->Close();
        NS_TEST_EXPECT_MSG_EQ(socket->Close(), 0, "Close twice");
    }

    int m_failed{0};
    bool m_connected{false};
    Ptr<Socket> m_nowhere;
};

/// Sends \p size octets over each socket, counts those that arrive, and closes a socket that has all.
class Exchange
{
  public:
    explicit Exchange(uint32_t size)
        : m_size(size)
    {
    }

    void Watch(Ptr<Socket> socket)
    {
        socket->SetSendCallback(MakeCallback(&Exchange::Send, this));
        socket->SetRecvCallback(MakeCallback(&Exchange::Read, this));
    }

    void Listen(Ptr<Socket> listener)
    {
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    MakeCallback(&Exchange::Accept, this));
    }

    void Accept(Ptr<Socket> socket, const Address&)
    {
        Watch(socket);
        Send(socket, 0);
    }

    void Send(Ptr<Socket> socket, uint32_t)
    {
        auto& sent = m_each[socket].sent;
        while (sent < m_size)
        {
            const int taken = socket->Send(Create<Packet>(std::min(1000u, m_size - sent)));
            if (taken < 0)
            {
                return;
            }
            sent += taken;
        }
    }

    void Read(Ptr<Socket> socket)
    {
        while (auto packet = socket->Recv())
        {
            if (packet->GetSize() == 0)
            {
                return;
            }
            m_received += packet->GetSize();
            m_each[socket].received += packet->GetSize();
        }
        if (m_each[socket].received == m_size && m_each[socket].sent == m_size)
        {
            socket->Close();
        }
    }

    struct Octets
    {
        uint32_t sent{0};
        uint32_t received{0};
    };

    uint32_t m_size;
    uint64_t m_received{0};
    std::map<Ptr<Socket>, Octets> m_each;
};

/// ns-3's TCP works beside Anabranch: both ends send \p size octets.
class Mixed : public TestCase
{
  public:
    Mixed(std::string client, std::string server, uint32_t size = 500000, std::string controller = "")
        : TestCase(client + " to " + server + " " + controller),
          m_client(client),
          m_server(server),
          m_size(size),
          m_controller(controller)
    {
    }

  private:
    void DoRun() override
    {
        if (!m_controller.empty())
        {
            Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(m_controller)));
        }
        Two two;
        const bool own = m_server == "ns3::TcpSocketFactory";
        Exchange exchange(m_size);
        // The same port with both kinds of sockets at once, on different nodes.
        auto listener = two.Listener(InetSocketAddress(Ipv4Address::GetAny(), 80), m_server);
        auto other = two.Listener(InetSocketAddress(Ipv4Address::GetAny(), 90),
                                  own ? "ns3::AnabranchSocketFactory" : "ns3::TcpSocketFactory");
        exchange.Listen(listener);
        auto client = two.Make(0, m_client);
        exchange.Watch(client);
        Simulator::Schedule(Seconds(1), [client, &two] { client->Connect(InetSocketAddress(two.server[0], 80)); });
        Simulator::Stop(Seconds(300));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(exchange.m_received, 2 * m_size, "octets that have arrived");
        Simulator::Destroy();
        Config::Reset();
    }

    std::string m_client;
    std::string m_server;
    uint32_t m_size;
    std::string m_controller;
};

/// The names of all controllers of ns-3's TCP.
std::set<std::string>
Controllers()
{
    // ns-3.37 calls TcpCubic a child of another class.
    std::set<std::string> names{"ns3::TcpCubic"};
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const auto type = TypeId::GetRegistered(i);
        if (type.IsChildOf(TcpCongestionOps::GetTypeId()) && type.HasConstructor())
        {
            names.insert(type.GetName());
        }
    }
    return names;
}

/// Many connections of two subflows at once: all octets arrive, and the nodes give their ports back.
class Many : public TestCase
{
  public:
    explicit Many(uint32_t count)
        : TestCase(std::to_string(count) + " connections of two subflows"),
          m_count(count)
    {
    }

  private:
    void DoRun() override
    {
        Two two;
        Exchange exchange(10000);
        auto listener = two.Listener(InetSocketAddress(Ipv4Address::GetAny(), 80));
        exchange.Listen(listener);
        two.nodes.Get(0)->GetObject<AnabranchL4Protocol>()->TraceConnectWithoutContext(
            "Subflow",
            MakeCallback(&Many::OnSubflow, this));
        for (uint32_t i = 0; i < m_count; i++)
        {
            Simulator::Schedule(MilliSeconds(20 * i), [&] {
                auto client = two.Make(0);
                exchange.Watch(client);
                NS_TEST_EXPECT_MSG_EQ(client->Connect(InetSocketAddress(two.server[0], 80)), 0, "Connect");
            });
        }
        Simulator::Stop(MilliSeconds(20 * m_count) + Seconds(60));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_opened[0], m_count, "first subflows");
        NS_TEST_EXPECT_MSG_EQ(m_opened[1], m_count, "second subflows");
        NS_TEST_EXPECT_MSG_EQ(exchange.m_received, 2ULL * m_count * exchange.m_size, "octets that have arrived");
        Simulator::Destroy();
    }

    void OnSubflow(uint64_t, uint32_t subflow, std::string what)
    {
        m_opened[std::min(subflow, 2u)] += what == "opened";
    }

    uint32_t m_count;
    uint32_t m_opened[3]{};
};

/// Applications that name ns3::TcpSocketFactory, on nodes without ns-3's TCP.
class Instead : public TestCase
{
  public:
    Instead()
        : TestCase("an Internet stack without ns-3's TCP")
    {
    }

  private:
    void DoRun() override
    {
        Two two("one-per-interface", 0, true);
        NS_TEST_EXPECT_MSG_EQ(bool(two.nodes.Get(0)->GetObject<TcpL4Protocol>()), false, "ns-3's TCP is not there");
        two.nodes.Get(0)->GetObject<AnabranchL4Protocol>()->TraceConnectWithoutContext(
            "Subflow",
            MakeCallback(&Instead::OnSubflow, this));
        ThreeGppHttpServerHelper(two.server[0]).Install(two.nodes.Get(1)).Start(Seconds(0));
        auto clients = ThreeGppHttpClientHelper(two.server[0]).Install(two.nodes.Get(0));
        clients.Start(Seconds(1));
        clients.Get(0)->TraceConnectWithoutContext("RxMainObject", MakeCallback(&Instead::OnObject, this));
        auto closed = two.Make(0, "ns3::TcpSocketFactory");
        closed->SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(), MakeCallback(&Instead::OnFailed, this));
        closed->Connect(InetSocketAddress(two.server[0], 81));
        Simulator::Stop(Seconds(200));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_GT(m_objects, 1, "pages that have arrived");
        NS_TEST_EXPECT_MSG_GT(m_second, 0, "second subflows");
        NS_TEST_EXPECT_MSG_EQ(m_failed, Seconds(0.04), "a port where nobody listens answers at once");
        Simulator::Destroy();
    }

    void OnSubflow(uint64_t, uint32_t subflow, std::string what)
    {
        m_second += subflow == 1 && what == "opened";
    }

    void OnObject(Ptr<const ThreeGppHttpClient>, Ptr<const Packet>)
    {
        m_objects++;
    }

    void OnFailed(Ptr<Socket>)
    {
        m_failed = MilliSeconds(Simulator::Now().GetMilliSeconds());
    }

    int m_objects{0};
    int m_second{0};
    Time m_failed;
};

/// The simulation is destroyed while both ends send; sockets outlive their nodes.
class Destroyed : public TestCase
{
  public:
    Destroyed()
        : TestCase("destroyed while sending")
    {
    }

  private:
    void DoRun() override
    {
        Ptr<Socket> client;
        Exchange exchange(10000000);
        {
            Two two;
            exchange.Listen(two.Listener(InetSocketAddress(Ipv4Address::GetAny(), 80)));
            client = two.Make(0);
            exchange.Watch(client);
            client->Connect(InetSocketAddress(two.server[0], 80));
            Simulator::Stop(Seconds(2));
            Simulator::Run();
            Simulator::Destroy();
        }
        NS_TEST_EXPECT_MSG_GT(exchange.m_received, 100000, "octets that have arrived");
        NS_TEST_EXPECT_MSG_EQ(client->Send(Create<Packet>(1)), -1, "Send");
        NS_TEST_EXPECT_MSG_EQ(client->GetErrno(), Socket::ERROR_NOTCONN, "its errno");
        NS_TEST_EXPECT_MSG_EQ(bool(client->Recv()), false, "Recv");
        NS_TEST_EXPECT_MSG_EQ(client->GetRxAvailable(), 0, "GetRxAvailable");
        NS_TEST_EXPECT_MSG_EQ(client->Listen(), -1, "Listen");
        NS_TEST_EXPECT_MSG_EQ(client->ShutdownSend(), -1, "ShutdownSend");
        NS_TEST_EXPECT_MSG_EQ(client->Close(), 0, "Close");
    }
};

/// An interface goes down and comes back; a subflow and a backup are opened by hand.
class Paths : public TestCase
{
  public:
    explicit Paths(bool ipv6)
        : TestCase(std::string("addresses that come and go, ") + (ipv6 ? "IPv6" : "IPv4")),
          m_ipv6(ipv6)
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(500000));
        Two two;
        auto listener = two.Listener(m_ipv6 ? Address(Inet6SocketAddress(Ipv6Address::GetAny(), 80))
                                            : Address(InetSocketAddress(Ipv4Address::GetAny(), 80)));
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    MakeCallback(&Paths::Accept, this));
        auto protocol = two.nodes.Get(0)->GetObject<AnabranchL4Protocol>();
        protocol->TraceConnectWithoutContext("Subflow", MakeCallback(&Paths::OnSubflow, this));
        protocol->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Paths::OnWindow, this));
        protocol->TraceConnectWithoutContext("RTT", MakeCallback(&Paths::OnTime, this));
        protocol->TraceConnectWithoutContext("Tx", MakeCallback(&Paths::OnSegment, this));
        protocol->TraceConnectWithoutContext("Rx", MakeCallback(&Paths::OnSegment, this));
        auto client = two.Make(0);
        client->SetSendCallback(MakeCallback(&Paths::Send, this));
        client->Connect(m_ipv6 ? Address(Inet6SocketAddress(two.server6[0], 80))
                               : Address(InetSocketAddress(two.server[0], 80)));
        auto four = two.nodes.Get(0)->GetObject<Ipv4>();
        auto six = two.nodes.Get(0)->GetObject<Ipv6>();
        // ns-3.37 itself fails after Ipv6::SetDown, so the address alone goes there.
        const auto i4 = four->GetInterfaceForAddress(two.client[1]);
        const auto i6 = six->GetInterfaceForAddress(two.client6[1]);
        auto second = [&](bool up) {
            if (!m_ipv6)
            {
                up ? four->SetUp(i4) : four->SetDown(i4);
            }
            else if (up)
            {
                six->AddAddress(i6, Ipv6InterfaceAddress(two.client6[1], Ipv6Prefix(64)));
            }
            else
            {
                NS_TEST_EXPECT_MSG_EQ(six->RemoveAddress(i6, two.client6[1]), true, "the address was there");
            }
        };
        Simulator::Schedule(Seconds(3), [&] {
            m_before = m_opened;
            second(false);
        });
        Simulator::Schedule(Seconds(20), [&] {
            m_while = m_removed;
            second(true);
        });
        Simulator::Schedule(Seconds(21), [&] { client->Send(Create<Packet>(100000)); });
        Simulator::Stop(Seconds(40));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_before, 2, "subflows before");
        NS_TEST_EXPECT_MSG_EQ(m_while, 1, "subflows that ended because their address was removed");
        NS_TEST_EXPECT_MSG_EQ(m_opened, 3, "subflows in all");
        NS_TEST_EXPECT_MSG_GT(m_windows, 10, "values of windows");
        NS_TEST_EXPECT_MSG_GT(m_times, 2, "values of round-trip times");
        NS_TEST_EXPECT_MSG_GT(m_segments, 1000, "segments");
        NS_TEST_EXPECT_MSG_EQ(m_traced->GetSize(), m_tracedSize, "a traced payload stays as it was");
        NS_TEST_EXPECT_MSG_GT(m_received, 1000000, "octets that have arrived");
        Simulator::Destroy();
        Config::Reset();
    }

    void Accept(Ptr<Socket> socket, const Address&)
    {
        socket->SetRecvCallback(MakeCallback(&Paths::Read, this));
    }

    void Send(Ptr<Socket> socket, uint32_t)
    {
        while (m_sent < 1500000 && socket->Send(Create<Packet>(10000)) > 0)
        {
            m_sent += 10000;
        }
    }

    void Read(Ptr<Socket> socket)
    {
        while (auto packet = socket->Recv())
        {
            if (packet->GetSize() == 0)
            {
                return;
            }
            m_received += packet->GetSize();
        }
    }

    void OnSubflow(uint64_t, uint32_t, std::string what)
    {
        m_opened += what == "opened";
        m_removed += what == "address removed";
    }

    void OnWindow(uint64_t, uint32_t, uint32_t, uint32_t)
    {
        m_windows++;
    }

    void OnTime(uint64_t, uint32_t, Time, Time)
    {
        m_times++;
    }

    void OnSegment(uint64_t, uint32_t, Ptr<const Packet> payload, const TcpHeader&)
    {
        m_segments++;
        if (!m_traced && payload->GetSize() > 0)
        {
            m_traced = payload;
            m_tracedSize = payload->GetSize();
        }
    }

    bool m_ipv6;
    int m_opened{0};
    int m_removed{0};
    int m_before{0};
    int m_while{0};
    uint32_t m_windows{0};
    uint32_t m_times{0};
    uint32_t m_segments{0};
    Ptr<const Packet> m_traced;
    uint32_t m_tracedSize{0};
    uint64_t m_sent{0};
    uint64_t m_received{0};
};

/// Subflows opened by a public call; TOS in the IP headers.
class ByHand : public TestCase
{
  public:
    ByHand()
        : TestCase("a backup opened by hand, TOS and TTL")
    {
    }

  private:
    void DoRun() override
    {
        Two two("none");
        auto listener = two.Listener(InetSocketAddress(Ipv4Address::GetAny(), 80));
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                    MakeCallback(&ByHand::Accept, this));
        two.nodes.Get(0)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Tx",
                                                                                  MakeCallback(&ByHand::OnTx, this));
        auto client = DynamicCast<AnabranchSocket>(two.Make(0));
        client->SetIpTos(0xb8);
        client->SetIpTtl(9);
        const InetSocketAddress remote(two.server[0], 80);
        NS_TEST_EXPECT_MSG_EQ(client->OpenSubflow(InetSocketAddress(two.client[1], 0), remote), -1, "no connection");
        client->Connect(remote);
        Simulator::Schedule(Seconds(1), [&] {
            NS_TEST_EXPECT_MSG_EQ(client->OpenSubflow(InetSocketAddress(two.client[1], 0),
                                                      InetSocketAddress(two.server[1], 80),
                                                      true),
                                  -1,
                                  "before the peer has confirmed the keys");
            NS_TEST_EXPECT_MSG_EQ(client->GetErrno(), Socket::ERROR_AGAIN, "its errno");
            client->Send(Create<Packet>(1000));
        });
        Simulator::Schedule(Seconds(2), [&] {
            NS_TEST_EXPECT_MSG_EQ(client->OpenSubflow(InetSocketAddress(two.client[1], 0),
                                                      InetSocketAddress(two.server[1], 80),
                                                      true),
                                  0,
                                  "afterwards");
        });
        Simulator::Schedule(Seconds(3), [&] { client->Send(Create<Packet>(100000)); });
        Simulator::Schedule(Seconds(6), [&] {
            client->SetBackup(1, false);
            client->Send(Create<Packet>(100000));
        });
        Simulator::Schedule(Seconds(5), [&] {
            anabranch_subflow_info info{};
            NS_TEST_ASSERT_MSG_EQ(client->GetSubflow(1, info), true, "the backup exists");
            NS_TEST_EXPECT_MSG_EQ(info.octets_sent, 0, "and carries nothing");
        });
        Simulator::Stop(Seconds(10));
        Simulator::Run();
        anabranch_subflow_info info{};
        NS_TEST_ASSERT_MSG_EQ(client->GetSubflow(1, info), true, "the backup exists");
        NS_TEST_EXPECT_MSG_GT(info.octets_sent, 10000, "as a regular one it carries data");
        NS_TEST_EXPECT_MSG_EQ(m_received, 201000, "octets that have arrived");
        NS_TEST_EXPECT_MSG_GT(m_marked, 100, "packets with TOS 0xb8 and TTL 9");
        NS_TEST_EXPECT_MSG_EQ(m_unmarked, 0, "packets without");
        Simulator::Destroy();
    }

    void Accept(Ptr<Socket> socket, const Address&)
    {
        socket->SetRecvCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket> s) {
            while (auto packet = s->Recv())
            {
                m_received += packet->GetSize();
            }
        }));
    }

    void OnTx(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
    {
        Ipv4Header header;
        packet->PeekHeader(header);
        const bool marked = (header.GetTos() & 0xfc) == 0xb8 && header.GetTtl() == 9;
        marked ? m_marked++ : m_unmarked++;
    }

    uint32_t m_received{0};
    uint32_t m_marked{0};
    uint32_t m_unmarked{0};
};

/// ns-3's enumeration of durations: TestCase::TestDuration before 3.42, TestCase::Duration since.
template <class Class, class Duration>
Duration DurationOf(void (Class::*)(TestCase*, Duration));

class AnabranchTestSuite : public TestSuite
{
  public:
    AnabranchTestSuite()
        : TestSuite("anabranch", Type::UNIT)
    {
        typedef decltype(DurationOf(&AnabranchTestSuite::AddTestCase)) Duration;
        AddTestCase(new Messages(false, 300), Duration::QUICK);
        AddTestCase(new Messages(true, 300), Duration::QUICK);
        AddTestCase(new Messages(false, 10000), Duration::EXTENSIVE);
        AddTestCase(new Messages(true, 10000), Duration::EXTENSIVE);
        AddTestCase(new Refusals, Duration::QUICK);
        const std::string ours = "ns3::AnabranchSocketFactory";
        const std::string theirs = "ns3::TcpSocketFactory";
        AddTestCase(new Mixed(ours, theirs), Duration::QUICK);
        AddTestCase(new Mixed(theirs, ours), Duration::QUICK);
        AddTestCase(new Mixed(theirs, theirs), Duration::QUICK);
        for (const auto& controller : Controllers())
        {
            AddTestCase(new Mixed(ours, theirs, 5000000, controller), Duration::EXTENSIVE);
        }
        AddTestCase(new Many(30), Duration::QUICK);
        AddTestCase(new Many(1000), Duration::EXTENSIVE);
        AddTestCase(new Instead, Duration::QUICK);
        AddTestCase(new Destroyed, Duration::QUICK);
        AddTestCase(new Paths(false), Duration::QUICK);
        AddTestCase(new Paths(true), Duration::QUICK);
        AddTestCase(new ByHand, Duration::QUICK);
    }
};

AnabranchTestSuite g_anabranchTestSuite;

} // namespace

#ifdef ANABRANCH_STANDALONE
int
main(int argc, char* argv[])
{
    return TestRunner::Run(argc, argv);
}
#endif
