//! How fast buffers are encoded and decoded: `codec FILE`, of a file of raw buffers (heads of six words, then the bytes).

use workspan_graph::codec::{Decoder, Encoder};
use workspan_graph::program::Program;

fn main() {
    let bytes = std::fs::read(std::env::args().nth(1).expect("a file")).expect("readable");
    let (mut program, mut chunks) = (Program::new(), Vec::new());
    let mut parts: std::collections::HashMap<u32, Vec<u8>> = Default::default();
    let mut at = 0;
    while at + 24 <= bytes.len() {
        let word = |n: usize| u32::from_le_bytes(bytes[at + 4 * n..at + 4 * n + 4].try_into().expect("four"));
        let (module, context, seq, base, of, length) =
            (word(0) == 1, word(1), word(2), word(3), word(4), word(5) as usize);
        let body = &bytes[at + 24..at + 24 + length];
        if module {
            let part = parts.entry(context).or_default();
            part.extend(body);
            if seq + 1 == of {
                program.add(base, part).expect("a module");
            }
        } else {
            chunks.push(body);
        }
        at += 24 + length;
    }
    let raw: usize = chunks.iter().map(|chunk| chunk.len()).sum();
    let mut encoder = Encoder::default();
    let since = on_cpu();
    let encoded: Vec<_> = chunks.iter().map(|chunk| encoder.encode(&program, chunk).expect("encodable").0).collect();
    let time = on_cpu() - since;
    let out: usize = encoded.iter().map(|chunk| chunk.structure.len() + chunk.residuals.len()).sum();
    let events: u64 = encoded.iter().map(|chunk| chunk.summary.events).sum();
    let accesses: u64 = encoded.iter().flat_map(|chunk| &chunk.summary.fragments).map(|f| f.loads + f.stores).sum();
    println!(
        "{} chunks, {:.1} MB, {events} events, {accesses} accesses -> {:.3} MB",
        chunks.len(),
        raw as f64 / 1e6,
        out as f64 / 1e6
    );
    println!(
        "encode {time:.3} s: {:.2} GB/s, {:.1} ns an event, {:.2} an access",
        raw as f64 / time / 1e9,
        time * 1e9 / events as f64,
        time * 1e9 / accesses as f64
    );
    let mut decoder = Decoder::default();
    let mut into = Vec::new();
    let since = on_cpu();
    for (chunk, raw) in encoded.iter().zip(&chunks) {
        decoder.decode_into(&program, chunk, &mut into).expect("decodable");
        assert!(into[..chunk.raw] == raw[..chunk.raw]);
    }
    let time = on_cpu() - since;
    println!("decode {time:.3} s: {:.2} GB/s, {:.1} ns an event", raw as f64 / time / 1e9, time * 1e9 / events as f64);
}

/// Seconds that this thread has run.
fn on_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    text.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).expect("a number") / 1e9
}
