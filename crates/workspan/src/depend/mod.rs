//! `workspan depend`: dependences of a sequential program, which loops and calls could run in parallel, and what it would give.
//!
//! The program runs once, in the form that `workspan build` has made for it ([`companion`](crate::instrument::companion)); the analysis follows on another
//! processor. Exit status: the program's.

pub mod drain;
pub mod export;
pub mod record;
pub mod report;
pub mod what_if;

use crate::args::depend::{Depend, DependVerb};
use crate::exit::Outcome;

/// Runs the verb.
pub fn run(args: &Depend) -> anyhow::Result<Outcome> {
    match &args.verb {
        Some(DependVerb::Report(options)) => report::run(options),
        Some(DependVerb::WhatIf(options)) => what_if::run(options),
        Some(DependVerb::Export(options)) => export::run(options),
        None => record::run(args),
    }
}
