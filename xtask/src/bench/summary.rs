//! The tables for `docs/benchmarks.md`.

use std::fmt::Write as _;

use super::cilk;
use super::figure::Figure;
use super::machine::Machine;
use super::table::digits;

const GROUPS: &[(&str, &str)] = &[
    (
        "tbb",
        "## oneTBB\n\nPrograms of `programs/tbb`, profiled over native: CPU time, memory, and what a task costs more; and the \
         parallelism of a tree of 256 equal leaves.",
    ),
    (
        "threads",
        "## Threads\n\nPrograms of `programs/threads`, profiled over native: locks that nobody waits for, and threads that are \
         created and joined one after the other.",
    ),
    (
        "overhead",
        "## Overhead\n\nPrograms of `programs/bench`, profiled over native. CPU time is user and system time of the \
         program's process; memory is its largest resident set, of which shared memory is a part. Work is what the \
         profile says the program did.",
    ),
    (
        "tree",
        "## Accuracy: a tree of 256 equal leaves\n\nParallelism of the region; the ideal is 256. Each sample is one run, \
         analysed on the fly. The span is a maximum over noisy leaves, so the figure is below the ideal, the more so the \
         shorter the leaves.",
    ),
    (
        "merged",
        "## Accuracy: the same of merged runs\n\nThe tree above, run five times with `--strands`; of each strand the least that \
         it took in any run.",
    ),
    (
        "inflation",
        "## Work inflation\n\n`programs/sharing`: two tasks that count in one cache line, and the same in two. At which place \
         `workspan inflation` ranks what was planted, by how much it finds it inflated, and the share of strands that have a \
         partner in all runs; of each sample three serial and three parallel runs.",
    ),
    (
        "shapes",
        "## Accuracy: closed-form programs on a busy machine\n\nParallelism of the region over its exact value. Leaves \
         take a millisecond of CPU time or more; meanwhile as many other processes as there are processors never rest.",
    ),
    (
        "steady",
        "## Steadiness\n\nPrograms of every kind, recorded ten times with the machine to themselves, and ten times beside four processes \
         that never rest: the span from the least parallelism to the most over the median, and the number of different verdicts.",
    ),
    (
        "openmp",
        "## OpenMP\n\nPrograms of `programs/openmp`, built by clang, profiled over native; the same tree of 256 equal leaves, \
         of tasks; a static loop of 64 iterations that take 1 to 64 units, on 64 virtual cores, whose parallelism is 32.5; \
         and closed-form programs on a busy machine: parallelism over its exact value. What a task or the start of the \
         program costs more than natively is a difference of medians.",
    ),
    (
        "record",
        "## Recordings of every strand\n\nPrograms with a cutoff that are recorded with `--strands`, over native: CPU time of \
         the program's process, and bytes that a strand takes on disk.",
    ),
    (
        "replay",
        "## Analyses of strands\n\nRecordings that no program made: how many strands a second the analyses take, with the \
         files read and unpacked, and their largest resident set. The query of each view is in seconds.",
    ),
    (
        "predict",
        "## Prediction: cost\n\nSchedules of made-up recordings of a million strands, on 1, 2, 4 … 1024 processors, one after \
         the other: seconds for the graph, for greedy schedules, and for those by work stealing, one seed.",
    ),
    (
        "predicted",
        "## Prediction: accuracy\n\nThe time that recordings with one worker predict, over the wall clock of native runs with one \
         worker and with two.",
    ),
    (
        cilk::GROUP,
        "## The programs of Cilkprof's tables\n\n`programs/cilk`, in Rust with rayon, and `programs/cilk-openmp`, in C with \
         tasks of OpenMP, built by clang, of the sizes that they have by themselves. The table has the form of \
         Cilkprof's: seconds of CPU time, natively and profiled, and their ratio, with one worker and with two.",
    ),
    (
        "scale",
        "## Factored speedup\n\nPrograms of `programs/scale` with one cause planted in each, with two workers: what \
         `workspan scale` finds of it over what was planted, which is known without it. And what accounting for idle time \
         costs: wall time over that of native runs, in turns.",
    ),
    (
        "limits",
        "## Limits of parallelism\n\nPrograms of `programs/limits`: how many million instructions a second `workspan limits` \
         takes from end to end with these models, beside the program alone and under the bare emulator; and the memory of the \
         analysis.",
    ),
    (
        "graph",
        "## Task graphs\n\nPrograms of `programs/depend` and three of `programs/cilk-openmp` on two threads, over native with -O2: CPU time \
         of the instrumented program by itself, wall time until its graph is on disk, bytes of an access, CPU time of the compiler, and \
         of cache curves of all sizes, exact and of one set in 64.",
    ),
    (
        "depend",
        "## Dependences\n\nPrograms of `programs/depend`: CPU time of `workspan depend`, program and analysis together, over that of \
         the program as clang compiles it with `-O1` and with `-O2`, with all kinds of dependences and all task models; and its memory.",
    ),
    (
        "crates",
        "## Published programs\n\nUnmodified, from the registry at these versions, built natively and by `cargo workspan \
         install`. Work should be the native CPU time; what is missing is start-up and end of the process, and, with \
         several workers, their search for work.",
    ),
];

