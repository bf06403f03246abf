//! Loops whose iterations wait for one another, as the members of a team see them.

use core::cell::Cell;
use core::mem::size_of;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use workspan_collect::path;
use workspan_collect::platform;
use workspan_collect::shared::Shared;
use workspan_wire::log::{ACROSS, ITERATION_BITS};
use workspan_wire::shm::Spans;

use crate::dag::patience::{patiently, HALF_A_SECOND};

/// Dimensions of a loop: as many as an entry point of gcc's has in registers (`ompt::alone`).
const DIMENSIONS: usize = 6;
/// Iterations that are known at the same time: further ones take the places of earlier ones.
const PLACES: u64 = 1 << 18;
/// Iterations are below this, as far as labels distinguish them.
const NUMBER: u64 = (1 << ITERATION_BITS) - 1;

static SERIAL: AtomicU64 = AtomicU64::new(0);

/// One of the loops of a nest: its bounds and its step, as libomp takes them. clang passes a number behind the last one.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Dimension {
    low: i64,
    up: i64,
    step: i64,
}

impl Dimension {
    /// Of its iterations, from 0, the one at `value`; `None` if it is outside.
    fn number(self, value: i64) -> Option<u64> {
        let Dimension { low, up, step } = self;
        let (from, to) = if step > 0 { (low, up) } else { (up, low) };
        (from <= value && value <= to && step != 0)
            .then(|| value.wrapping_sub(low).unsigned_abs() / step.unsigned_abs())
    }

    /// Numbers up to the bound.
    fn count(self) -> u64 {
        self.number(self.up).map_or(0, |last| last + 1)
    }
}

/// The loops of a nest, from the outside inward.
#[derive(Clone, Copy, Debug)]
pub struct Nest<'a> {
    /// Each of them.
    pub dimensions: &'a [Dimension],
    /// Their upper bounds are no iterations.
    pub beyond: bool,
}

impl Nest<'_> {
    /// Of a loop whose iterations do something in their order: what one leaves is for the next alone.
    pub const TURNS: Nest<'static> = Nest { dimensions: &[Dimension { low: 0, up: 1, step: 1 }], beyond: false };
}

/// What an iteration that has come to its source has left.
#[repr(C)]
struct Place {
    /// Its number + 1; 0 for none.
    of: AtomicU64,
    busy: AtomicU32,
    path: AtomicU32,
    spans: [AtomicI64; 3],
}

impl Place {
    /// Looks at the place while nobody else does. `None`: somebody has not let go of it for long.
    fn with<R>(&self, look: impl FnOnce(&Place) -> R) -> Option<R> {
        let take = || self.busy.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if !take() && !patiently(HALF_A_SECOND, take) {
            return None;
        }
        let result = look(self);
        self.busy.store(0, Ordering::Release);
        Some(result)
    }

    fn take_path(&self) -> Option<u32> {
        (self.of.swap(0, Ordering::Relaxed) != 0).then(|| self.path.load(Ordering::Relaxed))
    }
}

/// One instance of such a loop, in a mapping of its own. Behind it there is a [`Part`] for each member, and a [`Place`] for each
/// iteration, up to a number of them.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Across {
    /// Members that have left it.
    left: AtomicU32,
    /// Members of the team.
    members: u32,
    /// Among all.
    serial: u64,
    dimensions: [Dimension; DIMENSIONS],
    used: usize,
    /// The upper bounds are no iterations.
    beyond: bool,
    /// Regions in the order of the iterations that have ended ([`Nest::TURNS`]).
    turns: AtomicU64,
    places: u64,
    length: usize,
}

/// A slot of a team has the address of a loop, and the last bits of which of the members' constructs it is: mappings begin on pages.
const ORDINAL: u64 = 0xfff;

fn in_slot(at: NonNull<Across>, ordinal: u32) -> u64 {
    at.as_ptr() as u64 | u64::from(ordinal) & ORDINAL
}

/// The loop in a slot that has this.
fn of_slot(word: u64) -> Option<NonNull<Across>> {
    NonNull::new((word & !ORDINAL) as *mut Across)
}

impl Across {
    /// The loop in `slot` if it is the `ordinal`-th construct.
    pub(in crate::dag) fn known(slot: &AtomicU64, ordinal: u32) -> Option<NonNull<Across>> {
        let word = slot.load(Ordering::Acquire);
        of_slot(word).filter(|at| in_slot(*at, ordinal) == word)
    }

