//! `workspan record`: run a program that carries hooks or uses OpenMP, and report.

pub mod child;
pub mod crash;
pub mod events;
pub mod idle;
pub mod interpreter;
pub mod memory;
pub mod output;
pub mod profiled;
pub mod progress;
pub mod samples;
pub mod spool;
pub mod strands;
pub mod symbols;
pub mod target;
pub mod tool;

use std::ffi::OsString;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

use anyhow::Context;
use workspan_analysis::calls::DEFAULT_STEAL;
use workspan_events::Event;
use workspan_model::{ContextId, Ending, Exit, Machine, Recording};
use workspan_read::trouble::Trouble;
use workspan_read::{attached, read_snapshot, Attached, Request};
use workspan_wire::shm;

use crate::args::{Clock, Record, RunOptions, DEFAULT_FILE};
use crate::counters::{self, Counts, Wanted};
use crate::exit::{Outcome, Status};
use crate::machine::Pauses;
use crate::overwrite::Overwrites;
use crate::runtime::{Around, Environment, Runtime, Variable};
use crate::what_if::{self, Answered};
use crate::{files, machine, merge, openmp, output as messages, report, signals};

/// Runs the verb.
pub fn run(args: &Record) -> anyhow::Result<Outcome> {
    let options = &args.options;
    let target = target::of_command(&args.command)?;
    if output::per_program(args) {
        if output::is_documentation_test(&target) {
            // Without a runner rustdoc sets it, so that each example has a process of its own.
            let itself = ("RUSTDOC_DOCTEST_BIN_PATH".into(), Some(target.into()));
            return unrecorded(&args.command, vec![itself]);
        }
        if target::look(&target)?.is_none() {
            let message = format!(
                "{} uses neither rayon, OpenMP, oneTBB nor threads: it runs without a recording",
                target.display()
            );
            messages::note(&message);
            return unrecorded(&args.command, Vec::new());
        }
    }
    let file = output::file(args, &target);
    let read = options.tool.iter().fold(Overwrites::new().input(&target), |read, library| read.input(library));
    read.new_recording(&file)?.output(options.show.files())?;
    for file in
        iter::once(&file).chain(&options.show.html).chain(options.show.json.iter().filter(|f| *f != Path::new("-")))
    {
        files::check_writable(file)?;
    }
    if let Some(library) = &options.tool {
        tool::check(library)?;
    }
    if options.strands {
        strands::check_writable(&file)?;
    }
    let measured = measure_into(&args.command, options, &file)?;
    let outcome = measured.outcome;
    // The program has run: whatever fails now, how it ended is reported.
    let (errors, kept) = publish(measured, &file, options);
    errors.iter().for_each(messages::error);
    let failed = Outcome::Code(i32::from(crate::exit::FAILED));
    let well = errors.is_empty() && kept == strands::Kept::All;
    Ok(if well || outcome != Outcome::OK { outcome } else { failed })
}

/// Writes the recording and the report; returns what went wrong, and whether strands were lost. The report comes even if the
/// recording cannot be written.
fn publish(measured: Measured, file: &Path, options: &RunOptions) -> (Vec<anyhow::Error>, strands::Kept) {
    let Measured { recording, outcome: _, logs, seen: _ } = measured;
    let recording = &recording;
    let mut kept = strands::Kept::All;
    let mut written = files::write(file, recording).and_then(|()| strands::keep_former(file));
    if options.strands {
        written = written.and_then(|()| {
            kept = strands::write(recording, &logs, file)?;
            Ok(())
        });
    }
    // Whoever wants us to end does not want what takes long.
    let with_strands = (options.strands && written.is_ok() && !signals::stopped()).then_some(file);
    let mut errors = Vec::new();
    if let Some(mut view) = report::judged(recording, with_strands, &options.show) {
        let answered = if signals::stopped() { Answered::default() } else { answer(recording, &logs, options) };
        view.what_if = answered.answers;
        errors = answered.errors;
        let page = with_strands.filter(|_| options.show.html.is_some());
        let live = page.and_then(|file| report::live_beside(file, recording));
        written = report::show(recording, &view, live.as_ref(), &options.show, report::To::Stderr).and(written);
    }
    match written {
        Ok(()) => tell_where(recording, file, options),
        Err(error) => errors.push(error),
    }
    (errors, kept)
}

