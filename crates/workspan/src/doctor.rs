//! `workspan doctor`.

use crate::args;
use crate::exit::Outcome;
use crate::{machine, output};

/// Runs the verb.
pub fn run(_args: &args::Doctor) -> anyhow::Result<Outcome> {
    output::data(&format!("{:#?}\n", machine::describe()))?;
    Ok(Outcome::OK)
}
