//! The region of interest: which instructions of a run are analysed.
//!
//! By functions, a thread's instructions count from the call of one of them to its return, calls within included; by marks,
//! those of all threads, from a call of the function that begins it to a call of the one that ends it; by counts, those with
//! these numbers in the run. What runs outside leaves no trace in the analysis: its results are there from the beginning.

use std::collections::HashSet;

use workspan_wire::trace;

use crate::op::{Flow, Op};

/// Addresses at which the functions of a region begin.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// The region is all calls of these.
    pub functions: Vec<u64>,
    /// A call of one of these begins it.
    pub begins: Vec<u64>,
    /// A call of one of these ends it.
    pub ends: Vec<u64>,
}

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Everything.
    Everything,
    /// Instructions with these numbers; the first is 0, and the last is not part of it.
    Count(u64, u64),
    /// Calls of functions.
    Functions,
    /// What lies between marks.
    Marks,
}

/// Watches a run.
#[derive(Clone, Debug)]
pub struct Watch {
    wanted: Wanted,
    functions: HashSet<u64>,
    begins: HashSet<u64>,
    ends: HashSet<u64>,
    /// For each thread: where the return address of the call lies that it is in.
    inside: Vec<Option<u64>>,
    /// For each thread: where its last call stored its return address.
    called: Vec<u64>,
    /// Marks: whether one has begun the region.
    on: bool,
    /// Instructions so far, those outside included.
    seen: u64,
    /// How often the region began.
    times: u64,
}

impl Watch {
    /// Watches for this.
    pub fn new(wanted: Wanted) -> Watch {
        Watch {
            wanted,
            functions: HashSet::new(),
            begins: HashSet::new(),
            ends: HashSet::new(),
            inside: Vec::new(),
            called: Vec::new(),
            on: false,
            seen: 0,
            times: 0,
        }
    }

    /// True if there is nothing to watch for.
    #[inline(always)]
    pub fn is_everything(&self) -> bool {
        self.wanted == Wanted::Everything
    }

    /// True if nothing more can come.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        matches!(self.wanted, Wanted::Count(_, to) if self.seen >= to)
    }

    /// How often the region began, and how many instructions ran, those outside included.
    pub fn seen(&self) -> (u64, u64) {
        (self.times, self.seen)
    }

    /// Functions that were found.
    pub fn add(&mut self, region: Region) {
        self.functions.extend(region.functions);
        self.begins.extend(region.begins);
        self.ends.extend(region.ends);
    }

    /// A block of a thread begins at `first` and ends with `last`; `words` are its accesses. True if it counts.
    pub fn block(&mut self, thread: usize, first: u64, last: &Op, count: u64, words: &[u64]) -> bool {
        let before = self.seen;
        self.seen += count;
        match self.wanted {
            Wanted::Everything => true,
            Wanted::Count(from, to) => {
                self.times = 1;
                (from..to).contains(&before)
            }
            Wanted::Functions => self.function(thread, first, last, words),
            Wanted::Marks => {
                if self.begins.contains(&first) {
                    self.times += u64::from(!self.on);
                    self.on = true;
                } else if self.ends.contains(&first) {
                    self.on = false;
                }
                self.on
            }
        }
    }

    fn function(&mut self, thread: usize, first: u64, last: &Op, words: &[u64]) -> bool {
        if self.inside.len() <= thread {
            self.inside.resize(thread + 1, None);
            self.called.resize(thread + 1, 0);
        }
        let inside = &mut self.inside[thread];
        if inside.is_none() && self.functions.contains(&first) {
            *inside = Some(self.called[thread]);
            self.times += 1;
        }
        let counts = inside.is_some();
        let address = words.last().map(|word| trace::address(*word));
        match (last.flow, address) {
            (flow, Some(address)) if flow.calls() => self.called[thread] = address,
            (Flow::Return, Some(address)) if inside.is_some_and(|begin| address >= begin) => *inside = None,
            _ => {}
        }
        counts
    }
}
