//! What a dependence profile costs: CPU time of program and analysis together, over the program as clang compiles it with `-O1` and
//! with `-O2`. The runs of a round follow one another. Memory is that of the analysis, beside that of the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

use super::child::{cpu_of, peak_of};
use super::figure::{Figure, Target};
use super::spread::Spread;
use super::{build, table, Options};

const GROUP: &str = "depend";
/// Programs of `programs/depend`, with arguments: a native run takes some hundredths of a second.
const LOADS: &[(&str, &[&str])] =
    &[("matmul", &["320"]), ("quicksort", &["500000"]), ("hash", &["200000"]), ("stencil", &["400", "100"])];
/// CPU time over `-O2`, at most: of the slowest, and of all as geometric mean.
const WORST: f64 = 40.0;
const MEAN: f64 = 15.0;
/// Memory over the program's, at most, beyond [`BASE`] MiB.
const MEMORY: f64 = 3.0;
const BASE: f64 = 100.0;

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let loads: Vec<_> = LOADS.iter().filter(|(name, _)| options.wants(GROUP, name)).collect();
    if loads.is_empty() {
        return Ok(figures);
    }
    table::group("Dependences: CPU time and memory of the profile, over native");
    let mut ratios = Vec::new();
    for (name, arguments) in loads {
        let programs = [compiled(name, "-O1")?, compiled(name, "-O2")?];
        build_for_profile(name)?;
        let (mut seconds, mut of_profile) = ([Vec::new(), Vec::new()], Vec::new());
        for _ in 0..options.runs.min(3) {
            for (program, seconds) in programs.iter().zip(&mut seconds) {
                seconds.push(cpu_of(Command::new(program).args(*arguments).stdout(Stdio::null()))?);
            }
            of_profile.push(cpu_of(&mut profile(name, arguments)?)?);
        }
        let [first, second] = seconds.map(Spread::of);
        let profiled = Spread::of(of_profile);
        for (native, quantity, target) in
            [(&first, "CPU time over -O1", None), (&second, "CPU time over -O2", Some(Target::AtMost(WORST)))]
        {
            let value = profiled.median() / native.median();
            if target.is_some() {
                ratios.push(value);
            }
            let behind = vec![("native", native.clone()), ("profiled", profiled.clone())];
            let figure = Figure { behind, ..of((*name).to_owned(), quantity, value, target) };
            table::row(&figure);
            figures.push(figure);
        }
        let own = peak_of(Command::new(&programs[1]).args(*arguments))?;
        let value = peak_of(&mut profile(name, arguments)?)?;
        let behind = vec![("MiB of the program", Spread::of([own]))];
        let target = Some(Target::AtMost(MEMORY * own + BASE));
        let figure = Figure { behind, ..of((*name).to_owned(), "MiB of the profile", value, target) };
        table::row(&figure);
        figures.push(figure);
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp();
    let figure = of("geometric mean".to_owned(), "CPU time over -O2", mean, Some(Target::AtMost(MEAN)));
    table::row(&figure);
    figures.push(figure);
    Ok(figures)
}

fn of(case: String, quantity: &'static str, value: f64, target: Option<Target>) -> Figure {
    let (spread, behind, remark) = (Spread::of([value]), Vec::new(), String::new());
    Figure { group: GROUP, case, workers: 1, quantity, value, spread, target, behind, remark }
}

fn folder() -> anyhow::Result<PathBuf> {
    let folder = build::folder().join(GROUP);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn compiled(name: &str, level: &str) -> anyhow::Result<PathBuf> {
    let program = folder()?.join(format!("{name}{level}"));
    let mut command = Command::new("clang-19");
    command.args([level, "-o"]).arg(&program).arg(source(name)).arg("-lm");
    anyhow::ensure!(command.status().context("cannot run clang-19")?.success(), "cannot compile {name}.c");
    Ok(program)
}

fn source(name: &str) -> PathBuf {
    build::root().join("programs/depend").join(format!("{name}.c"))
}

/// By `workspan build`, in place of what an earlier one has built.
fn build_for_profile(name: &str) -> anyhow::Result<()> {
    let mut command = Command::new(build::workspan()?);
    command.args(["build", "--", "cc", "-O2", "-g"]).arg(source(name)).args(["-o", name, "-lm"]);
    command.current_dir(folder()?).stderr(Stdio::null());
    anyhow::ensure!(command.status()?.success(), "cannot build {name}.c by `workspan build`");
    Ok(())
}

/// `workspan depend` of a program that has been built for it.
fn profile(name: &str, arguments: &[&str]) -> anyhow::Result<Command> {
    let (folder, workspan) = (folder()?, build::workspan()?);
    let mut command = Command::new(workspan);
    command.args(["depend", "-o", &format!("{name}.profile"), "--"]).arg(Path::new(".").join(name)).args(arguments);
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}
