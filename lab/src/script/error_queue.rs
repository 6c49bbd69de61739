//! The error queue of a socket, as Linux has it: messages that say when data sent without a copy may be changed again
//! (`MSG_ZEROCOPY`), and when data left and were acknowledged (`SO_TIMESTAMPING`).
//!
//! The engine copies what it sends, so each zero-copy message says that the data were copied.

use std::collections::VecDeque;

use anabranch_stack::time::Instant;

use super::arguments::{field, value};
use super::ast::Expr;
use super::constants;
use super::report::{Step, Stop};

/// Flags of `SO_TIMESTAMPING`: a message when data are scheduled, when they leave, when they are acknowledged; count octets.
const SCHEDULED: i64 = 1 << 8;
const LEFT: i64 = 1 << 1;
const ACKNOWLEDGED: i64 = 1 << 9;
const COUNTED: i64 = 1 << 7;

/// Values of `ee_info` for the three.
const STAMPS: [(i64, i64); 2] = [(SCHEDULED, 1), (LEFT, 0)];
const STAMP_ACKNOWLEDGED: i64 = 2;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    /// The calls from the first to the second number need their data no more.
    ZeroCopy(u32, u32),
    /// What happened (`ee_info`), to which octet, and when.
    Stamp(i64, u32, Instant),
}

/// What a call asked for, about the octets that it wrote.
#[derive(Clone, Copy, Debug)]
struct Wish {
    /// The end of its octets, counted from the first of the connection.
    end: u64,
    /// The call's number, if it wrote without a copy.
    zero_copy: Option<u32>,
    /// The messages about the last octet that are still to come, and the number of that octet.
    stamps: i64,
    key: u32,
}

/// The error queue of one connection.
#[derive(Clone, Debug, Default)]
pub struct ErrorQueue {
    messages: VecDeque<Message>,
    wishes: Vec<Wish>,
    zero_copies: u32,
    stamping: i64,
    /// The octet that has the number 0.
    first: u64,
    /// Octets written.
    pub written: u64,
    /// Messages that were ever put into the queue.
    pub posted: u64,
}

impl ErrorQueue {
    /// SO_TIMESTAMPING, when so many octets are acknowledged.
    pub fn stamp(&mut self, flags: i64, acknowledged: u64) {
        if flags & COUNTED != 0 && self.stamping & COUNTED == 0 {
            self.first = acknowledged;
        }
        self.stamping = flags;
    }

    /// A call has written octets, of which the last has just been counted in `written`. `zero_copy`: without a copy.
    pub fn wrote(&mut self, zero_copy: bool) {
        let number = zero_copy.then_some(self.zero_copies);
        self.zero_copies += u32::from(zero_copy);
        let stamps = self.stamping & (SCHEDULED | LEFT | ACKNOWLEDGED);
        if number.is_some() || stamps != 0 {
            let key = if self.stamping & COUNTED != 0 { self.written.saturating_sub(1 + self.first) } else { 0 };
            self.wishes.push(Wish { end: self.written, zero_copy: number, stamps, key: key as u32 });
        }
    }

    /// There is nothing to wait for.
    pub fn is_idle(&self) -> bool {
        self.wishes.is_empty()
    }

    /// There is a message.
    pub fn is_ready(&self) -> bool {
        !self.messages.is_empty()
    }

    /// So many octets have left by now, and so many of them are acknowledged.
    pub fn progress(&mut self, now: Instant, left: u64, acknowledged: u64) {
        let mut found = Vec::new();
        for wish in &mut self.wishes {
            for (flag, what) in STAMPS.into_iter().filter(|_| wish.end <= left) {
                if wish.stamps & flag != 0 {
                    found.push(Message::Stamp(what, wish.key, now));
                    wish.stamps &= !flag;
                }
            }
            if wish.end <= acknowledged {
                if wish.stamps & ACKNOWLEDGED != 0 {
                    found.push(Message::Stamp(STAMP_ACKNOWLEDGED, wish.key, now));
                }
                found.extend(wish.zero_copy.map(|n| Message::ZeroCopy(n, n)));
            }
        }
        self.wishes.retain(|wish| wish.end > acknowledged);
        found.into_iter().for_each(|message| self.post(message));
    }

    fn post(&mut self, message: Message) {
        self.posted += 1;
        match (self.messages.back_mut(), message) {
            // Numbers that follow each other share a message (Linux: `skb_zerocopy_notify_extend`).
            (Some(Message::ZeroCopy(_, last)), Message::ZeroCopy(first, to)) if first == *last + 1 => *last = to,
            _ => self.messages.push_back(message),
        }
    }

    /// recvmsg with MSG_ERRQUEUE: takes the oldest message and compares it with what the script expects of `msg_flags` and
    /// `msg_control`. Returns false if there is none. Times may be off by `tolerance` nanoseconds.
    ///
    /// # Errors
    /// If they differ.
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
    /// The fields of its control messages.
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

/// Compares one control message with its fields.
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
        queue.stamp(SCHEDULED | LEFT | ACKNOWLEDGED | COUNTED, 10);
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
