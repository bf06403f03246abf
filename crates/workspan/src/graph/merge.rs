//! `workspan graph merge`: one graph of the graphs of several ranks.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context};
use workspan_graph::file::{Recorder, Recording, NAME};
use workspan_graph::merge::{Merger, Unfit};

use super::open::open;
use super::record::{describe, make_room};
use crate::args::graph::GraphMerge;
use crate::exit::Outcome;
use crate::output;

/// Runs the verb.
pub fn run(args: &GraphMerge) -> anyhow::Result<Outcome> {
    let here = |folder: &Path| folder.canonicalize().ok();
    if args.ranks.iter().any(|folder| here(folder).is_some() && here(folder) == here(&args.output)) {
        bail!("{} is one of the graphs to merge: name another folder with -o", args.output.display());
    }
    let recordings: Vec<Recording> = args.ranks.iter().map(|folder| open(folder)).collect::<anyhow::Result<_>>()?;
    let merger =
        Merger::new(&recordings, args.partial).map_err(|unfit| anyhow::anyhow!("{}", reason(&unfit, &args.ranks)))?;
    if merger.elsewhere > 0 {
        output::note(&format!(
            "{} ranks ran on another machine: times of ranks are aligned where MPI started, and drift apart from there",
            merger.elsewhere
        ));
    }
    let folder = &args.output;
    make_room(folder)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join(NAME);
    let cannot = || format!("cannot write {}", path.display());
    let recorder =
        Recorder::create_of(&path, &merger.meta(env!("CARGO_PKG_VERSION")), merger.sample()).with_context(cannot)?;
    let ranks = merger.write(recorder).with_context(cannot)?;
    output::note(&format!("{} ranks, {} messages", ranks.ranks.len(), ranks.matched));
    describe(folder)?;
    Ok(Outcome::OK)
}

fn reason(unfit: &Unfit, folders: &[PathBuf]) -> String {
    let name = |number: &usize| folders.get(*number).map_or_else(String::new, |folder| folder.display().to_string());
    match unfit {
        Unfit::None => "there is nothing to merge".to_owned(),
        Unfit::Merged(one) => format!("{} was merged already: name the graphs of the ranks", name(one)),
        Unfit::NoRank(one) => format!(
            "{} is no graph of a rank: its program did not call MPI_Init, or it or its recorder was ended before",
            name(one)
        ),
        Unfit::OtherRun(one, other) => {
            format!("{} and {} are of different runs: name the graphs that one mpirun wrote", name(one), name(other))
        }
        Unfit::OtherSample(one, other) => {
            format!("{} and {} were not recorded with the same --sample", name(one), name(other))
        }
        Unfit::Twice(one, other) => format!("{} and {} are of the same rank", name(one), name(other)),
        Unfit::Missing(ranks, size) => {
            let list: Vec<String> = ranks.iter().take(10).map(u32::to_string).collect();
            let more = if ranks.len() > 10 { ", …" } else { "" };
            format!(
                "of {size} ranks these are missing: {}{more}; name their graphs, too, or merge without them by --partial",
                list.join(", ")
            )
        }
        Unfit::TooMany => "there are too many ranks: addresses have room for 32768".to_owned(),
    }
}
