//! Counts what ran, by context, while the [journal](crate::journal) is gone through.
//!
//! **Cost:** an addition for each line, a look into a table for each call and loop; iterations that are the same are counted at once.
//! **Memory:** a number for each line between the first and the last of a context, in the order in which the run came to lines.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::journal::{Step, Walk};
use crate::shadow::BuildHasher;
use crate::source::{small, PlaceId, Source};

/// Depth of recursion from which on calls count as one context.
pub const DEPTH: u32 = 16;
/// Contexts at most; beyond, all other calls of a function are one.
pub const CONTEXTS: usize = 1 << 14;

/// What the journal's numbers stand for.
#[derive(Clone, Copy, Debug)]
pub struct Names<'n> {
    /// Segment and line of each of its lines.
    pub lines: &'n [(u32, u32)],
    /// Lines of each of its strips.
    pub strips: &'n [Box<[u32]>],
}

/// Executions of lines.
#[derive(Debug, Default)]
pub struct Lines {
    /// The line of the first count.
    first: u32,
    counts: Vec<u64>,
}

impl Lines {
    #[inline]
    fn add(&mut self, line: u32, times: u64) {
        if let Some(count) = self.counts.get_mut(line.wrapping_sub(self.first) as usize) {
            *count += times;
            return;
        }
        if self.counts.is_empty() {
            self.first = line;
        }
        if line < self.first {
            let more = (self.first - line) as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = line;
        }
        let at = (line - self.first) as usize;
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += times;
    }

    /// Lines that were executed, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        (self.first..).zip(self.counts.iter().copied()).filter(|(_, count)| *count > 0)
    }
}

/// What is counted of a context.
#[derive(Debug, Default)]
pub struct Counted {
    /// Place of the call, function, depth of recursion.
    pub key: (PlaceId, u32, u32),
    /// Calls.
    pub entries: u64,
    /// Lines, by their number in the journal.
    pub lines: Lines,
    /// Strips, by their number in the journal, until they are [spread](Walked::spread).
    strips: Lines,
    /// Loops: executions, iterations.
    pub loops: BTreeMap<u32, (u64, u64)>,
    /// Calls, by line and context.
    pub calls: BTreeMap<(u32, u32), u64>,
}

impl Counted {
    /// Executions and iterations of a loop.
    fn count(&mut self, (number, entries, turns): (u32, u64, u64)) {
        let count = self.loops.entry(number).or_default();
        *count = (count.0 + entries, count.1 + turns);
    }
}

/// Where a strip begins and ends: lines of the journal, and those of the source.
#[derive(Clone, Copy, Debug)]
struct Strip {
    function: u32,
    begin: u32,
    begin_line: u32,
    end: u32,
    end_line: u32,
}

/// A running call.
#[derive(Debug, Default)]
struct Open {
    /// Its context and function, once a line or loop of it has run.
    known: Option<(u32, u32)>,
    /// The line that ran last, + 1.
    last: u32,
    /// Pieces of the current line that have run.
    line: u32,
    /// Loops that run: number, and executions and iterations that have not been counted yet.
    loops: Vec<(u32, u64, u64)>,
}

/// All counts.
#[derive(Debug, Default)]
pub struct Walked {
    /// Contexts.
    pub contexts: Vec<Counted>,
    /// Lines of the journal that followed one another on one line of the source.
    pub follow: BTreeSet<(u32, u32)>,
    /// What is known of strips.
    strips: Vec<Option<Strip>>,
    /// What each line has followed last, + 1.
    before: Vec<u32>,
    numbers: HashMap<(PlaceId, u32, u32), u32, BuildHasher>,
    open: Vec<Open>,
    running: HashMap<u32, u32, BuildHasher>,
}

impl Walked {
    /// Takes what comes next in the journal.
    #[inline]
    pub fn walk(&mut self, walk: Walk<'_>, names: &Names<'_>, source: &Source) {
        match walk {
            Walk::Step(step) => self.step(step, 1, names, source),
            Walk::Cycle(steps, times) => steps.iter().for_each(|step| self.step(*step, times, names, source)),
        }
    }

    fn step(&mut self, step: Step, times: u64, names: &Names<'_>, source: &Source) {
        match step {
            Step::Call => self.open.push(Open::default()),
            Step::Return(_) => {
                if let Some((_, function)) = self.open.pop().and_then(|open| open.known) {
                    *self.running.entry(function).or_default() -= 1;
                }
            }
            Step::Loop(number) => {
                let function = source.loops.get(number as usize - 1).map_or(0, |each| each.function);
                self.context(function, names, source);
                if let Some(open) = self.open.last_mut() {
                    open.line = 0;
                    open.loops.push((number, times, times));
                }
            }
            Step::Turn => {
                let Some(open) = self.open.last_mut() else { return };
                open.line = 0;
                if let Some((.., turns)) = open.loops.last_mut() {
                    *turns += times;
                }
            }
            Step::Leave(_) => {
                let Some(open) = self.open.last_mut() else { return };
                open.line = 0;
                let (known, left) = (open.known, open.loops.pop());
                if let (Some((context, _)), Some(left)) = (known, left) {
                    self.contexts[context as usize].count(left);
                }
            }
            Step::Line(at) => self.line(at, times, names, source),
            Step::Strip(number) => self.strip(number, times, names, source),
        }
    }

