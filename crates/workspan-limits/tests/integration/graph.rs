//! The oracle: the graph of a trace, built edge by edge from the definitions in `docs/methods/limits.md`, and its longest
//! path. It shares nothing with the engine but the description of an instruction, and knows no cells: memory is bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use workspan_limits::model::{Control, Machine, Model, Names, Reuse, BROADEST};
use workspan_limits::op::{register, Flow, Op};

/// An access to memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) store: bool,
}

/// An instruction that ran.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) op: Op,
    pub(crate) accesses: Vec<Access>,
    /// What happens before it runs.
    pub(crate) before: Before,
}

/// What changes between two instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Before {
    /// Memory that is new: address, bytes, and whether it is heap.
    pub(crate) mapped: Option<(u64, u64, bool)>,
    /// Memory that is heap: first address, and the address behind the last.
    pub(crate) heap: Option<(u64, u64)>,
    /// Instructions that are known to follow each other.
    pub(crate) learned: Vec<(u32, u32)>,
}

impl Ran {
    /// An instruction before which nothing happens.
    pub(crate) fn new(op: Op, accesses: Vec<Access>) -> Ran {
        Ran { op, accesses, before: Before::default() }
    }
}

/// What the definitions say of a trace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) instructions: u64,
    pub(crate) critical_path: u64,
}

/// A node: the nodes that it must wait for.
type Graph = Vec<Vec<usize>>;

/// A value, by the node that made it, and the instruction whose value it is; pointers that are only moved are nobody's.
#[derive(Clone, Copy, Default)]
struct Value {
    node: Option<usize>,
    by: u32,
}

#[derive(Default)]
struct Byte {
    written: Value,
    /// The call of the allocator that wrote it; 0 if none.
    allocator: u32,
    /// The frame that it belonged to when it was accessed last.
    frame: u32,
    /// Nodes that read or wrote it since it was last written, that one included, with the frame it belonged to.
    touched: Vec<(usize, u32)>,
}

/// First address of what is heap, and the address behind it.
pub(crate) const HEAP: (u64, u64) = (0x1000, 0x1020);

/// The cycle of each instruction in a model.
pub(crate) fn cycles(trace: &[Ran], model: Model) -> Vec<u64> {
    built(trace, model).cycles
}

/// The longest path of a model.
pub(crate) fn answer(trace: &[Ran], model: Model) -> Answer {
    built(trace, model).answer
}

/// The cycles that values in registers waited for their first use before they were overwritten: `None` of values that nobody
/// used. Flags are excluded, and what registers hold when the run begins or ends.
pub(crate) fn waits(trace: &[Ran], model: Model) -> Vec<Option<u64>> {
    let Built { ended, held, .. } = built(trace, model);
    let over = held.into_iter().filter(|held| held.overwritten && !FLAGS.contains(&held.register));
    over.map(|held| Some(held.users.iter().map(|user| ended[*user]).min()? - 1 - ended[held.node])).collect()
}

const FLAGS: [u8; 3] = [register::CARRY, register::OVERFLOW, register::FLAGS];

/// A value that an instruction left in a register.
struct Held {
    register: u8,
    node: usize,
    users: Vec<usize>,
    overwritten: bool,
}

/// All values that registers held, in the order in which they were written.
#[derive(Default)]
struct Registers {
    all: Vec<Held>,
    now: BTreeMap<u8, usize>,
}

impl Registers {
    fn uses(&mut self, register: u8, user: usize) {
        if let Some(held) = self.now.get(&register) {
            self.all[*held].users.push(user);
        }
    }

    fn write(&mut self, register: u8, node: usize) {
        if let Some(before) = self.now.insert(register, self.all.len()) {
            self.all[before].overwritten = true;
        }
        self.all.push(Held { register, node, users: Vec::new(), overwritten: false });
    }
}

