//! The nearest valid word, for "did you mean".

/// Words of other tools, and the key or value that means the same here.
const SYNONYMS: &[(&str, &str)] = &[
    ("bandwidth", "rate"),
    ("bw", "rate"),
    ("capacity", "rate"),
    // Two meanings: of the choices, the one that is among the keys at hand is named.
    ("speed", "velocity"),
    ("speed", "rate"),
    ("latency", "delay"),
    ("owd", "delay"),
    ("jitter", "delay_variation"),
    ("reorder", "overtaking"),
    ("reordering", "overtaking"),
    ("buffer", "queue"),
    ("plr", "loss"),
    ("duplicate", "duplication"),
    ("corrupt", "corruption"),
    ("size", "bytes"),
    ("length", "bytes"),
    ("time", "duration"),
    ("cc", "controller"),
    ("congestion", "controller"),
    ("congestion_control", "controller"),
    ("iw", "initial_window"),
    ("rto_min", "min_rto"),
    ("rto_max", "max_rto"),
    ("rcvbuf", "receive_buffer"),
    ("rwnd", "receive_buffer"),
    ("lia", "coupled"),
    ("reno", "uncoupled"),
    ("newreno", "uncoupled"),
    ("minrtt", "min-rtt"),
    ("rr", "round-robin"),
    ("upload", "up"),
    ("download", "down"),
];

/// The word of `choices` that `word` was probably meant to be.
pub fn nearest<'a>(word: &str, choices: &[&'a str]) -> Option<&'a str> {
    let plain = |s: &str| s.to_lowercase().replace(['-', ' '], "_");
    let word = plain(word);
    let mut meant = SYNONYMS.iter().filter(|(theirs, _)| *theirs == word).map(|(_, ours)| *ours);
    if let Some(choice) = meant.find_map(|ours| choices.iter().find(|c| **c == ours)) {
        return Some(choice);
    }
    let begins = |c: &str| plain(c).chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
    let near = choices.iter().map(|c| (distance(&word, &plain(c)), *c));
    let (distance, choice) = near.min_by_key(|(d, c)| (*d, std::cmp::Reverse(begins(c))))?;
    // A third of the letters may be wrong; more is a guess, not a help.
    (distance <= word.chars().count().max(choice.chars().count()).div_ceil(3)).then_some(choice)
}

/// Returns true if `word` is one mistake away from `meant`.
pub fn misspells(word: &str, meant: &str) -> bool {
    distance(word, meant) == 1
}

/// `did you mean "x"? ` or nothing.
pub fn did_you_mean(word: &str, choices: &[&str]) -> String {
    nearest(word, choices).map(|c| format!("did you mean \"{c}\"? ")).unwrap_or_default()
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_word() {
        let keys = ["rate", "delay", "delay_variation", "loss", "queue"];
        assert_eq!(nearest("los", &keys), Some("loss"));
        assert_eq!(nearest("dealy", &keys), Some("delay"));
        assert_eq!(nearest("Delay-Variation", &keys), Some("delay_variation"));
        assert_eq!(nearest("bandwidth", &keys), Some("rate"));
        assert_eq!(nearest("speed", &keys), Some("rate"));
        assert_eq!(nearest("speed", &["rate", "velocity"]), Some("velocity"));
        assert_eq!(nearest("colour", &keys), None);
        assert_eq!(nearest("LIA", &["uncoupled", "coupled"]), Some("coupled"));
    }

    #[test]
    fn a_swap_of_neighbours_is_one_step() {
        assert_eq!(distance("dealy", "delay"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
