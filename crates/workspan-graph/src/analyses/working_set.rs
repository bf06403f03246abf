//! Working sets: the memory that each work task touches, and the tasks that feed it.
//!
//! **Working set** of a task: the cache lines that it accesses, each once; of a site: those of all tasks of the contexts that it
//! created. **Feeding:** of each 8 bytes the first read by a task after another task has written them; nine and more
//! readers of one write count as eight. **Memory:** the lines of the tasks that run, and those of each site.

use std::collections::{BTreeMap, HashMap, HashSet};

use workspan_trace::control::Kind;
use workspan_trace::program::Access as Mode;

use crate::events::{Access, Control};
use crate::graph::Graph;
use crate::now::Now;
use crate::replay::{Consumer, Executed};
use crate::structure::other;
use crate::traffic::Cells;

/// What a task touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// Lines.
    pub lines: u64,
    /// Of these written.
    pub written: u64,
    /// Bytes that it reads and other tasks have written.
    pub fed: u64,
}

/// What the tasks of all contexts touch that a site created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfSite {
    /// Work tasks that touch memory.
    pub tasks: u64,
    /// The largest of them, in lines.
    pub largest: u64,
    /// Lines of each of them, summed.
    pub sum: u64,
    /// All lines.
    pub lines: HashSet<u64>,
    /// Bytes that they read and tasks of other sites have written.
    pub fed: u64,
}

/// Finds working sets in a replayed recording.
#[derive(Debug)]
pub struct WorkingSets {
    shift: u32,
    now: Now,
    /// Segment that each context executed last.
    segments: HashMap<u32, u32>,
    /// Of tasks that run: lines, and whether they are written.
    open: HashMap<u32, HashMap<u64, bool>>,
    /// Of contexts: the task whose lines are open.
    running: HashMap<u32, u32>,
    cells: Cells<u32, ()>,
    /// Segment that ended in the creation of a context.
    pub created: HashMap<u32, u32>,
    /// By task.
    pub sets: BTreeMap<u32, Set>,
    /// By the segment that ended in the creation; nothing: the program's start, and contexts that nobody knows to be created.
    pub sites: BTreeMap<Option<u32>, OfSite>,
    /// Bytes by writing and reading task.
    pub feeds: BTreeMap<(u32, u32), u64>,
}

impl WorkingSets {
    /// Before the first access, with lines of a power of two of bytes.
    pub fn new(graph: &Graph, line: u64) -> WorkingSets {
        WorkingSets {
            shift: line.max(1).ilog2(),
            now: Now::new(graph),
            segments: HashMap::new(),
            open: HashMap::new(),
            running: HashMap::new(),
            cells: Cells::default(),
            created: HashMap::new(),
            sets: BTreeMap::new(),
            sites: BTreeMap::new(),
            feeds: BTreeMap::new(),
        }
    }

    /// Counts what has not been counted yet: tasks that run, and who feeds which site.
    pub fn finish(&mut self, graph: &Graph) {
        let running: Vec<u32> = self.running.keys().copied().collect();
        running.into_iter().for_each(|context| self.close(context));
        let site = |task: u32| {
            let context = graph.tasks.get(task as usize).map(|task| task.context);
            context.and_then(|context| self.created.get(&context)).copied()
        };
        for ((from, to), bytes) in &self.feeds {
            self.sets.entry(*to).or_default().fed += bytes;
            if site(*from) != site(*to) {
                self.sites.entry(site(*to)).or_default().fed += bytes;
            }
        }
    }

    /// The task of a context has ended.
    fn close(&mut self, context: u32) {
        let Some(task) = self.running.remove(&context) else {
            return;
        };
        let lines = self.open.remove(&task).unwrap_or_default();
        let written = lines.values().filter(|written| **written).count() as u64;
        let set = self.sets.entry(task).or_default();
        *set = Set { lines: lines.len() as u64, written, fed: 0 };
        let site = self.sites.entry(self.created.get(&context).copied()).or_default();
        site.tasks += 1;
        site.largest = site.largest.max(set.lines);
        site.sum += set.lines;
        site.lines.extend(lines.into_keys());
    }
}

impl Consumer for WorkingSets {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        let context = executed.context;
        self.segments.insert(context, executed.id);
        let Some(task) = self.now.task(context) else {
            return;
        };
        if self.running.get(&context) != Some(&task) {
            self.close(context);
            self.running.insert(context, task);
        }
        let lines = self.open.entry(task).or_default();
        for access in accesses.iter().filter(|access| access.size > 0) {
            let last = access.address.saturating_add(access.size - 1) >> self.shift;
            for line in access.address >> self.shift..=last {
                *lines.entry(line).or_default() |= access.mode != Mode::Load;
            }
            let feeds = &mut self.feeds;
            self.cells.access(task, (), access, |writer, (), bytes| *feeds.entry((writer, task)).or_default() += bytes);
        }
    }

    fn control(&mut self, context: u32, control: Control) {
        if let (Kind::Create | Kind::Task | Kind::Spawn, Some(child)) = (control.kind, other(control.slots[2])) {
            self.created.extend(self.segments.get(&context).map(|segment| (child, *segment)));
        }
        self.now.control(context, &control);
    }
}
