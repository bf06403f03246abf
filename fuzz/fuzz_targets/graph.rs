//! Task graphs: chunks, control events and descriptions of modules, damaged in their files and below their compression. Whatever
//! a file says, it is read, made a graph, and replayed for every back end without a panic, and within bounds of time.

#![no_main]

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use workspan_graph::cache::Caches;
use workspan_graph::code::Code;
use workspan_graph::codec::Decoder;
use workspan_graph::curve::{excerpts, Curve, Sharing as Shared};
use workspan_graph::drawn::Drawn;
use workspan_graph::events::{Access, Control};
use workspan_graph::file::Recording;
use workspan_graph::graph::Graph;
use workspan_graph::messages::identity;
use workspan_graph::misses::Misses;
use workspan_graph::moved::Moved;
use workspan_graph::part::parts;
use workspan_graph::path::critical;
use workspan_graph::races::Races;
use workspan_graph::replay::{replay, Consumer, Executed, Iterations};
use workspan_graph::sample::Sample;
use workspan_graph::sharing::Sharing;
use workspan_graph::tables;
use workspan_graph::timeline::{observed, potential};
use workspan_graph::waits::Waits;
use workspan_graph::walk::Walk;
use workspan_graph::working_set::WorkingSets;
use workspan_trace::bytes::{Reader, Writer};

/// Bytes before the first record.
const HEADER: usize = 12;
/// Bytes of events that are replayed: a chunk of a few bytes unfolds to a million.
const MOST_EVENTS: usize = 1 << 18;
/// Bytes of an access that is replayed: back ends look at each line of it.
const MOST_ACCESS: u64 = 1 << 12;
/// Accesses that are listed of a chunk.
const MOST_ITEMS: usize = 1 << 12;
/// Iterations that are replayed of one turn.
const MOST_ITERATIONS: u64 = 1 << 6;
/// A part never unfolds to more here.
const MOST_PART: usize = 1 << 20;
/// Kinds of records whose parts are compressed.
const MODULE: u8 = 2;
const EVENTS: u8 = 3;

fuzz_target!(|bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("workspan-fuzz-graph-{}.wsg", std::process::id()));
    fs::write(&path, with_right_checksums(bytes)).expect("a file can be written");
    check(path);
});

fn check(path: PathBuf) {
    let Ok(recording) = Recording::open(&path) else {
        return;
    };
    let _ = (recording.complete(), identity(&recording));
    let graph = Graph::of(&recording);
    let order = graph.order();
    assert!(order.len() <= graph.tasks.len());
    let path = critical(&graph);
    assert!(path.span <= path.work);
    let _ = (observed(&graph, 7), potential(&graph, 7));
    let events: usize = recording.chunks.iter().map(|chunk| chunk.raw).sum();
    if events > MOST_EVENTS {
        return;
    }
    let caches = || Caches::new(64, 4, (1 << 10, 1 << 14)).expect("a size there is");
    run(&recording, Curve::new(caches(), Shared::Private));
    run(&recording, Misses::new(caches(), Shared::Shared));
    run(&recording, Races::default());
    run(&recording, Sharing::new(64));
    run(&recording, Code::new(&graph));
    let _ = run(&recording, Waits::default()).found();
    run(&recording, WorkingSets::new(&graph, 64)).finish(&graph);
    run(&recording, Moved::new(1 << 14, 4, 1).expect("a size there is"));
    let _ = excerpts::sizes(&recording, (64, 4), (1 << 10, 1 << 14), (4, 0.01));
    listed(&recording, &graph);
    sampled(&recording, &graph);
}

