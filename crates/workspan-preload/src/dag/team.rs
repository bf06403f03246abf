//! Teams: a parallel region, its implicit tasks and their barriers.
//!
//! Every member offers its span at a barrier, and goes on after the latest. Two slots are enough, used in turn: a member
//! can be only one barrier ahead of another, and as spans never decrease a slot need not be emptied between its uses. A
//! slot does not change while it is read: whoever could offer to it again has to pass the next barrier first.

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use workspan_collect::log::mark;
use workspan_collect::path::{self, Tail};
use workspan_collect::region::{self, CallSite};
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::tables::ContextId;
use workspan_wire::shm::{Thread, OWNED};

use super::assumed::Assumed;
use super::call;
use super::frame::{self, Frame, Kind};
use super::share::{Left, Share};
use super::solo::{self, offer};
use super::state::call::{Open, Whole};
pub use super::state::team::Team;
use super::state::team::{Construct, Round, SHARES};
use super::state::Start;
use super::{log, pool, task};

/// `task`, whose strand stopped at tick `now`, forks a team. `None`: no memory.
/// `own`: the runtime makes it for itself.
pub fn fork(thread: &'static Thread, task: &Frame, now: u64, site: &CallSite, own: bool) -> Option<&'static Team> {
    let target = region::target(thread, site);
    let from = strand::context(thread);
    path::settle(thread);
    let target = target.filter(|target| target.context != from);
    let region = target.map(|target| region::enter_stopped(thread, now, site, target).marked_elsewhere());
    let outermost = target.filter(|target| !target.recursive);
    let call = outermost.map_or(Open::NONE, |target| call::enter(thread, task, target.context));
    let position = thread.task.position.get();
    let start = Start {
        span: strand::span(thread),
        assumed: Assumed::of(thread),
        // The forking task keeps it while it waits.
        path: position.path & !OWNED,
        since: position.since,
        forked_in: position.context,
        context: position.context,
    };
    let at = pool::take::<Team>(thread)?;
    let share = || Construct { share: Share::new(), whole: Whole::new() };
    let team = Team {
        slots: [frame::none(), frame::none()],
        start,
        region: Cell::new(region),
        own,
        identity: if log::on(thread) && !own { log::team(thread) } else { 0 },
        size: AtomicU32::new(1),
        work: AtomicI64::new(0),
        call: Cell::new(call),
        shares: [share(), share(), share(), share()],
    };
    // SAFETY: a fresh block, large and aligned enough.
    unsafe { at.write(team) };
    // SAFETY: just written; blocks are never unmapped, and it is given back in `finish`, after its last use.
    Some(unsafe { &*at })
}

/// A frame for the member of `team` of this number, not begun yet.
pub fn member(thread: &Thread, team: &'static Team, size: u32, number: u32) -> Option<&'static Frame> {
    team.size.store(size, Ordering::Relaxed);
    let kind = Kind { implicit: true, machinery: true, ..Kind::default() };
    let start = Start { assumed: team.start.assumed.burdened_by(team.steal(thread)), ..team.start };
    let frame = Frame::new(thread, kind, start)?;
    frame.team.set(team);
    if log::on(thread) {
        log::is_member(frame, team.identity, number);
    }
    Some(frame)
}

/// A member, whose strand is stopped, has reached a barrier.
pub fn barrier(thread: &'static Thread, member: &Frame, team: &Team, last: bool) {
    if log::on(thread) {
        log::barrier(thread, team, last);
    }
    arrive(thread, member, team);
}

/// A member, whose strand is stopped, has come to a barrier or to its end.
pub fn arrive(thread: &'static Thread, member: &Frame, team: &Team) {
    let shared = Shared::of(thread);
    // It may be the last that is heard of the thread: the end of its last barrier is told when it next wakes.
    strand::flush(thread);
    let work = call::work(thread);
    solo::add(&team.work, work - member.told.replace(work));
    let slot = team.slot(member.round.get());
    Assumed::of(thread).raise(slot);
    let span = strand::span(thread);
    if span > slot.candidate.span.load(Ordering::Relaxed) {
        let context = strand::context(thread);
        path::extend(shared, thread, span, context);
        offer(shared, &slot.candidate, span, path::own(shared, strand::path(thread)));
    }
}

/// A member has passed the barrier.
pub fn pass(thread: &'static Thread, member: &'static Frame, team: &Team) {
    let shared = Shared::of(thread);
    let round = member.round.get();
    member.round.set(Round(!round.0));
    let slot = team.slot(round);
    let (span, path) = frame::seen(slot);
    if span > strand::span(thread) {
        let path = path::own(shared, path);
        task::join(thread, Tail { span, path, since: span }, Assumed::NEVER);
    }
    Assumed::seen(slot).join(thread);
    if log::on(thread) {
        mark(thread);
    }
}

/// The region is over at tick `now`: the forking task, its state back on `thread` and its strand stopped, goes on after
/// the latest end.
pub fn finish(thread: &'static Thread, task: &Frame, now: u64, team: &'static Team) {
    let shared = Shared::of(thread);
    let logged = log::on(thread) && !team.own;
    if logged {
        log::team_end(thread, team);
    }
    for slot in &team.slots {
        let (span, path) = frame::taken(slot);
        task::join(thread, Tail { span, path, since: span }, Assumed::seen(slot));
    }
    Assumed::of(thread).burdened_by(team.steal(thread)).set(thread);
    if logged {
        mark(thread);
    }
    thread.task.teams_work.set(thread.task.teams_work.get() + team.work.load(Ordering::Acquire));
    call::leave(thread, task, team.call.get());
    if let Some(region) = team.region.take() {
        let context = strand::context(thread);
        let before = team.start.assumed;
        region::leave_stopped(thread, now, region);
        if region.outermost() {
            let account = shared.account(thread, context);
            let beyond = Assumed::of(thread).beyond(before);
            account.uniform_span.set(account.uniform_span.get() + beyond.uniform);
        }
    }
    // SAFETY: made by `fork`; its members have ended, or will not look at it again.
    unsafe { pool::give(thread, ptr::from_ref(team)) };
}

/// A member leaves its `ordinal`-th worksharing construct, to which it contributed `span`. The last one counts the
/// instance. `of`: its context, and whether it is an outermost one; members that the runtime tells no place do not know.
pub fn share(thread: &Thread, team: &Team, of: Option<(ContextId, bool)>, ordinal: u32, span: i64, assumed: Assumed) {
    let size = team.size.load(Ordering::Relaxed).max(1);
    let Construct { share, whole } = &team.shares[ordinal as usize % SHARES];
    let told = of.map_or(0, |(context, outermost)| u64::from(outermost) << 32 | u64::from(context + 1));
    let spans = [span, assumed.uniform, assumed.burdened];
    match share.leave(ordinal, size, spans, told, || whole.clear()) {
        Left::Among => {}
        Left::Apart => {
            if let Some(of) = of {
                count(thread, of, 0, span, assumed);
            }
        }
        Left::Last([span, uniform, burdened], of) => {
            if let Some(context) = (of as u32).checked_sub(1) {
                count(thread, (context, of >> 32 != 0), 1, span, Assumed { uniform, burdened });
            }
        }
    }
}

fn count(thread: &Thread, (context, outermost): (ContextId, bool), instances: u64, span: i64, assumed: Assumed) {
    let account = Shared::of(thread).account(thread, context);
    account.entries.set(account.entries.get() + instances);
    if outermost {
        account.instances.set(account.instances.get() + instances);
        account.span.set(account.span.get() + span);
        account.uniform_span.set(account.uniform_span.get() + assumed.uniform);
        account.burdened_span.set(account.burdened_span.get() + assumed.burdened);
    }
}
