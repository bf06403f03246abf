//! What a page carries against what it was made of, and its answers against those of the analysis.

use std::cell::Cell;
use std::convert::Infallible;
use std::ops::ControlFlow;

use workspan_analysis::predict::{predict, Options, SEEDS};
use workspan_analysis::schedule::{BuildOptions, Graph};
use workspan_analysis::strands::{regions, Place};
use workspan_analysis::what_if::{what_if, Change, Factor, Figures, Scenario, Selector};
use workspan_analysis::{replay, Rows};
use workspan_model::{ContextId, Event, Lock, Nanos, Recording, Run, SiteId, Strand, Totals};
use workspan_page::abi::{changes, flat};
use workspan_page::predict::{Predicted, PARTS, STRANDS};
use workspan_page::session::numbers;
use workspan_page::{encode, encode_merged, encode_within, Carried, Session};
use workspan_testkit::random::Random;
use workspan_testkit::strands::stream::Shape;
use workspan_testkit::strands::{random, RandomRun, Stream};

fn encoded(run: &RandomRun) -> Vec<u8> {
    encode(&run.recording, &run.rows).unwrap_or_else(|never| match never {})
}

/// Without what a page does not carry.
fn stripped(rows: &[Strand]) -> Vec<Strand> {
    rows.iter().map(|row| Strand { start: Nanos::ZERO, thread: 0, ..*row }).collect()
}

#[test]
fn rows_come_back() {
    for seed in 0..600 {
        let run = random(seed);
        let carried = Carried::decode(&encoded(&run)).expect("it was just encoded");
        let mut rows = Vec::new();
        let read = carried.read(&mut |batch| {
            rows.extend_from_slice(batch);
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!(read, Ok(()));
        assert_eq!((carried.len(), carried.is_empty()), (rows.len() as u64, rows.is_empty()));
        assert_eq!(rows, stripped(&run.rows), "seed {seed}");
        assert_eq!(carried.recording.contexts, run.recording.contexts);
        let kinds =
            |recording: &workspan_model::Recording| -> Vec<_> { recording.sites.iter().map(|s| s.kind).collect() };
        assert_eq!(kinds(&carried.recording), kinds(&run.recording));
    }
}

/// Rows of many batches: none is lost between two of them.
#[test]
fn long_runs_come_back() {
    for (shape, seed) in [(Shape::Joins, 1), (Shape::Iterators, 2), (Shape::Tasks, 3)] {
        let (recording, stream) = Stream::new(shape, 20_000, seed);
        let mut rows = Vec::new();
        stream.read(&mut |batch| {
            rows.extend_from_slice(batch);
            true
        });
        let bytes = encode(&recording, &rows).unwrap_or_else(|never| match never {});
        let carried = Carried::decode(&bytes).expect("it was just encoded");
        let mut found = Vec::new();
        let _ = carried.read(&mut |batch| {
            found.extend_from_slice(batch);
            std::ops::ControlFlow::Continue(())
        });
        assert_eq!(found, stripped(&rows), "{shape:?}");
        // However few are wanted.
        let mut first = 0;
        let _ = carried.read(&mut |batch| {
            first += batch.len();
            std::ops::ControlFlow::Break(())
        });
        assert!(first > 0 && first < rows.len());
    }
}

/// Merged rows have the span that all rows have, and their work but for what is reported; and what would be lies between what
/// they say.
#[test]
fn merged_rows_bracket_the_answer() {
    let mut gone = 0;
    for seed in 0..1_200 {
        let run = random(seed);
        let mut dice = Random::new(seed);
        let whole = replay(&run.recording, &run.rows).unwrap_or_else(|never| match never {});
        let all = regions(&run.recording, &run.rows).unwrap_or_else(|never| match never {}).regions;
        for share in [3, 30, 1_000] {
            let threshold = Nanos(whole.work.0 / share + 1);
            let encoded = encode_merged(&run.recording, &run.rows, threshold);
            let (bytes, merged) = encoded.unwrap_or_else(|never| match never {});
            let mut session = Session::new(&bytes).expect("it was just encoded");
            assert_eq!(session.carried().merged, merged);
            assert_eq!(session.carried().len() + merged.rows, run.rows.len() as u64);
            gone += merged.rows;
            let region = all[usize::try_from(dice.below(all.len() as u64)).unwrap_or(0)].region;
            let place = Place::of(&run.recording.contexts, &region);
            let change = Change { part: Selector::Place(place), factor: Factor::new(4.0).expect("a factor") };
            let answer = session.ask(vec![change.clone()]);
            let label = format!("seed {seed}, threshold {threshold:?}");
            assert_eq!((answer.before.work, answer.before.span), (whole.work, whole.span), "{label}");
            let scenario = [Scenario { changes: vec![change] }];
            let expected = what_if(&run.recording, &run.rows, &scenario).unwrap_or_else(|never| match never {});
            let truth = expected.outcomes[0].after.replayed.span;
            assert!(answer.least.span <= truth && truth <= answer.after.span, "{label}: {answer:?} {truth:?}");
        }
    }
    assert!(gone > 1_000, "only {gone} rows were merged");
}

/// As many rows as wanted, at most.
#[test]
fn long_runs_become_short() {
    for (shape, seed) in [(Shape::Joins, 1), (Shape::Iterators, 2), (Shape::Tasks, 3)] {
        let (recording, stream) = Stream::new(shape, 60_000, seed);
        let mut rows = Vec::new();
        stream.read(&mut |batch| {
            rows.extend_from_slice(batch);
            true
        });
        let count = rows.len() as u64;
        for most in [count, count / 2, count / 10] {
            let encoded = encode_within(&recording, &rows, count, most).unwrap_or_else(|never| match never {});
            let carried = Carried::decode(&encoded.0).expect("it was just encoded");
            assert!(carried.len() <= most, "{shape:?}: {} of {most}", carried.len());
            let [whole, short] = [replay(&recording, &rows), replay(&carried.recording, &carried)]
                .map(|replayed| replayed.unwrap_or_else(|never| match never {}));
            assert_eq!(short.span, whole.span, "{shape:?}");
            assert_eq!(short.work + carried.merged.elsewhere, whole.work, "{shape:?}");
        }
    }
}

/// Rows, and how often they were read.
struct Counted<'a>(&'a [Strand], Cell<u32>);

impl Rows for Counted<'_> {
    type Error = Infallible;

    fn read(&self, take: &mut dyn FnMut(&[Strand]) -> ControlFlow<()>) -> Result<(), Infallible> {
        self.1.set(self.1.get() + 1);
        self.0.read(take)
    }
}

