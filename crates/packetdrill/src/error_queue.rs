//! Error queue of a socket, as in Linux. With `MSG_ZEROCOPY` it reports when the application may
//! reuse the memory of sent data; with `SO_TIMESTAMPING` it reports when data left the host and
//! when the peer acknowledged them.
//!
//! The engine copies sent data, so every zero-copy message has the code
//! `SO_EE_CODE_ZEROCOPY_COPIED`.

use std::collections::VecDeque;

use anabranch_stack::time::Instant;

use super::arguments::{field, value};
use super::ast::Expr;
use super::constants::{self, timestamping::*};
use super::report::{Step, Stop};

/// Reports due when the data leave the host: flag of `SO_TIMESTAMPING` and `ee_info`, in the order
/// of their messages.
const AT_DEPARTURE: [(i64, i64); 2] = [(TX_SCHED, TSTAMP_SCHED), (TX_SOFTWARE, TSTAMP_SND)];

/// Message of the error queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    /// The application may reuse the memory of the zero-copy calls with the numbers from the first
    /// to the second, inclusive.
    ZeroCopy(u32, u32),
    /// Timestamp report: the event (`ee_info`), the number of the octet (`ee_data`), and the time
    /// of the event.
    Stamp(i64, u32, Instant),
}

/// Messages that one call to `send` is still owed.
#[derive(Clone, Copy, Debug)]
struct Owed {
    /// Stream offset after the last octet that the call wrote.
    end: u64,
    /// Number of the call among the zero-copy calls; `None` without `MSG_ZEROCOPY`.
    zero_copy: Option<u32>,
    /// Flags of the timestamp reports that are still to come, and `ee_data` of these reports.
    stamps: i64,
    key: u32,
}

/// Error queue of one connection.
#[derive(Clone, Debug, Default)]
pub struct ErrorQueue {
    messages: VecDeque<Message>,
    owed: Vec<Owed>,
    zero_copies: u32,
    stamping: i64,
    /// Stream offset of the octet with `ee_data` 0.
    first: u64,
    /// Octets that the application has written.
    pub written: u64,
    /// Number of messages put into the queue since the connection began.
    pub posted: u64,
}

impl ErrorQueue {
    /// Sets the flags of `SO_TIMESTAMPING`. `acknowledged`: octets that the peer has acknowledged
    /// by now.
    pub fn stamp(&mut self, flags: i64, acknowledged: u64) {
        if flags & OPT_ID != 0 && self.stamping & OPT_ID == 0 {
            self.first = acknowledged;
        }
        self.stamping = flags;
    }

    /// Records a call to `send` whose octets `written` already includes. `zero_copy`: the call had
    /// `MSG_ZEROCOPY`.
    pub fn wrote(&mut self, zero_copy: bool) {
        let number = zero_copy.then_some(self.zero_copies);
        self.zero_copies += u32::from(zero_copy);
        let stamps = self.stamping & (TX_SCHED | TX_SOFTWARE | TX_ACK);
        if number.is_some() || stamps != 0 {
            let key = if self.stamping & OPT_ID != 0 { self.written.saturating_sub(1 + self.first) } else { 0 };
            self.owed.push(Owed { end: self.written, zero_copy: number, stamps, key: key as u32 });
        }
    }

    /// Returns true if no call is owed a message.
    pub fn is_idle(&self) -> bool {
        self.owed.is_empty()
    }

    /// Returns true if the queue has a message.
    pub fn is_ready(&self) -> bool {
        !self.messages.is_empty()
    }

    /// Queues the messages that are due when `left` octets of the stream have been sent and
    /// `acknowledged` acknowledged.
    pub fn progress(&mut self, now: Instant, left: u64, acknowledged: u64) {
        let mut found = Vec::new();
        for call in &mut self.owed {
            for (flag, what) in AT_DEPARTURE.into_iter().filter(|_| call.end <= left) {
                if call.stamps & flag != 0 {
                    found.push(Message::Stamp(what, call.key, now));
                    call.stamps &= !flag;
                }
            }
            if call.end <= acknowledged {
                if call.stamps & TX_ACK != 0 {
                    found.push(Message::Stamp(TSTAMP_ACK, call.key, now));
                }
                found.extend(call.zero_copy.map(|n| Message::ZeroCopy(n, n)));
            }
        }
        self.owed.retain(|call| call.end > acknowledged);
        found.into_iter().for_each(|message| self.post(message));
    }

    fn post(&mut self, message: Message) {
        self.posted += 1;
        match (self.messages.back_mut(), message) {
            // Consecutive zero-copy calls share a message (Linux: `skb_zerocopy_notify_extend`).
            (Some(Message::ZeroCopy(_, last)), Message::ZeroCopy(first, to)) if first == *last + 1 => *last = to,
            _ => self.messages.push_back(message),
        }
    }

