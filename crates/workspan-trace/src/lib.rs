//! What an instrumented program and `workspan` agree on.
//!
//! * [`shm`]: the shared memory through which a program hands over full buffers.
//! * [`control`]: events of threads, locks and allocations, which the run-time writes.
//! * [`mpi`]: what events of MPI hold.
//! * [`program`]: the static description that the compiler pass leaves in the program: functions, segments, operations,
//!   loops, places; [`bytes`] is its encoding. [`facts`]: what else the pass knows where it runs before optimisation.
//! * [`rust_names`]: functions of Rust's library, by their symbols; [`cpp_library`]: those of C++'s, by file and name.
//!
//! An **event** is `[u32 id][6-byte slot]*`, little-endian, without padding. An id below [`control::FIRST_SEGMENT`] is a
//! control event; 0 ends a buffer; any other id is a segment: the base of its module, which the run-time assigns, plus its
//! number in the module. How many slots follow is known from the id alone.
//!
//! **Invariant:** this crate depends on nothing but `core` and `alloc`-like parts of `std`, reads no files, and decodes any
//! bytes without a panic and in memory proportional to them.

pub mod bytes;
pub mod control;
pub mod cpp_library;
#[cfg(target_os = "linux")]
pub mod drain;
pub mod facts;
pub mod mpi;
pub mod program;
pub mod rust_names;
pub mod shm;

/// None of a list.
pub const NONE: u32 = u32::MAX;
/// Bytes of an event's id.
pub const ID_BYTES: usize = 4;
/// Bytes of a slot: an address of 47 bits, a length, a time, a ticket.
pub const SLOT_BYTES: usize = 6;
/// Slots that a segment has at most; the pass splits longer ones.
pub const MOST_SLOTS: usize = 500;
/// Incremented with every change of the shared memory, the events, or the static description.
pub const VERSION: u32 = 7;
/// Versions that are read: 5 had no [`control::Kind::Local`], 6 no [`control::Kind::Semaphore`].
pub const READABLE: core::ops::RangeInclusive<u32> = 5..=VERSION;
