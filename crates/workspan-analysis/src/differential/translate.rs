//! Rows whose contexts have other numbers, without the threads of the runtime's own.
//!
//! A thread that forks nothing, and that no site has created, is a task in the root's context without parts
//! ([rows](workspan_model::strand)): a worker of the runtime's, of which there is one more for each worker. It is no node of
//! the program. So its two rows are put apart, and so is the empty group that stands for its start. What was done up to there is
//! part of the strand that goes on: the program's rows are the same with any number of workers.

use std::cell::RefCell;
use std::collections::VecDeque;

use workspan_model::{ContextId, Creation, Event, Nanos, Strand};

use crate::strands::merge::Source;

/// A source whose contexts are numbered anew.
#[derive(Debug)]
pub(super) struct Translated<'a, S> {
    source: S,
    contexts: &'a [ContextId],
    batch: Vec<Strand>,
    /// What may be the beginning of a thread: its group, the group's wait, the thread itself.
    pending: Vec<Strand>,
    /// Of groups that were left out.
    carry: Carry,
    /// Rows given so far.
    given: u64,
    threads: &'a Threads,
}

/// Threads that were put apart.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// How many rows are before each, and its own two.
    pub(super) rows: RefCell<VecDeque<(u64, [Strand; 2])>>,
}

impl Threads {
    /// The next thread that stands before the row after so many others.
    pub(super) fn next(&self, given: u64) -> Option<[Strand; 2]> {
        let mut rows = self.rows.borrow_mut();
        rows.front().filter(|(before, _)| *before <= given)?;
        rows.pop_front().map(|(_, rows)| rows)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Carry {
    cost: Nanos,
    blocked: Nanos,
}

impl<'a, S> Translated<'a, S> {
    /// `contexts`: by the source's number.
    pub(super) fn new(source: S, contexts: &'a [ContextId], threads: &'a Threads) -> Translated<'a, S> {
        let (batch, pending, carry) = (Vec::new(), Vec::new(), Carry::default());
        Translated { source, contexts, batch, pending, carry, given: 0, threads }
    }

    fn take(&mut self, row: Strand) {
        let fits = match self.pending.last().map(|last| last.event) {
            None | Some(Event::Wait) => is_of_nobody(&row) || (self.pending.is_empty() && row.event == Event::Group),
            Some(Event::Group) => row.event == Event::Wait,
            Some(_) if row.event == Event::End => return self.put_apart(row),
            Some(_) => false,
        };
        if fits {
            self.pending.push(row);
            return;
        }
        if self.pending.is_empty() {
            self.give(row);
        } else {
            self.give_pending();
            self.take(row);
        }
    }

    /// A thread has ended.
    fn put_apart(&mut self, end: Strand) {
        if let Some(begin) = self.pending.pop() {
            self.threads.rows.borrow_mut().push_back((self.given, [begin, end]));
        }
        for row in self.pending.drain(..) {
            self.carry.cost += row.cost;
            self.carry.blocked += row.blocked;
        }
    }

    fn give_pending(&mut self) {
        for row in std::mem::take(&mut self.pending) {
            self.give(row);
        }
    }

    fn give(&mut self, row: Strand) {
        let Carry { cost, blocked } = std::mem::take(&mut self.carry);
        self.batch.push(Strand { cost: row.cost + cost, blocked: row.blocked + blocked, ..row });
        self.given += 1;
    }
}

impl<S: Source> Source for Translated<'_, S> {
    type Error = S::Error;

    fn next_batch(&mut self) -> Result<Option<&[Strand]>, S::Error> {
        self.batch.clear();
        // Of a batch there may be nothing left.
        while self.batch.is_empty() {
            let contexts = self.contexts;
            let Some(rows) = self.source.next_batch()? else {
                self.give_pending();
                break;
            };
            let rows: Vec<Strand> = rows.iter().map(|row| translated(row, contexts)).collect();
            rows.into_iter().for_each(|row| self.take(row));
        }
        Ok((!self.batch.is_empty()).then_some(self.batch.as_slice()))
    }
}

/// A thread that begins, which no site has created: it costs nobody anything.
fn is_of_nobody(row: &Strand) -> bool {
    let nobody = Creation { context: ContextId::ROOT, group: None, overhead: Nanos::ZERO };
    row.event == Event::Spawn(nobody)
        && row.context == ContextId::ROOT
        && row.cost == Nanos::ZERO
        && row.blocked == Nanos::ZERO
}