/// A graph, and what follows from it.
struct Built {
    answer: Answer,
    cycles: Vec<u64>,
    /// When each node ends.
    ended: Vec<u64>,
    held: Vec<Held>,
}

/// Builds the graph of a model.
fn built(trace: &[Ran], model: Model) -> Built {
    let mut graph: Graph = Vec::new();
    // Nodes that the model removes have no edges, and are not part of any path.
    let mut removed: BTreeSet<usize> = BTreeSet::new();
    let mut registers: BTreeMap<u8, Value> = BTreeMap::new();
    let mut bytes: BTreeMap<u64, Byte> = BTreeMap::new();
    let mut addresses: BTreeSet<u32> = BTreeSet::new();
    let mut control = Controls::new(model.control);
    let mut frames: Vec<Frame> = Vec::new();
    let mut made = 1;
    let mut stack = Stack::default();
    // Later ones count.
    let mut heap = vec![(HEAP.0, HEAP.1, true)];
    let mut allocator = (0, 0);
    let mut allocations = 0;
    let mut time = Time::new(model.machine);
    let mut held_values = Registers::default();
    for (place, ran) in trace.iter().enumerate() {
        let op = &ran.op;
        if let Some((address, len, is_heap)) = ran.before.mapped {
            // Whole pages.
            let end = (address + len).div_ceil(4096) * 4096;
            bytes.retain(|at, _| !(address / 4096 * 4096..end).contains(at));
            heap.push((address, address + len, is_heap));
        }
        heap.extend(ran.before.heap.map(|(from, to)| (from, to, true)));
        ran.before.learned.iter().for_each(|(from, to)| control.edge(*from, *to));
        let held = control.before(trace, place);
        if op.allocator && allocator.0 == 0 {
            allocations += 1;
            allocator = (allocations, frames.last().map_or(0, |frame| frame.begin));
        }
        let mut given_back = None;
        if op.flow == Flow::Return {
            for access in &ran.accesses {
                given_back = frames.iter().find(|frame| frame.begin == access.address).map(|frame| frame.caller);
                frames.retain(|frame| frame.begin > access.address);
            }
        }
        let given_back = given_back.filter(|_| model.spaghetti && !model.addresses);
        if op.flow.calls() {
            if let Some(access) = ran.accesses.iter().find(|access| access.store) {
                frames.retain(|frame| frame.begin > access.address);
                made += 1;
                stack.call(access.address);
                let caller = registers.get(&register::STACK).copied().unwrap_or_default();
                frames.push(Frame { begin: access.address, number: made, caller });
            }
        }
        let of = |register: u8| registers.get(&register).copied().unwrap_or_default();
        let mut waits: Vec<usize> = held.into_iter().collect();
        let mut known: Vec<u32> = Vec::new();
        for source in op.all_sources() {
            waits.extend(of(source).node);
            known.push(of(source).by);
        }
        let pointer = of(register::STACK);
        if op.allocates {
            if !model.spaghetti {
                waits.extend(pointer.node);
            }
            known.push(pointer.by);
        }
        if op.memory && op.allocates {
            addresses.insert(pointer.by);
        }
        if op.memory {
            for address in op.addresses.iter() {
                addresses.insert(of(*address).by);
                if !model.addresses {
                    waits.extend(of(*address).node);
                }
            }
        }
        let owner = |address: u64| owner(&frames, &stack, address);
        for access in &ran.accesses {
            for at in access.address..access.address + access.size {
                let byte = bytes.entry(at).or_default();
                if !access.store || op.updates {
                    let calls = (allocator.0, byte.allocator);
                    if !(model.allocator && calls.0 != 0 && calls.1 != 0 && calls.0 != calls.1) {
                        waits.extend(byte.written.node);
                    }
                    known.push(byte.written.by);
                }
                if access.store && model.names != Names::None {
                    let frame = owner(access.address);
                    let reuse = match () {
                        () if byte.frame != frame => Reuse::Stack,
                        () if frame != 0 => Reuse::Spill,
                        () if is_heap(&heap, access.address) => Reuse::Heap,
                        () => Reuse::Global,
                    };
                    let free = model.spaghetti && reuse == Reuse::Stack || model.names == Names::Without(reuse);
                    if !free {
                        waits.extend(byte.touched.iter().map(|(node, _)| *node));
                    }
                }
            }
        }
        let is_address = addresses.contains(&op.id);
        if is_address {
            addresses.extend(known);
        }
        let node = graph.len();
        if model.addresses && is_address && !op.memory {
            removed.insert(node);
            waits.clear();
        }
        let cycles = if model.machine == Machine::Latency { u64::from(op.cycles.max(1)) } else { 1 };
        time.node(node, &waits, cycles, true, removed.contains(&node));
        graph.push(waits);
        let pointer = op.allocates.then_some(register::STACK);
        op.all_sources()
            .chain(op.addresses.iter().copied())
            .chain(pointer)
            .for_each(|used| held_values.uses(used, node));
        let mut moved = Vec::new();
        for one in op.moves.iter() {
            // With a frame for each call, a return only gives the caller its own frame back.
            if let Some(value) = given_back {
                moved.push((one.to, value));
                continue;
            }
            let mut waits: Vec<usize> = held.into_iter().collect();
            if !(one.allocates && model.spaghetti) {
                waits.extend(of(one.from).node);
            }
            let node = graph.len();
            if model.addresses && one.address {
                removed.insert(node);
                waits.clear();
            }
            time.node(node, &waits, 1, false, removed.contains(&node));
            graph.push(waits);
            held_values.uses(one.from, node);
            moved.push((one.to, Value { node: Some(node), by: 0 }));
        }
        for store in [false, true] {
            for access in &ran.accesses {
                for at in access.address..access.address + access.size {
                    let frame = owner(access.address);
                    let byte = bytes.entry(at).or_default();
                    if (store == access.store || op.updates) && byte.frame != frame {
                        if model.spaghetti || model.names == Names::Without(Reuse::Stack) {
                            byte.touched.clear();
                        }
                        byte.frame = frame;
                    }
                    if store && access.store {
                        byte.written = Value { node: Some(node), by: op.id };
                        byte.allocator = allocator.0;
                        byte.touched = vec![(node, frame)];
                    } else if !store && (!access.store || op.updates) {
                        byte.touched.push((node, frame));
                    }
                }
            }
        }
        for target in op.all_targets() {
            registers.insert(target, Value { node: Some(node), by: op.id });
            held_values.write(target, node);
        }
        for (to, value) in moved {
            registers.insert(to, value);
            held_values.write(to, value.node.unwrap_or(node));
        }
        control.after(place, node, op);
        time.over(graph.len());
        if op.flow == Flow::Return && ran.accesses.iter().any(|access| access.address >= allocator.1) {
            allocator = (0, 0);
        }
    }
    let size = trace.iter().filter(|ran| !(model.addresses && addresses.contains(&ran.op.id) && !ran.op.memory));
    let firsts = std::iter::once(0).chain(time.instructions.iter().copied()).take(trace.len());
    let cycles = firsts.map(|first| time.ended[first]).collect();
    let longest = time.ended.iter().copied().max().unwrap_or(0);
    let answer = Answer { instructions: size.count() as u64, critical_path: longest };
    Built { answer, cycles, ended: time.ended, held: held_values.all }
}

