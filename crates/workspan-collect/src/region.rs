//! Regions: the dynamic extent of a parallel construct, and where time is charged.
//!
//! Entering a region at a site changes the strand's *context* to "this site below the current path of sites". Recursion
//! is folded ([`tables::target`]): if the site is already active, the instance counts neither work nor span again (TaskProf
//! 3.4). A call at the very location of the current region, the usual recursion,
//! is recognised by one comparison in the caller and never gets here.
//!
//! Serial code of the root strand is charged when the next region begins, to the row "serial from the last region to
//! this one", so that a report can name the lines between which it lies.
//!
//! **Cost** of entering and leaving: two readings of the clock and a look-up in a per-thread cache of
//! [`REGION_CACHE`] entries; a miss costs the interning of [`super::tables`].

use core::panic::Location;

use super::beside;
use super::candidate;
use super::events;
use super::exclude::exclude_next;
use super::log;
use super::path;
use super::segment;
use super::shared::Shared;
use super::strand;
use super::tables::{self, ContextId, SiteDetail, SiteId, SiteKey, Target, ROOT};
use workspan_wire::log::Event;
use workspan_wire::shm::{RegionCacheEntry, Thread, OPEN_REGIONS, REGION_CACHE};
use workspan_wire::site::SiteKind;

/// What is known of a call site.
#[derive(Clone, Copy, Debug)]
pub struct CallSite {
    /// Construct.
    pub kind: SiteKind,
    /// Where the program uses it.
    pub place: Place,
    /// Name of the closure's type.
    pub type_name: fn() -> &'static str,
}

/// A place in the program, by something that costs nothing to pass.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// What the Rust compiler says of a call.
    Location(&'static Location<'static>),
    /// The same, of a region that the program names.
    Named(&'static Location<'static>, &'static str),
    /// What another compiler says of it.
    Told {
        /// Identifies the place; not 0.
        key: u64,
        /// An address in the code, for what the compiler leaves out; 0 if unknown.
        address: u64,
        /// Reads the place from the key.
        tell: fn(u64) -> Told,
    },
    /// An address in the code (not that of the instruction after the call).
    Address(u64),
    /// The header that the compiler has put before a loop, by addresses in its code.
    Header {
        /// Where the bounds of a member's part are compared. Identifies the place.
        compared: u64,
        /// Where these are computed: says the line, should code of an inlined function stand at the first.
        computed: u64,
    },
    /// Addresses of calls within each other, outermost first.
    Called {
        /// The same kind of addresses.
        calls: &'static [u64],
        /// As a compiler mangles it; empty if unknown.
        type_name: &'static str,
        /// All calls identify the place, not the first alone: the program's own code may be inlined into a library's function
        /// that makes several of the others.
        whole: bool,
    },
}

/// What a compiler says of a place.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// File; empty if not known.
    pub file: &'static str,
    /// Function.
    pub function: &'static str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// [`Place::Told`]'s.
    pub address: u64,
}

impl Place {
    /// A number that this place alone has.
    #[inline]
    pub fn key(self) -> u64 {
        match self {
            Place::Location(location) | Place::Named(location, _) => location as *const Location<'_> as u64,
            Place::Told { key, .. } => key,
            Place::Address(address) | Place::Header { compared: address, .. } => address,
            Place::Called { calls, .. } => first_of(calls) ^ self.further(),
        }
    }

