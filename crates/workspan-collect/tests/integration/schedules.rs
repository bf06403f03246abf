//! Random programs under random schedules, against the oracle: whatever is stolen, and whenever it runs, the numbers are
//! the same. The schedules are made here, so unlike the end-to-end tests this covers steals that a real machine hardly
//! ever makes; and Miri watches every access.

use std::sync::atomic::Ordering;

use workspan_analysis::calls::{calls, from_totals, CallRow, Options};
use workspan_analysis::strands;
use workspan_collect::group::{Group, TaskLink};
use workspan_collect::handoff::Handoff;
use workspan_collect::join::JoinFrame;
use workspan_collect::region;
use workspan_collect::resource::{Resource, Turns};
use workspan_collect::task;
use workspan_model::{ContextId, Nanos, Recording, SiteId, SiteKind as ModelKind, Strand, Totals};
use workspan_testkit::oracle::{Calls, Kind};
use workspan_testkit::random::Random;
use workspan_testkit::{evaluate, generate, Node, ScopeKind};
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use crate::machine::{self, call_site, enter, leave, now, Machine, STEAL};
use crate::replay;

// Miri takes a minute and more for each.
const PROGRAMS: u64 = if cfg!(miri) { 2 } else { 2_000 };

#[test]
fn every_schedule_gives_the_oracles_numbers() {
    for seed in 0..PROGRAMS {
        let program = generate(seed);
        let expected = evaluate(&program);
        let mut serial = None;
        for threads in [1, 2, 4] {
            let counts = seed % 2 == 0;
            let machine = if counts { Machine::counting(threads, true) } else { Machine::logging(threads) };
            Run::whole(&machine, seed, &program);
            // Of tasks that are not logged, many are in one batch.
            let plain = Machine::counting(threads, false);
            Run::whole(&plain, seed, &program);
            if cfg!(miri) {
                // Reading the whole memory would take Miri minutes; the end of the longest chain is in its header.
                let span = machine.shared.header().detached.candidate.span.load(Ordering::Relaxed);
                assert_eq!(span.cast_unsigned(), expected.span, "program {seed}");
                let plain = plain.shared.header().detached.candidate.span.load(Ordering::Relaxed);
                assert_eq!(plain, span, "program {seed}");
                let contexts = [workspan_model::ContextId::ROOT; 1];
                let (strands, converted) = replay::strands(&machine, &contexts);
                assert!(converted.whole(), "program {seed}: {converted:?}");
                assert_eq!(replay::replay(&strands).span.cast_unsigned(), expected.span, "program {seed}");
                continue;
            }
            let (recording, profile) = machine.profile();
            assert_eq!(
                plain.recording().runs[0].totals,
                recording.runs[0].totals,
                "program {seed} on {threads} threads"
            );
            assert_eq!(plain.recording().runs[0].critical, recording.runs[0].critical, "program {seed}");
            for recording in [counts.then_some(&recording), Some(&plain.recording())].into_iter().flatten() {
                check_events(&recording.runs[0], &format!("program {seed} on {threads} threads"));
            }
            let contexts: Vec<_> = recording.contexts.ids().collect();
            let (rows, converted) = replay::strands(&machine, &contexts);
            let label = format!("program {seed} on {threads} threads");
            assert_eq!(
                (profile.program.work.0.cast_unsigned(), profile.program.span.0.cast_unsigned()),
                (expected.work, expected.span),
                "{label}"
            );
            assert!(converted.whole(), "{label}: {converted:?}");
            let replayed = replay::replay(&rows);
            assert_eq!(
                (replayed.work.cast_unsigned(), replayed.span.cast_unsigned()),
                (expected.work, expected.span),
                "{label}: {rows:#?}"
            );
            // In serial order they are the same however they ran.
            let shape: Vec<_> = rows.iter().map(|s| (std::mem::discriminant(&s.event), s.cost)).collect();
            assert_eq!(*serial.get_or_insert(shape.clone()), shape, "{label}");
            let run = recording.runs[0].clone();
            let again = strands::replay(&recording, &*rows).expect("a slice can be read").into_run(&run);
            for (id, (found, expected)) in (0..).zip(again.totals.iter().zip(&run.totals)) {
                // Time on the wall is in no row, nor what the stand-in for the kind of bridges stands for. What lies on the
                // critical path is compared with the oracle.
                let mut found = Totals {
                    wall: expected.wall,
                    on_path: expected.on_path,
                    burdened_span: expected.burdened_span,
                    ..found.clone()
                };
                if expected.items > 0 {
                    // Threads are no tasks.
                    let Totals { items, entries, tasks, task_work, ref sizes, .. } = *expected;
                    found = Totals { items, entries, tasks, task_work, sizes: sizes.clone(), ..found };
                }
                assert_eq!(&found, expected, "{label}: {:?}", recording.contexts.get(ContextId(id)));
            }
            assert_eq!((again.span, again.critical), (run.span, run.critical), "{label}");
            check_burden(&recording, &rows, &label);
            assert!(rows.iter().all(|strand| strand.blocked.0 == 0), "{label}: nothing was blocked");
            for (context, totals) in contexts.iter().zip(&recording.runs[0].totals) {
                let found = replayed.self_work.get(context).copied().unwrap_or(0);
                assert_eq!(found, totals.self_work.0, "{label}: {context:?}");
            }
            assert_eq!(recording.runs[0].lost_path.0, 0, "{label}: the critical path does not add up");
            for row in &profile.sites {
                let place = &recording.sites[row.site.0 as usize];
                let (kind, copy) = (place.kind, place.column);
                let found = expected.sites.iter().filter(|((k, _), _)| kind_of(*k) == Some(kind));
                let matches = found.filter(|(_, answer)| {
                    (answer.work, answer.span, answer.self_work, answer.critical)
                        == (
                            row.work.0.cast_unsigned(),
                            row.spans.0.cast_unsigned(),
                            row.self_work.0.cast_unsigned(),
                            row.critical.0.cast_unsigned(),
                        )
                        && answer.on_path == calls_on_path(&recording, row.site)
                });
                assert!(
                    matches.count() >= 1,
                    "{label}: {kind:?} at column {copy}: {row:?}, {:?}, {:#?}",
                    calls_on_path(&recording, row.site),
                    expected.sites
                );
            }
            // Whoever is left holds next to nothing.
            for machine in [&machine, &plain] {
                assert!(machine.nodes_in_use() < 64, "{label}: {} nodes", machine.nodes_in_use());
            }
        }
    }
}

