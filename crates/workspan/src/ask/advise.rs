//! `workspan advise`: which parts must be parallelised, and whose tasks have the wrong size.

use anyhow::Context;
use workspan_analysis::{advise, Goal};
use workspan_report::advice::{answer, json, text, Answer};
use workspan_report::text::Style;
use workspan_report::under_lock;

use crate::args::{self, FailOn};
use crate::exit::{self, Outcome};
use crate::{output, strands};

/// Runs the verb.
pub fn run(args: &args::Advise) -> anyhow::Result<Outcome> {
    let recorded = strands::open(&args.file, args.run)?;
    let goal = Goal { target: args.target, factor: args.factor, threshold: args.threshold };
    let advice =
        advise(&recorded.recording, &recorded.run, &recorded.rows, &goal).context("cannot read the strands")?;
    recorded.rows.report_problems();
    let mut view = answer(&recorded.recording, &goal, &advice);
    view.text.insert_str(0, &under_lock::but_for(&recorded.recording, args.run, view.parallelism));
    view.warnings.splice(0..0, under_lock::warnings(&recorded.recording, args.run, view.parallelism));
    view.warnings.splice(0..0, recorded.doubt()?);
    let style = Style { colour: output::colour_stdout(), top: args.top };
    output::data(&if args.json { json(&view) + "\n" } else { text(&view, style) })?;
    let found = args.fail_on.iter().any(|kind| is_found(*kind, &view));
    Ok(if found { Outcome::Code(exit::FOUND.into()) } else { Outcome::OK })
}

fn is_found(kind: FailOn, view: &Answer) -> bool {
    let has = |kind: &str| view.findings.iter().any(|finding| finding.kind == kind);
    match kind {
        FailOn::Any => !view.findings.is_empty(),
        FailOn::Parallelise => has("parallelise"),
        FailOn::TooFine => has("too-fine"),
        FailOn::TooCoarse => has("too-coarse"),
        FailOn::Unreachable => !["already-enough", "reached"].contains(&view.outcome.as_str()),
    }
}
