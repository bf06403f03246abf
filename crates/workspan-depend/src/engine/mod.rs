//! Takes segments as they come, and finds dependences.
//!
//! **Argument:** time advances with each line of a segment. A dependence is an access now, and the moment and site of an earlier one
//! that the shadow has kept; the execution tree shows the deepest call or loop that both lie in, and with that, on which
//! lines of which function they are, and whether a loop carries what connects them.
//!
//! **Not reported:** what lies in a frame that has been left (the memory belongs to a call that began later); what was freed and
//! allocated again; variables whose scope has begun again; input variables of a step (the verdict knows them).

mod accesses;
mod arrival;
mod column;
mod columns;
mod coming;
mod compile;
mod context;
mod counts;
mod expect;
mod expected;
mod extents;
mod follow;
mod found;
mod frames;
mod kinds;
mod lines;
mod locals;
mod look;
mod noting;
mod parts;
mod plain;
mod reads;
mod repeat;
mod repeats;
mod rows;
mod shape;
mod shapes;
mod slots;
mod step;
mod stream;
mod strip;
mod take;
mod waiting;
mod waits;

pub use self::counts::{CallCount, LoopCount, Waits};
pub use self::stream::analyse;

use std::collections::{BTreeMap, HashMap};

use workspan_graph::program::Loaded;

use self::arrival::Arrival;
use self::column::Column;
use self::counts::Counts;
use self::kinds::ReadKinds;
use self::parts::Parts;
use self::repeats::Repeats;
use self::shapes::Shapes;
use self::strip::Strips;
use self::waiting::{Waited, Waiting};
use crate::continuations::Continuations;
use crate::effects::STATES;
use crate::journal::Journal;
use crate::models::{Clock, Later, Run, Wait, COUNT, LATER, MODELS};
use crate::objects::{Objects, Wrote};
use crate::paths::walk::Walked;
use crate::shadow::{BuildHasher, Reader, Readers, Shadow, Site};
use crate::source::{PlaceId, Source};
use crate::table::Table;
use crate::tree::{Common, Frame, Node};

/// Bytes below the first frame that are taken for its stack.
const STACK: u64 = 64 << 20;
/// Where the state of libraries lies: no program has these addresses.
const STATE: u64 = 1 << 60;

/// Those of [`MODELS`] that run while the program does.
const AT_ONCE: [usize; COUNT] = {
    let (mut now, mut count, mut at) = ([0; COUNT], 0, 0);
    while at < MODELS.len() {
        if LATER & 1 << at == 0 {
            now[count] = at;
            count += 1;
        }
        at += 1;
    }
    assert!(count == COUNT);
    now
};

/// Where each model is in [`AT_ONCE`].
const PLACES: [usize; MODELS.len()] = {
    let (mut places, mut at) = ([0; MODELS.len()], 0);
    while at < COUNT {
        places[AT_ONCE[at]] = at;
        at += 1;
    }
    places
};

/// Finds dependences.
#[derive(Debug)]
pub struct Engine {
    /// The program.
    pub source: Source,
    /// What was found.
    pub table: Table,
    /// By loop.
    pub loops: Vec<LoopCount>,
    /// By place of call.
    pub calls: BTreeMap<PlaceId, CallCount>,
    /// Segments that were executed, by id.
    pub executed: Vec<bool>,
    /// Models, of the first context.
    pub models: Vec<Run>,
    /// Instructions.
    pub work: u64,
    /// Functions outside instrumented code that were called, and how often.
    pub boxes: BTreeMap<u32, u64>,
    /// Work that models know of, of the first context.
    pub clock: Clock,
    /// What ran, of the first context.
    pub journal: Journal,
    /// Models that go through it.
    pub later: Later,
    /// What ran, by context.
    pub walked: Walked,
    /// Sizes of calls.
    pub continuations: Continuations,
    /// Calls of fewer instructions than this are no tasks in models whose tasks are calls.
    pub granularity: u64,
    /// By place, calls that have ended, and instructions in them: only where some are no tasks.
    ended: Vec<(u64, u64)>,
    /// Lines of segments, by their number in the journal.
    pub lines: Vec<(u32, u32)>,
    line_numbers: Vec<u32>,
    runs_of_current: u32,
    /// Loops that carry a dependence that forbids parallel iterations, as far as known.
    pub serial: Vec<bool>,
    /// Calls that lines wait for: by segment and line.
    pub waits: HashMap<(u32, u32), Waits, BuildHasher>,
    awaited: Vec<bool>,
    /// How often that has changed.
    epoch: u64,
    counts: Counts,
    arrivals: Vec<Arrival>,
    /// Lines of strips, by their number in the journal.
    pub sequences: Vec<Box<[u32]>>,
    sequence_of: HashMap<Box<[u32]>, u32, BuildHasher>,
    /// The line of a strip that runs, from 1; 0: none does.
    line_of_strip: u32,
    /// What the innermost tasks wait for beside what is known of the strip.
    further: [Vec<Wait>; COUNT],
    repeats: Repeats,
    /// Models in which the innermost iteration has waited for those before: waiting again changes nothing.
    iterated: u16,
    contexts: Vec<Option<Box<Context>>>,
}

