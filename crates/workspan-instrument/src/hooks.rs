//! Which hooks a copy gets.

use std::path::Path;

/// Which hooks a copy gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hooks {
    /// All of them.
    All,
    /// Those that account for idle time alone: what creates tasks is as published.
    IdleOnly,
    /// Those that say to the run-time of task graphs what tasks there are.
    Graph,
}

/// Copies in a folder of this name get [`Hooks::IdleOnly`].
pub const IDLE_ONLY_FOLDER: &str = "instrumented-idle";
/// Copies in a folder of this name get [`Hooks::Graph`], those in any other [`Hooks::All`].
pub const GRAPH_FOLDER: &str = "instrumented-graph";

impl Hooks {
    /// Of the copies in a folder.
    pub fn of(folder: &Path) -> Hooks {
        if folder.ends_with(IDLE_ONLY_FOLDER) {
            Hooks::IdleOnly
        } else if folder.ends_with(GRAPH_FOLDER) {
            Hooks::Graph
        } else {
            Hooks::All
        }
    }
}