    fn strip(&mut self, number: u32, times: u64, names: &Names<'_>, source: &Source) {
        let at = number as usize;
        if self.strips.len() <= at {
            self.strips.resize(at + 1, None);
        }
        let known = match self.strips[at] {
            Some(known) => known,
            None => {
                let Some(known) = self.known(number, names, source) else { return };
                *self.strips[at].insert(known)
            }
        };
        let Some(context) = self.context(known.function, names, source) else { return };
        self.contexts[context as usize].strips.add(number, times);
        let Some(open) = self.open.last_mut() else { return };
        let (line, last) = (open.line, open.last);
        (open.line, open.last) = (known.end_line, known.end + 1);
        self.follows(known.begin, known.begin_line, (line, last));
    }

    /// What a strip begins and ends with; lines within it that follow one another are noted.
    fn known(&mut self, number: u32, names: &Names<'_>, source: &Source) -> Option<Strip> {
        let lines = names.strips.get(number as usize)?;
        let line_of = |at: u32| {
            let (id, run) = names.lines.get(at as usize)?;
            Some(source.segments.get(*id as usize)?.runs.get(*run as usize)?.line)
        };
        for pair in lines.windows(2) {
            let (from, to) = (line_of(pair[0])?, line_of(pair[1])?);
            if to != 0 && from == to && pair[0] != pair[1] {
                self.follow.insert((pair[0], pair[1]));
            }
        }
        let (begin, end) = (*lines.first()?, *lines.last()?);
        let (id, _) = names.lines.get(begin as usize)?;
        let function = source.segments.get(*id as usize)?.function;
        Some(Strip { function, begin, begin_line: line_of(begin)?, end, end_line: line_of(end)? })
    }

    /// Counts of strips become counts of their lines, and loops that run are counted so far.
    pub fn spread(&mut self, strips: &[Box<[u32]>]) {
        for open in &mut self.open {
            for (number, entries, turns) in &mut open.loops {
                let counted = (*number, std::mem::take(entries), std::mem::take(turns));
                if let Some((context, _)) = open.known {
                    self.contexts[context as usize].count(counted);
                }
            }
        }
        for context in &mut self.contexts {
            let counted = std::mem::take(&mut context.strips);
            for (strip, times) in counted.iter() {
                strips[strip as usize].iter().for_each(|at| context.lines.add(*at, times));
            }
        }
    }

    /// A line comes, after another one on a line of the source.
    #[inline]
    fn follows(&mut self, at: u32, line: u32, (before, last): (u32, u32)) {
        if line == 0 || before != line || last == at + 1 {
            return;
        }
        let number = at as usize;
        if self.before.len() <= number {
            self.before.resize(number + 1, 0);
        }
        // Mostly it is the same as the last time.
        if std::mem::replace(&mut self.before[number], last) != last {
            self.follow.insert((last - 1, at));
        }
    }

    fn line(&mut self, at: u32, times: u64, names: &Names<'_>, source: &Source) {
        let Some(info) = names.lines.get(at as usize).and_then(|(id, _)| source.segments.get(*id as usize)) else {
            return;
        };
        let Some(context) = self.context(info.function, names, source) else { return };
        self.contexts[context as usize].lines.add(at, times);
        let run = names.lines[at as usize].1 as usize;
        let line = info.runs.get(run).map_or(0, |run| run.line);
        let Some(open) = self.open.last_mut() else { return };
        let before = (open.line, open.last);
        (open.line, open.last) = (line, at + 1);
        self.follows(at, line, before);
    }

    /// The context of the call that runs.
    fn context(&mut self, function: u32, names: &Names<'_>, source: &Source) -> Option<u32> {
        if let Some((context, _)) = self.open.last()?.known {
            return Some(context);
        }
        let depth = self.running.entry(function).or_default();
        *depth += 1;
        let caller = self.open.len().checked_sub(2).map(|at| &self.open[at]);
        let from = caller.and_then(|open| Some((open.known?.0, open.last.checked_sub(1)?)));
        let segment = from.and_then(|(_, line)| names.lines.get(line as usize)).map(|(id, _)| *id);
        let place = segment.and_then(|id| source.segments.get(id as usize)).map_or(0, |info| info.call);
        let mut key = (place, function, (*depth).min(DEPTH));
        if self.contexts.len() >= CONTEXTS && !self.numbers.contains_key(&key) {
            key = (place.min(1), function, DEPTH);
        }
        let number = *self.numbers.entry(key).or_insert(small(self.contexts.len()));
        if number as usize == self.contexts.len() {
            self.contexts.push(Counted { key, ..Counted::default() });
        }
        self.contexts[number as usize].entries += 1;
        if let Some((around, line)) = from {
            *self.contexts[around as usize].calls.entry((line, number)).or_default() += 1;
        }
        self.open.last_mut()?.known = Some((number, function));
        Some(number)
    }
}
