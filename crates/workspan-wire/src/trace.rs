//! Words of an instruction trace: what the emulator's plugin writes, and the analysis of `workspan limits` reads.
//!
//! A trace is a sequence of 64-bit words. The upper three bits of a record's first word are its kind. Code is sent once,
//! when the emulator translates it ([`CODE`]); from then on one word stands for each block that runs ([`BLOCK`]), and one
//! for each access to memory ([`ACCESS`]), in the order in which they happen.

/// Lowest bit of a record's kind.
pub const KIND_SHIFT: u32 = 61;
/// An access to memory by an instruction of the block that runs.
pub const ACCESS: u64 = 1;
/// A block begins to run; the lower half is its id.
pub const BLOCK: u64 = 2;
/// A block of code. The lower half is the number of words that follow: id, address, number of instructions; then packed in
/// bytes the length of each instruction, and the instructions.
pub const CODE: u64 = 3;
/// A system call; seven words follow: its number and six arguments.
pub const CALL: u64 = 4;
/// The end of a system call; two words follow: its number, and its result.
pub const RETURN: u64 = 5;
/// A file that code comes from. The lower half is the number of words that follow: first address, address behind the last,
/// offset in the file, length of the path; then the path, packed in bytes.
pub const FILE: u64 = 6;

/// The kind of the record that a word begins.
pub const fn kind(word: u64) -> u64 {
    word >> KIND_SHIFT
}

/// The lower half of a record's first word.
pub const fn low(word: u64) -> u64 {
    word & 0xffff_ffff
}

/// The first word of a record.
pub const fn record(kind: u64, low: u64) -> u64 {
    kind << KIND_SHIFT | low
}

/// Bits of an address that a trace keeps.
pub const ADDRESS: u64 = (1 << 48) - 1;
/// Lowest bit of the place of an instruction in its block; it has nine.
pub const PLACE_SHIFT: u32 = 48;
/// Lowest bit of the size of an access, as a power of two; it has three.
pub const SIZE_SHIFT: u32 = 57;
/// Set if an access is a store.
pub const STORE: u64 = 1 << 60;
/// What two accesses of the same instruction have in common.
pub const WHOSE: u64 = 7 << KIND_SHIFT | 0x1ff << PLACE_SHIFT;

/// The word of an access by the instruction at `place` in its block, of `1 << size` bytes.
pub const fn access(place: u64, size: u64, store: bool, address: u64) -> u64 {
    let store = if store { STORE } else { 0 };
    ACCESS << KIND_SHIFT | store | (size & 7) << SIZE_SHIFT | (place & 0x1ff) << PLACE_SHIFT | address & ADDRESS
}

/// The address that an access goes to.
pub const fn address(word: u64) -> u64 {
    word & ADDRESS
}

/// How many bytes an access has.
pub const fn size(word: u64) -> u64 {
    1 << (word >> SIZE_SHIFT & 7)
}

/// Words that hold this number of bytes.
pub const fn words(bytes: usize) -> usize {
    bytes.div_ceil(8)
}
