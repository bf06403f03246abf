//! What the rules write to the log, where strands are logged ([`workspan_collect::log`]).
//!
//! A task is known by an identity from its creation on; the records of its strands are a piece of the log of the thread that
//! runs it. An untied task that goes on elsewhere is several pieces, each of which names the next. Tasks of one loop share
//! an identity: all of them begin where the loop does, whoever creates them.
//!
//! Each function but those that [`on`] guards is called with the strand stopped, before the rule that moves its span;
//! [`workspan_collect::log::mark`] follows the rule.
//!
//! **Not in the log:** teams of the runtime's own; pieces of loops outside of all regions, which are serial code.

pub use workspan_collect::log::on;
use workspan_collect::log::{self, mark};
use workspan_collect::origin::Identity;
use workspan_collect::strand;
use workspan_collect::tables::{ContextId, ROOT};
use workspan_collect::tool;
use workspan_wire::log::{Event, INNERMOST, LARGEST};
use workspan_wire::shm::Thread;

use super::frame::Frame;
use super::state::log::ELSEWHERE;
use super::state::team::Team;

/// `task` has been created in `context`; the strand is charged to `charged`.
#[cold]
pub fn created(thread: &Thread, task: &Frame, charged: ContextId, context: ContextId) {
    let identity = log::task_identity(thread, tool::Kind::Spawn, context);
    task.logged.identity.set(identity.log);
    task.logged.tool.set(identity.tool);
    log::with(thread, context, INNERMOST, identity.log);
    let event = if task.kind.get().inline { Event::Call } else { Event::Spawn };
    log::strand(thread, event, charged, strand::span(thread));
}

/// What the creation of the task that was created last has cost.
#[cold]
pub fn overhead(thread: &Thread, cost: i64) {
    log::note(thread, Event::Overhead, cost as u64);
}

/// `task`, just created, or the wait that it stands for, comes after `predecessor`.
#[cold]
pub fn comes_after(thread: &Thread, task: &Frame, predecessor: &Frame) {
    let wait = u32::from(task.kind.get().machinery);
    log::note_in(thread, Event::After, wait, predecessor.logged.identity.get());
}

/// Others may come after `task`, just created.
#[cold]
pub fn has_dependences(thread: &Thread, task: &Frame) {
    if !task.kind.get().machinery {
        log::note(thread, Event::After, 0);
    }
}

/// `task` has begun.
#[cold]
pub fn begun(thread: &Thread, task: &Frame) {
    mark(thread);
    let (logged, context) = (&task.logged, strand::context(thread));
    if !task.kind.get().implicit {
        log::piece(thread, Event::Begin, context, strand::span(thread), logged.identity.get());
    } else if task.team().is_some_and(|team| !team.is_the_runtimes()) {
        log::piece(thread, Event::Member, context, logged.work.get(), logged.identity.get());
    }
    if tool::on(thread) {
        tool::begin_strand(thread);
        tell_begun(thread, task);
    }
}

fn tell_begun(thread: &Thread, task: &Frame) {
    let (kind, known) = (task.kind.get(), task.logged.tool.get());
    let context = strand::context(thread);
    if kind.implicit {
        if task.team().is_some_and(|team| !team.is_the_runtimes()) {
            // What is known is who forked the team.
            task.logged.tool.set(tool::begin_new(thread, tool::Kind::Member, context, known));
        }
    } else if known != 0 {
        tool::begin(thread, known, tool::now(thread));
    }
}

/// Calls the tool for the end of `task`, which runs, if it was called for its begin.
fn tell_ended(thread: &Thread, task: &Frame) {
    let identity = task.logged.tool.replace(0);
    if identity != 0 && !task.team().is_some_and(Team::is_the_runtimes) {
        tool::go_on(thread, identity);
        tool::end(thread, 0, tool::now(thread));
    }
}

/// `task`, which runs, pauses, and another one takes its place.
#[cold]
pub fn interrupted(thread: &Thread, task: &Frame) {
    task.logged.work.set(thread.log_work.get());
    task.logged.offset.set(thread.log_offset.get());
    task.logged.begin.set(thread.log_begin.get());
    task.logged.strand_number.set(thread.strand_number.get());
}

