//! What `random SEED THREADS steps` has drawn, by Rust's own threads, locks, conditions, channels, parking and barriers: `played FILE`,
//! in which its output is.

use std::cell::RefCell;
use std::ffi::{c_char, c_ulong, c_void};
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Barrier, Condvar, Mutex, MutexGuard, OnceLock, RwLock, RwLockWriteGuard};
use std::thread::{self, JoinHandle, Thread};

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// As in random.c.
const WORK: usize = 0;
const LOCK: usize = 1;
const UNLOCK: usize = 2;
const AWAIT: usize = 3;
const SIGNAL: usize = 4;
const BROADCAST: usize = 5;
const POST: usize = 6;
const WAIT: usize = 7;
const MEET: usize = 8;
const CREATE: usize = 9;
const JOIN: usize = 10;
const END: usize = 11;
const THREADS: usize = 8;
const LOCKS: usize = 3;
const CONDITIONS: usize = 2;
const CHANNELS: usize = 2;

#[derive(Clone, Copy)]
struct Step {
    what: usize,
    who: usize,
    which: usize,
    blocks: bool,
    wakes: usize,
}

/// What is drawn, and what it needs.
struct Play {
    steps: Vec<Step>,
    barriers: Vec<Barrier>,
    senders: [Mutex<Sender<()>>; CHANNELS],
    receivers: [Mutex<Receiver<()>>; CHANNELS],
    tick: Option<unsafe extern "C" fn(c_ulong)>,
}

static PLAY: OnceLock<Play> = OnceLock::new();
static MUTEXES: [Mutex<()>; LOCKS + CONDITIONS] = [const { Mutex::new(()) }; LOCKS + CONDITIONS];
static RWLOCK: RwLock<()> = RwLock::new(());
static CONDVARS: [Condvar; CONDITIONS] = [const { Condvar::new() }; CONDITIONS];
static PARKED: [Mutex<Option<Thread>>; CHANNELS] = [const { Mutex::new(None) }; CHANNELS];
static UNPARKED: [AtomicBool; CHANNELS] = [const { AtomicBool::new(false) }; CHANNELS];
static HANDLES: [Mutex<Option<JoinHandle<()>>>; THREADS] = [const { Mutex::new(None) }; THREADS];
static TURN: AtomicUsize = AtomicUsize::new(0);
static AWAITED: AtomicUsize = AtomicUsize::new(0);
static TIDS: [AtomicU32; THREADS] = [const { AtomicU32::new(0) }; THREADS];
/// The condition at which a thread waits, and one more.
static AT_CONDITION: [AtomicUsize; THREADS] = [const { AtomicUsize::new(0) }; THREADS];