/// When nodes end, by the definition: nodes stand in an order in which edges lead forward.
struct Time {
    machine: Machine,
    ended: Vec<u64>,
    /// How many nodes there were behind each instruction.
    instructions: Vec<usize>,
    /// When everything up to an instruction had ended.
    highest: Vec<u64>,
    /// Instructions by cycle.
    cycles: BTreeMap<u64, u64>,
}

impl Time {
    fn new(machine: Machine) -> Time {
        Time { machine, ended: Vec::new(), instructions: Vec::new(), highest: Vec::new(), cycles: BTreeMap::new() }
    }

    fn over(&mut self, nodes: usize) {
        let first = self.instructions.last().copied().unwrap_or(0);
        let before = self.highest.last().copied().unwrap_or(0);
        self.highest.push(self.ended[first..].iter().copied().fold(before, u64::max));
        self.instructions.push(nodes);
    }

    fn node(&mut self, node: usize, waits: &[usize], cycles: u64, main: bool, removed: bool) {
        assert_eq!(node, self.ended.len());
        if removed {
            return self.ended.push(0);
        }
        let last = waits.iter().map(|before| self.ended[*before]).max().unwrap_or(0);
        let window = match self.machine {
            Machine::Window(size) => Some(1 << size),
            Machine::Width(_) => Some(1 << BROADEST),
            Machine::Ideal | Machine::Latency => None,
        };
        // All instructions of groups that are as many groups before its own as a window has.
        let group = |window: usize| self.instructions.len() / (window / 32);
        let behind = |window: usize| (group(window) + 1).checked_sub(32).map_or(0, |groups| groups * (window / 32));
        let passed = window.map_or(0, behind);
        let floor = passed.checked_sub(1).map_or(0, |last| self.highest[last]);
        let mut end = last.max(floor) + cycles;
        if let (Machine::Width(width), true) = (self.machine, main) {
            while self.cycles.get(&end).is_some_and(|count| *count >= 1 << width) {
                end += 1;
            }
            *self.cycles.entry(end).or_default() += 1;
        }
        self.ended.push(end);
    }
}