/// `task` pauses and leaves the thread, or its code has ended before it is complete.
#[cold]
pub fn left(thread: &Thread, task: &Frame) {
    let next = log::identity(thread);
    task.logged.work.set(next as i64);
    task.logged.offset.set(ELSEWHERE);
    task.logged.strand_number.set(thread.strand_number.get());
    log::with(thread, ROOT, 0, next);
    log::strand(thread, Event::Suspend, strand::context(thread), strand::span(thread));
}

/// `task` goes on.
#[cold]
pub fn resumed(thread: &Thread, task: &Frame) {
    let logged = &task.logged;
    if tool::on(thread) {
        tool::go_on(thread, logged.tool.get());
        thread.strand_number.set(logged.strand_number.get());
    }
    if logged.offset.get() == ELSEWHERE {
        mark(thread);
        log::piece(thread, Event::Resume, strand::context(thread), 0, logged.work.get() as u64);
    } else {
        thread.log_work.set(logged.work.get());
        thread.log_offset.set(logged.offset.get());
        thread.log_begin.set(logged.begin.get());
    }
}

/// The strand goes on after a task that was part of its chain and ended at `end`. What had passed since that was created is
/// not logged yet, and not part of the span if the task took longer.
#[cold]
pub fn after_inline(thread: &Thread, end: i64) {
    thread.log_offset.set(end - thread.log_work.get());
}

/// The code of `task` has ended, at `span`.
#[cold]
pub fn ended(thread: &Thread, task: &Frame, span: i64) {
    if tool::on(thread) {
        tell_ended(thread, task);
    }
    let machinery = task.kind.get().machinery && !task.kind.get().implicit && task.kind.get().taskloop;
    log::numbered(thread, Event::End, strand::context(thread), span, u16::from(machinery));
}

/// The event of `task`, whose code has ended, is fulfilled so much later.
#[cold]
pub fn fulfilled(thread: &Thread, task: &Frame, context: ContextId, later: i64) {
    if task.logged.offset.get() == ELSEWHERE {
        log::piece(thread, Event::Resume, context, 0, task.logged.work.get() as u64);
        log::blocked(thread, context, later);
    }
}

fn tell_sync(thread: &Thread) {
    if tool::on(thread) {
        tool::sync(thread, tool::now(thread));
    }
}

/// The running task waits for its children.
#[cold]
pub fn sync(thread: &Thread) {
    tell_sync(thread);
    log::strand(thread, Event::Sync, strand::context(thread), strand::span(thread));
}

/// The running task waits for the tasks that it has named before.
#[cold]
pub fn sync_some(thread: &Thread) {
    tell_sync(thread);
    log::numbered(thread, Event::Sync, strand::context(thread), strand::span(thread), 1);
}

/// A group begins; the strand may run.
#[cold]
pub fn group(thread: &Thread) {
    log::piece(thread, Event::Group, strand::context(thread), 0, 0);
}

/// Its tasks are waited for.
#[cold]
pub fn wait(thread: &Thread) {
    wait_in(thread, strand::context(thread));
}

/// The same of a strand that was charged to `context`.
#[cold]
pub fn wait_in(thread: &Thread, context: ContextId) {
    tell_sync(thread);
    log::strand(thread, Event::Wait, context, strand::span(thread));
}

/// A team begins. Returns its identity.
#[cold]
pub fn team(thread: &Thread) -> Identity {
    let identity = log::identity(thread);
    log::with(thread, ROOT, 0, identity);
    log::strand(thread, Event::Team, strand::context(thread), strand::span(thread));
    Identity { log: identity, tool: thread.tool_task.get() }
}

/// `task` is to be the member of this number of the team of this identity.
pub fn is_member(task: &Frame, identity: Identity, number: u32) {
    task.logged.identity.set(identity.log);
    task.logged.tool.set(identity.tool);
    task.logged.work.set(i64::from(number));
}

/// A member arrives at a barrier.
#[cold]
pub fn barrier(thread: &Thread, team: &Team, last: bool) {
    if !team.is_the_runtimes() {
        tell_sync(thread);
        let number = u16::from(last);
        log::numbered(thread, Event::Barrier, strand::context(thread), strand::span(thread), number);
    }
}

