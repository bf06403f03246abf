//! What rows amount to.

use workspan_model::{Nanos, OpenRegion, Run, Totals};

use super::calls::Calls;
use super::charge::{ByRegion, Charge, Plain};
use super::frames::Frame;
use super::machine::Machine;
use super::path::Stretch;
use super::problem::{Problem, Problems};

/// What the strands of a run amount to: what a collector tells without recording them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replayed {
    /// Rows read.
    pub strands: u64,
    /// Cost of all strands.
    pub work: Nanos,
    /// Longest chain of strands.
    pub span: Nanos,
    /// As [`Run::uniform_span`].
    pub uniform_span: Nanos,
    /// Per context, in the order of the recording's tree. Time waited for locks is not in rows.
    pub totals: Vec<Totals>,
    /// Per context: its share of the critical path. Sums to `span`.
    pub critical: Vec<Nanos>,
    /// Regions that had not ended.
    pub open: Vec<OpenRegion>,
    /// Time strands were blocked.
    pub blocked: Nanos,
    /// Threads that ran strands.
    pub threads: u32,
    /// What was wrong with the rows.
    pub problems: Problems,
}

impl Replayed {
    /// The run that was recorded, with what its strands amount to in place of what the collector told.
    pub fn into_run(self, recorded: &Run) -> Run {
        let mut totals = self.totals;
        for (new, old) in totals.iter_mut().zip(&recorded.totals) {
            (new.contended, new.lock) = (old.contended, old.lock);
        }
        Run {
            span: self.span,
            uniform_span: self.uniform_span,
            // Another replay tells it, not this one.
            burdened_span: Nanos::ZERO,
            steal: Nanos::ZERO,
            totals,
            critical: self.critical,
            lost_path: Nanos::ZERO,
            open: self.open,
            blocked: self.blocked,
            ..recorded.clone()
        }
    }
}

/// What a machine has when all rows are read.
#[derive(Debug)]
pub(crate) struct Finished<C> {
    pub(crate) charge: C,
    pub(crate) rows: u64,
    pub(crate) work: Nanos,
    pub(crate) blocked: Nanos,
    pub(crate) span: Nanos,
    pub(crate) uniform_span: Nanos,
    pub(crate) totals: Vec<Totals>,
    /// The critical path, in the units of positions: by key, ascending, or [in its order](Charge::IN_ORDER).
    pub(crate) path: Vec<OnPath>,
    pub(crate) open: Vec<OpenRegion>,
    pub(crate) threads: u32,
    pub(crate) problems: Problems,
    pub(super) calls: Calls,
}

/// A key's part of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnPath {
    pub(crate) key: u32,
    pub(crate) span: i64,
    /// What it has [beside](super::Charge::beside) that.
    pub(crate) beside: i64,
    /// Of calls: their work.
    pub(crate) work: i64,
}

impl<C: Charge> Machine<C> {
    /// Ends what is open, and adds up.
    pub(crate) fn finish(mut self) -> Finished<C> {
        self.unwind();
        let mut uniform = self.uniform;
        let mut tail = self.tail;
        let detached = self.detached;
        self.paths.join(&mut tail, detached);
        uniform = uniform.max(self.detached_uniform);
        self.paths.settle(&mut tail);
        let mut stretches: Vec<Stretch> = self.paths.stretches(tail.path).collect();
        if C::IN_ORDER {
            stretches.reverse();
        } else {
            stretches.sort_unstable_by_key(|stretch| stretch.key);
        }
        let mut path: Vec<OnPath> = Vec::new();
        for Stretch { key, span, beside, work } in stretches {
            match path.last_mut().filter(|last| last.key == key) {
                Some(last) => {
                    last.span = last.span.saturating_add(span);
                    last.beside = last.beside.saturating_add(beside);
                    last.work = last.work.saturating_add(work);
                }
                None => path.push(OnPath { key, span, beside, work }),
            }
        }
        Finished {
            rows: self.rows,
            work: Nanos(self.work),
            blocked: Nanos(self.blocked),
            span: C::nanos(tail.span),
            uniform_span: if self.loops { C::nanos(uniform) } else { Nanos::ZERO },
            totals: self.accounts.totals(C::nanos, self.loops),
            path,
            open: std::mem::take(&mut self.open),
            threads: self.threads(),
            problems: self.problems,
            calls: self.calls,
            charge: self.charge,
        }
    }

    /// Whatever is open ends here. Instances of regions that had not ended are not counted, but told.
    fn unwind(&mut self) {
        for _ in 0..self.frames.len() {
            self.problems.add(Problem::Unfinished, self.rows);
        }
        loop {
            match self.frames.pop() {
                None => return,
                Some(Frame::Fork(mut fork)) => self.join_branches(&mut fork),
                Some(Frame::Group) => {
                    self.frames.push(Frame::Group);
                    self.wait();
                }
                Some(Frame::Region(region)) => {
                    let span = self.tail.span.saturating_sub(region.span);
                    if C::CALLS && region.counted {
                        let work = self.work.saturating_sub(region.work);
                        let apart = self.apart.saturating_sub(region.apart);
                        self.end_region_call(work.saturating_sub(apart), span);
                    }
                    let span = C::nanos(span);
                    self.open.push(OpenRegion { context: region.context, outermost: region.outermost, span });
                }
                Some(Frame::Task(task)) => self.end_task(task),
                Some(Frame::Team(team)) => {
                    self.frames.push(Frame::Team(team));
                    self.end_member();
                    self.team_end();
                }
            }
        }
    }
}

impl Finished<Plain> {
    pub(crate) fn into_replayed(self) -> Replayed {
        let mut critical = vec![Nanos::ZERO; self.totals.len()];
        for part in &self.path {
            if let Some(slot) = critical.get_mut(part.key as usize) {
                *slot += Nanos(part.span);
            }
        }
        Replayed { critical, ..self.rest() }
    }
}

impl<C> Finished<C> {
    /// All but the critical path.
    fn rest(self) -> Replayed {
        Replayed {
            strands: self.rows,
            work: self.work,
            span: self.span,
            uniform_span: self.uniform_span,
            totals: self.totals,
            critical: Vec::new(),
            open: self.open,
            blocked: self.blocked,
            threads: self.threads,
            problems: self.problems,
        }
    }
}

impl Finished<ByRegion<'_>> {
    /// Each context's share is rounded by itself.
    pub(crate) fn into_replayed(self) -> Replayed {
        let mut critical = vec![0i64; self.totals.len()];
        for part in &self.path {
            let region = self.charge.regions.get(part.key / 2);
            if let Some(sum) = critical.get_mut(region.context.index()) {
                *sum = sum.saturating_add(part.span);
            }
        }
        Replayed { critical: critical.into_iter().map(ByRegion::nanos).collect(), ..self.rest() }
    }
}
