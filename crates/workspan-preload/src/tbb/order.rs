//! In which order a serial stage of a pipeline takes items: in the program's, or in any.
//!
//! In the program's order it begins with an item behind the item before. A stage that takes items in any order is a resource, which is
//! busy with one at a time. In which order it has met them is an accident of the schedule: an item of a thread that was late comes last,
//! though its span is small. So such a stage knows when it was idle, in spans, and takes an item in the first of these gaps that is
//! long enough for the longest that it has met ([`Order::begin`]); behind all others if there is none.
//!
//! **Invariant:** times in which it is busy do not overlap, but for an item that takes longer in a gap than all before.
//!
//! **Cost:** one reading of the clock and one node of a path for an item, and a look at [`GAPS`] gaps where the order
//! is free. Whoever has the stage has its order.

use core::cell::Cell;
use core::ptr;

use workspan_collect::shared::Shared;
use workspan_collect::strand;
use workspan_collect::waits::Wait;
use workspan_wire::shm::Thread;

use crate::dag::pool;
use crate::sync::waiters::Left;

/// More are not remembered: the shortest is given up.
const GAPS: usize = 4;

/// The stage was idle.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// Behind this; `None`: from the begin of the pipeline on.
    from: Option<Left>,
    /// The absolute span at which it was busy again.
    until: u64,
}

/// The order of one stage.
#[derive(Debug)]
pub struct Order {
    /// Items may come in any order.
    is_free: bool,
    /// What its last item left.
    last: Cell<Option<Left>>,
    gaps: [Cell<Option<Gap>>; GAPS],
    /// The gap in which it has begun with an item.
    within: Cell<Option<Gap>>,
    /// The absolute span at which it has begun.
    begun: Cell<u64>,
    /// The longest item so far.
    longest: Cell<u64>,
}

impl Order {
    /// Of a stage that takes items in any order, or not. `None`: no memory.
    pub fn take(thread: &Thread, is_free: bool) -> Option<&'static Order> {
        let at = pool::take::<Order>(thread)?;
        let order = Order {
            is_free,
            last: Cell::new(None),
            gaps: [const { Cell::new(None) }; GAPS],
            within: Cell::new(None),
            begun: Cell::new(0),
            longest: Cell::new(0),
        };
        // SAFETY: a fresh block, large and aligned enough; blocks are never unmapped, and this one is not given back before the pipeline is
        // over.
        unsafe {
            at.write(order);
            Some(&*at)
        }
    }

    /// The pipeline is over.
    pub fn give(&'static self, thread: &Thread) {
        let shared = Shared::of(thread);
        let gaps = self.gaps.iter().chain([&self.within]);
        let left = gaps.filter_map(|gap| gap.take()?.from).chain(self.last.take());
        left.for_each(|left| left.release(shared));
        // SAFETY: made by `take`, and nobody has the stage any more.
        unsafe { pool::give(thread, ptr::from_ref(self)) };
    }

    /// The stage begins with an item, to which the strand of `thread` has come at tick `now`.
    pub fn begin(&self, thread: &'static Thread, now: u64) {
        let wait = Wait::begin_at(thread, now);
        let behind = match self.is_free {
            false => self.last.take(),
            true => self.first_free(Shared::of(thread), strand::span(thread).cast_unsigned()),
        };
        match behind {
            Some(left) => {
                wait.end_behind(now, left.at, Some(left.parts()));
            }
            None => {
                wait.end_unknown(now);
            }
        }
        self.begun.set(strand::span(thread).cast_unsigned());
    }

    /// What an item that has come at the span `came` begins behind; `None`: at once.
    fn first_free(&self, shared: Shared, came: u64) -> Option<Left> {
        let begin = |gap: &Gap| gap.from.map_or(came, |from| from.actual().max(came));
        let fits = |gap: &Gap| begin(gap) + self.longest.get() <= gap.until;
        let fitting = self.gaps.iter().filter_map(|at| Some((at, at.get().filter(fits)?)));
        let Some((at, gap)) = fitting.min_by_key(|(_, gap)| begin(gap)) else {
            let last = self.last.take();
            if last.is_some_and(|last| last.actual() >= came) {
                return last;
            }
            self.keep(shared, Gap { from: last, until: came });
            return None;
        };
        at.set(None);
        self.within.set(Some(gap));
        gap.from.filter(|from| from.actual() > came).map(|from| from.copy(shared))
    }

    /// The stage has ended with the item, and `left` is its own.
    pub fn end(&self, shared: Shared, left: Left) {
        let (begun, ended) = (self.begun.get(), left.actual());
        self.longest.set(self.longest.get().max(ended.saturating_sub(begun)));
        let Some(Gap { from, until }) = self.within.take() else {
            if let Some(before) = self.last.replace(Some(left)) {
                before.release(shared);
            }
            return;
        };
        self.keep(shared, Gap { from, until: begun });
        self.keep(shared, Gap { from: Some(left), until });
    }

    /// `gap` may be filled; the shortest is given up where there are too many.
    fn keep(&self, shared: Shared, gap: Gap) {
        let length = |gap: &Gap| gap.until.saturating_sub(gap.from.map_or(0, |from| from.actual()));
        let shortest = self.gaps.iter().min_by_key(|at| at.get().as_ref().map_or(0, length));
        let given_up = match shortest {
            Some(at) if at.get().as_ref().map_or(0, length) < length(&gap) => at.replace(Some(gap)),
            _ => Some(gap),
        };
        if let Some(left) = given_up.and_then(|gap| gap.from) {
            left.release(shared);
        }
    }
}
