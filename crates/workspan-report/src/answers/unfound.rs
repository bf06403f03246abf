//! Lines that name no strand: why, and what to name in their place.

use workspan_analysis::advise::piece_id;
use workspan_analysis::strands::Place;
use workspan_analysis::what_if::{is_file, path_by_place, Figures, Selector};
use workspan_model::{Recording, Site, SiteId};

use crate::parts::piece;
use crate::place::short_file;
use crate::words::percent;

/// Segments that are proposed.
const PROPOSED: usize = 5;
/// Files that are named.
const FILES: usize = 4;

/// Why this part of a scenario has no strand of a program whose critical path is `recorded`'s. Nothing of parts that are no lines.
pub(crate) fn lines(recording: &Recording, recorded: &Figures, part: &Selector) -> Option<String> {
    let Selector::Lines { file, first, last } = part else {
        return None;
    };
    let lines = if first == last { format!("{file}:{first}") } else { format!("{file}:{first}-{last}") };
    let known = |site: &Site| files_of(site).any(|path| is_file(path, file));
    if !recording.sites.iter().any(known) && !recording.ran.iter().any(|ran| is_file(&ran.file, file)) {
        return Some(format!("{lines} names no code of this recording, {}: nothing changes", others(recording)));
    }
    let rows = path_by_place(&recording.contexts, recorded, recorded);
    let near = rows.iter().filter(|row| is_in(recording, &row.place, file));
    let near: Vec<String> = near
        .take(PROPOSED)
        .map(|row| {
            let share = row.before.over(recorded.replayed.span).map_or_else(String::new, percent);
            format!("{} ({share}) {}", piece_id(recording, &row.place), piece(recording, &row.place).text)
        })
        .collect();
    let proposed = match near.is_empty() {
        true => "No code of this file is on the critical path; `workspan advise` lists the code that is".to_owned(),
        false => format!(
            "Name the segment that runs these lines by its id; of this file, these have most of the critical path: {}",
            near.join("; ")
        ),
    };
    Some(format!(
        "{lines} names no code, so nothing changes: there are no two task events in these lines (fork, spawn, lock, wait, end) \
         with code between them, and samples (one in 4 ms) saw no serial code at work mostly there. {proposed}"
    ))
}

/// Which files the recording has.
fn others(recording: &Recording) -> String {
    let sites = recording.sites.iter().flat_map(files_of);
    let mut files: Vec<&str> = sites.chain(recording.ran.iter().map(|ran| ran.file.as_str())).map(short_file).collect();
    files.retain(|file| !file.is_empty());
    files.sort_unstable();
    files.dedup();
    match files.len() {
        0 => "which knows no lines (compile the program with -g)".to_owned(),
        all if all > FILES => format!("whose files are {} and {} more", files[..FILES].join(", "), all - FILES),
        _ => format!("whose files are {}", files.join(", ")),
    }
}

fn files_of(site: &Site) -> impl Iterator<Item = &str> {
    std::iter::once(site.file.as_str()).chain(site.via.iter().map(|(file, _)| file.as_str()))
}

/// True if a segment is of a site in this file, or begins or ends there.
fn is_in(recording: &Recording, place: &Place, file: &str) -> bool {
    let is_at = |id: SiteId| {
        let Some(site) = recording.sites.get(id.0 as usize) else {
            return false;
        };
        let ends = match site.kind {
            workspan_model::SiteKind::Serial { from, to } => [from, to],
            _ => [None, None],
        };
        let ends = ends.into_iter().flatten().filter_map(|end| recording.sites.get(end.0 as usize));
        let ran = recording.ran.iter().find(|ran| ran.site == id).map(|ran| ran.file.as_str());
        std::iter::once(site).chain(ends).flat_map(files_of).chain(ran).any(|path| is_file(path, file))
    };
    [place.site, place.before.site(), place.after.site()].into_iter().flatten().any(is_at)
}
