//! The parallelism profile (TaskProf ch. 3; Cilkprof ch. 2).
//!
//! * Work of a site: sum over the outermost instances of the site, descendants included; span likewise. Parallelism is
//!   their quotient, as [`mod@crate::laws`] has it. Recursive instances lie within outermost ones and are not added again (TaskProf 3.4).
//! * Instances of a site may run beside each other, and then no chain has all of them: the span of a row is the sum over its
//!   instances, and at most the program's ([`laws::row_span`]). The sum alone is kept beside it; parallelism is work over that, so of one
//!   instance as of many beside each other.
//! * Critical share of a site: what the strands *of that site itself* contribute to the critical path. Exclusive, so the
//!   shares of all sites and serial rows add up to 100 %.
//! * Task overhead: cost of creating tasks over work; of a site: exclusive, the tasks it creates itself; total, with all
//!   that its descendants create.
//! * A region is a context directly below the root; serial code between regions has rows of its own. The spans of the
//!   root strand's regions and serial rows add up to the program's.
//!
//! Cost: linear in contexts, but for [`workspan_model::ContextTree::path`], whose length recursion does not add to.

mod rows;

use std::collections::BTreeMap;

use crate::calls::Burdened;
use crate::laws::{self, Stage};
use workspan_model::kind::Created;
use workspan_model::{
    Clock, ContextId, ContextTree, Ending, Histogram, Lock, Nanos, OnPath, Ratio, Recording, Run, SiteId, SiteKind,
    Totals,
};

pub use rows::{Profile, Program, Region, SiteRow, Uniform};

/// Of a region's span, what need not be on the path where all of it is.
const ROUNDED: i64 = 10_000;

/// The profile of `run`, which belongs to `recording`.
pub fn profile(recording: &Recording, run: &Run) -> Profile {
    let tree = &recording.contexts;
    let overhead: Vec<Picos> = tree.ids().map(|id| overhead_of(recording, run, id)).collect();
    let mut program = program(run, &overhead, tree, recording);
    let regions = regions(recording, run, &overhead, &program);
    program.on_one = laws::on_one(program.work, program.span, stages(&regions));
    // Of a program that did nothing there is nothing to say.
    let measured = program.work > Nanos::ZERO;
    program.parallelism = laws::parallelism(program.on_one, run.span).filter(|_| measured);
    program.uniform = uniform(run, program.on_one, run.uniform_span);
    program.burdened = burdened(run, program.on_one, run.burdened_span);
    Profile { sites: sites(recording, run, &overhead, &program), regions, program }
}

/// What one processor does in turn: regions whose span is on the path, and what else is on it.
fn stages(regions: &[Region]) -> impl Iterator<Item = Stage> + '_ {
    regions.iter().map(|region| Stage { work: region.awaited, critical: region.critical })
}

fn program(run: &Run, overhead: &[Picos], tree: &ContextTree, recording: &Recording) -> Program {
    let work = run.work();
    let overhead = nanos(overhead.iter().sum()).at_least_zero();
    let serial = tree
        .ids()
        .filter(|id| *id == ContextId::ROOT || is_serial(recording, tree.site(*id)))
        .map(|id| totals(run, id).self_work)
        .sum();
    Program {
        work,
        span: run.span,
        on_one: work,
        parallelism: None,
        uniform: None,
        burdened: None,
        overhead,
        task_overhead: overhead_share(overhead, work),
        tasks: run.tasks(),
        serial,
        wall: run.wall,
        idle: run.idle,
    }
}

