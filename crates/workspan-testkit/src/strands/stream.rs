//! Rows without end, to measure with: made while they are read, never all in memory.

use workspan_model::{ContextId, ContextTree, Creation, Event, Nanos, Recording, Site, SiteId, SiteKind, Strand};

use crate::random::Random;

/// What a stream is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Recursive joins at one site, as a divide-and-conquer program has.
    Joins,
    /// Parallel iterators, one after the other, whose items call a recursive join now and then.
    Iterators,
    /// Scopes that spawn tasks, some of which spawn more.
    Tasks,
}

/// Rows of a run.
#[derive(Clone, Debug)]
pub struct Stream {
    shape: Shape,
    /// At least this number of rows; the last tree is finished.
    rows: u64,
    random: Random,
    contexts: [ContextId; 4],
    batch: Vec<Strand>,
    made: u64,
}

/// Rows of a batch.
const BATCH: usize = 4096;

impl Stream {
    /// A stream of about this number of rows, and the recording that it belongs to.
    pub fn new(shape: Shape, rows: u64, seed: u64) -> (Recording, Stream) {
        let kinds = [SiteKind::Serial { from: None, to: None }, SiteKind::Scope, SiteKind::Join, SiteKind::ScopeSpawn];
        let sites: Vec<Site> = kinds.iter().zip(1..).map(|(kind, line)| site(*kind, line)).collect();
        let mut tree = ContextTree::default();
        let mut intern = |from, site| tree.intern(from, SiteId(site)).unwrap_or(ContextId::ROOT);
        let serial = intern(ContextId::ROOT, 0);
        let outer = intern(ContextId::ROOT, 1);
        let (join, task) = (intern(outer, 2), intern(outer, 3));
        let recording = Recording { sites, contexts: tree, ..Recording::default() };
        let contexts = [serial, outer, join, task];
        let (random, batch) = (Random::new(seed), Vec::with_capacity(BATCH));
        (recording, Stream { shape, rows, random, contexts, batch, made: 0 })
    }

    /// Hands all rows to `take`, in batches, until it says no. Returns how many there were.
    pub fn read(&self, take: &mut dyn FnMut(&[Strand]) -> bool) -> u64 {
        let mut stream = self.clone();
        while stream.made < stream.rows {
            stream.region(take);
        }
        stream.flush(take);
        stream.made
    }

    fn flush(&mut self, take: &mut dyn FnMut(&[Strand]) -> bool) {
        if !take(&self.batch) {
            self.rows = 0;
        }
        self.batch.clear();
    }

    fn row(&mut self, event: Event, context: ContextId, take: &mut dyn FnMut(&[Strand]) -> bool) {
        let cost = Nanos(i64::try_from(100 + self.random.below(1000)).unwrap_or(0));
        let start = Nanos(i64::try_from(self.made).unwrap_or(0));
        self.batch.push(Strand { event, context, cost, blocked: Nanos::ZERO, start, thread: 0 });
        self.made += 1;
        if self.batch.len() == BATCH {
            self.flush(take);
        }
    }

    fn region(&mut self, take: &mut dyn FnMut(&[Strand]) -> bool) {
        let [serial, outer, join, _] = self.contexts;
        self.row(Event::Enter(outer), serial, take);
        match self.shape {
            Shape::Joins => {
                self.row(Event::Enter(join), outer, take);
                self.joins(16, join, take);
                self.row(Event::Leave, join, take);
            }
            Shape::Iterators => {
                self.joins(7, outer, take);
            }
            Shape::Tasks => {
                self.row(Event::Group, outer, take);
                self.tasks(3, outer, take);
                self.row(Event::Wait, outer, take);
            }
        }
        self.row(Event::Leave, outer, take);
    }

    fn joins(&mut self, depth: u32, context: ContextId, take: &mut dyn FnMut(&[Strand]) -> bool) {
        let join = self.contexts[2];
        if depth == 0 {
            if self.shape == Shape::Iterators && self.random.once_in(4) {
                self.row(Event::Enter(join), context, take);
                self.joins(3, join, take);
                self.row(Event::Leave, join, take);
            }
            return;
        }
        if context == join && self.shape == Shape::Iterators && self.random.once_in(3) {
            return;
        }
        self.row(Event::Fork(1), context, take);
        self.joins(depth - 1, context, take);
        self.row(Event::Next(1), context, take);
        self.joins(depth - 1, context, take);
        self.row(Event::Join, context, take);
    }

    fn tasks(&mut self, depth: u32, context: ContextId, take: &mut dyn FnMut(&[Strand]) -> bool) {
        let task = self.contexts[3];
        for _ in 0..20 {
            let creation = Creation { context: task, group: Some(0), overhead: Nanos(50) };
            self.row(Event::Spawn(creation), context, take);
            if depth > 0 && self.random.once_in(5) {
                self.tasks(depth - 1, task, take);
            }
            self.row(Event::End, task, take);
        }
    }
}

fn site(kind: SiteKind, line: u32) -> Site {
    Site::at(kind, if kind.spawns() { "src/main.rs" } else { "" }, line, 1)
}

#[cfg(test)]
mod tests {
    use super::super::dag;
    use super::*;

    #[test]
    fn streams_are_well_nested_and_of_the_wanted_length() {
        for shape in [Shape::Joins, Shape::Iterators, Shape::Tasks] {
            let (recording, stream) = Stream::new(shape, 5000, 1);
            let mut rows = Vec::new();
            let made = stream.read(&mut |batch| {
                rows.extend_from_slice(batch);
                true
            });
            assert_eq!(made, rows.len() as u64, "{shape:?}");
            assert!((5000..300_000).contains(&made), "{shape:?}: {made}");
            assert!(dag::evaluate(&recording, &rows).span > 0, "{shape:?}");
            assert!(stream.read(&mut |_| false) <= 300_000, "{shape:?}");
        }
    }
}
