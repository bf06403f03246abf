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

use super::path;
use super::shared::Shared;
use super::strand;
use super::tables::{self, ContextId, SiteDetail, SiteId, SiteKey, Target, ROOT};
use workspan_wire::shm::{RegionCacheEntry, Thread, OPEN_REGIONS, REGION_CACHE};
use workspan_wire::site::SiteKind;

/// What a call site tells about itself.
#[derive(Clone, Copy, Debug)]
pub struct CallSite {
    /// Construct.
    pub kind: SiteKind,
    /// Where the program called it.
    pub location: &'static Location<'static>,
    /// Name of the closure's type.
    pub type_name: fn() -> &'static str,
    /// Address of the calling code; 0 if unknown.
    pub address: u64,
}

/// A region that was entered.
#[derive(Debug)]
pub struct Region {
    from: ContextId,
    location: u64,
    outermost: bool,
    span: i64,
    work: i64,
    entered: u64,
}

/// True if a call at `location` is known to lead to the context the thread is in: a recursion, met through another copy
/// of the location (the compiler may make several). The next such call is recognised by its address alone.
pub fn stays(thread: &Thread, location: &'static Location<'static>) -> bool {
    let from = strand::context(thread);
    let address = location as *const Location<'_> as u64;
    let entry = cache_slot(thread, address, from);
    let stays = entry.location.get() == address && entry.from.get() == from && entry.to.get() == from;
    if stays {
        thread.location.set(address);
    }
    stays
}

/// Looks up where `site` leads from the thread's current context. `None`: the tables are full.
pub fn target(thread: &Thread, site: &CallSite) -> Option<Target> {
    let from = strand::context(thread);
    let location = site.location as *const Location<'_> as u64;
    let entry = cache_slot(thread, location, from);
    if entry.location.get() == location && entry.from.get() == from {
        return Some(Target { context: entry.to.get(), recursive: entry.recursive.get() != 0 });
    }
    let target = look_up(thread, from, site)?;
    entry.location.set(location);
    entry.from.set(from);
    entry.to.set(target.context);
    entry.recursive.set(u32::from(target.recursive));
    Some(target)
}

/// Enters the region of `site` at tick `now`. `None` if that changes nothing: a recursion into the current context, or
/// full tables; the strand then goes on unchanged.
pub fn enter(thread: &Thread, now: u64, site: &CallSite) -> Option<Region> {
    let shared = Shared::of(thread);
    let from = strand::context(thread);
    let target = target(thread, site)?;
    if target.context == from {
        thread.location.set(site.location as *const Location<'_> as u64);
        return None;
    }
    let span = strand::stop(thread, now);
    if from == ROOT {
        close_serial(shared, thread, span, shared.context(target.context).site.get() + 1);
    } else {
        strand::flush(thread);
        path::extend(shared, thread, span, from);
    }
    let region = Region {
        from,
        location: thread.location.get(),
        outermost: !target.recursive,
        span,
        work: thread.work.get(),
        entered: now,
    };
    strand::set_context(shared, thread, target.context);
    thread.location.set(site.location as *const Location<'_> as u64);
    let account = shared.account(thread, target.context);
    account.entries.set(account.entries.get() + 1);
    let open = thread.open_len.get();
    if let Some(slot) = thread.open.get(open as usize) {
        slot.context.set(target.context);
        slot.outermost.set(u32::from(region.outermost));
        slot.span.set(span);
    }
    thread.open_len.set(open + 1);
    strand::go(thread, now);
    Some(region)
}

/// Leaves a region at tick `now`. The strand is the one that entered it, possibly back from other threads.
pub fn leave(thread: &Thread, now: u64, region: Region) {
    let shared = Shared::of(thread);
    let span = strand::stop(thread, now);
    let context = strand::context(thread);
    strand::flush(thread);
    path::extend(shared, thread, span, context);
    let account = shared.account(thread, context);
    if region.outermost {
        account.instances.set(account.instances.get() + 1);
        account.work.set(account.work.get() + thread.work.get() - region.work);
        account.span.set(account.span.get() + span - region.span);
    }
    if region.from == ROOT {
        account.wall.set(account.wall.get() + now.wrapping_sub(region.entered) as i64);
        thread.last_region.set(shared.context(context).site.get() + 1);
    }
    strand::set_context(shared, thread, region.from);
    thread.location.set(region.location);
    thread.open_len.set(thread.open_len.get().saturating_sub(1));
    strand::go(thread, now);
}

/// Charges the root's serial code since the last region; `to` is the site + 1 of the region that begins, 0 at the end.
pub fn close_serial(shared: Shared, thread: &Thread, span: i64, to: u32) {
    let serial = serial_context(shared, thread.last_region.get(), to);
    strand::flush_to(thread, shared.account(thread, serial));
    path::extend(shared, thread, span, serial);
}

fn serial_context(shared: Shared, from: u32, to: u32) -> ContextId {
    let key = SiteKey { kind: SiteKind::Serial, file: "", line: 0, column: 0, serial: (from, to) };
    match tables::intern_site(shared, &key) {
        Some((site, _)) => tables::target(shared, ROOT, site).context,
        None => ROOT,
    }
}

fn look_up(thread: &Thread, from: ContextId, site: &CallSite) -> Option<Target> {
    let shared = Shared::of(thread);
    let id = intern(shared, site)?;
    Some(tables::target(shared, from, id))
}

fn intern(shared: Shared, site: &CallSite) -> Option<SiteId> {
    let key = SiteKey {
        kind: site.kind,
        file: site.location.file(),
        line: site.location.line(),
        column: site.location.column(),
        serial: (0, 0),
    };
    let (id, new) = tables::intern_site(shared, &key)?;
    if new {
        let detail = SiteDetail { type_name: (site.type_name)(), address: site.address, stack: &[] };
        tables::describe_site(shared, id, &detail);
    }
    Some(id)
}

fn cache_slot(thread: &Thread, location: u64, from: ContextId) -> &RegionCacheEntry {
    // Locations are 24 bytes apart at least; the low bits say little.
    let hash =
        (location >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(from).wrapping_mul(0xff51_afd7_ed55_8ccd);
    &thread.cache[(hash >> 40) as usize % REGION_CACHE]
}

const _: () = assert!(OPEN_REGIONS > 0);
