//! Rust programs that bring an allocator with them.

use std::collections::HashSet;
use std::path::Path;

use workspan_graph::events::{Access, Control};
use workspan_graph::file::{Recording, NAME};
use workspan_graph::replay::{replay, Consumer, Executed};
use workspan_trace::control::Kind;

use crate::depend_rust::{package, run};
use crate::support::{build, json, record_as};

/// The allocator gives the block again that came back last, to any thread. The lock around its list is its own business.
const PROGRAM: &str = "\
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

struct Pool;
static LOCK: AtomicBool = AtomicBool::new(false);
static mut FREE: [*mut u8; 1000] = [std::ptr::null_mut(); 1000];
static mut COUNT: usize = 0;
static mut SHARED: u64 = 0;

fn locked<T>(action: impl FnOnce() -> T) -> T {
    while LOCK.swap(true, Ordering::Acquire) {}
    let result = action();
    LOCK.store(false, Ordering::Release);
    result
}

fn is_small(layout: Layout) -> bool {
    layout.size() == 32 && layout.align() == 8
}

unsafe impl GlobalAlloc for Pool {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let taken = || unsafe {
            (is_small(layout) && COUNT > 0).then(|| {
                COUNT -= 1;
                FREE[COUNT]
            })
        };
        locked(taken).unwrap_or_else(|| unsafe { System.alloc(layout) })
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let kept = || unsafe {
            let keeps = is_small(layout) && COUNT < 1000;
            if keeps {
                FREE[COUNT] = pointer;
                COUNT += 1;
            }
            keeps
        };
        if !locked(kept) {
            unsafe { System.dealloc(pointer, layout) }
        }
    }
}

#[global_allocator]
static POOL: Pool = Pool;

fn main() {
    let racy = std::env::args().nth(1).is_some_and(|word| word == \"racy\");
    let all_begin = std::sync::Barrier::new(4);
    let all_begin = &all_begin;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                all_begin.wait();
                for i in 0..50 {
                    let own = black_box(Box::new([i, thread, 0, 0]));
                    black_box(own.iter().sum::<u64>());
                }
                if racy {
                    unsafe { SHARED += 1 };
                }
            });
        }
    });
    black_box(unsafe { SHARED });
    let mut results = vec![0; 64];
    for i in 0..64 { // each has a block
        let mut own = Box::new([i as u64; 4]);
        own[black_box(i) % 4] += 3;
        results[i] = own.iter().sum();
    }
    println!(\"{}\", results[black_box(9)]);
}
";

/// Blocks of 32 bytes that were given, and those that were not taken back.
#[derive(Default)]
struct Blocks {
    given: usize,
    kept: HashSet<u64>,
}

impl Consumer for Blocks {
    fn segment(&mut self, _: Executed<'_>, _: &[Access]) {}

    fn control(&mut self, _: u32, control: Control) {
        let [address, size, ..] = control.slots;
        if control.kind == Kind::Allocate && size == 32 {
            self.given += 1;
            self.kept.insert(address);
        } else if control.kind == Kind::Free {
            self.kept.remove(&address);
        }
    }
}

fn blocks(folder: &Path) -> Blocks {
    let recording = Recording::open(&folder.join("run.graph").join(NAME)).expect("a graph");
    let mut blocks = Blocks::default();
    replay(&recording, &mut blocks).expect("readable");
    blocks
}

#[test]
fn memory_that_is_given_again_is_other_memory() {
    let folder = package("own-allocator", PROGRAM);
    build(&folder, "cargo build --release");
    let program = format!("./target/{}-unknown-linux-gnu/release/prog", std::env::consts::ARCH);
    for kind in ["fixed", "racy"] {
        assert_eq!(record_as(&folder, &[&program, kind]), "39\n");
        let races = json(&folder, "races")["races"].clone();
        let places: Vec<&str> =
            races.as_array().expect("a list").iter().filter_map(|race| race["first"]["file"].as_str()).collect();
        assert_eq!(places.is_empty(), kind == "fixed", "{kind}: {races:#}");
        assert!(places.iter().all(|file| *file == "src/main.rs"), "{kind}: {races:#}");
        // What is taken back is seen where the call would be inlined, too.
        let Blocks { given, kept } = blocks(&folder);
        assert!(given > 200 && kept.len() < 4, "{kind}: {} of {given} were not taken back", kept.len());
    }
    let profile = run(&folder);
    let line = 1 + PROGRAM.lines().position(|line| line.ends_with("each has a block")).expect("it is there");
    let loops = profile["loops"].as_array().expect("a list");
    let found = loops.iter().find(|found| found["line"] == line).expect("it ran");
    assert_eq!(found["parallel"], "yes", "{found:#}");
}
