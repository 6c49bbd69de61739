// SPDX-License-Identifier: GPL-2.0-only
#ifndef ANABRANCH_SOCKET_H
#define ANABRANCH_SOCKET_H

#include "anabranch-address.h"

#include <deque>
#include <map>
#include <ns3/tcp-socket.h>

namespace ns3
{

class AnabranchL4Protocol;

/**
 * A stream socket over Multipath TCP, for IPv4 and IPv6.
 *
 * The attributes of ns3::TcpSocket have ns-3's defaults. Those named Sack, Timestamp, UseEcn, MinRto and,
 * unless the socket's own is set, MaxSegLifetime are taken from the defaults of ns3::TcpSocketBase.
 */
class AnabranchSocket : public TcpSocket
{
  public:
    using Socket::Recv;
    using Socket::RecvFrom;
    using Socket::Send;

    static TypeId GetTypeId();
    AnabranchSocket();
    ~AnabranchSocket() override;

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

    /// Number of the connection on this node, which trace sources tell; 0: there is none.
    uint64_t GetConnection() const;

    /**
     * Opens a further subflow of the connection, whatever the path manager wants.
     *
     * \param local our address; port 0: one is drawn
     * \param remote the peer's address and port
     * \param backup use it only while no other subflow works
     * \return 0, or -1 with an errno: ERROR_AGAIN before the peer has confirmed the connection's keys,
     * ERROR_OPNOTSUPP if the connection never can, ERROR_ADDRINUSE, ERROR_NOROUTETOHOST
     */
    int OpenSubflow(const Address& local, const Address& remote, bool backup = false);

    /// Asks the peer to use a subflow only while no other works, or as a regular one again.
    int SetBackup(uint32_t subflow, bool backup);

    /// Writes the state of a subflow to \p info; false if there is no such subflow.
    bool GetSubflow(uint32_t subflow, anabranch_subflow_info& info) const;

  protected:
    void DoDispose() override;

  private:
    friend class AnabranchL4Protocol;

    /// Values of attributes; an accepted socket has those of its listener.
    struct Settings
    {
        uint32_t sndBuf;
        uint32_t rcvBuf;
        uint32_t segSize;
        uint32_t ssthresh;
        uint32_t initialCwnd;
        uint32_t synRetries;
        uint32_t dataRetries;
        uint32_t delAckCount;
        Time connTimeout;
        Time delAck;
        Time persist;
        bool noDelay;
    };

    /// The engine's configuration; ends the simulation if a text is wrong.
    anabranch_config* MakeConfig() const;
    /// Returns true if the value of an attribute of ns3::TcpSocket is not ns-3's own default.
    bool Differs(const std::string& name) const;
    int Fail(SocketErrno error) const;
    /// Connects to m_tuple.remote: 0, or -1.
    int ConnectNow();
    /// As ConnectNow(), of a call before the simulation has started.
    void ConnectLater();
    /// The socket of an accepted connection.
    Ptr<AnabranchSocket> Fork(uint64_t connection, const anabranch_tuple& tuple);
    void OnEvent(const anabranch_event& event);
    void OnConnected();
    /// Tells the application of the end of the connection, once.
    void NotifyEnd(bool orderly);
    /// Stores the first \p length octets of a payload, which belong at \p offset of the peer's stream.
    /// Keeps \p payload.
    void Place(uint64_t offset, uint32_t length, Ptr<Packet> payload);
    /// Octets of our stream.
    Ptr<Packet> Octets(uint64_t offset, uint32_t length) const;
    /// TOS, ECN, priority and TTL of a segment.
    void Tag(Ptr<Packet> segment, uint8_t ecn) const;
    /// Calls NotifyDataSent for the octets sent for the first time.
    void ReportSent();
    /// Writes the octets that the engine has not taken yet.
    void WriteMore();
    /// Drops octets that will not be sent again.
    void DropAcknowledged();
    /// Reads and drops what has arrived, after ShutdownRecv.
    void Discard();

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

    AnabranchL4Protocol* m_protocol; //!< Null once the node is disposed of.
    Ptr<Node> m_node;
    mutable SocketErrno m_errno;
    uint64_t m_connection;   //!< 0: none.
    anabranch_tuple m_tuple; //!< Of the first subflow.
    std::deque<Piece> m_out; //!< Octets that the engine may send again, and those it has not taken.
    size_t m_dropAt;         //!< Pieces at which to look for those that may be dropped.
    uint64_t m_accepted;     //!< Octets that the application has sent.
    uint64_t m_written;      //!< Of these, the engine has taken so many.
    uint32_t m_sentNow;      //!< Octets sent for the first time and not reported yet.
    std::map<uint64_t, Ptr<Packet>> m_in;
    uint64_t m_read;
    bool m_bound;        //!< The local port counts among the protocol's.
    bool m_connecting;   //!< Connect was called.
    bool m_fromListener; //!< The peer opened the connection.
    bool m_connected;
    bool m_peerIsPlain; //!< The peer has no Multipath TCP.
    bool m_writeClosed; //!< The application will send no more.
    bool m_closed;      //!< The application will neither send nor receive any more.
    bool m_recvClosed;
    bool m_ended;    //!< The peer has closed its direction.
    bool m_notified; //!< The end was reported.
    Settings m_set;
    std::string m_profile;
    std::string m_controller;
    std::string m_scheduler;
    std::string m_connectionText;
    double m_segLifetime; //!< In s; negative: as ns3::TcpSocketBase.
};

} // namespace ns3

#endif
