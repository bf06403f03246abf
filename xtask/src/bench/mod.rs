//! `cargo xtask bench`: what profiling costs, and how far its numbers can be believed.
//!
//! | group | what is measured | where |
//! |---|---|---|
//! | `overhead` | CPU time and memory of `programs/bench`, profiled over native, in interleaved pairs | [`overhead`] |
//! | `tree` | region parallelism of a balanced tree of equal leaves | [`tree`] |
//! | `merged` | the same of five runs that are merged strand by strand | [`merged`] |
//! | `inflation` | where `workspan inflation` ranks false sharing that was planted, `programs/sharing` | [`inflation`] |
//! | `shapes` | region parallelism of `programs/shapes` on a machine kept busy | [`shapes`] |
//! | `steady` | parallelism and verdict of programs of every kind over ten runs, alone and on a busy machine | [`steady`] |
//! | `openmp` | the same of `programs/openmp`: overhead, start-up, tree, loops, closed forms on a busy machine | [`openmp`] |
//! | `tbb` | programs on oneTBB, `programs/tbb/bench.cpp`: a task, loops, sorting, tree, memory | [`tbb`] |
//! | `threads` | programs on threads, `programs/threads/bench.c`: a lock, a thread | [`threads`] |
//! | `record` | CPU time of programs with a cutoff that are recorded strand by strand, over native; bytes of a strand | [`record`] |
//! | `replay` | strands a second and memory of the analyses of strands, on made-up recordings; queries | [`replay`] |
//! | `predict` | seconds that schedules of a million strands take, on eleven numbers of processors | [`predict`] |
//! | `predicted` | time that recordings with one worker predict, over the wall clock with one worker and two | the same |
//! | `cilk` | the programs of Cilkprof's tables, in Rust and in C: overhead, serial and parallel, and work | [`cilk`] |
//! | `scale` | planted causes as `workspan scale` finds them; what its accounting of idle time costs | [`scale`] |
//! | `limits` | instructions per second and memory of `workspan limits`, beside the program alone and the bare emulator | [`limits`] |
//! | `graph` | CPU and wall time of recording task graphs, bytes of an access, compile time, cache curves, over native | [`graph`] |
//! | `depend` | CPU time and memory of dependence profiles of `programs/depend`, over native with -O1 and -O2 | [`depend`] |
//! | `crates` | published programs, unmodified: overhead, work, and the lines shown | [`crates`] |
//!
//! Nothing here runs as a test: on a shared machine any figure may miss its target once. The raw samples go to
//! `target/bench/*.json`, and with `--summary` the tables to `docs/benchmarks.md`.

mod build;
mod child;
mod cilk;
mod crates;
mod depend;
mod figure;
mod graph;
mod inflation;
mod inputs;
mod instructions;
mod limits;
mod machine;
mod merged;
mod openmp;
mod options;
mod overhead;
mod pairs;
mod predict;
mod record;
mod replay;
mod scale;
mod shapes;
mod spread;
mod steady;
mod summary;
mod table;
mod tbb;
mod threads;
mod tree;

use std::fs;

use anyhow::Context;

pub(crate) use child::{peak, Peak};
use figure::Figure;
pub(crate) use options::Options;

/// Measures a group, as far as its cases are requested.
type Group = fn(&Options) -> anyhow::Result<Vec<Figure>>;

const GROUPS: &[Group] = &[
    overhead::measure,
    tree::measure,
    merged::measure,
    inflation::measure,
    shapes::measure,
    steady::measure,
    openmp::measure,
    tbb::measure,
    threads::measure,
    record::measure,
    replay::measure,
    predict::measure,
    cilk::measure,
    scale::measure,
    limits::measure,
    graph::measure,
    depend::measure,
    crates::measure,
];

/// Runs the benchmarks.
pub(crate) fn main(options: &Options) -> anyhow::Result<()> {
    let machine = machine::describe();
    table::heading(&machine);
    let mut figures = Vec::new();
    for group in GROUPS {
        figures.extend(group(options)?);
    }
    anyhow::ensure!(!figures.is_empty(), "no benchmark is called {}", options.names.join(" or "));
    keep(options, &machine, &figures)?;
    let missed = figures.iter().filter(|figure| figure.missed()).count();
    table::verdict(figures.iter().filter(|figure| figure.target.is_some()).count(), missed);
    anyhow::ensure!(!options.check || missed == 0, "{missed} targets missed");
    Ok(())
}

fn keep(options: &Options, machine: &machine::Machine, figures: &[Figure]) -> anyhow::Result<()> {
    let folder = build::folder();
    fs::create_dir_all(&folder)?;
    let document = serde_json::json!({
        "machine": machine.to_json(),
        "figures": figures.iter().map(Figure::to_json).collect::<Vec<_>>(),
    });
    let text = format!("{document:#}\n");
    let named = folder.join(format!("{}.json", machine.seconds));
    for file in [&named, &folder.join("latest.json")].into_iter().chain(&options.json) {
        fs::write(file, &text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    if options.summary {
        let file = build::root().join("docs/benchmarks.md");
        fs::create_dir_all(build::root().join("docs"))?;
        fs::write(&file, summary::text(machine, figures))?;
    }
    Ok(())
}
