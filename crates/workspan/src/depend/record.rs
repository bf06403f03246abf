//! Runs a program, and follows its dependences.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::Context;
use nix::sys::memfd::{memfd_create, MFdFlags};
use workspan_depend::effects::Named;
use workspan_depend::engine::Engine;
use workspan_depend::merge::merge;
use workspan_depend::profile::Profile;
use workspan_depend::{file, verdict};
use workspan_model::Exit;
use workspan_trace::drain::Memory;
use workspan_trace::shm;

use super::drain::{self, Cut, Drained};
use super::report;
use crate::args::depend::Depend;
use crate::exit::{Outcome, Status, FAILED};
use crate::instrument::{check, companion};
use crate::record::child;
use crate::{files, output};

/// Runs the verb.
pub fn run(args: &Depend) -> anyhow::Result<Outcome> {
    let options = &args.options;
    files::check_writable(&options.output)?;
    report::check_writable(&options.shown)?;
    let effects = options.effects.as_deref().map(read_effects).transpose()?.unwrap_or_default();
    let earlier = if options.add { earlier(&options.output)? } else { None };
    let name = args.command[0].to_string_lossy().into_owned();
    let is_there = companion::find(Path::new(&args.command[0])).is_some();
    if is_there && args.command.iter().all(|word| check::is_native(Path::new(word))) {
        return Err(Status { code: FAILED, message: not_built(&name) }.into());
    }
    let program = companion::of_program(Path::new(&args.command[0]));
    let mut command = args.command.clone();
    if let Some(program) = &program {
        command[0] = program.clone().into_os_string();
    }
    let trace = File::from(memfd_create("workspan-trace", MFdFlags::MFD_CLOEXEC)?);
    let memory = Memory::new(&trace, options.buffer).context("cannot map the shared memory (see `workspan doctor`)")?;
    let variable: OsString = format!("/proc/{}/fd/{}", std::process::id(), trace.as_raw_fd()).into();
    let environment = [(OsString::from(shm::ENV), Some(variable))];
    let most = options.memory_limit << 20;
    let mut engine = Engine::new();
    (engine.source.effects, engine.granularity) = (effects, options.granularity);
    let (ended, mut drained) = drain::during(&memory, most, engine, || child::run(&command, &environment));
    let ended = ended?;
    let header = memory.header();
    if header.claimed.load(Relaxed) == 0 {
        let message = match header.other_version.load(Relaxed) {
            0 => not_built(&name),
            version => format!(
                "{name} was built by another workspan (events of version {version}, this one reads {}): build it again",
                workspan_trace::VERSION
            ),
        };
        return Err(Status { code: FAILED, message }.into());
    }
    if drained.engine.source.modules_early() == 0 {
        let message = without_companion(&name, Path::new(&args.command[0]), program.is_some());
        return Err(Status { code: FAILED, message }.into());
    }
    let mut profile = verdict::profile(&mut drained.engine);
    profile.runs = vec![args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect()];
    let (outcome, status) = match ended.exit {
        Exit::Code(code) => (Outcome::Code(code), code),
        Exit::Signal(signal) => (Outcome::Signal(signal), 128 + signal),
    };
    profile.status = status;
    profile.problems = problems(&drained, ended.exit, options.memory_limit);
    let refused = header.refused.load(Relaxed);
    if refused > 0 {
        profile.problems.push(format!("{refused} more processes of the program are not in the profile"));
    }
    readable(&mut profile);
    if let Some(earlier) = earlier {
        profile = merge(earlier, profile);
    }
    write(&options.output, &profile)?;
    for problem in &profile.problems {
        output::note(problem);
    }
    report::show(&profile, &options.shown, false)?;
    output::note(&format!("wrote {0}; see `workspan depend report {0}`", output::path(&options.output)));
    Ok(outcome)
}

fn not_built(name: &str) -> String {
    format!(
        "{name} was not built by `workspan build`: clean its build, type `workspan build -- COMMAND…` with the command that \
         builds it, and run this again"
    )
}

