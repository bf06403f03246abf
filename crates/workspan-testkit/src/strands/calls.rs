//! Sums over calls, one by one.

use std::collections::BTreeMap;

use workspan_model::{CallMetrics, ContextId, Nanos, Recording, SiteId};

use super::dag::{Call, Evaluated};

/// A call site: the site, the one around it, and the height of its instances if they are distinguished by that.
pub type Edge = (SiteId, Option<SiteId>, Option<u32>);

fn site(recording: &Recording, context: ContextId) -> Option<SiteId> {
    recording.contexts.site(context).filter(|site| recording.sites[site.0 as usize].kind.spawns())
}

fn add(sums: &mut CallMetrics, call: &Call) {
    sums.calls_on_work += 1;
    sums.work_on_work += Nanos(call.work);
    sums.span_on_work += Nanos(call.span);
    if call.on_path {
        sums.calls_on_span += 1;
        sums.work_on_span += Nanos(call.work);
        sums.span_on_span += Nanos(call.span);
    }
}

/// Sums of the outermost instances, and what all run themselves.
pub fn outermost(recording: &Recording, answer: &Evaluated) -> BTreeMap<Edge, CallMetrics> {
    let mut edges: BTreeMap<Edge, CallMetrics> = BTreeMap::new();
    let edge = |context: ContextId| {
        let around = recording.contexts.get(context)?.parent;
        Some((recording.contexts.site(context)?, site(recording, around), None))
    };
    for call in answer.calls.iter().filter(|call| call.outermost) {
        if let Some(edge) = edge(call.context) {
            add(edges.entry(edge).or_default(), call);
        }
    }
    for (id, sums) in recording.contexts.ids().zip(&answer.contexts) {
        if let Some(edge) = edge(id) {
            let local = CallMetrics {
                local_work: Nanos(sums.self_work),
                local_span: Nanos(sums.critical),
                ..CallMetrics::ZERO
            };
            *edges.entry(edge).or_default() += local;
        }
    }
    edges.retain(|_, sums| *sums != CallMetrics::ZERO);
    edges
}

/// Sums of all instances.
pub fn by_height(recording: &Recording, answer: &Evaluated) -> BTreeMap<Edge, CallMetrics> {
    let mut edges: BTreeMap<Edge, CallMetrics> = BTreeMap::new();
    for call in &answer.calls {
        let Some(callee) = site(recording, call.context) else {
            continue;
        };
        let sums = edges.entry((callee, site(recording, call.around), Some(call.height))).or_default();
        add(sums, call);
        sums.local_work += Nanos(call.own);
        sums.local_span += Nanos(call.own_on_path);
    }
    edges
}
