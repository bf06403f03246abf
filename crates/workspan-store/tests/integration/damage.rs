//! Files that were cut off or damaged on their way: nothing panics, nothing wrong passes for right.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use workspan_store::{Problem, Reader, StoreError};

use crate::folder::Folder;
use crate::round_trip::{read, write};
use crate::rows::strands;

const PART: &str = "nodes-1-0000.parquet";

#[test]
fn a_flipped_bit_does_not_pass() {
    let folder = Folder::new();
    let written = strands(1, 300);
    write(&folder, 1, &written);
    let path = folder.path().join(PART);
    let whole = fs::read(&path).expect("it is there");
    let mut unnoticed = 0;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, &bytes).expect("it is writable");
        match Reader::open(folder.path(), 1) {
            Ok(reader) => {
                let (back, problems) = read(reader);
                unnoticed += usize::from(problems.is_empty());
                assert!(if problems.is_empty() { back == written } else { back.is_empty() }, "byte {at}");
            }
            Err(error) => assert!(matches!(error, StoreError::Version { .. }), "byte {at}: {error}"),
        }
    }
    // Statistics, and what is for other readers.
    assert!(unnoticed < whole.len() / 5, "{unnoticed} of {}", whole.len());
}

#[test]
fn what_is_cut_off_says_so() {
    let folder = Folder::new();
    write(&folder, 1, &strands(2, 100));
    for name in [PART, "meta-1.parquet"] {
        let path = folder.path().join(name);
        let whole = fs::read(&path).expect("it is there");
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).expect("it is writable");
            let (_, problems) = read(Reader::open(folder.path(), 1).expect("the other file is there"));
            assert_ne!(problems, [], "{name}: {length} bytes");
        }
        fs::write(&path, &whole).expect("it is writable");
    }
    fs::remove_file(folder.path().join(PART)).expect("it is ours");
    let (back, problems) = read(Reader::open(folder.path(), 1).expect("the other file is there"));
    assert_eq!(back, []);
    assert!(matches!(problems.as_slice(), [Problem::Missing { found: 0, .. }]), "{problems:?}");
}

#[test]
fn another_version_is_refused() {
    let folder = Folder::new();
    write(&folder, 1, &strands(3, 100));
    let path = folder.path().join(PART);
    let mut bytes = fs::read(&path).expect("it is there");
    let key = b"workspan.strands";
    let at = bytes.windows(key.len()).position(|window| window == key).expect("it is there");
    let version = bytes[at..].windows(3).position(|window| window == b"3.0").expect("it is there");
    bytes[at + version] = b'4';
    fs::write(&path, bytes).expect("it is writable");
    let error = Reader::open(folder.path(), 1).expect_err("it is newer");
    assert!(error
        .to_string()
        .ends_with("has format 4.0, this workspan reads format 3.0 (use the workspan that made it, or record again)"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_refused_or_read(bytes in vec(any::<u8>(), 0..400), framed in any::<bool>()) {
        let folder = Folder::new();
        let file = if framed {
            let length = u32::try_from(bytes.len()).expect("short").to_le_bytes();
            [b"PAR1", bytes.as_slice(), &length, b"PAR1"].concat()
        } else {
            bytes
        };
        for name in [PART, "meta-1.parquet"] {
            fs::write(folder.path().join(name), &file).expect("it is writable");
        }
        if let Ok(reader) = Reader::open(folder.path(), 1) {
            read(reader);
        }
    }
}
