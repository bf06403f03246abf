//! TaskProf's example (Fig. 3.2 and 4.6), rebuilt from what its text says: 16 tasks; a recursive function whose eight leaves
//! take 200 and 220 in turn, the four nodes above them 10; then two tasks of 660 and 620.

use workspan_analysis::advise::{advise, Caveat, Goal, Kind, Outcome};
use workspan_analysis::strands::{self, Point};
use workspan_analysis::what_if::{what_if, Change, Factor, Scenario, Selector};
use workspan_analysis::{profile, replay, Rows};
use workspan_model::{ContextId, ContextTree, Creation, Event, Nanos, Recording, Run, Site, SiteId, SiteKind, Strand};

/// Regions and creations, by line.
pub(crate) const L4: SiteId = SiteId(0);
pub(crate) const L9: SiteId = SiteId(1);
pub(crate) const L10: SiteId = SiteId(2);
pub(crate) const L16: SiteId = SiteId(3);
pub(crate) const L24: SiteId = SiteId(4);
pub(crate) const L34: SiteId = SiteId(5);
pub(crate) const L35: SiteId = SiteId(6);

fn sites() -> Vec<Site> {
    let (mark, task) = (SiteKind::Marked, SiteKind::Task);
    let places = [(mark, 4, "L4-L6"), (task, 9, ""), (task, 10, ""), (mark, 16, "L16-L20"), (mark, 24, "L24-L28")];
    let site = |(kind, line, name): (SiteKind, u32, &str)| Site {
        type_name: name.to_owned(),
        ..Site::at(kind, "example.cpp", line, 1)
    };
    places.into_iter().chain([(task, 34, ""), (task, 35, "")]).map(site).collect()
}

#[derive(Default)]
pub(crate) struct Example {
    contexts: ContextTree,
    context: Option<ContextId>,
    rows: Vec<Strand>,
    created: i64,
}

impl Example {
    fn here(&self) -> ContextId {
        self.context.unwrap_or(ContextId::ROOT)
    }

    pub(crate) fn row(&mut self, cost: i64, event: Event) {
        let zero = Nanos::ZERO;
        let (context, cost) = (self.here(), Nanos(cost));
        self.rows.push(Strand { event, context, cost, blocked: zero, start: zero, thread: 0 });
    }

    /// `cost` before a task at `site` is created, which is `body`.
    pub(crate) fn spawn(&mut self, cost: i64, site: SiteId, body: impl FnOnce(&mut Example)) {
        let around = self.context;
        let (context, _) = self.contexts.enter(self.here(), site).unwrap();
        // 840 for 16.
        let overhead = Nanos(52 + self.created % 2);
        self.created += 1;
        self.row(cost, Event::Spawn(Creation { context, group: Some(0), overhead }));
        self.context = Some(context);
        body(self);
        self.row(0, Event::End);
        self.context = around;
    }

    pub(crate) fn region(&mut self, site: SiteId, cost: i64) {
        let around = self.context;
        let (context, _) = self.contexts.enter(self.here(), site).unwrap();
        self.row(0, Event::Enter(context));
        self.context = Some(context);
        self.row(cost, Event::Leave);
        self.context = around;
    }

    fn compute(&mut self, level: u32, leaf: i64) {
        if level == 0 {
            self.region(L4, leaf);
            return;
        }
        self.row(0, Event::Group);
        let before = if level == 1 { 10 } else { 0 };
        self.spawn(before, L9, |example| example.compute(level - 1, 200));
        self.spawn(0, L10, |example| example.compute(level - 1, 220));
        self.row(0, Event::Wait);
    }

    pub(crate) fn recorded(self) -> (Recording, Vec<Strand>) {
        (Recording { sites: sites(), contexts: self.contexts, ..Recording::default() }, self.rows)
    }
}

fn example() -> (Recording, Vec<Strand>) {
    let mut example = Example::default();
    example.row(30, Event::Sync);
    example.compute(3, 0);
    example.row(0, Event::Group);
    example.spawn(0, L34, |example| example.region(L16, 660));
    example.spawn(0, L35, |example| example.region(L24, 620));
    example.row(0, Event::Wait);
    example.row(10, Event::Sync);
    example.recorded()
}