/// Reports where the recording is, and what repeated runs amount to.
fn tell_where(recording: &Recording, file: &Path, options: &RunOptions) {
    if options.show.json.is_some() {
        return;
    }
    if options.strands && recording.runs.len() > 1 && !signals::stopped() {
        match merge::in_a_line(file) {
            Ok(line) => messages::message(&format!("\n{line}")),
            Err(error) => messages::note(&format!("warning: the runs cannot be merged: {error:#}")),
        }
    }
    let name = if file == Path::new(DEFAULT_FILE) { String::new() } else { format!(" {}", messages::quoted(file)) };
    let shown = messages::path(file);
    messages::message(&format!("\nrecorded in {shown}; next: workspan report{name} --html report.html"));
}

/// Answers what was asked before the run; of several runs, for the typical one.
fn answer(recording: &Recording, logs: &[strands::RunLog], options: &RunOptions) -> Answered {
    let typical = workspan_report::typical_run(recording).unwrap_or(0);
    let logged = (1..).zip(recording.runs.iter().zip(logs)).nth(typical);
    logged.map_or_else(Answered::default, |(number, (run, log))| {
        what_if::after_run(&options.what_if, recording, number, run, log)
    })
}

/// Runs one of several programs that cargo runs, as it is.
fn unrecorded(command: &[OsString], mut environment: Vec<Variable>) -> anyhow::Result<Outcome> {
    environment.extend(crate::cargo::wrapper::restored_environment());
    let ended = child::run(command, &environment)?;
    Ok(outcome(ended.exit))
}

fn outcome(exit: Exit) -> Outcome {
    match exit {
        Exit::Code(code) => Outcome::Code(code),
        Exit::Signal(signal) => Outcome::Signal(signal),
    }
}

/// What was recorded.
#[derive(Debug)]
pub struct Measured {
    /// The recording.
    pub recording: Recording,
    /// How the first failing run ended.
    pub outcome: Outcome,
    /// What each run has logged, if that was requested.
    pub logs: Vec<strands::RunLog>,
    /// Where serial code of all runs was seen.
    seen: Vec<samples::Seen>,
}

impl Measured {
    /// The signal that ended the program, if one did.
    fn outcome_signal(&self) -> Option<i32> {
        match self.outcome {
            Outcome::Signal(signal) => Some(signal),
            Outcome::Code(_) => None,
        }
    }
}

/// Runs a command as often as requested. Returns what was recorded, and how the first failing run ended.
pub fn measure(command: &[OsString], options: &RunOptions) -> anyhow::Result<(Recording, Outcome)> {
    let measured = measure_into(command, options, &options.output)?;
    Ok((measured.recording, measured.outcome))
}

/// The same. What is logged is kept beside `file` until it is converted.
pub fn measure_into(command: &[OsString], options: &RunOptions, file: &Path) -> anyhow::Result<Measured> {
    let mut session = Session::new(command, options, file)?;
    let wanted = Wanted::only(session.events.clone());
    for _ in 0..options.repeat {
        if !session.run_counting(&wanted)?.0 {
            break;
        }
    }
    Ok(session.finish())
}

/// A command that is run as often as somebody wants.
#[derive(Debug)]
pub struct Session<'a> {
    program: Program<'a>,
    target: PathBuf,
    options: &'a RunOptions,
    pauses: Pauses,
    /// Counted by context.
    events: Vec<Event>,
    /// Where logs are kept.
    folder: PathBuf,
    measured: Measured,
}

