//! What idle accounting costs in instructions of the program: a count that is the same each time, on a busy machine too, unlike
//! time. Counted by valgrind, natively and under `workspan scale`; with one worker, since several spin while they wait.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::build::{self, Twins};
use super::child::output_of;
use super::figure::{Figure, Target};
use super::spread::Spread;
use super::{table, Options};
use crate::shell;

/// Instructions over native, at most.
const OVERHEAD: f64 = 1.01;

/// Programs in Rust with their arguments, then those in C.
const RUST: &[&[&str]] = &[&["fib", "1"], &["fib-cutoff", "1"], &["sum", "10"], &["sort", "1"], &["tasks-spawn", "1"]];
const C: &[(&str, &[&str])] =
    &[("fib", &["27"]), ("fib", &["34", "20"]), ("mergesort", &[]), ("loops", &["static", "200"])];

/// Measures them; nothing without valgrind.
pub(super) fn measure(group: &'static str, options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if !options.wants(group, "scale-instructions") {
        return Ok(figures);
    }
    if !shell::has_command("valgrind") {
        println!("instructions are not counted: there is no valgrind");
        return Ok(figures);
    }
    table::group("Idle accounting: instructions over native");
    let (rust, idle) = (build::program("bench")?, build::idle_program("bench")?);
    let mut loads = Vec::new();
    for arguments in RUST {
        let program = Twins { native: rust.native.clone(), hooked: idle.clone() };
        loads.push((arguments.join(" "), program, *arguments));
    }
    for (name, arguments) in C {
        let case = [&["omp", name], *arguments].concat().join(" ");
        loads.push((case, build::c_program("openmp", name)?, *arguments));
    }
    for (case, program, arguments) in loads {
        let native = count(&program.native, Command::new(&program.native).args(arguments))?;
        let mut watched = Command::new(build::workspan()?);
        watched.args(["scale", "--no-sites", "--warm-up=0", "--repeat=1", "-p1", "--"]);
        let watched = count(&program.hooked, watched.arg(&program.hooked).args(arguments))?;
        let value = watched / native;
        let behind = [("native", native), ("watched", watched)];
        let figure = Figure {
            group,
            case,
            workers: 1,
            quantity: "instructions",
            value,
            spread: Spread::of([value]),
            target: Some(Target::AtMost(OVERHEAD)),
            behind: behind.map(|(name, count)| (name, Spread::of([count]))).to_vec(),
            remark: String::new(),
        };
        table::row(&figure);
        figures.push(figure);
    }
    Ok(figures)
}

/// Instructions of the process that is `program`, of those that `command` starts.
fn count(program: &Path, command: &Command) -> anyhow::Result<f64> {
    let folder = build::folder().join("instructions");
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder)?;
    let mut counted = Command::new("valgrind");
    counted.args(["--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null"]);
    counted
        .arg(format!("--log-file={}/%p", folder.display()))
        .env("RAYON_NUM_THREADS", "1")
        .env("OMP_NUM_THREADS", "1");
    output_of(counted.arg(command.get_program()).args(command.get_args()))?;
    let command = format!("Command: {}", program.display());
    let mut found = None;
    for file in std::fs::read_dir(&folder)? {
        let log = std::fs::read_to_string(file?.path())?;
        if log.lines().any(|line| line.contains(&command)) {
            let text =
                log.lines().find_map(|line| line.split_once("Collected :")).context("valgrind has counted nothing")?;
            found = Some(text.1.trim().parse()?);
        }
    }
    found.with_context(|| format!("valgrind did not run {}", program.display()))
}
