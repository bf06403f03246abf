//! How a script asks.
//!
//! The script requests room ([`workspan_room`]), writes there, and calls; what comes back is a number of 64-bit floating point
//! numbers behind [`workspan_answer`]. There is one session. Whole numbers above 2^53 lose their last digits; the longest of
//! times, in nanoseconds, are 100 days.
//!
//! A change is five numbers: what it names (0 a site, 1 a site with all below, 2 a place), the site or the place's
//! [three numbers](crate::session::numbers), and its factor. An answer:
//!
//! | at | is |
//! |---|---|
//! | 0, 1, 2 | work, span, parallelism as recorded (0 if there is none) |
//! | 3, 4, 5 | the same with the changes |
//! | 6, 7, 8 | with infinite factors |
//! | 9, 10 | work and number of the strands named |
//! | from 11 | of 1, 2, 4 … 1024 processors: what the speedup is [at least and at most](mod@workspan_analysis::laws), as recorded |
//! | from 33 | the same with the changes |
//! | 55, 56 | span and parallelism with the changes if what was [merged](crate::shorten) cost nothing |
//! | from 57 | of each place on the critical path its three numbers, and its time before and after |

use std::cell::RefCell;

use workspan_analysis::strands::{Place, Point};
use workspan_analysis::what_if::{Change, Factor, Selector};
use workspan_model::{Nanos, SiteId};

use crate::predict::Predicted;
use crate::session::{numbers, Answer, Program, Session};

/// Numbers of a change.
const CHANGE: usize = 5;

#[derive(Default)]
struct State {
    room: Vec<u8>,
    answer: Vec<f64>,
    session: Option<Session>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Makes room for this number of bytes, and reports where it is.
#[expect(unsafe_code, reason = "a name for scripts")]
#[unsafe(no_mangle)]
pub extern "C" fn workspan_room(bytes: usize) -> usize {
    with(|state| {
        state.room.clear();
        state.room.resize(bytes, 0);
        state.room.as_mut_ptr() as usize
    })
}

/// Begins a session with what is in the room; 1 if it could be used.
#[expect(unsafe_code, reason = "a name for scripts")]
#[unsafe(no_mangle)]
pub extern "C" fn workspan_load() -> usize {
    with(|state| {
        state.session = Session::new(&std::mem::take(&mut state.room)).ok();
        usize::from(state.session.is_some())
    })
}

/// Answers the changes in the room: of how many numbers the answer consists, 0 if the question was none.
#[expect(unsafe_code, reason = "a name for scripts")]
#[unsafe(no_mangle)]
pub extern "C" fn workspan_ask() -> usize {
    with(|state| {
        state.answer.clear();
        let changes = changes(&std::mem::take(&mut state.room));
        if let (Some(session), Some(changes)) = (&mut state.session, changes) {
            state.answer = flat(&session.ask(changes));
        }
        state.answer.len()
    })
}

/// What the last answer's program takes on this number of processors: the answer is then four speedups, of a greedy schedule, and
/// the least, the median and the most by work stealing. None if that would [take too long](Session::predict).
#[expect(unsafe_code, reason = "a name for scripts")]
#[unsafe(no_mangle)]
pub extern "C" fn workspan_predict(processors: u32) -> usize {
    with(|state| {
        state.answer.clear();
        let predicted = state.session.as_mut().and_then(|session| session.predict(processors));
        if let Some(Predicted { greedy, stealing }) = predicted {
            state.answer.push(greedy);
            state.answer.extend(stealing);
        }
        state.answer.len()
    })
}

/// Where the answer is.
#[expect(unsafe_code, reason = "a name for scripts")]
#[unsafe(no_mangle)]
pub extern "C" fn workspan_answer() -> usize {
    with(|state| state.answer.as_ptr() as usize)
}

fn with(act: impl FnOnce(&mut State) -> usize) -> usize {
    STATE.with(|state| state.try_borrow_mut().map_or(0, |mut state| act(&mut state)))
}

/// Changes from bytes; `None` if they are none.
pub fn changes(bytes: &[u8]) -> Option<Vec<Change>> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    let numbers: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    let (changes, more) = numbers.as_chunks::<CHANGE>();
    if !rest.is_empty() || !more.is_empty() {
        return None;
    }
    changes.iter().map(change).collect()
}

fn change([what, site, before, after, factor]: &[f64; CHANGE]) -> Option<Change> {
    let factor = Factor::new(*factor)?;
    let part = match whole(*what)? {
        0 => Selector::Site(SiteId(whole(*site)?)),
        1 => Selector::Below(SiteId(whole(*site)?)),
        2 => Selector::Place(Place {
            site: whole(*site)?.checked_sub(1).map(SiteId),
            before: Point::of(whole(*before)?),
            after: Point::of(whole(*after)?),
        }),
        _ => return None,
    };
    Some(Change { part, factor })
}

fn whole(number: f64) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    (number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0).then_some(number as u32)
}

/// An answer as numbers.
pub fn flat(answer: &Answer) -> Vec<f64> {
    let program = |p: &Program| [time(p.work), time(p.span), p.parallelism.unwrap_or(0.0)];
    let mut out: Vec<f64> = [&answer.before, &answer.after, &answer.ceiling].into_iter().flat_map(program).collect();
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    out.extend([time(answer.named), answer.strands as f64]);
    for program in [&answer.before, &answer.after] {
        out.extend(program.curve().iter().flat_map(|bounds| [bounds.least, bounds.most]));
    }
    out.extend([time(answer.least.span), answer.least.parallelism.unwrap_or(0.0)]);
    for row in &answer.path {
        out.extend(numbers(&row.place).map(f64::from));
        out.extend([time(row.before), time(row.after)]);
    }
    out
}

fn time(nanos: Nanos) -> f64 {
    nanos.as_f64()
}
