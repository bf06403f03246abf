//! The analysis alone, on a recording: `cargo run --release --example analyse -- NAME.graph [TIMES]`. For profilers of this program.

#![expect(clippy::print_stdout, reason = "a program")]

use std::path::Path;
use std::time::Instant;

use workspan_depend::engine::{analyse, Engine};
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
        workspan_depend::second::again(&mut engine);
        println!(
            "{} instructions, {} dependences, {streamed:.2?}, {:.2?} in all",
            engine.work,
            engine.table.all.len(),
            begun.elapsed()
        );
        for run in &mut engine.models {
            let span = run.finish(engine.clock.work);
            println!("{} {span}", run.model.name);
        }
        let mut sum = 0_u64;
        for (key, record) in &engine.table.all {
            sum = sum
                .wrapping_mul(31)
                .wrapping_add(record.count ^ record.least << 20 ^ record.most << 30 ^ u64::from(key.sink) << 40);
        }
        println!("check {sum:x}");
    }
    Ok(())
}
