//! `workspan limits`: how parallel a program could be at most.
//!
//! The program runs under an emulator, whose plugin writes what runs into a ring of memory; the analysis reads it on another
//! processor meanwhile ([`analysis`]). Other tracers take its place where there is none ([`tracer`]). Exit status: [`exit::OK`]
//! once there are limits, however the program ended (which is a warning); by the signal if Ctrl-C ended the run.

pub mod analysis;
pub mod code;
pub mod depend;
pub mod emulator;
pub mod lackey;
pub mod places;
pub mod plugin;
pub mod region;
pub mod run;
pub mod step;
pub mod tracer;
pub mod variables;
pub mod warnings;

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{bail, Context};
use workspan_report::limits::{csv, html, json, svg, text, Conditions, Input, Limits};
use workspan_report::shown::shown as harmless;
use workspan_report::text::Style;

use crate::args;
use crate::exit::{self, Outcome};
use crate::{files, output};
use analysis::Plan;

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
    let depend = args.depend.as_deref().map(depend::read).transpose()?;
    let program = emulator::program(&args.command[0])?;
    let tracer = tracer::find(args)?;
    let requested = args.roi.as_deref().map(region::Requested::parse).transpose();
    let requested = requested.map_err(|message| anyhow::anyhow!("--roi: {message}"))?;
    let plan = Plan {
        models: args.models,
        memory: usize::try_from(args.memory_limit)?.saturating_mul(1 << 20),
        limit: args.limit.unwrap_or(u64::MAX),
        watch: region::watch(requested.as_ref()),
    };
    let look_up = || region::look_up(requested.as_ref());
    let (ended, analysed) = analysis::analyse(&plan, &look_up, |feed| tracer.run(&program, &args.command, feed))?;
    let found = &analysed.found;
    let shown = args.command[0].to_string_lossy();
    if found.instructions == 0 {
        let region = requested.as_ref().filter(|_| analysed.seen.1 > 0);
        tracer.check_plugin(&ended)?;
        match (ended.signal(), region) {
            (Some(signal), None) if signal == signal_hook::consts::SIGINT => return Ok(Outcome::Signal(signal)),
            (_, Some(region)) => bail!(
                "nothing of {shown} is in the region of interest ({}): {} instructions ran outside; check the name, and that \
                 the program has symbols (it is not stripped) and the function is not inlined",
                region.text(),
                analysed.seen.1
            ),
            _ => bail!("{} ran no instruction of {shown} ({}): is it complete?", tracer.name(), ended.status),
        }
    }
    let warnings = warnings::warnings(&ended, &analysed, &tracer, args);
    let interrupted = ended.signal().filter(|signal| is_request_to_end(*signal) && !ended.stopped);
    let conditions = Conditions {
        command: args.command.iter().map(|word| harmless(&word.to_string_lossy()).into_owned()).collect(),
        directory: files::here(),
        made_at: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        made_by: env!("CARGO_PKG_VERSION").to_owned(),
        emulator: tracer.text(),
        region: requested.as_ref().map(region::Requested::text),
        exit_code: ended.status.code().filter(|_| !ended.stopped),
        signal: ended.signal().filter(|_| !ended.stopped),
        threads: ended.remarks.processors,
        children: ended.remarks.children,
    };
    let view = workspan_report::limits::limits(&Input {
        conditions: &conditions,
        found,
        places: &places::places(found, &analysed.program),
        variables: &variables::variables(found, &analysed.program),
        depend: depend.as_ref(),
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
