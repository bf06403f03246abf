//! Call sites: work and span of what they call, in all and on the critical path (Cilkprof ch. 2).
//!
//! A call site is an edge: a site, and the one around it. [`by_edge`] adds up what is known of each context, wherever that
//! comes from: reported on the fly, or computed from strands by [`calls`], which can also report calls by height (Cilkprof 4.1) and
//! what stealing would cost at worst ([`Burdened`], Cilkview).
//!
//! Definitions: `docs/methods/calls.md`.

mod threads;

use std::collections::BTreeMap;

use workspan_model::{CallMetrics, ContextId, Nanos, Ratio, Recording, Run, SiteId, SiteKind, Totals};

use crate::laws;
use crate::strands::{run, CallKey, Machine, Problems, Rows, View};

pub use threads::with_threads;

/// What a steal costs where nobody has measured it: Cilkview's 15 000 instructions, on a processor of today.
pub const DEFAULT_STEAL: Nanos = Nanos(5_000);

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// All instances, by their height, in place of the outermost ones only.
    pub heights: bool,
    /// What it costs that a branch or task is stolen.
    pub steal: Nanos,
    /// Time on one processor, as recorded; at least the work is taken.
    pub on_one: Nanos,
}

/// The calls of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    /// Cost of all strands.
    pub work: Nanos,
    /// Longest chain of strands.
    pub span: Nanos,
    /// Work over span.
    pub parallelism: Option<Ratio>,
    /// The whole program, with steals; as far as that was computed.
    pub burdened: Option<Burdened>,
    /// Call sites, by falling part of the critical path.
    pub rows: Vec<CallRow>,
    /// What was wrong with the rows.
    pub problems: Problems,
}

/// What would be if all that can be stolen were.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Burdened {
    /// The longest chain of strands and steals.
    pub span: Nanos,
    /// Work over that.
    pub parallelism: Option<Ratio>,
}

impl Burdened {
    /// Of time on one processor and burdened span.
    pub fn of(work: Nanos, span: Nanos) -> Burdened {
        Burdened { span, parallelism: laws::parallelism(work, span) }
    }
}

/// A call site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallRow {
    /// The site around it; `None` for code outside of all regions.
    pub caller: Option<SiteId>,
    /// The site.
    pub callee: SiteId,
    /// Instances of this height only: this number of instances are nested below them at most.
    pub height: Option<u32>,
    /// What is known of it.
    pub metrics: CallMetrics,
    /// Its instances with steals: sum of their spans, and their work over that. As far as that was computed.
    pub burdened: Option<Burdened>,
}

impl CallRow {
    fn edge(&self) -> Edge {
        Edge { callee: self.callee, caller: self.caller, height: self.height }
    }

    /// What it has of the critical path: with all below or, of what is no instance of its own, by itself.
    pub fn on_span(&self) -> Nanos {
        self.metrics.span_on_span.max(self.metrics.local_span)
    }
}

/// The calls of a run of `recording`, from its strands.
pub fn calls<R: Rows + ?Sized>(recording: &Recording, rows: &R, options: &Options) -> Result<Calls, R::Error> {
    let view = if options.heights { View::Heights } else { View::Outermost };
    let machine = || Machine::of_calls(recording, view);
    let finished = run(rows, || vec![machine(), machine().with_burden(options.steal)])?;
    let [plain, burdened] = &finished[..] else {
        return Ok(Calls::default());
    };
    let spans: BTreeMap<Edge, CallMetrics> = edges(recording, burdened.calls());
    let row = |(edge, metrics): (Edge, CallMetrics)| CallRow {
        burdened: spans.get(&edge).map(|sums| Burdened::of(metrics.work_on_work, sums.span_on_work)),
        ..edge.row(metrics)
    };
    let on_one = options.on_one.max(plain.work);
    Ok(Calls {
        work: plain.work,
        span: plain.span,
        parallelism: laws::parallelism(on_one, plain.span),
        burdened: Some(Burdened::of(on_one, burdened.span)),
        rows: sorted(edges(recording, plain.calls()).into_iter().map(row).collect()),
        problems: plain.problems,
    })
}

