//! Schedules of random runs: against the laws, against a slow scheduler on a graph of its own, and against all schedules.

use std::collections::BTreeSet;

use workspan_analysis::schedule::{greedy, stealing, BuildOptions, Graph, Policy, Stealing};
use workspan_analysis::strands::Region;
use workspan_analysis::what_if::{what_if, Change, Factor, Scenario, Selector};
use workspan_analysis::{replay, Rows};
use workspan_model::{Nanos, Recording, SiteId};
use workspan_testkit::random::Random;
use workspan_testkit::strands::dag::{self, Step};
use workspan_testkit::strands::{evaluate_burdened, random_with_waits, RandomRun};

const RUNS: u64 = 1500;

pub(crate) fn graph<R: Rows<Error = std::convert::Infallible> + ?Sized>(recording: &Recording, rows: &R) -> Graph {
    Graph::of(recording, rows, &BuildOptions::default()).unwrap_or_else(|never| match never {})
}

fn of(run: &RandomRun) -> Graph {
    graph(&run.recording, &run.rows)
}

#[test]
fn a_graph_has_the_work_and_the_span_of_the_replay() {
    for seed in 0..RUNS {
        let run = random_with_waits(seed);
        let found = of(&run);
        let expected = replay(&run.recording, &run.rows).unwrap_or_else(|never| match never {});
        assert_eq!((found.work(), found.span()), (expected.work, expected.span), "seed {seed}");
        assert_eq!(found.blocked(), expected.blocked, "seed {seed}");
        assert_eq!((found.recorded_span(), found.folded()), (expected.span, 0), "seed {seed}");
        for burden in [0, 1, 70_000_000_000] {
            let expected = evaluate_burdened(&run.recording, &run.rows, burden).span;
            assert_eq!(found.burdened_span(Nanos(burden)).0, expected, "seed {seed} burden {burden}");
        }
    }
}

#[test]
fn a_divided_graph_has_the_span_of_what_if_and_all_of_the_work() {
    for seed in 0..RUNS {
        let run = random_with_waits(seed);
        let whole = of(&run);
        let mut random = Random::new(seed);
        let site = SiteId(u32::try_from(random.below(20)).unwrap());
        let by = [2.0, 3.0, 4.0, 5.0, 1.5][usize::try_from(random.below(5)).unwrap()];
        let change = Change { part: Selector::Site(site), factor: Factor::new(by).unwrap() };
        let scenario = Scenario { changes: vec![change] };
        let answer = what_if(&run.recording, &run.rows, &[scenario]).unwrap_or_else(|never| match never {});
        let is_named = |region: &Region| run.recording.contexts.site(region.context) == Some(site);
        let graph = whole.with_factors(|region| if is_named(region) { by } else { 1.0 });
        assert_eq!(graph.span(), answer.outcomes[0].after.replayed.span, "seed {seed}");
        assert_eq!(graph.work(), whole.work(), "seed {seed}");
        assert_eq!(greedy(&graph, 1024).time, graph.span(), "seed {seed}");
        for processors in [1, 2, 5] {
            let options = Stealing { policy: Policy::Last, ..Stealing::of(Nanos::ZERO, seed) };
            for found in [greedy(&graph, processors), stealing(&graph, processors, &options)] {
                let (least, most) = (laws(&graph, processors), brent(&graph, processors));
                assert!(least <= found.time.0 && found.time.0 <= most, "seed {seed}: {least} {found:?} {most}");
                assert_eq!(found.busy, whole.work(), "seed {seed}");
            }
        }
    }
}

#[test]
fn strands_that_cost_less_than_nothing_take_it_from_others() {
    let mut seen = 0;
    for seed in 0..RUNS {
        let mut run = random_with_waits(seed);
        let mut random = Random::new(seed);
        for row in &mut run.rows {
            // As calibrated costs do, out of very short strands.
            row.cost.0 -= i64::try_from(random.below(80_000_000)).unwrap() * 3600;
        }
        let expected = replay(&run.recording, &run.rows).unwrap_or_else(|never| match never {});
        let found = of(&run);
        assert_eq!((found.work(), found.folded()), (expected.work, 0), "seed {seed}");
        if found.work() < Nanos::ZERO {
            continue;
        }
        seen += 1;
        for processors in [1, 2, 16] {
            let (greedy, stolen) =
                (greedy(&found, processors), stealing(&found, processors, &Stealing::of(Nanos(9), seed)));
            assert_eq!((greedy.busy, stolen.busy), (found.work(), found.work()), "seed {seed}");
            let least = laws(&found, processors);
            assert!(greedy.time.0 >= least && stolen.time.0 >= least, "seed {seed}");
            if processors == 1 && found.blocked() == Nanos::ZERO {
                let all = found.work().max(found.span());
                assert_eq!((greedy.time, stolen.time), (all, all), "seed {seed}");
            }
        }
    }
    assert!(seen > 1000, "{seen}");
}

