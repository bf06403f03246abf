//! From a recording to its report.

use std::collections::{BTreeSet, HashMap};

use crate::calls::Steal;
use crate::verdict::{self, Judging};
use crate::view::{
    AskedThreads, Burdened, Context, Extremes, Place, Program, Ran, Recorded, Region, Report, Site, SizeBucket, Spread,
    TaskSizes, Uniform, Warning, SCHEMA_VERSION,
};
use crate::{crash, events, place, threads, tree, words};
use workspan_analysis::calls::Burdened as BurdenedRow;
use workspan_analysis::profile::{Region as RegionRow, SiteRow, Uniform as UniformRow};
use workspan_analysis::{bounded_by_locks, profile, warnings, Profile, Spread as Over};
use workspan_model::histogram::Bucket;
use workspan_model::{Clock, ContextId, Exit, Histogram, Nanos, Recording, Run, SiteKind};

/// The report of a recording; `None` if it holds no run.
pub fn report(recording: &Recording) -> Option<Report> {
    judged(recording, &Judging::default())
}

/// The same, judged as asked.
pub fn judged(recording: &Recording, judging: &Judging) -> Option<Report> {
    let recording: &Recording = &bounded_by_locks(recording);
    let profiles = profiles(recording);
    // Sentences are about a typical run.
    let (run, typical) = profiles.get(median_run(&profiles)?)?;
    let events = Some(events::view(recording)).filter(|found| !found.events.is_empty());
    let mut warnings = all_warnings(recording);
    warnings.extend(events.iter().flat_map(|found| events::warnings(&found.events)).map(not_counted));
    let crashed = recording.runs.iter().any(|run| crash::under_a_stand_in(recording, run));
    warnings.extend(crashed.then(crash::warning));
    Some(Report {
        schema_version: SCHEMA_VERSION,
        verdict: match crashed {
            true => crash::verdict(judging.processors),
            false => verdict::of(recording, run, typical, judging),
        },
        program: program(&profiles),
        regions: regions(recording, &profiles, typical),
        sites: sites(recording, &profiles, typical),
        contexts: contexts(recording, run),
        warnings,
        spread: (profiles.len() > 1).then(|| spread(&profiles)),
        recorded: recorded(recording, run),
        what_if: Vec::new(),
        events,
        threads: threads::view(recording),
    })
}

/// Which run of a recording, counted from 0, is the typical one: that whose parallelism is the median.
pub fn typical_run(recording: &Recording) -> Option<usize> {
    median_run(&profiles(&bounded_by_locks(recording)))
}

type Profiles<'a> = [(&'a Run, Profile)];

fn profiles(recording: &Recording) -> Vec<(&Run, Profile)> {
    recording.runs.iter().map(|run| (run, profile(recording, run))).collect()
}

fn median_run(profiles: &Profiles<'_>) -> Option<usize> {
    let mut order: Vec<usize> = (0..profiles.len()).collect();
    let key = |i: &usize| profiles[*i].1.program.parallelism.map_or(0.0, |p| p.0);
    order.sort_by(|a, b| key(a).total_cmp(&key(b)));
    order.get(order.len().saturating_sub(1) / 2).copied()
}

/// Median over the runs of a time.
fn median(profiles: &Profiles<'_>, value: impl Fn(&Run, &Profile) -> Nanos) -> i64 {
    Over::of(profiles.iter().map(|(run, profile)| value(run, profile).0)).median
}

fn median_ratio(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    (!known.is_empty()).then(|| Over::of(known).median)
}

fn uniform(values: impl Iterator<Item = Option<UniformRow>>) -> Option<Uniform> {
    let known: Vec<_> = values.flatten().collect();
    (!known.is_empty()).then(|| Uniform {
        span_ns: Over::of(known.iter().map(|u| u.span.0)).median,
        parallelism: median_ratio(known.iter().map(|u| u.parallelism.map(|p| p.0))),
    })
}

