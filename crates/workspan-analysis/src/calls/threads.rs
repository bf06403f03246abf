//! Threads of the program as call sites.
//!
//! The critical path comes into the middle of a thread where the thread waited, and leaves it where another waited for it. So no
//! thread is on the path as a whole, and what a thread has of the path is what the path spends in it and in all below.
//!
//! In strands, a thread that waits for what stands later is [several tasks](crate::strands): what is known of all its instances is
//! what the collector has reported.

use std::collections::BTreeMap;

use workspan_model::{CallMetrics, ContextId, Nanos, Recording, Run, SiteKind};

use super::{burdened_spans, edges, of_run, sorted, Burdened, CallKey, Calls, Edge};

/// `calls` of `run`, by site, with rows of threads as they are defined here.
pub fn with_threads(recording: &Recording, run: &Run, mut calls: Calls) -> Calls {
    let threads = metrics(recording, run);
    if threads.is_empty() {
        return calls;
    }
    let has_burdened = run.burdened_span > Nanos::ZERO;
    let burdened = if has_burdened { burdened_spans(recording, run) } else { BTreeMap::new() };
    for row in &mut calls.rows {
        let edge = row.edge();
        if let Some(metrics) = threads.get(&edge) {
            let (local_work, local_span) = (row.metrics.local_work, row.metrics.local_span);
            row.metrics = CallMetrics { local_work, local_span, ..*metrics };
            let span = burdened.get(&edge).map(|sums| sums.span_on_work);
            row.burdened = span.map(|span| Burdened::of(metrics.work_on_work, span)).or(row.burdened);
        }
    }
    Calls { rows: sorted(calls.rows), ..calls }
}

fn metrics(recording: &Recording, run: &Run) -> BTreeMap<Edge, CallMetrics> {
    let tree = &recording.contexts;
    let is_thread = |id: ContextId| {
        let site = tree.site(id).and_then(|site| recording.sites.get(site.0 as usize));
        site.is_some_and(|site| site.kind == SiteKind::Thread) && tree.get(id).is_some_and(|context| !context.recursive)
    };
    let on_path = tree.inclusive(&run.critical);
    let reported = of_run(recording, run);
    let threads = tree.ids().zip(reported).filter(|(id, _)| is_thread(*id)).map(|(id, metrics)| {
        let span = on_path.get(id.index()).copied().unwrap_or_default();
        (CallKey::Context(id), CallMetrics { work_on_span: span, span_on_span: span, ..metrics })
    });
    edges(recording, threads)
}

#[cfg(test)]
mod tests {
    use workspan_model::{Site, Totals};

    use super::*;
    use crate::calls::from_totals;

    /// Two threads of one place; the path comes to the second when it gets the lock of the first.
    #[test]
    fn what_the_path_spends_in_threads_is_theirs() {
        let site = |kind| Site::at(kind, "a.c", 1, 1);
        let mut recording =
            Recording { sites: vec![site(SiteKind::Thread), site(SiteKind::Lock)], ..Recording::default() };
        let thread = recording.contexts.intern(ContextId::ROOT, workspan_model::SiteId(0)).unwrap();
        recording.contexts.intern(thread, workspan_model::SiteId(1)).unwrap();
        let of = |work, all, span, instances| {
            let (self_work, work, span) = (Nanos(work), Nanos(all), Nanos(span));
            Totals { self_work, work, span, instances, ..Totals::default() }
        };
        let totals = vec![of(1, 1, 0, 0), of(100, 140, 190, 2), of(40, 40, 40, 2)];
        let critical = vec![Nanos(1), Nanos(70), Nanos(40)];
        let run = Run { span: Nanos(111), totals, critical, ..Run::default() };
        let calls = with_threads(&recording, &run, from_totals(&recording, &run, Nanos::ZERO));
        let row = calls.rows.first().unwrap().metrics;
        assert_eq!((row.span_on_span, row.work_on_span, row.local_span), (Nanos(110), Nanos(110), Nanos(70)));
        assert_eq!((row.span_on_work, row.work_on_work, row.calls_on_work), (Nanos(190), Nanos(140), 2));
    }
}