/// The same rule, without any of its ways to be fast: the free processors look through all strands, time after time.
fn slow(steps: &[Step], processors: usize) -> i64 {
    let mut ends: Vec<Option<i64>> = vec![None; steps.len()];
    let mut running: Vec<(i64, usize)> = Vec::new();
    let mut now = 0;
    loop {
        // What takes no processor is over when what is before it is.
        let mut changed = true;
        while changed {
            changed = false;
            for (at, step) in steps.iter().enumerate().filter(|(_, step)| step.row.is_none()) {
                let over = step.before.iter().all(|before| ends[*before].is_some_and(|end| end <= now));
                if ends[at].is_none() && over {
                    ends[at] = Some(now);
                    changed = true;
                }
            }
        }
        running.retain(|(end, _)| *end > now);
        // Who waits for the outside world has no processor.
        let delayed = ends.iter().copied().flatten().filter(|end| *end > now).min();
        let mut ready: Vec<(bool, usize, usize)> = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let over = step.before.iter().all(|before| ends[*before].is_some_and(|end| end <= now));
            if let Some(row) = step.row.filter(|_| over && ends[at].is_none()) {
                ready.push((step.begins, row, at));
            }
        }
        ready.sort_unstable();
        let mut again = false;
        for (.., at) in ready.into_iter().take(processors - running.len()) {
            let end = now + steps[at].cost;
            ends[at] = Some(end + steps[at].delay);
            again |= end == now;
            running.push((end, at));
        }
        if again {
            continue;
        }
        let began = running.iter().map(|(_, at)| ends[*at].unwrap_or(now)).filter(|end| *end > now);
        match running.iter().map(|(end, _)| *end).chain(began).chain(delayed).min() {
            Some(next) => now = next,
            None => return now,
        }
    }
}

#[test]
fn greedy_is_the_slow_scheduler_on_another_graph() {
    for seed in 0..RUNS {
        let run = random_with_waits(seed);
        let steps = dag::graph(&run.recording, &run.rows);
        if steps.len() > 150 {
            continue;
        }
        let found = of(&run);
        for processors in [1, 2, 3, 5, 64] {
            let time = greedy(&found, processors).time.0;
            assert_eq!(time, slow(&steps, processors as usize), "seed {seed}, {processors} processors");
        }
    }
}

/// At most, by Brent's theorem, rounded up.
fn brent(graph: &Graph, processors: u32) -> i64 {
    let [work, span, blocked] = [graph.work().0, graph.span().0, graph.blocked().0].map(i128::from);
    let p = i128::from(processors);
    i64::try_from((work + blocked.min(span) + span * (p - 1) + p - 1) / p).unwrap()
}

/// At least, by the work law and the span law.
fn laws(graph: &Graph, processors: u32) -> i64 {
    let work = graph.work().0;
    (work / i64::from(processors)).max(graph.span().0)
}

#[test]
fn greedy_lies_between_the_bounds() {
    for seed in 0..RUNS {
        let graph = of(&random_with_waits(seed));
        assert_eq!(greedy(&graph, 1024).busy, graph.work(), "seed {seed}");
        for processors in [1, 2, 3, 4, 7, 16, 200, 1024] {
            let found = greedy(&graph, processors);
            let (least, most) = (laws(&graph, processors), brent(&graph, processors));
            let time = found.time.0;
            assert!(least <= time && time <= most, "seed {seed}, {processors}: {least} {time} {most}");
            let all = found.busy + found.idle + found.overhead;
            assert_eq!(all, found.time * i64::from(processors), "seed {seed}, {processors}");
        }
        // As many processors as strands.
        assert_eq!(greedy(&graph, 1024).time, graph.span(), "seed {seed}");
    }
}

/// The ends of all schedules in which strands are not interrupted, but processors may wait.
fn all_schedules(steps: &[Step], processors: usize) -> BTreeSet<i64> {
    struct Search<'a> {
        steps: &'a [Step],
        processors: usize,
        found: BTreeSet<i64>,
    }
    impl Search<'_> {
        /// Begins of strands are not decreasing.
        fn go(&mut self, ends: &mut Vec<Option<i64>>, last: i64) {
            if ends.iter().all(Option::is_some) {
                self.found.extend(ends.iter().copied().flatten().max());
                return;
            }
            let mut free: Vec<usize> = Vec::new();
            for (at, step) in self.steps.iter().enumerate() {
                if ends[at].is_some() || step.before.iter().any(|before| ends[*before].is_none()) {
                    continue;
                }
                if step.row.is_none() {
                    let end = step.before.iter().filter_map(|before| ends[*before]).max().unwrap_or(0);
                    ends[at] = Some(end);
                    self.go(ends, last);
                    ends[at] = None;
                    return;
                }
                free.push(at);
            }
            for at in free {
                let ready = self.steps[at].before.iter().filter_map(|before| ends[*before]).max().unwrap_or(0);
                let begin = self.begin(ends, ready.max(last));
                ends[at] = Some(begin + self.steps[at].cost + self.steps[at].delay);
                self.go(ends, begin);
                ends[at] = None;
            }
        }

        /// When a processor is free; strands have begun by `from`.
        fn begin(&self, ends: &[Option<i64>], from: i64) -> i64 {
            let strands = self.steps.iter().zip(ends).filter(|(step, _)| step.row.is_some());
            let busy_until = |(step, end): (&Step, &Option<i64>)| end.map(|end| end - step.delay);
            let mut later: Vec<i64> = strands.filter_map(busy_until).filter(|end| *end > from).collect();
            later.sort_unstable();
            if later.len() < self.processors {
                from
            } else {
                later[later.len() - self.processors]
            }
        }
    }
    let mut search = Search { steps, processors, found: BTreeSet::new() };
    search.go(&mut vec![None; steps.len()], 0);
    search.found
}