fn burdened(values: impl Iterator<Item = Option<BurdenedRow>>) -> Option<Burdened> {
    let known: Vec<_> = values.flatten().collect();
    (!known.is_empty()).then(|| Burdened {
        span_ns: Over::of(known.iter().map(|b| b.span.0)).median,
        parallelism: median_ratio(known.iter().map(|b| b.parallelism.map(|p| p.0))),
    })
}

fn program(profiles: &Profiles<'_>) -> Program {
    let last = profiles.last().map(|(run, _)| *run);
    let all = |value: fn(&Run) -> Nanos| median(profiles, |run, _| value(run));
    Program {
        work_ns: median(profiles, |_, p| p.program.work),
        span_ns: median(profiles, |_, p| p.program.span),
        one_processor_ns: median(profiles, |_, p| p.program.on_one),
        parallelism: median_ratio(profiles.iter().map(|(_, p)| p.program.parallelism.map(|r| r.0))),
        uniform: uniform(profiles.iter().map(|(_, p)| p.program.uniform)),
        burdened: burdened(profiles.iter().map(|(_, p)| p.program.burdened)),
        task_overhead: median_ratio(profiles.iter().map(|(_, p)| p.program.task_overhead.map(|r| r.0))),
        overhead_ns: median(profiles, |_, p| p.program.overhead),
        tasks: Over::of(profiles.iter().map(|(_, p)| p.program.tasks)).median,
        serial_ns: median(profiles, |_, p| p.program.serial),
        workers: last.map_or(0, |run| run.workers),
        logical_cores: last.and_then(|run| run.logical_cores),
        asked_threads: last.and_then(|run| run.asked.as_ref()).map(|asked| AskedThreads {
            answer: asked.answer,
            by: asked.by.iter().map(|by| by.name().to_owned()).collect(),
        }),
        wall_ns: all(|run| run.wall),
        cpu_ns: all(|run| run.cpu),
        idle_ns: all(|run| run.idle),
        preempted_ns: all(|run| run.preempted),
        blocked_ns: all(|run| run.blocked),
        polled_ns: Some(all(|run| run.polled())).filter(|polled| *polled > 0),
        interrupted_ns: all(|run| run.interrupted),
        first_use_ns: Some(all(|run| run.first_use)).filter(|first_use| *first_use > 0),
        collector_ns: all(|run| run.collector),
        complete: profiles.iter().all(|(run, _)| run.complete()),
        dropped: profiles.iter().map(|(run, _)| run.losses.total()).sum(),
        exit_code: match last.map(|run| run.exit) {
            Some(Exit::Code(code)) => Some(code),
            _ => None,
        },
        signal: match last.map(|run| run.exit) {
            Some(Exit::Signal(signal)) => Some(signal),
            _ => None,
        },
    }
}

fn regions(recording: &Recording, profiles: &Profiles<'_>, typical: &Profile) -> Vec<Region> {
    let order =
        order(typical.regions.iter().map(|r| r.context), profiles, |p| p.regions.iter().map(|r| r.context).collect());
    let found = |p: &Profile, context: ContextId| p.regions.iter().find(|r| r.context == context).cloned();
    let rows = order.into_iter().filter_map(|context| {
        let rows: Vec<RegionRow> = profiles.iter().filter_map(|(_, p)| found(p, context)).collect();
        let first = rows.first()?;
        let site = recording.sites.get(first.site.0 as usize)?;
        let (from, to) = match site.kind {
            SiteKind::Serial { from, to } => (place::of_id(recording, from), place::of_id(recording, to)),
            _ => (None, None),
        };
        let time = |value: fn(&RegionRow) -> Nanos| Over::of(rows.iter().map(|r| value(r).0)).median;
        Some(Region {
            id: site.stable_id(&recording.sites),
            kind: site.kind.name().to_owned(),
            place: place::of(recording, site),
            function: site.function.as_ref().map(|f| f.name.clone()),
            name: place::name(site).map(str::to_owned),
            ran: recording.ran(site).map(Ran::of),
            from,
            to,
            beside: place::is_beside(recording, site.kind),
            prefix: first.prefix,
            open: rows.iter().any(|r| r.open),
            instances: Over::of(rows.iter().map(|r| r.instances)).median,
            work_ns: time(|r| r.work),
            span_ns: time(|r| r.span),
            instances_span_ns: more_than(time(|r| r.spans), time(|r| r.span)),
            parallelism: median_ratio(rows.iter().map(|r| r.parallelism.map(|p| p.0))),
            uniform: uniform(rows.iter().map(|r| r.uniform)),
            burdened: burdened(rows.iter().map(|r| r.burdened)),
            critical_ns: time(|r| r.critical),
            critical_share: median_ratio(rows.iter().map(|r| r.critical_share.map(|p| p.0))),
            overhead_ns: time(|r| r.overhead),
            task_overhead: median_ratio(rows.iter().map(|r| r.task_overhead.map(|p| p.0))),
            wall_ns: time(|r| r.wall),
            idle_ns: time(|r| r.idle),
        })
    });
    rows.collect()
}

