/* C interface to the Anabranch multipath-TCP engine.
 *
 * Made by cbindgen from crates/capi/src; write it anew with
 *     make capi-header
 *
 * The engine has neither sockets nor a clock: the caller passes packets or segments in and polls
 * what is to be sent, events and the next deadline. After any call, poll segments (or packets) until
 * ANABRANCH_NOTHING, then the deadline, then the events.
 *
 * What callers owe, for all functions: handles come from the functions _new and were not freed;
 * other pointers are null or point to as many values as the accompanying length says; a struct that
 * begins with `size` has it set to its sizeof; one thread at a time uses a host. In return no other
 * argument crashes the library. Times are nanoseconds that do not go back.
 */

#ifndef ANABRANCH_H
#define ANABRANCH_H

#include <stddef.h>
#include <stdint.h>

/*
 The first subflow is established.
 */
#define ANABRANCH_EVENT_CONNECTED 1

/*
 `subflow` may carry data.
 */
#define ANABRANCH_EVENT_SUBFLOW_ESTABLISHED 2

/*
 `subflow` ended; `reason` is an `ANABRANCH_END_` constant.
 */
#define ANABRANCH_EVENT_SUBFLOW_ENDED 3

/*
 The peer has the further address `address`, with the identifier `value`.
 */
#define ANABRANCH_EVENT_REMOTE_ADDRESS 4

/*
 The peer's address with the identifier `value` is gone.
 */
#define ANABRANCH_EVENT_REMOTE_ADDRESS_REMOVED 5

/*
 The peer wants `subflow` to be a backup (`value` 1) or a regular one (0).
 */
#define ANABRANCH_EVENT_PRIORITY 6

/*
 The connection goes on as plain TCP on `subflow`; `reason` is an `ANABRANCH_FALLBACK_` constant.
 */
#define ANABRANCH_EVENT_FALLBACK 7

/*
 `len` octets have arrived at `offset` of the peer's stream: the first octets of the payload of
 the segment handled last. Only of hosts by reference.
 */
#define ANABRANCH_EVENT_ARRIVED 8

/*
 More octets can be read.
 */
#define ANABRANCH_EVENT_READABLE 9

/*
 After a short write there is room again.
 */
#define ANABRANCH_EVENT_WRITABLE 10

/*
 Further subflows may be opened from now on.
 */
#define ANABRANCH_EVENT_JOINS_POSSIBLE 11

/*
 The peer has closed its direction, and every octet can be read.
 */
#define ANABRANCH_EVENT_END_OF_STREAM 12

/*
 Both directions are closed.
 */
#define ANABRANCH_EVENT_CLOSED 13

/*
 The connection failed; `reason` is an `ANABRANCH_END_` constant.
 */
#define ANABRANCH_EVENT_ABORTED 14

/*
 A loss episode began on `subflow`.
 */
#define ANABRANCH_EVENT_CONGESTION 15

/*
 A router did not forward a segment of `subflow`, for a reason that may pass.
 */
#define ANABRANCH_EVENT_SOFT_ERROR 16

/*
 Another event of the engine, without details.
 */
#define ANABRANCH_EVENT_OTHER 17

/*
 Orderly.
 */
#define ANABRANCH_END_FINISHED 1

/*
 The peer reset it.
 */
#define ANABRANCH_END_RESET 2

/*
 No answer from the peer.
 */
#define ANABRANCH_END_TIMED_OUT 3

/*
 The join failed.
 */
#define ANABRANCH_END_REFUSED 4

/*
 Its address was removed.
 */
#define ANABRANCH_END_REMOVED 5

/*
 The whole connection was closed at once.
 */
#define ANABRANCH_END_FAST_CLOSED 6

/*
 A middlebox took options or changed data.
 */
#define ANABRANCH_END_MIDDLEBOX 7

/*
 Data came that no application will read.
 */
#define ANABRANCH_END_UNREAD 8

/*
 Another reason.
 */
#define ANABRANCH_END_OTHER 9

/*
 The SYN was without MP_CAPABLE.
 */
#define ANABRANCH_FALLBACK_SYN 1

/*
 The SYN/ACK was without MP_CAPABLE.
 */
#define ANABRANCH_FALLBACK_SYN_ACK 2

/*
 The third ACK was without MP_CAPABLE.
 */
