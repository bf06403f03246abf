//! Which sites of two recordings are the same.
//!
//! Sites are matched in two steps. First those with the same kind and place ([`workspan_model::SiteIdentity`]) whose
//! functions, as far as they are known, are the same, too. A change moves what stands below it; so of what is left, the
//! sites of a kind in a function are matched in their order, if there are as many of them on both sides.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use workspan_model::{Recording, Site, SiteId};

/// Sites of both sides, each once.
pub(crate) fn matched(
    recordings: [&Recording; 2],
    sites: &[BTreeSet<SiteId>; 2],
) -> Vec<(Option<SiteId>, Option<SiteId>)> {
    let site = |side: usize, id: SiteId| recordings[side].sites.get(id.0 as usize);
    let mut places = HashMap::new();
    for id in &sites[1] {
        places.extend(site(1, *id).map(|found| (found.identity(), *id)));
    }
    let mut pairs = Vec::new();
    let mut rest: [BTreeSet<SiteId>; 2] = [BTreeSet::new(), sites[1].clone()];
    for id in &sites[0] {
        let found = site(0, *id).and_then(|before| {
            let other = *places.get(&before.identity())?;
            same_function(before, site(1, other)?).then_some(other)
        });
        match found {
            Some(other) => {
                rest[1].remove(&other);
                pairs.push((Some(*id), Some(other)));
            }
            None => {
                rest[0].insert(*id);
            }
        }
    }
    // What has moved within its function.
    let [before, after] = [0, 1].map(|side| {
        let mut groups: BTreeMap<(&'static str, &str, &str), Vec<SiteId>> = BTreeMap::new();
        for id in &rest[side] {
            if let Some((found, name)) = site(side, *id).and_then(|found| Some((found, function(found)?))) {
                groups.entry((found.kind.name(), found.file.as_str(), name)).or_default().push(*id);
            }
        }
        for group in groups.values_mut() {
            group.sort_by_key(|id| site(side, *id).map(|found| (found.line, found.column)));
        }
        groups
    });
    let mut moved: Vec<(SiteId, SiteId)> = Vec::new();
    for (key, group) in &before {
        if let Some(other) = after.get(key).filter(|other| other.len() == group.len()) {
            moved.extend(group.iter().copied().zip(other.iter().copied()));
        }
    }
    for (before, after) in moved {
        rest[0].remove(&before);
        rest[1].remove(&after);
        pairs.push((Some(before), Some(after)));
    }
    pairs.extend(rest[0].iter().map(|id| (Some(*id), None)));
    pairs.extend(rest[1].iter().map(|id| (None, Some(*id))));
    pairs
}

fn function(site: &Site) -> Option<&str> {
    site.function.as_ref().map(|function| function.name.as_str())
}

fn same_function(a: &Site, b: &Site) -> bool {
    match (function(a), function(b)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}