impl<'a> Session<'a> {
    /// Before the first run. What is logged is kept beside `file` until it is converted.
    pub fn new(command: &'a [OsString], options: &'a RunOptions, file: &Path) -> anyhow::Result<Session<'a>> {
        let target = target::of_command(command)?;
        let events = counters::named(options.events.as_deref())?;
        let program = Program::new(command, &target, options)?;
        let (machine, pauses) = machine_for(options);
        let recording = Recording {
            command: command.iter().map(|a| a.to_string_lossy().into_owned()).collect(),
            directory: files::here(),
            made_by: env!("CARGO_PKG_VERSION").to_owned(),
            runtime: program.runtime.describe(),
            made_at: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            machine,
            ..Recording::default()
        };
        let beside = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Beside a device is no place for files.
        let special = fs::metadata(file).is_ok_and(|found| !found.is_file());
        #[expect(clippy::disallowed_methods, reason = "files in it get names that nobody can foresee")]
        let folder = if special { env::temp_dir() } else { beside.to_owned() };
        let measured = Measured { recording, outcome: Outcome::OK, logs: Vec::new(), seen: Vec::new() };
        Ok(Session { program, target, options, pauses, events, folder, measured })
    }

    /// Runs it once more. False if a signal ended it: whoever stops one run stops them all.
    pub fn run(&mut self) -> anyhow::Result<bool> {
        let Session { program, options, pauses, events, folder, measured, .. } = self;
        let spool = options.logs_strands().then(|| spool::Spool::new(folder)).transpose();
        let spool = spool.with_context(|| format!("cannot keep strands in {}", folder.display()))?;
        let Measured { recording, seen, .. } = measured;
        let (ended, log) = one_run(program, options, *pauses, events, recording, seen, spool)?;
        measured.logs.extend(log);
        if measured.outcome == Outcome::OK {
            measured.outcome = ended;
        }
        Ok(!matches!(ended, Outcome::Signal(_)) && !signals::stopped())
    }

    /// Runs it once more, and has its recording know what was counted in the whole of it. Returns whether there is to be
    /// another run, and what was counted.
    pub fn run_counting(&mut self, wanted: &Wanted) -> anyhow::Result<(bool, Counts)> {
        if wanted.is_empty() {
            return Ok((self.run()?, Vec::new()));
        }
        let (goes_on, counts) = wanted.during(|| self.run());
        self.tell_whole(wanted.named_of(&counts).map(|count| count.as_ref().ok().map(|(value, _)| *value)));
        Ok((goes_on?, counts))
    }

    /// How often each event came in all of the run before.
    fn tell_whole(&mut self, counts: impl Iterator<Item = Option<f64>>) {
        if let Some(run) = self.measured.recording.runs.last_mut() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count; saturates")]
            let whole = |count: Option<f64>| count.map(|count| count.round() as u64);
            run.events.iter_mut().zip(counts).for_each(|(event, count)| event.whole = whole(count));
        }
    }

    /// No more runs.
    pub fn finish(self) -> Measured {
        let Session { program, target, mut measured, .. } = self;
        if program.is_swapped() && workspan_report::crashed(measured.outcome_signal()) {
            crash::explain(program.command, program.environment.stand_in.as_ref());
        }
        if program.is_wrapped() {
            symbols::name_program(&mut measured.recording, &target);
        }
        let leads_to = symbols::complete(&mut measured.recording, &target);
        samples::name(&mut measured.recording, &target, std::mem::take(&mut measured.seen), &leads_to);
        for context in measured.logs.iter_mut().flat_map(|log| &mut log.contexts) {
            *context = leads_to.get(context.index()).copied().unwrap_or(ContextId::ROOT);
        }
        measured
    }
}

/// What is to be run, and how.
#[derive(Debug)]
struct Program<'c> {
    command: &'c [OsString],
    /// The file that carries hooks or uses OpenMP.
    path: PathBuf,
    runtime: Box<dyn Runtime>,
    environment: Environment,
    streams: child::Streams<'c>,
}

