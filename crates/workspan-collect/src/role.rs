//! What a thread is to the program.

/// What a thread is to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The thread that runs `main`.
    Main,
    /// A thread of a pool, between its tasks.
    Worker,
    /// Any other: it begins a serial strand of its own.
    External,
}
