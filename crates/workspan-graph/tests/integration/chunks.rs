//! Chunks: what is encoded comes back, whatever it is; what is damaged is said.

use std::fs;

use proptest::prelude::*;
use workspan_graph::codec::{Decoder, Encoded, Encoder, Haste};
use workspan_graph::events::{Access, Events};
use workspan_graph::file::{Problem, Recording};
use workspan_graph::replay::{replay, Consumer, Executed};
use workspan_trace::control::Kind;
use workspan_trace::program::Access as Mode;

use crate::made::{file, program, recording, Buffer, VARIABLE};

const SLOTS: [usize; 6] = [2, 2, 1, 1, 3, 4];

fn buffer() -> impl Strategy<Value = Buffer> {
    let slot = prop_oneof![0..64_u64, 0x7fff_0000_0000..0x7fff_0001_0000_u64, 0..(1_u64 << 48)];
    let event = (0..7_u32, proptest::collection::vec(slot, 5), 1..20_u32, -16..16_i64);
    proptest::collection::vec(event, 0..200).prop_map(|events| {
        let mut buffer = Buffer::default();
        for (segment, mut slots, repeated, step) in events {
            for _ in 0..repeated {
                match SLOTS.get(segment as usize) {
                    Some(count) => buffer.segment(segment, &slots[..*count]),
                    None => buffer.control(Kind::Sync, &slots),
                };
                slots.iter_mut().for_each(|slot| *slot = slot.wrapping_add_signed(step) & ((1 << 48) - 1));
            }
        }
        buffer
    })
}

proptest! {
    #[test]
    fn every_buffer_comes_back(buffers in proptest::collection::vec(buffer(), 1..4)) {
        let program = program();
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
        let chunks: Vec<Encoded> =
            buffers.iter().map(|buffer| encoder.encode(&program, &buffer.bytes).expect("encodable").0).collect();
        // Chunks are independent: the last is decoded first.
        for (buffer, chunk) in buffers.iter().zip(&chunks).rev() {
            prop_assert_eq!(chunk.raw, buffer.bytes.len());
            let decoded = decoder.decode(&program, chunk);
            prop_assert_eq!(decoded.as_ref(), Ok(&buffer.bytes));
        }
    }

    #[test]
    fn damaged_streams_are_no_panic(structure in any::<Vec<u8>>(), residuals in any::<Vec<u8>>(), raw in 0..2_000_000_usize) {
        let pack = |bytes: &[u8]| zstd::bulk::compress(bytes, 1).expect("compressible");
        let chunk = Encoded { raw, structure: pack(&structure), residuals: pack(&residuals), ..Encoded::default() };
        let _ = Decoder::default().decode(&program(), &chunk);
        let bare = Encoded { structure, residuals, ..chunk };
        let _ = Decoder::default().decode(&program(), &bare);
    }
}

#[test]
fn accesses_are_resolved() {
    let program = program();
    let mut buffer = Buffer::default();
    buffer.load(0x1000).segment(1, &[0x2000, 77]).store(0x3000).segment(3, &[0x4000]).segment(4, &[0x5000, 0, 1]);
    let mut events = Events::new(&program, &buffer.bytes);
    let mut found = Vec::new();
    let mut accesses = Vec::new();
    let mut frames = Vec::new();
    while let Some((event, _)) = events.next_event().expect("known") {
        let (loaded, segment) = program.segment(event.id).expect("a segment");
        frames.push(event.accesses(loaded, segment, &mut accesses));
        found.extend(accesses.iter().map(|Access { address, size, mode, .. }| (*address, *size, *mode)));
    }
    let expected = [
        (0x1000, 8, Mode::Load),
        (0x2000, 77, Mode::Store),
        (0x3000, 4, Mode::Store),
        (0x3004, 4, Mode::Load),
        (VARIABLE + 16, 4, Mode::Store),
        (0x4000, 8, Mode::Update),
        // The first lane takes no part; the second is near it all the same.
        (0x5004, 4, Mode::Load),
    ];
    assert_eq!(found, expected);
    assert_eq!(frames, [Some(0x7fff_0000_0000), None, None, None, None]);
}

