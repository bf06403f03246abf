//! A tool that checks the calls of tools: every task begins once and ends once, in brackets on its thread, after its
//! parent has begun, and keeps what it was given; no two tasks have a strand in common. Where `CHECKER_STRANDS` names a file,
//! the numbers of all strands that it has seen go there. At the end, one line goes to stderr:
//!
//!     checker: threads A branches B spawned C members D, without parent E, open F, faults G

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

use workspan_tool::{Api, Kind, Task, Tool};

#[derive(Default)]
struct Checker {
    begun: Mutex<HashSet<u64>>,
    /// Tasks by strand.
    strands: Mutex<HashMap<u64, u64>>,
    ended: AtomicU64,
    kinds: [AtomicU64; 4],
    orphans: AtomicU64,
    faults: AtomicU64,
}

thread_local! {
    /// Tasks that the thread has begun and not ended.
    static OPEN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Checker {
    fn expect(&self, right: bool, what: &str, task: &Task) {
        if !right {
            eprintln!("checker: {what}: {task:?}");
            self.faults.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Checker {
    fn strand(&self, task: &Task) {
        let of = *self.strands.lock().expect("nobody panics").entry(task.strand()).or_insert(task.id());
        self.expect(task.strand() != 0 && of == task.id(), "another task's strand", task);
    }
}

/// A task's own data: its number, so that it is known when it is met again.
fn mark(id: u64) -> *mut c_void {
    (id * 8) as *mut c_void
}

impl Tool for Checker {
    fn start(api: &'static Api) -> Option<Checker> {
        (api.ticks_per_second() > 0).then(Checker::default)
    }

    fn after_enter(&self, task: &Task, _now: u64) {
        self.strand(task);
        let mut begun = self.begun.lock().expect("nobody panics");
        match task.parent() {
            Some(parent) => {
                self.expect(begun.contains(&parent), "its parent has not begun", task);
                self.expect(task.parent_data() == mark(parent), "not what its parent has put there", task);
            }
            None => _ = self.orphans.fetch_add(1, Ordering::Relaxed),
        }
        self.expect(begun.insert(task.id()), "begins twice", task);
        drop(begun);
        self.expect(task.data().is_null(), "begins with data", task);
        task.set_data(mark(task.id()));
        let kind = match task.kind() {
            Kind::Thread => 0,
            Kind::Branch => 1,
            Kind::Spawn => 2,
            _ => 3,
        };
        self.kinds[kind].fetch_add(1, Ordering::Relaxed);
        let _ = OPEN.try_with(|open| open.borrow_mut().push(task.id()));
    }

    fn before_sync(&self, task: &Task, _now: u64) {
        self.strand(task);
        self.expect(task.data() == mark(task.id()), "waits with another's data", task);
    }

    fn before_exit(&self, task: &Task, _now: u64) {
        self.strand(task);
        self.expect(task.data() == mark(task.id()), "ends with another's data", task);
        // A thread of the program ends as its own data are destroyed.
        if let Ok(last) = OPEN.try_with(|open| open.borrow_mut().pop()) {
            self.expect(last == Some(task.id()), "ends while another is open on its thread", task);
        }
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    fn finish(&self) {
        let [threads, branches, spawned, members] = [0, 1, 2, 3].map(|kind| self.kinds[kind].load(Ordering::Relaxed));
        if let Some(file) = std::env::var_os("CHECKER_STRANDS") {
            let strands = self.strands.lock().expect("nobody panics");
            let lines: String = strands.keys().map(|number| format!("{number}\n")).collect();
            std::fs::write(file, lines).expect("it can be written");
        }
        let begun = threads + branches + spawned + members;
        eprintln!(
            "checker: threads {threads} branches {branches} spawned {spawned} members {members}, without parent {}, \
             open {}, faults {}",
            self.orphans.load(Ordering::Relaxed),
            begun - self.ended.load(Ordering::Relaxed),
            self.faults.load(Ordering::Relaxed)
        );
    }
}

workspan_tool::export!(Checker);
