//! Tasks as objects: what is known of a task from its creation until everything below it has ended.
//!
//! Runtimes such as OpenMP's create tasks that may outlive their creator, wait for predecessors, and move between
//! threads. Each has a [`Frame`]. While a task runs, its state is in its thread's [`Thread`], as for rayon; the frame holds
//! it otherwise ([`TaskState`]).
//!
//! **Model** (absolute depth). A task begins at its creator's span, or at the end of its latest predecessor if that is
//! later; it ends at `end`. A wait for children takes the maximum over the children's ends, a taskgroup or barrier over
//! those of all descendants; the thread or time at which the runtime ran them does not matter. An instance of the task's
//! site lasts until its last descendant has ended: it *closes* then.
//!
//! **Who waits for whom.** A child offers its end to its parent's [`Frame::children`]. A frame closes when its task has
//! ended and all children have closed; if descendants ended later than the task, that goes to the parent's
//! [`Frame::late`]. Tasks that a group or team contains directly offer both to the group or team as well, so whoever
//! waits for a group need not look at more than one place.
//!
//! **Paths.** A task borrows the path of its creator at the time, so that creating it costs no reference count. The
//! creator keeps that path alive in [`Frame::base`] as long as it has open children; where it would need a second one
//! at the same time, the child gets a handle of its own. A child that ended in its creator's context without touching
//! its path offers the borrowed handle, and the creator supplies the rest ([`wait_children`]).
//!
//! **Memory ordering.** The runtime orders the creation of a task before its start, and the ends of tasks before the
//! return of whoever waits for them; the counters below add the edges that its scheduler does not promise.
//!
//! [`wait_children`]: super::task::wait_children

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU32, Ordering};

use workspan_collect::calls::CallId;
use workspan_collect::group::raise;
use workspan_collect::path;
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::tables::ContextId;
use workspan_wire::shm::{Latest, TaskState, Thread, OWNED};

use super::alt_spans::AltSpans;
pub use super::kind::Kind;
use super::latest;
use super::pool;
use super::state::call::Open;
use super::state::depend::{List, Table};
use super::state::gather::Gather;
use super::state::group::Group;
use super::state::lock::Held;
use super::state::log::Logged;
use super::state::marked::Marks;
use super::state::pieces::Pieces;
use super::state::team::{Round, Team};
use super::state::{Base, End, Rests, Start};

/// Where a task stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Created, not begun.
    Created,
    /// Begun; runs on a thread or is suspended.
    Begun,
    /// Its code has ended, but it is not complete before somebody says so (detach).
    Detached,
    /// Complete.
    Ended,
}

/// What is known of a task.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Frame {
    /// The task itself until it has ended, and children that have not closed.
    pub(super) open: AtomicU32,
    /// The task until it has closed, and whoever else still needs the frame.
    pub(super) holders: AtomicU32,
    /// Ends of children.
    pub(super) children: Latest,
    /// Ends of deeper descendants that outlived the children they belong to.
    pub(super) late: Latest,
    /// Thread on which it runs; null if on none.
    pub(super) thread: AtomicPtr<Thread>,
    /// Creator; null for an implicit task.
    pub(super) parent: Cell<*const Frame>,
    /// Where its end goes besides its parent: a group or a team that contains it directly.
    pub(super) report: Cell<*const Latest>,
    /// Innermost taskgroup that it has open itself.
    pub(super) own_group: Cell<*const Group>,
    /// Team it belongs to.
    pub(super) team: Cell<*const Team>,
    /// Barriers of the team that it has passed; for an explicit task, its creator's.
    pub(super) round: Cell<Round>,
    pub(super) kind: Cell<Kind>,
    pub(super) stage: Cell<Stage>,
    pub(super) start: Cell<Start>,
    pub(super) base: Cell<Base>,
    /// The task whose place on the thread it took.
    pub(super) interrupted: Cell<*const Frame>,
    /// Dependences among its children.
    pub(super) dependences: Cell<*mut Table<Frame>>,
    /// What it waits for [briefly](Frame::waits_briefly); null otherwise.
    brief: Cell<*const Gather>,
    /// The task that it waits for briefly has run on its thread.
    brief_ran: Cell<bool>,
    /// What the adapter knows of it besides; 0 for nothing.
    word: Cell<u64>,
    /// Tasks that it has to wait for.
    pub(super) predecessors: Cell<*mut List<Frame>>,
    /// Others may depend on it.
    pub(super) depended_on: Cell<bool>,
    /// Of a member: its number in the team.
    pub(super) number: Cell<u32>,
    /// Work of tasks that it has created, with all below, as far as they are over ([`super::call`]).
    pub(super) below: AtomicI64,
    /// Of a member: the part of its own work that its team has.
    pub(super) reported: Cell<i64>,
    /// The innermost call that it has open besides itself; 0 for none.
    pub(super) open_call: Cell<CallId>,
    /// The one that its creator had open when it created this one.
    pub(super) within: Cell<CallId>,
    /// By what the log knows it.
    pub(super) logged: Logged,
    /// What most tasks do without.
    extra: AtomicPtr<Extra>,
    /// While it does not run; written before it is read. The last field, so that a new task's zeros do not go on over it.
    rests: Cell<Rests>,
}