fn regions(recording: &Recording, run: &Run, overhead: &[Picos], program: &Program) -> Vec<Region> {
    let tree = &recording.contexts;
    let self_work: Vec<Nanos> = tree.ids().map(|id| totals(run, id).self_work).collect();
    let critical: Vec<Nanos> = tree.ids().map(|id| critical(run, id)).collect();
    let tasks: Vec<u64> = tree.inclusive(&tree.ids().map(|id| totals(run, id).tasks).collect::<Vec<_>>());
    let (work, critical, overhead) = (tree.inclusive(&self_work), tree.inclusive(&critical), tree.inclusive(overhead));
    let beside = beside_workers(recording, run, &work);
    let mut rows: Vec<Region> = tree
        .children(ContextId::ROOT)
        .filter_map(|id| {
            let site = tree.site(id)?;
            let own = totals(run, id);
            let kind = recording.sites.get(site.0 as usize)?.kind;
            let serial = !kind.spawns();
            let open: Nanos = run.open.iter().filter(|o| o.context == id && o.outermost).map(|o| o.span).sum();
            let is_open = run.open.iter().any(|o| o.context == id);
            let (work, critical) = (work[id.index()], critical[id.index()]);
            let overhead = nanos(overhead[id.index()]).at_least_zero();
            let span = if serial { work + own.blocked } else { own.span + open };
            let wall = own.wall;
            let share = (tasks[id.index()], tasks[ContextId::ROOT.index()]);
            let idle = if serial {
                Nanos::ZERO
            } else {
                idle_during(run, share, beside.subtracted_from(work), wall, own.blocked)
            };
            let unused = own.entries == 0 && work == Nanos::ZERO && !is_open;
            // What the path does not wait for may run later, and threads of the program's own run serial code beside.
            // Both are sums that are rounded.
            let beside = span - critical > Nanos(span.0 / ROUNDED);
            let awaited = if serial || beside { Nanos::ZERO } else { own.work.min(work) };
            let (spans, span) = (span, laws::row_span(span, program.span));
            (!unused).then(|| Region {
                context: id,
                site,
                serial,
                prefix: matches!(kind, SiteKind::Serial { from: None, .. }),
                instances: if serial { 1 } else { own.entries },
                open: is_open,
                work,
                awaited,
                span,
                spans,
                polled: own.polled,
                parallelism: laws::parallelism(work, spans),
                uniform: if serial { None } else { uniform(run, work, own.uniform_span) },
                burdened: if serial || is_open { None } else { burdened(run, work, own.burdened_span) },
                critical,
                critical_share: critical.over(program.span),
                overhead,
                task_overhead: overhead_share(overhead, work),
                wall,
                idle,
            })
        })
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.critical), row.context));
    rows
}

/// Work of regions that threads beside the workers did: of one that the main thread runs itself, as rayon has it of a loop over a
/// single item.
#[derive(Clone, Copy, Debug, Default)]
struct Beside {
    beside: Nanos,
    regions: Nanos,
}

impl Beside {
    /// What is left of the work of a region, if each has the same share of it.
    fn subtracted_from(self, work: Nanos) -> Nanos {
        let share = i128::from(work.0) * i128::from(self.beside.0) / i128::from(self.regions.0.max(1));
        (work - Nanos(i64::try_from(share).unwrap_or(0))).at_least_zero()
    }
}

/// What threads did, but for what workers did of it, and for serial code. `work`: of each context, descendants included.
fn beside_workers(recording: &Recording, run: &Run, work: &[Nanos]) -> Beside {
    let tree = &recording.contexts;
    let of = |serial: bool| -> Nanos {
        let kind =
            |id: ContextId| tree.site(id).and_then(|site| recording.sites.get(site.0 as usize)).map(|site| site.kind);
        let rows = tree.children(ContextId::ROOT).filter(|id| kind(*id).is_some_and(|kind| kind.spawns() != serial));
        rows.map(|id| work[id.index()] + if serial { totals(run, id).blocked } else { Nanos::ZERO }).sum()
    };
    let did = run.work() + run.preempted + run.blocked + run.interrupted + run.collector;
    let workers = (run.wall * i64::from(run.workers) - run.idle).at_least_zero();
    let regions = of(false);
    Beside { beside: (did - workers - of(true)).at_least_zero().min(regions), regions }
}

/// Time that workers waited during regions of `wall` in all: they had `workers × wall`, worked `work` of it, and spent
/// some of it in the collector, which is shared out by tasks: `tasks.0` of `tasks.1`, machinery included.
fn idle_during(run: &Run, tasks: (u64, u64), work: Nanos, wall: Nanos, blocked: Nanos) -> Nanos {
    let collector = i128::from(run.collector.0) * i128::from(tasks.0) / i128::from(tasks.1.max(1));
    let collector = Nanos(i64::try_from(collector).unwrap_or(0));
    // An estimate, which has time without a CPU in it; what was measured of the whole program bounds it.
    (wall * i64::from(run.workers) - work - blocked - collector).at_least_zero().min(run.idle.at_least_zero())
}