/// The document.
pub(super) fn text(machine: &Machine, figures: &[Figure]) -> String {
    let mut text = format!(
        "# Benchmarks\n\nMade by `cargo xtask bench --summary` on {}: {}; other programs were running (load {}). \
         Native and profiled runs alternate; values are ratios of medians, or medians, and the half of the samples that \
         lies in the middle follows.\n",
        machine.day(),
        machine.words,
        machine.load
    );
    for (group, introduction) in GROUPS {
        let rows: Vec<&Figure> = figures.iter().filter(|figure| figure.group == *group).collect();
        let _ = write!(text, "\n{introduction}\n");
        let (times, rows): (Vec<&Figure>, Vec<&Figure>) =
            rows.into_iter().partition(|figure| *group == cilk::GROUP && figure.quantity == cilk::TIME);
        if !times.is_empty() {
            text.push_str("\n| program | workers | native | profiled | ratio | half of them | target | |\n");
            text.push_str("|---|---|---|---|---|---|---|---|\n");
        }
        for figure in times {
            let _ = writeln!(text, "{}", row(figure, &seconds(figure)));
        }
        let _ = write!(text, "\n| case | workers | quantity | value | half of them | target | |\n");
        text.push_str("|---|---|---|---|---|---|---|\n");
        for figure in rows {
            let _ = writeln!(text, "{}", row(figure, figure.quantity));
        }
    }
    text
}

/// What a ratio is one of, in two columns.
fn seconds(figure: &Figure) -> String {
    let behind: Vec<String> = figure.behind.iter().map(|(_, spread)| format!("{:.3}", spread.median())).collect();
    behind.join(" | ")
}

fn row(figure: &Figure, quantity: &str) -> String {
    let (low, high) = figure.spread.quartiles();
    let digits = digits(figure.value);
    let target = figure.target.map_or("–".to_owned(), |target| target.to_string());
    let mark = match figure.target {
        None => "",
        Some(_) if figure.missed() => "**missed**",
        Some(_) => "met",
    };
    format!(
        "| {} | {} | {} | {:.digits$} | {low:.digits$} – {high:.digits$} | {target} | {mark} |",
        figure.case, figure.workers, quantity, figure.value
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is measured is in the document: the groups of the table at the head of `mod.rs`.
    #[test]
    fn every_group_is_in_the_document() {
        let rows = include_str!("mod.rs").lines().filter_map(|line| line.strip_prefix("//! | `"));
        let groups: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
        assert!(groups.len() > 10, "{groups:?}");
        let told: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).collect();
        let missing: Vec<&&str> = groups.iter().filter(|group| !told.contains(group)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
