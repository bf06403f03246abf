//! Callbacks about worksharing: loops, sections, and taskloops as a whole.

use core::ffi::{c_int, c_void};

use workspan_collect::region::{CallSite, Place};
use workspan_wire::shm::Thread;
use workspan_wire::site::SiteKind;

use super::abi::{dispatch as piece, work as share, Chunk, Data, BEGIN};
use super::events::{frame_in, now};
use super::first_calls;
use super::noted::{called_from, noted, Entry, IN_ORDER};
use super::shares::{self, MemberPlace};
use super::site::call_site;
use crate::dag::frame::Frame;
use crate::dag::iterations::Nest;
use crate::dag::taskloop::Loop;
use crate::dag::{across, iterations, log, pieces, range, task, taskloop};

/// A worksharing construct begins or ends.
pub extern "C" fn work(
    kind: c_int,
    endpoint: c_int,
    _region_data: *const Data,
    task_data: *const Data,
    count: u64,
    after: *const c_void,
) {
    let entry = noted();
    let Some(task) = frame_in(task_data) else { return };
    let Some(thread) = task.running_on() else { return };
    let after = called_from(task, after);
    let called = with_region(task, entry, after);
    let site = match kind {
        share::SECTIONS => SiteKind::Sections,
        share::TASKLOOP => SiteKind::Taskloop,
        share::LOOP | share::DISTRIBUTE => SiteKind::Loop,
        kind if kind >= share::LOOPS.0 && kind <= share::LOOPS.1 => SiteKind::Loop,
        share::SINGLE if endpoint == BEGIN && log::on(thread) => return log::single(thread),
        _ => return,
    };
    let at = now(thread);
    task::stop(thread, Some(at));
    if endpoint == BEGIN {
        pieces::leave_inlined(thread, task);
    }
    let site = if called.sections && site == SiteKind::Loop { SiteKind::Sections } else { site };
    let site = call_site(site, called, after);
    match (kind == share::TASKLOOP, endpoint == BEGIN) {
        (true, true) => taskloop::enter(thread, task, &site, Loop { at_once: entry.at_once, grouped: entry.grouped }),
        (true, false) => taskloop::created(thread, task),
        (false, true) => {
            range::loop_seen();
            let whole = kind == share::DYNAMIC && task.team_size() > 1;
            // Chunks of the size that the program requests are as it wants them.
            let weight = if entry.since == 0 { entry.weight } else { 0 };
            let requested = u64::from(weight & !IN_ORDER);
            if weight & IN_ORDER != 0 {
                iterations::begins(thread, task, Nest::TURNS);
            }
            let across = across::enter(thread, task, count);
            if pieces::enter(thread, task, &site, if whole { 1 } else { count.div_ceil(requested.max(1)) }, across) {
                if kind == share::DISTRIBUTE {
                    pieces::is_of_league(task);
                }
                if whole {
                    pieces::chunks_are_whole(task);
                } else if kind == share::STATIC && requested != 0 {
                    pieces::deal_out(task, shares::dealt(count, requested, place_of(task)));
                } else if kind == share::STATIC || kind == share::SECTIONS && !entry.ident.is_null() {
                    // LLVM's compilers make a static loop of sections.
                    pieces::share_out(task, count);
                }
            }
        }
        (false, false) => pieces::leave(thread, task),
    }
    task::go_long(thread, at);
    first_calls::stays(thread);
}

/// What has been noted of a construct; of one that begins with its region (gcc's `GOMP_parallel_loop_dynamic`), what was noted of that.
fn with_region(task: &Frame, entry: Entry, after: *const c_void) -> Entry {
    let called = if entry.is_none() { task.team().and_then(|team| team.called_with(after as u64)) } else { None };
    called.map_or(entry, |called| Entry {
        body: called.body as *const c_void,
        sections: called.sections,
        ..Entry::NONE
    })
}

/// A piece of a worksharing construct begins.
pub extern "C" fn dispatch(_region_data: *const Data, task_data: *const Data, kind: c_int, instance: u64) {
    let Some(task) = frame_in(task_data) else { return };
    let Some(thread) = task.running_on() else { return };
    let iterations = match kind {
        piece::SECTION => shares::sections(pieces::shared_out(task), place_of(task)),
        piece::LOOP_CHUNK | piece::DISTRIBUTE_CHUNK => {
            // SAFETY: null or a chunk that the runtime describes.
            let chunk = unsafe { (instance as *const Chunk).as_ref() }.map_or(1, |chunk| chunk.iterations);
            pieces::dealt(task)
                .or_else(|| Some(shares::chunks(pieces::shared_out(task)?, chunk, place_of(task))))
                .unwrap_or(chunk)
        }
        _ => return,
    };
    let at = now(thread);
    task::stop(thread, Some(at));
    pieces::piece(thread, task, iterations);
    task::go_long(thread, at);
    first_calls::stays(thread);
}

fn place_of(task: &Frame) -> MemberPlace {
    MemberPlace { of: u64::from(task.team_size()).max(1), number: u64::from(task.number()) }
}

/// A member of a team, whose strand is stopped, begins its part of a loop whose header the compiler has put into the program:
/// `part` of `iterations`.
#[cfg(target_arch = "x86_64")]
pub(super) fn inlined(thread: &Thread, task: &Frame, place: Place, iterations: u64, part: u64) {
    range::loop_seen();
    pieces::leave_inlined(thread, task);
    let site = CallSite { kind: SiteKind::Loop, place, type_name: || "" };
    pieces::enter_inlined(thread, task, &site, iterations);
    pieces::piece(thread, task, part);
}
