// SPDX-License-Identifier: GPL-2.0-only
#ifndef ANABRANCH_SOCKET_H
#define ANABRANCH_SOCKET_H

#include <anabranch.h>
#include <deque>
#include <map>
#include <ns3/inet-socket-address.h>
#include <ns3/tcp-socket.h>

namespace ns3
{

class AnabranchL4Protocol;

/// Address and port in the form of the engine.
anabranch_address AnabranchAddress(Ipv4Address address, uint16_t port);

/// A stream socket over Multipath TCP. IPv4.
class AnabranchSocket : public TcpSocket
{
  public:
    static TypeId GetTypeId();
    AnabranchSocket();

    enum SocketErrno GetErrno() const override;
    enum SocketType GetSocketType() const override;
    Ptr<Node> GetNode() const override;
    int Bind(const Address& address) override;
    int Bind() override;
    int Bind6() override;
    int Close() override;
    int ShutdownSend() override;
    int ShutdownRecv() override;
    int Connect(const Address& address) override;
    int Listen() override;
    uint32_t GetTxAvailable() const override;
    int Send(Ptr<Packet> p, uint32_t flags) override;
    int SendTo(Ptr<Packet> p, uint32_t flags, const Address& to) override;
    uint32_t GetRxAvailable() const override;
    Ptr<Packet> Recv(uint32_t maxSize, uint32_t flags) override;
    Ptr<Packet> RecvFrom(uint32_t maxSize, uint32_t flags, Address& from) override;
    int GetSockName(Address& address) const override;
    int GetPeerName(Address& address) const override;
    bool SetAllowBroadcast(bool allow) override;
    bool GetAllowBroadcast() const override;

  private:
    friend class AnabranchL4Protocol;

    int Fail(SocketErrno error) const;
    /// The engine's connection exists.
    bool IsOpen() const;
    /// The socket of an accepted connection.
    Ptr<AnabranchSocket> Fork(uint64_t connection, const anabranch_tuple& tuple);
    void OnEvent(const anabranch_event& event);
    /// Stores octets that have arrived at \p offset of the peer's stream.
    void Place(uint64_t offset, Ptr<Packet> octets);
    /// Octets of our stream.
    Ptr<Packet> Octets(uint64_t offset, uint32_t length);
    /// Writes the octets that the engine has not taken yet.
    void WriteMore();
    void DropAcknowledged();

    // Attributes of TcpSocket.
    void SetSndBufSize(uint32_t size) override;
    uint32_t GetSndBufSize() const override;
    void SetRcvBufSize(uint32_t size) override;
    uint32_t GetRcvBufSize() const override;
    void SetSegSize(uint32_t size) override;
    uint32_t GetSegSize() const override;
    void SetInitialSSThresh(uint32_t threshold) override;
    uint32_t GetInitialSSThresh() const override;
    void SetInitialCwnd(uint32_t cwnd) override;
    uint32_t GetInitialCwnd() const override;
    void SetConnTimeout(Time timeout) override;
    Time GetConnTimeout() const override;
    void SetSynRetries(uint32_t count) override;
    uint32_t GetSynRetries() const override;
    void SetDataRetries(uint32_t retries) override;
    uint32_t GetDataRetries() const override;
    void SetDelAckTimeout(Time timeout) override;
    Time GetDelAckTimeout() const override;
    void SetDelAckMaxCount(uint32_t count) override;
    uint32_t GetDelAckMaxCount() const override;
    void SetTcpNoDelay(bool noDelay) override;
    bool GetTcpNoDelay() const override;
    void SetPersistTimeout(Time timeout) override;
    Time GetPersistTimeout() const override;

    /// Octets of our stream from an offset on.
    struct Piece
    {
        uint64_t offset;
        Ptr<Packet> octets;
    };

    AnabranchL4Protocol* m_protocol;
    Ptr<Node> m_node;
    mutable SocketErrno m_errno;
    uint64_t m_connection;        //!< 0: none.
    anabranch_tuple m_tuple;      //!< Of the first subflow.
    std::deque<Piece> m_out;      //!< Octets that the engine may send again, and those it has not taken.
    uint64_t m_accepted;          //!< Octets that the application has sent.
    uint64_t m_written;           //!< Of these, the engine has taken so many.
    std::map<uint64_t, Ptr<Packet>> m_in;
    uint64_t m_read;
    bool m_connected;
    bool m_closing;               //!< The application will send no more.
    bool m_notified;              //!< The close was reported.
    uint32_t m_sndBuf;
    uint32_t m_rcvBuf;
    uint32_t m_segSize;
    uint32_t m_ssthresh;
    uint32_t m_initialCwnd;
    uint32_t m_synRetries;
    uint32_t m_dataRetries;
    uint32_t m_delAckCount;
    Time m_connTimeout;
    Time m_delAck;
    Time m_persist;
    bool m_noDelay;
};

} // namespace ns3

#endif