#define ANABRANCH_FALLBACK_THIRD_ACK 3

/*
 The first data came without a DSS option.
 */
#define ANABRANCH_FALLBACK_OPTIONS 4

/*
 A DSS checksum failed on the only subflow.
 */
#define ANABRANCH_FALLBACK_CHECKSUM 5

/*
 The peer sent an infinite mapping.
 */
#define ANABRANCH_FALLBACK_INFINITE_MAPPING 6

/*
 Another cause.
 */
#define ANABRANCH_FALLBACK_OTHER 7

/*
 No ECN.
 */
#define ANABRANCH_ECN_NONE 0

/*
 ECT(0).
 */
#define ANABRANCH_ECN_ECT0 2

/*
 Congestion experienced.
 */
#define ANABRANCH_ECN_CE 3

/*
 Kind of segment: no payload.
 */
#define ANABRANCH_SEND_CONTROL 0

/*
 Kind of segment: octets sent for the first time.
 */
#define ANABRANCH_SEND_NEW 1

/*
 Kind of segment: retransmission in fast recovery.
 */
#define ANABRANCH_SEND_FAST 2

/*
 Kind of segment: retransmission after a timeout.
 */
#define ANABRANCH_SEND_TIMEOUT 3

/*
 Kind of segment: octets already sent on another subflow.
 */
#define ANABRANCH_SEND_REINJECTION 4

/*
 Kind of segment: zero-window probe.
 */
#define ANABRANCH_SEND_PROBE 5

/*
 Kind of segment: tail loss probe.
 */
#define ANABRANCH_SEND_TAIL_PROBE 6

/*
 Path manager: neither advertises nor joins.
 */
#define ANABRANCH_PATHS_NONE 0

/*
 Path manager: one subflow for each of our addresses.
 */
#define ANABRANCH_PATHS_ONE_PER_INTERFACE 1

/*
 Path manager: every address of ours with every address of the peer.
 */
#define ANABRANCH_PATHS_FULL_MESH 2

/*
 Done.
 */
#define ANABRANCH_OK 0

/*
 There is nothing to poll.
 */
#define ANABRANCH_NOTHING 1

/*
 Not possible now; a later attempt may succeed.
 */
#define ANABRANCH_NOT_YET 2

/*
 A pointer is null.
 */
#define ANABRANCH_NULL -1

/*
 An argument is out of range, or a struct is smaller than this version of the library needs.
 */
#define ANABRANCH_ARGUMENT -2

/*
 The text of a configuration is wrong.
 */
#define ANABRANCH_CONFIG -3

/*
 The connection does not exist, or not any more.
 */
#define ANABRANCH_GONE -4

/*
 Our direction of the connection is closed.
 */
#define ANABRANCH_CLOSED -5

/*
 The 4-tuple belongs to another subflow, or every port is in use.
 */
#define ANABRANCH_IN_USE -6

/*
 Never possible on this connection.
 */
#define ANABRANCH_NEVER -7

/*
 The packet is damaged or no TCP segment; it was dropped.
 */
#define ANABRANCH_PACKET -8

/*
 The engine panicked. The host answers every further call so.
 */
#define ANABRANCH_PANIC -9

/*
 The host keeps octets and the function is for hosts by reference, or the other way round.
 */
#define ANABRANCH_FORM -10

/*
 The buffer of the caller is too small.
 */
#define ANABRANCH_SMALL -11

/*
 Run-time option: 1 switches Nagle's algorithm off (RFC 9293 3.7.4).
 */
#define ANABRANCH_OPTION_NO_DELAY 1

/*
 Run-time option: 1 holds back segments that are not full.
 */
#define ANABRANCH_OPTION_CORK 2

/*
 Run-time option: user timeout in ns; 0: none (RFC 5482).
 */
#define ANABRANCH_OPTION_USER_TIMEOUT 3

/*
 Run-time option: keep-alives after so many ns without a segment; 0: none.
 [`anabranch_set_keepalive`] also sets their interval and number.
 */
#define ANABRANCH_OPTION_KEEPALIVE 4

/*
 Run-time option: retransmissions of a SYN before the connection fails; `UINT32_MAX`: no limit
 of its own.
 */
#define ANABRANCH_OPTION_SYN_RETRIES 5

/*
 The configuration of connections: an opaque handle.
 */
