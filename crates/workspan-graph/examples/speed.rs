//! How fast a graph is decoded, encoded, replayed and simulated, on one processor: `speed NAME.graph`.

#![expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "an example: figures for whoever typed it")]

use std::path::Path;

use workspan_graph::cache::{Caches, SIZES};
use workspan_graph::codec::{Decoder, Encoder};
use workspan_graph::curve::{Curve, Sharing};
use workspan_graph::events::Access;
use workspan_graph::file::{Recording, NAME};
use workspan_graph::races::Races;
use workspan_graph::replay::{replay, Consumer, Executed, Iterations};

/// Takes everything and does nothing.
struct Nothing;

impl Consumer for Nothing {
    fn segment(&mut self, _: Executed<'_>, _: &[Access]) {}
    fn repeated(&mut self, _: Executed<'_>, _: Iterations<'_>, _: &mut Vec<Access>) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("type `speed NAME.graph`")?;
    let recording = Recording::open(&Path::new(&folder).join(NAME))?;
    let program = &recording.program;
    let accesses = recording.accesses() as f64;
    let (mut decoder, mut encoder) = (Decoder::default(), Encoder::default());
    let mut raw = Vec::new();
    let (mut decoding, mut encoding, mut bytes, mut packed, mut events) = (0.0, 0.0, 0, 0, 0);
    for chunk in &recording.chunks {
        let encoded = recording.encoded(chunk)?;
        let since = on_cpu();
        decoder.decode_into(program, &encoded, &mut raw).map_err(|_| "a damaged chunk")?;
        let between = on_cpu();
        let (again, _) = encoder.encode(program, &raw[..chunk.raw])?;
        (decoding, encoding) = (decoding + between - since, encoding + on_cpu() - between);
        (bytes, packed) = (bytes + chunk.raw, packed + again.structure.len() + again.residuals.len());
        events += chunk.summary.events;
    }
    println!("{events} events of {bytes} bytes, {accesses} accesses; {packed} bytes encoded");
    let rate = |what: &str, seconds: f64| {
        let (gigabytes, each) = (bytes as f64 / seconds / 1e9, seconds * 1e9);
        let (event, access) = (each / events as f64, each / accesses);
        println!("{what:14} {seconds:7.3} s  {gigabytes:6.2} GB/s  {event:6.1} ns an event  {access:6.2} an access");
    };
    rate("decode", decoding);
    rate("encode", encoding);
    let since = on_cpu();
    replay(&recording, &mut Nothing)?;
    rate("replay", on_cpu() - since);
    let since = on_cpu();
    let mut races = Races::default();
    replay(&recording, &mut races)?;
    rate("races", on_cpu() - since);
    println!("{} pairs of places race", races.found().len());
    let total = recording.accesses();
    for (what, caches) in
        [("exact curve", Caches::new(64, 4, SIZES)?), ("sampled curve", Caches::sampled(64, 4, SIZES, (64, total))?)]
    {
        let since = on_cpu();
        let mut curve = Curve::new(caches, Sharing::Private);
        replay(&recording, &mut curve)?;
        let sizes = curve.sizes();
        rate(what, on_cpu() - since);
        for size in sizes {
            let share = |count: u64| count as f64 * 100.0 / size.accesses.max(1) as f64;
            print!(" {:.2}±{:.2}", share(size.misses), share(size.error));
        }
        println!();
    }
    Ok(())
}

/// Seconds that this thread has run.
fn on_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
