//! Cilkprof's own examples: the shape of its Fig. 2-2, and the program of its Fig. 1-1 with the numbers of Table 1.1.

use workspan_analysis::calls::{calls, CallRow, Calls, Options};
use workspan_analysis::laws;
use workspan_model::{
    CallMetrics, ContextId, ContextTree, Creation, Event, Nanos, Recording, Site, SiteId, SiteKind, Strand,
};

const MAIN: SiteId = SiteId(0);
const FOO: SiteId = SiteId(1);
const BAR: SiteId = SiteId(2);
const BAZ: SiteId = SiteId(3);

fn recording() -> Recording {
    let site = |(name, line): (&str, u32)| Site {
        type_name: name.to_owned(),
        ..Site::at(SiteKind::Marked, "main.c", line, 1)
    };
    let sites = [("main", 1), ("foo", 2), ("bar", 3), ("baz", 5)].map(site).to_vec();
    Recording { sites, ..Recording::default() }
}

/// A program as it runs.
#[derive(Default)]
struct Program {
    contexts: ContextTree,
    context: Option<ContextId>,
    rows: Vec<Strand>,
}

impl Program {
    fn row(&mut self, cost: i64, event: Event) {
        let (context, zero) = (self.context.unwrap_or(ContextId::ROOT), Nanos::ZERO);
        self.rows.push(Strand { event, context, cost: Nanos(cost), blocked: zero, start: zero, thread: 0 });
    }

    fn target(&mut self, site: SiteId) -> ContextId {
        self.contexts.enter(self.context.unwrap_or(ContextId::ROOT), site).expect("it is there").0
    }

    /// `site` is called, after a strand of `cost`.
    fn call(&mut self, cost: i64, site: SiteId, body: impl FnOnce(&mut Program)) {
        let inner = self.target(site);
        self.row(cost, Event::Enter(inner));
        let around = self.context.replace(inner);
        body(self);
        self.row(0, Event::Leave);
        self.context = around;
    }

    /// `site` is spawned.
    fn spawn(&mut self, cost: i64, site: SiteId, body: impl FnOnce(&mut Program)) {
        let context = self.target(site);
        self.row(cost, Event::Spawn(Creation { context, group: Some(0), overhead: Nanos::ZERO }));
        let around = self.context.replace(context);
        body(self);
        self.row(0, Event::End);
        self.context = around;
    }

    /// Branches of these costs.
    fn parallel(&mut self, costs: impl IntoIterator<Item = i64>) {
        let mut before = 0;
        for (at, cost) in costs.into_iter().enumerate() {
            self.row(before, if at == 0 { Event::Fork(1) } else { Event::Next(1) });
            before = cost;
        }
        self.row(before, Event::Join);
    }

    fn calls(mut self, heights: bool) -> Calls {
        self.row(0, Event::End);
        let recording = Recording { contexts: self.contexts, ..recording() };
        let options = Options { heights, steal: Nanos(100), on_one: Nanos::ZERO };
        calls(&recording, &self.rows, &options).unwrap_or_else(|never| match never {})
    }
}

fn of(calls: &Calls, caller: SiteId, callee: SiteId) -> CallRow {
    let is = |row: &&CallRow| row.caller == Some(caller) && row.callee == callee;
    *calls.rows.iter().find(is).expect("a call site")
}

/// Fig. 2-2: `foo` calls `bar` four times, as A, B, C and D; A and D are on the critical path.
#[test]
fn four_subcomputations_of_which_two_are_on_the_critical_path() {
    let bar = |costs: [i64; 3]| move |program: &mut Program| program.parallel(costs);
    let mut program = Program::default();
    program.call(1, FOO, |foo| {
        foo.call(2, BAR, bar([30, 10, 5])); // A
        foo.row(0, Event::Fork(1));
        foo.call(3, BAR, bar([7, 7, 7])); // B
        foo.row(0, Event::Next(1));
        foo.call(4, BAR, bar([20, 1, 1])); // C
        foo.row(0, Event::Next(1));
        foo.row(100, Event::Join);
        foo.call(5, BAR, bar([40, 39, 38])); // D
    });
    let calls = program.calls(false);
    let (a, b, c, d) = ((45, 30), (21, 7), (22, 20), (117, 40));
    let expected = CallMetrics {
        calls_on_work: 4,
        work_on_work: Nanos(a.0 + b.0 + c.0 + d.0),
        span_on_work: Nanos(a.1 + b.1 + c.1 + d.1),
        calls_on_span: 2,
        work_on_span: Nanos(a.0 + d.0),
        span_on_span: Nanos(a.1 + d.1),
        local_work: Nanos(a.0 + b.0 + c.0 + d.0),
        local_span: Nanos(a.1 + d.1),
    };
    assert_eq!(of(&calls, FOO, BAR).metrics, expected);
    assert_eq!(calls.span, Nanos(1 + 2 + 30 + 100 + 5 + 40));
}

