//! `workspan report`, and the report after a run.

use std::path::Path;

use anyhow::Context;
use workspan_analysis::laws::POWERS;
use workspan_analysis::predict::{Options, SEEDS};
use workspan_analysis::schedule::BuildOptions;
use workspan_analysis::verdict::PROCESSORS;
use workspan_analysis::what_if::Scenario;
use workspan_model::Recording;
use workspan_report::calls::Steal;
use workspan_report::live::Foretold;
use workspan_report::text::Style;
use workspan_report::view::Warning;
use workspan_report::{json, text, Judging, Live, Report};

use crate::args::{self, Show};
use crate::evidence::Said;
use crate::exit::Outcome;
use crate::overwrite::Overwrites;
use crate::simulated::{simulated, Input, Simulated};
use crate::{evidence, files, output, source, strands};

/// Runs the verb.
pub fn run(args: &args::Report) -> anyhow::Result<Outcome> {
    Overwrites::new().recording(&args.file).output(args.show.files())?;
    let recording = files::read(&args.file)?.recording;
    let view = judged(&recording, Some(&args.file), &args.show)
        .with_context(|| format!("{} holds no complete run", args.file.display()))?;
    let live = args.show.html.as_ref().and_then(|_| live_beside(&args.file, &recording));
    // The user has named this file: what belongs to the project around it may be shown.
    let mut options = args.show.clone();
    options
        .source
        .extend(files::folder_around(&args.file).canonicalize().ok().and_then(|at| source::project_around(&at)));
    show(&recording, &view, live.as_ref(), &options, To::Stdout)?;
    Ok(Outcome::OK)
}

/// The report of a recording, judged as asked, also by strands beside `file`; `None` if it holds no run.
pub fn judged(recording: &Recording, file: Option<&Path>, show: &Show) -> Option<Report> {
    let processors = show.processors.unwrap_or(PROCESSORS);
    let Said { evidence, doubt } = file.map(|file| evidence::of(recording, file, processors)).unwrap_or_default();
    let has_strands = file.is_some_and(|file| strands::folder(file).is_ok()) && doubt.is_none();
    let mut view = workspan_report::judged(recording, &Judging { processors, evidence, has_strands })?;
    view.warnings.extend(doubt.map(|message| Warning { code: "strands-missing".to_owned(), message }));
    Some(view)
}

/// What the strands beside a recording report, for its page: of repeated runs, those of the typical one. A page can do without
/// them. What is missing of them has been reported with the verdict.
pub fn live_beside(file: &Path, recording: &Recording) -> Option<Live> {
    strands::folder(file).ok()?;
    let number = u32::try_from(workspan_report::typical_run(recording)? + 1).ok()?;
    let read = || {
        let rows = strands::open_beside(recording, file, number)?;
        let run = recording.runs.get(number as usize - 1).context("there is no such run")?;
        let processors = (0..POWERS).map(|power| 1 << power).collect();
        let options = Options { processors, steal: Steal::of(None, recording, run).cost(), seeds: SEEDS };
        let of = Input { recording, number, run, rows: &rows };
        let Simulated { graph, seen, even } = simulated(of, &BuildOptions::default(), &Scenario::default(), &options)?;
        let foretold = Foretold { graph: &graph, seen: &seen, even: even.as_ref() };
        workspan_report::live(recording, number, &rows, &foretold).context("cannot read the strands")
    };
    read().inspect_err(|error| output::note(&format!("warning: the page is without strands: {error:#}"))).ok()
}

/// Where the text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// It is what was requested.
    Stdout,
    /// stdout belongs to the program that was run.
    Stderr,
}

/// Writes the report in the forms requested: a page beside the text, JSON in its place.
pub fn show(recording: &Recording, view: &Report, live: Option<&Live>, show: &Show, to: To) -> anyhow::Result<()> {
    // The text comes all the same if the page cannot be written.
    let paged = page(recording, view, live, show);
    if let Some(file) = &show.json {
        let text = json::write(view) + "\n";
        if file == Path::new("-") {
            return output::data(&text).context("cannot write to standard output").and(paged);
        }
        return files::replace(file, text.as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))
            .and(paged);
    }
    let colour = match to {
        To::Stdout => output::colour_stdout(),
        To::Stderr => output::colour_stderr(),
    };
    let text = text::write(view, Style { colour, top: show.top });
    match to {
        To::Stdout => output::data(&text).context("cannot write to standard output")?,
        To::Stderr => output::message(&format!("\n{}", text.trim_end())),
    }
    paged
}

/// Writes the page, if one is requested.
fn page(recording: &Recording, view: &Report, live: Option<&Live>, show: &Show) -> anyhow::Result<()> {
    if let Some(file) = &show.html {
        let (sources, left_out) = match show.no_source {
            true => Default::default(),
            false => source::of(recording, &show.source),
        };
        source::tell(&left_out);
        let page = workspan_report::html::write_with(view, &sources, &left_out, live);
        files::replace(file, page.as_bytes()).with_context(|| format!("cannot write {}", file.display()))?;
        output::note(&format!("wrote {}", output::path(file)));
    }
    Ok(())
}
