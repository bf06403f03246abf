//! What a task graph costs: CPU time of the instrumented program alone, wall time until its graph is complete on disk, bytes of an
//! access, compile time, and cache curves of the graph; each over the program as clang compiles it with `-O2`.
//!
//! Compile time is that of `workspan build --no-depend`, and of `workspan build`, which compiles twice. libzstd is the one that
//! `zstd-sys` has, a dependency of Workspan.
//!
//! The runs of a round follow one another. The program's own CPU time is what a shell around it measures in milliseconds; events
//! are taken by another process meanwhile. OpenMP programs have two threads, as the wall time of targets is one with two processors.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use super::child::{cpu_of, output_of, talk_of, wall_of};
use super::figure::{Figure, Target};
use super::spread::Spread;
use super::{build, table, Options};
use crate::shell;

const GROUP: &str = "graph";

/// A program, its folder below `programs`, and arguments: a native run takes some hundredths of a second.
struct Load {
    case: &'static str,
    source: &'static str,
    arguments: &'static [&'static str],
    /// Most accesses of a place are at a constant distance from each other.
    regular: bool,
    threads: u32,
    /// It is compiled with libzstd's sources.
    zstd: bool,
}

const fn load(case: &'static str, source: &'static str, arguments: &'static [&'static str]) -> Load {
    Load { case, source, arguments, regular: false, threads: 1, zstd: false }
}

const LOADS: &[Load] = &[
    Load { regular: true, ..load("matmul", "depend/matmul.c", &["500"]) },
    load("quicksort", "depend/quicksort.c", &["2000000"]),
    load("hash", "depend/hash.c", &["800000"]),
    Load { regular: true, ..load("stencil", "depend/stencil.c", &["1000", "100"]) },
    Load { zstd: true, ..load("libzstd", "zstd/round_trip.c", &["10000"]) },
    Load { regular: true, threads: 2, ..load("matmul-tasks", "cilk-openmp/matmul.c", &["600", "32"]) },
    Load { regular: true, threads: 2, ..load("lu-tasks", "cilk-openmp/lu.c", &["900", "32"]) },
    Load { threads: 2, ..load("sort-tasks", "cilk-openmp/cilksort.c", &["1500000"]) },
];

/// CPU time of the program over native, as geometric mean, and wall time until the graph is complete, at most.
const BUFFER: f64 = 1.3;
const COMPLETE: f64 = 2.5;
/// Bytes of an access, at most: where accesses are regular, and elsewhere.
const REGULAR: f64 = 1.0;
const IRREGULAR: f64 = 4.0;
/// CPU time of the compiler over its own, at most.
const COMPILER: f64 = 2.0;
/// CPU time of a cache curve over the native run, at most: exact, and sampled.
const CURVE: f64 = 30.0;
const SAMPLED: f64 = 5.0;

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let loads: Vec<_> = LOADS.iter().filter(|load| options.wants(GROUP, load.case)).collect();
    if loads.is_empty() {
        return Ok(figures);
    }
    table::group("Task graphs: to the buffer, to the disk, and cache curves, over native -O2");
    let mut to_buffer = Vec::new();
    for load in &loads {
        let found = measure_one(load, options.runs.min(5))?;
        to_buffer.push(found[0].value);
        found.iter().for_each(table::row);
        figures.extend(found);
    }
    let mean = (to_buffer.iter().map(|ratio| ratio.ln()).sum::<f64>() / to_buffer.len() as f64).exp();
    let spread = Spread::of(to_buffer);
    let figure =
        Figure { spread, ..of("geometric mean", 1, "CPU time of the program", mean, Some(Target::AtMost(BUFFER))) };
    table::row(&figure);
    figures.push(figure);
    Ok(figures)
}

