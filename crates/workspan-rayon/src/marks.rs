//! Regions that the program marks.
//!
//! A marked region is part of a strand, or contains what forks; like any region it is a context of its own. Those that are
//! open on a thread are kept in a list of it: tasks that a thread runs meanwhile begin and end theirs on top. A mark is its
//! place in that list. What ends a region ends those above it, too; of these, what was left behind by a task that has ended
//! is no longer where the thread is, and is forgotten.

use core::cell::Cell;
use core::panic::Location;

use super::link::{restart, touch_account};
use workspan_collect::region::{self, CallSite, Place, Region};
use workspan_collect::strand;
use workspan_collect::tables::ContextId;
use workspan_collect::thread;
use workspan_wire::site::SiteKind;

/// Marked regions that a thread can have open; further ones belong to the innermost of these.
const DEPTH: usize = 64;

/// Of a region that was not entered.
const NONE: u32 = u32::MAX;

struct Marks {
    len: Cell<usize>,
    /// The region, and the context inside.
    open: [Cell<Option<(Region, ContextId)>>; DEPTH],
}

thread_local! {
    static MARKS: Marks = const { Marks { len: Cell::new(0), open: [const { Cell::new(None) }; DEPTH] } };
}

/// Begins the region `name`, and returns its mark.
#[cold]
#[inline(never)]
pub fn begin(location: &'static Location<'static>, name: &'static str) -> u32 {
    let Some((thread, now)) = thread::running() else {
        return NONE;
    };
    let site = CallSite { kind: SiteKind::Marked, place: Place::Named(location, name), type_name: || "" };
    let mark = MARKS.with(|marks| {
        let at = marks.len.get();
        let slot = marks.open.get(at)?;
        let region = region::enter(thread, now, &site)?;
        slot.set(Some((region, strand::context(thread))));
        marks.len.set(at + 1);
        u32::try_from(at).ok()
    });
    touch_account(strand::context(thread));
    restart(now);
    mark.unwrap_or(NONE)
}

/// Ends the region of a mark.
#[cold]
#[inline(never)]
pub fn end(mark: u32) {
    if mark == NONE {
        return;
    }
    let Some((thread, now)) = thread::running() else {
        return;
    };
    MARKS.with(|marks| {
        while marks.len.get() > mark as usize {
            let at = marks.len.get() - 1;
            marks.len.set(at);
            let left = marks.open.get(at).and_then(Cell::take);
            if let Some((region, _)) = left.filter(|(_, inside)| *inside == strand::context(thread)) {
                region::leave(thread, now, region);
            }
        }
    });
    restart(now);
}
