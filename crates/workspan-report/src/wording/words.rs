//! Sentences: warnings and numbers in words.

use std::borrow::Cow;

use workspan_analysis::measured::BelowClock;
use workspan_analysis::Warning;
use workspan_model::{AskedBy, Ratio, Recording, UnseenLock};

use crate::place;

/// Places of one kind that a sentence names.
const PLACES: usize = 3;

/// A warning in words, with what to do about it.
pub fn warning(recording: &Recording, warning: &Warning) -> String {
    match warning {
        Warning::Killed { signal } => {
            format!("{} ended the program: the numbers cover what had run by then", signal_name(*signal))
        }
        Warning::EndUnseen => {
            "the program ended without running exit handlers: the numbers cover what had run by then".to_owned()
        }
        Warning::ExitInsideRegion => {
            "the program called exit before all its tasks had ended: what was running then may be missing in part".to_owned()
        }
        Warning::StillRunning { threads } => format!(
            "the program ended while {threads} {}: the last strand of each is missing",
            if *threads == 1 { "other thread was in a region" } else { "other threads were in regions" },
        ),
        Warning::Dropped { events, what } => format!("{events} {what} did not fit into the collector's tables"),
        Warning::OtherProcesses { count } => format!(
            "{count} further {} of this command {} not profiled: only the first is",
            if *count == 1 { "process" } else { "processes" },
            if *count == 1 { "was" } else { "were" },
        ),
        Warning::OpenmpUnseen => {
            "the program loads gcc's OpenMP runtime, libgomp, while it runs, and its parallel regions were not seen: \
             set LD_PRELOAD to LLVM's libomp.so.5, which then stands in for it"
                .to_owned()
        }
        Warning::AnsweredOneThread { by } => format!(
            "the program asked how many threads there are ({}) and the {}answer was 1: with several it may take another path than the one in this \
             report ({})",
            by.iter().map(|by| by.name()).collect::<Vec<_>>().join(", "),
            if by.len() > 1 { "least " } else { "" },
            more_threads(by)
        ),
        Warning::NeverForks => "the program created no task: with these arguments all its code ran serially".to_owned(),
        Warning::TooShort { span } => {
            format!("the span is only {span}, too short for this clock: use a larger input, or --repeat N")
        }
        Warning::BelowClock(BelowClock { site, tasks, most }) => format!(
            "{}: {} tasks are shorter than this clock can see: their work is between 0 and {most}, and numbers of the code \
             around may be off by as much (give each task more to do)",
            recording.sites.get(site.0 as usize).map_or_else(|| "a site".to_owned(), |site| place::label(recording, site)),
            count(*tasks),
        ),
        Warning::ShortRegions { count: regions, mean } => format!(
            "{} parallel regions have {mean} of work on average: to begin and end a team takes some microseconds each time, and far more where its \
             threads have to wait for a processor; that is in no number here but idle time, so more threads may make the program slower \
             (workspan scale measures it)",
            count(*regions),
        ),
        Warning::UnsteadyCounter => {
            "the cycle counter of this machine changes its rate: times are approximate".to_owned()
        }
        Warning::NoSwitchWitness => {
            "this system does not report when a thread is switched out (glibc 2.35 or newer does): \
             on a busy machine short strands are overestimated"
                .to_owned()
        }
        Warning::NoDebugInfo { places: true, files } => {
            let (who, have) = match files.as_slice() {
                [] => ("the program".to_owned(), "has"),
                [one] => (one.clone(), "has"),
                [one, other] => (format!("{one} and {other}"), "have"),
                [one, others @ ..] => (format!("{one} and {} other files", others.len()), "have"),
            };
            format!(
                "{who} {have} no debug information: places are shown as functions and offsets (compile it with -g, or install \
                 its debug symbols, on Debian the packages that end with -dbgsym)"
            )
        }
        Warning::NoDebugInfo { places: false, .. } => {
            "the program has no debug information: function names are derived from closure types".to_owned()
        }
        Warning::DebugInfoUnread { problem, partly: true } => {
            format!("not all debug information could be used ({problem}): some function names are derived or missing")
        }
        Warning::DebugInfoUnread { problem, partly: false } => {
            format!("debug information could not be used ({problem}): function names are derived from closure types")
        }
        Warning::BusyMachine { preempted, work, crowd } => {
            let remedy = match crowd {
                Some([threads, cpus]) => format!("{threads} threads of the program ran on {cpus} CPUs: try fewer threads"),
                None => "other programs ran: try when the machine is idle, or repeat (`--repeat 5`)".to_owned(),
            };
            format!(
                "the machine was busy: strands waited {preempted} for a CPU, against {work} of work; \
                 this time is excluded, but caches were disturbed ({remedy})"
            )
        }
        Warning::LocksUnseen { alone } => locks_unseen(recording, *alone),
        Warning::VirtualClock => "times are ticks of the virtual clock".to_owned(),
    }
}

