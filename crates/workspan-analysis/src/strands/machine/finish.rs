//! No more rows: what is open ends, and everything is added up.

use workspan_model::{Nanos, OpenRegion};

use super::Machine;
use crate::strands::charge::Charge;
use crate::strands::frames::Frame;
use crate::strands::path::{OnPath, Stretch};
use crate::strands::problem::Problem;
use crate::strands::result::Finished;

impl<C: Charge> Machine<C> {
    /// Ends what is open, and adds up.
    pub(crate) fn finish(mut self) -> Finished<C> {
        self.unwind();
        let mut at = self.now.at;
        at.join(&mut self.paths, self.detached);
        self.paths.settle(&mut at.tail);
        let mut stretches: Vec<Stretch> = self.paths.stretches(at.tail.path).collect();
        if C::IN_ORDER {
            stretches.reverse();
        } else {
            stretches.sort_unstable_by_key(|stretch| stretch.key);
        }
        let mut path: Vec<OnPath> = Vec::new();
        for Stretch { key, span, secondary, work } in stretches {
            match path.last_mut().filter(|last| last.key == key) {
                Some(last) => {
                    last.span = last.span.saturating_add(span);
                    last.secondary = last.secondary.saturating_add(secondary);
                    last.work = last.work.saturating_add(work);
                }
                None => path.push(OnPath { key, span, secondary, work }),
            }
        }
        Finished {
            rows: self.rows,
            work: Nanos(self.work.done),
            blocked: Nanos(self.blocked),
            span: C::nanos(at.tail.span),
            uniform_span: if self.loops { C::nanos(at.uniform) } else { Nanos::ZERO },
            totals: self.accounts.totals(C::nanos, self.loops),
            path,
            open: self.left_open,
            threads: self.threads.count(),
            problems: self.problems,
            calls: self.calls,
            charge: self.charge,
        }
    }

    /// Whatever is open ends here. Instances of regions that had not ended are not counted, but reported.
    fn unwind(&mut self) {
        for _ in 0..self.open.depth() {
            self.problems.add(Problem::Unfinished, self.rows);
        }
        loop {
            match self.open.pop() {
                None => return,
                Some(Frame::Fork(fork)) => self.join_branches(fork),
                Some(Frame::Group) => self.close_group(),
                Some(Frame::Region(region)) => {
                    let span = self.now.at.tail.span.saturating_sub(region.span);
                    if C::CALLS && region.counted {
                        let work = self.work.since(region.work);
                        let (calls, here) = self.calls();
                        let late = calls.end_region(here, work, span);
                        self.call_later(late);
                    }
                    let span = C::nanos(span);
                    self.left_open.push(OpenRegion { context: region.context, outermost: region.outermost, span });
                }
                Some(Frame::Task(task)) => self.end_task(task),
                Some(Frame::Team(team)) => {
                    self.end_member(team);
                    self.team_end();
                }
            }
        }
    }
}
