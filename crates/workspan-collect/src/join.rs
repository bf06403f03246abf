//! Fork and join of two branches: `join(left, right)`.
//!
//! The forking strand keeps everything in a frame on its own stack:
//!
//! ```text
//! fork            end of the strand, start of left
//! left_done       end of left, start of right
//! right_inline    …
//! right_done      end of right, start of the continuation
//! ```
//!
//! If the right branch is taken by somebody else, `right_inline`/`right_done` give way to [`JoinFrame::origin`] and
//! [`JoinFrame::stolen_done`] on the thief's side and [`JoinFrame::resume`] on ours.
//!
//! Each of `fork`, `left_done` and `right_done` is given the tick, or `None` if the reading was skipped because next to
//! no time has passed ([`super::clock`]); then no strand ends, and what has passed is charged at the next reading. Where
//! strands are logged, no reading is skipped.
//!
//! **Cost:** three readings of the clock at most, and some forty instructions. What matters besides the readings is the
//! number of *stores*: the runtime's own fence after `left_done` waits for all of them. Hence the frame is sparse, the
//! position is copied as a whole, and everything that only another thread or a change of context needs is done there.
//! No allocation, no atomic, no look-up.
//!
//! **Memory ordering:** the thief writes its result before the runtime's latch is set (release), and [`resume`] runs
//! after the latch was seen (acquire).
//!
//! [`resume`]: JoinFrame::resume

use core::cell::Cell;
use core::mem::MaybeUninit;

use super::log;
use super::origin::Identity;
use super::path::{self, Tail};
use super::shared::{current_account, Shared};
use super::strand::{self, count_task};
use super::task::{self, Ended, Origin};
use super::tool;
use workspan_wire::log::Event;
use workspan_wire::shm::{Position, Thread, OWNED};

/// A field that is written before it is read; not initialised, to keep the hot path short.
type Late<T> = Cell<MaybeUninit<T>>;

fn late<T>() -> Late<T> {
    Cell::new(MaybeUninit::uninit())
}

/// State of one fork, on the stack of the forking function.
#[derive(Debug)]
#[repr(C)]
pub struct JoinFrame {
    /// At the fork.
    position: Late<Position>,
    /// Absolute span at the fork.
    span: Late<i64>,
    /// With steals, where the right branch begins.
    burdened: Late<i64>,
    /// Absolute span at the end of the left branch.
    left_span: Late<i64>,
    /// The same with steals.
    left_burdened: Late<i64>,
    /// Work before the right branch, or [`BATCHED`].
    work: Late<i64>,
    nested: Late<i64>,
    left_path: Late<u32>,
    /// How far somebody is followed: [`NOT`], [`FOLLOWED`], [`LOGGED`].
    active: Cell<u8>,
    /// The left branch has changed its path, which is in `left_path` and `left_since`. Not for the thief's eyes.
    extended: Cell<bool>,
    left_since: Late<i64>,
    stolen: Late<Ended>,
    /// Of the right branch, if the fork was logged.
    identity: Late<Identity>,
    /// Of the task that forked, where a tool listens and the right branch runs inline.
    parent: Late<u64>,
}

const NOT: u8 = 0;
const FOLLOWED: u8 = 1;
const LOGGED: u8 = 2;

/// The right branch began while readings were skipped: its size is counted with its batch.
const BATCHED: i64 = i64::MIN;

// SAFETY: the thief reads fields written before the job was published, and writes only `stolen`, which the owner reads
// after the latch; see "Memory ordering" in the module header.
unsafe impl Sync for JoinFrame {}

macro_rules! get {
    ($field:expr) => {
        // SAFETY: written by an earlier step of the protocol (module header); `active` is false if `fork` did not run.
        unsafe { $field.get().assume_init() }
    };
}

macro_rules! set {
    ($field:expr, $value:expr) => {
        $field.set(MaybeUninit::new($value))
    };
}

impl JoinFrame {
    /// A frame before its fork.
    #[inline(always)]
    pub fn new() -> JoinFrame {
        JoinFrame {
            position: late(),
            span: late(),
            burdened: late(),
            left_span: late(),
            left_burdened: late(),
            work: late(),
            nested: late(),
            left_path: late(),
            active: Cell::new(NOT),
            extended: Cell::new(false),
            left_since: late(),
            stolen: late(),
            identity: late(),
            parent: late(),
        }
    }

    /// True if nobody was followed at the fork.
    #[inline(always)]
    pub fn active(&self) -> bool {
        self.active.get() != NOT
    }

