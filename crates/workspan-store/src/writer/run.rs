//! A run as a whole: what is known before its strands are written, and after.

use workspan_model::Clock;

/// What is known of a run before its strands are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Seconds since 1970 when the recording was made: with the command, by this a folder is known to belong to it.
    pub made_at: u64,
    /// Version of workspan.
    pub made_by: String,
    /// Name and version of the runtime.
    pub runtime: String,
    /// Source of time.
    pub clock: Clock,
    /// Rate of the cycle counter, in Hz.
    pub ticks_per_second: u64,
}

/// What has been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Strands.
    pub strands: u64,
    /// Tasks, the root included.
    pub tasks: u64,
    /// Bytes of the parts.
    pub bytes: u64,
    /// Files of strands.
    pub parts: u32,
}
