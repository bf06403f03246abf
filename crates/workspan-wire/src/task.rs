//! The state of a task: where it stands, what it has done, how long the chains to it are.
//!
//! While a task runs, its thread has its state in cells ([`TaskCells`]); while it is suspended, its frame has a copy
//! ([`TaskState`]). A copy is all or nothing: [`TaskCells::get`] and [`TaskCells::set`] name every field.

use core::cell::Cell;

/// Where a strand stands: in which context, and on which path. Copied as a whole at a fork.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Position {
    /// Critical path up to `since`: node, with [`OWNED`](super::path::OWNED) if this strand may extend it.
    pub path: u32,
    /// Context.
    pub context: u32,
    /// Absolute span up to which `path` accounts.
    pub since: i64,
}

/// The three spans that go side by side, by the same rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Spans<T = i64> {
    /// As it was.
    pub actual: T,
    /// With only the order that the program demands: if every iteration of a loop cost the same, and could run by itself, and
    /// nobody waited for a lock.
    pub uniform: T,
    /// If all were stolen that can be.
    pub burdened: T,
}

impl Spans {
    /// All the same.
    pub const fn all(span: i64) -> Spans {
        Spans { actual: span, uniform: span, burdened: span }
    }

    /// The later of both, each by itself.
    pub fn later(self, other: Spans) -> Spans {
        Spans {
            actual: self.actual.max(other.actual),
            uniform: self.uniform.max(other.uniform),
            burdened: self.burdened.max(other.burdened),
        }
    }
}

impl Spans<Cell<i64>> {
    /// The values.
    #[inline(always)]
    pub fn get(&self) -> Spans {
        Spans { actual: self.actual.get(), uniform: self.uniform.get(), burdened: self.burdened.get() }
    }

    /// Replaces the values.
    #[inline(always)]
    pub fn set(&self, Spans { actual, uniform, burdened }: Spans) {
        self.actual.set(actual);
        self.uniform.set(uniform);
        self.burdened.set(burdened);
    }

    /// Adds to each of them.
    #[inline(always)]
    pub fn advance(&self, ticks: i64) {
        let Spans { actual, uniform, burdened } = self.get();
        self.set(Spans { actual: actual + ticks, uniform: uniform + ticks, burdened: burdened + ticks });
    }
}

/// The state of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskState {
    /// Where the running strand stands.
    pub position: Position,
    /// Work of the task so far, descendants included.
    pub work: i64,
    /// Absolute spans less `work`.
    pub offsets: Spans,
    /// Of `work`: done in tasks that the task has spawned.
    pub nested: i64,
    /// Of `work`: already added to the account of the context.
    pub flushed: i64,
    /// Source location of the current region (address), to see at once that a call is a recursion.
    pub location: u64,
    /// Span before the task began that `path` does not account for yet (with [`PREFIXED`](super::path::PREFIXED)).
    pub prefix: i64,
    /// Work of teams that the task has forked and that have ended; in no `work`.
    pub teams_work: i64,
    /// Context of the ticks in `prefix`.
    pub prefix_context: u32,
    /// Site + 1 of the last region that the root strand left, which runs here.
    pub last_region: u32,
    /// 1 while no strand runs.
    pub waiting: u32,
    /// The call that the task is: 0 none, or none that is awaited; [`CALL_WANTED`]; else its number.
    pub call: u32,
}

/// The same in cells of the task's thread; the fields are those of [`TaskState`].
#[derive(Debug)]
#[repr(C)]
#[expect(missing_docs, reason = "as in `TaskState`")]
pub struct TaskCells {
    pub position: Cell<Position>,
    pub work: Cell<i64>,
    pub offsets: Spans<Cell<i64>>,
    pub nested: Cell<i64>,
    pub flushed: Cell<i64>,
    pub location: Cell<u64>,
    pub prefix: Cell<i64>,
    pub teams_work: Cell<i64>,
    pub prefix_context: Cell<u32>,
    pub last_region: Cell<u32>,
    pub waiting: Cell<u32>,
    pub call: Cell<u32>,
}

impl TaskCells {
    /// A copy.
    #[inline(always)]
    pub fn get(&self) -> TaskState {
        TaskState {
            position: self.position.get(),
            work: self.work.get(),
            offsets: self.offsets.get(),
            nested: self.nested.get(),
            flushed: self.flushed.get(),
            location: self.location.get(),
            prefix: self.prefix.get(),
            teams_work: self.teams_work.get(),
            prefix_context: self.prefix_context.get(),
            last_region: self.last_region.get(),
            waiting: self.waiting.get(),
            call: self.call.get(),
        }
    }

    /// Replaces all of it.
    #[inline(always)]
    pub fn set(&self, state: TaskState) {
        let TaskState {
            position,
            work,
            offsets,
            nested,
            flushed,
            location,
            prefix,
            teams_work,
            prefix_context,
            last_region,
            waiting,
            call,
        } = state;
        self.position.set(position);
        self.work.set(work);
        self.offsets.set(offsets);
        self.nested.set(nested);
        self.flushed.set(flushed);
        self.location.set(location);
        self.prefix.set(prefix);
        self.teams_work.set(teams_work);
        self.prefix_context.set(prefix_context);
        self.last_region.set(last_region);
        self.waiting.set(waiting);
        self.call.set(call);
    }
}

/// In place of a call's number: the path is to be marked with it when its prefix is added.
pub const CALL_WANTED: u32 = u32::MAX;
