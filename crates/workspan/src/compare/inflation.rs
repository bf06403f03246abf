//! `workspan inflation`: a program on one worker and on several, strand by strand.

use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use anyhow::{ensure, Context};
use workspan_report::inflation::{answer, json, text, Answer, Counted, Input};
use workspan_report::text::Style;

use super::memory;
use crate::args::{Inflation, InflationOptions, RunOptions};
use crate::counters::{self, Counts};
use crate::differential::{compare, Side};
use crate::exit::{self, Outcome};
use crate::overwrite::Overwrites;
use crate::record::target;
use crate::record::{strands, Measured, Session};
use crate::{files, output};

/// Runs the verb.
pub fn run(args: &Inflation) -> anyhow::Result<Outcome> {
    let options = &args.options;
    let plan = Plan::new(args)?;
    let program = target::of_command(&args.command)?;
    Overwrites::new()
        .input(&program)
        .new_recording(&plan.base_file)?
        .new_recording(&options.output)?
        .output(&options.json)?;
    for file in [&plan.base_file, &options.output].into_iter().chain(options.json.iter().filter(|f| !is_stdout(f))) {
        files::check_writable(file)?;
    }
    for file in [&plan.base_file, &options.output] {
        strands::check_writable(file)?;
    }
    let graph = options.graph.as_deref().map(|folder| memory::Source::open(folder, options.cache)).transpose()?;
    let events = counters::Wanted::new(options.events.as_deref().unwrap_or_default())?;
    let [(base, base_counts), (new, new_counts)] = plan.measure(args, &events)?;
    let outcome = if base.outcome == Outcome::OK { new.outcome } else { base.outcome };
    // The program has run: whatever fails now, how it ended is reported.
    let sides = [(&plan.base_file, &base), (&options.output, &new)];
    let there = |(_, measured): &(&PathBuf, &Measured)| !measured.recording.runs.is_empty();
    let written = sides.iter().filter(|side| there(side)).map(|(file, measured)| write(measured, file));
    let (mut errors, mut lost) = (Vec::new(), false);
    for written in written {
        match written {
            Ok(kept) => lost |= kept == strands::Kept::Some,
            Err(error) => errors.push(error),
        }
    }
    let mut found = Outcome::OK;
    if !sides.iter().all(there) {
        ensure!(outcome != Outcome::OK, "no run has ended: nothing to compare");
        output::note("interrupted before there was anything to compare");
    } else if errors.is_empty() {
        let counted = events.counted(&base_counts, &new_counts);
        let sides = sides.map(|(file, measured)| Side { file, recording: &measured.recording });
        match judge(sides, &plan, &counted, (options, graph.as_ref()), &mut errors) {
            Ok(outcome) => found = outcome,
            Err(error) => errors.push(error),
        }
    }
    errors.iter().for_each(output::error);
    let failed = Outcome::Code(i32::from(exit::FAILED));
    Ok(match outcome {
        Outcome::OK if !errors.is_empty() || lost => failed,
        Outcome::OK => found,
        ended => ended,
    })
}