    /// Forks: the strand ends, the left branch begins.
    #[inline(always)]
    pub fn fork(&self, thread: &Thread, tick: Option<u64>) {
        if let Some(now) = tick {
            strand::stop(thread, now);
        }
        path::settle(thread);
        let position = thread.task.position.get();
        self.active.set(FOLLOWED);
        self.extended.set(false);
        set!(self.position, position);
        set!(self.span, strand::span(thread));
        set!(self.burdened, strand::burdened(thread) + thread.steal.get());
        if position.path & OWNED != 0 {
            strand::set_path(thread, position.path & !OWNED);
        }
        if let Some(now) = tick {
            if log::on(thread) {
                self.log_fork(thread, now);
            } else {
                strand::go(thread, now);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn log_fork(&self, thread: &Thread, now: u64) {
        set!(self.identity, log::task_identity(thread, tool::Kind::Branch, strand::context(thread)));
        self.active.set(LOGGED);
        log::numbered(thread, Event::Fork, strand::context(thread), strand::span(thread), 1);
        log::go(thread, now);
    }

    /// The left branch ends; the right one begins, here or elsewhere.
    #[inline(always)]
    pub fn left_done(&self, thread: &Thread, tick: Option<u64>) {
        if let Some(now) = tick {
            strand::stop(thread, now);
        }
        set!(self.left_span, strand::span(thread));
        set!(self.left_burdened, strand::burdened(thread));
        let position = thread.task.position.get();
        if position.path & OWNED != 0 {
            self.left_extended(thread, position);
        }
        strand::set_span(thread, get!(self.span));
        strand::set_burdened(thread, get!(self.burdened));
        if let Some(now) = tick {
            if log::on(thread) {
                self.log_branch(thread, Event::Next, get!(self.left_span), now);
            } else {
                strand::go(thread, now);
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn log_branch(&self, thread: &Thread, event: Event, span: i64, now: u64) {
        if tool::on(thread) {
            match event {
                Event::Join => tool::end(thread, get!(self.parent), now),
                _ => tool::sync(thread, now),
            }
        }
        log::numbered(thread, event, strand::context(thread), span, 1);
        log::go(thread, now);
    }

    #[cold]
    fn left_extended(&self, thread: &Thread, left: Position) {
        let fork: Position = get!(self.position);
        set!(self.left_path, left.path);
        set!(self.left_since, left.since);
        self.extended.set(true);
        strand::set_tail(thread, fork.path & !OWNED, fork.since);
    }

    /// The right branch runs on this same thread, right after the left one.
    #[inline(always)]
    pub fn right_inline(&self, thread: &Thread) {
        if self.active.get() == LOGGED {
            self.right_told(thread);
        }
        if thread.batching.get() != 0 {
            set!(self.work, BATCHED);
        } else {
            set!(self.work, thread.task.work.get());
            set!(self.nested, thread.task.nested.get());
        }
    }

    #[cold]
    #[inline(never)]
    fn right_told(&self, thread: &Thread) {
        if tool::on(thread) {
            let before = tool::begin(thread, get!(self.identity).tool, thread.start.get());
            set!(self.parent, before);
            log::go_on(thread);
        }
    }

    /// The right branch, run inline, ends; the continuation begins.
    #[inline(always)]
    pub fn right_done(&self, thread: &Thread, tick: Option<u64>) {
        if let Some(now) = tick {
            strand::stop(thread, now);
        }
        let work_before = get!(self.work);
        if work_before == BATCHED {
            super::clock::count_later(thread);
        } else {
            let work = thread.task.work.get() - work_before;
            let nested_before = get!(self.nested);
            count_task(current_account(thread), work - (thread.task.nested.get() - nested_before));
            thread.task.nested.set(nested_before + work);
        }
        let span = strand::span(thread);
        self.join(thread, span, strand::burdened(thread), thread.task.position.get());
        if let Some(now) = tick {
            if log::on(thread) {
                self.log_branch(thread, Event::Join, span, now);
            } else {
                strand::go(thread, now);
            }
        }
    }

    /// The right branch is elsewhere, or other tasks have to run first: the thread waits from tick `now` on. If readings were
    /// `skipped` before, what has passed belongs to the left branch; otherwise `left_done` has read the clock, and it is the
    /// runtime's, which looked for the right branch.
    pub fn wait(&self, thread: &Thread, now: u64, skipped: bool) {
        if thread.task.waiting.get() == 0 {
            let since = if skipped { now } else { thread.start.get() };
            let span = strand::stop(thread, since);
            let late = span - get!(self.span);
            set!(self.left_span, get!(self.left_span) + late);
            set!(self.left_burdened, get!(self.left_burdened) + late);
            strand::set_span(thread, get!(self.span));
            strand::set_burdened(thread, get!(self.burdened));
            if log::on(thread) {
                log::with(thread, 0, 0, self.logged().log);
                log::strand(thread, Event::Late, strand::context(thread), span);
                log::rest(thread);
            }
            task::enter_idle(thread, since);
        }
    }

    /// Ends a wait without a steal: the right branch was found after other tasks, and runs inline from tick `now` on.
    pub fn found(&self, thread: &Thread, now: u64) {
        if thread.task.waiting.get() != 0 {
            task::leave_idle(thread, now);
            log::go(thread, now);
        }
    }

    /// Where a stolen right branch starts. Called by the thief.
    pub fn origin(&self) -> Origin {
        let position: Position = get!(self.position);
        Origin {
            span: get!(self.span),
            burdened: get!(self.burdened),
            path: position.path & !OWNED,
            path_since: position.since,
            forked_in: position.context,
            context: position.context,
            pending: 0,
            last_region: 0,
            identity: self.logged(),
        }
    }

    /// The identity of the right branch; none if the fork was not logged.
    fn logged(&self) -> Identity {
        if self.active.get() == LOGGED {
            get!(self.identity)
        } else {
            Identity::NONE
        }
    }

    /// A stolen right branch has ended. Called by the thief, before it sets the latch.
    pub fn stolen_done(&self, thread: &Thread, ended: Ended) {
        let account = Shared::of(thread).account(thread, self.origin().context);
        count_task(account, ended.work - ended.nested);
        set!(self.stolen, ended);
    }

    /// The thief had no place in the tables: its work is missing, and its span counted as nothing.
    pub fn stolen_lost(&self) {
        let origin = self.origin();
        set!(
            self.stolen,
            Ended {
                span: origin.span,
                burdened: origin.burdened,
                work: 0,
                nested: 0,
                path: origin.path,
                path_since: origin.path_since,
                pending: 0,
                last_region: 0,
            }
        );
    }

    /// A stolen right branch is known to have ended; the continuation begins at tick `now`.
    pub fn resume(&self, thread: &Thread, now: u64) {
        let stolen = get!(self.stolen);
        // Nobody waited if the thief was done before it was asked.
        if thread.task.waiting.get() != 0 {
            task::leave_idle(thread, now);
        }
        thread.task.work.set(thread.task.work.get() + stolen.work);
        thread.task.flushed.set(thread.task.flushed.get() + stolen.work - stolen.pending);
        thread.task.nested.set(thread.task.nested.get() + stolen.work);
        let right = Position { path: stolen.path, since: stolen.path_since, ..thread.task.position.get() };
        self.join(thread, stolen.span, stolen.burdened, right);
        if log::on(thread) {
            log::note(thread, Event::Elsewhere, self.logged().log);
            log::mark(thread);
        }
        log::go(thread, now);
    }

    #[inline(always)]
    fn join(&self, thread: &Thread, right_span: i64, right_burdened: i64, right: Position) {
        let fork: Position = get!(self.position);
        let (left_burdened, right_burdened) = (get!(self.left_burdened), right_burdened + thread.steal.get());
        strand::set_burdened(thread, if right_burdened > left_burdened { right_burdened } else { left_burdened });
        let left_span = get!(self.left_span);
        if (fork.path | right.path) & OWNED == 0 && !self.extended.get() {
            // Neither branch changed context, so the position is what it was at the fork.
            strand::set_span(thread, if right_span > left_span { right_span } else { left_span });
        } else {
            self.join_paths(thread, right_span, right);
        }
    }

    #[inline(never)]
    fn join_paths(&self, thread: &Thread, right_span: i64, right: Position) {
        let fork: Position = get!(self.position);
        let from = fork.path;
        let (path, since) = if self.extended.get() {
            (get!(self.left_path), get!(self.left_since))
        } else {
            (from & !OWNED, fork.since)
        };
        let left = Tail { span: get!(self.left_span), path, since };
        let right = Tail { span: right_span, path: right.path, since: right.since };
        let longer = path::merge(Shared::of(thread), from, fork.since, left, right);
        strand::set_tail(thread, longer.path, longer.since);
        strand::set_span(thread, longer.span);
    }
}
