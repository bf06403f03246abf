//! Parts of strands, with checksums that do not matter, so that the fuzzer gets to what they protect.

#![no_main]

use libfuzzer_sys::fuzz_target;
use workspan_store::decode_part;

fuzz_target!(|bytes: &[u8]| {
    decode_part(bytes, false, |_| {});
});
