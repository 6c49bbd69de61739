//! Short paths skip work whose result is known: with them and without, every scenario has the same
//! trace and the same summary.

use std::fs;
use std::path::PathBuf;

use anabranch_sim::scenario::{Stack, parse};
#[cfg(debug_assertions)]
use anabranch_stack::config::Registries;
use anabranch_stack::shortcut::{Shortcut, take_counts};
use anabranch_torture::{draw, shortcuts_agree, without_shortcuts};

use crate::golden::goldens;
use crate::support::{finish, on_two_threads, scenario};

/// Scenarios that random drawing found, in which short and full path once had different traces:
///
/// - 2728: an application wrote while an acknowledgement was delayed on another subflow, and the
///   acknowledgement left late.
/// - 5806, 6031, 11199, 11669: data that arrived with nothing in flight took an unused window away,
///   on the full path only.
/// - 4828, 5257, 10499: a poll without data noted until when pacing held data back, on the short
///   path only. The timer woke the reader.
/// - 7457: before the first measurement the retransmission timeout was shorter than the shortest
///   timer that was reckoned with.
/// - 1803: a timer ran before or after an arrival of the same nanosecond, depending on when it had
///   been set.
/// - 21024059, 21050100, 21062381: an application wrote after the user timeout had aborted the
///   connection, and the ended connection sent these data; the short path sent others than the full
///   path.
/// - 21027675, 21050195: octets that arrived again ahead of a hole of the data stream were not
///   reported as duplicates by the short path, so that `bytes_altered` was too small.
#[test]
fn what_once_differed_has_one_trace_and_one_summary() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/shortcuts");
    let files: Vec<_> = fs::read_dir(folder).expect("the cases are there").flatten().map(|f| f.path()).collect();
    assert!(files.len() >= 10);
    for file in files {
        let text = fs::read_to_string(&file).expect("it is text");
        let name = file.display().to_string();
        let case = parse(&text, &name, &[], None).unwrap_or_else(|error| panic!("{name}: {error}"));
        shortcuts_agree(&case).unwrap_or_else(|finding| panic!("{name}: {finding}"));
    }
}

/// In the golden scenarios every short path is taken with [`Config::shortcuts`](anabranch_stack::Config::shortcuts) and none without, and
/// the traces are equal.
#[test]
fn golden_scenarios_take_every_short_path_and_have_one_trace() {
    let runs = on_two_threads(&goldens(), |golden| {
        let short = scenario(&golden.text);
        let full = without_shortcuts(&short);
        [short, full].map(|scenario| {
            #[cfg(debug_assertions)]
            take_counts();
            let hash = finish(&scenario).summary["trace_sha256"].clone();
            #[cfg(debug_assertions)]
            return (golden.name.clone(), hash, take_counts());
            #[cfg(not(debug_assertions))]
            (golden.name.clone(), hash, [0; 0])
        })
    });
    for [short, full] in &runs {
        assert_eq!(short.1, full.1, "{}: another trace without shortcuts", short.0);
        assert!(full.2.iter().all(|&n| n == 0), "{}: short paths were taken without shortcuts: {:?}", full.0, full.2);
    }
    #[cfg(debug_assertions)]
    for shortcut in Shortcut::ALL {
        let taken: u64 = runs.iter().map(|[short, _]| short.2[shortcut as usize]).sum();
        assert!(taken > 100, "{shortcut:?} was taken {taken} times");
    }
}

/// Random scenarios of each kind: the first ones with every test, and many of them where there is time.
fn random(numbers: std::ops::Range<u64>) {
    let starts: Vec<u64> = numbers.clone().step_by(100).collect();
    let found = on_two_threads(&starts, |&start| {
        let differs = |number| {
            let drawn = draw(number, &Registries::default()).expect("every number is a scenario").scenario;
            let found = (drawn.stack == Stack::Anabranch).then(|| shortcuts_agree(&drawn).err())?;
            found.map(|finding| format!("{number}: {finding}"))
        };
        (start..(start + 100).min(numbers.end)).filter_map(differs).collect::<Vec<_>>()
    });
    assert!(found.iter().all(Vec::is_empty), "{}", found.concat().join("\n"));
}

#[test]
fn a_thousand_random_scenarios_have_one_trace() {
    random(20_000_000..20_001_000);
}

#[test]
#[ignore = "long"]
fn a_hundred_thousand_random_scenarios_have_one_trace() {
    random(21_000_000..21_100_000);
}