    /// Executes `recvmsg` with `MSG_ERRQUEUE`: removes the oldest message and compares it with the
    /// `msg_flags` and `msg_control` that the script expects. Returns false if the queue is empty.
    /// Times may differ by `tolerance` nanoseconds.
    ///
    /// # Errors
    /// If the message differs from the script.
    pub fn receive(&mut self, message: &Expr, tolerance: u64) -> Step<bool> {
        let Some(found) = self.messages.pop_front() else { return Ok(false) };
        let number = |name: &str| constants::number(name).unwrap_or(0);
        let truncated = if matches!(found, Message::Stamp(..)) { number("MSG_TRUNC") } else { 0 };
        let flags = number("MSG_ERRQUEUE") | truncated;
        if let Some(wanted) = field(message, "msg_flags").map(value).transpose()?.filter(|wanted| *wanted != flags) {
            return Stop::differs(format!("msg_flags={wanted}"), format!("msg_flags={flags}"));
        }
        let wanted = match field(message, "msg_control") {
            None | Some(Expr::Any) => return Ok(true),
            Some(Expr::List(wanted)) => wanted,
            Some(_) => return Stop::wrong("msg_control is a list"),
        };
        let actual = found.written();
        if wanted.len() != actual.len() {
            return Stop::differs(format!("{} control messages", wanted.len()), format!("{}", actual.len()));
        }
        for (wanted, fields) in wanted.iter().zip(actual) {
            same(wanted, &fields, tolerance)?;
        }
        Ok(true)
    }
}

type Fields = Vec<(&'static str, i64)>;

impl Message {
    /// Returns the fields of the control messages that report this message.
    fn written(self) -> Vec<Fields> {
        let error = |of: [i64; 5]| {
            let names = ["ee_errno", "ee_origin", "ee_code", "ee_info", "ee_data"];
            names.into_iter().zip(of).chain([("ee_type", 0)]).collect::<Fields>()
        };
        let number = |name: &str| constants::number(name).unwrap_or(0);
        match self {
            Self::ZeroCopy(first, last) => {
                let (origin, code) = (number("SO_EE_ORIGIN_ZEROCOPY"), number("SO_EE_CODE_ZEROCOPY_COPIED"));
                vec![error([0, origin, code, first.into(), last.into()])]
            }
            Self::Stamp(what, key, at) => {
                let origin = number("SO_EE_ORIGIN_TIMESTAMPING");
                let (seconds, rest) = ((at.0 / 1_000_000_000) as i64, (at.0 % 1_000_000_000) as i64);
                let time = vec![("scm_sec", seconds), ("scm_nsec", rest)];
                vec![time, error([number("ENOMSG"), origin, 0, what, key.into()])]
            }
        }
    }
}

/// Compares the control message `wanted` of the script with the actual `fields`.
fn same(wanted: &Expr, fields: &Fields, tolerance: u64) -> Step<()> {
    let Some(data) = field(wanted, "cmsg_data") else { return Ok(()) };
    let time = |of: &dyn Fn(&str) -> Step<i64>| Ok(of("scm_sec")? * 1_000_000_000 + of("scm_nsec")?);
    let get = |name: &str| fields.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
    if field(data, "scm_sec").is_some() {
        let script = time(&|name| field(data, name).map_or(Ok(0), value))?;
        let actual = time(&|name| Ok(get(name).unwrap_or(i64::MIN / 4_000_000_000)))?;
        return if script.abs_diff(actual) <= tolerance {
            Ok(())
        } else {
            Stop::differs(format!("a timestamp of {script} ns"), format!("{actual} ns"))
        };
    }
    let Expr::Struct(all) = data else { return Stop::wrong(format!("{data} where {{ee_errno=0, ...}} was expected")) };
    for (name, expected) in all {
        let Some(name) = name else { return Stop::wrong(format!("{data}: each field needs a name")) };
        let (expected, found) = (value(expected)?, get(name));
        if found != Some(expected) {
            let found = found.map_or("no such field".to_owned(), |found| found.to_string());
            return Stop::differs(format!("{name}={expected}"), found);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_copy_numbers_that_follow_each_other_share_a_message() {
        let mut queue = ErrorQueue::default();
        for written in [100, 200, 300] {
            queue.written = written;
            queue.wrote(true);
        }
        queue.progress(Instant(5), 300, 199);
        assert_eq!(queue.messages, [Message::ZeroCopy(0, 0)]);
        queue.progress(Instant(6), 300, 300);
        assert_eq!((&queue.messages, queue.posted), (&VecDeque::from([Message::ZeroCopy(0, 2)]), 3));
        assert!(queue.is_idle() && queue.is_ready());
    }

    #[test]
    fn a_stamp_is_of_the_last_octet_of_a_call() {
        let mut queue = ErrorQueue::default();
        queue.stamp(TX_SCHED | TX_SOFTWARE | TX_ACK | OPT_ID, 10);
        queue.written = 110;
        queue.wrote(false);
        queue.progress(Instant(5), 109, 10);
        assert!(!queue.is_ready());
        queue.progress(Instant(6), 110, 10);
        queue.progress(Instant(7), 110, 110);
        let stamps = [(1, 6), (0, 6), (2, 7)].map(|(what, at)| Message::Stamp(what, 99, Instant(at)));
        assert_eq!(queue.messages, stamps);
    }
}
