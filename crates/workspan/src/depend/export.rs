//! `workspan depend export`: critical-path graphs for other tools.

use anyhow::Context;
use workspan_report::depend::critical_dot;

use super::report::read;
use crate::args::depend::{DependExport, DependFormat};
use crate::exit::Outcome;
use crate::{files, output};

/// Runs the verb.
pub fn run(args: &DependExport) -> anyhow::Result<Outcome> {
    if let Some(file) = &args.output {
        files::check_writable(file)?;
    }
    let profile = read(&args.file)?;
    let here = files::here();
    let (text, count) = match args.format {
        DependFormat::Dot => critical_dot(&profile, &here, args.limit, args.graph.as_deref()),
    };
    if let Some(name) = args.graph.as_ref().filter(|_| count == 0) {
        anyhow::bail!(
            "the profile has no graph {name:?}: see `critical_paths.graphs[].id` of `workspan depend report {} --json`",
            output::path(&args.file)
        );
    }
    if count > args.limit {
        output::note(&format!(
            "the profile has {count} graphs: only the {} with the largest part of the critical path are written (--limit N writes more)",
            args.limit
        ));
    }
    match &args.output {
        Some(file) => {
            files::replace(file, text.as_bytes()).with_context(|| format!("cannot write {}", output::path(file)))?;
        }
        None => output::data(&text)?,
    }
    Ok(Outcome::OK)
}
