//! Recordings that were cut off or damaged on their way: nothing panics, nothing wrong passes for right.

use workspan_model::{Recording, Run};
use workspan_read::{decode, encode, Problem, ReadError};

/// The stored recordings, of all kinds of programs and endings.
const FILES: &[(&str, &[u8])] = &[
    ("killed", include_bytes!("../../../workspan/tests/fixtures/killed.wspan")),
    ("mix", include_bytes!("../../../workspan/tests/fixtures/mix.wspan")),
    ("par-bridge", include_bytes!("../../../workspan/tests/fixtures/par-bridge.wspan")),
    ("repeated", include_bytes!("../../../workspan/tests/fixtures/repeated.wspan")),
    ("taskprof", include_bytes!("../../../workspan/tests/fixtures/taskprof.wspan")),
];

/// Bytes before the first section, and of those the ones that a reader looks at: magic and major version.
const HEADER: usize = 16;
const IDENTITY: usize = 10;

fn whole(bytes: &[u8]) -> Recording {
    let (recording, problems) = decode(bytes).expect("it is whole");
    assert_eq!(problems, []);
    recording
}

#[test]
fn what_is_cut_off_says_so() {
    for (name, bytes) in FILES {
        let whole = whole(bytes);
        for length in 0..bytes.len() {
            match decode(&bytes[..length]) {
                // Nothing at all is no recording; its beginning is an empty one.
                Err(ReadError::Foreign) => assert_eq!(length, 0, "{name}"),
                Err(error) => {
                    assert!(error == ReadError::Empty && length < bytes.len() / 2, "{name} {length}: {error}")
                }
                Ok((part, problems)) => {
                    assert_eq!(problems, [Problem::Truncated], "{name} {length}");
                    // What came before the cut is as it was.
                    assert_eq!(part.command, whole.command, "{name} {length}");
                    assert!(part.sites.is_empty() || part.sites == whole.sites, "{name} {length}");
                    assert_eq!(part.runs, whole.runs[..part.runs.len()], "{name} {length}");
                }
            }
        }
    }
}

#[test]
fn a_flipped_bit_does_not_pass() {
    for (name, bytes) in FILES {
        let whole = whole(bytes);
        let mut bytes = bytes.to_vec();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                bytes[at] ^= 1 << bit;
                match decode(&bytes) {
                    Err(_) => assert!(at < HEADER + 16, "{name}: bit {bit} of byte {at}"),
                    Ok((recording, problems)) if problems.is_empty() => {
                        // A newer minor version, and what is reserved, mean nothing to this reader.
                        assert!((IDENTITY..HEADER).contains(&at), "{name}: bit {bit} of byte {at}");
                        assert!(recording == whole, "{name}: bit {bit} of byte {at}");
                    }
                    Ok(_) => assert!(at >= HEADER, "{name}: bit {bit} of byte {at}"),
                }
                bytes[at] ^= 1 << bit;
            }
        }
    }
}

/// The sections of a file, without its header.
fn sections(bytes: &[u8]) -> Vec<&[u8]> {
    let mut rest = &bytes[HEADER..];
    let mut found = Vec::new();
    while let Some(length) = rest.get(4..12).and_then(|length| length.try_into().ok()).map(u64::from_le_bytes) {
        let (section, after) = rest.split_at(16 + usize::try_from(length).expect("a short section"));
        found.push(section);
        rest = after;
    }
    found
}

/// What is read can be written, and is then read as it is.
#[track_caller]
fn check_consistent(file: &[u8], name: &str) {
    if let Ok((recording, _)) = decode(file) {
        let again = decode(&encode(&recording)).expect("it was just written");
        assert!(again == (recording, Vec::new()), "{name}");
    }
}

/// Sections refer to those before them; in another order, or twice, they may not fit together.
#[test]
fn sections_in_any_order_give_a_consistent_recording() {
    // A run that knows no contexts fits before all others.
    let empty = encode(&Recording { runs: vec![Run::default()], ..Recording::default() });
    let run = sections(&empty)[3];
    for (name, bytes) in FILES {
        let sections = sections(bytes);
        for first in 0..sections.len() {
            for second in 0..sections.len() {
                let mut swapped = sections.clone();
                swapped.swap(first, second);
                let mut doubled = sections.clone();
                doubled.insert(second, sections[first]);
                let mut run_inserted = swapped.clone();
                run_inserted.insert(second, run);
                for order in [swapped, doubled, run_inserted] {
                    let file = [&[&bytes[..HEADER]], order.as_slice()].concat().concat();
                    check_consistent(&file, &format!("{name}: {first} and {second}"));
                }
            }
        }
    }
}
