//! Loops of which chunks were seen, not iterations: what if the iterations of each cost the same?
//!
//! A runtime divides a static loop among the members of the team, so that the chunks seen say as much about the team as about
//! the loop. With even iterations the span of a loop is what its [uniform span](crate::profile::Uniform) is, and what is on the
//! critical path within it is that much less. So a verdict on even iterations depends on neither team nor compiler.
//!
//! **Argument.** On the path, a loop and all that is nested in it add up to at most its span; scaled by uniform span over span
//! they add up to its uniform span. A loop within another is part of the outer one's chunks, so only the outermost is scaled.
//! Cost: linear in contexts.
//!
//! Where code under one lock takes longer than the longest chain of even iterations, that code is the path ([`mod@crate::locks`]).

use workspan_model::kind::Tasks;
use workspan_model::{ContextId, Nanos, Ratio, Recording, Run, SiteId};

use crate::laws::{self, scaled};
use crate::locks::{locks_path, uniform_path};
use crate::profile::{Profile, SiteRow};

/// A difference of less than this is none.
const MATTERS: f64 = 0.02;

/// A mean that is this close to a whole number, as a share, is one.
const WHOLE: f64 = 0.01;

/// Chunks that are less parallel than this share of what even iterations would be are uneven.
const EVEN: f64 = 0.8;

/// A run whose loops have even iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct EvenLoops {
    /// Its span.
    pub span: Nanos,
    /// What each context adds to the critical path.
    pub critical: Vec<Nanos>,
    /// What code under one lock takes, where that is the span; 0 otherwise.
    pub locked: Nanos,
    /// By how much to multiply what is in each context.
    pub factors: Vec<f64>,
    /// Loops of which nothing runs beside: the work of each, and its span.
    pub alone: Vec<(Nanos, Nanos)>,
    /// A loop whose chunks cost so differently that its iterations are not even.
    pub uneven: Option<SiteId>,
}

/// The run with even iterations, unless that makes no difference.
pub fn even_loops(recording: &Recording, run: &Run, profile: &Profile) -> Option<EvenLoops> {
    if run.logical_cores.is_some() {
        // Chunks are those of that number of members, and were seen.
        return None;
    }
    let uniform = profile.program.uniform?;
    let (low, high) = (profile.program.span, uniform.span);
    if high.as_f64() > low.as_f64() * (1.0 - MATTERS) {
        return None;
    }
    let tree = &recording.contexts;
    let mut factors: Vec<f64> = Vec::with_capacity(tree.len());
    for id in tree.ids() {
        let around = tree.get(id).map_or(1.0, |context| factor(&factors, context.parent));
        let own = if around < 1.0 { around } else { of(recording, run, id) };
        factors.push(own);
    }
    if factors.iter().all(|factor| *factor > 1.0 - MATTERS) {
        // The range is that of locks alone, or of chunks that are even.
        return None;
    }
    let of_loops: Vec<Nanos> =
        run.critical.iter().zip(&factors).map(|(critical, factor)| scaled(*critical, *factor)).collect();
    // A span beyond that of the loops is that of a lock, also where several of one place are not known apart any more.
    let beyond = high.as_f64() > of_loops.iter().copied().sum::<Nanos>().as_f64() * (1.0 + MATTERS);
    let under_lock = uniform_path(recording, run).or_else(|| locks_path(recording, run, high).filter(|_| beyond));
    let locked = if under_lock.is_some() { high } else { Nanos::ZERO };
    let critical = under_lock.unwrap_or(of_loops);
    let alone = alone(recording, run, &factors);
    let uneven = profile.sites.iter().find(|row| is_loop(recording, row.site) && is_uneven(recording, run, row));
    Some(EvenLoops { span: high, locked, critical, factors, alone, uneven: uneven.map(|row| row.site) })
}

