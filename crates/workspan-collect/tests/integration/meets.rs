//! Random programs of threads that wait for one another: what the collector composes while they run, and what their logs
//! amount to, are what a model of a few lines says.
//!
//! The model knows nothing but the time at which each thread would be on any number of processors, and the same if nobody waited for locks. A wake-up leaves it
//! under an address, a wait goes on from the later of its own and what lies there. Steps of the threads come in random order,
//! so a wait often comes before what it waits for in serial order.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use workspan_analysis::schedule::{greedy, BuildOptions, Graph};
use workspan_analysis::what_if::{what_if, Scenario};
use workspan_collect::root::end_root;
use workspan_collect::thread::{prepare, with_slot, Role};
use workspan_collect::waits::{forget, leave_at, publish_end_at, wake_at, Born, Wait};
use workspan_collect::{log, strand};
use workspan_model::{ContextId, Event, Nanos};
use workspan_testkit::random::Random;
use workspan_wire::shm::Thread;

use crate::machine::{now, work, Machine};
use crate::replay::strands;

const RUNS: u64 = if cfg!(miri) { 30 } else { 3000 };
const THREADS: usize = 5;
const ADDRESSES: u64 = 4;

/// What is known of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unborn,
    Lives,
    Ended,
    Joined,
}

struct Program {
    machine: Machine,
    random: Random,
    /// Where each thread is.
    at: Vec<i64>,
    /// The same without waits for locks, and the number of these.
    free: Vec<i64>,
    locks: u64,
    states: Vec<State>,
    /// What lies under each address.
    left: BTreeMap<u64, (i64, i64)>,
    work: i64,
    blocked: i64,
}

impl Program {
    fn thread(&self, number: usize) -> &'static Thread {
        self.machine.threads[number]
    }

    fn some(&mut self, state: State) -> Option<usize> {
        let all: Vec<usize> = (0..THREADS).filter(|number| self.states[*number] == state).collect();
        all.get(usize::try_from(self.random.below(all.len().max(1) as u64)).unwrap()).copied()
    }

    fn works(&mut self, number: usize) {
        let ticks = self.random.below(1000);
        work(self.thread(number), ticks);
        self.at[number] += ticks.cast_signed();
        self.free[number] += ticks.cast_signed();
        self.work += ticks.cast_signed();
    }

    fn creates(&mut self, number: usize) {
        let Some(child) = self.some(State::Unborn) else {
            return;
        };
        let (creator, thread) = (self.thread(number), self.thread(child));
        let born = Born::at(creator, now(creator));
        prepare(self.machine.shared, thread, Role::External);
        log::start(self.machine.shared, thread, Role::External);
        with_slot(thread, false, || born.start());
        self.states[child] = State::Lives;
        (self.at[child], self.free[child]) = (self.at[number], self.free[number]);
    }

    fn wakes(&mut self, number: usize) {
        let address = self.random.below(ADDRESSES);
        let thread = self.thread(number);
        wake_at(thread, now(thread), address);
        self.left.insert(address, (self.at[number], self.free[number]));
    }

    /// Waits for some time, of which only that counts for which nobody is known.
    fn waits(&mut self, number: usize) {
        let (address, ticks) = (self.random.below(ADDRESSES), self.random.below(500));
        let thread = self.thread(number);
        let wait = Wait::begin_at(thread, now(thread));
        work(thread, ticks);
        wait.end_at(now(thread), address, true);
        self.goes_on(number, self.left.get(&address).copied(), ticks);
    }

    /// Waits for the lock that another thread gives back.
    fn locks(&mut self, number: usize) {
        const LOCK: u64 = 1 << 20;
        let other = self.some(State::Lives).filter(|other| *other != number);
        let Some(other) = other else { return };
        let (thread, holder, ticks) = (self.thread(number), self.thread(other), self.random.below(500));
        self.locks += 1;
        let wait = Wait::begin_at(thread, now(thread));
        let left = leave_at(holder, now(holder), LOCK + self.locks);
        work(thread, ticks);
        wait.end_behind_lock(now(thread), LOCK + self.locks, left);
        self.at[number] = self.at[number].max(self.at[other]);
    }

    fn goes_on(&mut self, number: usize, after: Option<(i64, i64)>, ticks: u64) {
        match after {
            Some((waker, free)) => {
                self.at[number] = self.at[number].max(waker);
                self.free[number] = self.free[number].max(free);
            }
            None => {
                self.at[number] += ticks.cast_signed();
                self.free[number] += ticks.cast_signed();
                self.blocked += ticks.cast_signed();
            }
        }
    }

    fn ends(&mut self, number: usize) {
        let thread = self.thread(number);
        publish_end_at(thread, now(thread), 1000 + number as u64);
        end_root(self.machine.shared, thread, now(thread));
        self.states[number] = State::Ended;
    }

    fn joins(&mut self, number: usize) {
        let Some(ended) = self.some(State::Ended) else {
            return;
        };
        let (thread, ticks) = (self.thread(number), self.random.below(500));
        let wait = Wait::begin_at(thread, now(thread));
        work(thread, ticks);
        wait.end_of_thread_at(now(thread), 1000 + ended as u64);
        self.states[ended] = State::Joined;
        self.goes_on(number, Some((self.at[ended], self.free[ended])), ticks);
    }

    fn step(&mut self) {
        let Some(number) = self.some(State::Lives) else {
            return;
        };
        match self.random.below(11) {
            0..=3 => self.works(number),
            4 => self.creates(number),
            5..=6 => self.wakes(number),
            7 => self.waits(number),
            8 => self.joins(number),
            9 => self.locks(number),
            _ if number > 0 => self.ends(number),
            _ => {}
        }
        let thread = self.thread(number);
        if self.states[number] == State::Lives {
            strand::stop(thread, now(thread));
            assert_eq!(strand::span(thread), self.at[number], "on the fly");
            assert_eq!(strand::spans(thread).uniform, self.free[number], "on the fly, in any order of locks");
            strand::go(thread, now(thread));
        }
    }
}

