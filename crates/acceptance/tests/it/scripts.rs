//! The engine's own scripts (`crates/stack/scripts`): every segment and every call at its time, to
//! the nanosecond. What they assert besides is Python, and is checked with the rest by
//! `tests/test_scripts.py`.

use std::fs;
use std::path::PathBuf;

use anabranch_packetdrill::judge;
use anabranch_packetdrill::report::Status;
use anabranch_packetdrill::settings::Options;

#[test]
fn the_engine_does_as_its_scripts_say() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../stack/scripts");
    let mut run = 0;
    for entry in fs::read_dir(&directory).expect("the scripts are there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "pkt") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("it is text");
        let options = Options { directory: Some(directory.clone()), ..Options::default() };
        let report = judge(&text, &options, &mut |_, _| Ok(())).report;
        assert_eq!(report.status, Status::Passed, "{}: {report:?}", path.display());
        run += 1;
    }
    assert!(run > 200, "{run}");
}
