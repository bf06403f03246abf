//! Sites that turn out to be one place.
//!
//! A collector that knows a site only by the address of a call takes the copies that a compiler makes of it, by unrolling
//! and inlining, for several. Once the addresses have places, [`merge_sites`] makes one site of them, and folds the
//! recursion that only then shows, so that the recording is what it would have been had the places been known at once:
//!
//! * Contexts below the same sites fall together, and so do their totals.
//! * A context inside an instance of its own, merged site is a recursion: its instances lie within outermost ones, which
//!   have their work and span already (TaskProf 3.4). Everything else is added up, so that no strand is lost.
//!
//! **Cost:** that of making the tree again.

use std::collections::HashMap;

use crate::context::{ContextId, ContextTree};
use crate::recording::Recording;
use crate::run::{Lock, OpenRegion, Run, Totals};
use crate::site::{Site, SiteId, SiteIdentity, SiteKind};
use crate::units::Nanos;
use crate::wait::{unite, Role};

/// Makes one site of all that are of the same kind and place. Returns where each of the former contexts leads.
pub fn merge_sites(recording: &mut Recording) -> Vec<ContextId> {
    let (sites, site_of) = unify(&recording.sites);
    if sites.len() == recording.sites.len() {
        return recording.contexts.ids().collect();
    }
    let (contexts, target_of) = fold(&recording.contexts, &site_of);
    recording.sites = sites;
    recording.contexts = contexts;
    let count = recording.contexts.len();
    for run in &mut recording.runs {
        move_run(run, &target_of, count);
        for end in run.waits.iter_mut().flat_map(|wait| [&mut wait.waiter, &mut wait.on]) {
            if let Role::Threads(site) = end {
                *site = site_of.get(site.0 as usize).copied().unwrap_or(*site);
            }
        }
        unite(&mut run.waits);
    }
    target_of.iter().map(|target| target.context).collect()
}

/// The sites without repetition, and for each of the former its new id.
fn unify(sites: &[Site]) -> (Vec<Site>, Vec<SiteId>) {
    let mut kept: Vec<Site> = Vec::new();
    let mut known: HashMap<SiteIdentity, SiteId> = HashMap::new();
    let mut new = vec![SiteId(0); sites.len()];
    let serial = |site: &Site| matches!(site.kind, SiteKind::Serial { .. });
    // Serial code lies between other sites, and is the same if those are.
    let (places, between): (Vec<usize>, Vec<usize>) = (0..sites.len()).partition(|index| !serial(&sites[*index]));
    for index in places.into_iter().chain(between) {
        let mut site = sites[index].clone();
        if let SiteKind::Serial { from, to } = &mut site.kind {
            for end in [from, to] {
                *end = end.and_then(|id| new.get(id.0 as usize).copied());
            }
        }
        new[index] = *known.entry(site.identity()).or_insert_with(|| {
            kept.push(site);
            SiteId(u32::try_from(kept.len() - 1).unwrap_or(u32::MAX))
        });
    }
    (kept, new)
}

/// Where a former context leads.
#[derive(Clone, Copy, Debug)]
struct Target {
    context: ContextId,
    /// It became a recursion.
    inside_itself: bool,
}

/// The tree of the new sites, and for each of the former contexts where it leads.
fn fold(tree: &ContextTree, site_of: &[SiteId]) -> (ContextTree, Vec<Target>) {
    let mut folded = ContextTree::default();
    let mut targets: Vec<Target> = Vec::with_capacity(tree.len());
    for context in tree.ids().filter_map(|id| tree.get(id)) {
        let parent = targets.get(context.parent.index()).map_or(ContextId::ROOT, |target| target.context);
        let site = context.site.and_then(|site| site_of.get(site.0 as usize));
        let entered = site.and_then(|site| folded.enter(parent, *site));
        let (id, recursive) = entered.unwrap_or((ContextId::ROOT, false));
        targets.push(Target { context: id, inside_itself: recursive && !context.recursive });
    }
    (folded, targets)
}

fn move_run(run: &mut Run, targets: &[Target], count: usize) {
    let mut totals = vec![Totals::default(); count];
    for (former, target) in std::mem::take(&mut run.totals).iter().zip(targets) {
        add(&mut totals[target.context.index()], former, target.inside_itself);
    }
    run.totals = totals;
    let mut critical = vec![Nanos::ZERO; count];
    for (former, target) in run.critical.iter().zip(targets) {
        critical[target.context.index()] += *former;
    }
    run.critical = critical;
    for event in &mut run.events {
        let mut counts = vec![0u64; count];
        for (former, target) in event.counts.iter().zip(targets) {
            let sum = &mut counts[target.context.index()];
            *sum = sum.saturating_add(*former);
        }
        event.counts = counts;
    }
    for OpenRegion { context, outermost, span: _ } in &mut run.open {
        if let Some(target) = targets.get(context.index()) {
            *context = target.context;
            *outermost &= !target.inside_itself;
        }
    }
}

/// Adds totals; of instances that lie within others of their site, only what is not counted for those.
fn add(sum: &mut Totals, former: &Totals, inside_itself: bool) {
    // Every field by name: none is to be forgotten.
    let Totals {
        self_work,
        instances,
        work,
        span,
        on_path,
        entries,
        tasks,
        items,
        task_work,
        overhead,
        blocked,
        polled,
        wall,
        uniform_span,
        burdened_span,
        contended,
        lock,
        sizes,
    } = former;
    if !inside_itself {
        sum.uniform_span += *uniform_span;
        sum.burdened_span += *burdened_span;
        sum.instances += instances;
        sum.work += *work;
        sum.on_path.instances += on_path.instances;
        sum.on_path.work += on_path.work;
        sum.on_path.span += on_path.span;
        sum.span += *span;
    }
    sum.contended += *contended;
    sum.lock = match (sum.lock, *lock) {
        (Lock::None, other) | (other, Lock::None) => other,
        (one, other) if one == other => one,
        _ => Lock::Several,
    };
    sum.self_work += *self_work;
    sum.entries += entries;
    sum.tasks += tasks;
    sum.items += items;
    sum.task_work += *task_work;
    sum.overhead += *overhead;
    sum.blocked += *blocked;
    sum.polled += *polled;
    sum.wall += *wall;
    sum.sizes.merge(sizes);
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
