//! `workspan graph races`: accesses that the graph leaves unordered.

use std::fmt::Write;

use serde_json::{json, Value};
use workspan_graph::file::Recording;
use workspan_graph::program::place;
use workspan_graph::races::{Allocation, Instance, Place, Race, Races};
use workspan_graph::replay::replay;

use super::open::open;
use crate::args::graph::GraphRaces;
use crate::exit::{Outcome, FOUND};
use crate::output;

/// Runtimes of the program that order tasks unseen: rayon, where its text has no hooks.
fn unseen(recording: &Recording) -> Vec<&'static str> {
    let functions = || recording.program.modules.iter().flat_map(|loaded| &loaded.module.functions);
    let has = |part: &str| functions().any(|function| function.name.contains(part));
    if has("rayon_core") && !has("workspan_task") {
        vec!["rayon"]
    } else {
        Vec::new()
    }
}

/// Runs the verb.
pub fn run(args: &GraphRaces) -> anyhow::Result<Outcome> {
    let recording = open(&args.folder)?;
    let mut races = Races::default();
    replay(&recording, &mut races)?;
    let found = races.found();
    let unseen = unseen(&recording);
    if !unseen.is_empty() && !found.is_empty() {
        output::note(&format!(
            "{} orders tasks in ways that the graph does not see: races between its tasks may be false alarms",
            unseen.join(" and ")
        ));
    }
    let text = if args.json {
        let rows: Vec<Value> = found.iter().map(|(race, instance)| row(&recording, race, instance)).collect();
        let document = json!({
            "schema_version": 1, "complete": recording.complete(), "unseen_order": unseen, "races": rows,
        });
        format!("{document:#}\n")
    } else {
        let mut text = match found.len() {
            0 => "No data race: every two accesses to the same bytes, one of them a write, are ordered.\n".to_owned(),
            1 => "1 data race\n".to_owned(),
            count => format!("{count} data races\n"),
        };
        for (race, instance) in found.iter().take(args.top) {
            let (first, second) = instance.contexts;
            let shown = |place| shown(&recording, place);
            let _ = write!(
                text,
                "\n{} race, seen {} times\n  first   {}, context {first}\n  second  {}, context {second}\n  at      {:#x}{}\n",
                race.conflict.name(),
                instance.count,
                shown(race.first),
                shown(race.second),
                instance.address,
                instance.allocation.map_or_else(String::new, |allocation| {
                    let site = site(&recording, &allocation).map(|(file, line)| format!(" allocated at {file}:{line}"));
                    let distance = instance.address - allocation.address;
                    format!(": byte {distance} of {}{}", allocation.size, site.unwrap_or_default())
                }),
            );
        }
        if found.len() > args.top {
            let _ = writeln!(text, "\n{} more: see them with --top {}", found.len() - args.top, found.len());
        }
        text
    };
    output::data(&text)?;
    Ok(Outcome::Code(if found.is_empty() { 0 } else { FOUND.into() }))
}

fn row(recording: &Recording, race: &Race, instance: &Instance) -> Value {
    let end = |(module, operation): Place, context: u32| {
        let place = recording.program.place(module as usize, operation as usize);
        json!({ "file": place.map(|(file, _)| file), "line": place.map(|(_, line)| line), "context": context })
    };
    let allocation = instance.allocation.map(|allocation| {
        let site = site(recording, &allocation);
        json!({
            "bytes": allocation.size,
            "offset": instance.address - allocation.address,
            "file": site.map(|(file, _)| file),
            "line": site.map(|(_, line)| line),
        })
    });
    json!({
        "kind": race.conflict.name(),
        "first": end(race.first, instance.contexts.0),
        "second": end(race.second, instance.contexts.1),
        "allocation": allocation,
        "address": instance.address,
        "count": instance.count,
    })
}

fn shown(recording: &Recording, (module, operation): Place) -> String {
    let place = recording.program.place(module as usize, operation as usize);
    place.map_or_else(|| "code without debug information".to_owned(), |(file, line)| format!("{file}:{line}"))
}

/// The call that allocated.
fn site<'r>(recording: &'r Recording, allocation: &Allocation) -> Option<(&'r str, u32)> {
    let (loaded, segment) = recording.program.segment(allocation.segment)?;
    place(&loaded.module, segment.call_place)
}