/// The typical run's order, then what only other runs have.
fn order<T: Copy + Ord>(
    typical: impl Iterator<Item = T>,
    profiles: &Profiles<'_>,
    all: impl Fn(&Profile) -> Vec<T>,
) -> Vec<T> {
    let mut order: Vec<T> = typical.collect();
    let seen: BTreeSet<T> = order.iter().copied().collect();
    let others: BTreeSet<T> = profiles.iter().flat_map(|(_, p)| all(p)).filter(|t| !seen.contains(t)).collect();
    order.extend(others);
    order
}

fn sites(recording: &Recording, profiles: &Profiles<'_>, typical: &Profile) -> Vec<Site> {
    let order = order(typical.sites.iter().map(|s| s.site), profiles, |p| p.sites.iter().map(|s| s.site).collect());
    let rows = order.into_iter().filter_map(|id| {
        let rows: Vec<&SiteRow> = profiles.iter().filter_map(|(_, p)| p.sites.iter().find(|s| s.site == id)).collect();
        let site = recording.sites.get(id.0 as usize)?;
        let time = |value: fn(&SiteRow) -> Nanos| Over::of(rows.iter().map(|r| value(r).0)).median;
        let ratio = |value: fn(&SiteRow) -> Option<f64>| median_ratio(rows.iter().map(|r| value(r)));
        let count = |value: fn(&SiteRow) -> u64| Over::of(rows.iter().map(|r| value(r))).median;
        let mut sizes = Histogram::default();
        for row in &rows {
            sizes.merge(&row.sizes);
        }
        let mean = Over::of(rows.iter().filter_map(|r| r.task_mean)).median;
        Some(Site {
            id: site.stable_id(&recording.sites),
            file: site.file.clone(),
            line: site.line,
            column: site.column,
            code: place::code(recording, site),
            with_column: place::column_matters(recording, site),
            function: site.function.as_ref().map(|f| f.name.clone()),
            name: place::name(site).map(str::to_owned),
            kind: site.kind.name().to_owned(),
            via: site.via.as_ref().map(|(file, line)| Place {
                file: file.clone(),
                line: *line,
                column: 0,
                code: None,
                with_column: false,
            }),
            instances: count(|r| r.instances),
            tasks: count(|r| r.tasks),
            work_ns: time(|r| r.work),
            span_ns: time(|r| r.span),
            instances_span_ns: more_than(time(|r| r.spans), time(|r| r.span)),
            parallelism: ratio(|r| r.parallelism.map(|p| p.0)),
            uniform: uniform(rows.iter().map(|r| r.uniform)),
            burdened: burdened(rows.iter().map(|r| r.burdened)),
            contended_ns: time(|r| r.contended),
            self_ns: time(|r| r.self_work),
            critical_ns: time(|r| r.critical),
            critical_share: ratio(|r| r.critical_share.map(|p| p.0)),
            overhead_ns: time(|r| r.overhead),
            overhead_share: ratio(|r| r.overhead_share.map(|p| p.0)),
            overhead_total_ns: time(|r| r.overhead_total),
            blocked_ns: time(|r| r.blocked),
            polled_ns: Some(time(|r| r.polled)).filter(|polled| *polled > 0),
            task_ns: task_sizes(mean, &sizes),
            task_sizes: size_buckets(&sizes),
        })
    });
    rows.collect()
}

