//! Parts that nobody wrote, without the compression and the checksums that would keep them from the decoders.

use parquet::basic::Compression;
use parquet::file::writer::SerializedFileWriter;
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::{Arc, OnceLock};
use workspan_model::{ContextId, Creation, Event, Nanos, Strand};

use super::decode_part as decode_each;
use crate::schema;
use crate::writer::part::write_group;
use crate::writer::rows::Rows;

fn strands() -> Vec<Strand> {
    let creation = Creation { context: ContextId(2), group: Some(0), overhead: Nanos(250) };
    let events = [Event::Fork(1), Event::Next(1), Event::Join, Event::Spawn(creation), Event::End, Event::After(7)];
    let strand = |n: i64| Strand {
        event: events[usize::try_from(n * n % 6).expect("small")],
        context: ContextId(3),
        cost: Nanos(n * n % 1009),
        blocked: Nanos::ZERO,
        start: Nanos(n * 1000),
        thread: 1,
    };
    (0..200).map(strand).collect()
}

/// Two row groups, nothing of them compressed.
fn plain_part() -> &'static [u8] {
    static PART: OnceLock<Vec<u8>> = OnceLock::new();
    PART.get_or_init(|| {
        let properties = schema::node_properties().into_builder().set_compression(Compression::UNCOMPRESSED).build();
        let mut writer =
            SerializedFileWriter::new(Vec::new(), schema::nodes(), Arc::new(properties)).expect("a schema");
        let mut rows = Rows::new(1);
        for _ in 0..2 {
            rows.push(&strands(), &[]).expect("small");
            write_group(&mut writer, &rows).expect("memory");
            rows.clear();
        }
        writer.into_inner().expect("memory")
    })
}

fn decode_part(bytes: &[u8], checked: bool) -> Vec<Strand> {
    let mut all = Vec::new();
    decode_each(bytes, checked, |strands| {
        // What few bytes may stand for is not worth keeping.
        if all.len() < 10_000 {
            all.extend_from_slice(strands);
        }
    });
    all
}

#[test]
fn undamaged_it_is_read() {
    assert_eq!(decode_part(plain_part(), false), [strands(), strands()].concat());
    assert_eq!(decode_part(plain_part(), true), []);
}

#[test]
fn every_byte_may_be_any() {
    for at in 0..plain_part().len() {
        let mut bytes = plain_part().to_vec();
        for value in [0, 0xff, bytes[at] ^ 4] {
            bytes[at] = value;
            decode_part(&bytes, false);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn several_bytes_may_be_any(changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let mut bytes = plain_part().to_vec();
        for (at, value) in changes {
            *at.get_mut(&mut bytes) = value;
        }
        decode_part(&bytes, false);
    }
}
