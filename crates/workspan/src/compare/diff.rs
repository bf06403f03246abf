//! `workspan diff`: two recordings side by side, and prediction against measurement.

use anyhow::Context;
use workspan_analysis::{diff, what_if};
use workspan_model::Ratio;
use workspan_report::diff::{answer, json, text, Compared};
use workspan_report::text::Style;
use workspan_report::what_if::{unfound, Change};

use crate::differential::{compare, Side};
use crate::exit::{self, Outcome};
use crate::gate::Gate;
use crate::parts::{scenario, SpeedUp};
use crate::{args, files, output, strands};

/// Runs the verb.
pub fn run(args: &args::Diff) -> anyhow::Result<Outcome> {
    let [before, after] = [&args.before, &args.after].map(|file| files::read(&strands::recording_of(file)));
    let (before, after) = (before?.recording, after?.recording);
    for (file, recording) in [(&args.before, &before), (&args.after, &after)] {
        anyhow::ensure!(!recording.runs.is_empty(), "{} holds no complete run", file.display());
    }
    let foretold = if args.speed_up.is_empty() { None } else { Some(foretell(args, before.runs.len())?) };
    let diff = diff(&before, &after);
    let base = Side { file: &strands::recording_of(&args.before), recording: &before };
    let new = Side { file: &strands::recording_of(&args.after), recording: &after };
    let nodes = match compare(base, new) {
        // Totals can be compared all the same.
        Err(error) if !args.fail_on.iter().any(Gate::is_inflation) => {
            output::note(&format!("warning: strands are not compared: {error:#}"));
            None
        }
        compared => compared?,
    };
    let doubts = nodes.as_ref().map(|compared| compared.doubts.clone()).unwrap_or_default();
    let nodes = nodes.as_ref().map(|compared| (&compared.united, &compared.found));
    let mut view = answer(Compared { before: &before, after: &after, diff: &diff, nodes }, foretold);
    if let Some(nodes) = &mut view.nodes {
        nodes.warnings.splice(0..0, doubts);
    }
    for gate in &args.fail_on {
        if gate.is_met(&view)? {
            view.failed.push(gate.text().to_owned());
        }
    }
    let style = Style { colour: output::colour_stdout(), top: args.top };
    output::data(&if args.json { json(&view) + "\n" } else { text(&view, style) })?;
    Ok(if view.failed.is_empty() { Outcome::OK } else { Outcome::Code(i32::from(exit::FOUND)) })
}

/// The parts that were to become faster, and the parallelism of each run with it.
fn foretell(args: &args::Diff, runs: usize) -> anyhow::Result<(Vec<Change>, Vec<Ratio>)> {
    let speed_ups = args.speed_up.iter().map(|spec| spec.parse()).collect::<anyhow::Result<Vec<SpeedUp>>>()?;
    let mut shown = Vec::new();
    let mut predicted = Vec::new();
    for number in 1..=u32::try_from(runs)? {
        let recorded = strands::open(&args.before, number)?;
        let (changes, scenario) = scenario(&speed_ups, &recorded.recording, &|| recorded.places())?;
        shown = changes;
        let computed = what_if(&recorded.recording, &recorded.rows, &[scenario]).context("cannot read the strands")?;
        recorded.rows.report_problems();
        let outcome = computed.outcomes.first().context("no change was requested")?;
        for words in unfound(&recorded.recording, &computed.before, outcome) {
            output::note(&format!("warning: {words}"));
        }
        predicted.extend(outcome.after.parallelism);
    }
    Ok((shown, predicted))
}