/// The calls of a run of `recording` as it was reported on the fly, without its strands; `on_one`: its time on one
/// processor.
pub fn from_totals(recording: &Recording, run: &Run, on_one: Nanos) -> Calls {
    let work = run.work();
    let on_one = on_one.max(work);
    let mut rows = by_edge(recording, &of_run(recording, run));
    let has_burdened = run.burdened_span > Nanos::ZERO;
    if has_burdened {
        let spans = burdened_spans(recording, run);
        for row in &mut rows {
            let span = spans.get(&row.edge()).map_or(Nanos::ZERO, |sums| sums.span_on_work);
            row.burdened = Some(Burdened::of(row.metrics.work_on_work, span));
        }
    }
    Calls {
        work,
        span: run.span,
        parallelism: laws::parallelism(on_one, run.span),
        burdened: has_burdened.then(|| Burdened::of(on_one, run.burdened_span)),
        rows,
        ..Calls::default()
    }
}

/// The sums over the spans of instances, with steals, by call site.
fn burdened_spans(recording: &Recording, run: &Run) -> BTreeMap<Edge, CallMetrics> {
    let spans = recording.contexts.ids().zip(&run.totals).map(|(id, totals)| {
        (CallKey::Context(id), CallMetrics { span_on_work: totals.burdened_span, ..CallMetrics::ZERO })
    });
    edges(recording, spans)
}

/// What a run reports for each context without its strands, in the order of the recording's tree.
pub(crate) fn of_run(recording: &Recording, run: &Run) -> Vec<CallMetrics> {
    let tree = &recording.contexts;
    let (lasts, openmp) = (recording.lasting(), recording.has_lasting_tasks());
    let below = tree.inclusive(&run.totals.iter().map(|totals| totals.self_work).collect::<Vec<_>>());
    let critical = run.critical.iter().copied().chain(std::iter::repeat(Nanos::ZERO));
    let metrics = |(((id, totals), below), local_span): (((ContextId, &Totals), Nanos), Nanos)| {
        let context = tree.get(id);
        let kind = context.and_then(|context| recording.sites.get(context.site?.0 as usize)).map(|site| site.kind);
        // An instance of OpenMP or oneTBB has all that was created in it.
        let all = kind.is_some_and(|kind| lasts(kind) && (openmp || kind != SiteKind::Marked));
        let all = all && context.is_some_and(|context| !context.recursive);
        CallMetrics {
            calls_on_work: totals.instances,
            // Of a loop's members, those that do not learn its place run it in the context around.
            work_on_work: if all { below.max(totals.work) } else { totals.work },
            span_on_work: totals.span,
            calls_on_span: totals.on_path.instances,
            work_on_span: totals.on_path.work,
            span_on_span: totals.on_path.span,
            local_work: totals.self_work,
            local_span,
        }
    };
    tree.ids().zip(&run.totals).zip(below).zip(critical).map(metrics).collect()
}

/// Adds up the metrics of each context, in the order of the recording's tree, by call site. By falling part of the critical
/// path, then of the work.
pub(crate) fn by_edge(recording: &Recording, contexts: &[CallMetrics]) -> Vec<CallRow> {
    let contexts = recording.contexts.ids().map(CallKey::Context).zip(contexts.iter().copied());
    let edges = edges(recording, contexts.filter(|(_, metrics)| *metrics != CallMetrics::ZERO));
    sorted(edges.into_iter().map(|(edge, metrics)| edge.row(metrics)).collect())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    callee: SiteId,
    caller: Option<SiteId>,
    height: Option<u32>,
}

impl Edge {
    /// `None` for the root.
    fn of(recording: &Recording, key: CallKey) -> Option<Edge> {
        let context = match key {
            CallKey::Height { callee, caller, height } => return Some(Edge { callee, caller, height: Some(height) }),
            CallKey::Context(context) => recording.contexts.get(context)?,
        };
        let spawns = |site: &SiteId| recording.sites.get(site.0 as usize).is_some_and(|site| site.kind.spawns());
        let caller = recording.contexts.site(context.parent).filter(spawns);
        Some(Edge { callee: context.site?, caller, height: None })
    }

    fn row(self, metrics: CallMetrics) -> CallRow {
        let Edge { callee, caller, height } = self;
        CallRow { caller, callee, height, metrics, burdened: None }
    }
}

fn edges(recording: &Recording, rows: impl IntoIterator<Item = (CallKey, CallMetrics)>) -> BTreeMap<Edge, CallMetrics> {
    let mut edges: BTreeMap<Edge, CallMetrics> = BTreeMap::new();
    for (key, metrics) in rows {
        if let Some(edge) = Edge::of(recording, key) {
            *edges.entry(edge).or_default() += metrics;
        }
    }
    edges
}

fn sorted(mut rows: Vec<CallRow>) -> Vec<CallRow> {
    rows.sort_by_key(|row| {
        let size = (row.on_span(), row.metrics.work_on_work, row.metrics.local_work);
        (std::cmp::Reverse(size), row.callee, row.caller, row.height)
    });
    rows
}