/// What the outermost instances of `site` on the critical path amount to.
fn calls_on_path(recording: &Recording, site: SiteId) -> Calls {
    let (tree, run) = (&recording.contexts, &recording.runs[0]);
    let mut calls = Calls::default();
    for id in tree.ids() {
        let context = tree.get(id).expect("it is one of the tree's");
        if context.site != Some(site) || context.recursive {
            continue;
        }
        let totals = &run.totals[id.index()];
        calls.count += totals.on_path.instances;
        calls.work += totals.on_path.work.0.cast_unsigned();
        calls.span += totals.on_path.span.0.cast_unsigned();
    }
    calls
}

fn kind_of(kind: Kind) -> Option<ModelKind> {
    match kind {
        Kind::Serial => None,
        Kind::Join => Some(ModelKind::Join),
        Kind::Scope(0) => Some(ModelKind::Scope),
        Kind::Scope(1) => Some(ModelKind::ParSort),
        Kind::Scope(_) => Some(ModelKind::Broadcast),
        Kind::ScopeSpawn => Some(ModelKind::ScopeSpawn),
        Kind::Spawn => Some(ModelKind::Spawn),
        Kind::ParIter => Some(ModelKind::ParIter),
        Kind::ParBridge => Some(ModelKind::Thread),
    }
}

struct Panicked;

/// A task of a scope, or a detached one, that has been created and not run yet.
struct Later<'p> {
    link: TaskLink,
    body: &'p Node,
    group: Option<*const Group>,
}

