//! `workspan predict`: how long the program would take on other numbers of processors.

use anyhow::{ensure, Context};
use workspan_analysis::predict::Options;
use workspan_analysis::schedule::{BuildOptions, Grain};
use workspan_analysis::verdict::any_order_of_locks;
use workspan_analysis::{bounded_by_locks, profile, what_if, Scenario};
use workspan_model::{Nanos, Ratio, Recording, SiteId};
use workspan_report::calls::Steal;
use workspan_report::predict::{answer, csv, json, text, Asked};
use workspan_report::text::Style;
use workspan_report::under_lock::UnderLock;

use crate::args::{self, Cutoff};
use crate::exit::Outcome;
use crate::parts::{scenario, SpeedUp};
use crate::simulated::{simulated, Input, Simulated};
use crate::strands::Recorded;
use crate::{output, strands};

/// Runs the verb.
pub fn run(args: &args::Predict) -> anyhow::Result<Outcome> {
    let speed_ups = args.speed_up.iter().map(|spec| spec.parse()).collect::<anyhow::Result<Vec<SpeedUp>>>()?;
    let file = strands::recording_of(&args.file);
    let recorded = strands::open(&file, args.run)?;
    let recording = &recorded.recording;
    let (changes, scenario) = scenario(&speed_ups, recording, &|| recorded.places())?;
    let grain = grain(&args.grain, recording)?;
    let join_cost_ps = recorded.run.join_cost_ps;
    let build = BuildOptions { grain: grain.clone(), join_cost_ps, ..BuildOptions::default() };
    let steal = Steal::of(args.steal, recording, &recorded.run);
    let options = Options { processors: args.processors.0.clone(), steal: steal.cost(), seeds: args.seeds };
    let of = Input { recording, number: args.run, run: &recorded.run, rows: &recorded.rows };
    let Simulated { graph, seen, even } = simulated(of, &build, &scenario, &options)?;
    recorded.rows.report_problems();
    let any_order = any_order(&recorded, args.run).filter(|_| changes.is_empty());
    let under_lock = UnderLock::of(recording, args.run);
    let asked =
        Asked { any_order, under_lock, recording, run: args.run, changes, grain: &grain, steal, seeds: args.seeds };
    let mut view = answer(asked, &graph, &seen, even.as_ref());
    view.warnings.splice(0..0, unfound(&recorded, scenario)?);
    view.warnings.splice(0..0, recorded.doubt()?);
    let style = Style { colour: output::colour_stdout(), ..Style::default() };
    output::data(&match (args.json, args.csv) {
        (true, _) => json(&view) + "\n",
        (false, true) => csv(&view),
        (false, false) => text(&view, style, output::unicode()),
    })?;
    Ok(Outcome::OK)
}

/// Parts of the scenario that name no strand.
fn unfound(recorded: &Recorded, scenario: Scenario) -> anyhow::Result<Vec<String>> {
    if scenario.changes.is_empty() {
        return Ok(Vec::new());
    }
    let computed = what_if(&recorded.recording, &recorded.rows, &[scenario]).context("cannot read the strands")?;
    let outcome = computed.outcomes.first().context("no change was requested")?;
    Ok(workspan_report::what_if::unfound(&recorded.recording, &computed.before, outcome))
}

/// The most speedup in any other order of locks, where that matters.
fn any_order(recorded: &Recorded, number: u32) -> Option<Ratio> {
    let recording = bounded_by_locks(&recorded.recording);
    let run = recording.runs.get((number as usize).checked_sub(1)?)?;
    any_order_of_locks(&recording, run, &profile(&recording, run))
}

/// Sites by their handles, several of which may share one.
fn grain(cutoffs: &[Cutoff], recording: &Recording) -> anyhow::Result<Vec<Grain>> {
    let mut grain = Vec::new();
    for Cutoff { site, least } in cutoffs {
        let known = grain.len();
        let sites = (0..).zip(&recording.sites).filter(|(_, at)| at.stable_id(&recording.sites) == *site);
        grain.extend(sites.map(|(id, _)| Grain { site: SiteId(id), least: Nanos(*least) }));
        ensure!(grain.len() > known, "the recording has no site `{site}`");
    }
    Ok(grain)
}
