//! Where the hooks go in rayon-core. The anchors hold for 1.11 to 1.13; each is tested.

use crate::edit::{AnchorError, Edits};

/// Oldest and newest tested minor version of 1.x.
pub const TESTED: std::ops::RangeInclusive<u64> = 11..=13;

/// Edits one file of the package, named by its path below `src`.
pub type Recipe = fn(&mut Edits) -> Result<(), AnchorError>;

/// Files of a package, and how to edit them.
pub type Recipes = &'static [(&'static str, Recipe)];

/// The files to edit.
pub const FILES: Recipes = &[
    ("lib.rs", lib_that_answers),
    ("job.rs", job),
    ("join/mod.rs", join),
    ("scope/mod.rs", scope),
    ("spawn/mod.rs", spawn),
    ("broadcast/mod.rs", broadcast),
    ("registry.rs", registry),
    ("sleep/mod.rs", sleep),
    ("latch.rs", latch),
    ("thread_pool/mod.rs", thread_pool),
];

/// The files to edit for idle accounting alone.
pub const IDLE_ONLY_FILES: Recipes =
    &[("lib.rs", lib), ("registry.rs", pools_alone), ("sleep/mod.rs", sleep), ("latch.rs", latch)];

fn lib(edits: &mut Edits) -> Result<(), AnchorError> {
    edits.append("#[doc(hidden)]\n#[allow(warnings, missing_docs)]\npub mod workspan;\n");
    Ok(())
}

/// Rayon's own parts ask by another name than the program.
fn lib_that_answers(edits: &mut Edits) -> Result<(), AnchorError> {
    let asked = edits.function("current_num_threads")?;
    edits.replace(
        &asked,
        "crate::registry::Registry::current_num_threads()",
        "crate::workspan::hooks::split::asked(crate::registry::Registry::current_num_threads())",
    )?;
    edits.append(
        "\
/// Number of threads in the current registry.
#[doc(hidden)]
pub fn workspan_num_threads() -> usize {
    crate::registry::Registry::current_num_threads()
}
",
    );
    lib(edits)
}

fn job(edits: &mut Edits) -> Result<(), AnchorError> {
    let whole = edits.whole();
    edits.right_after(
        &whole,
        "    result: UnsafeCell<JobResult<R>>,",
        "\n    pub(super) workspan: crate::workspan::hooks::link::Link,",
    )?;
    edits.right_after(
        &whole,
        "result: UnsafeCell::new(JobResult::None),",
        "\nworkspan: crate::workspan::hooks::link::Link::none(),",
    )?;
    let execute = "(*this.result.get()) = JobResult::call(func);";
    edits.before(&whole, execute, "let workspan = this.workspan.begin();")?;
    edits.after(&whole, execute, "this.workspan.end(workspan);")?;
    edits.append(
        "\
impl<L, F, R> StackJob<L, F, R>
where
    L: Latch + Sync,
    F: FnOnce(bool) -> R + Send,
    R: Send,
{
    #[inline(always)]
    pub(super) fn linked(mut self, link: crate::workspan::hooks::link::Link) -> Self {
        self.workspan = link;
        self
    }
}
",
    );
    Ok(())
}