/// A call that is active.
struct Frame {
    /// Where its return address is.
    begin: u64,
    number: u32,
    /// The stack pointer before the call.
    caller: Value,
}

/// What counts as stack: up to 64 KiB above the highest frame, down to 8 MiB below the first, or 1 MiB below the deepest.
#[derive(Default)]
struct Stack {
    first: Option<u64>,
    highest: u64,
    deepest: u64,
}

impl Stack {
    fn call(&mut self, address: u64) {
        if self.first.is_none() {
            (self.first, self.deepest) = (Some(address), address);
        }
        (self.highest, self.deepest) = (self.highest.max(address), self.deepest.min(address));
    }

    fn contains(&self, address: u64) -> bool {
        let Some(first) = self.first else { return false };
        let lowest = (first - (8 << 20)).min(self.deepest - (1 << 20));
        (lowest..=self.highest + (64 << 10)).contains(&address)
    }
}

/// The frame of an address.
fn owner(frames: &[Frame], stack: &Stack, address: u64) -> u32 {
    if !stack.contains(address) {
        return 0;
    }
    frames.iter().rev().find(|frame| address <= frame.begin).map_or(1, |frame| frame.number)
}

fn is_heap(ranges: &[(u64, u64, bool)], address: u64) -> bool {
    ranges.iter().rev().find(|(from, to, _)| (*from..*to).contains(&address)).is_some_and(|(.., heap)| *heap)
}

/// Which branch holds an instruction back.
struct Controls {
    which: Control,
    last: Option<usize>,
    /// Branches that ran: place in the trace, node, call level.
    ran: Vec<(usize, usize, usize)>,
    predicted: BTreeMap<u32, (u32, bool)>,
    edges: HashMap<u32, BTreeSet<u32>>,
    /// How many edges there are.
    count: usize,
    /// Where the ways of branches merged when there was this number of edges.
    merges: HashMap<u32, (usize, Option<u32>)>,
    calls: Vec<u32>,
    open: Vec<Open>,
}

/// A branch whose ways have not merged.
struct Open {
    end: Option<u32>,
    level: usize,
    node: usize,
}

impl Controls {
    fn new(which: Control) -> Controls {
        Controls {
            which,
            last: None,
            ran: Vec::new(),
            predicted: BTreeMap::new(),
            edges: HashMap::new(),
            count: 0,
            merges: HashMap::new(),
            calls: Vec::new(),
            open: Vec::new(),
        }
    }

