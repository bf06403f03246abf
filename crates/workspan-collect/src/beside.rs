//! Serial code beside which tasks or threads run that it has begun: what it is called.
//!
//! Serial code is named by the site before it and the one behind it (`region::close_serial`). While what it has begun at a site
//! is not waited for, that code is no serial code of the program, and the site before it is a stand-in: of kind
//! [`SiteKind::Beside`], with the place of the site itself.
//!
//! **Counted** for each thread: the threads that its own serial code has created and that live, and groups of tasks that it has begun and not
//! waited for. What nobody waits for is not counted; it runs beside until a wait that finds nothing else.

use core::sync::atomic::{AtomicU32, Ordering};

use super::shared::Shared;
use super::tables;
use workspan_wire::shm::{Thread, MAX_THREADS};
use workspan_wire::site::SiteKind;

/// By slot.
static OPEN: [AtomicU32; MAX_THREADS] = [const { AtomicU32::new(0) }; MAX_THREADS];

/// Who has begun what runs beside: a slot + 1; 0 for nobody.
pub type Owner = u32;

/// The serial code of `thread`, just closed, goes on beside what has begun at `site` (+ 1).
pub fn follows(shared: Shared, thread: &Thread, site: u32) {
    if beside(shared, thread) != Some(site) {
        let stand_in = site.checked_sub(1).and_then(|site| tables::intern_beside(shared, site, false));
        thread.task.last_region.set(stand_in.map_or(site, |stand_in| stand_in + 1));
    }
}

/// The site (+ 1) beside whose tasks the serial code of `thread` runs.
fn beside(shared: Shared, thread: &Thread) -> Option<u32> {
    let record = shared.site(thread.task.last_region.get().checked_sub(1)?);
    (record.kind.get() == SiteKind::Beside as u32).then(|| record.serial_from.get())
}

/// The serial code of `thread` has begun something that it, or somebody, will wait for.
pub fn begins(shared: Shared, thread: &Thread) -> Owner {
    let slot = shared.slot_of(thread);
    OPEN[slot as usize].fetch_add(1, Ordering::Relaxed);
    slot + 1
}

/// That is over.
pub fn ends(owner: Owner) {
    if let Some(open) = owner.checked_sub(1).and_then(|slot| OPEN.get(slot as usize)) {
        // A thread that has left its slot to another one has taken its count along.
        let _ = open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| open.checked_sub(1));
    }
}

/// `thread` begins in its slot.
pub fn reset(shared: Shared, thread: &Thread) {
    OPEN[shared.slot_of(thread) as usize].store(0, Ordering::Relaxed);
}

/// What the serial code of `thread`, which is about to be charged, comes after: a site (+ 1), or 0. What nobody saw to be over when it was
/// waited for, as threads of a scope in Rust, which end a little later than whoever has waited for them goes on, may be so by now.
pub fn before(shared: Shared, thread: &Thread) -> u32 {
    let last = thread.task.last_region.get();
    match beside(shared, thread) {
        Some(site) if site != 0 && has_waited(shared, last) && is_over(shared, thread) => site,
        _ => last,
    }
}

/// The strand of `thread`, stopped, is where a wait ends, in serial code beside which something runs, or did until now.
/// Returns the site (+ 1) of that, if the code up to here is to be charged: for what follows is serial, or comes after a wait.
pub fn waited(shared: Shared, thread: &Thread) -> Option<u32> {
    let site = beside(shared, thread)?;
    (is_over(shared, thread) || !has_waited(shared, thread.task.last_region.get())).then_some(site)
}

/// That code has been charged.
pub fn goes_on(shared: Shared, thread: &Thread, site: u32) {
    let stand_in = || site.checked_sub(1).and_then(|site| tables::intern_beside(shared, site, true));
    let next = if is_over(shared, thread) { site } else { stand_in().map_or(site, |stand_in| stand_in + 1) };
    thread.task.last_region.set(next);
}

fn has_waited(shared: Shared, last: u32) -> bool {
    last.checked_sub(1).is_some_and(|last| shared.site(last).serial_to.get() != 0)
}

fn is_over(shared: Shared, thread: &Thread) -> bool {
    OPEN[shared.slot_of(thread) as usize].load(Ordering::Relaxed) == 0
}
