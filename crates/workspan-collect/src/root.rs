//! The end of a thread's own strand.

use super::candidate;
use super::events;
use super::log;
use super::path;
use super::polls;
use super::region;
use super::shared::Shared;
use super::strand;
use super::tables::ROOT;
use super::timed;
use super::tool;
use workspan_wire::log::Event;
use workspan_wire::shm::Thread;

/// Ends the strand of `thread` for good at tick `now`, and offers its end as the program's; unless that is where another thread was which it
/// has looked for.
pub fn end_root(shared: Shared, thread: &Thread, now: u64) {
    timed::decide(thread, now, true);
    let span = strand::stop(thread, now);
    let looked = polls::looked_to_end(thread, now);
    if looked {
        log::exclude_blocked(thread, span, polls::unneeded(thread, now));
    }
    let mut charged = strand::context(thread);
    if charged == ROOT {
        charged = region::close_serial(shared, thread, span, 0);
    } else {
        strand::flush(thread);
        path::extend(shared, thread, span, charged);
    }
    if log::on(thread) {
        if tool::on(thread) {
            tool::end(thread, 0, now);
        }
        log::strand(thread, Event::End, charged, span);
        log::rest(thread);
    }
    events::nobody(thread);
    if looked {
        return;
    }
    let path = path::own(shared, strand::path(thread));
    let detached = &shared.header().detached;
    candidate::raise(&detached.burdened, strand::burdened(thread));
    candidate::offer(shared, &detached.candidate, span, path);
}