/// Thresholds are raised as long as that can help.
#[test]
fn what_cannot_be_merged_is_not_read_again_and_again() {
    for seed in 0..600 {
        let run = random(seed);
        let found =
            encode_within(&run.recording, &run.rows, run.rows.len() as u64, 0).unwrap_or_else(|never| match never {});
        let most = encode_merged(&run.recording, &run.rows, Nanos(i64::MAX)).unwrap_or_else(|never| match never {});
        assert_eq!((found.1.rows, found.1.elsewhere), (most.1.rows, most.1.elsewhere), "seed {seed}");
    }
    let strand = |event| Strand {
        event,
        context: ContextId::ROOT,
        cost: Nanos(1 << 40),
        blocked: Nanos::ZERO,
        start: Nanos::ZERO,
        thread: 0,
    };
    let member = [Event::Barrier, Event::Barrier, Event::End];
    let team = [&[Event::Team(2)][..], &member, &member, &[Event::TeamEnd, Event::End]].concat();
    let team: Vec<Strand> = team.into_iter().map(strand).collect();
    let rows = Counted(&team, Cell::new(0));
    let found = encode_within(&Recording::default(), &rows, 9, 0).unwrap_or_else(|never| match never {});
    assert_eq!((found.1.rows, rows.1.get()), (0, 1));
}

/// What `workspan predict` says.
fn foretold<R: Rows>(recording: &Recording, rows: &R, scenario: &Scenario, on_one: Nanos, processors: u32) -> Predicted
where
    R::Error: std::fmt::Debug,
{
    let graph = Graph::of(recording, rows, &BuildOptions::default()).expect("rows in memory can be read");
    let graph = graph.with_factors(scenario.factors(recording));
    let steal = Nanos(i64::try_from(recording.machine.steal_ns).expect("it is small"));
    let options = Options { processors: vec![processors], steal, seeds: SEEDS };
    Predicted::of(&predict(&graph, on_one, &options).points[0])
}

