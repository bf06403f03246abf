//! `workspan info`.

use crate::args;
use crate::exit::Outcome;
use crate::{files, output};

/// Runs the verb.
pub fn run(args: &args::Info) -> anyhow::Result<Outcome> {
    let recording = files::read(&args.file)?;
    output::data(&format!("{recording:#?}\n"))?;
    Ok(Outcome::OK)
}
