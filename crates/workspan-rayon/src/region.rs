//! Regions of public calls.

use core::panic::Location;

use super::link::{restart, touch_account};
use workspan_collect::region::{self, CallSite, Place, Region};
use workspan_collect::strand;
use workspan_collect::thread::{self, hot};
use workspan_collect::timed;
use workspan_wire::site::SiteKind;

/// The region of a call, until dropped.
#[derive(Debug)]
pub struct Guard(Option<Region>);

impl Drop for Guard {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(region) = self.0.take() {
            leave(region);
        }
    }
}

/// Enters the region of the caller's caller, if it is not the current one.
///
/// `type_name` names the closure's type; `prepare` is called, outside the region, when serial or marked code enters a region,
/// so that a pool that is started by the first call does not count as part of it.
#[inline(always)]
#[track_caller]
pub fn region(kind: SiteKind, type_name: fn() -> &'static str, prepare: fn()) -> Guard {
    let location = Location::caller();
    if let Some(thread) = hot() {
        if thread.task.location.get() == location as *const Location<'_> as u64 {
            return Guard(None);
        }
        if region::stays(thread, location) {
            return Guard(None);
        }
    }
    enter(kind, location, type_name, prepare)
}

/// Does nothing: for calls that start no pool.
pub fn nothing() {}

#[cold]
#[inline(never)]
fn enter(
    kind: SiteKind,
    location: &'static Location<'static>,
    type_name: fn() -> &'static str,
    prepare: fn(),
) -> Guard {
    // First of all: what this hook does must not be part of the strand, and its code may not even be in memory.
    let Some((thread, mut now)) = thread::running() else {
        return Guard(None);
    };
    let serial = thread.task.position.get().context == workspan_collect::tables::ROOT;
    if serial {
        timed::works(thread, now);
    }
    if !serial && is_internal(location) {
        region::stay(thread, location);
        restart(now);
        return Guard(None);
    }
    if serial || region::is_marked(thread) {
        prepare();
        let Some((_, prepared)) = thread::running() else {
            return Guard(None);
        };
        now = prepared;
    }
    let site = CallSite { kind, place: Place::Location(location), type_name };
    let region = region::enter(thread, now, &site);
    touch_account(strand::context(thread));
    restart(now);
    Guard(region)
}

#[cold]
#[inline(never)]
fn leave(region: Region) {
    if let Some((thread, now)) = thread::running() {
        region::leave(thread, now, region);
        restart(now);
    }
}

/// True if rayon called itself: the file lies in the folder of instrumented sources, of which this file's own path is
/// witness. Such calls belong to the region around them.
fn is_internal(location: &Location<'_>) -> bool {
    const HERE: &str = file!();
    // ".../<folder>/rayon-core-1.13.0/src/workspan/hooks/region.rs"
    let Some(end) = HERE.find("/src/workspan/") else {
        return false;
    };
    let Some(folder) = HERE.get(..end).and_then(|package| package.rfind('/')).and_then(|slash| HERE.get(..slash))
    else {
        return false;
    };
    location.file().starts_with(folder)
}