enum Guard {
    Mutex(MutexGuard<'static, ()>),
    Write(#[allow(dead_code)] RwLockWriteGuard<'static, ()>),
}

thread_local! {
    static HELD: RefCell<[Option<Guard>; LOCKS + CONDITIONS]> = const { RefCell::new([const { None }; LOCKS + CONDITIONS]) };
}

fn lock(which: usize) {
    let guard = match which {
        1 => Guard::Write(RWLOCK.write().unwrap()),
        _ => Guard::Mutex(MUTEXES[which].lock().unwrap()),
    };
    HELD.with_borrow_mut(|held| held[which] = Some(guard));
}

fn unlock(which: usize) {
    drop(HELD.with_borrow_mut(|held| held[which].take()));
}

fn status(path: &str) -> Option<(u32, char)> {
    let text = fs::read_to_string(path).ok()?;
    let id = text.split(' ').next()?.parse().ok()?;
    Some((id, text.rsplit_once(')')?.1.trim_start().chars().next()?))
}

fn sleeps(who: usize) -> bool {
    status(&format!("/proc/self/task/{}/stat", TIDS[who].load(SeqCst))).is_some_and(|(_, state)| state == 'S')
}

/// Who was woken wants the lock that the caller has: until they sleep again.
fn until_all_want_the_lock(which: usize) {
    for who in (0..3).flat_map(|_| 0..THREADS) {
        while AT_CONDITION[who].load(SeqCst) == which + 1 && !sleeps(who) {
            thread::yield_now();
        }
    }
}

fn perform(play: &'static Play, step: Step) {
    let which = step.which;
    match step.what {
        WORK => {
            if let Some(tick) = play.tick {
                // SAFETY: the collector's, with this signature.
                unsafe { tick(which as c_ulong) };
            }
        }
        LOCK => lock(which),
        UNLOCK => unlock(which),
        AWAIT => {
            let guard = HELD.with_borrow_mut(|held| held[LOCKS + which].take());
            let Some(Guard::Mutex(guard)) = guard else { panic!("it has no such lock") };
            AT_CONDITION[step.who].store(which + 1, SeqCst);
            let guard = CONDVARS[which].wait(guard).unwrap();
            AT_CONDITION[step.who].store(0, SeqCst);
            drop(guard);
        }
        SIGNAL => {
            CONDVARS[which].notify_one();
            until_all_want_the_lock(which);
        }
        BROADCAST => {
            CONDVARS[which].notify_all();
            until_all_want_the_lock(which);
        }
        POST if which < CHANNELS => play.senders[which].lock().unwrap().send(()).unwrap(),
        POST => {
            if let Some(parked) = PARKED[which - CHANNELS].lock().unwrap().take() {
                UNPARKED[which - CHANNELS].store(true, SeqCst);
                parked.unpark();
            }
        }
        WAIT if which < CHANNELS => play.receivers[which].lock().unwrap().recv().unwrap(),
        WAIT => {
            let which = which - CHANNELS;
            *PARKED[which].lock().unwrap() = Some(thread::current());
            while !UNPARKED[which].swap(false, SeqCst) {
                thread::park();
            }
        }
        MEET => drop(play.barriers[which].wait()),
        CREATE => *HANDLES[which].lock().unwrap() = Some(thread::spawn(move || run(play, which))),
        JOIN => {
            let handle = HANDLES[which].lock().unwrap().take();
            handle.expect("it was created").join().unwrap();
        }
        _ => {}
    }
}

fn run(play: &'static Play, me: usize) {
    TIDS[me].store(status("/proc/thread-self/stat").expect("it runs").0, SeqCst);
    for (at, step) in play.steps.iter().enumerate().filter(|(_, step)| step.who == me) {
        while TURN.load(SeqCst) != at {
            thread::yield_now();
        }
        if let Some(before) = at.checked_sub(1).map(|before| play.steps[before]).filter(|before| before.blocks) {
            while !sleeps(before.who) {
                thread::yield_now();
            }
        }
        if step.wakes != 0 {
            AWAITED.store(step.wakes, SeqCst);
        }
        if step.what == END {
            if step.wakes == 0 {
                TURN.fetch_add(1, SeqCst);
            }
            return;
        }
        if step.blocks {
            TURN.fetch_add(1, SeqCst);
            perform(play, *step);
            // Who ended the wait did so as the last thing that was done.
            if AWAITED.fetch_sub(1, SeqCst) == 1 {
                TURN.fetch_add(1, SeqCst);
            }
        } else {
            perform(play, *step);
            if step.wakes == 0 {
                TURN.fetch_add(1, SeqCst);
            }
        }
    }
}

fn main() {
    let file = std::env::args().nth(1).expect("played FILE");
    let text = fs::read_to_string(file).expect("it can be read");
    let mut lines = text.lines();
    println!("{}", lines.next().expect("its answer"));
    let numbers = |line: &str| -> Vec<usize> { line.split(' ').map(|word| word.parse().expect("a number")).collect() };
    let barriers = numbers(lines.next().expect("who meets"))[1..].iter().map(|wanted| Barrier::new(*wanted)).collect();
    let step = |line: &str| {
        let [what, who, which, blocks, wakes] = numbers(line)[..] else { panic!("no step: {line}") };
        Step { what, who, which, blocks: blocks != 0, wakes }
    };
    let channels = [0; CHANNELS].map(|_| channel());
    let senders = [0, 1].map(|at| Mutex::new(channels[at].0.clone()));
    let receivers = channels.map(|(_, receiver)| Mutex::new(receiver));
    // SAFETY: a name that ends; null is the program and all that it is loaded with.
    let tick = unsafe { dlsym(std::ptr::null_mut(), c"workspan_tick".as_ptr()) };
    // SAFETY: null, or the collector's function with this signature.
    let tick = unsafe { std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn(c_ulong)>>(tick) };
    let play = Play { steps: lines.map(step).collect(), barriers, senders, receivers, tick };
    run(PLAY.get_or_init(|| play), 0);
}
