//! `workspan what-if`: what parallelising parts of the program would give.

use anyhow::Context;
use workspan_analysis::{what_if, Scenario};
use workspan_report::text::Style;
use workspan_report::what_if::{answer, json, text, Change};

use crate::exit::Outcome;
use crate::{args, output, parts, strands};

/// Runs the verb.
pub fn run(args: &args::WhatIf) -> anyhow::Result<Outcome> {
    let recorded = strands::open(&args.file, args.run)?;
    let mut scenario = Scenario::default();
    let mut shown = Vec::new();
    for spec in &args.speed_up {
        let (part, factor, changes) = parts::parse(spec, &recorded.recording, &|| recorded.places())?;
        shown.push(Change { part, factor: Some(factor.value()).filter(|factor| factor.is_finite()) });
        scenario.changes.extend(changes);
    }
    let computed = what_if(&recorded.recording, &recorded.rows, &[scenario]).context("cannot read the strands")?;
    recorded.rows.tell_problems();
    let view = answer(&recorded.recording, shown, &computed).context("nothing was asked for")?;
    let style = Style { colour: output::colour_stdout(), top: args.top };
    output::data(&if args.json { json(&view) + "\n" } else { text(&view, style) })?;
    Ok(Outcome::OK)
}
