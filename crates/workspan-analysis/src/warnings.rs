//! What a reader must know before believing a number.

use std::collections::BTreeMap;

use crate::measured::{below_clock, BelowClock};
use crate::verdict::forks;
use workspan_model::{
    AskedBy, AskedThreads, Clock, ContextId, Ending, Exit, Feature, Nanos, Recording, Run, Site, SiteKind,
};

/// Share of all processors' time from which on nobody else can have kept strands waiting.
const HAD_ALL: f64 = 0.8;

/// A caveat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// A signal ended the program: totals are what had been measured by then.
    Killed {
        /// Which one.
        signal: i32,
    },
    /// The program ended without exit handlers (`_exit`, `exec`).
    EndUnseen,
    /// `exit` was called while tasks were running.
    ExitInsideRegion,
    /// The program ended while other threads ran tasks or members of teams.
    StillRunning {
        /// How many.
        threads: usize,
    },
    /// Tables were too small.
    Dropped {
        /// Events lost.
        events: u64,
        /// Of what.
        what: &'static str,
    },
    /// Further processes carried hooks and were not profiled.
    OtherProcesses {
        /// How many.
        count: u32,
    },
    /// gcc's OpenMP runtime was loaded while the program ran, and gave its threads work that nobody could see.
    OpenmpUnseen,
    /// The program asked how many threads there are, and the answer was one: it may have taken another path than with several.
    AnsweredOneThread {
        /// By which functions it asked.
        by: Vec<AskedBy>,
    },
    /// No task was created.
    NeverForks,
    /// The span is too short for the clock.
    TooShort {
        /// The span.
        span: Nanos,
    },
    /// Tasks are shorter than the clock can see: their work is a bound, no number.
    BelowClock(BelowClock),
    /// Parallel regions are short, and their number is such that beginning and ending their teams matters, which no other number has.
    ShortRegions {
        /// Their number.
        count: u64,
        /// Mean of their work.
        mean: Nanos,
    },
    /// The cycle counter may change its rate.
    UnsteadyCounter,
    /// The machine does not show when a thread is switched out.
    NoSwitchWitness,
    /// There is no debug information.
    NoDebugInfo {
        /// Places follow from it, too; otherwise only functions, for which the types of closures must do.
        places: bool,
        /// The files of code that places are in, by name, the one with most first.
        files: Vec<String>,
    },
    /// Not all of the debug information could be read.
    DebugInfoUnread {
        /// What is wrong with it.
        problem: String,
        /// Some of it was of use.
        partly: bool,
    },
    /// The machine was so busy that correction matters.
    BusyMachine {
        /// Time strands were ready without a CPU.
        preempted: Nanos,
        /// The work.
        work: Nanos,
        /// Threads that ran strands, and processors, if there were more of the former and they used nearly all of these.
        crowd: Option<[u32; 2]>,
    },
    /// The program takes locks that nobody sees while they are free: code under them counts as if it could run beside itself.
    LocksUnseen {
        /// One thread ran all tasks, so that nobody can have waited.
        alone: bool,
    },
    /// The numbers are of the virtual clock.
    VirtualClock,
}

impl Warning {
    /// Stable word for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Warning::Killed { .. } => "killed",
            Warning::EndUnseen => "end-unseen",
            Warning::ExitInsideRegion => "exit-inside-region",
            Warning::StillRunning { .. } => "still-running",
            Warning::Dropped { .. } => "dropped",
            Warning::OtherProcesses { .. } => "other-processes",
            Warning::OpenmpUnseen => "openmp-unseen",
            Warning::AnsweredOneThread { .. } => "answered-one-thread",
            Warning::NeverForks => "never-forks",
            Warning::TooShort { .. } => "too-short",
            Warning::BelowClock(_) => "below-clock",
            Warning::ShortRegions { .. } => "short-regions",
            Warning::UnsteadyCounter => "unsteady-counter",
            Warning::NoSwitchWitness => "no-switch-witness",
            Warning::NoDebugInfo { .. } => "no-debug-info",
            Warning::DebugInfoUnread { .. } => "debug-info-unread",
            Warning::BusyMachine { .. } => "busy-machine",
            Warning::LocksUnseen { .. } => "locks-unseen",
            Warning::VirtualClock => "virtual-clock",
        }
    }
}

/// Spans below this are dominated by what the clock cannot resolve: calibration and first-touch effects of some
/// microseconds.
pub const SHORTEST_SPAN: Nanos = Nanos(20_000);

/// Regions with less work than this are short: a team gains little by them.
const SHORT_REGION: Nanos = Nanos(20_000);
/// What beginning and ending a team takes at least, where its threads are awake and have processors.
const TEAM: i64 = 2_000;

