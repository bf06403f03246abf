//! `workspan graph races`: accesses that the graph leaves unordered.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{json, Value};
use workspan_graph::file::Recording;
use workspan_graph::part::replay;
use workspan_graph::races::{Instance, Place, Race, Races};
use workspan_report::place::short;

use super::open::{allocation_site, call, open};
use super::sampled::Numbers;
use super::shown::{self, Answer, Table};
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
    let races = find(&recording)?;
    let found = races.found();
    let unseen = unseen(&recording);
    if !unseen.is_empty() && !found.is_empty() {
        output::note(&format!(
            "{} orders tasks in ways that the graph does not see: races between its tasks may be false alarms",
            unseen.join(" and ")
        ));
    }
    shown::write(&args.form, &recording, &answer(&recording, found, args.form.top))?;
    Ok(Outcome::Code(if found.is_empty() { 0 } else { FOUND.into() }))
}

/// Races of a recording.
pub fn find(recording: &Recording) -> anyhow::Result<Races> {
    let mut races = Races::default();
    replay(recording, &mut races)?;
    Ok(races)
}

/// Races that were found, of which the text shows the first ones.
pub fn answer(recording: &Recording, found: &BTreeMap<Race, Instance>, most: usize) -> Answer {
    let head = match found.len() {
        0 if recording.sample.is_some() => "No data race in the recorded lines.".to_owned(),
        0 => "No data race: every two accesses to the same bytes, one of them a write, are ordered.".to_owned(),
        1 => "1 data race".to_owned(),
        count => format!("{count} data races"),
    };
    let at = |place: Place| shown_place(recording, place);
    let of_table = |(race, instance): (&Race, &Instance)| {
        let site = instance.allocation.and_then(|allocation| call(recording, allocation.segment));
        let (first, second) = instance.contexts;
        vec![
            json!(race.conflict.name()),
            json!(instance.count),
            json!(at(race.first)),
            json!(first),
            json!(at(race.second)),
            json!(second),
            json!(format!("{:#x}", instance.address)),
            json!(site),
        ]
    };
    Answer {
        of: "graph races",
        numbers: Numbers::Part,
        title: "Data races",
        help: "Two accesses to the same bytes, one of them a write, that nothing orders: with the contexts that made them where \
               it was seen first.",
        fields: json!({ "complete": recording.complete(), "unseen_order": unseen(recording) }),
        table: Table {
            name: "races",
            columns: &["kind", "count", "first", "first_context", "second", "second_context", "address", "allocated_at"],
            rows: found.iter().map(of_table).collect(),
        },
        json: Some(found.iter().map(|(race, instance)| row(recording, race, instance)).collect()),
        text: Some(text(recording, &head, found, most)),
        head,
        ..Answer::default()
    }
}

fn text(recording: &Recording, head: &str, found: &BTreeMap<Race, Instance>, most: usize) -> String {
    let mut text = format!("{head}\n");
    for (race, instance) in found.iter().take(most) {
        let (first, second) = instance.contexts;
        // A string takes any text.
        let _ = write!(
            text,
            "\n{} race, seen {} times\n  first   {}, context {first}\n  second  {}, context {second}\n  at      {:#x}{}\n",
            race.conflict.name(),
            instance.count,
            shown_place(recording, race.first),
            shown_place(recording, race.second),
            instance.address,
            instance.allocation.map_or_else(String::new, |allocation| {
                let site = call(recording, allocation.segment).map(|site| format!(" allocated at {site}"));
                let distance = instance.address - allocation.address;
                format!(": byte {distance} of {}{}", allocation.size, site.unwrap_or_default())
            }),
        );
    }
    if found.len() > most {
        let _ = writeln!(text, "\n{} more: see them with --top {}", found.len() - most, found.len());
    }
    text
}

fn row(recording: &Recording, race: &Race, instance: &Instance) -> Value {
    let end = |(module, operation): Place, context: u32| {
        let place = recording.program.place(module as usize, operation as usize);
        json!({ "file": place.map(|(file, _)| file), "line": place.map(|(_, line)| line), "context": context })
    };
    let allocation = instance.allocation.map(|allocation| {
        let site = allocation_site(recording, allocation.segment);
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

fn shown_place(recording: &Recording, (module, operation): Place) -> String {
    let place = recording.program.place(module as usize, operation as usize);
    place.map_or_else(|| "code without debug information".to_owned(), |(file, line)| short(file, line))
}
