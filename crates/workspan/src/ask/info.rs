//! `workspan info`: what a recording holds and how it was made.
//!
//! The JSON form has the keys of [`as_json`]; keys may be added, none is removed or redefined.

use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::{json, Value};
use workspan_model::{Clock, Ending, Exit, Feature, Recording, Run};
use workspan_report::shown::shown;
use workspan_store::Reader;

use crate::exit::Outcome;
use crate::files::{self, Opened};
use crate::table::{self, Align};
use crate::{args, output, strands, time};

/// Runs the verb.
pub fn run(args: &args::Info) -> anyhow::Result<Outcome> {
    let opened = files::read(&args.file)?;
    let strands = Strands::beside(&args.file, opened.recording.runs.len());
    let text = if args.json {
        format!("{:#}\n", as_json(&args.file, &opened, &strands))
    } else {
        as_text(&args.file, &opened, &strands)
    };
    output::data(&text)?;
    Ok(Outcome::OK)
}

/// What there is of strands beside a recording.
struct Strands {
    there: bool,
    /// By run.
    problems: Vec<String>,
}

impl Strands {
    /// As far as it shows without reading them.
    fn beside(file: &Path, runs: usize) -> Strands {
        let Ok(folder) = strands::folder(file) else {
            return Strands { there: false, problems: Vec::new() };
        };
        let problem = |number: u32| match Reader::open(&folder, number) {
            Ok(reader) => Some(format!("run {number}: {}", reader.known_problem()?)),
            Err(error) => Some(format!("run {number}: {error}")),
        };
        let runs = u32::try_from(runs).unwrap_or(u32::MAX);
        Strands { there: true, problems: (1..=runs).filter_map(problem).collect() }
    }
}

fn as_json(file: &Path, opened: &Opened, strands: &Strands) -> Value {
    let r = &opened.recording;
    let machine = &r.machine;
    json!({
        "schema_version": 1,
        "file": file.to_string_lossy(),
        "bytes": opened.bytes,
        "format": { "major": opened.format.0, "minor": opened.format.1 },
        "problems": opened.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "command": r.command,
        "directory": r.directory,
        "made_at": time::rfc3339(r.made_at),
        "made_by": r.made_by,
        "runtime": r.runtime,
        "machine": {
            "processor": machine.processor,
            "cpus": machine.cpus,
            "system": machine.system,
            "ticks_per_second": machine.ticks_per_second,
            "interrupt_ns": machine.interrupt_ns,
            "interrupt_period_ns": machine.interrupt_period_ns,
            "steal_ns": machine.steal_ns,
        },
        "has_debug_info": r.has_debug_info,
        "debug_info_problem": r.debug_info_problem,
        "sites": r.sites.len(),
        "contexts": r.contexts.len(),
        "complete": complete(opened) && strands.problems.is_empty(),
        "strands": strands.there.then(|| json!({ "problems": strands.problems })),
        "runs": r.runs.iter().map(run_json).collect::<Vec<_>>(),
    })
}

fn run_json(run: &Run) -> Value {
    let (code, signal) = match run.exit {
        Exit::Code(code) => (Some(code), None),
        Exit::Signal(signal) => (None, Some(signal)),
    };
    json!({
        "clock": clock(run.clock),
        "exit_code": code,
        "signal": signal,
        "ending": ending(run.ending),
        "complete": run.complete(),
        "wall_ns": run.wall.0,
        "cpu_ns": run.cpu.0,
        "work_ns": run.work().0,
        "span_ns": run.span.0,
        "tasks": run.tasks(),
        "threads": run.threads,
        "pools": run.pools,
        "workers": run.workers,
        "logical_cores": run.logical_cores,
        "features": run.features.iter().map(|f| feature(*f)).collect::<Vec<_>>(),
        "join_cost_ps": run.join_cost_ps,
        "probe_cost_ps": run.probe_cost_ps,
        "batched_probe_cost_ps": run.batched_probe_cost_ps,
        "displaced_ns": run.displaced.0,
        "losses": {
            "sites": run.losses.sites,
            "contexts": run.losses.contexts,
            "threads": run.losses.threads,
            "path_nodes": run.losses.path_nodes,
        },
        "other_processes": run.other_processes,
    })
}

/// The file is whole, and every run was seen to its end.
fn complete(opened: &Opened) -> bool {
    let runs = &opened.recording.runs;
    opened.problems.is_empty() && !runs.is_empty() && runs.iter().all(Run::complete)
}

