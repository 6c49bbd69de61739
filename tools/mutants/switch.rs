//! Which of the mutants compiled in is on: the number in `ANABRANCH_MUTANT`. With a folder in `ANABRANCH_MUTANTS_REACHED`
//! none is, and a file there says which ones would have made a difference where they stand.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

const UNREAD: u32 = u32::MAX;
const LISTEN: u32 = u32::MAX - 1;
const NONE: u32 = u32::MAX / 2;

static ON: AtomicU32 = AtomicU32::new(UNREAD);
static SEEN: [AtomicBool; 20_000] = [const { AtomicBool::new(false) }; 20_000];
static FILE: OnceLock<File> = OnceLock::new();

#[cold]
fn read() -> u32 {
    let number = std::env::var("ANABRANCH_MUTANT").ok().map(|n| n.parse().expect("a number"));
    let listen = std::env::var_os("ANABRANCH_MUTANTS_REACHED");
    if let Some(path) = &listen {
        FILE.get_or_init(|| OpenOptions::new().create(true).append(true).open(path).expect("a file"));
    }
    let on = number.unwrap_or(if listen.is_some() { LISTEN } else { NONE });
    ON.store(on, Relaxed);
    on
}

#[inline]
fn note(number: u32) {
    if !SEEN[number as usize].load(Relaxed) {
        note_first(number);
    }
}

#[cold]
fn note_first(number: u32) {
    if !SEEN[number as usize].swap(true, Relaxed) {
        FILE.get().expect("opened before").write_all(format!("{number}\n").as_bytes()).expect("written");
    }
}

#[inline(always)]
fn on() -> u32 {
    let on = ON.load(Relaxed);
    if on == UNREAD { read() } else { on }
}

/// Which of the `count` mutants from `first` on is on: from 0; `count` or more if none is. Any of them makes a difference.
#[inline(always)]
pub fn at(first: u32, count: u32) -> u32 {
    let on = on();
    if on == LISTEN && !SEEN[first as usize].load(Relaxed) {
        (first..first + count).for_each(note_first);
    }
    on.wrapping_sub(first)
}

/// What a comparison says, or what it would say as one of the mutants from `first` on.
#[inline(always)]
pub fn choose<const COUNT: usize>(first: u32, says: bool, instead: [bool; COUNT]) -> bool {
    let on = on();
    if on == LISTEN {
        (first..).zip(&instead).filter(|&(_, &other)| other != says).for_each(|(number, _)| note(number));
    }
    instead.get(on.wrapping_sub(first) as usize).copied().unwrap_or(says)
}

/// Whether the second operand is asked after the first: of `&&` (`and`) or `||`, or of the other one if the mutant is on.
#[inline(always)]
pub fn asks(number: u32, first: bool, and: bool) -> bool {
    let on = on();
    if on == LISTEN && first != and {
        note(number);
    }
    (first == and) != (on == number)
}

/// The second operand of `&&` or `||`: only if it decides did it matter that it was asked.
#[inline(always)]
pub fn told(number: u32, second: bool, and: bool) -> bool {
    if on() == LISTEN && second != and {
        note(number);
    }
    second
}

/// Forgets which mutants were seen: each is noted again when it is reached again. For
/// `plugin/switched.py`.
#[unsafe(no_mangle)]
pub extern "C" fn anabranch_mutants_forget() {
    SEEN.iter().for_each(|seen| seen.store(false, Relaxed));
}