/// Compares and reports. What cannot be said of conditions is among `errors`: the report comes all the same.
fn judge(
    [base, new]: [Side<'_>; 2],
    plan: &Plan,
    counted: &[Counted],
    (options, graph): (&InflationOptions, Option<&memory::Source>),
    errors: &mut Vec<anyhow::Error>,
) -> anyhow::Result<Outcome> {
    let compared = compare(base, new)?.context("the strands are gone")?;
    let input = Input {
        base: base.recording,
        new: new.recording,
        workers: plan.workers,
        united: &compared.united,
        found: &compared.found,
        counted,
    };
    let mut view = answer(input);
    view.warnings.splice(0..0, compared.doubts.iter().cloned());
    match graph.map(|graph| graph.explain(&view.nodes, &compared.united.recording)) {
        None => {}
        Some(Ok((memory, doubts))) => {
            view.memory = Some(memory);
            view.warnings.extend(doubts);
        }
        Some(Err(error)) => errors.push(error),
    }
    for gate in &options.fail_on {
        match gate.is_met_by(&view.nodes) {
            Ok(true) => view.failed.push(gate.text().to_owned()),
            Ok(false) => {}
            Err(error) => errors.push(error),
        }
    }
    show(&view, options)?;
    Ok(if view.failed.is_empty() { Outcome::OK } else { Outcome::Code(i32::from(exit::FOUND)) })
}

/// The runs of one kind, and what was counted in each.
type Runs = (Measured, Vec<Counts>);

/// What is to be run.
#[derive(Debug)]
struct Plan {
    workers: u32,
    base_file: PathBuf,
    base: RunOptions,
    new: RunOptions,
}

impl Plan {
    fn new(args: &Inflation) -> anyhow::Result<Plan> {
        let options = &args.options;
        for gate in &options.fail_on {
            ensure!(
                gate.is_inflation(),
                "--fail-on {}: write a condition on inflation or critical-inflation",
                gate.text()
            );
        }
        let found = available_parallelism().map_or(1, |found| u32::try_from(found.get()).unwrap_or(u32::MAX));
        let target = target::of_command(&args.command)?;
        let runtime = target::runtime(&target, false)?;
        let most = runtime.most_workers();
        let workers = options.workers.unwrap_or_else(|| found.min(most));
        ensure!(workers > 1, "this machine has one processor: add --workers N for the parallel runs");
        ensure!(
            workers <= most,
            "--workers {workers}: Workspan can follow at most {most} threads of a program that uses {}",
            runtime.name()
        );
        let all = RunOptions {
            logical_cores: options.logical_cores,
            strands: true,
            repeat: options.repeat,
            clock: options.clock,
            events: options.events.clone(),
            ..RunOptions::default()
        };
        let base_file = options.output.with_extension("base.wspan");
        let base = RunOptions { output: base_file.clone(), workers: Some(1), ..all.clone() };
        let new = RunOptions { output: options.output.clone(), workers: Some(workers), ..all };
        let base = runtime.on_one_worker(base, workers);
        let base = base.with_context(|| format!("cannot compare {} on 1 and {workers} workers", target.display()))?;
        Ok(Plan { workers, base_file, base, new })
    }

    /// Runs both in turn, so that what changes with time changes both.
    fn measure(&self, args: &Inflation, events: &counters::Wanted) -> anyhow::Result<[Runs; 2]> {
        let mut base = (Session::new(&args.command, &self.base, &self.base_file)?, Vec::new());
        let mut new = (Session::new(&args.command, &self.new, &self.new.output)?, Vec::new());
        'all: for _ in 0..args.options.repeat {
            for (session, counts) in [&mut base, &mut new] {
                let (goes_on, counted) = session.run_counting(events)?;
                counts.push(counted);
                if !goes_on {
                    break 'all;
                }
            }
        }
        Ok([(base.0.finish(), base.1), (new.0.finish(), new.1)])
    }
}

fn write(measured: &Measured, file: &Path) -> anyhow::Result<strands::Kept> {
    files::write(file, &measured.recording)?;
    strands::keep_former(file)?;
    strands::write(&measured.recording, &measured.logs, file)
}

fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

fn show(view: &Answer, options: &InflationOptions) -> anyhow::Result<()> {
    match &options.json {
        Some(file) if is_stdout(file) => output::data(&(json(view) + "\n")).context("cannot write to standard output"),
        Some(file) => files::replace(file, (json(view) + "\n").as_bytes())
            .with_context(|| format!("cannot write {}", file.display())),
        None => {
            // stdout belongs to the program that was run.
            let style = Style { colour: output::colour_stderr(), top: options.top };
            output::message(&format!("\n{}", text(view, style).trim_end()));
            Ok(())
        }
    }
}
