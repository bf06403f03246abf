//! Sections that nobody wrote, their checksums right, so that what reads their contents sees them.

use proptest::collection::vec;
use proptest::prelude::*;
use workspan_model::{ContextId, Recording, Run, Site, SiteId, SiteKind};
use workspan_read::file::{MAGIC, MAJOR, MINOR};
use workspan_read::{decode, encode};

const TAGS: [&[u8; 4]; 6] = [b"INFO", b"SITE", b"CTXT", b"RUN ", b"END ", b"NEW "];

fn file(sections: &[(usize, Vec<u8>)]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(MAJOR.to_le_bytes());
    out.extend(MINOR.to_le_bytes());
    out.extend([0; 4]);
    for (tag, payload) in sections {
        out.extend(TAGS[*tag]);
        out.extend((payload.len() as u64).to_le_bytes());
        out.extend(crc32fast::hash(payload).to_le_bytes());
        out.extend(payload);
    }
    out
}

/// Contents that make sense more often than bytes at random: mostly small numbers, short texts.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![8 => 0..4u8, 1 => any::<u8>(), 1 => Just(b'a')];
    prop_oneof![vec(byte, 0..400), vec(any::<u8>(), 0..100)]
}

/// A file may have as many contexts as a collector: here, 40 sites below 500 others.
#[test]
fn many_contexts_are_read_again() {
    let mut recording = Recording::default();
    let site = |line: u32| Site::at(SiteKind::Task, "a.c", line, 1);
    recording.sites = (0..540).map(site).collect();
    for outer in 0..500 {
        let around = recording.contexts.intern(ContextId::ROOT, SiteId(outer)).expect("the root is there");
        for inner in 500..540 {
            recording.contexts.intern(around, SiteId(inner)).expect("the parent is there");
        }
    }
    recording.runs.push(Run::default());
    let (read, problems) = decode(&encode(&recording)).expect("it is a recording");
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(read.contexts, recording.contexts);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_refused_or_read(bytes in vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes);
        let _ = decode(&[&MAGIC[..], &MAJOR.to_le_bytes(), &bytes].concat());
    }

    /// What was understood can be written, and is then read as it is.
    #[test]
    fn what_is_read_can_be_written(sections in vec((0..TAGS.len(), payload()), 0..8)) {
        if let Ok((recording, _)) = decode(&file(&sections)) {
            let (again, problems) = decode(&encode(&recording)).expect("it was just written");
            prop_assert_eq!(problems, []);
            prop_assert!(again == recording);
        }
    }
}