/// A page predicts of all strands, as `workspan predict` does, or not at all: of more strands than it has time for, or merged ones.
#[test]
fn predictions_are_of_all_strands() {
    for (shape, seed, count) in [(Shape::Iterators, 2, 30_000), (Shape::Tasks, 3, 30_000), (Shape::Joins, 4, 150_000)] {
        let (mut recording, stream) = Stream::new(shape, count, seed);
        recording.machine.steal_ns = 300;
        let mut rows = Vec::new();
        stream.read(&mut |batch| {
            rows.extend_from_slice(batch);
            true
        });
        let found = regions(&recording, &rows).unwrap_or_else(|never| match never {});
        let row = found.regions.iter().max_by_key(|row| row.critical).expect("there is a path");
        let place = Place::of(&recording.contexts, &row.region);
        let changes = vec![Change { part: Selector::Place(place), factor: Factor::new(4.0).expect("a factor") }];
        let scenario = Scenario { changes: changes.clone() };
        let whole = encode(&recording, &rows).unwrap_or_else(|never| match never {});
        let merged = encode_merged(&recording, &rows, Nanos(i64::MAX)).unwrap_or_else(|never| match never {}).0;
        for (bytes, is_whole) in [(whole, true), (merged, false)] {
            let mut session = Session::new(&bytes).expect("it was just encoded");
            let answer = session.ask(changes.clone());
            let few = is_whole && rows.len() as u64 <= STRANDS && answer.strands * 4 <= PARTS;
            assert_eq!(is_whole && count <= 30_000, few, "{shape:?} {count}: {} strands", answer.strands);
            for processors in [16, 1024] {
                let expected = few.then(|| foretold(&recording, &rows, &scenario, answer.before.on_one, processors));
                assert_eq!(session.predict(processors), expected, "{shape:?} {processors}");
            }
        }
    }
}

/// Code of every other context is under one of two locks, or under several.
fn under_locks(recording: &mut Recording) {
    let lock = |id: ContextId| match id.0 % 8 {
        1 | 3 => Lock::One(0xfeed),
        5 => Lock::One(7),
        7 => Lock::Several,
        _ => Lock::None,
    };
    let totals = recording.contexts.ids().map(|id| Totals { lock: lock(id), ..Totals::default() }).collect();
    recording.runs.push(Run { totals, ..Run::default() });
}

