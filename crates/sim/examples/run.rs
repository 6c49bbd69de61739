//! Runs a scenario file and prints its summary: `cargo run --example run -- FILE [KEY=VALUE ...] [--trace FILE]`.

use std::ops::ControlFlow;

fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().expect("usage: run FILE [KEY=VALUE ...]");
    let text = std::fs::read_to_string(&file).expect("the file can be read");
    let mut overrides = Vec::new();
    let mut sink = None;
    while let Some(arg) = args.next() {
        if arg == "--trace" {
            let path = args.next().expect("--trace FILE");
            let file = std::fs::File::create(path).expect("the trace can be written");
            sink = Some(Box::new(std::io::BufWriter::new(file)) as anabranch_sim::sim::trace::Sink);
        } else {
            let (key, value) = arg.split_once('=').expect("KEY=VALUE");
            overrides.push((key.to_string(), value.to_string()));
        }
    }
    let scenario = match anabranch_sim::scenario::parse(&text, &file, &overrides, None) {
        Ok(scenario) => scenario,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    };
    let run = anabranch_sim::run(&scenario, sink, &mut |_| ControlFlow::Continue(()));
    println!("{:#}", run.summary);
}
