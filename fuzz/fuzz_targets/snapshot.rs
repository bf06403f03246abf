//! What a program may leave in shared memory if it writes over it, or dies while it writes.

#![no_main]

use std::cell::Cell;
use std::io;
use std::mem::offset_of;

use libfuzzer_sys::fuzz_target;
use workspan_model::Recording;
use workspan_read::{attached, read_snapshot, Died, Snapshot};
use workspan_wire::shm::Header;

/// Counts in the header, and limits that keep a run of the target short.
const COUNTS: [(usize, u32); 3] =
    [(offset_of!(Header, sites), 9), (offset_of!(Header, contexts), 17), (offset_of!(Header, thread_slots), 4)];

/// Reads after which the memory cannot be read any more: chains in it may be long.
const READS: usize = 2_000;

/// Memory of any size, filled with the same bytes over and over.
struct Tiles<'a> {
    bytes: &'a [u8],
    reads: Cell<usize>,
}

impl Snapshot for Tiles<'_> {
    fn read(&self, offset: usize, length: usize) -> io::Result<Vec<u8>> {
        self.reads.set(self.reads.get() + 1);
        if self.reads.get() > READS {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut out: Vec<u8> =
            self.bytes.iter().cycle().skip(offset % self.bytes.len()).take(length).copied().collect();
        for (at, most) in COUNTS.into_iter().filter(|(at, _)| offset == 0 && at + 4 <= length) {
            let count = u32::from_ne_bytes([out[at], out[at + 1], out[at + 2], out[at + 3]]) % most;
            out[at..at + 4].copy_from_slice(&count.to_ne_bytes());
        }
        Ok(out)
    }
}

fuzz_target!(|bytes: &[u8]| {
    if bytes.is_empty() {
        return;
    }
    let mut recording = Recording::default();
    // Twice: the second run meets the sites and contexts of the first.
    for half in [bytes, &bytes[bytes.len() / 2..]] {
        let tiles = Tiles { bytes: half, reads: Cell::new(0) };
        let _ = attached(&tiles);
        let before = recording.clone();
        if read_snapshot(&tiles, &Died::default(), &mut recording).is_err() {
            recording = before;
        }
    }
    workspan_fuzz::check(&recording);
});
