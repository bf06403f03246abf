//! `workspan scale`: how a program scales, and what its speedups are lost to.

pub mod pin;
pub mod plan;
pub mod progress;
pub mod runs;

use std::path::Path;
use std::time::SystemTime;
use std::{env, io};

use anyhow::Context;
use workspan_analysis::factored::places;
use workspan_report::scale::{csv, html, json, scale, svg, text, Conditions, Input, Scale};
use workspan_report::text::Style;

use crate::args::{self, ScaleOptions};
use crate::cargo::with_all_hooks;
use crate::exit::Outcome;
use crate::{files, machine, output};
use plan::Plan;
use runs::{Profiled, Runner};

/// Runs the verb.
pub fn run(args: &args::Scale) -> anyhow::Result<Outcome> {
    let options = &args.options;
    let stdout = Some(Path::new("-"));
    anyhow::ensure!(
        options.json.as_deref() != stdout || options.csv.as_deref() != stdout,
        "--json and --csv cannot both go to standard output: name a file for one of them"
    );
    for file in options.files() {
        files::check_writable(file)?;
    }
    let (described, _) = machine::describe();
    let plan = Plan::new(&args.command, options, described.cpus);
    let runner = Runner::new(options)?;
    let times = if options.no_sites || plan.workers.last().is_none_or(|most| *most < 2) {
        0
    } else {
        options.repeat.min(PROFILES)
    };
    let (done, mut progress) = runner.measure(&plan, described.ticks_per_second, 2 * usize::try_from(times)?)?;
    let mut warnings = done.warnings.clone();
    warnings.extend(done.off_processor(&plan));
    let mut stopped = done.stopped;
    let mut profiled = None;
    if times > 0 && stopped.is_none() {
        // What cargo has built for this has no hooks but those for idle time; beside it lies one that has all.
        let program = |program: &std::ffi::OsStr| match args.from_cargo {
            true => with_all_hooks(Path::new(program)).into(),
            false => program.to_owned(),
        };
        match runner.profile(&plan, &program, times, &mut progress) {
            Ok(Some(found)) => profiled = Some(found),
            Ok(None) => stopped = Some(signal_hook::consts::SIGINT),
            // The times are there whatever becomes of the rest.
            Err(error) => warnings.push(format!("where idle time and inflation arise is not known: {error:#}")),
        }
    }
    drop(progress);
    let conditions = Conditions {
        command: words(&args.command),
        baseline: options.baseline.as_ref().map(|command| words(&command.words)),
        elision: options.elision.as_ref().map(|command| words(&command.words)),
        directory: env::current_dir().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default(),
        made_at: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        made_by: env!("CARGO_PKG_VERSION").to_owned(),
        runtime: done.runtime.clone(),
        processor: described.processor,
        cpus: described.cpus,
        system: described.system,
        repeat: options.repeat,
        warm_up: options.warm_up,
        pinned: options.pin,
    };
    let most = plan.workers.last().copied().unwrap_or(1);
    let located = profiled
        .as_ref()
        .and_then(|Profiled { recording, one, many }| Some((recording, places(recording, one, many, most)?)));
    let view = scale(Input {
        conditions: &conditions,
        measured: &done.measured(&plan),
        places: located.as_ref().map(|(recording, places)| (*recording, places)),
        complete: stopped.is_none(),
        warnings: &warnings,
    });
    match view {
        Some(view) => show(&view, options)?,
        None => output::note("interrupted before there was anything to compare"),
    }
    Ok(stopped.map_or(Outcome::OK, Outcome::Signal))
}

/// Times that a program is profiled in full.
const PROFILES: u32 = 3;

fn words(command: &[std::ffi::OsString]) -> Vec<String> {
    command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn show(view: &Scale, options: &ScaleOptions) -> anyhow::Result<()> {
    let write = |file: &Path, text: &str| {
        files::replace(file, text.as_bytes(), false).with_context(|| format!("cannot write {}", file.display()))
    };
    let mut to_stdout = None;
    for (file, text) in [(&options.json, json(view) + "\n"), (&options.csv, csv(view))] {
        match file {
            Some(file) if file.as_os_str() == "-" => to_stdout = Some(text),
            Some(file) => write(file, &text)?,
            None => {}
        }
    }
    if let Some(file) = &options.svg {
        write(file, &svg(view))?;
    }
    if let Some(file) = &options.html {
        write(file, &html(view))?;
    }
    let style = Style { colour: output::colour_stdout(), top: options.top };
    output::data(&to_stdout.unwrap_or_else(|| text(view, style, speaks_unicode())))
        .map_err(|error: io::Error| anyhow::Error::new(error).context("cannot write the answer"))
}

/// Whether the terminal's character set has more than ASCII.
fn speaks_unicode() -> bool {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    locale.is_some_and(|locale| locale.to_lowercase().replace('-', "").contains("utf8"))
}
