//! Which contexts to show.

use workspan_model::{ContextId, ContextTree, Run};

/// Contexts that have anything to show, or have such below them; parents first.
pub(crate) fn shown(tree: &ContextTree, run: &Run) -> Vec<ContextId> {
    let used: Vec<u64> = tree
        .ids()
        .map(|id| {
            let totals = run.totals.get(id.index());
            let critical = run.critical.get(id.index()).map_or(0, |c| c.0);
            u64::from(critical != 0 || totals.is_some_and(|t| t.self_work.0 != 0 || t.entries > 0))
        })
        .collect();
    let below = tree.inclusive(&used);
    tree.ids().filter(|id| *id != ContextId::ROOT && below[id.index()] > 0).collect()
}