struct Run<'m, 'p> {
    machine: &'m Machine,
    random: Random,
    later: Vec<Later<'p>>,
}

impl<'m, 'p> Run<'m, 'p> {
    /// The whole of `program`, to its end.
    fn whole(machine: &'m Machine, seed: u64, program: &'p Node) {
        let mut run = Run { machine, random: Random::new(seed + 77), later: Vec::new() };
        let ended = run.node(program, 0, None);
        assert!(ended.is_ok(), "an uncaught panic in program {seed}");
        run.run_later(0);
        machine.finish();
    }

    fn thread(&self, slot: usize) -> &'static Thread {
        self.machine.threads[slot]
    }

    /// Another thread that has nothing to run, if there is one: the thief.
    fn other(&mut self, slot: usize) -> usize {
        let threads = self.machine.threads.iter().enumerate();
        let idle: Vec<usize> =
            threads.filter(|(_, t)| t.task.waiting.get() != 0).map(|(i, _)| i).filter(|i| *i != slot).collect();
        if idle.is_empty() {
            return slot;
        }
        #[expect(clippy::cast_possible_truncation, reason = "a small index")]
        let chosen = self.random.below(idle.len() as u64) as usize;
        idle[chosen]
    }

    fn node(&mut self, node: &'p Node, slot: usize, group: Option<*const Group>) -> Result<(), Panicked> {
        let thread = self.thread(slot);
        match node {
            Node::Work(ticks) => machine::work(thread, *ticks),
            Node::Seq(nodes) => {
                for node in nodes {
                    self.node(node, slot, group)?;
                }
            }
            Node::Join(copy, left, right) => {
                let region = enter(thread, SiteKind::Join, *copy);
                let result =
                    self.join(slot, |run, slot| run.node(left, slot, group), |run, slot| run.node(right, slot, group));
                leave(thread, region);
                result?;
            }
            Node::ParIter(copy, items) => {
                let region = enter(thread, SiteKind::ParIter, *copy);
                let result = self.items(items, slot);
                leave(thread, region);
                result?;
            }
            Node::ParBridge(copy, items) => {
                let region = enter(thread, SiteKind::Thread, *copy);
                let resource = Resource::new();
                resource.owned_by(thread);
                self.bridge(items, &mut 0, &resource, slot);
                resource.finish(thread);
                leave(thread, region);
            }
            Node::Scope(kind, copy, body) => {
                let kind = match kind {
                    ScopeKind::Plain => SiteKind::Scope,
                    ScopeKind::Fifo => SiteKind::ParSort,
                    ScopeKind::InPlace => SiteKind::Broadcast,
                };
                let region = enter(thread, kind, *copy);
                let scope = Box::new(Group::new());
                scope.enter(thread);
                let result = self.node(body, slot, Some(&*scope));
                scope.body_done(thread, now(thread));
                self.run_tasks_of(&*scope, slot);
                scope.exit(thread, now(thread));
                leave(thread, region);
                result?;
            }
            Node::Spawn(copy, body) => {
                let scope = group.expect("a spawn lies in a scope");
                // SAFETY: the scope is on the heap until its tasks have run.
                let link = self.create(slot, SiteKind::ScopeSpawn, *copy, Some(unsafe { &*scope }));
                self.later.push(Later { link, body, group });
            }
            Node::Detach(copy, body) => {
                let link = self.create(slot, SiteKind::Spawn, *copy, None);
                self.later.push(Later { link, body, group: None });
            }
            Node::Install(body) => {
                let handoff = Handoff::new();
                handoff.leave(thread, now(thread));
                let other = self.other(slot);
                let result = if other == slot {
                    let origin = handoff.origin().expect("it is active");
                    let (result, ended) = self.as_task(&origin, slot, |run, slot| {
                        handoff.begun(run.thread(slot));
                        run.node(body, slot, None)
                    });
                    handoff.done(self.thread(slot), ended);
                    result
                } else {
                    let origin = handoff.origin().expect("it is active");
                    let (result, ended) = self.as_task(&origin, other, |run, slot| {
                        handoff.begun(run.thread(slot));
                        run.node(body, slot, None)
                    });
                    handoff.done(self.thread(other), ended);
                    result
                };
                handoff.resume(thread, now(thread));
                result?;
            }
            Node::Yield => {
                if self.random.once_in(2) {
                    self.interlude(slot);
                }
            }
            Node::Panic => return Err(Panicked),
            Node::Catch(body) => {
                // Caught, whatever it was.
                let _ = self.node(body, slot, None);
            }
        }
        Ok(())
    }

    fn join(
        &mut self,
        slot: usize,
        left: impl FnOnce(&mut Self, usize) -> Result<(), Panicked>,
        right: impl FnOnce(&mut Self, usize) -> Result<(), Panicked>,
    ) -> Result<(), Panicked> {
        let thread = self.thread(slot);
        let frame = JoinFrame::new();
        frame.fork(thread, Some(now(thread)));
        let thief = self.other(slot);
        match self.random.below(4) {
            // Stolen at once.
            0 if thief != slot => {
                let (second, ended) = self.as_task(&frame.origin(), thief, right);
                frame.stolen_done(self.thread(thief), ended);
                let first = left(self, slot);
                frame.left_done(thread, Some(now(thread)));
                frame.wait(thread, now(thread), false);
                frame.resume(thread, now(thread));
                first.and(second)
            }
            // Taken later, by a thief or from the own queue.
            1 => {
                let first = left(self, slot);
                frame.left_done(thread, Some(now(thread)));
                frame.wait(thread, now(thread), false);
                self.interlude(slot);
                let (second, ended) = self.as_task(&frame.origin(), thief, right);
                frame.stolen_done(self.thread(thief), ended);
                frame.resume(thread, now(thread));
                first.and(second)
            }
            // Found after other tasks.
            2 => {
                let first = left(self, slot);
                frame.left_done(thread, Some(now(thread)));
                frame.wait(thread, now(thread), false);
                self.interlude(slot);
                frame.found(thread, now(thread));
                frame.right_inline(thread);
                let second = right(self, slot);
                frame.right_done(thread, Some(now(thread)));
                first.and(second)
            }
            _ => {
                let first = left(self, slot);
                frame.left_done(thread, Some(now(thread)));
                frame.right_inline(thread);
                let second = right(self, slot);
                frame.right_done(thread, Some(now(thread)));
                first.and(second)
            }
        }
    }

    /// Runs `body` as a task from `origin` on the thread in `slot`, whose strand is stopped or which lets it run.
    fn as_task<R>(
        &mut self,
        origin: &task::Origin,
        slot: usize,
        body: impl FnOnce(&mut Self, usize) -> R,
    ) -> (R, task::Ended) {
        let thread = self.thread(slot);
        let mut suspended = task::Suspended::default();
        task::begin(thread, now(thread), origin, &mut suspended);
        let result = body(self, slot);
        (result, task::end(thread, now(thread), &suspended))
    }

    fn items(&mut self, items: &'p [Node], slot: usize) -> Result<(), Panicked> {
        if let [one] = items {
            return self.node(one, slot, None);
        }
        let (left, right) = items.split_at(items.len() / 2);
        self.join(slot, |run, slot| run.items(left, slot), |run, slot| run.items(right, slot))
    }

    /// Takes turns at the shared iterator, on this thread and, by way of a join, on another.
    fn bridge(&mut self, items: &'p [(u64, Node)], next: &mut usize, resource: &Resource, slot: usize) {
        let thread = self.thread(slot);
        let turns = Turns::new();
        turns.enter(thread, now(thread));
        loop {
            turns.begin(thread, now(thread), resource);
            let item = items.get(*next);
            if let Some((cost, _)) = item {
                machine::work(thread, *cost);
            }
            *next += 1;
            turns.end(thread, now(thread), resource, item.is_some());
            let Some((_, node)) = item else {
                break;
            };
            let caught = self.node(node, slot, None);
            debug_assert!(caught.is_ok());
            turns.item_done(thread, now(thread), resource);
        }
        turns.leave(thread, now(thread), resource);
    }

    fn create(&mut self, slot: usize, kind: SiteKind, copy: u8, group: Option<&Group>) -> TaskLink {
        let thread = self.thread(slot);
        let target = region::target(thread, &call_site(kind, copy)).expect("the tables have room");
        TaskLink::create(thread, now(thread), group, std::ptr::null(), target, 1)
    }

    /// Some task that was created earlier runs while the thread in `slot` waits or yields.
    fn interlude(&mut self, slot: usize) {
        if self.later.is_empty() || self.random.once_in(2) {
            return;
        }
        #[expect(clippy::cast_possible_truncation, reason = "an index")]
        let chosen = self.random.below(self.later.len() as u64) as usize;
        let task = self.later.swap_remove(chosen);
        let thread = self.thread(slot);
        let waited = thread.task.waiting.get() != 0;
        if !waited {
            workspan_collect::strand::stop(thread, now(thread));
            task::enter_idle(thread, now(thread));
        }
        self.run_task(&task, slot);
        if !waited {
            task::leave_idle(thread, now(thread));
            workspan_collect::log::go(thread, now(thread));
        }
    }

    fn run_task(&mut self, task: &Later<'p>, slot: usize) {
        let thread = self.thread(slot);
        let mut suspended = task::Suspended::default();
        assert!(task.link.begin(thread, now(thread), &mut suspended), "it is followed");
        let caught = self.node(task.body, slot, task.group);
        debug_assert!(caught.is_ok());
        task.link.end(thread, now(thread), &suspended);
    }

    /// The tasks of a scope whose body has ended, in any order and on any thread.
    fn run_tasks_of(&mut self, scope: *const Group, slot: usize) {
        while let Some(at) = self.later.iter().position(|task| task.group == Some(scope)) {
            let task = self.later.swap_remove(at);
            let where_to = if self.random.once_in(2) { self.other(slot) } else { slot };
            self.run_task(&task, where_to);
        }
    }

    /// Whatever is left: detached tasks, on idle threads.
    fn run_later(&mut self, slot: usize) {
        let thread = self.thread(slot);
        workspan_collect::strand::stop(thread, now(thread));
        task::enter_idle(thread, now(thread));
        while let Some(task) = self.later.pop() {
            let where_to = self.other(slot);
            self.run_task(&task, where_to);
        }
        task::leave_idle(thread, now(thread));
        workspan_collect::log::go(thread, now(thread));
    }
}

