//! Where the hooks of task graphs go in rayon-core: what a job is created, begins, ends and is joined with.
//!
//! A job that lies on a stack (`join`, `install`, `broadcast`) is joined when its owner drops it; one in the heap belongs to its
//! scope's gather. All of them run by one function, so that what a task has on the stack is its own.

use crate::edit::{AnchorError, Edits};
use crate::rayon_core::Recipes;

/// The files to edit.
pub const FILES: Recipes = &[("lib.rs", lib), ("job.rs", job), ("scope/mod.rs", scope), ("registry.rs", registry)];

/// The module that is added.
pub const MODULE: &str = "workspan_task.rs";

/// Its text.
pub const TEXT: &str = r#"
#![allow(warnings, missing_docs, missing_debug_implementations, unreachable_pub)]
//! Calls of the run-time that records task graphs.

extern "C" {
    fn __workspan_task_gather() -> u32;
    fn __workspan_task_create(gather: u32) -> u32;
    fn __workspan_task_begin(task: u32) -> u64;
    fn __workspan_task_end(task: u32, begun: u64);
    fn __workspan_task_join(task: u32);
    fn __workspan_task_join_gather(gather: u32);
    fn __workspan_task_schedules(begins: bool);
}

pub(crate) fn gather() -> u32 {
    unsafe { __workspan_task_gather() }
}

pub(crate) fn create(gather: u32) -> u32 {
    unsafe { __workspan_task_create(gather) }
}

pub(crate) fn join_gather(gather: u32) {
    unsafe { __workspan_task_join_gather(gather) }
}

struct End(u32, u64);

impl Drop for End {
    fn drop(&mut self) {
        unsafe { __workspan_task_end(self.0, self.1) }
    }
}

#[inline(never)]
fn call<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Runs a task. What it has on the stack lies below this frame.
#[inline(never)]
pub(crate) fn run<R>(task: u32, body: impl FnOnce() -> R) -> R {
    let _end = End(task, unsafe { __workspan_task_begin(task) });
    call(body)
}

/// A task whose owner waits for it before it drops this.
pub(crate) struct Owned(std::cell::Cell<u32>);

impl Owned {
    pub(crate) fn new() -> Owned {
        Owned(std::cell::Cell::new(0))
    }

    /// The job is about to be given away: all that was written to it comes before the task.
    pub(crate) fn create<T>(&self, job: &T) {
        std::hint::black_box(job);
        self.0.set(create(0));
    }

    pub(crate) fn task(&self) -> u32 {
        self.0.get()
    }

    /// The job is done: whatever is read from it comes after the task.
    pub(crate) fn join(&self) {
        unsafe { __workspan_task_join(self.0.take()) }
        std::hint::black_box(self);
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.join()
    }
}

/// Tasks of one job that several threads run.
pub(crate) struct Copies {
    pub(crate) gather: std::sync::atomic::AtomicU32,
    tasks: std::sync::Mutex<Vec<u32>>,
}

impl Copies {
    pub(crate) fn new() -> Copies {
        Copies { gather: std::sync::atomic::AtomicU32::new(0), tasks: std::sync::Mutex::new(Vec::new()) }
    }

    pub(crate) fn create(&self) {
        let task = create(self.gather.load(std::sync::atomic::Ordering::Relaxed));
        self.tasks.lock().unwrap().push(task);
    }

    pub(crate) fn take(&self) -> u32 {
        self.tasks.lock().unwrap().pop().unwrap_or(0)
    }
}

/// As long as this lives, the thread schedules: what it synchronises with is rayon's own.
pub(crate) struct Schedules;

impl Schedules {
    pub(crate) fn new() -> Schedules {
        unsafe { __workspan_task_schedules(true) }
        Schedules
    }
}

impl Drop for Schedules {
    fn drop(&mut self) {
        unsafe { __workspan_task_schedules(false) }
    }
}
"#;

fn lib(edits: &mut Edits) -> Result<(), AnchorError> {
    edits.append("#[doc(hidden)]\nmod workspan_task;\n");
    Ok(())
}