/// One thread.
#[derive(Debug, Default)]
struct Context {
    shadow: Shadow,
    local_readers: Readers,
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    now: u64,
    /// Calls that have returned.
    returns: u64,
    serials: u64,
    /// How many calls and loops have begun or ended.
    version: u64,
    /// The innermost frame of each function, + 1.
    innermost: Vec<usize>,
    /// Nodes and frames that have ended, for their room.
    spare_nodes: Vec<Node>,
    spare_frames: Vec<Frame>,
    /// What the last dependence of a site was: record, source, node, whether carried.
    memos: Vec<Memo>,
    /// Where they are, by site and kind, + 1.
    memo_of: Vec<[u32; 3]>,
    /// For each site the chain of calls and the loop in which it was last exposed, and to the nodes from which on.
    exposure: Vec<((u32, u32), usize)>,
    /// Numbers of [`Frame::chain`].
    chains: HashMap<(u32, u32, PlaceId, u32), u32, BuildHasher>,
    other_chains: u32,
    groups: Vec<(Reader, Common)>,
    /// Room for the kinds that are met in a list of reads.
    kinds: ReadKinds,
    root_address: u64,
    /// What has come has left calls that did not return, an exception lands there, or it throws one: loops that it leaves have not come to
    /// their ends.
    abandons: bool,
    /// A line of the frame on top follows a call.
    follows: PlaceId,
    is_first: bool,
    /// Levels of models: for each node, for each model, the level of the call or loop, + 1.
    levels: Vec<[u32; 9]>,
    /// The same, of the innermost task that a node lies in.
    innermost_levels: Vec<[u32; 9]>,
    /// For each node the models in which it is a task: one bit each.
    tasks: Vec<u16>,
    objects: Objects,
    wrote: HashMap<(Site, u32), Wrote, BuildHasher>,
    shapes: Shapes,
    strips: Strips,
    /// Room for iterations that are taken together.
    columns: Vec<Column>,
    /// A local without an address is looked at.
    is_touch: bool,
    parts: Parts,
}

/// What the last dependence of two places was.
#[derive(Clone, Copy, Debug)]
struct Memo {
    source: Site,
    /// The loop of the source, + 1.
    in_loop: u32,
    /// Loop + 1 and function of the common node.
    place: (u32, u32),
    /// The loop of that node, + 1, that had ended in between.
    ended: u32,
    carried: bool,
    /// No model waits.
    is_quiet: bool,
    /// Of a local without an address.
    is_local: bool,
    /// The earlier access was made by the function of the node itself.
    is_direct: bool,
    /// So is the later one.
    is_top: bool,
    /// The calls that the earlier and the later access were made in.
    source_call: PlaceId,
    sink_call: PlaceId,
    record: u32,
    waiting: Waiting,
    /// The common node for which models have waited.
    serial: u64,
    waited: Waited,
    lived: Lived,
}

/// Moments of writes whose values are known to outlive their loop, in an iteration of the common node.
#[derive(Clone, Copy, Debug)]
struct Lived {
    turn: u64,
    range: (u64, u64),
}

impl Default for Lived {
    fn default() -> Lived {
        Lived { turn: 0, range: (u64::MAX, 0) }
    }
}

/// Sources that are remembered for each later access and kind.
const WAYS: usize = 16;

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}

impl Engine {
    /// Nothing seen.
    pub fn new() -> Engine {
        Engine {
            source: Source::new(),
            table: Table::default(),
            loops: Vec::new(),
            calls: BTreeMap::new(),
            executed: Vec::new(),
            models: MODELS.map(Run::new).into(),
            work: 0,
            boxes: BTreeMap::new(),
            clock: Clock::default(),
            journal: Journal::default(),
            later: Later::default(),
            walked: Walked::default(),
            continuations: Continuations::default(),
            granularity: 0,
            ended: Vec::new(),
            lines: Vec::new(),
            line_numbers: Vec::new(),
            runs_of_current: 0,
            serial: Vec::new(),
            waits: HashMap::default(),
            awaited: Vec::new(),
            epoch: 0,
            counts: Counts::default(),
            arrivals: Vec::new(),
            sequences: Vec::new(),
            sequence_of: HashMap::default(),
            line_of_strip: 0,
            further: Default::default(),
            repeats: Repeats::default(),
            iterated: 0,
            contexts: Vec::new(),
        }
    }

    /// Bytes of shadow memory.
    pub fn bytes(&self) -> usize {
        self.contexts.iter().flatten().map(|context| context.shadow.bytes()).sum()
    }

    /// A function of the program was entered at a place of calls.
    pub(crate) fn has_run(&self, place: PlaceId) -> bool {
        self.counts.has_entered(place) || self.calls.get(&place).is_some_and(|count| count.entered > 0)
    }

    /// The program has ended.
    pub fn finish(&mut self) {
        let mut contexts = std::mem::take(&mut self.contexts);
        for context in contexts.iter_mut().flatten() {
            self.count_shapes(context);
            while context.frames.len() > 1 {
                self.leave(context);
            }
        }
        self.contexts = contexts;
        self.counts.settle(&mut self.calls, &mut self.boxes);
    }

    /// Takes a module in, executed or not.
    pub fn learn(&mut self, loaded: &Loaded) {
        self.source.learn(loaded);
        self.loops.resize(self.source.loops.len(), LoopCount::default());
        self.serial.resize(self.source.loops.len(), false);
        self.executed.resize(self.source.segments.len(), false);
        self.arrivals.resize(self.source.segments.len(), Arrival::default());
        for number in 0..loaded.module.segments.len() {
            let id = loaded.base as usize + number;
            self.arrivals[id] = Arrival::new(loaded, number, &self.source.segments[id]);
        }
    }
}

const _: () = assert!(STATES.len() < 8);
