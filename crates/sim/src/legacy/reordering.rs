//! How the 2011 model reacts to a duplicate ACK under each `recovery` (rules.md, rule 6).
//!
//! "None" is fast retransmit (rule 5.2): every segment counts the duplicates charged to it, the
//! count is never reset, and at exactly three the window is cut and that one segment retransmitted.
//! There is no recovery point, so segments of one window cut it again and again.
//!
//! "Eifel" looks at the timestamps of duplicates only, never at the acknowledgement of the
//! retransmission as its RFC does. It restores the window saved at the last cut, also after genuine
//! losses, and again at every further duplicate.
//!
//! "D_SACK" has the receiver report every early arrival. Duplicates with a report are charged to
//! the segment that blocks the data, on whichever subflow it is. So the window of the late subflow
//! is cut, not that of the early one.
//!
//! "TCP_DOOR" ignores duplicates. So does "F_RTO", which also discards bursts of acknowledgements
//! to provoke timeouts. After the first timeout every duplicate makes the window grow and lets the
//! sender send.

use super::Recovery;
use super::receiver::{Index, Range};
use super::sender::{Ack, Note, Sender, Step, Why};
use super::subflow::Phase;

/// A segment is retransmitted when so many duplicates are charged to it.
const THRESHOLD: u32 = 3;

impl Sender {
    /// The segment `index` of `subflow` starts at the number of a duplicate.
    pub(super) fn on_duplicate(&mut self, now: u64, subflow: Index, index: usize, ack: &Ack) {
        match self.model.recovery {
            Recovery::None => self.charge(now, subflow, index),
            Recovery::Eifel => {
                if self.is_late_original(subflow, index, ack) {
                    self.restore(subflow);
                } else {
                    self.charge(now, subflow, index);
                }
            }
            Recovery::Dsack => match ack.report {
                Some([arrived, _]) => self.on_reported_duplicate(now, arrived),
                None => self.charge(now, subflow, index),
            },
            Recovery::Door => {}
            Recovery::Frto => {
                self.count_step(subflow, true);
                if self.step == Step::Genuine {
                    self.grow(subflow);
                    self.schedule(now);
                }
            }
        }
    }

    /// Rule 5.2: charges one more duplicate to a segment; at the third the window is cut and the
    /// segment retransmitted.
    fn charge(&mut self, now: u64, subflow: Index, index: usize) {
        let m = &mut self.subflows[subflow].mappings[index];
        m.duplicates += 1;
        if m.duplicates == THRESHOLD {
            self.cut(subflow);
            self.retransmit(now, subflow, index, Why::Fast);
        }
    }

    // ---- Eifel (rule 6.2) -----------------------------------------------------------------------

    /// The duplicate was caused by a segment sent before the retransmission. Where it has no timestamp (the acknowledgement of
    /// a drained segment that was overtaken), the original dereferences a null pointer; here it is an ordinary duplicate.
    fn is_late_original(&self, subflow: Index, index: usize, ack: &Ack) -> bool {
        let m = &self.subflows[subflow].mappings[index];
        m.copies > 1 && ack.echo.is_some_and(|echo| m.again > echo)
    }

    fn restore(&mut self, subflow: Index) {
        let s = &mut self.subflows[subflow];
        (s.cwnd, s.ssthresh) = s.saved;
        self.note_undone(subflow);
    }

    /// Counts an undone cut, once, however often it is undone.
    fn note_undone(&mut self, subflow: Index) {
        let s = &mut self.subflows[subflow];
        if !s.is_undone {
            s.undone += 1;
            s.is_undone = true;
            self.notes.push((subflow, Note::Spurious { restored: true }));
        }
    }

    // ---- D_SACK (rule 6.4) ----------------------------------------------------------------------

    /// Counts an acknowledgement for each segment of a report: the one that arrived, and those in the run.
    pub(super) fn on_report(&mut self, [arrived, run]: [Range; 2]) {
        let from = self.order.partition_point(|(dsn, ..)| *dsn < run.0);
        // Segments end where the next one starts, the last one where the data end.
        let to = self.order.partition_point(|(dsn, ..)| *dsn < run.1);
        self.reported.add(from, to);
        if let Ok(i) = self.order.binary_search_by_key(&arrived.0, |(dsn, ..)| *dsn) {
            if !(from..to).contains(&i) {
                self.reported.add(i, i + 1);
            }
        }
    }

    /// How often a segment was acknowledged: the original's counter has eight bits.
    fn acknowledged(&self, subflow: Index, index: usize) -> u8 {
        let order = self.subflows[subflow].mappings[index].order;
        (self.covered[subflow].get(index) + self.reported.get(order)).rem_euclid(256) as u8
    }

    /// The first segment that was never acknowledged, in the order in which the original searches the subflows.
    fn candidate(&mut self) -> Option<(Index, usize)> {
        let mut best: Option<(Index, usize, u64)> = None;
        for (i, s) in self.subflows.iter().enumerate() {
            let Some(index) = s.starting_at(s.acked + 1) else { continue };
            if self.acknowledged(i, index) > 0 {
                continue;
            }
            let dsn = s.mappings[index].dsn;
            match best {
                None => best = Some((i, index, dsn)),
                Some((.., least)) if dsn < least && self.replaced.is_none_or(|r| r < dsn) => {
                    best = Some((i, index, dsn));
                    self.replaced = Some(dsn);
                }
                Some(_) => {}
            }
        }
        best.map(|(i, index, _)| (i, index))
    }

    fn on_reported_duplicate(&mut self, now: u64, arrived: Range) {
        let Some((subflow, index)) = self.candidate() else { return };
        let again = match self.order.binary_search_by_key(&arrived.0, |(dsn, ..)| *dsn) {
            Ok(i) => {
                let (_, s, m) = self.order[i];
                self.subflows[s].mappings[m].copies > 1 && self.acknowledged(s, m) > 1
            }
            Err(_) => false,
        };
        if again {
            self.subflows[subflow].phase = Phase::Restoring;
            self.note_undone(subflow);
        } else {
            self.charge(now, subflow, index);
        }
    }

    // ---- F_RTO (rule 6.5) -----------------------------------------------------------------------

    /// Whether this acknowledgement is one to discard.
    pub(super) fn is_discarded(&mut self, subflow: Index) -> bool {
        let left = &mut self.subflows[subflow].discard;
        let discarded = *left > 0;
        *left = left.saturating_sub(1);
        discarded
    }

    /// After an acknowledgement has been processed, a random draw decides whether the following ones are discarded: as many as
    /// the window has whole segments. With a window of 7.3 these are seven, all acknowledgements under way, so a timeout
    /// follows.
    pub(super) fn perhaps_discard_next(&mut self, subflow: Index) {
        let s = &mut self.subflows[subflow];
        if self.model.recovery == Recovery::Frto && s.rng.chance(self.model.ack_discard) {
            s.discard = s.cwnd.ceil() as u64 - 1;
        }
    }

    /// Steps 2 and 3. The count of a subflow is never reset, so only its first timeout can pass step 2.
    pub(super) fn count_step(&mut self, subflow: Index, duplicate: bool) {
        self.step = match self.step {
            Step::First => {
                let s = &mut self.subflows[subflow];
                s.counted += 1;
                if s.counted == 1 && !duplicate { Step::Second } else { Step::Genuine }
            }
            Step::Second if duplicate => Step::Genuine,
            Step::Second => {
                self.detections += 1;
                self.notes.push((subflow, Note::Spurious { restored: false }));
                Step::Idle
            }
            same => same,
        };
    }
}