/// The sum over instances, where a row has less.
fn more_than(sum: i64, span: i64) -> Option<i64> {
    (sum > span).then_some(sum)
}

fn task_sizes(mean: Nanos, sizes: &Histogram) -> Option<TaskSizes> {
    // The size of a single task is known; its bucket would only come close.
    let quantile = |q| if sizes.count() == 1 { Some(mean.0) } else { sizes.quantile(q).map(|n| n.0) };
    Some(TaskSizes { mean: mean.0, p50: quantile(0.5)?, p90: quantile(0.9)? })
}

fn size_buckets(sizes: &Histogram) -> Vec<SizeBucket> {
    let bucket = |b: &Bucket| SizeBucket { from_ns: b.low.0, to_ns: b.high.0, tasks: b.count };
    sizes.buckets().iter().map(bucket).collect()
}

fn contexts(recording: &Recording, run: &Run) -> Vec<Context> {
    let tree = &recording.contexts;
    let kept: Vec<ContextId> = tree::shown(tree, run);
    let position: HashMap<ContextId, usize> = kept.iter().enumerate().map(|(i, id)| (*id, i)).collect();
    let rows = kept.iter().filter_map(|id| {
        let context = tree.get(*id)?;
        let site = recording.sites.get(context.site?.0 as usize)?;
        Some(Context {
            parent: position.get(&context.parent).copied(),
            id: site.stable_id(&recording.sites),
            label: place::label(recording, site),
            self_ns: run.totals.get(id.index()).map_or(0, |t| t.self_work.0),
            critical_ns: run.critical.get(id.index()).map_or(0, |c| c.0),
        })
    });
    rows.collect()
}

fn all_warnings(recording: &Recording) -> Vec<Warning> {
    let mut seen = BTreeSet::new();
    let found = recording.runs.iter().flat_map(|run| warnings(recording, run));
    found
        .filter(|warning| {
            seen.insert(warning.code().to_owned() + &format!("{warning:?}").replace(char::is_numeric, ""))
        })
        .map(|warning| Warning { code: warning.code().to_owned(), message: words::warning(recording, &warning) })
        .collect()
}

fn not_counted(message: String) -> Warning {
    Warning { code: "event-not-counted".to_owned(), message }
}

fn spread(profiles: &Profiles<'_>) -> Spread {
    let of = |value: fn(&Run, &Profile) -> i64| {
        let over = Over::of(profiles.iter().map(|(run, profile)| value(run, profile)));
        Extremes { min: over.low, max: over.high }
    };
    let parallelism = Over::of(profiles.iter().filter_map(|(_, p)| p.program.parallelism).map(|p| p.0));
    Spread {
        runs: profiles.len(),
        work_ns: of(|_, p| p.program.work.0),
        span_ns: of(|_, p| p.program.span.0),
        parallelism: Extremes { min: parallelism.low, max: parallelism.high },
        wall_ns: of(|run, _| run.wall.0),
    }
}

fn recorded(recording: &Recording, run: &Run) -> Recorded {
    let machine = &recording.machine;
    let burdened = run.burdened_span > Nanos::ZERO;
    Recorded {
        command: recording.command.clone(),
        at: recording.made_at,
        workspan: recording.made_by.clone(),
        runtime: recording.runtime.clone(),
        runs: recording.runs.len(),
        clock: match run.clock {
            Clock::Real => "real".to_owned(),
            Clock::Virtual => "virtual".to_owned(),
        },
        processor: machine.processor.clone(),
        cpus: machine.cpus,
        system: machine.system.clone(),
        join_cost_ps: run.join_cost_ps,
        probe_cost_ps: run.probe_cost_ps,
        steal_ns: burdened.then_some(run.steal.0),
        steal_from: burdened.then(|| Steal::of(None, recording, run).word().to_owned()),
    }
}