/// Waits, of all that is not seen: they order what comes before and behind them, as locks do not.
const WAITS: [&str; 5] =
    ["std::latch", "std::barrier", "std::counting_semaphore", "std::atomic::wait", "std::thread::park"];

fn is_wait(lock: &UnseenLock) -> bool {
    WAITS.contains(&lock.lock.as_str())
}

/// True if some of what is not seen are locks.
pub fn has_unseen_locks(recording: &Recording) -> bool {
    recording.unseen_locks.iter().any(|lock| !is_wait(lock))
}

/// Where they are taken, and what that means: the one sentence of all commands.
pub fn locks_unseen(recording: &Recording, alone: bool) -> String {
    let mut sentences = Vec::new();
    if has_unseen_locks(recording) {
        let (names, places) = unseen(recording, |lock| !is_wait(lock));
        let waits = match alone {
            true => "with one worker none waits: record with `--workers 2` to see the waits",
            false => "the waits of this run are in the numbers",
        };
        sentences.push(format!(
            "code under {names} ({places}) counts as parallel: Workspan sees such a lock only where a thread waits for it, so the parallelism is \
             lower than shown if much of the work is under one lock ({waits})"
        ));
    }
    if recording.unseen_locks.iter().any(is_wait) {
        let (names, places) = unseen(recording, is_wait);
        sentences.push(format!(
            "Workspan sees a wait by {names} ({places}) only where it blocks: where a thread comes late, what it goes on behind is unknown, \
             so the parallelism is lower than shown if threads come late often, as on a busy machine"
        ));
    }
    sentences.join("; ")
}

/// The types of these, and the first of the places.
fn unseen(recording: &Recording, wanted: impl Fn(&UnseenLock) -> bool) -> (String, String) {
    let all = || recording.unseen_locks.iter().filter(|lock| wanted(lock));
    let mut names: Vec<&str> = all().map(|lock| lock.lock.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut lines: Vec<(bool, &str, u32)> =
        all().map(|lock| (lock.file.starts_with('/'), lock.file.as_str(), lock.line)).collect();
    lines.sort_unstable();
    lines.dedup();
    let more = lines.len().saturating_sub(PLACES);
    lines.truncate(PLACES);
    let (mut places, mut before) = (Vec::new(), "");
    for (_, file, line) in lines {
        // A second line of a file needs no name of the file.
        places.push(if file == before { format!(":{line}") } else { place::short(file, line) });
        before = file;
    }
    let more = match more {
        0 => String::new(),
        1 => " and 1 other line".to_owned(),
        more => format!(" and {more} other lines"),
    };
    (names.join(" and "), places.join(", ") + &more)
}

/// How the answer becomes several threads.
fn more_threads(by: &[AskedBy]) -> &'static str {
    match by {
        [AskedBy::OmpGetNumProcs] => "allow it more processors than one",
        by if by.contains(&AskedBy::OmpGetMaxThreads) => {
            "record with --logical-cores 16: a team of 16, of which one thread runs at a time"
        }
        _ => "record with --workers 1 --logical-cores 16: one worker, and the answer is 16",
    }
}

/// A share as a percentage.
pub fn percent(share: Ratio) -> String {
    let value = share.0 * 100.0;
    if value >= 9.95 || value.abs() < 0.05 {
        format!("{value:.0} %")
    } else {
        format!("{value:.1} %")
    }
}

/// A count with a unit where it is large.
pub fn count(value: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let number = value as f64;
    match value {
        0..=9_999 => value.to_string(),
        10_000..=999_999 => format!("{:.1} k", number / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} M", number / 1e6),
        _ => format!("{:.1} G", number / 1e9),
    }
}

/// Bytes of memory, of a power of two mostly, in the largest unit of which there is one.
pub fn memory(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// A cell as RFC 4180 has it: quoted where it has a comma, a quote or an end of line.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

/// `SIGINT` and the like.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}
