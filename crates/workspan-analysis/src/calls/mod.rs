//! Call sites: work and span of what they call, in all and on the critical path (Cilkprof ch. 2).
//!
//! A call site is an edge: a site, and the one around it. [`by_edge`] adds up what is known of each context, wherever that
//! comes from: told on the fly, or computed from strands.
//!
//! Definitions: `docs/methods/calls.md`.

use std::collections::BTreeMap;

use workspan_model::{CallMetrics, Recording, SiteId};

/// A call site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// The site around it; `None` for code outside of all regions.
    pub caller: Option<SiteId>,
    /// The site.
    pub callee: SiteId,
    /// Instances of this height only: so many instances are nested below them at most.
    pub height: Option<u32>,
    /// What is known of it.
    pub metrics: CallMetrics,
}

impl CallRow {
    /// What it has of the critical path: with all below or, of what is no instance of its own, by itself.
    pub fn on_span(&self) -> workspan_model::Nanos {
        self.metrics.span_on_span.max(self.metrics.local_span)
    }
}

/// Adds up the metrics of each context, in the order of the recording's tree, by call site. By falling part of the critical
/// path, then of the work.
pub fn by_edge(recording: &Recording, contexts: &[CallMetrics]) -> Vec<CallRow> {
    let tree = &recording.contexts;
    let spawns = |site: &SiteId| recording.sites.get(site.0 as usize).is_some_and(|site| site.kind.spawns());
    let mut edges: BTreeMap<(SiteId, Option<SiteId>), CallMetrics> = BTreeMap::new();
    for (id, metrics) in tree.ids().zip(contexts).filter(|(_, metrics)| **metrics != CallMetrics::ZERO) {
        let Some((context, callee)) = tree.get(id).and_then(|context| Some((context, context.site?))) else {
            continue;
        };
        let caller = tree.site(context.parent).filter(spawns);
        *edges.entry((callee, caller)).or_default() += *metrics;
    }
    let row = |((callee, caller), metrics)| CallRow { caller, callee, height: None, metrics };
    sorted(edges.into_iter().map(row).collect())
}

fn sorted(mut rows: Vec<CallRow>) -> Vec<CallRow> {
    rows.sort_by_key(|row| {
        let size = (row.on_span(), row.metrics.work_on_work, row.metrics.local_work);
        (std::cmp::Reverse(size), row.callee, row.caller, row.height)
    });
    rows
}