/// What a task has of the one that creates it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parent {
    pub(super) parent: *const Frame,
    pub(super) report: *const Latest,
    pub(super) team: *const Team,
    pub(super) round: Round,
    pub(super) within: CallId,
}

impl Parent {
    /// Of a task that nobody creates.
    pub(super) const NONE: Parent =
        Parent { parent: ptr::null(), report: ptr::null(), team: ptr::null(), round: Round(false), within: 0 };

    /// Of a task that `creator` creates.
    #[inline(always)]
    pub(super) fn of(creator: &Frame, report: *const Latest, within: CallId) -> Parent {
        Parent { parent: creator, report, team: creator.team.get(), round: creator.round.get(), within }
    }
}

/// What most tasks do without: made when it is needed, so that creating a task writes less.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Extra {
    pub(super) pieces: Cell<Pieces>,
    /// Context around the worksharing construct that the task is in.
    pub(super) construct: Cell<ContextId>,
    /// The taskloop that it is in: the context around it, and where its tasks begin.
    pub(super) taskloop: Cell<Option<(ContextId, Start)>>,
    /// The team of the region that it waits for.
    pub(super) forked: Cell<*const Team>,
    /// Stands for a wait with dependences that is under way.
    pub(super) pseudo: Cell<*const Frame>,
    /// The program says that the taskloop's tasks run at once.
    pub(super) taskloop_at_once: Cell<bool>,
    /// Its site is already active around it.
    pub(super) taskloop_recursive: Cell<bool>,
    /// It ends with a group of its own, unless that has ended before.
    pub(super) taskloop_grouped: Cell<bool>,
    /// Its tasks are created, and it ends with this group; null otherwise.
    pub(super) taskloop_group: Cell<*const Group>,
    /// Gathers of this task that the log has as groups, innermost first.
    pub(super) gathers: Cell<*const Gather>,
    /// What it will wait for when it has created all of it.
    pub(super) prepared: Cell<*const Gather>,
    pub(super) taskloop_call: Cell<Open>,
    /// The identity of its tasks in the log; 0 before the first one.
    pub(super) taskloop_identity: Cell<u64>,
    /// Regions that the program has marked and that are open.
    pub(super) marks: Marks,
    /// Locks that it holds.
    pub(super) locks: Held,
    /// An inline child's end, to be taken over when the task goes on.
    pub(super) inline_end: Cell<Option<path::Tail>>,
    pub(super) inline_alt: Cell<AltSpans>,
    /// Span at which its event was fulfilled.
    pub(super) fulfilled: AtomicI64,
    /// The same with uniform loops.
    pub(super) fulfilled_uniform: AtomicI64,
}

const _: () = assert!(size_of::<Frame>() <= pool::BLOCK && size_of::<Extra>() <= pool::BLOCK);