/// Events that the virtual clock makes are charged as its ticks are.
fn check_events(run: &workspan_model::Run, label: &str) {
    for (event, a_tick) in run.events.iter().zip(1..) {
        assert!(event.is_counted() && event.refused.is_none(), "{label}: {event:?}");
        let expected: Vec<u64> = run.totals.iter().map(|totals| totals.self_work.0.cast_unsigned() * a_tick).collect();
        assert_eq!(event.counts, expected, "{label}: {}", event.name);
    }
    assert_eq!(run.events.len(), 2);
}

/// The burdened spans of the totals are those of the strands.
fn check_burden(recording: &Recording, rows: &[Strand], label: &str) {
    let run = &recording.runs[0];
    if run.totals.iter().any(|totals| totals.items > 0) {
        // In the rows, items stand where the first turn was taken.
        return;
    }
    let totals = from_totals(recording, run, Nanos::ZERO);
    let found = calls(recording, rows, &Options { heights: false, steal: Nanos(STEAL), on_one: Nanos::ZERO })
        .expect("a slice can be read");
    assert_eq!(totals.burdened, found.burdened, "{label}");
    let spans =
        |rows: &[CallRow]| -> Vec<_> { rows.iter().map(|row| (row.callee, row.caller, row.burdened)).collect() };
    assert_eq!(spans(&totals.rows), spans(&found.rows), "{label}");
}
