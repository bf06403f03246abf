//! The log: where the runner requests it, each hook also writes down what it sees ([`workspan_wire::log`]).
//!
//! A record has what the strand added to work and to span since the record before, so that whoever replays the log by the
//! rules of the model comes to the same numbers, to the last tick. The rules themselves move a thread's span, too: what
//! they do is not the strand's, so after each of them [`mark`] notes where the next strand begins.
//!
//! Identities tie the pieces of a task together that several threads run. They are a number of the thread's own below
//! that of its slot, so that giving one touches nothing shared.
//!
//! **Cost** where nothing is logged: one test per hook, of a word on a cache line that the hook uses anyway. Where it is:
//! 16 bytes a record, one store to publish it. The calibration of the hooks runs with what is requested, so that is taken
//! out as well.
//!
//! **Back-pressure.** A full log makes its thread wait, first spinning, then asleep. The time waited is in no strand. When
//! the runner has stopped taking records, or takes none for [`PATIENCE_NANOS`], the thread goes on without a log.

use core::mem::{offset_of, size_of};
use core::sync::atomic::Ordering;

use super::clock;
use super::events;
use super::exclude::exclude_next;
use super::origin::Identity;
use super::platform::{self, ErrnoGuard};
use super::ring;
use super::role::Role;
use super::shared::Shared;
use super::strand;
use super::tool;
use workspan_wire::log::{Event, Record, RECORD};
use workspan_wire::shm::{Thread, ThreadArea, ThreadLog, LOG_RECORDS, THREADS};

/// How long a thread waits for room.
pub const PATIENCE_NANOS: u64 = 10_000_000_000;
/// How long it sleeps at a time.
const NAP_NANOS: u64 = 200_000;
/// Records whose pages are readied at a time.
const READIED: usize = 4_096;
const PAGE: usize = 4_096;
/// How often it looks before it sleeps.
const SPINS: u32 = 2_000;
/// Bits of an identity below the slot.
const OWN_BITS: u32 = 48;
/// In place of a log's address: only a tool listens.
const NO_RECORDS: u64 = 1;

/// True if the thread's strands are logged.
#[inline(always)]
pub fn on(thread: &Thread) -> bool {
    thread.is_logged()
}

/// Begins to log, if that is requested: the thread has been readied for `role`.
pub fn start(shared: Shared, thread: &Thread, role: Role) {
    let listened = tool::is_loaded();
    if listened {
        thread.tool.set(tool::CALLED);
        thread.tool_task.set(0);
        tool::number_strands(thread, slot_of(shared, thread));
    }
    if shared.header().config.log.load(Ordering::Relaxed) != 0 {
        start_records(shared, thread, role);
    } else if listened {
        thread.log.set(NO_RECORDS);
    }
    // A thread that the program starts begins where its creator is known.
    if listened && role == Role::Main {
        tool::begin_thread(thread);
    }
}

fn start_records(shared: Shared, thread: &Thread, role: Role) {
    let slot = slot_of(shared, thread);
    open(shared, thread);
    if thread.log_identity.get() == 0 {
        thread.log_identity.set((slot as u64) << OWN_BITS);
    }
    mark(thread);
    if role != Role::Worker {
        piece(thread, Event::Life, u32::from(role != Role::Main), strand::span(thread), 0);
    }
}

/// Begins to log into the thread's own, empty log, for calibration.
pub fn rehearse(shared: Shared, thread: &Thread) {
    if shared.header().config.log.load(Ordering::Relaxed) != 0 {
        let log = shared.log(slot_of(shared, thread));
        log.published.store(0, Ordering::Relaxed);
        open(shared, thread);
        mark(thread);
    } else if tool::is_loaded() {
        thread.log.set(NO_RECORDS);
    }
    if tool::is_loaded() {
        thread.tool.set(tool::REHEARSED);
        tool::number_strands(thread, slot_of(shared, thread));
    }
}

fn open(shared: Shared, thread: &Thread) {
    let log = shared.log(slot_of(shared, thread));
    thread.excluded.set(0);
    thread.log.set(log as *const _ as u64);
    let at = ring::written(log);
    if (at as usize) < LOG_RECORDS {
        ready_pages(thread, log, at);
    } else {
        thread.log_room.set(ring::room(log));
    }
}

/// Before the log has been filled once: readies the next pages from record `at` on, so that no strand pays for them.
fn ready_pages(thread: &Thread, log: &ThreadLog, at: u64) {
    let end = (at as usize + READIED).min(LOG_RECORDS);
    for record in log.records[at as usize..end].iter().step_by(PAGE / RECORD) {
        record[0].set(0);
    }
    log.records[end - 1][0].set(0);
    thread.log_room.set(end as u64);
}

fn slot_of(shared: Shared, thread: &Thread) -> usize {
    (thread as *const Thread as usize - shared.address() as usize - THREADS) / size_of::<ThreadArea>()
}

/// A new identity in the log; 0 if there are no records.
#[inline]
pub fn identity(thread: &Thread) -> u64 {
    if thread.log.get() <= NO_RECORDS {
        return 0;
    }
    let identity = thread.log_identity.get() + 1;
    thread.log_identity.set(identity);
    identity
}

