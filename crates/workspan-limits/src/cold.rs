//! Memory that was not accessed for long: its cells are packed, and unpacked when it is accessed again.
//!
//! Memory is packed by chunks of [`ENTRIES`] times eight bytes. Nothing is lost: cells come back as they were. **Bound**: an entry of
//! a hash table for each chunk, and what [`crate::pack`] makes of its cells. **Cost**: some microseconds for a chunk that is
//! packed or unpacked; nothing for memory that is in use.

use std::collections::HashMap;
use std::ops::Range;

use crate::cell::Cell;
use crate::pack::{pack, unpack};
use crate::row::{Lane, Row};

/// Entries of a chunk, each for eight bytes.
pub(crate) const ENTRIES: usize = 64;
/// Bytes that an entry of the hash table takes, besides what is packed: key, pointer, length, and what an allocator adds.
const OVERHEAD: usize = 8 + 16 + 8 + 16;

/// All chunks that are packed.
#[derive(Debug)]
pub(crate) struct Cold {
    chunks: HashMap<u64, Box<[u8]>>,
    bytes: usize,
    /// Which column may be like an earlier one.
    likes: Vec<usize>,
    numbers: Vec<u32>,
    differences: Vec<u32>,
    packed: Vec<u8>,
}

impl Cold {
    /// None, of cells with this number of lanes, of which some have name dependences, with or without paths.
    pub(crate) fn new<L: Lane>(lanes: usize, named: usize) -> Cold {
        // Depths of who wrote; of who accessed; frame, instruction; then the nodes of both.
        let mut likes = vec![0; lanes];
        likes.extend(0..named);
        likes.extend([0, 0]);
        if L::PATH {
            let first = likes.len();
            likes.extend(vec![first; lanes]);
            // The first one grows with the run, as depths do.
            likes[first] = 0;
            likes.extend(first..first + named);
        }
        Cold {
            chunks: HashMap::new(),
            bytes: 0,
            likes,
            numbers: Vec::new(),
            differences: Vec::new(),
            packed: Vec::new(),
        }
    }

    /// Packs the cells of a chunk, of which each entry has one of these kinds.
    pub(crate) fn put<L: Lane, const N: usize, const T: usize>(
        &mut self,
        chunk: u64,
        kinds: &[u8; ENTRIES],
        cells: &[Cell<L, N, T>],
    ) {
        self.packed.clear();
        if kinds.iter().all(|kind| *kind == kinds[0]) {
            self.packed.push(kinds[0]);
        } else {
            self.packed.extend(kinds.chunks(2).map(|pair| 128 | pair[0] << 3 | pair[1]));
        }
        self.numbers.clear();
        for lane in 0..N {
            self.numbers.extend(cells.iter().map(|cell| cell.written[lane].parts().0));
        }
        for lane in 0..T {
            self.numbers.extend(cells.iter().map(|cell| cell.touched[lane].parts().0));
        }
        self.numbers.extend(cells.iter().map(|cell| cell.owner));
        self.numbers.extend(cells.iter().map(|cell| cell.by));
        if L::PATH {
            for lane in 0..N {
                self.numbers.extend(cells.iter().map(|cell| cell.written[lane].parts().1));
            }
            for lane in 0..T {
                self.numbers.extend(cells.iter().map(|cell| cell.touched[lane].parts().1));
            }
        }
        pack(&self.numbers, cells.len(), &self.likes, &mut self.differences, &mut self.packed);
        let packed: Box<[u8]> = self.packed.as_slice().into();
        self.bytes += packed.len() + OVERHEAD;
        self.forget(chunk);
        self.chunks.insert(chunk, packed);
    }

    /// Unpacks a chunk into `cells`, and returns the kinds of its entries; `count` says how many cells a kind has.
    pub(crate) fn take<L: Lane, const N: usize, const T: usize>(
        &mut self,
        chunk: u64,
        count: impl Fn(u8) -> usize,
        cells: &mut Vec<Cell<L, N, T>>,
    ) -> [u8; ENTRIES] {
        cells.clear();
        let Some(packed) = self.chunks.remove(&chunk) else { return [0; ENTRIES] };
        self.bytes = self.bytes.saturating_sub(packed.len() + OVERHEAD);
        let mut kinds = [packed.first().copied().unwrap_or(0) & 7; ENTRIES];
        let mut at = 1;
        if packed.first().is_some_and(|first| first & 128 != 0) {
            for (pair, both) in kinds.chunks_mut(2).zip(packed.iter()) {
                pair.copy_from_slice(&[both >> 3 & 7, both & 7]);
            }
            at = ENTRIES / 2;
        }
        let rows: usize = kinds.iter().map(|kind| count(*kind)).sum();
        self.numbers.clear();
        self.numbers.resize(rows * self.likes.len(), 0);
        unpack(&packed[at..], rows, &self.likes, &mut self.numbers);
        let column = |column: usize, row: usize| self.numbers[column * rows + row];
        let nodes = N + T + 2;
        let node = |lane: usize, row: usize| if L::PATH { column(nodes + lane, row) } else { 0 };
        cells.extend((0..rows).map(|row| {
            let written: Row<L, N> = std::array::from_fn(|lane| L::joined(column(lane, row), node(lane, row)));
            let touched: Row<L, T> = std::array::from_fn(|lane| L::joined(column(N + lane, row), node(N + lane, row)));
            Cell { written, touched, owner: column(N + T, row), by: column(N + T + 1, row) }
        }));
        kinds
    }

    /// Whether a chunk is packed.
    pub(crate) fn has(&self, chunk: u64) -> bool {
        self.chunks.contains_key(&chunk)
    }

    /// True if no chunk is packed.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// A chunk's history does not matter any more.
    pub(crate) fn forget(&mut self, chunk: u64) {
        if let Some(packed) = self.chunks.remove(&chunk) {
            self.bytes = self.bytes.saturating_sub(packed.len() + OVERHEAD);
        }
    }

    /// The same of all these chunks.
    pub(crate) fn forget_all(&mut self, chunks: Range<u64>) {
        if chunks.end.saturating_sub(chunks.start) < self.chunks.len() as u64 {
            chunks.for_each(|chunk| self.forget(chunk));
            return;
        }
        let bytes = &mut self.bytes;
        self.chunks.retain(|chunk, packed| {
            let keep = !chunks.contains(chunk);
            if !keep {
                *bytes = bytes.saturating_sub(packed.len() + OVERHEAD);
            }
            keep
        });
    }

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}
