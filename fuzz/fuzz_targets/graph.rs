//! Files of task graphs, with checksums that do not matter: records, static descriptions, chunks of events, and what is
//! computed from them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use workspan_graph::cache::{Caches, Curve, Sharing};
use workspan_graph::codec::Decoder;
use workspan_graph::file::Recording;
use workspan_graph::graph::Graph;
use workspan_graph::races::Races;
use workspan_graph::replay::replay;
use workspan_trace::VERSION;

const HEADER: usize = 12;

/// A header and right checksums before and in whatever there is.
fn valid(bytes: &[u8]) -> Vec<u8> {
    let mut file = b"wspgraph".to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend(bytes);
    let mut at = HEADER;
    while let Some(length) = file.get(at..at + 4).and_then(|word| word.try_into().ok()).map(u32::from_le_bytes) {
        let end = (at + 8).saturating_add(length as usize);
        let Some(body) = file.get(at + 8..end) else { break };
        let sum = crc32fast::hash(body).to_le_bytes();
        file[at + 4..at + 8].copy_from_slice(&sum);
        at = end;
    }
    file
}

fuzz_target!(|bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("workspan-fuzz-{}.wsg", std::process::id()));
    if std::fs::write(&path, valid(bytes)).is_err() {
        return;
    }
    let Ok(recording) = Recording::open(&path) else { return };
    let graph = Graph::of(&recording);
    assert!(graph.order().len() <= graph.tasks.len());
    let mut decoder = Decoder::default();
    for chunk in &recording.chunks {
        if let Ok(encoded) = recording.encoded(chunk) {
            let _ = decoder.decode(&recording.program, &encoded);
        }
    }
    let _ = replay(&recording, &mut Races::default());
    if let Ok(caches) = Caches::new(64, 4, (1 << 10, 1 << 14)) {
        let _ = replay(&recording, &mut Curve::new(caches, Sharing::Shared));
    }
});
