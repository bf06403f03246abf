//! Evidence from a simulated schedule of all strands.
//!
//! ```text
//! T_ideal = the shortest of the greedy and the work-stealing schedules, but at least what any one lock was held
//! T       = the median of the work-stealing schedules, at least T_ideal
//! waiting = what idle processors of the greedy schedule wait for, strand by strand
//! ```
//!
//! A greedy schedule is not the best, but within twice of it, and close to it where there is parallelism to spare.

use workspan_model::{Nanos, Recording, Run};

use super::evidence::{bounds, on_path, shares, Basis, Blame, Code, Evidence, Loops};
use super::loops::EvenLoops;
use crate::laws;
use crate::predict::SEEDS;
use crate::profile::Profile;
use crate::schedule::{greedy_with_waiting, stealing, Charged, Graph, Stealing};
use crate::strands::{Point, Region};

/// What [even iterations](super::loops) make of a run.
#[derive(Clone, Copy, Debug)]
pub struct OfEven<'a> {
    /// Of what.
    pub loops: &'a EvenLoops,
    /// The graph, with that built in.
    pub graph: &'a Graph,
}

/// Evidence from the strands of a run, which must be bounded by its locks; `even` if that makes a difference.
pub fn simulated(
    recording: &Recording,
    run: &Run,
    profile: &Profile,
    graph: &Graph,
    processors: u32,
    policy: &Stealing,
    even: Option<OfEven<'_>>,
) -> Evidence {
    let seen = graph;
    let graph = even.map_or(seen, |even| even.graph);
    let (best, waiting) = greedy_with_waiting(graph, processors);
    let all = i64::from(best.processors);
    let times = |graph: &Graph| {
        let mut times: Vec<Nanos> =
            (0..u64::from(SEEDS)).map(|seed| stealing(graph, processors, &Stealing { seed, ..*policy }).time).collect();
        times.sort_unstable();
        times
    };
    // What a prediction says, which knows the chunks alone.
    let median = |times: &[Nanos]| times.get(times.len() / 2).copied();
    let as_seen = even.and_then(|_| median(&times(seen)));
    let times = times(graph);
    let typical = median(&times).unwrap_or(best.time);
    // Locks are not part of the order of strands: the run's span has them.
    let span = even.map_or(run.span, |even| even.loops.span);
    let of_even = even.map_or(Nanos::ZERO, |even| even.loops.locked);
    let locked = if run.span > seen.recorded_span() { span } else { of_even };
    let critical = even.map_or(&run.critical, |even| &even.loops.critical);
    let fastest = times.first().copied().unwrap_or(best.time).min(best.time);
    let on_one = profile.program.on_one;
    let fastest = fastest.max(laws::work_law(on_one, best.processors));
    let ideal = fastest.max(locked);
    let mut blame = blamed(recording, graph, &waiting.charged(graph), (fastest * all - on_one).at_least_zero());
    if ideal > fastest {
        blame.extend(on_path(recording, critical, recording.contexts.ids().collect(), (ideal - fastest) * all));
    }
    let longest = times.last().copied().unwrap_or(typical).max(ideal);
    Evidence {
        processors: best.processors,
        basis: Basis::Simulated,
        ideal,
        // The same as without strands. With even iterations, a schedule that is found may be shorter by what was rounded.
        least: bounds(recording, run, profile, processors).ideal.min(ideal),
        time: typical.max(ideal),
        longest: as_seen.unwrap_or(longest).max(typical.max(ideal)),
        loops: even.map(|even| Loops { longest, uneven: even.loops.uneven }),
        best_order: false,
        blame,
    }
}

fn blamed(recording: &Recording, graph: &Graph, charged: &[Charged], waiting: Nanos) -> Vec<Blame> {
    // A folded piece is no task.
    let whole = graph.folded() == 0;
    let parts = shares(waiting, charged.iter().map(|charged| charged.waiting));
    let blamed = charged.iter().zip(parts).filter(|(_, waiting)| *waiting > Nanos::ZERO);
    blamed
        .map(|(charged, waiting)| Blame {
            context: charged.region.context,
            site: recording.contexts.site(charged.region.context),
            code: code(&charged.region),
            waiting,
            longest: whole.then_some(charged.longest),
            strands: whole.then_some(charged.strands),
        })
        .collect()
}

fn code(region: &Region) -> Code {
    match (region.before, region.after) {
        (Point::Begin, Point::End) => Code::Whole,
        (Point::Unknown, _) | (_, Point::Unknown) => Code::Any,
        _ => Code::Part,
    }
}
