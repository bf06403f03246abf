//! `workspan calls`: work and span of each call site, in all and on the critical path.

use anyhow::Context;
use workspan_analysis::calls::{calls, Options, DEFAULT_STEAL};
use workspan_model::{Clock, Nanos};
use workspan_report::calls::{answer, csv, json, text, Steal};
use workspan_report::text::Style;

use crate::args::{self, By};
use crate::exit::Outcome;
use crate::strands::Recorded;
use crate::{output, strands};

/// Runs the verb.
pub fn run(args: &args::Calls) -> anyhow::Result<Outcome> {
    let recorded = strands::open(&args.file, args.run)?;
    let steal = steal(args.steal, &recorded);
    let options = Options { heights: args.by == By::Height, steal: steal.cost() };
    let computed = calls(&recorded.recording, &recorded.rows, &options).context("cannot read the strands")?;
    recorded.rows.tell_problems();
    let view = answer(&recorded.recording, options.heights, steal, &computed);
    let style = Style { colour: output::colour_stdout(), top: args.top };
    output::data(&match (args.json, args.csv) {
        (true, _) => json(&view) + "\n",
        (false, true) => csv(&view),
        (false, false) => text(&view, style),
    })?;
    Ok(Outcome::OK)
}

fn steal(asked: Option<u64>, recorded: &Recorded) -> Steal {
    let nanos = |number| Nanos(i64::try_from(number).unwrap_or(i64::MAX));
    match (asked, recorded.steal_ns) {
        (Some(number), _) => Steal::Asked(nanos(number)),
        (None, Some(number)) => Steal::Measured(nanos(number)),
        // Ticks are no time.
        (None, None) if recorded.run.clock == Clock::Virtual => Steal::Assumed(Nanos::ZERO),
        (None, None) => Steal::Assumed(DEFAULT_STEAL),
    }
}