/// The identity of a task that is created in `context`.
#[inline]
pub fn task_identity(thread: &Thread, kind: tool::Kind, context: u32) -> Identity {
    let tool = if tool::on(thread) { tool::create(thread, kind, context) } else { 0 };
    Identity { log: identity(thread), tool }
}

/// The next strand begins here: what moved work and span so far is not its own.
#[inline]
pub fn mark(thread: &Thread) {
    thread.log_work.set(thread.task.work.get());
    thread.log_offset.set(thread.task.offsets.actual.get());
    thread.log_begin.set(0);
}

/// The tick at which the strand began: where its clock starts now, unless it has been stopped since and went on, or time was taken
/// out of it.
fn began(thread: &Thread) -> u64 {
    match thread.log_begin.get() {
        0 => thread.start.get(),
        began => began,
    }
}

/// Of what the strand that has ended with absolute span `span` was blocked, `ticks` do not count.
pub fn exclude_blocked(thread: &Thread, span: i64, ticks: i64) {
    let blocked = span - thread.task.work.get() - thread.log_offset.get();
    thread.log_offset.set(thread.log_offset.get() + ticks.clamp(0, blocked.max(0)));
}

/// The strand that ended with absolute span `span`, by `event`; a rule may have moved the thread's span since.
pub fn strand(thread: &Thread, event: Event, context: u32, span: i64) {
    numbered(thread, event, context, span, 0);
}

/// The same, with a small number.
pub fn numbered(thread: &Thread, event: Event, context: u32, span: i64, number: u16) {
    let work = thread.task.work.get();
    let cost = work - thread.log_work.get();
    let blocked = span - work - thread.log_offset.get();
    let began = began(thread);
    mark(thread);
    if let Some(wide) = Record::wide(cost, blocked) {
        put(thread, wide);
    }
    if tool::on(thread) {
        put(thread, Record::new(Event::Seen, 0, 0, thread.strand_number.get()));
        tool::begin_strand(thread);
    }
    put(thread, Record::new(event, context, cost, Record::when(began, number)));
}

/// The strand has woken others, or was woken: where, and from which absolute span the woken go on.
#[cold]
pub fn meets(thread: &Thread, event: Event, context: u32, span: i64, at: (u64, i64)) {
    with(thread, 0, at.1, at.0);
    strand(thread, event, context, span);
}

/// The strand has waited for a lock, and goes on behind who gave it back: as [`meets`].
#[cold]
pub fn meets_at_lock(thread: &Thread, context: u32, span: i64, at: (u64, i64)) {
    with(thread, 0, at.1, at.0);
    numbered(thread, Event::Await, context, span, 1);
}

/// Goes before the record of a wait that is over: by how much it raises the span.
#[cold]
pub fn raised(thread: &Thread, by: i64) {
    put(thread, Record::new(Event::Of, 0, 0, by as u64));
}

/// True for the thread that runs `main`.
pub fn is_first(thread: &Thread) -> bool {
    slot_of(Shared::of(thread), thread) == 0
}

/// `event`, which ends a strand, before what has passed of it: that belongs to the next record.
pub fn early(thread: &Thread, event: Event, context: u32) {
    put(thread, Record::new(event, context, 0, Record::when(began(thread), 0)));
}

/// The piece that has just begun ends at once, having been blocked for so long.
pub fn blocked(thread: &Thread, context: u32, blocked: i64) {
    if let Some(wide) = Record::wide(0, blocked) {
        put(thread, wide);
    }
    early(thread, Event::End, context);
}

/// Goes before the record of a task's creation, a region's begin, a hand-over.
pub fn with(thread: &Thread, context: u32, count: i64, identity: u64) {
    put(thread, Record::new(Event::With, context, count, identity));
}

/// A piece begins.
pub fn piece(thread: &Thread, event: Event, context: u32, n: i64, identity: u64) {
    if let Some(wide) = Record::wide(n, 0) {
        put(thread, wide);
    }
    put(thread, Record::new(event, context, n, identity));
}

/// A record that ends no strand.
pub fn note(thread: &Thread, event: Event, second: u64) {
    put(thread, Record::new(event, 0, 0, second));
}

/// The same, with a context.
pub fn note_in(thread: &Thread, event: Event, context: u32, second: u64) {
    put(thread, Record::new(event, context, 0, second));
}

/// Begins a strand at tick `now` of a hook that may have logged something.
#[inline(always)]
pub fn go(thread: &Thread, now: u64) {
    if thread.log.get() | thread.excluded.get() | events::flag(thread) == 0 {
        strand::go(thread, now);
    } else {
        go_after(thread, now);
    }
}

/// The same of a hook that takes longer than most, and at another time more: what it has taken since tick `now` is read.
pub fn go_long(thread: &Thread, now: u64) {
    if on(thread) || Shared::of(thread).is_virtual() {
        return go(thread, now);
    }
    events::turn(thread);
    let end = end_of_hook(thread, now, thread.excluded.replace(0));
    // Of what hooks take as a rule, the half that comes behind the reading and before the next one.
    thread.start.set(end.wrapping_add(thread.probe.get() as u64 / 2));
}

