//! Writes `crates/capi/include/anabranch.h`, which cbindgen makes from the source of the C interface.
//! `--check` writes nothing, and exits with status 1 if the file is not what cbindgen makes.

use std::path::Path;
use std::process::ExitCode;

const HEADING: &str = "/* C interface to the Anabranch multipath-TCP engine.
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
 */";

fn made(capi: &Path) -> String {
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        header: Some(HEADING.to_owned()),
        include_guard: Some("ANABRANCH_H".to_owned()),
        cpp_compat: true,
        documentation_style: cbindgen::DocumentationStyle::C,
        style: cbindgen::Style::Tag,
        usize_is_size_t: true,
        no_includes: true,
        sys_includes: vec!["stddef.h".to_owned(), "stdint.h".to_owned()],
        ..cbindgen::Config::default()
    };
    let builder = cbindgen::Builder::new().with_src(capi.join("src/lib.rs")).with_config(config);
    let mut text = Vec::new();
    builder.generate().expect("cbindgen reads the source").write(&mut text);
    String::from_utf8(text).expect("the header is UTF-8")
}

fn main() -> ExitCode {
    let capi = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/capi");
    let path = capi.join("include/anabranch.h");
    let made = made(&capi);
    if std::env::args().any(|argument| argument == "--check") {
        if std::fs::read_to_string(&path).is_ok_and(|kept| kept == made) {
            return ExitCode::SUCCESS;
        }
        eprintln!("crates/capi/include/anabranch.h is not what the source gives: run `make capi-header`");
        return ExitCode::FAILURE;
    }
    std::fs::write(&path, &made).expect("the header can be written");
    ExitCode::SUCCESS
}