impl Frame {
    /// A frame for a task that nobody creates. `None`: no memory.
    pub fn new(thread: &Thread, kind: Kind, start: Start) -> Option<&'static Frame> {
        Frame::of_parent(thread, kind, start, Parent::NONE)
    }

    /// A frame for a new task. `None`: no memory.
    #[inline(always)]
    pub(super) fn of_parent(thread: &Thread, kind: Kind, start: Start, of: Parent) -> Option<&'static Frame> {
        let at = pool::take::<Frame>(thread)?;
        let frame = Frame {
            open: AtomicU32::new(1),
            holders: AtomicU32::new(1),
            children: latest::none(),
            late: latest::none(),
            thread: AtomicPtr::new(ptr::null_mut()),
            parent: Cell::new(of.parent),
            report: Cell::new(of.report),
            own_group: Cell::new(ptr::null()),
            team: Cell::new(of.team),
            round: Cell::new(of.round),
            kind: Cell::new(kind),
            stage: Cell::new(Stage::Created),
            start: Cell::new(start),
            base: Cell::new(Base::default()),
            interrupted: Cell::new(ptr::null()),
            dependences: Cell::new(ptr::null_mut()),
            brief: Cell::new(ptr::null()),
            brief_ran: Cell::new(false),
            word: Cell::new(0),
            predecessors: Cell::new(ptr::null_mut()),
            depended_on: Cell::new(false),
            below: AtomicI64::new(0),
            number: Cell::new(0),
            reported: Cell::new(0),
            open_call: Cell::new(0),
            within: Cell::new(of.within),
            logged: Logged::default(),
            extra: AtomicPtr::new(ptr::null_mut()),
            rests: Cell::new(Rests { none: () }),
        };
        // SAFETY: a fresh block, large and aligned enough.
        unsafe { at.write(frame) };
        // SAFETY: just written; blocks are never unmapped, and this one is not given back before nobody holds it.
        Some(unsafe { &*at })
    }

    /// Where it ended. Only after [`Frame::set_end`].
    pub(super) fn end(&self) -> End {
        // SAFETY: nobody reads the end of a task before its end.
        unsafe { self.rests.get().end }
    }

    /// It has ended there.
    pub(super) fn set_end(&self, end: End) {
        self.rests.set(Rests { end });
    }

    /// The thread on which it runs.
    pub fn running_on(&self) -> Option<&'static Thread> {
        // SAFETY: null or a slot of the shared memory, which is never unmapped.
        unsafe { self.thread.load(Ordering::Acquire).as_ref() }
    }

    /// Its creator.
    pub fn parent(&self) -> Option<&'static Frame> {
        // SAFETY: null or a frame that this one keeps open, as it is one of its children.
        unsafe { self.parent.get().as_ref() }
    }

    /// Its team. Only for a task that has not ended, nor arrived at the region's last barrier.
    pub fn team(&self) -> Option<&'static Team> {
        // SAFETY: null or the team that the task belongs to, which is not over as long as the task runs.
        unsafe { self.team.get().as_ref() }
    }

    /// Number of threads of its team.
    pub fn team_size(&self) -> u32 {
        self.team().map_or(1, |team| team.size.load(Ordering::Relaxed))
    }

    /// A member's number in its team.
    pub fn number(&self) -> u32 {
        self.number.get()
    }

    /// True if tasks that it creates are part of its own chain.
    pub fn is_final(&self) -> bool {
        self.kind.get().final_
    }

    /// `pseudo` stands for a wait of this task.
    pub fn set_pseudo(&self, thread: &Thread, pseudo: &'static Frame) {
        if let Some(extra) = self.extra(thread) {
            extra.pseudo.set(pseudo);
        }
    }

    /// What stands for the wait that is under way.
    pub fn pseudo(&self) -> Option<&'static Frame> {
        // SAFETY: null or a frame that has not been discarded.
        unsafe { self.known_extra()?.pseudo.get().as_ref() }
    }

    /// The same; the wait is over.
    pub fn take_pseudo(&self) -> Option<&'static Frame> {
        let pseudo = self.pseudo();
        if let Some(extra) = self.known_extra() {
            extra.pseudo.set(ptr::null());
        }
        pseudo
    }

    /// The runtime no longer knows it: see `ompt::events::leave_team`.
    pub fn leaves(&self) {
        self.kind.set(Kind { leaving: true, ..self.kind.get() });
    }

    /// True after [`Frame::leaves`].
    pub fn is_leaving(&self) -> bool {
        self.kind.get().leaving
    }

    /// What the adapter knows of it besides.
    #[inline(always)]
    pub fn word(&self) -> u64 {
        self.word.get()
    }

    /// It knows this.
    pub fn set_word(&self, word: u64) {
        self.word.set(word);
    }

    /// It waits for `gather`, of which the thread that it is on runs the last task at once: too short a wait to read the clock. For the
    /// clock its strand goes on.
    pub fn wait_briefly(&self, gather: &'static Gather) {
        self.brief.set(gather);
        self.brief_ran.set(false);
    }

    /// The task that it waits for briefly has run.
    #[inline(always)]
    pub fn brief_has_run(&self) {
        self.brief_ran.set(true);
    }

    /// True after that.
    #[inline(always)]
    pub fn has_brief_run(&self) -> bool {
        self.brief_ran.get()
    }

    /// The brief wait is over, or has become one that is read.
    pub fn end_brief(&self) {
        self.brief.set(ptr::null());
    }

    /// What it waits for briefly.
    #[inline(always)]
    pub fn waits_briefly(&self) -> Option<&'static Gather> {
        // SAFETY: null or a gather that the wait holds.
        unsafe { self.brief.get().as_ref() }
    }

    /// True if parts of it may run on different threads.
    pub fn is_untied(&self) -> bool {
        self.kind.get().untied
    }

    /// The thread whose own strand it is ends. It is given back unless tasks of it have not ended.
    pub fn retire(&'static self, thread: &Thread) {
        if self.is_initial() && !self.has_open_children() {
            thread.frame.set(0);
            self.set_end(End::default());
            self.release(thread);
        }
    }

    /// True if it is part of its creator's chain.
    pub fn is_inline(&self) -> bool {
        self.kind.get().inline
    }

    /// True if tasks that it creates belong to the construct that it belongs to.
    pub fn creates_siblings(&self) -> bool {
        self.kind.get().siblings
    }

    /// It will wait for `gather` when it has created all of its tasks.
    pub fn set_prepared(&self, thread: &Thread, gather: &'static Gather) {
        if let Some(extra) = self.extra(thread) {
            extra.prepared.set(gather);
        }
    }

    /// What it will wait for.
    pub fn prepared(&self) -> Option<&'static Gather> {
        // SAFETY: null or a gather that this task holds.
        unsafe { self.known_extra()?.prepared.get().as_ref() }
    }

    /// The same; it waits now.
    pub fn take_prepared(&self) -> Option<&'static Gather> {
        let prepared = self.prepared()?;
        self.known_extra()?.prepared.set(ptr::null());
        Some(prepared)
    }

    /// True of a member of a team.
    pub fn is_member(&self) -> bool {
        self.kind.get().implicit && !self.team.get().is_null()
    }

    /// True for a member of this team.
    pub fn is_member_of(&self, team: &Team) -> bool {
        self.kind.get().implicit && ptr::eq(self.team.get(), team)
    }

    /// True for the frame of a thread's own strand.
    pub fn is_initial(&self) -> bool {
        self.kind.get().implicit && self.team.get().is_null()
    }

    /// True if a task that it creates may be part of a taskloop.
    pub fn in_taskloop(&self) -> bool {
        self.known_extra().is_some_and(|extra| extra.taskloop.get().is_some()) || self.kind.get().taskloop
    }

    /// True if the taskloop that it is in is part of its own chain.
    pub fn runs_taskloop_at_once(&self) -> bool {
        self.is_final() || self.known_extra().is_some_and(|extra| extra.taskloop_at_once.get())
    }

    /// It creates tasks for the runtime, and is none of the program's.
    pub fn is_machinery(&self) {
        self.kind.set(Kind { machinery: true, ..self.kind.get() });
    }

    /// It waits for the region of `team`, which it has forked.
    pub fn set_forked(&self, thread: &Thread, team: &'static Team) {
        if let Some(extra) = self.extra(thread) {
            extra.forked.set(team);
        }
    }

    /// The team that it waits for.
    pub fn forked(&self) -> Option<&'static Team> {
        // SAFETY: null or the team of a region that is not over: only this task ends it.
        unsafe { self.known_extra()?.forked.get().as_ref() }
    }

    /// The team that it waits for; it does no more.
    pub fn take_forked(&self) -> Option<&'static Team> {
        // SAFETY: null or the team of a region that is not over: only this task ends it.
        unsafe { self.known_extra()?.forked.replace(ptr::null()).as_ref() }
    }

    /// Where it stands.
    pub fn stage(&self) -> Stage {
        self.stage.get()
    }

    /// Its state; only of a task that is suspended.
    pub(super) fn saved(&self) -> TaskState {
        // SAFETY: what is suspended has been saved.
        unsafe { self.rests.get().saved }
    }

    /// True if it, which is suspended, is so in a wait.
    pub fn waits(&self) -> bool {
        self.saved().waiting != 0
    }

    /// The task whose place on the thread it took.
    pub fn interrupted(&self) -> Option<&'static Frame> {
        // SAFETY: null or a frame that is suspended below this one on the thread's stack, hence not ended.
        unsafe { self.interrupted.get().as_ref() }
    }

    /// It takes the place of `other`.
    pub fn interrupts(&self, other: Option<&'static Frame>) {
        self.interrupted.set(other.map_or(ptr::null(), ptr::from_ref));
    }

    /// True if children or their descendants have not ended.
    pub fn has_open_children(&self) -> bool {
        self.open.load(Ordering::Acquire) != 1
    }

    /// What runs on `thread`.
    pub fn on(thread: &Thread) -> Option<&'static Frame> {
        // SAFETY: 0 or a frame that runs, and so has not ended.
        let frame: Option<&'static Frame> = unsafe { (thread.frame.get() as *const Frame).as_ref() };
        frame.filter(|frame| ptr::eq(frame.thread.load(Ordering::Relaxed), thread))
    }

    /// It is what runs on `thread` already.
    pub fn begun_here(&self, thread: &'static Thread) {
        thread.frame.set(ptr::from_ref(self) as u64);
        self.thread.store(ptr::from_ref(thread).cast_mut(), Ordering::Relaxed);
        self.stage.set(Stage::Begun);
    }

    /// Its event is fulfilled at this span, before it has ended.
    pub fn fulfil(&self, thread: &Thread, span: i64, uniform: i64) {
        if let Some(extra) = self.extra(thread) {
            raise(&extra.fulfilled, span);
            raise(&extra.fulfilled_uniform, uniform);
        }
    }

    /// What most tasks do without, if this one has it.
    #[inline]
    pub(super) fn known_extra(&self) -> Option<&Extra> {
        // SAFETY: null or made by `extra`, and given back with the frame.
        unsafe { self.extra.load(Ordering::Acquire).as_ref() }
    }

    /// The same, made if need be. `None`: no memory.
    pub(super) fn extra(&self, thread: &Thread) -> Option<&Extra> {
        if let Some(known) = self.known_extra() {
            return Some(known);
        }
        let at = pool::take::<Extra>(thread)?;
        let extra = Extra {
            pieces: Cell::new(Pieces::default()),
            construct: Cell::new(0),
            taskloop: Cell::new(None),
            taskloop_at_once: Cell::new(false),
            taskloop_recursive: Cell::new(false),
            taskloop_grouped: Cell::new(false),
            taskloop_group: Cell::new(ptr::null()),
            gathers: Cell::new(ptr::null()),
            prepared: Cell::new(ptr::null()),
            taskloop_call: Cell::new(Open::NONE),
            taskloop_identity: Cell::new(0),
            pseudo: Cell::new(ptr::null()),
            forked: Cell::new(ptr::null()),
            marks: Marks::new(),
            locks: Held::new(),
            inline_end: Cell::new(None),
            inline_alt: Cell::new(AltSpans::NEVER),
            fulfilled: AtomicI64::new(i64::MIN),
            fulfilled_uniform: AtomicI64::new(i64::MIN),
        };
        // SAFETY: a fresh block, large and aligned enough.
        unsafe { at.write(extra) };
        // Whoever fulfils an event may be at it at the same time.
        if self.extra.compare_exchange(ptr::null_mut(), at, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: nobody else has seen it.
            unsafe { pool::give(thread, at) };
        }
        self.known_extra()
    }

    /// Puts the state of `thread` aside.
    #[inline(always)]
    pub fn save(&self, thread: &Thread) {
        self.rests.set(Rests { saved: thread.task.get() });
        // Whoever sees this sees the state: see `task::resume`.
        self.thread.store(ptr::null_mut(), Ordering::Release);
    }

    /// Brings the state back, on whichever thread.
    #[inline(always)]
    pub fn load(&'static self, thread: &'static Thread) {
        thread.frame.set(ptr::from_ref(self) as u64);
        // SAFETY: what is resumed has been suspended.
        let saved = unsafe { self.rests.get().saved };
        strand::load(thread, saved);
        self.thread.store(ptr::from_ref(thread).cast_mut(), Ordering::Relaxed);
    }

    /// One holder less; the last one frees it.
    pub(super) fn release(&self, thread: &Thread) {
        if super::solo::decrement(&self.holders) {
            self.free(thread, self.end().path);
        }
    }

    /// The same of its own hold, where it ends at the end of `path`.
    #[inline(always)]
    pub(super) fn release_ended(&self, thread: &Thread, path: u32) {
        if super::solo::decrement(&self.holders) {
            self.free(thread, path);
        }
    }

    #[inline(always)]
    fn free(&self, thread: &Thread, path: u32) {
        let paths = [self.base.get().path, latest::seen(&self.children).1, latest::seen(&self.late).1, path];
        if paths.iter().fold(0, |any, path| any | path) & OWNED != 0 {
            path::release_all(Shared::of(thread), paths);
        }
        let extra = self.extra.load(Ordering::Acquire);
        if let Some(known) = self.known_extra() {
            known.marks.forget(thread);
            // SAFETY: made by `extra` from a block of the pool, and nobody holds the frame.
            unsafe { pool::give(thread, extra) };
        }
        // SAFETY: made by `new` from a block of the pool, and nobody holds it.
        unsafe { pool::give(thread, self) };
    }
}