/// The same at tick `now` of a hook that read the clock when it was done: of what hooks take as a rule, the half that comes behind the
/// reading and before the next one.
#[inline]
pub fn go_late(thread: &Thread, now: u64) {
    if on(thread) || Shared::of(thread).is_virtual() {
        return go(thread, now);
    }
    events::turn(thread);
    thread.excluded.set(0);
    thread.start.set(now.wrapping_add(thread.probe.get() as u64 / 2));
}

#[cold]
fn go_after(thread: &Thread, now: u64) {
    events::turn(thread);
    let excluded = thread.excluded.get();
    if on(thread) {
        go_logged(thread, now);
        thread.log_begin.set(began(thread));
    } else if excluded != 0 && !Shared::of(thread).is_virtual() {
        // What it did for the first time is excluded, and finds nothing in the caches: so does the rest of the hook.
        go_long(thread, now);
    } else {
        strand::go(thread, now.wrapping_add(excluded));
        thread.excluded.set(0);
    }
}

/// What the hook has taken since tick `now` is read, not taken for what hooks take as a rule: strands that are logged are
/// compared with those of other runs, and a hook's first time is long in all of them.
fn go_logged(thread: &Thread, now: u64) {
    let excluded = thread.excluded.replace(0);
    if Shared::of(thread).is_virtual() {
        return strand::go(thread, now);
    }
    let end = end_of_hook(thread, now, excluded);
    strand::go(thread, end);
}

/// The tick at which a hook that began at tick `now` is over; what it took is the collector's.
fn end_of_hook(thread: &Thread, now: u64, excluded: u64) -> u64 {
    let mut end = platform::ticks();
    if end.wrapping_sub(now) as i64 > thread.short.get() {
        // An interruption meanwhile is not to be taken for the next strand's.
        end = clock::wake(thread);
    }
    // What is excluded is counted already.
    let took = end.wrapping_sub(now).wrapping_sub(excluded);
    thread.collector.set(thread.collector.get() + took as i64);
    end
}

/// Goes on with the strand that runs, after a hook that has logged something.
#[inline(always)]
pub fn go_on(thread: &Thread) {
    if thread.excluded.get() | events::flag(thread) != 0 {
        go_on_after(thread);
    }
}

#[cold]
fn go_on_after(thread: &Thread) {
    events::turn(thread);
    thread.start.set(thread.start.get().wrapping_add(thread.excluded.replace(0)));
}

/// No strand begins: what was waited is idle time.
#[inline(always)]
pub fn rest(thread: &Thread) {
    events::turn(thread);
    thread.excluded.set(0);
}

#[inline]
fn put(thread: &Thread, record: Record) {
    let address = thread.log.get();
    if address <= NO_RECORDS {
        // Given up since the hook looked, or only a tool listens.
        return;
    }
    let log = Shared::of(thread).log_at(address);
    let at = ring::written(log);
    if at >= thread.log_room.get() && !make_room(thread, at) {
        return;
    }
    ring::put(log, at, record);
}

/// Waits until record `at` has room. `false`: gave up.
#[cold]
#[inline(never)]
fn make_room(thread: &Thread, at: u64) -> bool {
    let shared = Shared::of(thread);
    let log = shared.log_at(thread.log.get());
    if (at as usize) < LOG_RECORDS {
        exclude_next(thread, || ready_pages(thread, log, at));
        return true;
    }
    let has_room = || {
        let room = ring::room(log);
        thread.log_room.set(room);
        at < room
    };
    if has_room() {
        return true;
    }
    let real = !shared.is_virtual();
    let began = platform::ticks();
    let there = wait(shared, has_room);
    if real {
        // Who sleeps is switched out, which is not to be taken for the next strand's.
        let waited = clock::wake(thread).wrapping_sub(began);
        thread.collector.set(thread.collector.get() + waited as i64);
        thread.excluded.set(thread.excluded.get() + waited);
    }
    if !there {
        thread.log.set(if tool::on(thread) { NO_RECORDS } else { 0 });
        shared.header().log_given_up.fetch_add(1, Ordering::Relaxed);
    }
    there
}

fn wait(shared: Shared, has_room: impl Fn() -> bool) -> bool {
    let stopped = &shared.header().log_stopped;
    let _errno = ErrnoGuard::new();
    for _ in 0..SPINS {
        if stopped.load(Ordering::Relaxed) != 0 {
            return false;
        }
        core::hint::spin_loop();
        if has_room() {
            return true;
        }
    }
    let until = platform::monotonic_nanos() + PATIENCE_NANOS;
    while stopped.load(Ordering::Relaxed) == 0 {
        platform::sleep_nanos(NAP_NANOS);
        if has_room() {
            return true;
        }
        if platform::monotonic_nanos() > until {
            stopped.store(1, Ordering::Relaxed);
        }
    }
    false
}

const _: () = assert!(offset_of!(ThreadArea, thread) == 0);
