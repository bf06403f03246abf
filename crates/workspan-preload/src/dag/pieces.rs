//! Worksharing: the chunks of a loop, the sections of a construct.
//!
//! Logically each piece forks off where the member entered the construct, and all of them join at its end; which member
//! ran which piece, and that it ran several one after the other, is accident. So a piece starts from the span at the entry,
//! and the member goes on after the longest of its pieces.
//!
//! A piece is as small as the runtime reports: a chunk. A second span assumes that the iterations of a chunk cost the same and
//! could run in parallel, too: it grows by a chunk's time over its iterations. The truth lies between the two.

use workspan_collect::log::mark;
use workspan_collect::path;
use workspan_collect::region::{self, CallSite};
use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::tables::{ContextId, ROOT};
use workspan_wire::log::Event;
use workspan_wire::shm::{Thread, OWNED};

use super::alt_spans::AltSpans;
use super::frame::Frame;
pub use super::state::pieces::Headers;
use super::state::pieces::{Divided, Pieces};
use super::{across, call, log, team};

/// `task` enters a worksharing construct of `iterations`; its strand is stopped. False if it is part of another one. `across`: by what
/// the log knows a loop whose iterations wait for one another; 0 for another one.
pub fn enter(thread: &Thread, task: &Frame, site: &CallSite, iterations: u64, across: u64) -> bool {
    let Some(extra) = task.extra(thread) else {
        return false;
    };
    if extra.pieces.get().active {
        // A loop within a chunk belongs to it (distribute parallel for).
        return false;
    }
    let iterations = if across == 0 { iterations } else { 1 };
    let here = strand::context(thread);
    // At the root, such a loop is serial code.
    let target = if here == ROOT { None } else { region::target(thread, site) };
    let context = target.map_or(here, |target| target.context);
    path::settle(thread);
    if logged(thread) {
        log::enter_loop(thread, here, target.map(|target| target.context));
    }
    extra.construct.set(region::shift(thread, context));
    if logged(thread) {
        log::fork(thread, iterations, across);
    }
    let recursive = target.is_some_and(|target| target.recursive || target.context == here);
    let ordinal = extra.pieces.get().ordinal;
    let of = target.map(|target| target.context);
    let call = task.team().map(|team| call::enter_part(thread, task, team, ordinal, of, !recursive));
    let shared = Shared::of(thread);
    let position = thread.task.position.get();
    let (entry, entry_alt) = (strand::span(thread), AltSpans::of(thread));
    let borrowed = position.path & !OWNED;
    strand::set_path(thread, borrowed);
    extra.pieces.set(Pieces {
        active: true,
        inlined: false,
        divided: if across == 0 { Divided::No } else { Divided::Across },
        shared_out: 0,
        dealt: false,
        whole: false,
        known: target.is_some(),
        recursive,
        entry,
        entry_alt,
        path: path::own(shared, borrowed),
        since: position.since,
        // Also a piece that is shorter than nothing, what hooks take being taken out, is as long as it is.
        best: i64::MIN,
        best_path: borrowed,
        best_since: position.since,
        best_alt: AltSpans::NEVER,
        iterations,
        empty: true,
        ordinal,
        call: call.unwrap_or_default(),
        headers: extra.pieces.get().headers,
    });
    path::release(shared, position.path);
    true
}

/// `task`, whose strand is stopped, is about to fork a team in a chunk of a league's loop, which may be all that it does there: the iterations
/// are that team's, then, which divides them itself.
pub fn forks(thread: &Thread, task: &Frame) {
    let divides = |pieces: &Pieces| match pieces.divided {
        Divided::No | Divided::Across => false,
        Divided::ByTeams => pieces.iterations > 1,
        Divided::ByThese => true,
    };
    if let Some(extra) = task.known_extra().filter(|extra| divides(&extra.pieces.get())) {
        piece(thread, task, 1);
        extra.pieces.set(Pieces { divided: Divided::ByThese, ..extra.pieces.get() });
    }
}