impl<'c> Program<'c> {
    fn new(command: &'c [OsString], target: &Path, options: &RunOptions) -> anyhow::Result<Program<'c>> {
        let runtime = target::runtime(target, options.idle_only)?;
        let wrapped = target::find(&command[0])? != target;
        let environment = runtime.environment(target, Around { wrapped, options })?;
        Ok(Program { command, path: target.to_owned(), runtime, environment, streams: child::Streams::Ours })
    }

    /// True if the command starts something else first.
    fn is_wrapped(&self) -> bool {
        target::find(&self.command[0]).is_ok_and(|first| first != self.path)
    }

    /// True if a runtime runs it that is not its own.
    fn is_swapped(&self) -> bool {
        self.environment.stand_in.is_some()
    }

    /// Why nothing was recorded.
    fn silence(&self) -> String {
        let name = Path::new(&self.command[0]).display().to_string();
        if target::is_privileged(&self.path) {
            return format!(
                "{name} runs with other rights than yours (set-uid, set-gid or file capabilities): Workspan's hooks sleep \
                 in such programs; profile a copy without (cp {name} ./copy)"
            );
        }
        self.runtime.silence(&name)
    }
}

fn machine_for(options: &RunOptions) -> (Machine, Pauses) {
    match options.clock {
        Clock::Real => machine::describe(),
        Clock::Virtual => (Machine { ticks_per_second: 1_000_000_000, ..machine::name() }, Pauses::default()),
    }
}

fn one_run(
    program: &Program<'_>,
    options: &RunOptions,
    pauses: Pauses,
    events: &[Event],
    recording: &mut Recording,
    seen: &mut Vec<samples::Seen>,
    spool: Option<spool::Spool>,
) -> anyhow::Result<(Outcome, Option<strands::RunLog>)> {
    let request = Request {
        events: events.iter().map(events::asked).collect(),
        ..request(options, &*program.runtime, &recording.machine, pauses)
    };
    let mut memory =
        memory::SharedMemory::new(&request).context("cannot make shared memory (see `workspan doctor`)")?;
    if program.is_wrapped() {
        memory.inherit().context("cannot share the memory (see `workspan doctor`)")?;
    }
    let began = SystemTime::now();
    let run = || child::run_with(program.command, &environment(program, options, &memory), program.streams);
    let sampled = || match request.segments {
        true => {
            let (ended, samples) = samples::Samples::during(run);
            (ended, Some(samples))
        }
        false => (run(), None),
    };
    let (ended, samples, spool) = match spool {
        Some(mut spool) => {
            let (ended, samples) = spool.during(&memory, sampled).context("cannot map the shared memory")?;
            (ended?, samples, Some(spool))
        }
        None => {
            let (ended, samples) = sampled();
            (ended?, samples, None)
        }
    };
    if program.is_swapped() {
        openmp::leftover::remove_since(began);
    }
    let snapshot = memory.snapshot();
    let silent = |message: String| anyhow::Error::new(Status { code: status_of(ended.exit), message });
    match attached(&snapshot).context("cannot read the shared memory")? {
        Attached::Yes => {}
        Attached::No => return Err(silent(program.silence())),
        Attached::OtherVersion(version) => {
            return Err(silent(format!(
                "the program was built with hooks of wire version {version}, this workspan has {}: build it again \
                 with `cargo workspan build`",
                shm::WIRE_VERSION
            )))
        }
    }
    let died = workspan_read::Died { exit: ended.exit, ticks: ended.ticks, cpu: ended.cpu };
    let contexts = read_snapshot(&snapshot, &died, recording).context("cannot read the shared memory")?;
    match samples {
        Some(Ok(samples)) => {
            let segments = workspan_read::segments::read(&snapshot, &contexts, recording);
            seen.extend(samples.seen(&segments.context("cannot read the shared memory")?));
        }
        Some(Err(refused)) if recording.runs.len() == 1 => messages::note(&format!(
            "serial code is named by the constructs around it, as the kernel does not sample the program: {refused}"
        )),
        _ => {}
    }
    if let Some(run) = recording.runs.last().filter(|run| run.exit == Exit::Code(0) && run.ending == Ending::Unseen) {
        if run.other_processes > 0 && run.tasks() == 0 {
            messages::note(
                "warning: the program went on in a process that it has forked (a daemon), which Workspan does not follow: run it in \
                 the foreground",
            );
        }
    }
    events::read(&snapshot, &contexts, events, recording).context("cannot read the shared memory")?;
    if let Some(library) = &options.tool {
        tool::report(library, &snapshot)?;
    }
    tell_trouble(workspan_read::trouble::trouble(&snapshot).context("cannot read the shared memory")?);
    let state = workspan_read::log::state(&snapshot).context("cannot read the shared memory")?;
    let log = spool.map(|spool| strands::RunLog { spool, contexts, state });
    Ok((outcome(ended.exit), log))
}

fn tell_trouble(Trouble { impatient, unfollowed, unordered, unknown_tbb }: Trouble) {
    if unknown_tbb > 0 {
        messages::note(&format!(
            "warning: the program's oneTBB has interface version {unknown_tbb}, which this workspan does not know: the tasks of oneTBB are \
             not in the report, and what they did is missing (use a newer workspan, or oneTBB 2021 to 2023)"
        ));
    }
    if impatient > 0 {
        messages::note(&format!(
            "warning: --logical-cores: {impatient} times a thread went on beside another, having waited for its turn, two seconds at first: \
             the program waits in a way that nobody sees (a spinning flag, say)"
        ));
    }
    if unordered > 0 {
        messages::note(&format!(
            "warning: {unordered} waits of a loop's iterations for others (doacross) have no order in the report: the loop has too many \
             iterations or dimensions, or is too far from the one before (nowait); its span may be too short"
        ));
    }
    if unfollowed > 0 {
        messages::note(&format!(
            "warning: {unfollowed} changes of tasks were skipped, and what they did counts for the tasks before: another thread was \
             stopped in the middle for longer than two seconds"
        ));
    }
}

/// The program's status, or our own failure if it had none to report.
fn status_of(exit: Exit) -> u8 {
    let code = match exit {
        Exit::Code(code) => code,
        Exit::Signal(signal) => 128 + signal,
    };
    u8::try_from(code & 0xff).ok().filter(|code| *code != 0).unwrap_or(crate::exit::FAILED)
}

fn request(options: &RunOptions, runtime: &dyn Runtime, machine: &Machine, pauses: Pauses) -> Request {
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
        logical_cores: runtime.logical_cores(options).filter(|cores| *cores > 0),
        // One worker of a pool that says it has more, where both are requested.
        answered_threads: options.logical_cores.filter(|cores| *cores > 1 && options.workers == Some(1)),
        ticks_per_second: machine.ticks_per_second,
        virtual_task_cost,
        interrupt_ticks: machine.interrupt_ns.map(ticks),
        interrupt_period: ticks(machine.interrupt_period_ns),
        pause_ticks: ticks(pauses.longest_ns),
        pause_ppm: pauses.ppm,
        disabled: disabled_features(),
        log: options.logs_strands(),
        idle_only: options.idle_only,
        steal_ticks: steal_ticks(options, machine),
        segments: options.clock == Clock::Real && !options.idle_only,
        events: Vec::new(),
    }
}

/// What a steal costs in burdened spans, as many ticks as are that time at least: requested, measured, or assumed. With the
/// virtual clock, whose ticks are no time, it costs nothing unless requested.
fn steal_ticks(options: &RunOptions, machine: &Machine) -> i64 {
    let nanos = match (options.steal, options.clock, machine.steal_ns) {
        (Some(asked), _, _) => asked,
        (None, Clock::Virtual, _) => 0,
        (None, Clock::Real, 0) => DEFAULT_STEAL.0.unsigned_abs(),
        (None, Clock::Real, measured) => measured,
    };
    let ticks = (u128::from(nanos) * u128::from(machine.ticks_per_second)).div_ceil(1_000_000_000);
    i64::try_from(ticks).unwrap_or(0)
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

fn environment(program: &Program<'_>, options: &RunOptions, memory: &memory::SharedMemory) -> Vec<Variable> {
    let mut changes = vec![(OsString::from(shm::ENV), Some(memory.path()))];
    changes.extend(options.tool.as_deref().and_then(tool::variable));
    changes.extend(program.environment.variables.iter().cloned());
    changes.extend(crate::cargo::wrapper::restored_environment());
    changes
}
