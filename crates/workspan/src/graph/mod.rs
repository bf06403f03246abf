//! `workspan graph`: task graphs of programs that `workspan build` built.

pub mod cache;
pub mod code;
pub mod drain;
pub mod export;
pub mod merge;
pub mod misses;
pub mod open;
pub mod page;
pub mod races;
pub mod record;
pub mod report;
pub mod sampled;
pub mod sharing;
pub mod shown;
pub mod tables;
pub mod timeline;
pub mod waits;
pub mod working_set;

use crate::args::graph::{Graph, GraphVerb};
use crate::exit::Outcome;

/// Runs the verb.
pub fn run(args: &Graph) -> anyhow::Result<Outcome> {
    match &args.verb {
        GraphVerb::Record(options) => record::run(options),
        GraphVerb::Merge(options) => merge::run(options),
        GraphVerb::Report(options) => page::run(options),
        GraphVerb::Cache(options) => cache::run(options),
        GraphVerb::Races(options) => races::run(options),
        GraphVerb::Timeline(options) => timeline::run(options),
        GraphVerb::Misses(options) => misses::run(options),
        GraphVerb::Sharing(options) => sharing::run(options),
        GraphVerb::WorkingSet(options) => working_set::run(options),
        GraphVerb::Code(options) => code::run(options),
        GraphVerb::Waits(options) => waits::run(options),
        GraphVerb::Export(options) => export::run(options),
    }
}
