//! Teams of threads that run at the same time: whatever they do in which order, the numbers are the same.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use workspan_collect::strand;
use workspan_collect::task::enter_idle;
use workspan_preload::dag::frame::{Frame, Kind};
use workspan_preload::dag::state::Start;
use workspan_preload::dag::team::{self, Team};
use workspan_preload::dag::{solo, task};
use workspan_wire::site::SiteKind;

use crate::machine::{call_site, now, work, Machine};
use crate::program::{self, ends, generate, Node};
use crate::runtime::Queue;

/// Miri takes a minute for one, ThreadSanitizer is some ten times slower than the processor.
const PROGRAMS: u64 = match (cfg!(miri), cfg!(feature = "alone")) {
    (true, _) => 1,
    (_, true) => 10,
    _ => 300,
};
const TASKS: u64 = if cfg!(miri) { 10 } else { 60 };
const MEMBERS: &[u64] = if cfg!(miri) { &[2] } else { &[1, 2, 3] };

/// The pool's lists are the process's, by the threads' slots: one machine at a time has these.
static SLOTS: Mutex<()> = Mutex::new(());

/// The main thread's own strand gets a frame.
fn initial(machine: &Machine) -> &'static Frame {
    let kind = Kind { implicit: true, machinery: true, ..Kind::default() };
    let frame = Frame::new(machine.threads[0], kind, Start::default()).expect("there is memory");
    frame.begun_here(machine.threads[0]);
    frame
}

/// A team of `members` runs `bodies`, one each, in the main thread's strand after 10 ticks.
fn run(machine: &Machine, frame: &'static Frame, bodies: &[Node]) {
    let main = machine.threads[0];
    let size = u32::try_from(bodies.len()).expect("few");
    work(main, 10);
    let at = now(main);
    task::stop(main, Some(at));
    let team = team::fork(main, frame, at, &call_site(SiteKind::Scope, 0), false).expect("there is memory");
    frame.set_forked(main, team);
    frame.save(main);
    enter_idle(main, at);
    let queue = Queue::new(bodies.len());
    let team_at = AtomicPtr::new(std::ptr::from_ref(team).cast_mut());
    let shared = machine.shared;
    solo::over();
    thread::scope(|scope| {
        for (number, body) in bodies.iter().enumerate().skip(1) {
            let (queue, team_at) = (&queue, &team_at);
            scope.spawn(move || {
                // SAFETY: the team is not over before its members have ended.
                let team: &'static Team = unsafe { &*team_at.load(Ordering::Relaxed) };
                let number = u32::try_from(number).expect("few");
                queue.member(shared.thread(number as usize), team, size, number, body);
            });
        }
        queue.member(main, team, size, 0, &bodies[0]);
    });
    let at = now(main);
    task::wait_over(main, at);
    frame.load(main);
    let team = frame.take_forked().expect("it was told");
    team::finish(main, frame, at, team);
    task::go(main, Some(at));
}

#[test]
fn every_order_gives_the_same_numbers() {
    let _slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    for seed in 0..PROGRAMS {
        for members in MEMBERS {
            let bodies: Vec<Node> = (0..*members).map(|i| generate(seed * 7 + i, TASKS)).collect();
            let machine = Machine::new(bodies.len());
            let frame = initial(&machine);
            run(&machine, frame, &bodies);
            run(&machine, frame, &bodies);
            let once = bodies.iter().map(|body| ends(body, 10).1).max().expect("there are members");
            assert_eq!(strand::span(machine.threads[0]).cast_unsigned(), 2 * once, "program {seed}, {members} members");
            work(machine.threads[0], 5);
            machine.finish();
            let held = machine.nodes_in_use();
            assert!(held < 40, "program {seed}, {members} members: {held} nodes");
            if cfg!(miri) {
                // Reading the whole memory would take Miri minutes.
                continue;
            }
            let (recording, profile) = machine.profile();
            let all = 2 * (10 + bodies.iter().map(program::work).sum::<u64>()) - 2 * 10 + 20 + 5;
            assert_eq!(profile.program.work.0.cast_unsigned(), all, "program {seed}, {members} members");
            assert_eq!(recording.runs[0].lost_path.0, 0, "program {seed}, {members} members");
        }
    }
}

/// What another thread has not put down is not read: it is left out, and that is counted.
#[test]
fn books_that_stay_open_are_not_read() {
    let _slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    let machine = Machine::new(2);
    let frame = initial(&machine);
    let other = machine.threads[1];
    assert!(!task::await_saved(other, frame));
    assert_eq!(machine.shared.header().unfollowed.load(Ordering::Relaxed), 1);
    frame.save(machine.threads[0]);
    assert!(task::await_saved(other, frame));
    assert_eq!(machine.shared.header().unfollowed.load(Ordering::Relaxed), 1);
}