/// The construct that `task` has entered is a league's loop.
pub fn is_of_league(task: &Frame) {
    if let Some(extra) = task.known_extra() {
        extra.pieces.set(Pieces { divided: Divided::ByTeams, ..extra.pieces.get() });
    }
}

/// A piece of `iterations` begins; the strand is stopped.
pub fn piece(thread: &Thread, task: &Frame, iterations: u64) {
    let Some(extra) = task.known_extra() else {
        return;
    };
    let mut pieces = extra.pieces.get();
    if !pieces.active {
        return;
    }
    if pieces.divided == Divided::Across {
        across::chunk(thread, task);
    }
    let iterations = if pieces.whole || pieces.divided == Divided::Across { iterations.min(1) } else { iterations };
    let logged = logged(thread);
    if logged {
        log::piece(thread, Event::Next, iterations.max(1));
    }
    // What comes before the first one is a piece, too.
    piece_done(thread, &mut pieces);
    (pieces.iterations, pieces.empty) = (iterations.max(1), iterations == 0);
    if pieces.divided == Divided::ByThese {
        pieces.divided = Divided::ByTeams;
    }
    strand::set_tail(thread, pieces.path & !OWNED, pieces.since);
    strand::set_span(thread, pieces.entry);
    pieces.entry_alt.set(thread);
    if logged {
        mark(thread);
    }
    extra.pieces.set(pieces);
}

/// Of a loop whose iterations wait for one another, one has ended and the next one begun: `before` ticks ago. The strand is stopped.
pub(super) fn divide(thread: &Thread, task: &Frame, before: i64) {
    let Some(extra) = task.known_extra() else {
        return;
    };
    let mut pieces = extra.pieces.get();
    if !pieces.active {
        return;
    }
    let logged = logged(thread);
    let end = AltSpans::of(thread);
    strand::set_span(thread, strand::span(thread) - before);
    end.earlier(before).set(thread);
    if logged {
        log::lend(thread, before);
        log::piece(thread, Event::Next, 1);
    }
    piece_done(thread, &mut pieces);
    strand::set_tail(thread, pieces.path & !OWNED, pieces.since);
    strand::set_span(thread, pieces.entry + before);
    pieces.entry_alt.earlier(-before).set(thread);
    if logged {
        log::borrow(thread, before);
    }
    extra.pieces.set(pieces);
}

/// True if `task` runs iterations of a worksharing construct.
pub fn runs_some(task: &Frame) -> bool {
    task.known_extra().is_some_and(|extra| extra.pieces.get().active && !extra.pieces.get().empty)
}

/// The chunks of the construct that `task` has entered are as the program wants them: nobody may divide them.
pub fn chunks_are_whole(task: &Frame) {
    if let Some(extra) = task.known_extra() {
        extra.pieces.set(Pieces { whole: true, ..extra.pieces.get() });
    }
}

/// The iterations of the construct that `task` has entered are shared out by a fixed rule.
pub fn share_out(task: &Frame, iterations: u64) {
    if let Some(extra) = task.known_extra() {
        let shared_out = u32::try_from(iterations).unwrap_or(0);
        extra.pieces.set(Pieces { shared_out, ..extra.pieces.get() });
    }
}

/// How many those are, of all members; `None` if there is no such rule.
pub fn shared_out(task: &Frame) -> Option<u64> {
    let Pieces { shared_out, dealt, .. } = task.known_extra()?.pieces.get();
    (shared_out != 0 && !dealt).then_some(u64::from(shared_out))
}

/// The chunks of the construct that `task` has entered are dealt out by a fixed rule: `task` gets `chunks`.
pub fn deal_out(task: &Frame, chunks: u64) {
    if let Some(extra) = task.known_extra() {
        if let Ok(shared_out) = u32::try_from(chunks) {
            extra.pieces.set(Pieces { shared_out, dealt: true, ..extra.pieces.get() });
        }
    }
}

/// How many `task` gets; `None` if there is no such rule.
pub fn dealt(task: &Frame) -> Option<u64> {
    let Pieces { shared_out, dealt, .. } = task.known_extra()?.pieces.get();
    dealt.then_some(u64::from(shared_out))
}

