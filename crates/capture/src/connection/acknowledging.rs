//! What a packet acknowledges, of the subflow and of the data: news to the sender of the other direction.

use anabranch_pcap::packet::Packet;
use anabranch_stack::segment::{DataAck, Dss, Mapping};

use super::super::handshake::Fallback;
use super::super::stream::Arrival;
use super::{Connection, View, arrival};

impl Connection {
    /// The data sequence signal: acknowledgement, DATA_FIN; returns the mapping.
    #[inline]
    pub(super) fn on_dss(&mut self, v: View, p: &Packet<'_>) -> Option<(Mapping, bool)> {
        let dss: Dss = p.dss.filter(|_| !self.tcp)?;
        let View { i, s, .. } = v;
        let o = 1 - s;
        if let (Some(ack), Some(first)) = (dss.data_ack, self.streams[o].first_dsn) {
            let near = first.wrapping_add(self.streams[o].data_ack);
            let ahead = match ack {
                DataAck::Eight(dsn) => dsn.wrapping_sub(near) as i64,
                DataAck::Four(low) => i64::from(low.wrapping_sub(near as u32) as i32),
            };
            let window = self.subflows[i].window(s, p);
            if let Some(ack) = self.streams[o].data_ack.checked_add_signed(ahead) {
                if self.streams[o].on_data_ack(p.time, ack, window, p.window == 0) {
                    self.told = Some((ack, window));
                }
            }
        }
        let m = dss.mapping?;
        if dss.data_fin {
            // RFC 8684 3.3.3: it is the mapping's last octet.
            let stream = &mut self.streams[s];
            if let Some(end) = stream.offset(&m).and_then(|at| at.checked_add(u64::from(m.len).checked_sub(1)?)) {
                stream.on_data_fin(end);
            }
        }
        if m.len == 0 {
            self.fallback.get_or_insert(Fallback::InfiniteMapping);
        }
        Some((m, dss.data_fin))
    }

    /// The cumulative acknowledgement and the SACK blocks, and in plain TCP what they say of the data.
    pub(super) fn on_ack(&mut self, v: View, p: &Packet<'_>) {
        let View { i, s, near_sender, near_receiver } = v;
        let (o, now) = (1 - s, p.time);
        let plain = self.is_plain();
        let sub = &mut self.subflows[i];
        let half = &mut sub.halves[o];
        let ack = half.unwrap(p.ack);
        half.seen(ack);
        if half.fin.is_some_and(|fin| ack > fin) {
            half.fin_acked = true;
        }
        let taken = half.probed.take_if(|probed| near_sender && ack > probed.seq);
        if let Some(probed) = taken {
            half.refused -= 1;
            self.take(o, Arrival { time: now, ..probed });
        }
        let sub = &mut self.subflows[i];
        let half = &mut sub.halves[o];
        if (half.exact && near_sender) || (!half.exact && near_receiver) {
            half.order.on_ack(now, ack);
        }
        if plain {
            let first = half.mapper.iss.map_or(ack, |iss| iss + 1);
            let octets = (ack - first).saturating_sub(u64::from(half.fin_acked));
            let window = sub.window(s, p);
            if self.streams[o].on_data_ack(now, octets, window, p.window == 0) {
                self.told = Some((octets, window));
            }
        }
        if near_receiver {
            self.arrived.clear();
            let half = &mut sub.halves[o];
            let pure = p.len == 0 && p.seq_len() == 0;
            half.sender.on_ack(now, ack, &p.sack, p.timestamps.map(|t| t.ecr), pure, &mut self.arrived);
            if !half.exact && !self.arrived.is_empty() {
                for sent in self.arrived.iter().filter(|sent| sent.copies == 0) {
                    half.order.miss(sent.seq, sent.end);
                    self.streams[o].miss(sent.data, sent.data + (sent.end - sent.seq));
                }
                let time = now - sub.half_way(o).min(now);
                for sent in &self.arrived {
                    let a = arrival(time, i, sent);
                    self.streams[o].estimate(a);
                }
            }
            let half = &mut self.subflows[i].halves[o];
            if let (Some(una), Some(nxt)) = (half.sender.una(), half.order.nxt()) {
                half.mapper.forget_below(una.min(nxt));
                if !half.reinjected.is_empty() {
                    half.reinjected.remove_below(una.min(nxt).0);
                }
            }
        }
    }
}