    /// Of a place that all calls identify, a number for those but the first; otherwise 0.
    fn further(self) -> u64 {
        let Place::Called { calls, whole: true, .. } = self else { return 0 };
        let rest = calls.get(1..).unwrap_or(&[]);
        rest.iter().fold(0, |sum, call| (sum ^ call).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

fn first_of(calls: &[u64]) -> u64 {
    calls.first().copied().unwrap_or(0)
}

/// A region that was entered.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    from: ContextId,
    location: u64,
    outermost: bool,
    /// Its work is counted, and the path marked, by whoever entered it.
    marked_elsewhere: bool,
    span: i64,
    burdened: i64,
    work: i64,
    entered: u64,
}

impl Region {
    /// True if its site was not active around it.
    pub fn outermost(&self) -> bool {
        self.outermost
    }

    /// Whoever entered it counts its work and marks the path where it begins, rather than where it ends.
    pub fn marked_elsewhere(self) -> Region {
        Region { marked_elsewhere: true, ..self }
    }
}

/// True if a call at `location` is known to lead to the context the thread is in: a recursion, met through another copy
/// of the location (the compiler may make several). The next such call is recognised by its address alone.
pub fn stays(thread: &Thread, location: &'static Location<'static>) -> bool {
    let from = strand::context(thread);
    let address = location as *const Location<'_> as u64;
    let entry = cache_slot(thread, address, from);
    let stays = entry.location.get() == address && entry.from.get() == from && entry.to.get() == from;
    if stays {
        thread.task.location.set(address);
    }
    stays
}

/// Notes that a call at `location` leads nowhere else than to the context the thread is in.
pub fn stay(thread: &Thread, location: &'static Location<'static>) {
    let from = strand::context(thread);
    let address = location as *const Location<'_> as u64;
    let entry = cache_slot(thread, address, from);
    entry.location.set(address);
    entry.from.set(from);
    entry.to.set(from);
    entry.recursive.set(1);
}

/// Looks up where `site` leads from the thread's current context. `None`: the tables are full, or nothing is known of the
/// place.
#[inline(always)]
pub fn target(thread: &Thread, site: &CallSite) -> Option<Target> {
    known_target(thread, site.place.key()).or_else(|| unknown_target(thread, site))
}

/// The same of the site whose place has this [key](Place::key), if it is in the thread's cache.
#[inline(always)]
pub fn known_target(thread: &Thread, key: u64) -> Option<Target> {
    let from = strand::context(thread);
    let entry = cache_slot(thread, key, from);
    let known = entry.location.get() == key && entry.from.get() == from && key != 0;
    known.then(|| Target { context: entry.to.get(), recursive: entry.recursive.get() != 0 })
}

/// The same of one that is not in its slot of the thread's cache.
#[cold]
fn unknown_target(thread: &Thread, site: &CallSite) -> Option<Target> {
    let (from, location) = (strand::context(thread), site.place.key());
    if location == 0 {
        return None;
    }
    let entry = cache_slot(thread, location, from);
    let target = exclude_next(thread, || look_up(thread, from, site))?;
    entry.location.set(location);
    entry.from.set(from);
    entry.to.set(target.context);
    entry.recursive.set(u32::from(target.recursive));
    Some(target)
}

/// Enters the region of `site` at tick `now`. `None` if that changes nothing: a recursion into the current context, or
/// full tables; the strand then goes on unchanged.
pub fn enter(thread: &Thread, now: u64, site: &CallSite) -> Option<Region> {
    let target = target(thread, site)?;
    if target.context == strand::context(thread) {
        thread.task.location.set(site.place.key());
        // The strand goes on, with whatever the look-up took.
        thread.excluded.set(0);
        return None;
    }
    strand::stop(thread, now);
    let region = enter_stopped(thread, now, site, target);
    log::go(thread, now);
    Some(region)
}

/// Enters the region of `site`, which leads to `target`, another context than the current one. The strand is stopped.
pub fn enter_stopped(thread: &Thread, now: u64, site: &CallSite, target: Target) -> Region {
    let shared = Shared::of(thread);
    let from = strand::context(thread);
    let span = strand::span(thread);
    let mut charged = from;
    if from == ROOT {
        charged = close_serial(shared, thread, span, shared.context(target.context).site.get() + 1);
    } else {
        strand::flush(thread);
        path::extend(shared, thread, span, from);
    }
    if log::on(thread) {
        log::with(thread, target.context, 0, 0);
        log::strand(thread, Event::Enter, charged, span);
    }
    let region = Region {
        from,
        location: thread.task.location.get(),
        outermost: !target.recursive,
        marked_elsewhere: false,
        span,
        burdened: strand::burdened(thread),
        work: thread.task.work.get(),
        entered: now,
    };
    strand::set_context(shared, thread, target.context);
    thread.task.location.set(site.place.key());
    let account = shared.account(thread, target.context);
    account.entries.set(account.entries.get() + 1);
    let open = thread.open_len.get();
    if let Some(slot) = thread.open.get(open as usize) {
        slot.context.set(target.context);
        slot.outermost.set(u32::from(region.outermost));
        slot.span.set(span);
    }
    thread.open_len.set(open + 1);
    region
}

/// Leaves a region at tick `now`. The strand is the one that entered it, possibly back from other threads.
pub fn leave(thread: &Thread, now: u64, region: Region) {
    strand::stop(thread, now);
    leave_stopped(thread, now, region);
    log::go(thread, now);
}

/// Leaves a region whose strand is stopped.
pub fn leave_stopped(thread: &Thread, now: u64, region: Region) {
    let shared = Shared::of(thread);
    let span = strand::span(thread);
    let context = strand::context(thread);
    strand::flush(thread);
    path::extend(shared, thread, span, context);
    if log::on(thread) {
        log::strand(thread, Event::Leave, context, span);
    }
    let account = shared.account(thread, context);
    if region.outermost {
        account.instances.set(account.instances.get() + 1);
        let (work, span) = (thread.task.work.get() - region.work, span - region.span);
        account.span.set(account.span.get() + span);
        let burdened = strand::burdened(thread) - region.burdened;
        account.burdened_span.set(account.burdened_span.get() + burdened);
        if !region.marked_elsewhere {
            account.work.set(account.work.get() + work);
            path::called(shared, thread, context, work, span);
        }
    }
    if region.from == ROOT {
        account.wall.set(account.wall.get() + now.wrapping_sub(region.entered) as i64);
        candidate::raise(&shared.header().root_span, strand::span(thread));
        thread.task.last_region.set(shared.context(context).site.get() + 1);
    }
    strand::set_context(shared, thread, region.from);
    thread.task.location.set(region.location);
    thread.open_len.set(thread.open_len.get().saturating_sub(1));
}

/// True if the innermost region around is one that the program marks.
pub fn is_marked(thread: &Thread) -> bool {
    let context = strand::context(thread);
    let shared = Shared::of(thread);
    context != ROOT && shared.site(shared.context(context).site.get()).kind.get() == SiteKind::Marked as u32
}

/// Takes a context as the current one, for a part of a region that has been entered already. Returns the one before.
pub fn shift(thread: &Thread, context: ContextId) -> ContextId {
    let shared = Shared::of(thread);
    let from = strand::context(thread);
    if from != context {
        if from != ROOT {
            strand::flush(thread);
        }
        path::extend(shared, thread, strand::span(thread), from);
        strand::set_context(shared, thread, context);
    }
    from
}

/// Charges the root's serial code since the last region; `to` is the site + 1 of the region that begins, 0 at the end.
/// Returns the context that was charged.
pub fn close_serial(shared: Shared, thread: &Thread, span: i64, to: u32) -> ContextId {
    close_serial_from(shared, thread, span, (beside::before(shared, thread), to))
}

fn close_serial_from(shared: Shared, thread: &Thread, span: i64, (from, to): (u32, u32)) -> ContextId {
    let serial = serial_context(shared, from, to);
    let account = shared.account(thread, serial);
    strand::flush_to(thread, account);
    events::hand_on(thread, shared.account(thread, ROOT), account);
    // What was blocked meanwhile stands in the root's account so far.
    let blocked = shared.account(thread, ROOT).blocked.replace(0);
    account.blocked.set(account.blocked.get() + blocked);
    path::extend(shared, thread, span, serial);
    candidate::raise(&shared.header().root_span, span);
    segment::charged(thread, serial);
    serial
}

/// The strand of `thread`, stopped, is where a wait ends. Serial code of which it is known now that nothing runs beside it any more is charged up to here;
/// returns the context.
pub fn close_beside(shared: Shared, thread: &Thread) -> Option<ContextId> {
    if strand::context(thread) != ROOT {
        return None;
    }
    let site = beside::waited(shared, thread)?;
    let from = thread.task.last_region.get();
    let charged = close_serial_from(shared, thread, strand::span(thread), (from, site));
    beside::goes_on(shared, thread, site);
    Some(charged)
}

fn serial_context(shared: Shared, from: u32, to: u32) -> ContextId {
    let key = SiteKey { kind: SiteKind::Serial, file: "", line: 0, column: 0, serial: (from, to), address: 0 };
    match tables::intern_site(shared, &key, SiteDetail::default) {
        Some(site) => tables::target(shared, ROOT, site).context,
        None => ROOT,
    }
}

fn look_up(thread: &Thread, from: ContextId, site: &CallSite) -> Option<Target> {
    let shared = Shared::of(thread);
    let id = intern(shared, site)?;
    Some(tables::target(shared, from, id))
}

fn at(location: &'static Location<'static>, function: &'static str) -> Told {
    Told { file: location.file(), function, line: location.line(), column: location.column(), address: 0 }
}

fn intern(shared: Shared, site: &CallSite) -> Option<SiteId> {
    let told = match site.place {
        Place::Location(location) => at(location, ""),
        Place::Named(location, name) => at(location, name),
        Place::Told { key, address, tell } => Told { address, ..tell(key) },
        Place::Address(address) | Place::Header { compared: address, .. } => {
            Told { file: "", function: "", line: 0, column: 0, address }
        }
        Place::Called { type_name, calls, .. } => {
            Told { file: "", function: type_name, line: 0, column: 0, address: first_of(calls) }
        }
    };
    let stack = match &site.place {
        Place::Called { calls, .. } => calls.get(1..).unwrap_or(&[]),
        Place::Header { computed, .. } => core::slice::from_ref(computed),
        _ => &[],
    };
    let key = SiteKey {
        kind: site.kind,
        file: told.file,
        line: told.line,
        column: told.column,
        serial: ((site.place.further() >> 32) as u32, site.place.further() as u32),
        address: if told.file.is_empty() { told.address } else { 0 },
    };
    tables::intern_site(shared, &key, || {
        let type_name = if told.function.is_empty() { (site.type_name)() } else { told.function };
        SiteDetail { type_name, address: told.address, stack }
    })
}

fn cache_slot(thread: &Thread, location: u64, from: ContextId) -> &RegionCacheEntry {
    // Locations are 24 bytes apart at least; the low bits say little.
    let hash =
        (location >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(from).wrapping_mul(0xff51_afd7_ed55_8ccd);
    &thread.cache[(hash >> 40) as usize % REGION_CACHE]
}

const _: () = assert!(OPEN_REGIONS > 0);
