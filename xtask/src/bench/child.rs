//! Running a program, natively or under `workspan record`, and what it took.
//!
//! Both are measured alike: user and system time of the program's process from its start to its end, as the kernel reports
//! whoever waits for it. That is us for the native program, and `workspan record` for the profiled one, which passes the
//! number on as `program.cpu_ns`; so what workspan itself does before and afterwards is no part of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::TimeValLike;
use serde_json::Value;

use super::build::{self, Twins};

/// A program's end.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    /// CPU time in seconds.
    pub(super) cpu: f64,
    /// Its standard output.
    pub(super) output: String,
    /// What was said meanwhile on standard error.
    pub(super) talk: String,
    /// The report, of a profiled run.
    pub(super) report: Value,
}

/// How a program is called.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The program.
    pub(super) program: Twins,
    /// Its arguments.
    pub(super) arguments: Vec<String>,
    /// Workers of rayon's global pool, or of OpenMP's teams.
    pub(super) workers: u32,
    /// Where it runs.
    pub(super) folder: PathBuf,
}

impl Call {
    /// Runs it without hooks.
    pub(super) fn native(&self) -> anyhow::Result<Ended> {
        let mut command = self.command(&self.program.native);
        let workers = self.workers.to_string();
        command.args(&self.arguments).env("RAYON_NUM_THREADS", &workers).env("OMP_NUM_THREADS", &workers);
        let before = cpu_of_children()?;
        let (output, talk) = said(&mut command)?;
        Ok(Ended { cpu: cpu_of_children()? - before, output, talk, report: Value::Null })
    }

    /// Runs it under `workspan record`.
    pub(super) fn profiled(&self) -> anyhow::Result<Ended> {
        self.profiled_with(&[])
    }

    /// The same with further options.
    pub(super) fn profiled_with(&self, options: &[&str]) -> anyhow::Result<Ended> {
        let report = build::folder().join("report.json");
        let mut command = self.command(&build::workspan()?);
        command.arg("record").arg("--output").arg(build::folder().join("recording.wspan"));
        command.arg(format!("--json={}", report.display())).args(["--workers", &self.workers.to_string()]);
        command.args(options).arg("--").arg(&self.program.hooked).args(&self.arguments);
        let (output, talk) = said(&mut command)?;
        let report: Value = serde_json::from_slice(&std::fs::read(&report)?)?;
        let nanos = report["program"]["cpu_ns"].as_f64().context("a report without `cpu_ns`")?;
        Ok(Ended { cpu: nanos / 1e9, output, talk, report })
    }

    /// Runs it so often, recorded strand by strand, and merges the runs; returns the report of that.
    pub(super) fn merged(&self, runs: u32) -> anyhow::Result<Value> {
        self.profiled_with(&["--strands", "--repeat", &runs.to_string()])?;
        let merged = build::folder().join("merged.wspan");
        let mut command = self.command(&build::workspan()?);
        output_of(command.arg("merge").arg(build::folder().join("recording.wspan")).arg("--output").arg(&merged))?;
        let report = output_of(self.command(&build::workspan()?).arg("report").arg("--json").arg(&merged))?;
        Ok(serde_json::from_str(&report)?)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder);
        command
    }
}

/// Wall time in seconds of a command that must succeed.
pub(super) fn wall_of(command: &mut Command) -> anyhow::Result<f64> {
    let began = Instant::now();
    said(command)?;
    Ok(began.elapsed().as_secs_f64())
}

/// CPU time in seconds of the same.
pub(super) fn cpu_of(command: &mut Command) -> anyhow::Result<f64> {
    let before = cpu_of_children()?;
    said(command)?;
    Ok(cpu_of_children()? - before)
}

/// The most memory that a command had, in MiB. A process of its own runs it: the kernel keeps one number for all children.
pub(super) fn peak_of(command: &mut Command) -> anyhow::Result<f64> {
    let mut around = Command::new(std::env::current_exe().context("cannot find the own program")?);
    around.arg("peak").arg("--").arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        around.current_dir(folder);
    }
    let said = output_of(&mut around)?;
    Ok(said.trim().parse::<f64>().with_context(|| format!("no number: {said}"))? / 1024.0)
}

/// The CPU time in seconds of a command that must succeed, and the most memory that it had, or one of its children, in bytes.
pub(super) fn cpu_and_memory_of(command: &mut Command) -> anyhow::Result<(f64, f64)> {
    let before = cpu_of_children()?;
    let memory = peak_of(command)? * 1024.0 * 1024.0;
    Ok((cpu_of_children()? - before, memory))
}

/// A command to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Peak {
    /// Program and arguments.
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// Runs a command, and prints the most memory that it had, or one of its children, in KiB.
#[expect(clippy::print_stdout, reason = "whoever runs it reads the number")]
pub(crate) fn peak(options: &Peak) -> anyhow::Result<()> {
    said(Command::new(&options.command[0]).args(&options.command[1..]))?;
    println!("{}", getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss());
    Ok(())
}

/// What a command that must succeed writes to its standard output.
pub(super) fn output_of(command: &mut Command) -> anyhow::Result<String> {
    Ok(said(command)?.0)
}

/// What a command that must succeed writes to its standard error.
pub(super) fn talk_of(command: &mut Command) -> anyhow::Result<String> {
    Ok(said(command)?.1)
}

/// Both.
fn said(command: &mut Command) -> anyhow::Result<(String, String)> {
    let output = command.stdin(Stdio::null()).output().context("cannot run a program")?;
    let name = command.get_program().to_string_lossy().into_owned();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    anyhow::ensure!(output.status.success(), "{name} failed: {stderr}");
    Ok((stdout, stderr))
}

/// Of all children waited for so far. We run one at a time.
fn cpu_of_children() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6)
}

/// Processes that keep processors busy, until dropped; in any case they end by themselves.
#[derive(Debug)]
pub(super) struct Busy(Vec<Child>);

impl Busy {
    /// Starts `count` of them.
    pub(super) fn start(program: &Path, count: usize) -> anyhow::Result<Busy> {
        let mut busy = Busy(Vec::new());
        for _ in 0..count {
            let child = Command::new(program).args(["busy", "1800"]).stdout(Stdio::null()).spawn();
            busy.0.push(child.context("cannot start a busy process")?);
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended by itself; there is nobody to report to here.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
