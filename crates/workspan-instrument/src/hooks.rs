//! Which hooks a copy gets.

use std::path::Path;

/// Which hooks a copy gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hooks {
    /// All of them.
    All,
    /// Those that account for idle time alone: what creates tasks is as published.
    IdleOnly,
}

/// Copies in a folder of this name get [`Hooks::IdleOnly`], those in any other [`Hooks::All`].
pub const IDLE_ONLY_FOLDER: &str = "instrumented-idle";

impl Hooks {
    /// Of the copies in a folder.
    pub fn of(folder: &Path) -> Hooks {
        if folder.ends_with(IDLE_ONLY_FOLDER) {
            Hooks::IdleOnly
        } else {
            Hooks::All
        }
    }
}