fn join(edits: &mut Edits) -> Result<(), AnchorError> {
    let join = edits.function("join")?;
    edits.attribute(&join, "#[track_caller]");
    let context = edits.function("join_context")?;
    let whole = edits.whole();
    // The original text stays, once with hooks and once, for calibration, without.
    let original = edits.text(&context).to_owned();
    edits.attribute(&context, "#[doc(hidden)]");
    edits.replace(&whole, "pub fn join_context<A, B, RA, RB>", "pub fn workspan_join_within<A, B, RA, RB>")?;
    edits.before(
        &context,
        "StackJob::new(call_b(oper_b)",
        "let workspan = crate::workspan::hooks::join::Join::new();",
    )?;
    edits.right_after(
        &context,
        "StackJob::new(call_b(oper_b), SpinLatch::new(worker_thread))",
        ".linked(workspan.link())",
    )?;
    edits.before(&context, "worker_thread.push(job_b_ref)", "workspan.fork();")?;
    edits.after(&context, "let status_a =", "workspan.left_done();")?;
    edits.replace(
        &context,
        "Err(err) => join_recover_from_panic(worker_thread, &job_b.latch, err),",
        "Err(err) => workspan.recover(|| join_recover_from_panic(worker_thread, &job_b.latch, err)),",
    )?;
    edits.before(&context, "job_b.run_inline(injected)", "let workspan_right = workspan.right_inline();")?;
    edits.after(&context, "job_b.run_inline(injected)", "workspan_right.done();")?;
    edits.before(&context, "worker_thread.wait_until(&job_b.latch)", "workspan.wait();")?;
    edits.before(&context, "worker_thread.execute(job)", "workspan.wait();")?;
    edits.right_before(&context, "(result_a, job_b.into_result())", "workspan.resume();\n        ")?;
    edits.append(&format!(
        "\
/// Identical to `join`, with a context for either closure.
#[track_caller]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{{
    let _workspan = crate::workspan::hooks::region::region(
        crate::workspan::wire::site::SiteKind::Join,
        core::any::type_name::<(A, B)>,
        crate::registry::workspan_start_pool,
    );
    workspan_join_within(oper_a, oper_b)
}}

fn workspan_join_native<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{{{original}}}

pub(crate) mod workspan_variants {{
    pub(crate) fn serial(n: u32) -> u32 {{
        if n < 2 {{
            return 0;
        }}
        let (a, b) = (serial(core::hint::black_box(n - 1)), serial(core::hint::black_box(n - 2)));
        a + b + 1
    }}

    pub(crate) fn native(n: u32) -> u32 {{
        if n < 2 {{
            return 0;
        }}
        let (a, b) = super::workspan_join_native(
            |_| native(core::hint::black_box(n - 1)),
            |_| native(core::hint::black_box(n - 2)),
        );
        a + b + 1
    }}

    pub(crate) fn hooked(n: u32) -> u32 {{
        if n < 2 {{
            return 0;
        }}
        let (a, b) = super::workspan_join_within(
            |_| hooked(core::hint::black_box(n - 1)),
            |_| hooked(core::hint::black_box(n - 2)),
        );
        a + b + 1
    }}
}}
"
    ));
    Ok(())
}

/// Start of a region at a public function's body.
fn region(kind: &str, types: &str, prepare: &str) -> String {
    format!(
        "let _workspan = crate::workspan::hooks::region::region(\
         crate::workspan::wire::site::SiteKind::{kind}, core::any::type_name::<{types}>, {prepare});"
    )
}

const START_POOL: &str = "crate::registry::workspan_start_pool";
const START_NOTHING: &str = "crate::workspan::hooks::region::nothing";

fn scope(edits: &mut Edits) -> Result<(), AnchorError> {
    for name in ["scope", "scope_fifo", "in_place_scope", "in_place_scope_fifo"] {
        let function = edits.function(name)?;
        edits.attribute(&function, "#[track_caller]");
        edits.at_start(&function, &region("Scope", "OP", START_POOL));
    }
    let base = edits.block("struct ScopeBase")?;
    edits.right_after(&base, "registry: Arc<Registry>,", "\n    workspan: crate::workspan::hooks::scope::Scope,")?;
    let new = edits.method("impl<'scope> ScopeBase<'scope>", "new")?;
    edits.right_after(
        &new,
        "registry: Arc::clone(registry),",
        "\n            workspan: crate::workspan::hooks::scope::Scope::new(),",
    )?;
    let complete = edits.method("impl<'scope> ScopeBase<'scope>", "complete")?;
    edits.before(&complete, "Self::execute_job_closure(self, func)", "self.workspan.enter();")?;
    edits.after(&complete, "Self::execute_job_closure(self, func)", "self.workspan.body_done();")?;
    edits.after(&complete, "self.job_completed_latch.wait(owner)", "self.workspan.exit();")?;
    for (owner, name) in [("impl<'scope> Scope<'scope>", "spawn"), ("impl<'scope> ScopeFifo<'scope>", "spawn_fifo")] {
        let spawn = edits.method(owner, name)?;
        edits.attribute(&spawn, "#[track_caller]");
        // In the place of the scope's address: so the job is no larger than natively.
        edits.replace(
            &spawn,
            "let scope_ptr = ScopePtr(self);",
            "let workspan = self.base.workspan.spawn(self, core::any::type_name::<BODY>);\n\
             let _workspan_creation = workspan.creation();",
        )?;
        edits.replace(&spawn, "scope_ptr.as_ref()", "workspan.as_ref()")?;
        edits.replace(&spawn, "move || body(scope)", "move || workspan.run(|| body(scope))")?;
    }
    for owner in ["impl<'scope> Scope<'scope>", "impl<'scope> ScopeFifo<'scope>"] {
        let spawn = edits.method(owner, "spawn_broadcast")?;
        edits.attribute(&spawn, "#[track_caller]");
        edits.at_start(
            &spawn,
            "let workspan = self.base.workspan.broadcast(\
             core::any::type_name::<BODY>, self.base.registry.num_threads());\n\
             let _workspan_creation = workspan.creation();",
        );
        edits.replace(
            &spawn,
            "BroadcastContext::with(move |ctx| body(scope, ctx))",
            "workspan.run(|| BroadcastContext::with(move |ctx| body(scope, ctx)))",
        )?;
    }
    Ok(())
}

