//! `workspan limits`: how parallel a program could be at most.
//!
//! The program runs under an emulator, whose plugin writes what runs into a ring of memory; the analysis reads it on another
//! processor meanwhile. Exit status: [`exit::OK`] once there are limits, however the program ended (which is a warning); by
//! the signal if Ctrl-C ended the run.

pub mod emulator;
pub mod places;
pub mod plugin;
pub mod run;

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{bail, Context};
use workspan_limits::model::{Model, ALL, LANES, NAMED, SEVEN, SEVEN_LANES, SEVEN_NAMED, TRU};
use workspan_limits::result::limits;
use workspan_limits::{x86, Engine, Settings, Stream};
use workspan_report::limits::{csv, html, json, svg, text, Conditions, Input, Limits};
use workspan_report::text::Style;

use crate::args::{self, Models};
use crate::exit::{self, Outcome};
use crate::{files, output};
use emulator::Emulator;
use run::Ended;

/// Runs the verb.
pub fn run(args: &args::Limits) -> anyhow::Result<Outcome> {
    let stdout = Some(Path::new("-"));
    anyhow::ensure!(
        args.json.as_deref() != stdout || args.csv.as_deref() != stdout,
        "--json and --csv cannot both go to standard output: name a file for one of them"
    );
    for file in args.files() {
        files::check_writable(file)?;
    }
    let program = emulator::program(&args.command[0])?;
    let emulator = match emulator::find(args.emulator.as_deref()) {
        Ok(emulator) => emulator,
        Err(missing) => bail!("no emulator to run the program with: {missing}: {}", emulator::FIX),
    };
    match args.models {
        Models::All => analyse::<LANES, NAMED, true>(args, ALL, &emulator, &program),
        Models::Table => analyse::<SEVEN_LANES, SEVEN_NAMED, true>(args, SEVEN, &emulator, &program),
        Models::Tru => analyse::<1, 0, false>(args, TRU, &emulator, &program),
    }
}

fn analyse<const N: usize, const T: usize, const A: bool>(
    args: &args::Limits,
    models: [Model; N],
    emulator: &Emulator,
    program: &Path,
) -> anyhow::Result<Outcome> {
    let memory = usize::try_from(args.memory_limit)?.saturating_mul(1 << 20);
    let engine = Engine::<N, T, A>::new(models, Settings { memory, paths: true });
    let mut stream = Stream::new(engine, args.limit.unwrap_or(u64::MAX));
    let ended = run::run(emulator, program, &args.command, &mut stream)?;
    let found = limits(&stream.engine, &stream.program);
    if found.instructions == 0 {
        let shown = args.command[0].to_string_lossy();
        match ended.signal() {
            Some(signal) if signal == signal_hook::consts::SIGINT => return Ok(Outcome::Signal(signal)),
            _ => bail!("{} ran no instruction of {shown} ({}): is it complete?", emulator.path.display(), ended.status),
        }
    }
    let mut warnings = warnings(&ended, &stream, args);
    if stream.odd() > 0 {
        warnings.push(format!("{} words of the trace made no sense: please report this", stream.odd()));
    }
    let interrupted = ended.signal().filter(|signal| is_request_to_end(*signal) && !ended.stopped);
    let conditions = Conditions {
        command: args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        directory: env::current_dir().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default(),
        made_at: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        made_by: env!("CARGO_PKG_VERSION").to_owned(),
        emulator: emulator.version.clone(),
        exit_code: ended.status.code().filter(|_| !ended.stopped),
        signal: ended.signal().filter(|_| !ended.stopped),
        threads: ended.remarks.processors,
        children: ended.remarks.children,
    };
    let view = workspan_report::limits::limits(&Input {
        conditions: &conditions,
        found: &found,
        places: &places::places(&found, &stream.program),
        complete: !ended.stopped && ended.signal().is_none() && !ended.remarks.replaced,
        wall_ns: u64::try_from(ended.wall.as_nanos()).unwrap_or(u64::MAX),
        warnings: &warnings,
    });
    let errors = show(&view, args);
    errors.iter().for_each(output::error);
    let done = if errors.is_empty() { Outcome::OK } else { Outcome::Code(i32::from(exit::FAILED)) };
    Ok(interrupted.map_or(done, Outcome::Signal))
}

