//! One set of sites and contexts for two recordings.
//!
//! Each recording numbers its own. What both have keeps the number that it has in the new one; what only the base has comes
//! after. Cost: linear in contexts, but for those that only the base has, which are looked for one by one.

use std::collections::{BTreeSet, HashMap};

use workspan_model::{ContextId, Recording, Site, SiteId, SiteKind};

use crate::diff::matched;

/// Two recordings whose strands can be distinguished by the same contexts.
#[derive(Clone, Debug)]
pub struct United {
    /// Sites and contexts of both; command, runtime and machine of the new one; no runs.
    pub recording: Recording,
    /// By the base's number.
    pub(super) base: Vec<ContextId>,
    /// By the new one's number: each is its own.
    pub(super) new: Vec<ContextId>,
}

impl United {
    /// Where each of the base's contexts leads.
    pub fn base_contexts(&self) -> &[ContextId] {
        &self.base
    }

    /// The same of the new one's.
    pub fn new_contexts(&self) -> &[ContextId] {
        &self.new
    }
}

/// Finds out what two recordings have in common.
pub fn unite(base: &Recording, new: &Recording) -> United {
    let mut sites = new.sites.clone();
    let same = same_sites(base, new, &mut sites);
    let mut contexts = new.contexts.clone();
    let known: HashMap<(ContextId, Option<SiteId>), ContextId> = contexts
        .ids()
        .skip(1)
        .filter_map(|id| contexts.get(id).map(|context| ((context.parent, context.site), id)))
        .collect();
    let mut leads_to = vec![ContextId::ROOT];
    for id in base.contexts.ids().skip(1) {
        let Some(context) = base.contexts.get(id) else {
            continue;
        };
        // Parents come first.
        let parent = leads_to.get(context.parent.index()).copied().unwrap_or(ContextId::ROOT);
        let site = context.site.and_then(|site| same.get(site.0 as usize).copied());
        let found = known.get(&(parent, site)).copied();
        leads_to.push(found.or_else(|| contexts.intern(parent, site?)).unwrap_or(parent));
    }
    let recording = Recording {
        command: new.command.clone(),
        directory: new.directory.clone(),
        runtime: new.runtime.clone(),
        machine: new.machine.clone(),
        sites,
        contexts,
        ran: new.ran.clone(),
        ..Recording::default()
    };
    United { recording, base: leads_to, new: new.contexts.ids().collect() }
}

/// For each site of `base` the same one among `sites`, which are the new recording's; they get those that they lack.
fn same_sites(base: &Recording, new: &Recording, sites: &mut Vec<Site>) -> Vec<SiteId> {
    let ids = |recording: &Recording| (0..u32::try_from(recording.sites.len()).unwrap_or(u32::MAX)).map(SiteId);
    let is_serial = |recording: &Recording, id: SiteId| {
        recording.sites.get(id.0 as usize).is_some_and(|site| matches!(site.kind, SiteKind::Serial { .. }))
    };
    let placed = |recording: &Recording| -> BTreeSet<SiteId> {
        ids(recording).filter(|id| !is_serial(recording, *id)).collect()
    };
    let pairs = matched([base, new], &[placed(base), placed(new)]);
    let mut same: HashMap<SiteId, SiteId> = pairs.into_iter().filter_map(|(base, new)| Some((base?, new?))).collect();
    let mut add = |site: Site| {
        sites.push(site);
        SiteId(u32::try_from(sites.len() - 1).unwrap_or(u32::MAX))
    };
    for id in placed(base) {
        if let Some(site) = base.sites.get(id.0 as usize) {
            same.entry(id).or_insert_with(|| add(site.clone()));
        }
    }
    // Serial code is known by what is before and after it.
    let serial: HashMap<SiteKind, SiteId> = ids(new)
        .filter(|id| is_serial(new, *id))
        .filter_map(|id| new.sites.get(id.0 as usize).map(|site| (site.kind, id)))
        .collect();
    ids(base)
        .zip(&base.sites)
        .map(|(id, site)| {
            let SiteKind::Serial { from, to } = site.kind else {
                return same.get(&id).copied().unwrap_or(id);
            };
            let end = |end: Option<SiteId>| end.and_then(|end| same.get(&end).copied());
            let kind = SiteKind::Serial { from: end(from), to: end(to) };
            serial.get(&kind).copied().unwrap_or_else(|| add(Site { kind, ..site.clone() }))
        })
        .collect()
}