fn spawn(edits: &mut Edits) -> Result<(), AnchorError> {
    for name in ["spawn", "spawn_fifo"] {
        let function = edits.function(name)?;
        edits.attribute(&function, "#[track_caller]");
    }
    for name in ["spawn_in", "spawn_fifo_in"] {
        let function = edits.function(name)?;
        edits.attribute(&function, "#[track_caller]");
        edits.at_start(
            &function,
            "let workspan = crate::workspan::hooks::scope::spawn(core::any::type_name::<F>, 1);\n\
             let _workspan_creation = workspan.creation();\n\
             let func = move || workspan.run(func);",
        );
    }
    Ok(())
}

fn broadcast(edits: &mut Edits) -> Result<(), AnchorError> {
    for name in ["broadcast", "spawn_broadcast", "broadcast_in", "spawn_broadcast_in"] {
        let function = edits.function(name)?;
        edits.attribute(&function, "#[track_caller]");
    }
    let wait = edits.function("broadcast_in")?;
    edits.at_start(&wait, &region("Broadcast", "OP", START_NOTHING));
    edits.before(
        &wait,
        "let jobs: Vec<_> =",
        "let workspan = crate::workspan::hooks::scope::Scope::new();\nworkspan.enter();\nlet workspan_task = \
         workspan.tasks(n_threads);",
    )?;
    edits.right_after(&wait, "StackJob::new(&f, LatchRef::new(&latch))", ".linked(workspan_task.link())")?;
    edits.after(&wait, "registry.inject_broadcast(job_refs)", "workspan.body_done();")?;
    edits.after(&wait, "latch.wait(current_thread)", "workspan.exit();")?;
    let detached = edits.function("spawn_broadcast_in")?;
    edits.at_start(
        &detached,
        "let workspan = crate::workspan::hooks::scope::spawn(core::any::type_name::<OP>, registry.num_threads());\n\
         let _workspan_creation = workspan.creation();",
    );
    edits.replace(
        &detached,
        "registry.catch_unwind(|| BroadcastContext::with(&op));",
        "registry.catch_unwind(|| workspan.run(|| BroadcastContext::with(&op)));",
    )
}

