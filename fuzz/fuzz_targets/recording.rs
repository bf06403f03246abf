//! `.wspan` files: as the fuzzer makes them, and with the checksums set right, so that it gets to what they protect.

#![no_main]

use libfuzzer_sys::fuzz_target;
use workspan_read::decode;

const HEADER: usize = 16;
const SECTION: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    for bytes in [bytes.to_vec(), with_right_checksums(bytes.to_vec())] {
        if let Ok((recording, problems)) = decode(&bytes) {
            for problem in problems {
                let _ = problem.to_string();
            }
            workspan_fuzz::check(&recording);
        }
    }
});

/// Sets the checksum of every section for as long as there are sections.
fn with_right_checksums(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = HEADER;
    while let Some(length) = bytes.get(at + 4..at + 12).and_then(|length| length.try_into().ok()) {
        let start = at + SECTION;
        let end = usize::try_from(u64::from_le_bytes(length)).ok().and_then(|length| start.checked_add(length));
        let Some(payload) = end.and_then(|end| bytes.get(start..end)) else {
            break;
        };
        let sum = crc32fast::hash(payload).to_le_bytes();
        at = start + payload.len();
        bytes[start - 4..start].copy_from_slice(&sum);
    }
    bytes
}
