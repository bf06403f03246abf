//! What sites and programs are called in files of others.

use workspan_model::{ContextId, Recording, Site, SiteKind};
use workspan_report::place;

/// A site: where it is, what it is, and the function around it.
pub fn site(recording: &Recording, site: &Site) -> String {
    let label = place::label(recording, site);
    if matches!(site.kind, SiteKind::Serial { .. }) {
        return label;
    }
    let kind = place::marked(site).map_or_else(|| site.kind.name().to_owned(), |name| format!("`{name}`"));
    // For want of a place the code is named after the function.
    match site.function.as_ref().filter(|_| site.bare_address().is_none()) {
        Some(function) => format!("{label} {kind} in {}", function.name),
        None => format!("{label} {kind}"),
    }
}

/// The program.
pub fn program(recording: &Recording) -> String {
    let command = recording.command.first().map_or("", String::as_str);
    match command.rsplit('/').next() {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => "the program".to_owned(),
    }
}

/// The name of every context, in the order of the tree: of its site, or of the program for the root.
pub fn contexts(recording: &Recording) -> Vec<String> {
    let tree = &recording.contexts;
    let name = |id: ContextId| {
        let site = tree.site(id).and_then(|site| recording.sites.get(site.0 as usize));
        let recursive = tree.get(id).is_some_and(|context| context.recursive);
        let name = site.map_or_else(|| program(recording), |site| self::site(recording, site));
        if recursive {
            name + " (recursion)"
        } else {
            name
        }
    };
    tree.ids().map(name).collect()
}