/// Parallelism in any other order of locks, at most, where the order in which they were taken makes the span longer and loops do not.
pub fn any_order_of_locks(recording: &Recording, run: &Run, profile: &Profile) -> Option<Ratio> {
    let (seen, most) = (profile.program.parallelism?, profile.program.uniform?.parallelism?);
    let matters = most.0 > seen.0 * (1.0 + MATTERS) && even_loops(recording, run, profile).is_none();
    (matters && takes_locks(recording, run)).then_some(most)
}

/// True if there is code under a lock that was fought for.
fn takes_locks(recording: &Recording, run: &Run) -> bool {
    let is_lock = |id: ContextId| {
        let site = recording.contexts.site(id).and_then(|site| recording.sites.get(site.0 as usize));
        site.is_some_and(|site| site.kind.is_lock())
    };
    recording.contexts.ids().zip(&run.totals).any(|(id, totals)| totals.entries > 0 && is_lock(id))
}

impl EvenLoops {
    /// By how much Brent's bound is beyond what loops take on this number of processors. With even iterations, `n` of which a loop
    /// has on an average, it takes `⌈n/P⌉` of them one after the other; the bound has `n/P + 1 − 1/P`.
    pub fn beyond(&self, processors: u32) -> Nanos {
        let p = f64::from(processors.max(1));
        let excess = |(work, span): &(Nanos, Nanos)| {
            let n = work.as_f64() / span.as_f64();
            let whole = n.round();
            // Loops of several lengths have no length.
            let is_whole = (n - whole).abs() < WHOLE * n;
            let excess = if is_whole { span.as_f64() * (n / p + 1.0 - 1.0 / p - (whole / p).ceil()) } else { 0.0 };
            scaled(Nanos(1), excess.max(0.0))
        };
        self.alone.iter().map(excess).sum()
    }
}

/// Outermost loops whose whole span, and nothing beside it, is on the critical path.
fn alone(recording: &Recording, run: &Run, factors: &[f64]) -> Vec<(Nanos, Nanos)> {
    let tree = &recording.contexts;
    let inclusive = tree.inclusive(&run.critical);
    let works = tree.inclusive(&run.totals.iter().map(|totals| totals.self_work).collect::<Vec<_>>());
    let of = |id: ContextId| {
        let outermost = factor(factors, id) < 1.0 && tree.get(id).is_some_and(|at| factor(factors, at.parent) >= 1.0);
        let totals = run.totals.get(id.index()).filter(|_| outermost)?;
        let on_path = inclusive.get(id.index()).copied().unwrap_or_default();
        let whole =
            totals.uniform_span > Nanos::ZERO && (totals.span - on_path).as_f64() <= MATTERS * totals.span.as_f64();
        whole.then_some((works.get(id.index()).copied()?, totals.uniform_span))
    };
    tree.ids().filter_map(of).collect()
}

fn factor(factors: &[f64], id: ContextId) -> f64 {
    factors.get(id.index()).copied().unwrap_or(1.0)
}

fn of(recording: &Recording, run: &Run, id: ContextId) -> f64 {
    let is_loop = recording.contexts.site(id).is_some_and(|site| is_loop(recording, site));
    let Some(totals) = run.totals.get(id.index()).filter(|_| is_loop) else {
        return 1.0;
    };
    match totals.uniform_span.over(totals.span) {
        Some(ratio) if totals.uniform_span > Nanos::ZERO => ratio.0.clamp(0.0, 1.0),
        _ => 1.0,
    }
}

fn is_loop(recording: &Recording, site: SiteId) -> bool {
    recording.sites.get(site.0 as usize).is_some_and(|site| site.kind.row().tasks == Tasks::Pieces)
}

