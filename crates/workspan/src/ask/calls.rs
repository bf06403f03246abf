//! `workspan calls`: work and span of each call site, in all and on the critical path.

use anyhow::{bail, Context};
use workspan_analysis::calls::{calls, from_totals, with_threads, Options};
use workspan_analysis::{bounded_by_locks, profile};
use workspan_model::{Nanos, Ratio, Recording, Run, SiteKind};
use workspan_report::calls::{answer, csv, json, text, Answer, Source, Steal};
use workspan_report::text::Style;
use workspan_report::under_lock;

use crate::args::{self, By};
use crate::exit::Outcome;
use crate::{files, output, strands};

/// Runs the verb.
pub fn run(args: &args::Calls) -> anyhow::Result<Outcome> {
    let view = match without_strands(args)? {
        Some(view) => view,
        None => from_strands(args)?,
    };
    let style = Style { colour: output::colour_stdout(), top: args.top };
    output::data(&match (args.json, args.csv) {
        (true, _) => json(&view) + "\n",
        (false, true) => csv(&view),
        (false, false) => text(&view, style),
    })?;
    Ok(Outcome::OK)
}

fn from_strands(args: &args::Calls) -> anyhow::Result<Answer> {
    let recorded = strands::open(&args.file, args.run)?;
    let steal = Steal::of(args.steal, &recorded.recording, &recorded.run);
    let options = Options {
        heights: args.by == By::Height,
        steal: steal.cost(),
        on_one: on_one(&recorded.recording, &recorded.run),
    };
    let computed = calls(&recorded.recording, &recorded.rows, &options).context("cannot read the strands")?;
    recorded.rows.report_problems();
    let computed = match args.by {
        By::Site => with_threads(&recorded.recording, &recorded.run, computed),
        By::Height => computed,
    };
    let mut view = answer(
        &recorded.recording,
        options.heights,
        Source::Strands(steal),
        &computed,
        most(&recorded.recording, args.run),
    );
    view.text.insert_str(0, &under_lock::but_for(&recorded.recording, args.run, view.program.parallelism));
    view.warnings.splice(0..0, under_lock::warnings(&recorded.recording, args.run, view.program.parallelism));
    view.warnings.splice(0..0, recorded.doubt()?);
    Ok(view)
}

/// What the collector has reported on the fly, where there are no strands and that is enough.
fn without_strands(args: &args::Calls) -> anyhow::Result<Option<Answer>> {
    let file = strands::recording_of(&args.file);
    if args.by == By::Height || args.steal.is_some() || strands::folder(&file).is_ok() {
        return Ok(None);
    }
    let recording = files::read(&file)?.recording;
    let Some(run) = recording.runs.get(args.run as usize - 1) else {
        bail!("{} has {} runs: there is no run {} (--run)", file.display(), recording.runs.len(), args.run);
    };
    if !is_told(&recording, run) {
        return Ok(None);
    }
    let steal = (run.burdened_span > Nanos::ZERO).then(|| Steal::of(None, &recording, run));
    Ok(Some(answer(
        &recording,
        false,
        Source::Collector(steal),
        &with_threads(&recording, run, from_totals(&recording, run, on_one(&recording, run))),
        most(&recording, args.run),
    )))
}

fn on_one(recording: &Recording, run: &Run) -> Nanos {
    profile(recording, run).program.on_one
}

/// The other end of the range of the run's parallelism.
fn most(recording: &Recording, number: u32) -> Option<Ratio> {
    let recording = bounded_by_locks(recording);
    let run = recording.runs.get((number as usize).checked_sub(1)?)?;
    profile(&recording, run).program.uniform?.parallelism
}

/// Which calls are on the critical path was not reported by older versions; of OpenMP, they reported parallel regions, without what
/// is in them.
fn is_told(recording: &Recording, run: &Run) -> bool {
    let openmp = recording.uses_openmp();
    let is_mark = |id| {
        let site = recording.contexts.site(id).and_then(|site| recording.sites.get(site.0 as usize));
        site.is_some_and(|site| site.kind == SiteKind::Marked)
    };
    recording.contexts.ids().zip(&run.totals).any(|(id, totals)| {
        totals.on_path.instances > 0 && (!openmp || (totals.on_path.work > Nanos::ZERO && !is_mark(id)))
    })
}