fn as_text(file: &Path, opened: &Opened, strands: &Strands) -> String {
    let r = &opened.recording;
    let (major, minor) = opened.format;
    let mut rows = vec![
        ("file", format!("{}, {} bytes, format {major}.{minor}", output::path(file), opened.bytes)),
        ("command", r.command.iter().map(|w| word(w)).collect::<Vec<_>>().join(" ")),
        ("directory", r.directory.clone()),
        ("made", format!("{} by workspan {}", time::rfc3339(r.made_at), r.made_by)),
        ("runtime", r.runtime.clone()),
        ("machine", format!("{}, {} CPUs, {}", r.machine.processor, r.machine.cpus, r.machine.system)),
        ("debug information", debug_info(r)),
        (
            "sites",
            format!(
                "{}, segments of serial code included, in {}",
                r.sites.len(),
                match r.contexts.len() {
                    1 => "1 context".to_owned(),
                    number => format!("{number} contexts"),
                }
            ),
        ),
        ("runs", r.runs.len().to_string()),
    ];
    if let Some(run) = r.runs.first() {
        rows.push(("clock", clock_words(r, run)));
        let features: Vec<_> = run.features.iter().map(|f| feature(*f)).collect();
        rows.push(("clock checks", if features.is_empty() { "none".to_owned() } else { features.join(", ") }));
    }
    if strands.there {
        let how = if strands.problems.is_empty() { "all of them".to_owned() } else { strands.problems.join("; ") };
        rows.push(("strands", how));
    }
    rows.push((
        "complete",
        if complete(opened) && strands.problems.is_empty() { "yes".to_owned() } else { "no".to_owned() },
    ));
    rows.extend(opened.problems.iter().map(|problem| ("problem", shown(&problem.to_string()).into_owned())));
    let mut out = table::write(
        &rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect::<Vec<_>>(),
        &[Align::Left, Align::Left],
    );
    for part in [runs_table, costs_table] {
        if !r.runs.is_empty() {
            out.push('\n');
            out.push_str(&part(&r.runs));
        }
    }
    out
}

fn debug_info(recording: &Recording) -> String {
    match (recording.has_debug_info, &recording.debug_info_problem) {
        (true, None) => "yes".to_owned(),
        (false, None) => "none".to_owned(),
        (true, Some(problem)) => format!("in part: {problem}"),
        (false, Some(problem)) => format!("could not be used: {problem}"),
    }
}

/// A word of a command line, quoted if it could be misread.
fn word(word: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"'\"\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("{word:?}")
    }
}

fn clock_words(recording: &Recording, run: &Run) -> String {
    match run.clock {
        Clock::Virtual => "virtual: ticks that the program counts".to_owned(),
        Clock::Real => {
            #[expect(clippy::cast_precision_loss, reason = "four digits are shown")]
            let rate = recording.machine.ticks_per_second as f64 / 1e9;
            let machine = &recording.machine;
            let interrupts = match machine.interrupt_period_ns {
                0 => String::new(),
                period => format!(
                    "; interrupts of {} every {}",
                    workspan_model::Nanos(machine.interrupt_ns[1].try_into().unwrap_or(0)),
                    workspan_model::Nanos(period.try_into().unwrap_or(0))
                ),
            };
            let moves = match machine.steal_ns {
                0 => String::new(),
                nanos => format!("; moving a task to another processor {nanos} ns"),
            };
            format!("cycle counter, {rate:.3} GHz{interrupts}{moves}")
        }
    }
}

fn runs_table(runs: &[Run]) -> String {
    let header = [
        "run",
        "work",
        "span",
        "wall",
        "cpu",
        "tasks",
        "workers",
        "pools",
        "threads",
        "loops split for",
        "events lost",
        "ended",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (run, n) in runs.iter().zip(1..) {
        let n: u32 = n;
        let others = match run.other_processes {
            0 => String::new(),
            n => format!("; {n} further processes not profiled"),
        };
        rows.push(vec![
            n.to_string(),
            run.work().to_string(),
            run.span.to_string(),
            run.wall.to_string(),
            run.cpu.to_string(),
            run.tasks().to_string(),
            run.workers.to_string(),
            run.pools.to_string(),
            run.threads.to_string(),
            run.logical_cores.map_or_else(|| "this machine".to_owned(), |n| format!("{n} cores")),
            run.losses.total().to_string(),
            format!("{}{others}", ended(run)),
        ]);
    }
    let mut columns = [Align::Right; 12];
    columns[11] = Align::Left;
    table::write(&rows, &columns)
}

fn costs_table(runs: &[Run]) -> String {
    let header = ["run", "cost of fork and join", "of a hook", "of a batched hook", "time displaced by batching"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (run, n) in runs.iter().zip(1..) {
        let n: u32 = n;
        let costs = [run.join_cost_ps, run.probe_cost_ps, run.batched_probe_cost_ps];
        let mut row = vec![n.to_string()];
        #[expect(clippy::cast_precision_loss, reason = "a decimal is shown")]
        row.extend(costs.map(|ps| format!("{:.1} ns", ps as f64 / 1e3)));
        row.push(run.displaced.to_string());
        rows.push(row);
    }
    table::write(&rows, &[Align::Right; 5])
}

fn ended(run: &Run) -> String {
    let how = match run.ending {
        Ending::Clean => "",
        Ending::InsideRegion => " inside a region",
        Ending::Unseen => " unseen from inside",
    };
    match run.exit {
        Exit::Code(code) => format!("with status {code}{how}"),
        Exit::Signal(signal) => {
            let name = Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |s| s.as_str().to_owned());
            format!("by {name}{how}")
        }
    }
}

fn clock(clock: Clock) -> &'static str {
    match clock {
        Clock::Real => "real",
        Clock::Virtual => "virtual",
    }
}

fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Clean => "clean",
        Ending::InsideRegion => "inside-region",
        Ending::Unseen => "unseen",
    }
}

fn feature(feature: Feature) -> &'static str {
    match feature {
        Feature::SwitchWitness => "switch-witness",
        Feature::InterruptWitness => "interrupt-witness",
        Feature::RunDelay => "run-delay",
        Feature::SteadyCounter => "steady-counter",
    }
}
