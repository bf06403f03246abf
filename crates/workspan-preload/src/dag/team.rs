//! Teams: a parallel region, its implicit tasks and their barriers.
//!
//! Every member offers its span at a barrier, and goes on after the latest. Two slots are enough, used in turn: a member
//! can be only one barrier ahead of another, and as spans never decrease a slot need not be emptied between its uses. A
//! slot does not change while it is read: whoever could offer to it again has to pass the next barrier first.

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use workspan_collect::log::mark;
use workspan_collect::origin::Identity;
use workspan_collect::path::{self, Tail};
use workspan_collect::region::{self, CallSite};
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::tables::ContextId;
use workspan_wire::shm::{Thread, OWNED};

use super::across;
use super::alt_spans::AltSpans;
use super::call;
use super::frame::{Frame, Kind};
use super::share::{Left, Share};
use super::solo::{self, offer};
use super::state::call::{Open, Whole};
pub use super::state::team::{Called, Team};
use super::state::team::{Construct, Round, SHARES};
use super::state::Start;
use super::{latest, log, pool, task};

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
        alt: AltSpans::of(thread),
        // The forking task keeps it while it waits.
        path: position.path & !OWNED,
        since: position.since,
        forked_in: position.context,
        context: position.context,
    };
    let at = pool::take::<Team>(thread)?;
    let share = || Construct { share: Share::new(), whole: Whole::new() };
    let team = Team {
        slots: [latest::none(), latest::none()],
        start,
        region: Cell::new(region),
        own,
        called: [const { Cell::new(0) }; 2],
        has_sections: Cell::new(false),
        watched_body: Cell::new(false),
        identity: if log::on(thread) && !own { log::team(thread) } else { Identity::NONE },
        size: AtomicU32::new(1),
        work: AtomicI64::new(0),
        call: Cell::new(call),
        covers: Cell::new(ptr::null()),
        covered: Cell::new(ptr::null()),
        shares: [share(), share(), share(), share()],
        across: AtomicU64::new(0),
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
    let start = Start { alt: team.start.alt.burdened_by(team.steal(thread)), ..team.start };
    let frame = Frame::new(thread, kind, start)?;
    frame.team.set(team);
    frame.number.set(number);
    if log::on(thread) {
        log::is_member(frame, team.identity, number);
    }
    Some(frame)
}

/// The only member of `team` has taken the runtime's word for the task that forked it.
pub fn cover(team: &Team, forker: &'static Frame) {
    team.covers.set(ptr::from_ref(forker).cast());
    if let Some(around) = forker.team() {
        around.covered.set(ptr::from_ref(forker).cast());
    }
}

/// The task whose word the only member of `team` has taken; that member ends.
pub fn uncover(team: &Team) -> Option<&'static Frame> {
    // SAFETY: null or the frame of the task that waits for this team, from `cover`.
    unsafe { team.covers.replace(ptr::null()).cast::<Frame>().as_ref() }
}

/// The member of `team` that waits for a team of its own, whose end the runtime reports as that of this one.
pub fn take_covered(team: &Team) -> Option<&'static Frame> {
    // SAFETY: null or the frame of a member that has not ended as it waits, from `cover`.
    unsafe { team.covered.replace(ptr::null()).cast::<Frame>().as_ref() }
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
    // It may be the last that is heard of the thread: the runtime reports the end of its last barrier when it next wakes.
    strand::flush(thread);
    let work = call::work(thread);
    solo::add(&team.work, work - member.reported.replace(work));
    let slot = team.slot(member.round.get());
    AltSpans::of(thread).raise(slot);
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
    let (span, path) = latest::seen(slot);
    if span > strand::span(thread) {
        let path = path::own(shared, path);
        task::join(thread, Tail { span, path, since: span }, AltSpans::NEVER);
    }
    AltSpans::seen(slot).join(thread);
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
        let (span, path) = latest::taken(slot);
        task::join(thread, Tail { span, path, since: span }, AltSpans::seen(slot));
    }
    AltSpans::of(thread).burdened_by(team.steal(thread)).set(thread);
    if logged {
        mark(thread);
    }
    for (spans, of) in team.shares.iter().filter_map(|construct| construct.share.rest()) {
        count_instance(thread, spans, of);
    }
    across::finish(thread, team);
    thread.task.teams_work.set(thread.task.teams_work.get() + team.work.load(Ordering::Acquire));
    call::leave(thread, task, team.call.get());
    if let Some(region) = team.region.take() {
        let context = strand::context(thread);
        let before = team.start.alt;
        region::leave_stopped(thread, now, region);
        if region.outermost() {
            let account = shared.account(thread, context);
            let beyond = AltSpans::of(thread).beyond(before);
            account.uniform_span.set(account.uniform_span.get() + beyond.uniform);
        }
    }
    // SAFETY: made by `fork`; its members have ended, or will not look at it again.
    unsafe { pool::give(thread, ptr::from_ref(team)) };
}

/// A member leaves its `ordinal`-th worksharing construct, to which it contributed `span`. The last one counts the
/// instance. `of`: its context, and whether it is an outermost one; members whose place the runtime does not report do not know.
pub fn share(thread: &Thread, team: &Team, of: Option<(ContextId, bool)>, ordinal: u32, span: i64, alt: AltSpans) {
    let size = team.size.load(Ordering::Relaxed).max(1);
    let Construct { share, whole } = &team.shares[ordinal as usize % SHARES];
    let known = of.map_or(0, |(context, outermost)| u64::from(outermost) << 32 | u64::from(context + 1));
    let spans = [span, alt.uniform, alt.burdened];
    match share.leave(ordinal, size, spans, known, || whole.clear()) {
        Left::Among => {}
        Left::Apart => {
            if let Some(of) = of {
                count(thread, of, 0, span, alt);
            }
        }
        Left::Last(spans, of) => count_instance(thread, spans, of),
    }
}

fn count_instance(thread: &Thread, [span, uniform, burdened]: [i64; 3], of: u64) {
    if let Some(context) = (of as u32).checked_sub(1) {
        count(thread, (context, of >> 32 != 0), 1, span, AltSpans { uniform, burdened });
    }
}

fn count(thread: &Thread, (context, outermost): (ContextId, bool), instances: u64, span: i64, alt: AltSpans) {
    let account = Shared::of(thread).account(thread, context);
    account.entries.set(account.entries.get() + instances);
    if outermost {
        account.instances.set(account.instances.get() + instances);
        account.span.set(account.span.get() + span);
        account.uniform_span.set(account.uniform_span.get() + alt.uniform);
        account.burdened_span.set(account.burdened_span.get() + alt.burdened);
    }
}