struct anabranch_config;

/*
 A host with its connections: an opaque handle. One thread at a time may use it.
 */
struct anabranch_host;

/*
 An IP address with a port. A struct of zeros is no address.
 */
struct anabranch_address {
  /*
   4 or 6.
   */
  uint8_t family;
  /*
   Zero.
   */
  uint8_t reserved;
  /*
   Port, in the byte order of the machine.
   */
  uint16_t port;
  /*
   The address in network byte order; IPv4 uses the first four octets.
   */
  uint8_t octets[16];
};

/*
 Something happened on a connection.
 */
struct anabranch_event {
  /*
   Octets of this struct.
   */
  uint32_t size;
  /*
   An `ANABRANCH_EVENT_` constant.
   */
  uint32_t kind;
  /*
   Number of the connection.
   */
  uint64_t connection;
  /*
   Offset in the peer's stream.
   */
  uint64_t offset;
  /*
   Octets.
   */
  uint32_t len;
  /*
   Number of the subflow; `UINT32_MAX` if the event concerns the connection.
   */
  uint32_t subflow;
  /*
   Why.
   */
  uint32_t reason;
  /*
   As the kind says.
   */
  uint32_t value;
  /*
   An address, if the kind says so; its port is 0 if it is that of the connection.
   */
  struct anabranch_address address;
};

/*
 What a new host is. Set `size` to `sizeof(struct anabranch_host_options)` and the rest to zero
 before you fill it in.
 */
struct anabranch_host_options {
  /*
   Octets of this struct.
   */
  uint32_t size;
  /*
   Not 0: the caller keeps the octets, the host counts them.
   */
  uint8_t by_reference;
  /*
   Not 0: timestamps show the caller's clock in ms. 0: each subflow adds an offset (RFC 7323
   5.4).
   */
  uint8_t virtual_time;
  /*
   First local port that the host draws; 0: 1024.
   */
  uint16_t first_port;
  /*
   Last local port that the host draws; 0: 65535.
   */
  uint16_t last_port;
  /*
   Zero.
   */
  uint8_t reserved[6];
  /*
   Secret from which keys, sequence numbers and ports come. Unpredictable, and used only once.
   */
  uint8_t secret[32];
};

/*
 The state of a connection.
 */
struct anabranch_connection_info {
  /*
   Octets of this struct.
   */
  uint32_t size;
  /*
   Subflows so far, those that have ended included: their numbers are below this one.
   */
  uint32_t subflows;
  /*
   Octets that can be written now.
   */
  uint64_t writable;
  /*
   Octets that can be read now.
   */
  uint64_t readable;
  /*
   Octets written and not acknowledged at data level.
   */
  uint64_t unacknowledged;
  /*
   Octets of the peer's stream that have arrived in order.
   */
  uint64_t received;
  /*
   Octets of ours that a host keeps, because they may be sent again; 0 by reference.
   */
  uint64_t kept_out;
  /*
   Octets of the peer's that a host keeps, because they were not read; 0 by reference.
   */
  uint64_t kept_in;
  /*
   Token of the connection (RFC 8684 3.2), if `multipath`.
   */
  uint32_t token;
  /*
   Not 0: Multipath TCP is in use, or being negotiated.
   */
  uint8_t multipath;
  /*
   Not 0: further subflows may be opened now.
   */
  uint8_t joins_possible;
  /*
   Zero.
   */
  uint8_t reserved[2];
};

/*
 The 4-tuple of a subflow, as seen from the host.
 */
struct anabranch_tuple {
  /*
   Our address and port.
   */
  struct anabranch_address local;
  /*
   The peer's address and port.
   */
  struct anabranch_address remote;
};

/*
 The state of a subflow.
 */