fn marked(name: &str, factor: f64) -> Change {
    Change { part: Selector::Marked(name.to_owned()), factor: Factor::new(factor).unwrap() }
}

fn span(recording: &Recording, rows: &[Strand], changes: Vec<Change>) -> i64 {
    let answer = what_if(recording, rows, &[Scenario { changes }]).unwrap_or_else(|never| match never {});
    answer.outcomes[0].after.replayed.span.0
}

fn run_of(recording: &Recording, rows: &[Strand]) -> Run {
    replay(recording, rows).unwrap_or_else(|never| match never {}).into_run(&Run::default())
}

#[test]
fn its_work_and_span() {
    let (recording, rows) = example();
    let run = run_of(&recording, &rows);
    let profile = profile(&recording, &run);
    let program = profile.program;
    assert_eq!((program.work.0, program.span.0, program.tasks, program.overhead.0), (3040, 930, 16, 840));
    assert_eq!(format!("{:.2}", program.task_overhead.unwrap().0 * 100.0), "27.63");
    let site = |id| profile.sites.iter().find(|row| row.site == id).unwrap();
    assert_eq!((site(L34).work.0, site(L34).span.0), (660, 660));
    assert_eq!((site(L4).self_work.0, site(L16).self_work.0, site(L24).self_work.0), (1680, 660, 620));
    assert_eq!((site(L9).tasks, site(L10).tasks, site(L35).tasks), (7, 7, 1));
}

#[test]
fn halving_parts_of_it() {
    let (recording, rows) = example();
    assert_eq!(span(&recording, &rows, vec![]), 930);
    assert_eq!(span(&recording, &rows, vec![marked("L16-L20", 2.0), marked("L24-L28", 2.0)]), 600);
    let once_more = vec![marked("L16-L20", 2.0), marked("L24-L28", 2.0), marked("L16-L20", 2.0)];
    assert_eq!(span(&recording, &rows, once_more), 580);
    let lines = |first, last| Change {
        part: Selector::Lines { file: "example.cpp".to_owned(), first, last },
        factor: Factor::INFINITE,
    };
    assert_eq!(span(&recording, &rows, vec![lines(16, 20)]), 30 + 230 + 620 + 10);
    assert_eq!(span(&recording, &rows, vec![lines(4, 28)]), 30 + 10);
}

#[test]
fn serial_code_lies_between_its_regions() {
    let mut recording = Recording { sites: sites(), ..Recording::default() };
    let serial = |from, to| Site { kind: SiteKind::Serial { from, to }, ..sites()[0].clone() };
    recording.sites.extend([serial(None, Some(L9)), serial(Some(L9), Some(L34))]);
    let contexts = [7, 8].map(|site| recording.contexts.intern(ContextId::ROOT, SiteId(site)).unwrap());
    let row = |at: usize, event, cost| Strand {
        event,
        context: contexts[at],
        cost: Nanos(cost),
        blocked: Nanos::ZERO,
        start: Nanos::ZERO,
        thread: 0,
    };
    let rows = [row(0, Event::Group, 100), row(0, Event::Wait, 0), row(1, Event::Group, 60), row(1, Event::Wait, 0)];
    let half = |first, last| Change {
        part: Selector::Lines { file: "example.cpp".to_owned(), first, last },
        factor: Factor::new(2.0).unwrap(),
    };
    assert_eq!(span(&recording, &rows, vec![half(1, 99)]), 130);
    assert_eq!(span(&recording, &rows, vec![half(9, 34)]), 130);
    assert_eq!(span(&recording, &rows, vec![half(9, 33)]), 160);
}

#[test]
fn the_subtree_a6() {
    let mut a6 = Example::default();
    a6.compute(1, 0);
    let (recording, rows) = a6.recorded();
    let run = run_of(&recording, &rows);
    assert_eq!((run.work().0, run.span.0), (430, 230));
    assert_eq!(span(&recording, &rows, vec![marked("L4-L6", 2.0)]), 120);
}