/// Regions that are too short for a team, if there are enough of them to take a twentieth of the span.
fn short_regions(recording: &Recording, run: &Run) -> Option<Warning> {
    let tree = &recording.contexts;
    let kind = |id| recording.sites.get(tree.site(id)?.0 as usize).map(|site| site.kind);
    let works = tree.inclusive(&run.totals.iter().map(|totals| totals.self_work).collect::<Vec<_>>());
    let short = |id: &ContextId| {
        let (entries, work) = (run.totals.get(id.index())?.entries, works.get(id.index()).copied()?);
        let entered = i64::try_from(entries).ok().filter(|entered| *entered > 0)?;
        (work.0 / entered < SHORT_REGION.0).then_some((entries, work))
    };
    let regions = tree.children(ContextId::ROOT).filter(|id| kind(*id) == Some(SiteKind::Parallel));
    let (count, work) =
        regions.filter_map(|id| short(&id)).fold((0, Nanos::ZERO), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let entered = i64::try_from(count).ok().filter(|entered| *entered > 0)?;
    let matters = entered.saturating_mul(TEAM) > run.span.0 / 20;
    matters.then_some(Warning::ShortRegions { count, mean: Nanos(work.0 / entered) })
}

/// `None` unless locks may make the program less parallel than it looks; whether one thread ran all tasks.
pub fn locks_unseen(recording: &Recording, run: &Run) -> Option<bool> {
    let some = run.clock == Clock::Real && !recording.unseen_locks.is_empty() && forks(recording, run);
    some.then_some(run.threads <= 1 || run.workers == 1)
}

/// True if gcc's OpenMP runtime started threads of its own: one for which LLVM's stands in starts none.
fn starts_threads_of_libgomp(recording: &Recording) -> bool {
    let by_libgomp = |module: &str| module.rsplit('/').next().is_some_and(|file| file.starts_with("libgomp"));
    recording.sites.iter().any(|site| site.kind == SiteKind::Thread && by_libgomp(&site.module))
}

/// The caveats of `run`.
pub fn warnings(recording: &Recording, run: &Run) -> Vec<Warning> {
    let mut found = Vec::new();
    match (run.exit, run.ending) {
        (Exit::Signal(signal), _) => found.push(Warning::Killed { signal }),
        (_, Ending::Unseen) => found.push(Warning::EndUnseen),
        (_, Ending::InsideRegion) => found.push(Warning::ExitInsideRegion),
        (_, Ending::Clean) if !run.open.is_empty() => found.push(Warning::StillRunning { threads: run.open.len() }),
        (_, Ending::Clean) => {}
    }
    let losses = run.losses;
    for (events, what) in [
        (losses.sites, "source places"),
        (losses.contexts, "contexts"),
        (losses.threads, "threads"),
        (losses.path_nodes, "segments of the critical path"),
    ] {
        if events > 0 {
            found.push(Warning::Dropped { events, what });
        }
    }
    if run.other_processes > 0 {
        found.push(Warning::OtherProcesses { count: run.other_processes });
    }
    if starts_threads_of_libgomp(recording) {
        found.push(Warning::OpenmpUnseen);
    }
    // Who gets several workers all the same has not taken the path for one.
    if let Some(AskedThreads { answer: 1, by }) = run.asked.as_ref().filter(|_| run.workers <= 1) {
        found.push(Warning::AnsweredOneThread { by: by.clone() });
    }
    let forks = forks(recording, run);
    let goes_on_elsewhere = run.ending == Ending::Unseen && run.other_processes > 0;
    if !forks && !goes_on_elsewhere {
        found.push(Warning::NeverForks);
    }
    if run.clock == Clock::Virtual {
        found.push(Warning::VirtualClock);
        return found;
    }
    if run.span < SHORTEST_SPAN && forks {
        found.push(Warning::TooShort { span: run.span });
    }
    found.extend(below_clock(recording, run).map(Warning::BelowClock));
    found.extend(short_regions(recording, run));
    found.extend(locks_unseen(recording, run).map(|alone| Warning::LocksUnseen { alone }));
    if !run.features.contains(&Feature::SteadyCounter) {
        found.push(Warning::UnsteadyCounter);
    }
    if !run.features.contains(&Feature::SwitchWitness) {
        found.push(Warning::NoSwitchWitness);
    }
    let any_place = recording.sites.iter().any(|s| s.kind.spawns());
    match &recording.debug_info_problem {
        Some(problem) if any_place => {
            let problem = problem.clone();
            found.push(Warning::DebugInfoUnread { problem, partly: recording.has_debug_info });
        }
        None if any_place && !recording.has_debug_info => {
            let places = recording.sites.iter().any(|site| site.kind.lasts() && site.kind != SiteKind::Marked);
            found.push(Warning::NoDebugInfo { places, files: without_places(recording) });
        }
        _ => {}
    }
    let work = run.work();
    if run.preempted.0 > work.0 / 5 && work > SHORTEST_SPAN {
        let cpus = recording.machine.cpus;
        // It had the machine to itself, or nearly.
        let had_all = run.cpu.as_f64() >= run.wall.as_f64() * f64::from(cpus) * HAD_ALL;
        let crowd = (cpus > 0 && run.threads > cpus && had_all).then_some([run.threads, cpus]);
        found.push(Warning::BusyMachine { preempted: run.preempted, work, crowd });
    }
    found
}

/// Names of the files of code in which sites are known by an address alone, the one with most sites first.
fn without_places(recording: &Recording) -> Vec<String> {
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    let program = recording.command.first().map_or("", String::as_str);
    for site in recording.sites.iter().filter(|site| site.bare_address().is_some()) {
        match site.module.as_str() {
            "" => *files.entry(program).or_default() += 1,
            Site::UNKNOWN_MODULE => {}
            module => *files.entry(module).or_default() += 1,
        }
    }
    let mut files: Vec<(&str, usize)> = files.into_iter().filter(|(file, _)| !file.is_empty()).collect();
    files.sort_by_key(|(_, sites)| std::cmp::Reverse(*sites));
    files.into_iter().map(|(file, _)| file.rsplit('/').next().unwrap_or(file).to_owned()).collect()
}