fn measure_one(load: &Load, runs: u32) -> anyhow::Result<Vec<Figure>> {
    let native = folder()?.join(load.case);
    let instrumented = format!("{}.instrumented", load.case);
    let graph = folder()?.join(format!("{}.graph", load.case));
    let (mut compiled, mut passed, mut twice) = (Vec::new(), Vec::new(), Vec::new());
    let [mut cpu, mut wall, mut own_cpu, mut own_wall, mut curve, mut sampled] = [const { Vec::new() }; 6];
    for _ in 0..runs {
        compiled.push(cpu_of(&mut compiler(load, Command::new("clang-19"), load.case)?)?);
        for (options, times) in [(&["build"][..], &mut twice), (&["build", "--no-depend"], &mut passed)] {
            let mut build = Command::new(build::workspan()?);
            build.args(options).args(["--", "clang-19"]);
            times.push(cpu_of(&mut compiler(load, build, &instrumented)?)?);
        }
        let mut alone = Command::new(&native);
        alone.args(load.arguments).env("OMP_NUM_THREADS", load.threads.to_string());
        wall.push(wall_of(&mut alone)?);
        cpu.push(cpu_of(&mut alone)?);
        own_wall.push(wall_of(&mut record(load, &graph, &[&format!("./{instrumented}")])?)?);
        let timed =
            ["bash", "-c", "TIMEFORMAT='cpu %U %S'; time \"$@\" > /dev/null", "bash", &format!("./{instrumented}")];
        own_cpu.push(cpu_in(&talk_of(&mut record(load, &graph, &timed)?)?)?);
        let cache = |options: &[&str]| {
            let mut command = Command::new(build::workspan()?);
            cpu_of(command.args(["graph", "cache"]).arg(&graph).args(options).arg("--json"))
        };
        curve.push(cache(&[])?);
        sampled.push(cache(&["--sample", "64"])?);
    }
    let mut report = Command::new(build::workspan()?);
    let report: Value = serde_json::from_str(&output_of(report.args(["graph", "report"]).arg(&graph).arg("--json"))?)?;
    anyhow::ensure!(report["complete"] == true, "the graph of {} is not complete", load.case);
    let bytes = report["bytes_per_access"].as_f64().context("a report without `bytes_per_access`")?;
    let most = if load.regular { REGULAR } else { IRREGULAR };
    let [compiled, passed, twice, cpu, wall, own_cpu, own_wall, curve, sampled] =
        [compiled, passed, twice, cpu, wall, own_cpu, own_wall, curve, sampled].map(Spread::of);
    let over = |quantity, value: &Spread, native: &Spread, target| {
        let ratio = value.median() / native.median();
        let behind = vec![("native", native.clone()), ("ours", value.clone())];
        Figure { behind, ..of(load.case, load.threads, quantity, ratio, target) }
    };
    Ok(vec![
        over("CPU time of the program", &own_cpu, &cpu, None),
        over("wall time, graph on disk", &own_wall, &wall, Some(Target::AtMost(COMPLETE))),
        of(load.case, load.threads, "bytes of an access", bytes, Some(Target::AtMost(most))),
        over("CPU time of the compiler", &passed, &compiled, Some(Target::AtMost(COMPILER))),
        over("the same, for `depend`, too", &twice, &compiled, None),
        over("CPU time of a cache curve", &curve, &cpu, Some(Target::AtMost(CURVE))),
        over("CPU time, curve of 1 in 64 sets", &sampled, &cpu, Some(Target::AtMost(SAMPLED))),
    ])
}

fn of(case: &str, workers: u32, quantity: &'static str, value: f64, target: Option<Target>) -> Figure {
    let (spread, behind, remark) = (Spread::of([value]), Vec::new(), String::new());
    Figure { group: GROUP, case: case.to_owned(), workers, quantity, value, spread, target, behind, remark }
}

fn folder() -> anyhow::Result<PathBuf> {
    let folder = build::folder().join(GROUP);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn compiler(load: &Load, mut command: Command, to: &str) -> anyhow::Result<Command> {
    command.args(["-O2", "-g", "-fopenmp", "-I"]).arg(build::root().join("include")).arg("-o").arg(to);
    command.arg(build::root().join("programs").join(load.source)).arg("-lm").current_dir(folder()?);
    if load.zstd {
        let library = libzstd()?;
        command.args(["-w", "-DZSTD_DISABLE_ASM=1", "-lpthread", "-I"]).arg(&library);
        for part in ["common", "compress", "decompress"] {
            let files = fs::read_dir(library.join(part)).context("libzstd has other folders")?;
            let mut sources = files.map(|file| Ok(file?.path())).collect::<anyhow::Result<Vec<_>>>()?;
            sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
            sources.sort();
            command.args(sources);
        }
    }
    Ok(command)
}

/// The sources of libzstd, as cargo has them. What only other platforms need has perhaps never been fetched.
fn libzstd() -> anyhow::Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &shell::host()?]);
    cargo.current_dir(build::root());
    let found: Value = serde_json::from_str(&output_of(&mut cargo)?)?;
    let packages = found["packages"].as_array().context("metadata without packages")?;
    let package = packages.iter().find(|package| package["name"] == "zstd-sys").context("no zstd-sys")?;
    let manifest = package["manifest_path"].as_str().context("a package without a manifest")?;
    Ok(Path::new(manifest).with_file_name("zstd/lib"))
}

/// `workspan graph record` of a program, alone or with a shell around it.
fn record(load: &Load, graph: &Path, program: &[&str]) -> anyhow::Result<Command> {
    // Otherwise the earlier graph would be kept under another name.
    let _ = fs::remove_dir_all(graph);
    let mut command = Command::new(build::workspan()?);
    command.args(["graph", "record", "-o"]).arg(graph).arg("--").args(program).args(load.arguments);
    command.current_dir(folder()?).env("OMP_NUM_THREADS", load.threads.to_string());
    Ok(command)
}

/// User and system time in what the shell writes about it.
fn cpu_in(talk: &str) -> anyhow::Result<f64> {
    let line = talk.lines().find_map(|line| line.strip_prefix("cpu ")).context("the shell did not write CPU times")?;
    line.split(' ').map(|seconds| Ok(seconds.parse::<f64>()?)).sum()
}
