//! The tables beside the strands: sites, contexts, and what is known of the run.

use std::path::Path;

use workspan_model::{Clock, ContextId, Recording, Site};

use super::{Meta, Summary};
use crate::names::{self, CONTEXTS, SITES};
use crate::table::{self, Column};
use crate::{schema, StoreError};

/// Whether all strands of a run are there.
#[derive(Clone, Copy, Debug)]
pub(super) enum State<'a> {
    /// They are.
    Complete,
    /// Not all, and why.
    Partial(&'a str),
    /// The writer is at work, or was killed.
    Unfinished,
}

pub(super) fn write_meta(
    folder: &Path,
    run: u32,
    meta: &Meta,
    state: State<'_>,
    summary: Option<&Summary>,
) -> Result<(), StoreError> {
    let (state, reason) = match state {
        State::Complete => ("complete", None),
        State::Partial(reason) => ("partial", Some(reason.to_owned())),
        State::Unfinished => ("unfinished", None),
    };
    let clock = match meta.clock {
        Clock::Real => "real",
        Clock::Virtual => "virtual",
    };
    let mut rows = vec![
        ("format", Some(schema::version())),
        ("command", Some(meta.command.join(" "))),
        ("made_at", Some(meta.made_at.to_string())),
        ("made_by", Some(meta.made_by.clone())),
        ("runtime", Some(meta.runtime.clone())),
        ("clock", Some(clock.to_owned())),
        ("ticks_per_second", Some(meta.ticks_per_second.to_string())),
        ("state", Some(state.to_owned())),
        ("reason", reason),
    ];
    if let Some(summary) = summary {
        rows.push(("strands", Some(summary.strands.to_string())));
        rows.push(("tasks", Some(summary.tasks.to_string())));
        rows.push(("parts", Some(summary.parts.to_string())));
    }
    rows.retain(|(_, value)| value.is_some());
    let (keys, values): (Vec<_>, Vec<_>) = rows.into_iter().map(|(key, value)| (Some(key.to_owned()), value)).unzip();
    let columns = [
        ("run", Column::Number(vec![Some(run.into()); keys.len()])),
        ("key", Column::Text(keys)),
        ("value", Column::Text(values)),
    ];
    table::write(&folder.join(names::meta(run)), &columns)
}

pub(super) fn write_sites(folder: &Path, recording: &Recording) -> Result<(), StoreError> {
    let sites = &recording.sites;
    let text = |value: fn(&Site) -> &str| {
        Column::Text(sites.iter().map(|site| Some(value(site).to_owned()).filter(|text| !text.is_empty())).collect())
    };
    // Lines and columns count from 1.
    let number = |value: fn(&Site) -> u32| {
        Column::Number(sites.iter().map(|site| Some(i64::from(value(site))).filter(|n| *n > 0)).collect())
    };
    let columns = [
        ("site", Column::Number((0..).map(Some).take(sites.len()).collect())),
        ("handle", Column::Text(sites.iter().map(|site| Some(site.stable_id(sites))).collect())),
        ("kind", text(|site| site.kind.name())),
        ("place", Column::Text(sites.iter().map(place).collect())),
        ("file", text(|site| &site.file)),
        ("line", number(|site| site.line)),
        ("col", number(|site| site.column)),
        ("function", text(|site| site.function.as_ref().map_or("", |function| &function.name))),
        ("type_name", text(|site| &site.type_name)),
        ("module", text(|site| &site.module)),
        ("address", Column::Number(sites.iter().map(|site| site.bare_address()?.try_into().ok()).collect())),
        ("via_file", text(|site| site.via.as_ref().map_or("", |(file, _)| file))),
        ("via_line", number(|site| site.via.as_ref().map_or(0, |(_, line)| *line))),
    ];
    table::write(&folder.join(SITES), &columns)
}

/// `file:line`, if known.
fn place(site: &Site) -> Option<String> {
    (!site.file.is_empty()).then(|| format!("{}:{}", site.file, site.line))
}

pub(super) fn write_contexts(folder: &Path, recording: &Recording) -> Result<(), StoreError> {
    let tree = &recording.contexts;
    let number = |value: &dyn Fn(ContextId) -> Option<i64>| Column::Number(tree.ids().map(value).collect());
    let get = |id| tree.get(id);
    let columns = [
        ("context", number(&|id| Some(id.0.into()))),
        ("parent", number(&|id| get(id).filter(|_| id != ContextId::ROOT).map(|context| context.parent.0.into()))),
        ("site", number(&|id| tree.site(id).map(|site| site.0.into()))),
        ("depth", number(&|id| i64::try_from(tree.path(id).count()).ok())),
        ("recursive", Column::Truth(tree.ids().map(|id| get(id).is_some_and(|context| context.recursive)).collect())),
    ];
    table::write(&folder.join(CONTEXTS), &columns)
}