fn sites(recording: &Recording, run: &Run, overhead: &[Picos], program: &Program) -> Vec<SiteRow> {
    let tree = &recording.contexts;
    let overhead_total = tree.inclusive(overhead);
    let work_total = tree.inclusive(&tree.ids().map(|id| totals(run, id).self_work).collect::<Vec<_>>());
    let mut rows: BTreeMap<SiteId, SiteRow> = BTreeMap::new();
    let mut uniform_spans: BTreeMap<SiteId, Nanos> = BTreeMap::new();
    let mut burdened_spans: BTreeMap<SiteId, Option<Nanos>> = BTreeMap::new();
    let mut costs: BTreeMap<SiteId, (Picos, Picos)> = BTreeMap::new();
    let lasts = recording.lasting();
    for id in tree.ids() {
        let Some(site) = tree.site(id) else {
            continue;
        };
        let Some(kind) = recording.sites.get(site.0 as usize).map(|s| s.kind).filter(|k| k.spawns()) else {
            continue;
        };
        let own = totals(run, id);
        let open: Nanos = run.open.iter().filter(|o| o.context == id && o.outermost).map(|o| o.span).sum();
        let row = rows.entry(site).or_insert_with(|| empty(site));
        row.instances += if kind.row().one_task { own.tasks } else { own.entries };
        let machinery = own.machinery();
        row.tasks += own.tasks - machinery;
        row.spans += own.span + open;
        *uniform_spans.entry(site).or_default() += own.uniform_span;
        let sum = burdened_spans.entry(site).or_insert(Some(Nanos::ZERO));
        *sum = sum.filter(|_| open == Nanos::ZERO).map(|sum| sum + own.burdened_span);
        row.contended += own.contended;
        row.self_work += own.self_work;
        row.critical += critical(run, id);
        let cost = costs.entry(site).or_default();
        cost.0 += overhead[id.index()];
        // What recursive contexts have lies within others of their site.
        let recursive = tree.get(id).is_some_and(|c| c.recursive);
        if !recursive {
            cost.1 += overhead_total[id.index()];
        }
        // A region of rayon has all the work for which it waits; detached tasks are none of its own. Of tasks of OpenMP and oneTBB any
        // may outlive the one that created it, and an instance that never ended has no work yet: what was charged counts.
        let charged = lasts(kind) && !recursive || open > Nanos::ZERO;
        row.work += if charged { own.work.max(work_total[id.index()]) } else { own.work };
        row.blocked += own.blocked;
        row.polled += own.polled;
        row.task_mean = Some(row.task_mean.unwrap_or_default() + own.task_work);
        row.sizes.merge(&own.sizes.without_smallest(machinery));
    }
    let mut rows: Vec<SiteRow> = rows.into_values().filter(|row| row.instances > 0 || row.self_work.0 != 0).collect();
    for row in &mut rows {
        let cost = costs.get(&row.site).copied().unwrap_or_default();
        (row.overhead, row.overhead_total) = (nanos(cost.0).at_least_zero(), nanos(cost.1).at_least_zero());
        if recording.sites.get(row.site.0 as usize).is_some_and(|site| site.kind.is_lock()) {
            // Under a lock nothing runs beside.
            row.spans = row.work;
        } else {
            row.uniform = uniform(run, row.work, uniform_spans.get(&row.site).copied().unwrap_or_default());
            row.burdened =
                burdened_spans.get(&row.site).copied().flatten().and_then(|span| burdened(run, row.work, span));
        }
        row.span = laws::row_span(row.spans, program.span);
        row.parallelism = laws::parallelism(row.work, row.spans);
        row.critical_share = row.critical.over(program.span);
        row.overhead_share = overhead_share(row.overhead, program.work);
        row.task_mean =
            i64::try_from(row.tasks).ok().filter(|n| *n > 0).and_then(|n| row.task_mean.map(|sum| Nanos(sum.0 / n)));
    }
    rows.sort_by_key(|row| (std::cmp::Reverse(row.critical), row.site));
    rows
}

