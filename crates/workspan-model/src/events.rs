//! Events counted by context.

/// An event that was requested, and what became of it in a run.
///
/// Where no thread counts it, `refused` says why and `counts` are zeros that mean nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventCounts {
    /// As it was given.
    pub name: String,
    /// Per context, in the order of the recording's tree: in strands of exactly this one.
    pub counts: Vec<u64>,
    /// In the whole process and its children, from its start to its end, where that was counted, too.
    pub whole: Option<u64>,
    /// Of the time that its counters were wanted, the part in which they counted, in millionths.
    pub counted_ppm: u32,
    /// Threads that counted it.
    pub threads: u32,
    /// Threads that could not, or not to their end: what came there is missing.
    pub missing_threads: u32,
    /// Why the first of them could not.
    pub refused: Option<String>,
    /// Only what came outside of the kernel was counted, for want of permission.
    pub outside_kernel: bool,
}

impl EventCounts {
    /// True if some thread counted it.
    pub fn is_counted(&self) -> bool {
        self.threads > 0
    }

    /// The count of each context: as if its counter had counted all the time.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53; counts are told with four digits")]
    pub fn scaled(&self) -> Vec<f64> {
        let share = f64::from(self.counted_ppm.clamp(1, 1_000_000)) / 1e6;
        self.counts.iter().map(|count| *count as f64 / share).collect()
    }
}