#[test]
fn waits_compose_on_the_fly_and_from_the_log() {
    let (mut edges, mut parked, mut shorter) = (0, 0, 0);
    for seed in 0..RUNS {
        let mut states = vec![State::Unborn; THREADS];
        states[0] = State::Lives;
        let mut program = Program {
            machine: Machine::logging(THREADS),
            random: Random::new(seed),
            at: vec![0; THREADS],
            free: vec![0; THREADS],
            locks: 0,
            states,
            left: BTreeMap::new(),
            work: 0,
            blocked: 0,
        };
        for _ in 0..5 + seed % 60 {
            program.step();
        }
        for number in (1..THREADS).filter(|number| program.states[*number] == State::Lives).collect::<Vec<_>>() {
            program.ends(number);
        }
        while program.states.contains(&State::Ended) {
            program.joins(0);
        }
        // The next program knows nothing of this one.
        (0..ADDRESSES).for_each(|address| forget(program.thread(0), address));
        program.machine.finish();
        let expected = program.at.iter().copied().max().unwrap();
        let label = format!("seed {seed}");
        if cfg!(miri) {
            // Reading the whole memory would take Miri minutes; the end of the longest chain is in its header.
            let span = program.machine.shared.header().detached.candidate.span.load(Ordering::Relaxed);
            assert_eq!(span, expected, "{label}");
            let (rows, converted) = strands(&program.machine, &[ContextId::ROOT]);
            assert!(converted.whole(), "{label}: {converted:?}");
            assert_eq!(rows.iter().map(|row| row.cost.0).sum::<i64>(), program.work, "{label}");
            continue;
        }
        let recording = program.machine.recording();
        let run = &recording.runs[0];
        assert_eq!((run.span.0, run.work().0, run.blocked.0), (expected, program.work, program.blocked), "{label}");
        assert_eq!(run.critical.iter().map(|part| part.0).sum::<i64>(), expected, "{label}");
        let contexts: Vec<ContextId> = recording.contexts.ids().collect();
        let (rows, converted) = strands(&program.machine, &contexts);
        assert!(converted.whole(), "{label}: {converted:?}");
        let replayed = workspan_analysis::replay(&recording, &rows).unwrap_or_else(|never| match never {});
        assert!(replayed.problems.is_empty(), "{label}: {:?}", replayed.problems);
        let found = (replayed.span.0, replayed.work.0, replayed.blocked.0);
        assert_eq!(found, (expected, program.work, program.blocked), "{label}: {rows:#?}");
        let free = if program.locks == 0 { 0 } else { program.free.iter().copied().max().unwrap() };
        assert_eq!(replayed.uniform_span.0, free, "{label}: {rows:#?}");
        shorter += usize::from(program.locks > 0 && free < expected);
        let graph = Graph::of(&recording, &rows, &BuildOptions::default()).unwrap_or_else(|never| match never {});
        assert_eq!((graph.span().0, greedy(&graph, 1000).time.0), (expected, expected), "{label}");
        let answer = what_if(&recording, &rows, &[Scenario::default()]).unwrap_or_else(|never| match never {});
        assert_eq!(answer.before.replayed.span, Nanos(expected), "{label}");
        edges += rows.iter().filter(|row| matches!(row.event, Event::Await(_))).count();
        let of_threads = rows.iter().filter(|row| matches!(row.event, Event::Spawn(_))).count();
        let created = program.states.iter().filter(|state| **state != State::Unborn).count() - 1;
        parked += of_threads - created;
    }
    assert!(cfg!(miri) || (edges > 3000 && parked > 500), "{edges} edges, {parked} parked");
    assert!(cfg!(miri) || shorter > 300, "in any order of locks {shorter} are shorter");
}