/// With even iterations, `n` of them on `workers` take as long as the largest number that one worker has.
fn is_uneven(recording: &Recording, run: &Run, row: &SiteRow) -> bool {
    if row.spans.as_f64() > row.span.as_f64() * (1.0 + MATTERS) {
        // Of instances beside each other, as those of several teams, each has some of the workers only.
        return false;
    }
    let of_site = recording.contexts.ids().filter(|id| recording.contexts.site(*id) == Some(row.site));
    let uniform = of_site.filter_map(|id| run.totals.get(id.index())).map(|totals| totals.uniform_span).sum();
    let (Some(seen), Some(most)) = (row.parallelism, laws::parallelism(row.work, uniform)) else {
        return false;
    };
    let (workers, iterations) = (f64::from(run.workers.max(1)), most.0.round().max(1.0));
    let expected = iterations / (iterations / workers).ceil();
    seen.0 < expected * EVEN && row.critical.as_f64() > run.span.as_f64() * MATTERS
}

#[cfg(test)]
mod tests {
    use workspan_model::{Lock, Site, SiteKind, Totals};

    use super::*;
    use crate::profile::profile;

    const MILLI: i64 = 1_000_000;

    /// A loop of 100 iterations, of which one chunk for each of its `instances` was seen; `locked` of the work of all is under locks of one place.
    fn of_loop(instances: i64, chunk: i64, uniform: i64, locked: i64, lock: Lock) -> (Recording, Run) {
        let mut recording = Recording::default();
        let kinds = [(1, SiteKind::Parallel), (2, SiteKind::Loop), (3, SiteKind::Lock)];
        recording.sites.extend(kinds.map(|(line, kind)| Site::at(kind, "a.c", line, 0)));
        let mut around = ContextId::ROOT;
        for site in 0..3 {
            around = recording.contexts.intern(around, SiteId(site)).unwrap();
        }
        let work = Nanos(instances * chunk * MILLI);
        let under_lock = Nanos(locked * MILLI);
        let inner =
            Totals { instances: instances as u64, work, span: work, uniform_span: Nanos(MILLI), ..Totals::default() };
        let totals = vec![
            Totals::default(),
            Totals { instances: 1, span: Nanos(chunk * MILLI), ..inner.clone() },
            Totals { self_work: work - under_lock, ..inner },
            Totals {
                self_work: under_lock,
                work: under_lock,
                span: under_lock,
                instances: 200,
                entries: 200,
                lock,
                ..Totals::default()
            },
        ];
        let half = Nanos(under_lock.0 / instances);
        let run = Run {
            span: Nanos(chunk * MILLI),
            uniform_span: Nanos(uniform * MILLI),
            critical: vec![Nanos::ZERO, Nanos::ZERO, Nanos(chunk * MILLI) - half, half],
            totals,
            workers: 2,
            ..Run::default()
        };
        recording.runs.push(run.clone());
        (recording, run)
    }

    #[test]
    fn chunks_of_teams_beside_each_other_say_nothing_of_iterations() {
        let (recording, run) = of_loop(2, 50, 1, 0, Lock::None);
        let even = even_loops(&recording, &run, &profile(&recording, &run)).expect("a range");
        assert_eq!(even.uneven, None);
        // One team of two, of which one member did everything.
        let (recording, run) = of_loop(1, 100, 1, 0, Lock::None);
        let even = even_loops(&recording, &run, &profile(&recording, &run)).expect("a range");
        assert_eq!(even.uneven, Some(SiteId(1)));
    }

    /// Two locks of one place, each of which is held for a quarter of the work: the recording knows how long, but not which.
    #[test]
    fn locks_of_one_place_bound_even_iterations() {
        let (recording, run) = of_loop(1, 100, 25, 50, Lock::Several);
        let even = even_loops(&recording, &run, &profile(&recording, &run)).expect("a range");
        assert_eq!((even.span, even.locked), (Nanos(25 * MILLI), Nanos(25 * MILLI)));
        assert_eq!(even.critical, [0, 0, 0, 25 * MILLI].map(Nanos));
        let (recording, run) = of_loop(1, 100, 25, 50, Lock::None);
        let even = even_loops(&recording, &run, &profile(&recording, &run)).expect("a range");
        assert_eq!(even.locked, Nanos::ZERO);
    }
}
