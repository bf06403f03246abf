//! The analysis alone, on a recording: `cargo run --release --example analyse -- NAME.graph [TIMES]`. For profilers of this program.

#![expect(clippy::print_stdout, reason = "a program")]

use std::path::Path;
use std::time::Instant;

use workspan_depend::engine::{analyse, Engine};
use workspan_depend::{file, verdict};
use workspan_graph::codec::Decoder;
use workspan_graph::file::Recording;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which recording?")?;
    let times: u32 = arguments.next().map_or(Ok(1), |times| times.parse())?;
    let recording = Recording::open(Path::new(&path))?;
    let mut decoder = Decoder::default();
    let mut buffers = Vec::new();
    for context in recording.contexts() {
        for chunk in recording.chunks_of(context) {
            buffers.push((context, decoder.decode(&recording.program, &recording.encoded(chunk)?)?));
        }
    }
    for _ in 0..times {
        let begun = Instant::now();
        let mut engine = Engine::new();
        for module in &recording.program.modules {
            engine.learn(module);
        }
        for (context, bytes) in &buffers {
            let _ = analyse(&mut engine, &recording.program, *context, bytes);
        }
        engine.finish();
        let streamed = begun.elapsed();
        let profile = verdict::profile(&mut engine);
        let (work, dependences) = (engine.work, engine.table.all.len());
        println!("{work} instructions, {dependences} dependences, {streamed:.2?}, {:.2?} in all", begun.elapsed());
        if std::env::var_os("DUMP").is_some() {
            println!("{profile:#?}");
        }
        let mut sum = 0_u64;
        for byte in file::encode(&profile) {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
        }
        println!("{sum:016x} is the sum of the profile");
    }
    Ok(())
}