#[test]
fn a_loop_is_one_event_and_all_its_iterations() {
    struct Seen(Vec<(u64, u64, Mode)>, u64);
    impl Consumer for Seen {
        fn segment(&mut self, _: Executed<'_>, accesses: &[Access]) {
            self.0.extend(accesses.iter().map(|Access { address, size, mode, .. }| (*address, *size, *mode)));
            self.1 += 1;
        }
    }
    let step = (-40_i64).cast_unsigned() & ((1 << 48) - 1);
    for iterations in [1, 2, 999, 2500] {
        let mut buffer = Buffer::default();
        buffer.control(Kind::Begin, &[1, 0]);
        buffer.segment(5, &[0x10_0000, 0x20_0000, step, iterations]).load(7).control(Kind::End, &[5]);
        let recording = recording("iterations", &[vec![buffer]]);
        let mut seen = Seen(Vec::new(), 0);
        replay(&recording, &mut seen).expect("readable");
        let expected = (0..iterations).flat_map(|number| {
            [
                (0x10_0000 + number * 8, 8, Mode::Load),
                (0x10_0000 + number * 8 - 8, 8, Mode::Load),
                (0x20_0000 - number * 40, 4, Mode::Store),
                (VARIABLE + 16, 4, Mode::Store),
            ]
        });
        assert!(seen.0.iter().copied().eq(expected.chain([(7, 8, Mode::Load)])), "{iterations}");
        let tally = recording.chunks[0].summary.fragments[1];
        assert_eq!((tally.segments, tally.blocks), (iterations + 1, iterations + 1));
        assert_eq!((tally.loads, tally.stores, tally.bytes), (2 * iterations + 1, 2 * iterations, 24 * iterations + 8));
        assert_eq!(seen.1, iterations + 1);
    }
}

#[test]
fn regular_code_takes_next_to_nothing() {
    let mut buffer = Buffer::default();
    for number in 0..50_000 {
        buffer.store(0x10_0000 + number * 8);
    }
    let (chunk, _) = Encoder::default().encode(&program(), &buffer.bytes).expect("encodable");
    assert!(chunk.structure.len() + chunk.residuals.len() < 200, "{} bytes", chunk.structure.len());
    assert_eq!(chunk.summary.fragments[0].stores, 100_000);
    assert_eq!(chunk.summary.fragments[0].loads, 50_000);
    assert_eq!(chunk.summary.fragments[0].bytes, 600_000);
}

/// Where buffers wait, streams that are small already are kept as they are; the others are compressed in any case.
#[test]
fn hastily_encoded_chunks_come_back() {
    let events = |irregular: u64| {
        let mut buffer = Buffer::default();
        for number in 0..4000_u64 {
            let address =
                if number % 64 < irregular { number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16 } else { 8 * number };
            buffer.store(address);
        }
        buffer.bytes
    };
    for (irregular, compressed) in [(1, 0), (64, 1)] {
        let bytes = events(irregular);
        let (chunk, _) = Encoder::default().encode_own(&program(), bytes.clone(), Haste::Behind).expect("encodable");
        assert_eq!(chunk.structure[0], compressed);
        assert!(chunk.structure.len() + chunk.residuals.len() < bytes.len());
        assert_eq!(Decoder::default().decode(&program(), &chunk), Ok(bytes));
    }
}

#[test]
fn an_unknown_event_ends_a_buffer() {
    let mut buffer = Buffer::default();
    buffer.load(8).event(9999, &[]);
    let (chunk, unknown) = Encoder::default().encode(&program(), &buffer.bytes).expect("encodable");
    assert_eq!((chunk.summary.events, unknown.map(|unknown| unknown.id)), (1, Some(9999)));
}

#[test]
fn truncated_recordings_are_read_as_far_as_they_go() {
    let mut buffer = Buffer::default();
    buffer.control(Kind::Begin, &[1, 0]).load(0x1000).control(Kind::End, &[5]);
    let whole = recording("whole", &[vec![buffer.clone(), buffer]]);
    assert!(whole.complete() && whole.chunks.len() == 2);
    let bytes = fs::read(file("whole")).expect("readable");
    let mut chunks = Vec::new();
    for length in 0..bytes.len() {
        let path = file("cut");
        fs::write(&path, &bytes[..length]).expect("writable");
        match Recording::open(&path) {
            Ok(cut) => {
                assert!(!cut.complete() && cut.end.is_none(), "{length} of {}", bytes.len());
                chunks.push(cut.chunks.len());
            }
            Err(Problem::Other) => assert!(length < 12),
            Err(error) => panic!("{length}: {error}"),
        }
    }
    assert!(chunks.is_sorted() && chunks.first() == Some(&0) && chunks.last() == Some(&2));
    for at in 12..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        fs::write(file("damaged"), &damaged).expect("writable");
        let opened = Recording::open(&file("damaged")).expect("its head is whole");
        assert!(!opened.complete() && opened.damaged.is_some(), "byte {at}");
    }
}

#[test]
fn other_files_and_versions_are_refused() {
    fs::write(file("other"), b"some other file").expect("writable");
    assert!(matches!(Recording::open(&file("other")), Err(Problem::Other)));
    fs::write(file("version"), b"wspgraph\x63\0\0\0").expect("writable");
    assert!(matches!(Recording::open(&file("version")), Err(Problem::Version(0x63))));
}
