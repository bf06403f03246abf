//! Parts of strands, with checksums that do not matter, so that the fuzzer gets to what they protect.
//!
//! ```sh
//! cargo +nightly fuzz run strands fuzz/corpus/strands crates/workspan-store/tests/golden/1.0.strands
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;
use workspan_store::decode_part;

fuzz_target!(|bytes: &[u8]| {
    decode_part(bytes, false, |_| {});
});
