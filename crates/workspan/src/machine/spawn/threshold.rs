//! What is measured: runtimes, and their thresholds.

/// A runtime whose tasks are spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnRuntime {
    /// Rayon: `join`.
    Rayon,
    /// OpenMP as gcc has it: `task` and `taskwait`.
    Libgomp,
    /// OpenMP as LLVM has it: `task` and `taskwait`.
    Libomp,
    /// oneTBB: `task_group`.
    Tbb,
}

impl SpawnRuntime {
    /// All of them, in the order in which they are shown.
    pub const ALL: [SpawnRuntime; 4] =
        [SpawnRuntime::Rayon, SpawnRuntime::Libgomp, SpawnRuntime::Libomp, SpawnRuntime::Tbb];

    /// Its own name for itself.
    pub fn name(self) -> &'static str {
        match self {
            SpawnRuntime::Rayon => "rayon",
            SpawnRuntime::Libgomp => "libgomp",
            SpawnRuntime::Libomp => "libomp",
            SpawnRuntime::Tbb => "oneTBB",
        }
    }
}

/// The least size from which on a task is worth spawning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnThreshold {
    /// Whose tasks.
    pub runtime: SpawnRuntime,
    /// The size in instructions.
    pub instructions: u64,
    /// The time that the task takes as a plain call.
    pub nanos: u64,
}

/// Why there is no threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmeasured {
    /// What stood in the way, as the end of a sentence.
    pub reason: String,
    /// What to install, where that is missing.
    pub install: Option<&'static str>,
}

impl Unmeasured {
    /// For a reason that no package changes.
    pub(super) fn because(reason: impl Into<String>) -> Unmeasured {
        Unmeasured { reason: reason.into(), install: None }
    }
}
