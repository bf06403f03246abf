//! System calls of Linux on x86-64: the memory that they read and write.
//!
//! Only buffers whose place and length stand in registers are known: those of plain reads and writes, and results of fixed
//! size. Lists of buffers (`readv`) are not followed.

use crate::engine::Range;

/// A system call that has come back.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Its number.
    pub number: u64,
    /// Its arguments.
    pub arguments: [u64; 6],
}

/// What a call does to memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Reads and writes.
    pub ranges: Vec<Range>,
    /// Memory that has new content: first address and length, and whether it is heap.
    pub mapped: Option<(u64, u64, bool)>,
    /// The end of the heap that `brk` moves.
    pub end_of_heap: Option<u64>,
}

/// Calls that read as many bytes as they return, from the buffer that is their second argument.
const WRITES: &[u64] = &[1, 18, 44];
/// Calls that write as many bytes as they return, to their second argument.
const READS: &[u64] = &[0, 17, 45, 78, 89, 217];
/// Calls that write a result of fixed size: number, argument, bytes.
const RESULTS: &[(u64, usize, u64)] = &[
    (4, 1, 144),
    (5, 1, 144),
    (6, 1, 144),
    (262, 2, 144),
    (13, 2, 32),
    (96, 0, 16),
    (97, 1, 16),
    (98, 1, 144),
    (99, 0, 112),
    (63, 0, 390),
    (228, 1, 16),
    (229, 1, 16),
    (302, 3, 16),
    (332, 4, 256),
];

impl Call {
    /// True if it does not come back.
    pub fn is_last(&self) -> bool {
        matches!(self.number, 15 | 60 | 231)
    }

    /// What it did, with this result.
    pub fn effect(&self, result: u64) -> Effect {
        let failed = result > u64::MAX - 4096;
        let mut effect = Effect::default();
        if failed {
            return effect;
        }
        const FIXED: u64 = 0x10;
        const ANONYMOUS: u64 = 0x20;
        let [a, b, _, flags, ..] = self.arguments;
        // No buffer is longer than what the kernel transfers at once.
        let len = result.min(1 << 31);
        match self.number {
            number if WRITES.contains(&number) => effect.ranges.push(Range { address: b, len, store: false }),
            number if READS.contains(&number) => effect.ranges.push(Range { address: b, len, store: true }),
            // getcwd, getrandom
            79 | 318 => effect.ranges.push(Range { address: a, len, store: true }),
            // mmap: what belongs to no file, at any place, is heap; at a fixed one it is the rest of a program's file.
            9 => effect.mapped = Some((result, b, flags & ANONYMOUS != 0 && flags & FIXED == 0)),
            // munmap
            11 => effect.mapped = Some((a, b, false)),
            // brk
            12 => effect.end_of_heap = Some(result),
            _ => {}
        }
        for (_, argument, len) in RESULTS.iter().filter(|(number, ..)| *number == self.number) {
            let address = self.arguments[*argument];
            if address != 0 {
                effect.ranges.push(Range { address, len: *len, store: true });
            }
        }
        effect
    }
}