fn registry(edits: &mut Edits) -> Result<(), AnchorError> {
    for name in ["in_worker_cold", "in_worker_cross"] {
        let function = edits.function(name)?;
        edits.before(
            &function,
            "let job = StackJob::new(",
            "let workspan = crate::workspan::hooks::registry::Handoff::new();",
        )?;
        edits.after(
            &function,
            "let job = StackJob::new(",
            "let job = job.linked(workspan.link());\nworkspan.leave();",
        )?;
        edits.right_before(&function, "job.into_result()", "workspan.resume();\n")?;
    }
    pools(edits, "workspan_calibrate")?;
    for name in ["yield_now", "yield_local"] {
        let function = edits.method("impl WorkerThread", name)?;
        edits.replace(
            &function,
            "self.execute(job);",
            "crate::workspan::hooks::registry::yielded(|| self.execute(job));",
        )?;
    }
    edits.append(
        "\
/// Starts the global pool if the calling thread belongs to none.
pub(super) fn workspan_start_pool() {
    if WorkerThread::current().is_null() {
        global_registry();
    }
}

/// Lets `measure` run as the only worker of a pool of its own.
fn workspan_calibrate(measure: &mut dyn FnMut(crate::workspan::hooks::registry::Variants)) {
    use crate::join::workspan_variants::{hooked, native, serial};
    let mut worker = None;
    let builder = ThreadPoolBuilder::new().num_threads(1).spawn_handler(|thread: ThreadBuilder| {
        worker = Some(thread);
        Ok(())
    });
    if Registry::new(builder).is_err() {
        return;
    }
    let Some(worker) = worker else {
        return;
    };
    let before = WORKER_THREAD_STATE.with(|t| t.replace(ptr::null()));
    {
        let worker = WorkerThread::from(worker);
        unsafe { WorkerThread::set_current(&worker) };
        measure(crate::workspan::hooks::registry::Variants { serial, native, hooked });
    }
    WORKER_THREAD_STATE.with(|t| t.set(before));
}
",
    );
    Ok(())
}

/// Pools and their workers, without a calibration.
fn pools_alone(edits: &mut Edits) -> Result<(), AnchorError> {
    pools(edits, "|_| {}")
}

/// Pools and their workers; `calibrate` is called by the first one.
fn pools(edits: &mut Edits, calibrate: &str) -> Result<(), AnchorError> {
    let main_loop = edits.function("main_loop")?;
    edits.at_start(&main_loop, "crate::workspan::hooks::registry::worker_start();");
    edits.at_end(&main_loop, "crate::workspan::hooks::registry::worker_stop();");
    let spawn = edits.method("impl ThreadSpawn for DefaultSpawn", "spawn")?;
    edits.at_start(&spawn, "let _workspan = crate::workspan::hooks::registry::creating();");
    let new = edits.method("impl Registry", "new")?;
    edits.after(
        &new,
        "let n_threads = Ord::min(",
        &format!("crate::workspan::hooks::registry::pool_start(n_threads, {calibrate});"),
    )
}

/// Idle phases of workers.
fn sleep(edits: &mut Edits) -> Result<(), AnchorError> {
    for (name, hook) in [("start_looking", "idle_begin"), ("work_found", "idle_end")] {
        let function = edits.function(name)?;
        edits.at_start(&function, &format!("crate::workspan::hooks::registry::{hook}();"));
    }
    Ok(())
}

/// Waits of threads of no pool.
fn latch(edits: &mut Edits) -> Result<(), AnchorError> {
    for name in ["wait_and_reset", "wait"] {
        let method = edits.method("impl LockLatch", name)?;
        edits.at_start(&method, "let _workspan = crate::workspan::hooks::registry::blocked();");
    }
    Ok(())
}

fn thread_pool(edits: &mut Edits) -> Result<(), AnchorError> {
    let owner = "impl ThreadPool";
    let asked = edits.method(owner, "current_num_threads")?;
    edits.replace(
        &asked,
        "self.registry.num_threads()",
        "crate::workspan::hooks::split::asked(self.registry.num_threads())",
    )?;
    for (name, kind, types) in [
        ("join", "Join", "(A, B)"),
        ("scope", "Scope", "OP"),
        ("scope_fifo", "Scope", "OP"),
        ("in_place_scope", "Scope", "OP"),
        ("in_place_scope_fifo", "Scope", "OP"),
    ] {
        let method = edits.method(owner, name)?;
        edits.attribute(&method, "#[track_caller]");
        edits.at_start(&method, &region(kind, types, START_NOTHING));
    }
    for name in ["broadcast", "spawn", "spawn_fifo", "spawn_broadcast"] {
        let method = edits.method(owner, name)?;
        edits.attribute(&method, "#[track_caller]");
    }
    Ok(())
}
