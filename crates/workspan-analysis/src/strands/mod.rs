//! Analyses of a run that was recorded strand by strand.
//!
//! All of them read the [rows](workspan_model::strand) once, in serial order, with memory for the constructs that are open,
//! not for the run: [`replay`] gives what the collector reports on the fly, [`regions`] the same by region of the source,
//! [`walk()`] the critical path in order,
//! [`mod@order`] what comes after what. Only [`critical_path`], which names rows, needs memory for them.
//! Both are total: rows that break the rules are counted ([`Problems`]) and skipped.
//!
//! Definitions: `docs/methods/what-if.md`. Sources: TaskProf 3.3.1 (Alg. 6 and 7, here in one pass), 4.2.

mod accounts;
mod calls;
mod charge;
mod critical;
mod frames;
mod machine;
pub mod merge;
pub mod order;
mod path;
mod places;
mod position;
mod problem;
mod region;
mod result;
mod rows;
mod running;
mod tables;
mod teams;
mod walk;

use std::ops::ControlFlow;

use workspan_model::{Nanos, Recording, Strand};

pub use critical::{critical_path, CriticalPath};
pub use places::{places, regions, RegionProfile, RegionRow};
pub use problem::{Problem, Problems, MOST_OPEN};
pub(crate) use region::Regions;
pub use region::{Place, Point, Region, RegionId};
pub use result::Replayed;
pub use rows::Rows;
pub use walk::{coarsened, walk, Step};

pub(crate) use calls::{CallKey, View};
pub(crate) use charge::{divide, ByContext, ByRegion, Charge, FactorOf, Plain, Seen};
pub(crate) use machine::Machine;
pub(crate) use result::Finished;

/// Replays the rows of a run of `recording`.
pub fn replay<R: Rows + ?Sized>(recording: &Recording, rows: &R) -> Result<Replayed, R::Error> {
    let finished = run(rows, || vec![Machine::new(recording, ByContext)])?;
    Ok(finished.into_iter().next().map(Finished::<Plain>::into_replayed).unwrap_or_default())
}

/// The span if what can be stolen is stolen, and a steal costs so much.
pub fn burdened_span<R: Rows + ?Sized>(recording: &Recording, rows: &R, steal: Nanos) -> Result<Nanos, R::Error> {
    let finished = run(rows, || vec![Machine::<Plain>::new(recording, ByContext).with_burden(steal)])?;
    Ok(finished.first().map(|finished| finished.span).unwrap_or_default())
}

/// Lets machines read all rows. They read them again if it turns out that they must keep the ends of tasks.
pub(crate) fn run<R: Rows + ?Sized, C: Charge>(
    rows: &R,
    machines: impl Fn() -> Vec<Machine<C>>,
) -> Result<Vec<Finished<C>>, R::Error> {
    let mut current = machines();
    feed(rows, &mut current)?;
    if current.iter().any(Machine::needs_ends) {
        current = machines().into_iter().map(Machine::keep_ends).collect();
        feed(rows, &mut current)?;
    }
    Ok(current.into_iter().map(Machine::finish).collect())
}

fn feed<R: Rows + ?Sized, C: Charge>(rows: &R, machines: &mut [Machine<C>]) -> Result<(), R::Error> {
    rows.read(&mut |batch| {
        for machine in machines.iter_mut() {
            machine.feed(batch);
        }
        if machines.iter().any(Machine::needs_ends) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
}

/// A replay that is given its rows, for who has them in passing.
#[derive(Debug)]
pub struct Replay(Machine<Plain>);

impl Replay {
    /// Before the first row of a run of `recording`.
    pub fn new(recording: &Recording) -> Replay {
        Replay(Machine::new(recording, ByContext))
    }

    /// For rows in which tasks come [after](workspan_model::Event::After) others: the ends of tasks are kept for as long as
    /// the task that created them is open. Without, such an order is a [problem](Problem::UnknownTask).
    pub fn with_dependences(self) -> Replay {
        Replay(self.0.keep_ends())
    }

    /// The next rows.
    pub fn feed(&mut self, rows: &[Strand]) {
        self.0.feed(rows);
    }

    /// No more rows.
    pub fn finish(self) -> Replayed {
        self.0.finish().into_replayed()
    }
}
