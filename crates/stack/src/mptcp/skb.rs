//! What a buffer for a packet (`sk_buff`) takes in memory on Linux, for the rules that count memory
//! instead of payload. The figures are those of a kernel without drivers for wireless networks. A
//! distribution's kernel has 320 octets of headers and so 1280 octets of overhead.

/// Room for headers in front of the payload (`MAX_TCP_HEADER`), in octets.
pub(super) const HEADERS: u64 = 192;
/// Memory of a buffer beside its payload: room for headers and two descriptors (`SKB_TRUESIZE`), in
/// octets.
pub(super) const OVERHEAD: u64 = 768;