/// The running member runs what one of its team is to run. The strand goes on.
#[cold]
pub fn single(thread: &Thread) {
    log::note(thread, Event::Single, 0);
    log::go_on(thread);
}

/// A member has ended.
#[cold]
pub fn member_ended(thread: &Thread, member: &Frame) {
    if tool::on(thread) {
        tell_ended(thread, member);
    }
    if member.team().is_none_or(|team| !team.is_the_runtimes()) {
        log::strand(thread, Event::End, strand::context(thread), strand::span(thread));
    }
}

/// The team has ended; the strand that forked it is back.
#[cold]
pub fn team_end(thread: &Thread, team: &Team) {
    if tool::on(thread) {
        tool::go_on(thread, team.identity.tool);
    }
    mark(thread);
    log::strand(thread, Event::TeamEnd, strand::context(thread), strand::span(thread));
}

/// A region of `context` begins; the strand is charged to `charged`.
#[cold]
pub fn enter(thread: &Thread, charged: ContextId, context: ContextId) {
    log::with(thread, context, 0, 0);
    log::strand(thread, Event::Enter, charged, strand::span(thread));
}

/// A member enters a loop, of `context` if it knows that: otherwise the others do.
#[cold]
pub fn enter_loop(thread: &Thread, charged: ContextId, context: Option<ContextId>) {
    log::with(thread, context.unwrap_or(ROOT), 1, 0);
    log::strand(thread, Event::Enter, charged, strand::span(thread));
}

/// The region ends.
#[cold]
pub fn leave(thread: &Thread) {
    log::strand(thread, Event::Leave, strand::context(thread), strand::span(thread));
}

/// The first task of a loop is created: here all of them begin, in `context`. Returns the identity that they share.
#[cold]
pub fn chunks(thread: &Thread, context: ContextId) -> u64 {
    let identity = log::identity(thread);
    log::with(thread, context, INNERMOST, identity);
    log::early(thread, Event::Spawn, strand::context(thread));
    identity
}

/// `task`, created in `context`, is one of a loop of tasks that share this identity in the log; a tool knows each by itself.
pub fn is_chunk(thread: &Thread, task: &Frame, context: ContextId, identity: u64) {
    task.logged.identity.set(identity);
    if tool::on(thread) {
        task.logged.tool.set(tool::create(thread, tool::Kind::Spawn, context));
    }
}

/// The identity that a task of a loop shares with the others.
pub fn chunk_of(task: &Frame) -> u64 {
    task.logged.identity.get()
}

/// A piece of a loop begins: the first, or another one.
#[cold]
pub fn piece(thread: &Thread, event: Event, iterations: u64) {
    let number = u16::try_from(iterations).unwrap_or(0);
    if u64::from(number) != iterations {
        log::with(thread, ROOT, i64::try_from(iterations).unwrap_or(LARGEST).min(LARGEST), 0);
    }
    log::numbered(thread, event, strand::context(thread), strand::span(thread), number);
}

/// A loop's first piece begins. `across`: by what the loop is known if its iterations wait for one another; 0 for another one.
#[cold]
pub fn fork(thread: &Thread, iterations: u64, across: u64) {
    if across == 0 {
        return piece(thread, Event::Fork, iterations);
    }
    log::with(thread, ROOT, 1, across);
    log::numbered(thread, Event::Fork, strand::context(thread), strand::span(thread), 1);
}

/// Of the strand, `ticks` belong to the next one, and its span is that much less already.
#[cold]
pub fn lend(thread: &Thread, ticks: i64) {
    thread.log_work.set(thread.log_work.get() + ticks);
    thread.log_offset.set(thread.log_offset.get() - ticks);
}

/// The next strand begins, with `ticks` of the one before.
#[cold]
pub fn borrow(thread: &Thread, ticks: i64) {
    mark(thread);
    thread.log_work.set(thread.log_work.get() - ticks);
}

/// The last piece ends.
#[cold]
pub fn join(thread: &Thread) {
    log::strand(thread, Event::Join, strand::context(thread), strand::span(thread));
}