    /// True if another loop is in `slot`.
    pub(in crate::dag) fn is_taken(slot: &AtomicU64, ordinal: u32) -> bool {
        let word = slot.load(Ordering::Acquire);
        of_slot(word).is_some_and(|at| in_slot(at, ordinal) != word)
    }

    /// The loop in `slot`, made if there is none. `None`: there is another one, or no room.
    pub(in crate::dag) fn meet(
        slot: &AtomicU64,
        ordinal: u32,
        members: u32,
        nest: Nest<'_>,
    ) -> Option<NonNull<Across>> {
        // Members that are behind, in the loop before, do not wait for this one, whose iterations there are over.
        if Across::is_taken(slot, ordinal) && !patiently(HALF_A_SECOND, || !Across::is_taken(slot, ordinal)) {
            return None;
        }
        if slot.load(Ordering::Acquire) == 0 {
            let new = Across::new(members, nest)?;
            if slot.compare_exchange(0, in_slot(new, ordinal), Ordering::AcqRel, Ordering::Acquire).is_err() {
                // SAFETY: nobody else has seen it.
                unsafe { Across::unmap(new) };
            }
        }
        Across::known(slot, ordinal)
    }

    fn new(members: u32, Nest { dimensions, beyond }: Nest<'_>) -> Option<NonNull<Across>> {
        let mut known = [Dimension::default(); DIMENSIONS];
        known.get_mut(..dimensions.len())?.copy_from_slice(dimensions);
        let all = dimensions.iter().try_fold(1u64, |all, one| all.checked_mul(one.count()))?;
        if all > NUMBER {
            return None;
        }
        let places = all.clamp(1, PLACES);
        let parts = size_of::<Cell<Part>>() * members as usize;
        let length = size_of::<Across>() + parts + usize::try_from(places).ok()? * size_of::<Place>();
        let at = platform::map_private(length, false)?.cast::<Across>();
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed) + 1;
        let (left, used, turns) = (AtomicU32::new(0), dimensions.len(), AtomicU64::new(0));
        // SAFETY: fresh memory, large and aligned enough. The zeros behind it are parts of members that have come to no iteration, and
        // places of no iteration.
        unsafe { at.write(Across { left, members, serial, dimensions: known, used, beyond, turns, places, length }) };
        Some(at)
    }

    /// A member leaves it; the last one gives it back.
    ///
    /// # Safety
    ///
    /// The member has met it in `slot`, and does not look at it again.
    pub(in crate::dag) unsafe fn leave(this: NonNull<Across>, shared: Shared, slot: &AtomicU64) {
        // SAFETY: not unmapped before this member has left it.
        let across = unsafe { this.as_ref() };
        if across.left.fetch_add(1, Ordering::AcqRel) + 1 >= across.members {
            slot.store(0, Ordering::Release);
            // SAFETY: all members have left.
            unsafe { Across::free(this, shared) };
        }
    }

    /// Gives back what is in `slot`, if anything is.
    ///
    /// # Safety
    ///
    /// All members have ended.
    pub(in crate::dag) unsafe fn clear(slot: &AtomicU64, shared: Shared) {
        if let Some(this) = of_slot(slot.load(Ordering::Acquire)) {
            // SAFETY: the caller's promise.
            unsafe { Across::free(this, shared) };
        }
    }

    unsafe fn free(this: NonNull<Across>, shared: Shared) {
        // SAFETY: nobody looks at it any more, as callers say; so the reference ends before the mapping.
        let across = unsafe { this.as_ref() };
        (0..across.places).filter_map(|number| across.place(number).take_path()).for_each(|p| path::release(shared, p));
        // SAFETY: the same.
        unsafe { Across::unmap(this) };
    }

    unsafe fn unmap(this: NonNull<Across>) {
        // SAFETY: it is there yet.
        let length = unsafe { this.as_ref() }.length;
        // SAFETY: mapped by `new` with that length, and nobody looks at it any more, as callers say.
        unsafe { platform::unmap(this.as_ptr() as usize, length) };
    }

    /// What the member of this number knows, which nobody else looks at.
    pub(in crate::dag) fn part(&self, number: u32) -> &Cell<Part> {
        let first = ptr::from_ref(self).wrapping_add(1).cast::<Cell<Part>>();
        // SAFETY: there is one for each member behind this, of zeros at first, which are a part.
        unsafe { &*first.wrapping_add(number.min(self.members - 1) as usize) }
    }

    fn place(&self, number: u64) -> &Place {
        let index = (number % self.places) as usize;
        let parts = ptr::from_ref(self).wrapping_add(1).cast::<Cell<Part>>();
        let first = parts.wrapping_add(self.members as usize).cast::<Place>();
        // SAFETY: there is one for each number below `places` behind the parts, of zeros at first, which are a place of no iteration.
        unsafe { &*first.wrapping_add(index) }
    }

    /// How many loops there are, one in the other.
    pub(in crate::dag) fn used(&self) -> usize {
        self.used
    }

    /// How many iterations all loops have together.
    pub(in crate::dag) fn all(&self) -> u64 {
        self.dimensions[..self.used].iter().map(|one| self.iterations(*one)).product()
    }

    fn iterations(&self, one: Dimension) -> u64 {
        one.count().saturating_sub(u64::from(self.beyond))
    }

    /// The number of the iteration of these values; `None`: there is none.
    pub(in crate::dag) fn number(&self, values: &[i64]) -> Option<u64> {
        let mut pairs = self.dimensions[..self.used].iter().zip(values);
        pairs.try_fold(0u64, |number, (one, value)| Some(number * one.count() + one.number(*value)?))
    }

    /// True if it is the last one of the inner loops.
    pub(in crate::dag) fn is_last_inside(&self, values: &[i64]) -> bool {
        let mut inner = self.dimensions[..self.used].iter().zip(values).skip(1);
        inner.all(|(one, value)| one.number(*value).is_some_and(|number| number + 1 == self.iterations(*one)))
    }

    /// How many such regions have ended.
    pub(in crate::dag) fn turns(&self) -> u64 {
        self.turns.load(Ordering::Acquire)
    }

    /// One more has, which the running strand was in.
    pub(in crate::dag) fn next_turn(&self) {
        self.turns.store(self.turns() + 1, Ordering::Release);
    }

    /// By which the log knows it: the first bit is set, and the last ones, which are an iteration's in [`Across::label`], are 0.
    pub(in crate::dag) fn identity(&self) -> u64 {
        ACROSS | (self.serial << ITERATION_BITS) & !ACROSS
    }

    /// By which the log knows an iteration.
    pub(in crate::dag) fn label(&self, number: u64) -> u64 {
        self.identity() | number & NUMBER
    }

    /// The iteration of this number has come there, by a path that the table has from now on.
    pub(in crate::dag) fn put(&self, shared: Shared, number: u64, spans: Spans, path: u32) {
        let before = self.place(number).with(|place| {
            let before = place.take_path();
            let Spans { actual, uniform, burdened } = spans;
            place
                .spans
                .iter()
                .zip([actual, uniform, burdened])
                .for_each(|(to, span)| to.store(span, Ordering::Relaxed));
            place.path.store(path, Ordering::Relaxed);
            place.of.store(number + 1, Ordering::Relaxed);
            before
        });
        if let Some(old) = before.unwrap_or(Some(path)) {
            path::release(shared, old);
        }
    }

    /// Where that one has come, with a path that is the caller's.
    pub(in crate::dag) fn look(&self, shared: Shared, number: u64) -> Option<(Spans, u32)> {
        let look = |place: &Place| {
            (place.of.load(Ordering::Relaxed) == number + 1).then(|| {
                let [actual, uniform, burdened] = place.spans.each_ref().map(|span| span.load(Ordering::Relaxed));
                (Spans { actual, uniform, burdened }, path::own(shared, place.path.load(Ordering::Relaxed)))
            })
        };
        self.place(number).with(look)?
    }
}

/// What a member knows of such a loop. All of its zeros are one that has come to no iteration.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(in crate::dag) struct Part {
    /// Each iteration of the nest is one that the runtime distributes.
    pub(in crate::dag) each: bool,
    /// It has come to where an iteration waits or has its source, in this chunk.
    pub(in crate::dag) met: bool,
    /// It is in code between sinks and source.
    pub(in crate::dag) inside: bool,
    /// That has a context of its own.
    pub(in crate::dag) shown: bool,
    /// An iteration has had its source, and the next one has not begun.
    pub(in crate::dag) posted: bool,
    /// Work at which the chunk began.
    pub(in crate::dag) begun: i64,
    /// Work in the chunk's first iteration before it came there.
    pub(in crate::dag) first: i64,
    /// Work at that source.
    pub(in crate::dag) source: i64,
    /// Spans under assumptions where that code began.
    pub(in crate::dag) uniform: i64,
    /// The same with steals.
    pub(in crate::dag) burdened: i64,
}