fn is_request_to_end(signal: i32) -> bool {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    [SIGINT, SIGTERM, SIGHUP, SIGQUIT].contains(&signal)
}

/// What to know before relying on the numbers.
fn warnings<const N: usize, const T: usize, const A: bool>(
    ended: &Ended,
    stream: &Stream<N, T, A>,
    args: &args::Limits,
) -> Vec<String> {
    let mut found = Vec::new();
    let remarks = &ended.remarks;
    if ended.stopped && args.limit.is_some_and(|limit| stream.engine.instructions() >= limit) {
        found.push(format!("the program was stopped after {} instructions (--limit)", stream.engine.instructions()));
    } else if ended.stopped {
        found.push("the program was stopped: a critical path is longer than the analysis can count".to_owned());
    } else if let Some(signal) = ended.signal() {
        found.push(format!("the program was ended by {}", workspan_report::words::signal_name(signal)));
        found.extend(unknown_instruction(signal, stream));
    } else if let Some(code) = ended.status.code().filter(|code| *code != 0) {
        found.push(format!("the program ended with status {code}"));
    }
    if remarks.replaced {
        found.push(
            "the program became another one (exec), which was not analysed: name that one on the command line"
                .to_owned(),
        );
    }
    if remarks.children > 0 {
        found.push(format!("processes that the program created were not analysed: {}", remarks.children));
    }
    if remarks.disordered > 0 {
        let times = remarks.disordered;
        found.push(format!("{times} times threads ran side by side: dependences between them may be missing"));
    }
    if stream.program.changed() > 0 {
        let changed = stream.program.changed();
        found.push(format!(
            "{changed} instructions were made or changed while the program ran: they have no source lines"
        ));
    }
    if stream.program.unknown() > 0 {
        let unknown = stream.program.unknown();
        found.push(format!("{unknown} instructions of the code could not be decoded: their dependences are missing"));
    }
    found
}

/// What the emulator may have refused to run.
fn unknown_instruction<const N: usize, const T: usize, const A: bool>(
    signal: i32,
    stream: &Stream<N, T, A>,
) -> Option<String> {
    if signal != signal_hook::consts::SIGILL {
        return None;
    }
    let place = stream.program.place(stream.last()?)?;
    let bytes = places::code_at(&stream.program, place.address).unwrap_or_else(|| place.bytes().to_vec());
    let (name, extension) = x86::name(place.address, &bytes)?;
    Some(format!(
        "the last instruction was `{name}` ({extension}) at {:#x}: the emulator may not know it; \
         build the program for an older processor (`-march=x86-64-v3`, without AVX-512)",
        place.address
    ))
}

/// Writes everything that is requested; returns what went wrong.
fn show(view: &Limits, args: &args::Limits) -> Vec<anyhow::Error> {
    let (json, csv) = (json(view) + "\n", csv(view));
    let to_stdout = |file: &Option<PathBuf>| file.as_deref() == Some(Path::new("-"));
    let shown = match () {
        () if to_stdout(&args.json) => output::data(&json),
        () if to_stdout(&args.csv) => output::data(&csv),
        () => output::data(&text(view, Style { colour: output::colour_stdout(), top: args.top })),
    };
    let mut errors: Vec<anyhow::Error> = shown.context("cannot write to standard output").err().into_iter().collect();
    let (page, drawing) = (|| html(view), || svg(view));
    let outputs: [(&Option<PathBuf>, &dyn Fn() -> String); 4] =
        [(&args.json, &|| json.clone()), (&args.csv, &|| csv.clone()), (&args.svg, &drawing), (&args.html, &page)];
    for (file, text) in outputs.into_iter().filter(|(file, _)| !to_stdout(file)) {
        let Some(file) = file else { continue };
        let written = files::replace(file, text().as_bytes());
        errors.extend(written.with_context(|| format!("cannot write {}", file.display())).err());
    }
    errors
}