#[test]
fn its_regions() {
    let (recording, rows) = example();
    let regions = strands::regions(&recording, &rows).unwrap_or_else(|never| match never {}).regions;
    let site = |region: &strands::RegionRow| recording.contexts.site(region.region.context);
    assert_eq!((site(&regions[0]), regions[0].critical.0), (Some(L16), 660));
    assert_eq!((regions[0].region.before, regions[0].region.after), (Point::Enter, Point::Leave));
    assert_eq!((site(&regions[1]), regions[1].critical.0, regions[1].critical_strands), (Some(L4), 220, 1));
}

#[test]
fn its_advice() {
    let (recording, rows) = example();
    let run = run_of(&recording, &rows);
    let goal = Goal { target: 8.0, factor: 2.0, threshold: 3.0 };
    let advice = advise(&recording, &run, &rows, &goal).unwrap_or_else(|never| match never {});
    let steps: Vec<String> = advice
        .steps
        .iter()
        .map(|step| {
            let parallelism = step.parallelism.unwrap().0;
            format!("{:?} {} ×{} {parallelism:.2}", step.place.site.unwrap(), step.critical.0, step.factor)
        })
        .collect();
    assert_eq!(steps, ["SiteId(3) 660 ×2 3.42", "SiteId(4) 620 ×2 5.07", "SiteId(3) 330 ×4 5.24"]);
    assert_eq!(format!("{:.2}", advice.parallelism.unwrap().0), "3.27");
    // The next one, 310, is below 2 × 157.5.
    assert_eq!(advice.outcome, Outcome::Overhead);
    let spans: Vec<i64> = advice.steps.iter().map(|step| step.span.0).collect();
    assert_eq!(spans, [890, 600, 580]);
    let parts = advice.findings.iter().filter_map(|finding| match &finding.kind {
        Kind::Parallelise { place, factor, critical, .. } => Some((place.site.unwrap(), *factor, critical.0)),
        _ => None,
    });
    assert_eq!(parts.collect::<Vec<_>>(), [(L16, 4.0, 660), (L24, 2.0, 0)]);
    // Parallelising the second alone changes nothing.
    assert!(advice.findings[1].caveats.contains(&Caveat::OnlyTogether));
    assert!(advice.findings.iter().all(|finding| finding.id.starts_with("a-")));
    let enough = Goal { target: 3.0, ..goal };
    let advice = advise(&recording, &run, &rows, &enough).unwrap_or_else(|never| match never {});
    assert_eq!((advice.outcome, advice.steps.len()), (Outcome::AlreadyEnough, 0));
    let reached = Goal { target: 5.1, ..goal };
    let advice = advise(&recording, &run, &rows, &reached).unwrap_or_else(|never| match never {});
    assert_eq!((advice.outcome, advice.steps.len()), (Outcome::Reached, 3));
}

#[test]
fn its_tasks_are_too_small() {
    let (recording, rows) = example();
    let run = run_of(&recording, &rows);
    let advice = advise(&recording, &run, &rows, &Goal::default()).unwrap_or_else(|never| match never {});
    let fine = advice.findings.iter().filter_map(|finding| match &finding.kind {
        Kind::TooFine(grain) => Some((grain.site, grain.tasks, grain.cutoff.0, grain.below)),
        _ => None,
    });
    // 52 or 53 for each: of 660 that is below 10 %.
    assert_eq!(fine.collect::<Vec<_>>(), [(L9, 7, 525, 7), (L10, 7, 526, 7)]);
}

#[test]
fn rows_can_be_read_again() {
    let (_, rows) = example();
    for _ in 0..2 {
        let mut seen = 0;
        let all = rows.read(&mut |batch| {
            seen += batch.len();
            std::ops::ControlFlow::Continue(())
        });
        assert!(all.is_ok() && seen == rows.len());
    }
}