struct anabranch_subflow_info {
  /*
   Octets of this struct.
   */
  uint32_t size;
  /*
   State of RFC 9293: 0 CLOSED, 1 SYN-SENT, 2 SYN-RECEIVED, 3 ESTABLISHED, 4 FIN-WAIT-1,
   5 FIN-WAIT-2, 6 CLOSE-WAIT, 7 CLOSING, 8 LAST-ACK, 9 TIME-WAIT.
   */
  uint32_t state;
  /*
   Source and destination.
   */
  struct anabranch_tuple tuple;
  /*
   Loss episode in progress: 0 none, 1 reduced for ECN, 2 fast recovery, 3 after a timeout.
   */
  uint32_t recovery;
  /*
   Payload octets of a full segment.
   */
  uint32_t mss;
  /*
   Congestion window in octets.
   */
  double cwnd;
  /*
   Slow-start threshold in octets; infinite before the first loss.
   */
  double ssthresh;
  /*
   Smoothed round-trip time in ns; 0 before the first sample.
   */
  uint64_t srtt;
  /*
   RTTVAR in ns.
   */
  uint64_t rttvar;
  /*
   Least round-trip time in ns; 0 before the first sample.
   */
  uint64_t min_rtt;
  /*
   Retransmission timeout in ns, with its back-off.
   */
  uint64_t rto;
  /*
   Octets in flight.
   */
  uint64_t in_flight;
  /*
   Octets of payload acknowledged on the subflow.
   */
  uint64_t octets_acked;
  /*
   Octets of payload that have arrived in order.
   */
  uint64_t octets_received;
  /*
   Octets of payload sent, retransmissions included.
   */
  uint64_t octets_sent;
  /*
   Octets of payload sent again.
   */
  uint64_t octets_retransmitted;
  /*
   Segments sent.
   */
  uint64_t segments_out;
  /*
   Segments arrived.
   */
  uint64_t segments_in;
  /*
   Data segments and FINs sent again.
   */
  uint64_t retransmissions;
};

/*
 A segment to send, of a host by reference.
 */
struct anabranch_segment {
  /*
   Octets of this struct.
   */
  uint32_t size;
  /*
   Number of the subflow; `UINT32_MAX` for a reset that belongs to no connection.
   */
  uint32_t subflow;
  /*
   Number of the connection; 0 for such a reset.
   */
  uint64_t connection;
  /*
   Offset of the payload in our stream.
   */
  uint64_t payload_offset;
  /*
   Octets of the payload.
   */
  uint32_t payload_len;
  /*
   ECN field of the IP header: an `ANABRANCH_ECN_` constant.
   */
  uint8_t ecn;
  /*
   An `ANABRANCH_SEND_` constant.
   */
  uint8_t kind;
  /*
   Octets of the TCP header.
   */
  uint8_t header_len;
  /*
   Not 0: the header has a DSS checksum, to which [`anabranch_fill_checksums`] adds the octets.
   */
  uint8_t dss_checksum;
  /*
   Source and destination.
   */
  struct anabranch_tuple tuple;
  /*
   The TCP header with its options; its checksum is 0 until [`anabranch_fill_checksums`].
   */
  uint8_t header[60];
  /*
   Offset in `header` of the DSS checksum, if there is one.
   */
  uint32_t dss_checksum_at;
};

/*
 A range of our stream.
 */