#[test]
fn greedy_is_one_of_all_schedules_and_close_to_the_best() {
    let (mut seen, mut several) = (0, 0);
    for seed in 0..4000 {
        let run = random_with_waits(seed);
        if run.rows.len() > 9 {
            continue;
        }
        let steps = dag::graph(&run.recording, &run.rows);
        let graph = of(&run);
        for processors in [2, 3] {
            let all = all_schedules(&steps, processors as usize);
            let best = *all.first().unwrap();
            let time = greedy(&graph, processors).time.0;
            assert!(all.contains(&time), "seed {seed}: {time} {all:?}");
            assert!(best >= laws(&graph, processors), "seed {seed}");
            // Graham: 2 - 1/P; with delays, which no processor shortens, 2.
            let p = i64::from(processors);
            let delayed = steps.iter().any(|step| step.delay > 0);
            assert!(time * p <= best * (2 * p - i64::from(!delayed)), "seed {seed}: {time} {best}");
            seen += 1;
            several += i32::from(all.len() > 1);
        }
    }
    assert!(seen > 300 && several > 50, "{seen} {several}");
}

#[test]
fn stealing_keeps_the_laws_and_runs_everything() {
    for seed in 0..RUNS {
        let graph = of(&random_with_waits(seed));
        let mut random = Random::new(seed);
        for policy in [Policy::Owner, Policy::Last] {
            let steal = Nanos(i64::try_from(random.below(3) * 100_000_000_000).unwrap());
            let options = Stealing { policy, ..Stealing::of(steal, seed) };
            if graph.blocked() == Nanos::ZERO {
                assert_eq!(stealing(&graph, 1, &options).time, graph.work(), "seed {seed}");
            }
            for processors in [1, 2, 3, 8, 1024] {
                let found = stealing(&graph, processors, &options);
                let label = format!("seed {seed}, {processors} {options:?}");
                assert_eq!(found.busy, graph.work(), "{label}");
                assert!(found.time.0 >= laws(&graph, processors), "{label}");
                assert!(found.idle.0 >= 0, "{label}: {found:?}");
                assert_eq!(found, stealing(&graph, processors, &options), "{label}");
                let work_law = found.busy + found.overhead;
                assert!(found.time * i64::from(processors) >= work_law, "{label}");
            }
        }
    }
}

#[test]
fn stealing_that_costs_nothing_is_greedy() {
    let mut beyond = 0;
    for seed in 0..RUNS {
        let graph = of(&random_with_waits(seed));
        for processors in [2, 3, 8] {
            let zero = Stealing::of(Nanos::ZERO, seed);
            let most = brent(&graph, processors);
            let last = stealing(&graph, processors, &Stealing { policy: Policy::Last, ..zero });
            assert!(last.time.0 <= most, "seed {seed}, {processors}: {} {most}", last.time);
            // Who waits may be held up by what it has taken on meanwhile.
            let owner = stealing(&graph, processors, &zero);
            beyond += u64::from(owner.time.0 > most);
            assert!(owner.time.0 <= most + graph.span().0, "seed {seed}, {processors}: {} {most}", owner.time);
        }
    }
    assert!(beyond < RUNS * 3 / 100, "{beyond}");
}

#[test]
fn a_graph_that_is_folded_keeps_the_work_and_nearly_the_span() {
    let mut folded = 0;
    for seed in 0..RUNS {
        let run = random_with_waits(seed);
        let whole = of(&run);
        for most in [4, 16, 64] {
            let options = BuildOptions { most, ..BuildOptions::default() };
            let graph = Graph::of(&run.recording, &run.rows, &options).unwrap_or_else(|never| match never {});
            let label = format!("seed {seed}, {most}");
            assert_eq!((graph.work(), graph.blocked()), (whole.work(), whole.blocked()), "{label}");
            assert_eq!(graph.recorded_span(), whole.span(), "{label}");
            // Of tasks that are waited for elsewhere only the end of all is known.
            assert!(graph.span().0 <= (whole.work() + whole.blocked()).0, "{label}");
            folded += graph.folded();
            for processors in [1, 2, 8] {
                let found = greedy(&graph, processors);
                assert!(found.time.0 >= laws(&graph, processors), "{label}");
                assert!(found.time.0 <= brent(&graph, processors), "{label}");
                assert_eq!(found.busy, whole.work(), "{label}");
                let found = stealing(&graph, processors, &Stealing::of(Nanos(1000), seed));
                assert!(found.time.0 >= laws(&graph, processors), "{label}");
                assert_eq!(found.busy, whole.work(), "{label}");
            }
        }
    }
    assert!(folded > 50_000, "{folded}");
}
