//! `workspan what-if`: what parallelising parts of the program would give; and the same right after a run.

use std::cell::RefCell;
use std::convert::Infallible;
use std::ops::ControlFlow;

use anyhow::Context;
use workspan_analysis::strands::{places, Rows};
use workspan_analysis::what_if;
use workspan_model::{Nanos, Recording, Run, Strand};
use workspan_report::text::Style;
use workspan_report::what_if::{answers, json, text, Answer, Of};

use crate::exit::Outcome;
use crate::parts::{scenario, Asked, SpeedUp};
use crate::record::strands::{rows_of_run, RunLog};
use crate::{args, output, strands};

/// Runs the verb.
pub fn run(args: &args::WhatIf) -> anyhow::Result<Outcome> {
    let speed_ups = args.speed_up.iter().map(|spec| spec.parse()).collect::<anyhow::Result<Vec<SpeedUp>>>()?;
    let recorded = strands::open(&args.file, args.run)?;
    let (shown, scenario) = scenario(&speed_ups, &recorded.recording, &|| recorded.places())?;
    let computed = what_if(&recorded.recording, &recorded.rows, &[scenario]).context("cannot read the strands")?;
    recorded.rows.report_problems();
    let of = Of { recording: &recorded.recording, run: args.run };
    let mut view = answers(&of, vec![shown], &computed).pop().context("no change was requested")?;
    view.warnings.splice(0..0, recorded.doubt()?);
    let style = Style { colour: output::colour_stdout(), top: args.top };
    output::data(&if args.json { json(&view) + "\n" } else { text(&view, style) })?;
    Ok(Outcome::OK)
}

/// What was asked before the run.
#[derive(Debug, Default)]
pub struct Answered {
    /// As far as there is an answer, in the order in which it was asked.
    pub answers: Vec<Answer>,
    /// What the program turned out not to have.
    pub errors: Vec<anyhow::Error>,
}

/// Answers scenarios from what a run, counted from 1, has logged: all of them in one pass.
pub fn after_run(asked: &[Asked], recording: &Recording, number: u32, run: &Run, log: &RunLog) -> Answered {
    let rows = LoggedRows { recording, run, log, partial: RefCell::default() };
    let mut errors = Vec::new();
    let (mut shown, mut scenarios) = (Vec::new(), Vec::new());
    for asked in asked {
        match scenario(&asked.speed_ups, recording, &|| places(recording, &rows).map_err(|never| match never {})) {
            Ok((changes, scenario)) => {
                shown.push(changes);
                scenarios.push(scenario);
            }
            Err(error) => errors.push(error.context(format!("--what-if {}", asked.text))),
        }
    }
    if scenarios.is_empty() {
        return Answered { answers: Vec::new(), errors };
    }
    let computed = what_if(recording, &rows, &scenarios).unwrap_or_else(|never| match never {});
    let mut answers = answers(&Of { recording, run: number }, shown, &computed);
    if let Some(reason) = rows.partial.into_inner() {
        for answer in &mut answers {
            let (work, span) = (Nanos(answer.before.work_ns), Nanos(answer.before.span_ns));
            let reason = format!("not all strands are known: {reason}");
            answer.warnings.insert(0, strands::doubt(&reason, work, span, run));
        }
    }
    Answered { answers, errors }
}

/// The strands of a run, made from its logs each time that they are requested.
struct LoggedRows<'a> {
    recording: &'a Recording,
    run: &'a Run,
    log: &'a RunLog,
    /// Why they are not all, when they were last read.
    partial: RefCell<Option<String>>,
}

impl Rows for LoggedRows<'_> {
    type Error = Infallible;

    fn read(&self, take: &mut dyn FnMut(&[Strand]) -> ControlFlow<()>) -> Result<(), Infallible> {
        *self.partial.borrow_mut() = rows_of_run(self.recording, self.run, self.log, take);
        Ok(())
    }
}