/// What `task` knows of loops of which the runtime hears nothing; `None` in a construct that the runtime has reported.
pub fn headers(task: &Frame) -> Option<Headers> {
    let pieces = task.known_extra().map(|extra| extra.pieces.get()).unwrap_or_default();
    (!pieces.active || pieces.inlined).then_some(pieces.headers)
}

/// `task` knows this of them.
pub fn set_headers(thread: &Thread, task: &Frame, headers: Headers) {
    if let Some(extra) = task.extra(thread) {
        extra.pieces.set(Pieces { headers, ..extra.pieces.get() });
    }
}

/// `task` enters a loop whose end the runtime does not report, unless it is in a construct already.
pub fn enter_inlined(thread: &Thread, task: &Frame, site: &CallSite, iterations: u64) {
    if !enter(thread, task, site, iterations, 0) {
        return;
    }
    if let Some(extra) = task.known_extra() {
        extra.pieces.set(Pieces { inlined: true, ..extra.pieces.get() });
    }
}

/// `task` comes to where such a loop is over, if it is in one; the strand is stopped.
pub fn leave_inlined(thread: &Thread, task: &Frame) {
    if task.known_extra().is_some_and(|extra| extra.pieces.get().inlined) {
        leave(thread, task);
    }
}

/// `task` leaves the construct; the strand is stopped.
pub fn leave(thread: &Thread, task: &Frame) {
    let Some(extra) = task.known_extra() else {
        return;
    };
    let mut pieces = extra.pieces.get();
    if !pieces.active {
        return;
    }
    if pieces.divided == Divided::Across {
        across::chunks_end(thread, task);
    }
    let logged = logged(thread);
    if logged {
        log::join(thread);
    }
    // Without pieces, the whole of it was one.
    piece_done(thread, &mut pieces);
    let shared = Shared::of(thread);
    let mut path = pieces.path;
    if pieces.best_path & OWNED != 0 {
        path::release(shared, path);
        path = pieces.best_path;
    }
    strand::set_tail(thread, path, pieces.best_since);
    strand::set_span(thread, pieces.best);
    pieces.best_alt.set(thread);
    if logged {
        mark(thread);
        log::leave(thread);
    }
    if pieces.divided == Divided::Across {
        across::leave(thread, task, pieces.ordinal);
    }
    let context: ContextId = strand::context(thread);
    let ordinal = pieces.ordinal;
    extra.pieces.set(Pieces { ordinal: ordinal.wrapping_add(1), headers: pieces.headers, ..Pieces::default() });
    region::shift(thread, extra.construct.get());
    call::leave_part(thread, task, pieces.call, pieces.best - pieces.entry);
    if let Some(team) = task.team() {
        let (span, alt) = (pieces.best - pieces.entry, pieces.best_alt.beyond(pieces.entry_alt));
        let of = pieces.known.then_some((context, !pieces.recursive));
        team::share(thread, team, of, ordinal, span, alt);
    }
}

/// At the root, a loop is serial code to the log, too.
fn logged(thread: &Thread) -> bool {
    log::on(thread) && strand::context(thread) != ROOT
}

/// Keeps the longest.
fn piece_done(thread: &Thread, pieces: &mut Pieces) {
    let shared = Shared::of(thread);
    let (span, end) = (strand::span(thread), AltSpans::of(thread));
    let position = thread.task.position.get();
    if span > pieces.best {
        path::release(shared, pieces.best_path);
        (pieces.best, pieces.best_path, pieces.best_since) = (span, position.path, position.since);
    } else {
        path::release(shared, position.path);
    }
    strand::set_path(thread, pieces.path & !OWNED);
    let iterations = i64::try_from(pieces.iterations.max(1)).unwrap_or(i64::MAX);
    let entry = pieces.entry_alt.uniform;
    let uniform = entry + (end.uniform - entry) / iterations;
    pieces.best_alt = pieces.best_alt.max(AltSpans { uniform, ..end });
}
