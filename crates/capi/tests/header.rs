//! `include/anabranch.h` is what cbindgen makes of the source.

use std::path::Path;

const HEADING: &str = "/* C interface to the Anabranch multipath-TCP engine.
 *
 * Made by cbindgen from crates/capi/src; write it anew with
 *     ANABRANCH_WRITE_HEADER=1 cargo test --profile lab --package anabranch-capi --test header
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

fn made() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
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
    let builder = cbindgen::Builder::new().with_src(root.join("src/lib.rs")).with_config(config);
    let mut text = Vec::new();
    builder.generate().expect("the source is read").write(&mut text);
    String::from_utf8(text).expect("UTF-8")
}

#[test]
fn the_header_is_that_of_the_source() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/anabranch.h");
    let made = made();
    if std::env::var_os("ANABRANCH_WRITE_HEADER").is_some() {
        std::fs::write(&path, &made).expect("the header can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "crates/capi/include/anabranch.h is stale: write it anew with\n    \
         ANABRANCH_WRITE_HEADER=1 cargo test --profile lab --package anabranch-capi --test header"
    );
}