/// What SQL reads.
fn listed(recording: &Recording, graph: &Graph) {
    let positions = tables::positions(graph);
    let tasks = tables::tasks(graph, &positions, 0..graph.tasks.len());
    assert!(tasks.iter().all(|(_, column)| column.len() == graph.tasks.len()));
    let _ = (tables::edges(graph, 0..graph.edges.len()), tables::blocks(recording), tables::operations(recording));
    let walk = Walk::new(recording, graph);
    let (mut decoder, mut raw) = (Decoder::default(), Vec::new());
    for chunk in walk.chunks(|_| true) {
        let mut left = MOST_ITEMS;
        let mut take = |_| {
            left -= 1;
            if left == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let _ = walk.read(recording, (&mut decoder, &mut raw), chunk, |_| true, &mut take);
    }
}

/// The same recording, as if it were one of some lines.
fn sampled(recording: &Recording, graph: &Graph) {
    let sample = recording.sample.or(Sample::new(8)).expect("a sample there is");
    let sizes = (1 << 16, 1 << 18);
    let drawn = run_parts(recording, sample, Drawn::new(4, sizes, Shared::Private).expect("sizes there are"));
    assert_eq!(drawn.sizes(&sample, recording.accesses()).len(), 3);
    run_parts(recording, sample, Races::default());
    run_parts(recording, sample, Moved::new(1 << 14, 4, sample.one_in).expect("a size there is"));
    run_parts(recording, sample, WorkingSets::new(graph, 64)).finish(graph);
}

fn run<C: Consumer>(recording: &Recording, consumer: C) -> C {
    let mut capped = Capped(consumer);
    let _ = replay(recording, &mut capped);
    capped.0
}

/// Of a sample: long accesses are kept back before they are divided into lines.
fn run_parts<C: Consumer>(recording: &Recording, sample: Sample, mut consumer: C) -> C {
    let _ = replay(recording, &mut Capped(parts(sample, &mut consumer)));
    consumer
}

/// Keeps long accesses from a back end.
struct Capped<C>(C);

impl<C: Consumer> Consumer for Capped<C> {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        let short: Vec<Access> = accesses.iter().copied().filter(|access| access.size <= MOST_ACCESS).collect();
        self.0.segment(executed, &short);
    }

    fn repeated(&mut self, executed: Executed<'_>, iterations: Iterations<'_>, list: &mut Vec<Access>) {
        let times = iterations.times.min(MOST_ITERATIONS);
        if iterations.first.iter().all(|access| access.size <= MOST_ACCESS) {
            self.0.repeated(executed, Iterations { times, ..iterations }, list);
        }
    }

    fn transfer(&mut self, executed: Executed<'_>, access: &Access) {
        if access.size <= MOST_ACCESS {
            self.0.transfer(executed, access);
        }
    }

    fn control(&mut self, context: u32, control: Control) {
        self.0.control(context, control);
    }

    fn after(&mut self, context: u32, before: u32) {
        self.0.after(context, before);
    }

    fn arrive(&mut self, context: u32, barrier: Control) {
        self.0.arrive(context, barrier);
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mutated = if seed % 4 == 0 { None } else { mutate_part(&data[..size], seed) };
    match mutated {
        Some(bytes) if bytes.len() <= max_size => {
            data[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
});

/// Mutates a part of a record below its compression.
fn mutate_part(bytes: &[u8], seed: u32) -> Option<Vec<u8>> {
    let records = records(bytes);
    let seed = (seed / 4) as usize;
    let (which, part) = (seed % records.len().max(1), seed / records.len().max(1) % 3);
    let mut out = bytes.get(..HEADER)?.to_vec();
    for (number, body) in records.iter().enumerate() {
        let body =
            if number == which { mutate_body(body, part).unwrap_or_else(|| body.to_vec()) } else { body.to_vec() };
        out.extend(u32::try_from(body.len()).ok()?.to_le_bytes());
        out.extend(crc32fast::hash(&body).to_le_bytes());
        out.extend(body);
    }
    Some(out)
}

fn mutate(mut part: Vec<u8>) -> Vec<u8> {
    let size = part.len();
    part.resize(size + 64, 0);
    let most = part.len();
    let size = fuzzer_mutate(&mut part, size, most);
    part.truncate(size);
    part
}

fn mutate_body(body: &[u8], part: usize) -> Option<Vec<u8>> {
    let (kind, rest) = body.split_first()?;
    let mut from = Reader::new(rest);
    let mut out = Writer { bytes: vec![*kind] };
    let unpack = |bytes: &[u8]| zstd::bulk::decompress(bytes, MOST_PART).ok();
    let pack = |bytes: &[u8]| zstd::bulk::compress(bytes, 1).ok();
    match *kind {
        MODULE => {
            out.number(from.number().ok()?);
            let _ = from.number().ok()?;
            let module = mutate(unpack(from.rest())?);
            out.number(module.len() as u64);
            out.bytes.extend(pack(&module)?);
        }
        EVENTS => {
            let mut head = [0; 5];
            for number in &mut head {
                *number = from.number().ok()?;
            }
            let mut parts = Vec::new();
            let lengths = [from.count().ok()?, from.count().ok()?, from.count().ok()?];
            for (number, length) in lengths.into_iter().enumerate() {
                let part_of = from.take(length).ok()?;
                if number == part {
                    let mutated = mutate(unpack(part_of)?);
                    head[4] = if number == 0 { mutated.len() as u64 } else { head[4] };
                    parts.push(pack(&mutated)?);
                } else {
                    parts.push(part_of.to_vec());
                }
            }
            head.into_iter().for_each(|number| out.number(number));
            parts.iter().for_each(|part| out.number(part.len() as u64));
            parts.iter().for_each(|part| out.bytes.extend(part));
        }
        _ => out.bytes.extend(mutate(rest.to_vec())),
    }
    Some(out.bytes)
}

/// Bodies of records, for as long as there are whole ones.
fn records(bytes: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut at = HEADER;
    while let Some(length) = bytes.get(at..at + 4).and_then(|length| length.try_into().ok()) {
        let Some(body) = bytes.get(at + 8..).and_then(|rest| rest.get(..u32::from_le_bytes(length) as usize)) else {
            break;
        };
        found.push(body);
        at += 8 + body.len();
    }
    found
}

/// Sets the checksum of every record for as long as there are whole ones.
fn with_right_checksums(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut at = HEADER;
    for body in records(bytes) {
        out[at + 4..at + 8].copy_from_slice(&crc32fast::hash(body).to_le_bytes());
        at += 8 + body.len();
    }
    out
}
