//! `workspan scale`: how a program scales, and what its speedups are lost to.

pub mod pin;
pub mod plan;
pub mod progress;
pub mod runs;

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use workspan_analysis::factored::places;
use workspan_report::scale::{csv, html, json, scale, svg, text, Conditions, Input, Scale};
use workspan_report::shown::shown;
use workspan_report::text::Style;

use crate::args::{self, ScaleOptions};
use crate::cargo::with_all_hooks;
use crate::exit::{self, Outcome};
use crate::overwrite::Overwrites;
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
    Overwrites::new().output(options.files())?;
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
    warnings.extend(runner.status_warning());
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
            Err(error) => warnings.push(format!("idle time and inflation cannot be attributed to sites: {error:#}")),
        }
    }
    drop(progress);
    let conditions = Conditions {
        command: words(&args.command),
        baseline: options.baseline.as_ref().map(|command| words(&command.words)),
        elision: options.elision.as_ref().map(|command| words(&command.words)),
        directory: files::here(),
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
    let errors = view.map(|view| show(&view, options));
    if errors.is_none() {
        output::note("interrupted before there was anything to compare");
    }
    let errors = errors.unwrap_or_default();
    errors.iter().for_each(output::error);
    let ended = if errors.is_empty() { Outcome::OK } else { Outcome::Code(i32::from(exit::FAILED)) };
    Ok(stopped.map_or(ended, Outcome::Signal))
}

/// Times that a program is profiled in full.
const PROFILES: u32 = 3;

fn words(command: &[std::ffi::OsString]) -> Vec<String> {
    command.iter().map(|word| shown(&word.to_string_lossy()).into_owned()).collect()
}

/// Writes everything that is requested; returns what went wrong. What one output lacks does not keep the others from coming.
fn show(view: &Scale, options: &ScaleOptions) -> Vec<anyhow::Error> {
    let (json, csv) = (json(view) + "\n", csv(view));
    let to_stdout = |file: &Option<PathBuf>| file.as_deref() == Some(Path::new("-"));
    let shown = match () {
        () if to_stdout(&options.json) => output::data(&json),
        () if to_stdout(&options.csv) => output::data(&csv),
        () => {
            let style = Style { colour: output::colour_stdout(), top: options.top };
            output::data(&text(view, style, output::unicode()))
        }
    };
    let mut errors: Vec<anyhow::Error> = shown.context("cannot write to standard output").err().into_iter().collect();
    let page = || html(view);
    let drawing = || svg(view);
    let files: [(&Option<PathBuf>, &dyn Fn() -> String); 4] = [
        (&options.json, &|| json.clone()),
        (&options.csv, &|| csv.clone()),
        (&options.svg, &drawing),
        (&options.html, &page),
    ];
    for (file, text) in files.into_iter().filter(|(file, _)| !to_stdout(file)) {
        let Some(file) = file else { continue };
        let written = files::replace(file, text().as_bytes());
        errors.extend(written.with_context(|| format!("cannot write {}", file.display())).err());
    }
    errors
}