fn job(edits: &mut Edits) -> Result<(), AnchorError> {
    let whole = edits.whole();
    let job = edits.block("trait Job")?;
    edits.right_after(
        &job,
        "unsafe fn execute(this: *const ());",
        "\n    unsafe fn workspan_task(this: *const ()) -> u32;\n    unsafe fn workspan_run(this: *const ()) {\n        \
         crate::workspan_task::run(Self::workspan_task(this), || Self::execute(this))\n    }",
    )?;
    edits.replace(&whole, "execute_fn: <T as Job>::execute,", "execute_fn: <T as Job>::workspan_run,")?;
    for (owner, task) in [
        ("impl<L, F, R> Job for StackJob<L, F, R>", "(*(this as *const Self)).workspan.task()"),
        ("impl<BODY> Job for HeapJob<BODY>", "(*(this as *const Self)).workspan"),
        ("impl<BODY> Job for ArcJob<BODY>", "(*(this as *const Self)).workspan.take()"),
        ("impl Job for JobFifo", "0"),
    ] {
        let block = edits.block(owner)?;
        edits.at_end(
            &block,
            &format!("    unsafe fn workspan_task(this: *const ()) -> u32 {{\n        {task}\n    }}\n"),
        );
    }
    edits.right_after(
        &whole,
        "    result: UnsafeCell<JobResult<R>>,",
        "\n    workspan: crate::workspan_task::Owned,",
    )?;
    edits.right_after(
        &whole,
        "result: UnsafeCell::new(JobResult::None),",
        "\n            workspan: crate::workspan_task::Owned::new(),",
    )?;
    // The job stays where it is: what its owner would copy, or have returned to, is no part of the task's order.
    edits.replace(
        &whole,
        "run_inline(self, stolen: bool) -> R {\n        self.func.into_inner().unwrap()(stolen)",
        "run_inline(&self, stolen: bool) -> R {\n        crate::workspan_task::run(self.workspan.task(), || {\n            \
         let func = (*self.func.get()).take().unwrap();\n            \
         *self.result.get() = JobResult::Ok(func(stolen));\n        });\n        self.workspan.join();\n        \
         mem::replace(&mut *self.result.get(), JobResult::None).into_return_value()",
    )?;
    let owner = "impl<L, F, R> StackJob<L, F, R>";
    let give = edits.method(owner, "as_job_ref")?;
    edits.at_start(&give, "self.workspan.create(self);");
    let result = edits.method(owner, "into_result")?;
    edits.at_start(&result, "self.workspan.join();");
    let heap = edits.block("pub(super) struct HeapJob<BODY>")?;
    edits.right_after(&heap, "job: BODY,", "\n    pub(super) workspan: u32,\n    pub(super) workspan_gather: u32,")?;
    edits.replace(&whole, "HeapJob { job }", "HeapJob { job, workspan: 0, workspan_gather: 0 }")?;
    edits.replace(
        &whole,
        "into_job_ref(self: Box<Self>) -> JobRef {\n        JobRef::new(",
        "into_job_ref(mut self: Box<Self>) -> JobRef {\n        std::hint::black_box(&*self);\n        \
         self.workspan = crate::workspan_task::create(self.workspan_gather);\n        JobRef::new(",
    )?;
    let arc = edits.block("pub(super) struct ArcJob<BODY>")?;
    edits.right_after(&arc, "job: BODY,", "\n    pub(super) workspan: crate::workspan_task::Copies,")?;
    edits.replace(&whole, "ArcJob { job }", "ArcJob { job, workspan: crate::workspan_task::Copies::new() }")?;
    edits.right_before(
        &whole,
        "JobRef::new(Arc::into_raw(",
        "std::hint::black_box(&**this);\n        this.workspan.create();\n        ",
    )
}

fn scope(edits: &mut Edits) -> Result<(), AnchorError> {
    let base = edits.block("struct ScopeBase")?;
    edits.right_after(&base, "registry: Arc<Registry>,", "\n    workspan: u32,")?;
    let owner = "impl<'scope> ScopeBase<'scope>";
    let new = edits.method(owner, "new")?;
    edits.right_after(
        &new,
        "registry: Arc::clone(registry),",
        "\n            workspan: crate::workspan_task::gather(),",
    )?;
    let heap = edits.method(owner, "heap_job_ref")?;
    edits.at_start(&heap, "let mut job = job;\n        job.workspan_gather = self.workspan;");
    let broadcast = edits.method(owner, "inject_broadcast")?;
    edits.at_start(&broadcast, "job.workspan.gather.store(self.workspan, std::sync::atomic::Ordering::Relaxed);");
    let complete = edits.method(owner, "complete")?;
    edits.after(&complete, "self.job_completed_latch.wait(owner)", "crate::workspan_task::join_gather(self.workspan);")
}

fn registry(edits: &mut Edits) -> Result<(), AnchorError> {
    for (owner, names) in [
        ("impl WorkerThread", &["push", "take_local_job", "wait_until_cold"][..]),
        ("impl Registry", &["inject", "inject_broadcast"]),
    ] {
        for name in names {
            let method = edits.method(owner, name)?;
            edits.at_start(&method, "let _workspan = crate::workspan_task::Schedules::new();");
        }
    }
    Ok(())
}
