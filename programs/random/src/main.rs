//! `random SEED [SEED…]`: runs the programs that `workspan_testkit::generate` makes from the seeds, one process each
//! being the usual use. Every construct stands here in four textual copies, so that there are four sites of each.
//!
//! Answer: `workspan_testkit::evaluate`, exactly, with the virtual clock.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use rayon::prelude::*;
use rayon::{Scope, ThreadPool, ThreadPoolBuilder};
use workspan_probe::tick;
use workspan_testkit::{generate, Node, ScopeKind};

static DETACHED: AtomicUsize = AtomicUsize::new(0);
static ANY_DETACHED: AtomicBool = AtomicBool::new(false);

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    for seed in std::env::args().skip(1) {
        let program = generate(seed.parse().expect("a seed is a number"));
        run(&program, None);
    }
    let detached = || DETACHED.load(Ordering::Acquire) > 0;
    while detached() {
        thread::sleep(Duration::from_millis(1));
    }
    if ANY_DETACHED.load(Ordering::Relaxed) {
        // The last one has said that it is done; its thread may need a CPU to be so.
        thread::sleep(Duration::from_millis(15));
    }
}

fn other_pool() -> &'static ThreadPool {
    static POOL: OnceLock<ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| ThreadPoolBuilder::new().build().expect("a pool"))
}

fn run<'s>(node: &'s Node, scope: Option<&Scope<'s>>) {
    match node {
        Node::Work(ticks) => tick(*ticks),
        Node::Seq(nodes) => nodes.iter().for_each(|node| run(node, scope)),
        Node::Join(copy, left, right) => {
            let (left, right) = (|| run(left, scope), || run(right, scope));
            match copy {
                0 => rayon::join(left, right),
                1 => rayon::join(left, right),
                2 => rayon::join(left, right),
                _ => rayon::join_context(|_| left(), |_| right()),
            };
        }
        Node::Scope(ScopeKind::Plain, copy, body) => match copy {
            0 => rayon::scope(|scope| run(body, Some(scope))),
            1 => rayon::scope(|scope| run(body, Some(scope))),
            2 => rayon::scope(|scope| run(body, Some(scope))),
            _ => rayon::scope(|scope| run(body, Some(scope))),
        },
        Node::Scope(ScopeKind::InPlace, copy, body) => match copy {
            0 => rayon::in_place_scope(|scope| run(body, Some(scope))),
            1 => rayon::in_place_scope(|scope| run(body, Some(scope))),
            2 => rayon::in_place_scope(|scope| run(body, Some(scope))),
            _ => rayon::in_place_scope(|scope| run(body, Some(scope))),
        },
        Node::Scope(ScopeKind::Fifo, copy, body) => match copy {
            0 => rayon::scope_fifo(|_| run(body, None)),
            1 => rayon::scope_fifo(|_| run(body, None)),
            2 => rayon::scope_fifo(|_| run(body, None)),
            _ => rayon::scope_fifo(|_| run(body, None)),
        },
        Node::Spawn(copy, body) => {
            let scope = scope.expect("a spawn lies in a scope");
            match copy {
                0 => scope.spawn(|scope| run(body, Some(scope))),
                1 => scope.spawn(|scope| run(body, Some(scope))),
                2 => scope.spawn(|scope| run(body, Some(scope))),
                _ => scope.spawn(|scope| run(body, Some(scope))),
            }
        }
        Node::ParIter(copy, items) => match copy {
            0 => items.par_iter().with_max_len(1).for_each(|item| run(item, None)),
            1 => items.par_iter().with_max_len(1).for_each(|item| run(item, None)),
            2 => items.par_iter().with_max_len(1).for_each(|item| run(item, None)),
            _ => items.par_iter().with_max_len(1).map(|item| run(item, None)).collect(),
        },
        Node::ParBridge(copy, items) => {
            let iterator = items.iter().map(|(cost, item)| {
                tick(*cost);
                item
            });
            match copy {
                0 => iterator.par_bridge().for_each(|item| run(item, None)),
                1 => iterator.par_bridge().for_each(|item| run(item, None)),
                2 => iterator.par_bridge().for_each(|item| run(item, None)),
                _ => iterator.par_bridge().for_each(|item| run(item, None)),
            }
        }
        Node::Install(body) => other_pool().install(|| run(body, None)),
        Node::Detach(copy, body) => {
            DETACHED.fetch_add(1, Ordering::Relaxed);
            ANY_DETACHED.store(true, Ordering::Relaxed);
            let body = Node::clone(body);
            let task = move || {
                run(&body, None);
                DETACHED.fetch_sub(1, Ordering::Release);
            };
            match copy {
                0 => rayon::spawn(task),
                1 => rayon::spawn(task),
                2 => rayon::spawn(task),
                _ => rayon::spawn_fifo(task),
            }
        }
        Node::Yield => {
            rayon::yield_now();
            rayon::yield_local();
        }
        Node::Panic => resume_unwind(Box::new("expected")),
        Node::Catch(body) => {
            // Caught, whatever it was.
            let _ = catch_unwind(AssertUnwindSafe(|| run(body, None)));
        }
    }
}