struct anabranch_range {
  /*
   Offset of the first octet.
   */
  uint64_t start;
  /*
   Offset after the last octet.
   */
  uint64_t end;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Writes to `out` the algorithms that a configuration may name, as a JSON object: for each kind a
 list, of each algorithm its name, summary and parameters with ranges. The text lives as long as
 the program.
 */
int32_t anabranch_algorithms(const char **out);

/*
 Makes a configuration from the text of a scenario's `[connection]` table (TOML, without the
 heading): `controller = "olia"`, one key a line. An empty text gives the defaults. Keys that
 only the simulator carries out are refused.
 */
int32_t anabranch_config_new(const char *text, struct anabranch_config **out);

/*
 Frees a configuration; hosts keep copies of what they need. A null pointer is ignored.
 */
void anabranch_config_free(struct anabranch_config *config);

/*
 Takes the next event, oldest first.
 */
int32_t anabranch_poll_event(struct anabranch_host *host, struct anabranch_event *event);

/*
 Makes a host.
 */
int32_t anabranch_host_new(const struct anabranch_host_options *options,
                           struct anabranch_host **out);

/*
 Frees a host with all its connections; peers are told nothing. A null pointer is ignored.
 */
void anabranch_host_free(struct anabranch_host *host);

/*
 Writes the state of a connection.
 */
int32_t anabranch_connection_state(struct anabranch_host *host,
                                   uint64_t connection,
                                   struct anabranch_connection_info *info);

/*
 Writes the state of a subflow at `now`.
 */
int32_t anabranch_subflow_state(struct anabranch_host *host,
                                uint64_t now,
                                uint64_t connection,
                                uint32_t subflow,
                                struct anabranch_subflow_info *info);

/*
 Writes the numbers of the existing connections to `connections`, in order of opening. `count` is
 the room in `connections` and becomes their number; `ANABRANCH_SMALL`: there are more than fit,
 and nothing else is written.
 */
int32_t anabranch_connections(struct anabranch_host *host, uint64_t *connections, size_t *count);

/*
 ICMP "fragmentation needed" or ICMPv6 "packet too big" about a segment of ours: its 4-tuple, its
 sequence number, and the MTU that the router states.
 */
int32_t anabranch_handle_too_big(struct anabranch_host *host,
                                 uint64_t now,
                                 const struct anabranch_tuple *tuple,
                                 uint32_t seq,
                                 uint32_t mtu);

/*
 ICMP "destination unreachable" that will not pass (RFC 9293 3.9.2.2) about a segment of ours:
 ends a connection that is being opened.
 */
int32_t anabranch_handle_unreachable(struct anabranch_host *host,
                                     uint64_t now,
                                     const struct anabranch_tuple *tuple,
                                     uint32_t seq);

/*
 A soft error (RFC 9293 3.9.2.2) about a segment of ours: ends nothing.
 */
int32_t anabranch_handle_soft_error(struct anabranch_host *host,
                                    const struct anabranch_tuple *tuple,
                                    uint32_t seq);

/*
 Accepts connections to `port` from now on. `backlog`: maximum number of half-open connections;
 0: 1024.
 */
int32_t anabranch_listen(struct anabranch_host *host,
                         uint16_t port,
                         const struct anabranch_config *config,
                         uint32_t backlog);

/*
 Accepts no more connections to `port`.
 */
int32_t anabranch_stop_listening(struct anabranch_host *host, uint16_t port);

/*
 Draws a free local port for a connection from `tuple.local` to `tuple.remote`.
 */
int32_t anabranch_draw_port(struct anabranch_host *host,
                            const struct anabranch_tuple *tuple,
                            uint16_t *port);

/*
 Opens a connection and writes its number to `connection`. Further functions take this number.
 */
int32_t anabranch_connect(struct anabranch_host *host,
                          uint64_t now,
                          const struct anabranch_tuple *tuple,
                          const struct anabranch_config *config,
                          uint64_t *connection);

/*
 Opens a further subflow and writes its number to `subflow`. `ANABRANCH_NOT_YET`: try again at
 the event `ANABRANCH_EVENT_JOINS_POSSIBLE`. `ANABRANCH_NEVER`: this connection never can.
 */
int32_t anabranch_open_subflow(struct anabranch_host *host,
                               uint64_t connection,
                               const struct anabranch_tuple *tuple,
                               uint8_t backup,
                               uint32_t *subflow);

/*
 Tells the peer of a further address of ours (ADD_ADDR). Its port is told unless it is 0.
 */
int32_t anabranch_advertise(struct anabranch_host *host,
                            uint64_t connection,
                            const struct anabranch_address *address);

/*
 An address of ours is gone: resets its subflows and tells the peer (REMOVE_ADDR).
 */
int32_t anabranch_withdraw(struct anabranch_host *host,
                           uint64_t connection,
                           const struct anabranch_address *address);

/*
 Asks the peer to use a subflow only when no regular one works, or as a regular one again
 (MP_PRIO).
 */
int32_t anabranch_set_backup(struct anabranch_host *host,
                             uint64_t connection,
                             uint32_t subflow,
                             uint8_t backup);

/*
 Gives a further address of ours its identifier (RFC 8684 3.2), before it is advertised or joined
 from. Without this call it gets the lowest that is free. The port of `address` counts for
 nothing.
 */
int32_t anabranch_identify(struct anabranch_host *host,
                           uint64_t connection,
                           const struct anabranch_address *address,
                           uint8_t identifier);

/*
 What schedulers and controllers are told of the path of a subflow: what an octet costs there and
 its share of the load compared with the others', both above 0 and 1 unless said otherwise; a
 lower `priority` is preferred, 0 unless said otherwise.
 */
int32_t anabranch_set_path_policy(struct anabranch_host *host,
                                  uint64_t connection,
                                  uint32_t subflow,
                                  double cost,
                                  double weight,
                                  uint32_t priority);

/*
 Makes the Fast Open cookies of the listener of `port` with the 32 octets `key` from now on
 (RFC 7413 6.3.4); null: with a key of the host's own. Without a listener nothing happens.
 */
int32_t anabranch_set_fast_open_key(struct anabranch_host *host, uint16_t port, const uint8_t *key);

/*
 Forgets the Fast Open cookies that servers have given, and that they have refused.
 */
int32_t anabranch_forget_fast_open_servers(struct anabranch_host *host);

/*
 Writes 1 to `has` if a connection that opens at `now` would begin with a Fast Open cookie, so
 that what is written at once leaves with the SYN; else 0.
 */
int32_t anabranch_has_fast_open_cookie(struct anabranch_host *host,
                                       uint64_t now,
                                       const struct anabranch_tuple *tuple,
                                       uint8_t *has);

/*
 An IP packet arrives at a host that keeps octets. A packet that is damaged or no TCP segment is
 dropped and gives `ANABRANCH_PACKET`.
 */
int32_t anabranch_handle_packet(struct anabranch_host *host,
                                uint64_t now,
                                const uint8_t *packet,
                                size_t len);

/*
 A segment arrives at a host by reference. `header` is the TCP header with its options, `tuple`
 the 4-tuple as seen from this host, `ecn` the ECN field of the IP header. The caller has
 verified the TCP checksum. `payload` is only read for the sum of its octets, which DSS checksums
 need; null: the sum is 0. Poll events next: `ANABRANCH_EVENT_ARRIVED` says where the octets
 belong.
 */
int32_t anabranch_handle_segment(struct anabranch_host *host,
                                 uint64_t now,
                                 const struct anabranch_tuple *tuple,
                                 uint8_t ecn_of_ip,
                                 const uint8_t *header,
                                 size_t header_len,
                                 const uint8_t *payload,
                                 uint32_t payload_len);

/*
 Takes the next IP packet to send of a host that keeps octets. `len` is the room in `packet` and
 becomes the length of the packet. 65535 octets always suffice; less room loses the packet.
 */
int32_t anabranch_poll_packet(struct anabranch_host *host,
                              uint64_t now,
                              uint8_t *packet,
                              size_t *len);

/*
 Takes the next segment to send of a host by reference.
 */
int32_t anabranch_poll_segment(struct anabranch_host *host,
                               uint64_t now,
                               struct anabranch_segment *segment);

/*
 Adds the octets of the payload to the DSS checksum of a segment's header, if it has one, and
 sets the header's TCP checksum. `payload` null: the octets are zero.
 */
int32_t anabranch_fill_checksums(struct anabranch_segment *segment, const uint8_t *payload);

/*
 When to call [`anabranch_handle_timeout`] at the latest, in ns; `ANABRANCH_NOTHING`: no timer
 runs. Call it after everything else was polled.
 */
int32_t anabranch_poll_timeout(struct anabranch_host *host, uint64_t *at);

/*
 Runs everything that is due at `now`.
 */
int32_t anabranch_handle_timeout(struct anabranch_host *host, uint64_t now);

/*
 Verifies the TCP checksum of a segment that has arrived: `ANABRANCH_PACKET` if it is wrong.
 */
int32_t anabranch_verify_checksum(const struct anabranch_tuple *tuple,
                                  const uint8_t *header,
                                  size_t header_len,
                                  const uint8_t *payload,
                                  size_t payload_len);

/*
 Gives a connection a path manager: one of the `ANABRANCH_PATHS_` constants, with the `count`
 addresses of this host, the connection's own first. Call it right after
 [`anabranch_connect`](crate::opening::anabranch_connect) (`opened` 1) or at
 `ANABRANCH_EVENT_CONNECTED` of an accepted connection (`opened` 0). The opener joins, the other
 end advertises its addresses.
 */
int32_t anabranch_manage_paths(struct anabranch_host *host,
                               uint64_t now,
                               uint64_t connection,
                               uint32_t policy,
                               uint8_t opened,
                               const struct anabranch_address *addresses,
                               size_t count);

/*
 Takes the next subflow that the path manager of any connection wants, with local port 0; writes
 the number of the connection to `connection`, and 1 to `backup` if it is to be a backup. Open
 the subflow with [`anabranch_open_subflow`](crate::opening::anabranch_open_subflow). If that
 fails, or the host has no route to the peer's address, call [`anabranch_join_failed`]. Call this
 function after each event of the host and when the host's timeout has passed.
 */
int32_t anabranch_poll_join(struct anabranch_host *host,
                            uint64_t now,
                            uint64_t *connection,
                            struct anabranch_tuple *tuple,
                            uint8_t *backup);

/*
 The subflow `tuple`, which [`anabranch_poll_join`] has given, could not be opened: the path
 manager wants it again after 10 s. Do not call this after `ANABRANCH_NEVER`.
 */
int32_t anabranch_join_failed(struct anabranch_host *host,
                              uint64_t now,
                              uint64_t connection,
                              const struct anabranch_tuple *tuple);

/*
 An address of this host comes (`present` 1) or goes (0): tells the path manager of a connection
 and its peer.
 */
int32_t anabranch_address_changed(struct anabranch_host *host,
                                  uint64_t now,
                                  uint64_t connection,
                                  const struct anabranch_address *address,
                                  uint8_t present);

/*
 Text of the last error of this thread, in UTF-8; empty before the first error. It stays valid
 until the next call of this thread that fails.
 */
const char *anabranch_last_error(void);

/*
 Writes `len` octets, or as many as the send buffer has room for; writes their number to
 `written`.
 After a short write, `ANABRANCH_EVENT_WRITABLE` says when there is room again.
 */
int32_t anabranch_write(struct anabranch_host *host,
                        uint64_t connection,
                        const uint8_t *octets,
                        size_t len,
                        size_t *written);

/*
 As [`anabranch_write`], for a host by reference: the caller keeps the octets.
 */
int32_t anabranch_write_count(struct anabranch_host *host,
                              uint64_t connection,
                              uint64_t len,
                              uint64_t *written);

/*
 Reads up to `len` octets that have arrived in order, and writes their number to `taken`.
 */
int32_t anabranch_read(struct anabranch_host *host,
                       uint64_t connection,
                       uint8_t *octets,
                       size_t len,
                       size_t *taken);

/*
 As [`anabranch_read`], for a host by reference: the next `taken` octets of the peer's stream
 belong to the application.
 */
int32_t anabranch_read_count(struct anabranch_host *host,
                             uint64_t connection,
                             uint64_t len,
                             uint64_t *taken);

/*
 Offset in our stream below which a host by reference will not send again: the caller may drop
 these octets.
 */
int32_t anabranch_needed_from(struct anabranch_host *host, uint64_t connection, uint64_t *offset);

/*
 The application will write no more; the peer's data can still be read.
 */
int32_t anabranch_shutdown_write(struct anabranch_host *host, uint64_t connection);

/*
 The application will neither write nor read any more; what was written is delivered.
 */
int32_t anabranch_close(struct anabranch_host *host, uint64_t connection);

/*
 Ends a connection at once, with resets.
 */
int32_t anabranch_abort(struct anabranch_host *host, uint64_t connection);

/*
 Changes an option of a connection: one of the `ANABRANCH_OPTION_` constants.
 */
int32_t anabranch_set_option(struct anabranch_host *host,
                             uint64_t now,
                             uint64_t connection,
                             uint32_t option,
                             uint64_t value);

/*
 Sends keep-alives on every subflow of a connection (RFC 9293 3.8.4): the first after `idle` ns
 without a segment, then one every `interval` ns; after `probes` unanswered ones (at least 2) the
 subflow is reset. `idle` 0: no keep-alives.
 */
int32_t anabranch_set_keepalive(struct anabranch_host *host,
                                uint64_t now,
                                uint64_t connection,
                                uint64_t idle,
                                uint64_t interval,
                                uint32_t probes);

/*
 Ranges of our stream below the data-level acknowledgement that some subflow of a host by
 reference may send again, in order: what keeps [`anabranch_needed_from`] back. `count` is the
 room in `ranges` and becomes the number of ranges; `ANABRANCH_SMALL`: there are more than fit,
 and nothing else is written.
 */
int32_t anabranch_still_in_flight(struct anabranch_host *host,
                                  uint64_t connection,
                                  struct anabranch_range *ranges,
                                  size_t *count);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ANABRANCH_H */
