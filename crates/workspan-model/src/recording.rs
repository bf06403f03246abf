//! A recording: one or more runs of a command.

use crate::context::ContextTree;
use crate::ran::Ran;
use crate::run::Run;
use crate::site::{Site, SiteKind};

/// What a `*.wspan` file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The working directory, to find sources.
    pub directory: String,
    /// Version of workspan that made it.
    pub made_by: String,
    /// Name and version of the runtime, such as `rayon-core 1.13.0`.
    pub runtime: String,
    /// Seconds since 1970 when it was made.
    pub made_at: u64,
    /// The machine.
    pub machine: Machine,
    /// Whether function names come from debug information.
    pub has_debug_info: bool,
    /// What of the debug information could not be read, and why.
    pub debug_info_problem: Option<String>,
    /// Source places of all runs.
    pub sites: Vec<Site>,
    /// Contexts of all runs.
    pub contexts: ContextTree,
    /// The runs, in order.
    pub runs: Vec<Run>,
    /// What serial code did, of rows with samples enough; at most one for each site.
    pub ran: Vec<Ran>,
    /// Where the program takes locks that are seen only where somebody waits for them.
    pub unseen_locks: Vec<UnseenLock>,
}

/// A place that takes a lock by an instruction of its own, so that nobody sees it while the lock is free.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnseenLock {
    /// Of which type, such as `std::sync::Mutex`.
    pub lock: String,
    /// As [`Site::file`].
    pub file: String,
    /// From 1.
    pub line: u32,
}

impl Recording {
    /// What the serial code of a row did, if that is known.
    pub fn ran(&self, site: &Site) -> Option<&Ran> {
        self.ran
            .iter()
            .find(|ran| self.sites.get(ran.site.0 as usize).is_some_and(|row| std::ptr::eq(row, site) || row == site))
    }

    /// True if constructs of OpenMP are among its sites; regions that a program marks are in programs with rayon, too.
    pub fn uses_openmp(&self) -> bool {
        self.sites.iter().any(|site| site.kind.is_openmp())
    }

    /// True if constructs are among its sites whose tasks may outlive their creator ([`Recording::lasting`]).
    pub fn has_lasting_tasks(&self) -> bool {
        let lasts = self.lasting();
        self.sites.iter().any(|site| lasts(site.kind) && site.kind != SiteKind::Marked)
    }

    /// Which kinds last until the last of their tasks has ended ([`SiteKind::lasts`]). Beside rayon's constructs a thread has only the
    /// work for which it waits, as they do: detached tasks are none of its own.
    pub fn lasting(&self) -> impl Fn(SiteKind) -> bool {
        let rayon = self.sites.iter().any(|site| site.kind.is_rayon());
        move |kind| kind.lasts() && !(rayon && kind == SiteKind::Thread)
    }
}

/// Where it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Processor, as the system calls it.
    pub processor: String,
    /// Processors online.
    pub cpus: u32,
    /// Operating system and its version.
    pub system: String,
    /// Rate of the cycle counter, in Hz.
    pub ticks_per_second: u64,
    /// 10th, 50th and 90th percentile of the length of interrupts, in nanoseconds.
    pub interrupt_ns: [u64; 3],
    /// Mean time between interrupts, in nanoseconds; 0 if not known.
    pub interrupt_period_ns: u64,
    /// Cost of moving a task to another processor, in nanoseconds; 0 if it is not known.
    pub steal_ns: u64,
}
