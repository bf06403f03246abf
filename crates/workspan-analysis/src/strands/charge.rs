//! What a strand adds to the span, and where that counts; and for who wants it, what becomes of the strands: the events that
//! the machine has found to be in order.

use workspan_model::{ContextId, Creation, Nanos, Strand};

use super::region::{Region, Regions};

/// A way to look at strands.
pub(crate) trait Charge {
    /// Whether it requests the places before and after a strand.
    const PLACES: bool;

    /// Whether instances are kept separate on the critical path.
    const CALLS: bool = false;

    /// Whether the critical path is reported in its own order, not by key.
    const IN_ORDER: bool = false;

    /// Units of positions in a nanosecond.
    const SCALE: i64;

    /// What the strand of a row adds to the span for its cost, and the key on the critical path. `context` is known.
    fn charge(&mut self, row: &Strand, context: ContextId, before: u32, after: u32) -> (u32, i64);

    /// What is summed along paths beside the span, of the strand that was charged last and added `cost`: by default, how
    /// many strands there are.
    #[inline(always)]
    fn secondary(&self, cost: i64) -> i64 {
        i64::from(cost != 0)
    }

    /// The key for the time that a strand of `key` was blocked.
    fn blocked(&self, key: u32) -> u32;

    /// The key that the first strand of a task in `context` most likely has.
    fn expected(&self, context: ContextId) -> u32;

    /// Branches fork off where the last strand ended; `tasks`: they are tasks, but for the first.
    #[inline(always)]
    fn fork(&mut self, context: ContextId, tasks: bool) {
        let _ = (context, tasks);
    }

    /// A branch has ended, another begins.
    #[inline(always)]
    fn next(&mut self) {}

    /// The last one has ended; all join.
    #[inline(always)]
    fn join(&mut self) {}

    /// A group of tasks begins.
    #[inline(always)]
    fn group(&mut self) {}

    /// Its tasks are waited for.
    #[inline(always)]
    fn wait(&mut self) {}

    /// A task begins. Its group, by position among the open ones, rounds of teams included; `call`: its creator waits.
    #[inline(always)]
    fn spawn(&mut self, creation: &Creation, group: Option<u32>, call: bool) {
        let _ = (creation, group, call);
    }

    /// It ends.
    #[inline(always)]
    fn end(&mut self) {}

    /// The running task's tasks are waited for.
    #[inline(always)]
    fn sync(&mut self) {}

    /// The next task comes after this one of those created since the last barrier.
    #[inline(always)]
    fn after(&mut self, number: usize) {
        let _ = number;
    }

    /// A team begins, and its first member.
    #[inline(always)]
    fn team(&mut self, _members: u32) {}

    /// A member arrives at a barrier.
    #[inline(always)]
    fn barrier(&mut self) {}

    /// A member has ended; perhaps another begins.
    #[inline(always)]
    fn member_end(&mut self) {}

    /// The team has ended.
    #[inline(always)]
    fn team_end(&mut self) {}

    /// Whoever awaits this label goes on from the last strand.
    #[inline(always)]
    fn wake(&mut self, _label: u32) {}

    /// What this label stands for is waited for.
    #[inline(always)]
    fn awaits(&mut self, _label: u32) {}

    /// Positions in nanoseconds.
    fn nanos(position: i64) -> Nanos {
        // To the nearest.
        Nanos(position.saturating_add(Self::SCALE / 2).div_euclid(Self::SCALE))
    }
}

/// As recorded: the cost, by context; and the calls, if they are requested.
#[derive(Debug)]
pub(crate) struct ByContext<const WITH_CALLS: bool>;

/// Without the calls.
pub(crate) type Plain = ByContext<false>;
/// With them.
pub(crate) type ByCall = ByContext<true>;

impl<const WITH_CALLS: bool> Charge for ByContext<WITH_CALLS> {
    const PLACES: bool = false;
    const CALLS: bool = WITH_CALLS;
    const SCALE: i64 = 1;

    #[inline(always)]
    fn charge(&mut self, row: &Strand, context: ContextId, _: u32, _: u32) -> (u32, i64) {
        (context.0, row.cost.0)
    }

    #[inline(always)]
    fn blocked(&self, key: u32) -> u32 {
        key
    }

    #[inline(always)]
    fn expected(&self, context: ContextId) -> u32 {
        context.0
    }
}

/// By region of the source, with the cost of each divided by a factor of its own.
pub(crate) struct ByRegion<'a> {
    pub(crate) regions: Regions,
    /// Per region.
    pub(crate) seen: Vec<Seen>,
    /// The factor of a new region.
    factor: FactorOf<'a>,
}

/// The factor by which the cost of a region's strands is divided.
pub(crate) type FactorOf<'a> = Box<dyn Fn(&Region) -> f64 + 'a>;

/// What there is of a region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) work: i64,
    pub(crate) strands: u64,
    pub(crate) factor: f64,
}

impl<'a> ByRegion<'a> {
    pub(crate) fn new(factor: FactorOf<'a>) -> ByRegion<'a> {
        ByRegion { regions: Regions::new(), seen: Vec::new(), factor }
    }
}

impl Charge for ByRegion<'_> {
    const PLACES: bool = true;
    const SCALE: i64 = 1024;

    #[inline(always)]
    fn charge(&mut self, row: &Strand, context: ContextId, before: u32, after: u32) -> (u32, i64) {
        let id = self.regions.find(context, before, after);
        let index = id as usize;
        if index >= self.seen.len() {
            let region = self.regions.get(id);
            self.seen.push(Seen { work: 0, strands: 0, factor: (self.factor)(&region) });
        }
        let seen = &mut self.seen[index];
        let cost = row.cost.0;
        seen.work = seen.work.saturating_add(cost);
        seen.strands += u64::from(cost != 0);
        let whole = cost.saturating_mul(Self::SCALE);
        #[expect(clippy::float_cmp, reason = "a factor of one is exactly that")]
        let divided = if seen.factor == 1.0 { whole } else { divide(whole, seen.factor) };
        (id * 2, divided)
    }

    #[inline(always)]
    fn blocked(&self, key: u32) -> u32 {
        key | 1
    }

    #[inline(always)]
    fn expected(&self, _: ContextId) -> u32 {
        u32::MAX
    }
}

/// To the nearest; exact if it comes out even and is below 2^53.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "documented; saturates")]
pub(crate) fn divide(cost: i64, factor: f64) -> i64 {
    let quotient = cost as f64 / factor;
    // `round` is a call on most processors.
    (quotient + 0.5f64.copysign(quotient)) as i64
}