/// The program ran without code for dependences: mostly it was copied, and what belongs to it was not.
fn without_companion(name: &str, program: &Path, is_there: bool) -> String {
    let beside = companion::beside(&companion::resolved(program).unwrap_or_else(|| program.to_owned()));
    let file = beside.file_name().unwrap_or_default().to_string_lossy();
    if is_there {
        return format!("{name} has a companion file {file} without code for dependences: build it again by `workspan build -- COMMAND…`");
    }
    format!(
        "{name} has no companion file {file}, which `workspan build` writes beside it: copy that file too, or build again by \
         `workspan build -- COMMAND…` without --no-depend"
    )
}

/// The profile that another run is added to.
fn earlier(file: &Path) -> anyhow::Result<Option<Profile>> {
    if !file.exists() {
        return Ok(None);
    }
    report::read(file).map(Some)
}

fn read_effects(file: &Path) -> anyhow::Result<Named> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", output::path(file)))?;
    Named::parse(&text).map_err(|line| {
        let file = output::path(file);
        anyhow::anyhow!("{file}:{line}: write `NAME none`, or io, random, state, unknown in place of none")
    })
}

/// Gives functions and variables the names of the source.
fn readable(profile: &mut Profile) {
    let named = |name: &mut String| {
        if let Some(found) = workspan_symbols::function_of_symbol(name) {
            *name = found;
        }
    };
    profile.calls.iter_mut().for_each(|call| named(&mut call.callee));
    profile.boxes.iter_mut().for_each(|(name, _)| named(name));
    for each in &mut profile.loops {
        each.reductions.iter_mut().for_each(|one| variable(&mut one.variable));
        each.private.iter_mut().for_each(|one| variable(&mut one.variable));
        each.inductions.iter_mut().for_each(|(name, _)| variable(name));
        each.blockers.iter_mut().for_each(|one| variable(&mut one.variable));
    }
    profile.dependences.iter_mut().for_each(|one| variable(&mut one.variable));
    profile.paths.edges.iter_mut().for_each(|one| variable(&mut one.variable));
}

/// A static variable of C++ or Rust as its source calls it; what a function returned keeps its parentheses.
fn variable(name: &mut String) {
    let (symbol, end) = name.strip_suffix("()").map_or((name.as_str(), ""), |symbol| (symbol, "()"));
    if !symbol.starts_with("_Z") && !symbol.starts_with("_R") {
        return;
    }
    let Some(found) = workspan_symbols::function_of_symbol(symbol) else {
        return;
    };
    // Of a function, or of a module of Rust: its last word.
    let is_rust = symbol.starts_with("_R") || symbol.contains("17h");
    let found = match found.rsplit_once("::") {
        Some((before, last)) if is_rust || before.ends_with(')') || symbol.starts_with("_ZZ") => last.to_owned(),
        _ => found,
    };
    *name = found + end;
}

/// What the profile does not have.
fn problems(drained: &Drained, exit: Exit, limit: u64) -> Vec<String> {
    let mut found = Vec::new();
    if let Exit::Signal(signal) = exit {
        found.push(format!("the program was ended by signal {signal}: the profile ends there"));
    }
    match drained.cut {
        Some(Cut::Memory) => found.push(format!(
            "the history of the program's memory needs more than {limit} MiB: the profile ends there (see --memory-limit)"
        )),
        Some(Cut::Signal) => {
            found.push("a signal has ended the analysis: what the program did last is not in the profile".to_owned());
        }
        None => {}
    }
    if drained.unknown > 0 {
        found.push(format!("{} buffers hold events that are not understood", drained.unknown));
    }
    let source = &drained.engine.source;
    for module in &source.late {
        found.push(format!("{module} was built without code for dependences: its loops are not judged"));
    }
    for module in &source.without_lines {
        found.push(format!("{module} has no debug information: build it with -g"));
    }
    found
}

fn write(path: &Path, profile: &Profile) -> anyhow::Result<()> {
    if path.exists() {
        let bytes = std::fs::read(path).unwrap_or_default();
        anyhow::ensure!(
            bytes.is_empty() || !matches!(file::decode(&bytes), Err(file::Problem::Other)),
            "{} is there already, and is no dependence profile: name another file with -o",
            output::path(path)
        );
        let old = files::with_suffix(path, ".old");
        std::fs::rename(path, &old).with_context(|| format!("cannot move {} aside", output::path(path)))?;
    }
    files::replace(path, &file::encode(profile)).with_context(|| format!("cannot write {}", output::path(path)))
}
