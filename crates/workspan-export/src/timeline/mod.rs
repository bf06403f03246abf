//! Strands in time: who ran what when, and who created whom.
//!
//! [`timeline`] reads the rows three times: how long strands are, which of them lie on the critical path, what comes after
//! what. Of a thread, strands of one task and context that follow each other with nothing between are one [`Slice`]; strands
//! that take no time are none. An [`Arrow`] goes from a task's creator to its beginning, and from the end of the task that a
//! wait has waited for to what goes on. Where that strand takes no time, it is the next one that does.
//!
//! **No overlap:** a strand may be put together from what two threads did (`install`), and then seem to begin before another
//! of its thread has ended. It goes to a further lane of the thread. So slices of a lane never overlap.
//!
//! **Bound:** of more strands than four times the limit the longest are kept, of more slices than the limit the longest; of
//! those of equal length every Nth, not the first. What is excluded is [reported](LeftOut).

mod lanes;
mod select;
mod slices;

use std::ops::ControlFlow;

use workspan_analysis::strands::order::{visit, Order, TaskId, Visitor};
use workspan_analysis::strands::{critical_path, CriticalPath};
use workspan_analysis::Rows;
use workspan_model::{Clock, ContextId, Nanos, Recording, Run, Strand};

pub use select::Selection;
pub use slices::{Arrow, Lane, LeftOut, Slice, Timeline};
use slices::{Between, Kept};

/// Strands that are kept until they are merged, for each slice.
const STRANDS_PER_SLICE: u64 = 4;

/// What lies between two strands of a task where there is only a hook.
const HOOK: i64 = 100;

/// The strands of `run`, at most `limit` slices.
pub fn timeline<R: Rows + ?Sized>(
    recording: &Recording,
    run: &Run,
    rows: &R,
    limit: usize,
) -> Result<Timeline, R::Error> {
    let room = u64::try_from(limit).unwrap_or(u64::MAX);
    let mut lengths = select::Lengths::default();
    rows.read(&mut |batch| {
        batch.iter().for_each(|row| lengths.add(takes(row)));
        ControlFlow::Continue(())
    })?;
    let mut collector = Collector {
        critical: critical_path(recording, rows)?,
        next_critical: 0,
        selection: lengths.select(room.saturating_mul(STRANDS_PER_SLICE)),
        contexts: recording.contexts.len(),
        strands: Vec::new(),
        arrows: Vec::new(),
        left_out: LeftOut::default(),
    };
    visit(rows, &mut collector)?;
    let gap = if run.clock == Clock::Virtual { 0 } else { HOOK };
    Ok(lanes::arrange(collector.strands, collector.arrows, collector.left_out, gap, room))
}

/// What a strand takes: its cost, and what it was blocked. Calibration may leave a very short one less than nothing.
fn takes(row: &Strand) -> Nanos {
    (row.cost + row.blocked).at_least_zero()
}

struct Collector {
    critical: CriticalPath,
    next_critical: usize,
    selection: Selection,
    contexts: usize,
    strands: Vec<Kept>,
    arrows: Vec<Between>,
    left_out: LeftOut,
}

/// Where arrows to what follows begin: the last strand that took time.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    /// If it is kept.
    strand: Option<usize>,
    task: TaskId,
    end: Nanos,
    /// How what took no time since comes after it.
    order: Order,
}

impl Anchor {
    const NONE: Anchor = Anchor { strand: None, task: TaskId(0), end: Nanos(i64::MIN), order: Order::Continue };
}

impl Collector {
    fn is_critical(&mut self, number: u64) -> bool {
        let rows = self.critical.rows();
        while rows.get(self.next_critical).is_some_and(|row| u64::from(*row) < number) {
            self.next_critical += 1;
        }
        rows.get(self.next_critical).is_some_and(|row| u64::from(*row) == number)
    }

    fn arrow(&mut self, from: &Anchor, to: Option<usize>, order: Order) {
        match (from.strand, to) {
            (Some(from), Some(to)) => self.arrows.push(Between { from, to, order }),
            _ if from.end == Nanos(i64::MIN) => {}
            _ => self.left_out.arrows += 1,
        }
    }
}

impl Visitor for Collector {
    type End = Anchor;

    fn strand(&mut self, number: u64, row: &Strand, task: TaskId, after: &[(Anchor, Order)]) -> Anchor {
        let through = |(anchor, order): &(Anchor, Order)| match order {
            Order::Continue => *anchor,
            order => Anchor { order: *order, ..*anchor },
        };
        // Of several that are waited for, the one that was over last.
        let waits = |anchor: &Anchor| matches!(anchor.order, Order::Continue | Order::Join | Order::Wake);
        let last = after.iter().map(through).filter(waits).max_by_key(|anchor| anchor.end);
        let created = after.iter().map(through).find(|anchor| !waits(anchor));
        let takes = takes(row);
        if takes == Nanos::ZERO {
            return created.or(last).unwrap_or(Anchor::NONE);
        }
        let (start, end) = (row.start, row.start + takes);
        let strand = self.selection.keeps(takes).then_some(self.strands.len());
        let critical = self.is_critical(number);
        if strand.is_some() {
            // Damaged rows may name any context.
            let context = if row.context.index() < self.contexts { row.context } else { ContextId::ROOT };
            let (work, blocked) = (row.cost, row.blocked);
            let slice = Slice { lane: 0, start, end, work, blocked, context, task, critical, strands: 1 };
            self.strands.push(Kept { thread: row.thread, slice });
        } else {
            self.left_out.strands += 1;
            self.left_out.time += row.cost + row.blocked;
        }
        for anchor in after.iter().map(through).filter(|anchor| !waits(anchor)) {
            self.arrow(&anchor, strand, anchor.order);
        }
        if let Some(last) = last.filter(|last| last.order != Order::Continue && last.task != task) {
            self.arrow(&last, strand, last.order);
        }
        Anchor { strand, task, end, order: Order::Continue }
    }

    fn barrier(&mut self) -> Anchor {
        // All to all: nothing that arrows could show.
        Anchor::NONE
    }

    fn arrive(&mut self, _: Anchor, _: Anchor) {}
}
