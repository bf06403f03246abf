//! `workspan depend report`, and what is shown after a run.

use std::path::Path;

use anyhow::Context;
use workspan_depend::file::decode;
use workspan_depend::profile::Profile;
use workspan_report::depend::{answer, json, text};

use crate::args::depend::{DependReport, Shown};
use crate::exit::Outcome;
use crate::{files, output};

/// A larger file is no profile.
const LARGEST: u64 = 1 << 30;

/// Runs the verb.
pub fn run(args: &DependReport) -> anyhow::Result<Outcome> {
    let file = &args.file;
    let bytes = files::read_regular(file, LARGEST)
        .with_context(|| format!("cannot read {} (made by `workspan depend`)", output::path(file)))?;
    let profile = decode(&bytes).with_context(|| {
        format!("cannot read {} (profiles are what `workspan depend -- PROGRAM` writes)", output::path(file))
    })?;
    show(&profile, &args.shown, true)?;
    Ok(Outcome::OK)
}

/// Writes what is wanted. `asked`: text goes to standard output, not among the messages of a run.
pub fn show(profile: &Profile, shown: &Shown, asked: bool) -> anyhow::Result<()> {
    let view = answer(profile);
    match shown.json.as_deref() {
        Some(file) if file == Path::new("-") => output::data(&(json(&view) + "\n"))?,
        Some(file) => {
            files::replace(file, (json(&view) + "\n").as_bytes())
                .with_context(|| format!("cannot write {}", output::path(file)))?;
        }
        None if asked => output::data(&text(&view, shown.top))?,
        None => {}
    }
    if !asked && shown.json.is_none() {
        output::message(text(&view, shown.top).trim_end());
    }
    Ok(())
}