fn translated(row: &Strand, contexts: &[ContextId]) -> Strand {
    // Rows may name any number: one that nobody has is still none.
    let same = |id: ContextId| contexts.get(id.index()).copied().unwrap_or(ContextId(u32::MAX));
    let event = match row.event {
        Event::Spawn(mut creation) => {
            creation.context = same(creation.context);
            Event::Spawn(creation)
        }
        Event::Call(mut creation) => {
            creation.context = same(creation.context);
            Event::Call(creation)
        }
        Event::Enter(context) => Event::Enter(same(context)),
        other => other,
    };
    Strand { event, context: same(row.context), ..*row }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// One row at a time.
    struct Rows(std::vec::IntoIter<Strand>);

    impl Source for Rows {
        type Error = Infallible;

        fn next_batch(&mut self) -> Result<Option<&[Strand]>, Infallible> {
            let left = self.0.as_slice();
            let first = left.len().min(1);
            let batch = left.get(..first).filter(|batch| !batch.is_empty()).map(<[Strand]>::to_vec);
            self.0.next();
            Ok(batch.map(|batch| &*Vec::leak(batch)))
        }
    }

    fn row(event: Event, cost: i64) -> Strand {
        let zero = Nanos::ZERO;
        Strand { event, context: ContextId::ROOT, cost: Nanos(cost), blocked: zero, start: zero, thread: 0 }
    }

    fn thread(cost: i64) -> Strand {
        let creation = Creation { context: ContextId::ROOT, group: None, overhead: Nanos::ZERO };
        row(Event::Spawn(creation), cost)
    }

    #[track_caller]
    fn check(rows: Vec<Strand>, kept: &[i64], apart: &[(u64, i64)]) {
        let (contexts, threads) = ([ContextId::ROOT], Threads::default());
        let mut translated = Translated::new(Rows(rows.into_iter()), &contexts, &threads);
        let mut found = Vec::new();
        while let Ok(Some(batch)) = translated.next_batch() {
            found.extend(batch.iter().map(|row| row.cost.0));
        }
        assert_eq!(found, kept);
        let found: Vec<_> = threads.rows.borrow().iter().map(|(at, rows)| (*at, rows[1].cost.0)).collect();
        assert_eq!(found, apart);
    }

    #[test]
    fn workers_are_put_apart() {
        let end = |cost| row(Event::End, cost);
        let group = |cost| [row(Event::Group, cost), row(Event::Wait, 1)];
        let main = [row(Event::Fork(1), 5), row(Event::Next(1), 6), row(Event::Join, 7), end(8)];
        check(main.to_vec(), &[5, 6, 7, 8], &[]);
        check([&[thread(0), end(3), thread(0), end(4)], main.as_slice()].concat(), &[5, 6, 7, 8], &[(0, 3), (0, 4)]);
        // What was done up to its start is done before what comes next.
        let one = [group(100), [thread(0), end(3)]].concat();
        let two = [group(90), [thread(0), end(3)], group(20), [thread(0), end(4)]].concat();
        check([&one, main.as_slice()].concat(), &[106, 6, 7, 8], &[(0, 3)]);
        check([&two, main.as_slice()].concat(), &[117, 6, 7, 8], &[(0, 3), (0, 4)]);
        check([&main[..1], &two, &main[1..]].concat(), &[5, 118, 7, 8], &[(1, 3), (1, 4)]);
        // A thread that forks is the program's, and so is one that somebody creates, and a group of its own.
        check([&[thread(0)], main.as_slice()].concat(), &[0, 5, 6, 7, 8], &[]);
        check(vec![thread(2), end(3), end(4)], &[2, 3, 4], &[]);
        check([&group(9), main.as_slice()].concat(), &[9, 1, 5, 6, 7, 8], &[]);
        check([&group(9), group(8).as_slice(), &[thread(0), end(3), end(4)]].concat(), &[9, 1, 13], &[(2, 3)]);
        check(vec![row(Event::Group, 1), row(Event::Group, 2), row(Event::Wait, 3)], &[1, 2, 3], &[]);
        check([group(9).as_slice(), &[thread(0)]].concat(), &[9, 1, 0], &[]);
        check(Vec::new(), &[], &[]);
    }
}
