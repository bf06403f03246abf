//! What is asked of every runtime.

use std::ffi::OsString;
use std::path::Path;
use std::{fmt, io};

use object::File;

use crate::args::RunOptions;
use crate::doctor::check::Check;

/// A runtime as one program has it.
pub trait Runtime: fmt::Debug {
    /// Its name, as in "a program that uses …".
    fn name(&self) -> &'static str;

    /// What a recording says of it.
    fn describe(&self) -> String;

    /// An error if a run of the program at `executable` would report nothing, or with `idle_only`, where only idle time is wanted,
    /// no idle time.
    fn check(&self, executable: &Path, idle_only: bool) -> anyhow::Result<()>;

    /// True if idle time can be measured without anything else; elsewhere a run that is only timed has all hooks.
    fn measures_idle_alone(&self) -> bool {
        true
    }

    /// What the program at `executable` needs around it.
    fn environment(&self, executable: &Path, around: Around<'_>) -> anyhow::Result<Environment>;

    /// True for a script, of which only what it starts can be watched.
    fn is_script(&self) -> bool {
        false
    }

    /// The virtual cores that the collector gets.
    fn logical_cores(&self, options: &RunOptions) -> Option<u32>;

    /// The largest number of workers that can be watched.
    fn most_workers(&self) -> u32 {
        u32::MAX
    }

    /// Options for a run on one worker that is to be compared, strand by strand, with one on `workers`. An error if both would run
    /// the same.
    fn on_one_worker(&self, options: RunOptions, workers: u32) -> anyhow::Result<RunOptions> {
        let _ = workers;
        Ok(options)
    }

    /// Why nothing was recorded, of a program of this name.
    fn silence(&self, program: &str) -> String;

    /// What the program allows, in `workspan doctor`.
    fn doctor(&self, file: &File<'_>) -> Vec<Check>;

    /// Name and version of the hooks that were compiled into the program, if that is how it is watched.
    fn hooks(&self) -> Option<&str> {
        None
    }
}

/// How a program is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Around<'o> {
    /// The command starts something else first.
    pub wrapped: bool,
    /// What the user wants.
    pub options: &'o RunOptions,
}

/// A variable for the program; `None` removes it.
pub type Variable = (OsString, Option<OsString>);

/// Set where a runtime stands in for the program's own.
pub const STAND_IN: &str = "WORKSPAN_STAND_IN";

/// Variables for the runs of a program, and what they refer to.
#[derive(Debug, Default)]
pub struct Environment {
    /// To be set or removed.
    pub variables: Vec<Variable>,
    /// Where a runtime stands in for the program's own: what has it do so without the collector.
    pub stand_in: Option<Variable>,
    /// Lasts as long as the program may need it.
    pub holds: Option<Box<dyn fmt::Debug>>,
}

/// A runtime before there is a program: a row of the [table](super::FAMILIES).
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Whether the program at a path, with these sections, uses it.
    pub look: fn(&Path, Sections<'_>) -> Look,
    /// What this machine allows, in `workspan doctor`.
    pub doctor: fn() -> Vec<Check>,
    /// Of a program that none can watch: what this one knows of it.
    pub without: fn(&File<'_>) -> Option<Check>,
}

/// The bytes of a section of a program's file, by name.
pub type Sections<'a> = &'a dyn Fn(&str) -> Option<Vec<u8>>;

/// What is found in a program.
#[derive(Debug)]
pub enum Look {
    /// It does not use the runtime.
    Not,
    /// It does, but cannot be watched; others need not be asked.
    Broken,
    /// It does.
    Uses(Box<dyn Runtime>),
    /// The system has no means left to look.
    Failed(io::Error),
}