/// Table 1.1, for the program of Fig. 1-1: `cilk_spawn foo(); bar(); cilk_sync; baz();`. Most time is spent in `foo`, but it is
/// `bar` that limits the program.
#[test]
fn foo_has_the_work_and_bar_the_span() {
    let even = |work: i64, n: i64| (0..n).map(move |at| work / n + i64::from(at < work % n));
    let mut program = Program::default();
    program.call(0, MAIN, |main| {
        main.row(0, Event::Group);
        main.spawn(0, FOO, |foo| foo.parallel(even(15_263_389_798, 31_739)));
        main.call(0, BAR, |bar| bar.parallel(even(4_865_148_144, 2)));
        main.row(0, Event::Wait);
        main.call(0, BAZ, |baz| baz.parallel(even(626_623_777, 238)));
    });
    let calls = program.calls(false);
    for (callee, work, parallelism) in
        [(FOO, 15_263_389_798, "31739"), (BAR, 4_865_148_144, "2.00"), (BAZ, 626_623_777, "238")]
    {
        let metrics = of(&calls, MAIN, callee).metrics;
        assert_eq!(metrics.work_on_work, Nanos(work));
        assert_eq!(
            laws::parallelism(metrics.work_on_work, metrics.span_on_work).expect("a number").to_string(),
            parallelism
        );
    }
    // What limits comes first, after `main` itself; what does not is not on the span at all.
    let callees: Vec<SiteId> = calls.rows.iter().map(|row| row.callee).collect();
    assert_eq!(callees, [MAIN, BAR, BAZ, FOO]);
    let foo = of(&calls, MAIN, FOO).metrics;
    assert_eq!((foo.calls_on_work, foo.calls_on_span, foo.span_on_span), (1, 0, Nanos::ZERO));
    // Making `foo` faster gains nothing, making `bar` parallel does: the program is hardly parallel but for it.
    assert_eq!(of(&calls, MAIN, BAR).metrics.span_on_span, Nanos(4_865_148_144 / 2));
    assert_eq!(calls.parallelism.expect("a number").to_string(), "8.52");
}

/// 4.1: `fib(30)` calls `fib(29)` at a site at which that calls `fib(28)`. Once, each height by itself.
#[test]
fn recursion_is_counted_once_or_by_height() {
    // fib(n) is a spawn of fib(n-1) beside a call of fib(n-2) at another place, each strand costs 1.
    fn fib(program: &mut Program, n: u32) {
        if n < 2 {
            return;
        }
        program.row(1, Event::Group);
        program.spawn(1, FOO, |child| fib(child, n - 1));
        program.call(1, BAR, |child| fib(child, n - 2));
        program.row(1, Event::Wait);
    }
    let run = |heights| {
        let mut program = Program::default();
        program.call(0, MAIN, |main| fib(main, 6));
        program.calls(heights)
    };
    // 4 for each of the 12 calls with n of 2 and more.
    let calls = run(false);
    assert_eq!(calls.work, Nanos(48));
    // Of the outermost two, one is fib(5), the other one fib(4).
    let [foo, bar] = [FOO, BAR].map(|site| of(&calls, MAIN, site).metrics);
    assert_eq!((foo.calls_on_work, foo.work_on_work), (1, Nanos(28)));
    assert_eq!((bar.calls_on_work, bar.work_on_work), (1, Nanos(16)));
    let local: Nanos = calls.rows.iter().map(|row| row.metrics.local_work).sum();
    assert_eq!(local, calls.work);

    let calls = run(true);
    let heights = |site: SiteId| {
        let mut sums = [(0, 0); 6];
        for row in calls.rows.iter().filter(|row| row.callee == site) {
            let at = row.height.expect("it is by height") as usize;
            sums[at].0 += row.metrics.calls_on_work;
            sums[at].1 += row.metrics.work_on_work.0;
        }
        sums
    };
    // fib(n) for n of 2 and more has the height n - 1.
    assert_eq!(heights(FOO), [(5, 0), (3, 12), (2, 16), (1, 16), (1, 28), (0, 0)]);
    assert_eq!(heights(BAR), [(8, 0), (2, 8), (1, 8), (1, 16), (0, 0), (0, 0)]);
    let local: Nanos = calls.rows.iter().map(|row| row.metrics.local_work).sum();
    assert_eq!(local, calls.work);
}

/// A burden counts where something is stolen and where it is waited for, along the path.
#[test]
fn steals_make_the_path_longer() {
    let mut program = Program::default();
    // The first branch, which is not stolen, is longer by less than two steals, then by more.
    program.parallel([1000, 850]);
    program.parallel([1000, 700]);
    program.row(0, Event::Group);
    program.spawn(10, FOO, |foo| foo.row(300, Event::Sync));
    program.row(50, Event::Wait);
    let calls = program.calls(false);
    assert_eq!(calls.span, Nanos(1000 + 1000 + 10 + 300));
    let burdened = calls.burdened.expect("it is computed");
    assert_eq!(burdened.span, Nanos(100 + 850 + 100 + 1000 + 10 + 100 + 300 + 100));
    let foo = calls.rows[0];
    assert_eq!((foo.callee, foo.burdened.expect("it is computed").span), (FOO, Nanos(300)));
}
