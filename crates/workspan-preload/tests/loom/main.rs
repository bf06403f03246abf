//! Models of all that threads share without locks: the very text of the collectors, with the atomics and cells of `loom`,
//! which runs every order of their steps that matters, within a number of preemptions, and every value that a load may see by
//! the memory model. A cell that two threads use without order between them fails the model.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p workspan-preload --test loom --profile checks -- --nocapture`; each model prints how many
//! executions it has had. What lies around the modelled files — the shared memory, a thread — is made small in `stand_in`.

#![cfg(loom)]
#![expect(unsafe_code, reason = "the text of the collectors; memory that lives as long as an execution")]
#![allow(dead_code, missing_docs, unreachable_pub, reason = "the collectors' text, of which a model uses a part")]

extern crate self as workspan_collect;
extern crate self as workspan_wire;

#[path = "../../../workspan-collect/src/batch.rs"]
pub mod batch;
#[path = "../../../workspan-collect/src/calls.rs"]
pub mod calls;
#[path = "../../../workspan-collect/src/candidate.rs"]
pub mod candidate;
#[path = "../../../workspan-collect/src/free.rs"]
pub mod free;
#[path = "../../../workspan-collect/src/intern.rs"]
pub mod intern;
#[path = "../../../workspan-collect/src/left.rs"]
pub mod left;
#[path = "../../../workspan-wire/src/log.rs"]
pub mod log;
#[path = "../../../workspan-collect/src/origin.rs"]
pub mod origin;
#[path = "../../../workspan-collect/src/path.rs"]
pub mod path;
#[path = "../../../workspan-collect/src/ring.rs"]
pub mod ring;
#[path = "../../src/dag/share.rs"]
pub mod share;
#[path = "../../../workspan-collect/src/stack.rs"]
pub mod stack;
#[path = "../../../workspan-wire/src/stash.rs"]
pub mod stash;
#[path = "../../src/dag/turn.rs"]
pub mod turn;
#[path = "../../../workspan-wire/src/path.rs"]
pub mod wire_path;
#[path = "../../../workspan-wire/src/task.rs"]
pub mod wire_task;

mod stand_in;
pub use stand_in::{ends, platform, shared, shm, spare, strand, sync, tables};

mod batches;
mod candidates;
mod paths;
mod pools;
mod rings;
mod teams;
mod turns;

/// No model runs more often: what remains then is skipped, which is reported.
const LIMIT: usize = 40_000;

/// Runs `model` in all orders with at most `preemptions` preemptions, and says how many executions that were.
fn check(name: &str, preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Arc;
    let executions = Arc::new(AtomicUsize::new(0));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.max_permutations = Some(LIMIT);
    let count = Arc::clone(&executions);
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let count = executions.load(Ordering::Relaxed);
    let all = if count < LIMIT { "all" } else { "not all" };
    println!("model {name}: {count} executions, {all} with at most {preemptions} preemptions");
}