    /// The node that holds back the instruction at `place`.
    fn before(&mut self, trace: &[Ran], place: usize) -> Option<usize> {
        let before = place.checked_sub(1)?;
        let (op, to) = (&trace[before].op, trace[place].op.id);
        let branch = self.ran.last().filter(|(at, ..)| *at == before).map(|(_, node, _)| *node);
        match self.which {
            Control::None => None,
            Control::Last => {
                self.last = branch.or(self.last);
                self.last
            }
            Control::Missed => {
                if let Some(node) = branch.filter(|_| op.flow != Flow::Return) {
                    let entry = self.predicted.entry(op.id).or_insert((0, false));
                    if entry.0 == to {
                        entry.1 = true;
                    } else {
                        self.last = Some(node);
                        if entry.1 {
                            entry.1 = false;
                        } else {
                            entry.0 = to;
                        }
                    }
                }
                self.last
            }
            Control::Merge => {
                self.go(op, to, branch);
                self.arrive(to);
                self.open.last().map(|open| open.node)
            }
        }
    }

    fn go(&mut self, op: &Op, to: u32, branch: Option<usize>) {
        match op.flow {
            Flow::Call | Flow::IndirectCall => self.calls.push(op.id),
            Flow::Return => {
                let level = self.calls.len();
                self.open.retain(|open| open.level < level);
                if let Some(call) = self.calls.pop() {
                    self.edge(call, to);
                }
            }
            _ => {
                self.edge(op.id, to);
                let Some(node) = branch else { return };
                if self.edges[&op.id].len() < 2 {
                    return;
                }
                let end = self.merge(op.id);
                if end == Some(to) {
                    return;
                }
                let level = self.calls.len();
                if self.open.last().is_some_and(|open| open.level == level && open.end == end) {
                    self.open.pop();
                }
                self.open.push(Open { end, level, node });
            }
        }
    }

    fn edge(&mut self, from: u32, to: u32) {
        self.count += usize::from(self.edges.entry(from).or_default().insert(to));
    }

    fn arrive(&mut self, to: u32) {
        let level = self.calls.len();
        if let Some(place) = self.open.iter().position(|open| open.level == level && open.end == Some(to)) {
            self.open.truncate(place);
        }
    }

    /// The first instruction that is on all ways from a branch to an end: all of them lie on the shortest way, in the order in
    /// which each way has them; without such an instruction no end can be reached.
    fn merge(&mut self, branch: u32) -> Option<u32> {
        if let Some((at, merge)) = self.merges.get(&branch) {
            if *at == self.count {
                return *merge;
            }
        }
        let merge = self.way(branch, None).and_then(|way| {
            way.into_iter().filter(|id| *id != branch).find(|id| self.way(branch, Some(*id)).is_none())
        });
        self.merges.insert(branch, (self.count, merge));
        merge
    }

    /// A shortest way from an instruction to one that nothing follows, without that one.
    fn way(&self, from: u32, without: Option<u32>) -> Option<Vec<u32>> {
        let mut before: HashMap<u32, u32> = HashMap::from([(from, from)]);
        let mut next = VecDeque::from([from]);
        while let Some(id) = next.pop_front() {
            let Some(to) = self.edges.get(&id) else {
                let mut way = vec![id];
                while way.last() != Some(&from) {
                    way.extend(way.last().map(|last| before[last]));
                }
                way.reverse();
                return Some(way);
            };
            for to in to.iter().filter(|to| Some(**to) != without) {
                before.entry(*to).or_insert_with(|| {
                    next.push_back(*to);
                    id
                });
            }
        }
        None
    }

    fn after(&mut self, place: usize, node: usize, op: &Op) {
        if op.flow.decides() {
            self.ran.push((place, node, self.calls.len()));
        }
    }
}
