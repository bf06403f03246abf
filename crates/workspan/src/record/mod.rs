//! `workspan record`: run a program that carries hooks, and report.

pub mod child;
pub mod memory;
pub mod target;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use workspan_model::{Exit, Machine, Recording};
use workspan_read::{attached, read_snapshot, Attached, Request};
use workspan_wire::shm;

use crate::args::{Clock, Record, RunOptions};
use crate::exit::Outcome;
use crate::{files, machine, output, report};

/// Runs the verb.
pub fn run(args: &Record) -> anyhow::Result<Outcome> {
    let options = &args.options;
    let target = target::find(&args.command[0])?;
    let (recording, outcome) = measure(&args.command, options)?;
    let file = output_file(args, &target);
    let written = files::write(&file, &recording);
    if let Some(view) = workspan_report::report(&recording) {
        report::show(&recording, &view, &options.show, report::To::Stderr)?;
    }
    match written {
        Ok(()) if options.show.json.is_none() => {
            output::talk(&format!("\nrecorded in {}; next: workspan report --html report.html", file.display()));
            Ok(outcome)
        }
        Ok(()) => Ok(outcome),
        Err(error) => {
            output::error(&error);
            let failed = Outcome::Code(i32::from(crate::exit::FAILED));
            Ok(if outcome == Outcome::OK { failed } else { outcome })
        }
    }
}

/// Runs a command as often as asked for. Returns what was recorded, and how the first failing run ended.
pub fn measure(command: &[OsString], options: &RunOptions) -> anyhow::Result<(Recording, Outcome)> {
    let target = target::find(&command[0])?;
    let hooks = target::hooks(&target)?;
    let mut recording = Recording {
        command: command.iter().map(|a| a.to_string_lossy().into_owned()).collect(),
        directory: std::env::current_dir().map(|d| d.to_string_lossy().into_owned()).unwrap_or_default(),
        made_by: env!("CARGO_PKG_VERSION").to_owned(),
        runtime: hooks.runtime,
        made_at: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()),
        machine: machine_for(options),
        ..Recording::default()
    };
    let mut outcome = Outcome::OK;
    for _ in 0..options.repeat {
        let ended = one_run(command, options, &mut recording)?;
        if outcome == Outcome::OK {
            outcome = ended;
        }
        if matches!(ended, Outcome::Signal(_)) {
            // Whoever stops one run stops them all.
            break;
        }
    }
    symbolise(&mut recording, &target);
    Ok((recording, outcome))
}

fn machine_for(options: &RunOptions) -> Machine {
    match options.clock {
        Clock::Real => machine::describe(),
        Clock::Virtual => Machine { ticks_per_second: 1_000_000_000, ..machine::name() },
    }
}

fn one_run(command: &[OsString], options: &RunOptions, recording: &mut Recording) -> anyhow::Result<Outcome> {
    let memory =
        memory::SharedMemory::new(&request(options, &recording.machine)).context("cannot make shared memory")?;
    let ended = child::run(command, &environment(options, &memory))?;
    let snapshot = memory.snapshot();
    match attached(&snapshot).context("cannot read the shared memory")? {
        Attached::Yes => {}
        Attached::No => anyhow::bail!(
            "the hooks of {} did not report: {}",
            Path::new(&command[0]).display(),
            "the program ended before `main`, or may not open /proc/<pid>/fd of its parent"
        ),
        Attached::OtherVersion(version) => anyhow::bail!(
            "the program was built with hooks of wire version {version}, this workspan has {}: build it again \
             with `cargo workspan build`",
            shm::WIRE_VERSION
        ),
    }
    let died = workspan_read::Died { exit: ended.exit, ticks: ended.ticks, cpu: ended.cpu };
    read_snapshot(&snapshot, &died, recording).context("cannot read the shared memory")?;
    Ok(match ended.exit {
        Exit::Code(code) => Outcome::Code(code),
        Exit::Signal(signal) => Outcome::Signal(signal),
    })
}

fn request(options: &RunOptions, machine: &Machine) -> Request {
    let ticks = |nanos: u64| {
        let ticks = u128::from(nanos) * u128::from(machine.ticks_per_second) / 1_000_000_000;
        i64::try_from(ticks).unwrap_or(0)
    };
    #[expect(clippy::cast_possible_truncation, reason = "a small cost in 1/1024 ticks")]
    let virtual_task_cost = (options.virtual_task_cost * 1024.0) as i64;
    Request {
        clock: match options.clock {
            Clock::Real => shm::Clock::Real,
            Clock::Virtual => shm::Clock::Virtual,
        },
        logical_cores: Some(options.logical_cores).filter(|n| *n > 0),
        ticks_per_second: machine.ticks_per_second,
        virtual_task_cost,
        interrupt_ticks: machine.interrupt_ns.map(ticks),
        interrupt_period: ticks(machine.interrupt_period_ns),
        disabled: disabled_features(),
    }
}

/// Witnesses that are not to be used, by name, for comparison and for debugging.
fn disabled_features() -> u32 {
    let text = std::env::var("WORKSPAN_DISABLE").unwrap_or_default();
    let bit = |word: &str| match word.trim() {
        "switch" => shm::Feature::SwitchWitness as u32,
        "interrupt" => shm::Feature::InterruptWitness as u32,
        "run-delay" => shm::Feature::RunDelay as u32,
        _ => 0,
    };
    text.split(',').map(bit).fold(0, |bits, bit| bits | bit)
}

fn environment(options: &RunOptions, memory: &memory::SharedMemory) -> Vec<(OsString, Option<OsString>)> {
    let mut changes = vec![(OsString::from(shm::ENV), Some(memory.path()))];
    if let Some(workers) = options.workers {
        changes.push((OsString::from("RAYON_NUM_THREADS"), Some(workers.to_string().into())));
    }
    changes.extend(crate::cargo::wrapper::restored_environment());
    changes
}

fn output_file(args: &Record, target: &Path) -> PathBuf {
    let asked = &args.options.output;
    if !args.from_cargo {
        return asked.clone();
    }
    // Cargo may run several test executables: each has its own file.
    match std::env::var_os("WORKSPAN_FILE_PER_PROGRAM") {
        None => asked.clone(),
        Some(_) => {
            let stem = target.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            let name = stem.rsplit_once('-').map_or(stem.as_str(), |(name, _)| name).to_owned();
            let base = asked.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            asked.with_file_name(format!("{base}-{name}.wspan"))
        }
    }
}

/// Names the functions around the sites. Of the recording only these names depend on it, so nothing here is an error.
fn symbolise(recording: &mut Recording, target: &Path) {
    let executable = std::fs::read(target).unwrap_or_default();
    // The program that a script starts is not known.
    if executable.starts_with(b"#!") {
        return;
    }
    recording.has_debug_info = workspan_symbols::symbolise(&executable, &mut recording.sites).has_debug_info;
}