/// A question as a script puts it is answered as the analysis answers it, unit by unit.
#[test]
fn answers_are_those_of_the_analysis() {
    let (mut foretold_runs, mut bounded_by_locks) = (0, 0);
    for seed in 0..300 {
        let mut run = random(seed);
        if seed % 2 == 1 {
            under_locks(&mut run.recording);
        }
        let run = run;
        let mut session = Session::new(&encoded(&run)).expect("it was just encoded");
        let mut dice = Random::new(seed);
        let all = regions(&run.recording, &run.rows).unwrap_or_else(|never| match never {}).regions;
        let mut pick = |n: usize| usize::try_from(dice.below(n as u64)).unwrap_or(0);
        let (mut question, mut asked) = (Vec::new(), Vec::new());
        for _ in 0..=pick(3) {
            let place = Place::of(&run.recording.contexts, &all[pick(all.len())].region);
            let site = SiteId(u32::try_from(pick(run.recording.sites.len())).unwrap_or(0));
            let factor = [1.0, 1.5, 2.0, 8.0, f64::INFINITY][pick(5)];
            let (part, words) = match pick(3) {
                0 => (Selector::Site(site), [0, site.0, 0, 0]),
                1 => (Selector::Below(site), [1, site.0, 0, 0]),
                _ => (Selector::Place(place), [2, numbers(&place)[0], numbers(&place)[1], numbers(&place)[2]]),
            };
            asked.push(Change { part, factor: Factor::new(factor).expect("a factor") });
            question.extend(words.map(f64::from).into_iter().chain([factor]).flat_map(f64::to_le_bytes));
        }
        let read = changes(&question).expect("a question");
        assert_eq!(read, asked, "seed {seed}");
        // The same parts with other factors, and other parts: neither leaves a trace.
        let other = |change: &Change| Change { factor: Factor::new(3.0).expect("a factor"), ..change.clone() };
        session.ask(if pick(2) == 0 { read.iter().map(other).collect() } else { Vec::new() });
        let answer = session.ask(read);
        let scenario = Scenario { changes: asked };
        let expected =
            what_if(&run.recording, &run.rows, std::slice::from_ref(&scenario)).unwrap_or_else(|never| match never {});
        let outcome = &expected.outcomes[0];
        assert_eq!(answer.before.span, expected.before.replayed.span, "seed {seed}");
        assert_eq!(answer.before.work, expected.before.replayed.work, "seed {seed}");
        assert_eq!(answer.after.span, outcome.after.replayed.span, "seed {seed}");
        let shortest = |figures: &Figures| figures.uniform.map(|even| even.span);
        assert_eq!(answer.before.shortest, shortest(&expected.before), "seed {seed}");
        assert_eq!(answer.after.shortest, shortest(&outcome.after), "seed {seed}");
        let free = Recording { runs: Vec::new(), ..run.recording.clone() };
        let free = what_if(&free, &run.rows, &[]).unwrap_or_else(|never| match never {});
        bounded_by_locks += u64::from(answer.before.shortest != shortest(&free.before));
        assert_eq!(answer.ceiling.span, outcome.ceiling.replayed.span, "seed {seed}");
        assert_eq!((answer.named, answer.strands), (outcome.named, outcome.strands), "seed {seed}");
        let processors = 1 << pick(6);
        let foretold = foretold(&run.recording, &run.rows, &scenario, expected.before.on_one, processors);
        // Where there are too many parts it does not even try.
        let answered = session.predict(processors);
        assert!(answered.is_none_or(|answered| answered == foretold), "seed {seed}: {answered:?} {foretold:?}");
        foretold_runs += u64::from(answered.is_some());
        let path: Nanos = answer.path.iter().map(|row| row.before).sum();
        assert_eq!(path, answer.before.span, "seed {seed}");
        assert_eq!(flat(&answer).len(), 57 + 5 * answer.path.len());
    }
    assert!(foretold_runs > 200 && bounded_by_locks > 5, "{foretold_runs} {bounded_by_locks}");
}

#[test]
fn bad_bytes_are_refused() {
    let mut dice = Random::new(7);
    let mut pick = |n: usize| usize::try_from(dice.below(n as u64)).unwrap_or(0);
    for seed in 0..40 {
        let run = random(seed);
        let whole = encoded(&run);
        assert!(Session::new(&whole[..whole.len() - 1]).is_err());
        assert!(Session::new(&[whole.clone(), vec![0]].concat()).is_err());
        for _ in 0..60 {
            let mut broken = whole.clone();
            for _ in 0..=pick(4) {
                let at = pick(broken.len());
                broken[at] = u8::try_from(pick(256)).unwrap_or(0);
            }
            broken.truncate(broken.len() - pick(3));
            // Whatever it holds, it is refused or it can be asked.
            if let Ok(mut session) = Session::new(&broken) {
                session.ask(vec![Change { part: Selector::Below(SiteId(0)), factor: Factor::INFINITE }]);
            }
        }
    }
    assert!(Session::new(&[]).is_err());
}

#[test]
fn bad_questions_are_refused() {
    let question = |numbers: &[f64]| changes(&numbers.iter().copied().flat_map(f64::to_le_bytes).collect::<Vec<u8>>());
    assert_eq!(question(&[]), Some(Vec::new()));
    for bad in [
        &[0.0, 1.0, 0.0, 0.0][..],
        &[0.0, 1.0, 0.0, 0.0, 0.5],
        &[0.0, 1.0, 0.0, 0.0, f64::NAN],
        &[0.0, 1.5, 0.0, 0.0, 2.0],
        &[0.0, -1.0, 0.0, 0.0, 2.0],
        &[3.0, 1.0, 0.0, 0.0, 2.0],
        &[2.0, 1.0, 1e99, 0.0, 2.0],
    ] {
        assert_eq!(question(bad), None, "{bad:?}");
    }
}