fn empty(site: SiteId) -> SiteRow {
    SiteRow {
        site,
        instances: 0,
        tasks: 0,
        work: Nanos::ZERO,
        span: Nanos::ZERO,
        spans: Nanos::ZERO,
        parallelism: None,
        uniform: None,
        burdened: None,
        contended: Nanos::ZERO,
        self_work: Nanos::ZERO,
        critical: Nanos::ZERO,
        critical_share: None,
        overhead: Nanos::ZERO,
        overhead_share: None,
        overhead_total: Nanos::ZERO,
        blocked: Nanos::ZERO,
        polled: Nanos::ZERO,
        task_mean: None,
        sizes: Histogram::default(),
    }
}

/// The upper bound of the range, in a run that has loops; `span` is not known for what has not ended.
fn uniform(run: &Run, work: Nanos, span: Nanos) -> Option<Uniform> {
    let known = run.uniform_span > Nanos::ZERO && span > Nanos::ZERO;
    known.then(|| Uniform { span, parallelism: laws::parallelism(work, span) })
}

/// With steals, as far as that is known.
fn burdened(run: &Run, work: Nanos, span: Nanos) -> Option<Burdened> {
    let known = run.burdened_span > Nanos::ZERO && span > Nanos::ZERO;
    known.then(|| Burdened::of(work, span))
}

/// Costs of single tasks are below a nanosecond's accuracy; they are added up in picoseconds. Wide enough for any sum.
type Picos = i128;

fn nanos(picos: Picos) -> Nanos {
    let nanos = (picos + 500).div_euclid(1000);
    Nanos(i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX }))
}

/// Share of creating tasks in `work`: at most all of it, where tasks are shorter than the clock can see.
fn overhead_share(overhead: Nanos, work: Nanos) -> Option<Ratio> {
    overhead.over(work).map(|share| Ratio(share.0.min(1.0)))
}

/// Cost of creating the tasks of context `id`: measured one by one for spawns and tasks of OpenMP, else their number times
/// the calibrated cost of a fork and join.
fn overhead_of(recording: &Recording, run: &Run, id: ContextId) -> Picos {
    let own = totals(run, id);
    let site = recording.contexts.site(id);
    let kind = site.and_then(|site| recording.sites.get(site.0 as usize)).map(|site| site.kind);
    let reported = match kind.map_or(Created::AsFork, |kind| kind.row().created) {
        Created::AsFork => false,
        Created::Measured => run.clock == Clock::Real,
        Created::Reported => true,
    };
    if reported {
        return Picos::from(own.overhead.0) * 1000;
    }
    Picos::from(own.tasks.saturating_sub(own.items)) * Picos::from(run.join_cost_ps)
}

fn is_serial(recording: &Recording, site: Option<SiteId>) -> bool {
    site.and_then(|site| recording.sites.get(site.0 as usize)).is_some_and(|site| !site.kind.spawns())
}

fn totals(run: &Run, id: ContextId) -> &Totals {
    const NONE: &Totals = &Totals {
        self_work: Nanos::ZERO,
        instances: 0,
        on_path: OnPath { instances: 0, work: Nanos::ZERO, span: Nanos::ZERO },
        work: Nanos::ZERO,
        span: Nanos::ZERO,
        entries: 0,
        tasks: 0,
        items: 0,
        task_work: Nanos::ZERO,
        overhead: Nanos::ZERO,
        blocked: Nanos::ZERO,
        polled: Nanos::ZERO,
        wall: Nanos::ZERO,
        uniform_span: Nanos::ZERO,
        burdened_span: Nanos::ZERO,
        contended: Nanos::ZERO,
        lock: Lock::None,
        sizes: Histogram::EMPTY,
    };
    run.totals.get(id.index()).unwrap_or(NONE)
}

fn critical(run: &Run, id: ContextId) -> Nanos {
    run.critical.get(id.index()).copied().unwrap_or_default()
}

/// True if nothing of the run is missing.
pub fn is_complete(run: &Run) -> bool {
    run.ending == Ending::Clean && run.open.is_empty() && run.losses.total() == 0
}
