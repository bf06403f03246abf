//! Paths: a sample of the instructions on each model's critical path.
//!
//! A node stands for an instruction that ran, and for where its longest path came from, in each lane. The first
//! [`EXACT`] instructions each have one, so that paths of short runs are known exactly. Later ones are sampled, ever more
//! rarely: a node then stands for as many instructions as lie between two samples on average. Each instruction has the same
//! chance to be sampled, whether or not it is on a path, so that the shares of a path are without bias.
//!
//! **Bound**: the number of nodes grows with the logarithm of the run's length.

/// Instructions that all have nodes.
pub const EXACT: u64 = 1 << 18;

/// Of later ones, as many are sampled while the run becomes 2.7 times as long.
const RATE: u64 = EXACT / 4;

/// What holds a link of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Link {
    /// Nothing: a path begins.
    Begin,
    /// A value in a register.
    Register,
    /// The stack pointer.
    StackPointer,
    /// An address in a register.
    Address,
    /// A value that was written to the stack.
    StackValue,
    /// A value that was written elsewhere.
    MemoryValue,
    /// Stack that is used again.
    StackName,
    /// Memory elsewhere that is used again.
    MemoryName,
    /// A branch.
    Control,
}

/// All of them.
pub const LINKS: [Link; 9] = [
    Link::Begin,
    Link::Register,
    Link::StackPointer,
    Link::Address,
    Link::StackValue,
    Link::MemoryValue,
    Link::StackName,
    Link::MemoryName,
    Link::Control,
];

/// A node.
#[derive(Clone, Copy, Debug)]
pub struct Node<const N: usize> {
    /// The instruction.
    pub op: u32,
    /// Instructions that it stands for.
    pub weight: f32,
    /// The node before it.
    pub before: [u32; N],
    /// What it waited for.
    pub link: [Link; N],
    /// Where it loaded from first, and where it stored to first; 0 if nowhere.
    pub memory: Memory,
}

/// The first addresses that an instruction loads from, and stores to; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Of its first load.
    pub load: u64,
    /// Of its first store.
    pub store: u64,
}

/// An instruction on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The instruction.
    pub op: u32,
    /// What it waited for.
    pub link: Link,
    /// Address of the memory that it waited for, if that is not on the stack; 0 otherwise.
    pub address: u64,
    /// Instructions that it stands for.
    pub weight: f64,
}

/// All nodes.
#[derive(Debug)]
pub struct Paths<const N: usize> {
    nodes: Vec<Node<N>>,
    random: u64,
    next: u64,
    gap: u64,
}

impl<const N: usize> Paths<N> {
    /// None yet.
    pub fn new() -> Paths<N> {
        let memory = Memory::default();
        let none = Node { op: 0, weight: 0.0, before: [0; N], link: [Link::Begin; N], memory };
        Paths { nodes: vec![none], random: 0x9e37_79b9_7f4a_7c15, next: 0, gap: 1 }
    }

    /// How many instructions run before the next sample.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The instruction with number `count` is a sample.
    pub fn advance(&mut self, count: u64) {
        self.gap = if count < EXACT { 1 } else { count / RATE };
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        // Between 1 and twice the gap less 1, so that samples fall into step with no loop.
        self.next = count + 1 + self.random % (2 * self.gap - 1);
    }

    /// A new node.
    pub fn push(&mut self, op: u32, before: [u32; N], link: [Link; N], memory: Memory) -> u32 {
        let node = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        if node == u32::MAX {
            return 0;
        }
        self.nodes.push(Node { op, weight: self.gap as f32, before, link, memory });
        node
    }

    /// The instructions of a path, last first.
    pub fn walk(&self, last: u32, lane: usize) -> impl Iterator<Item = Step> + '_ {
        let node = |at: u32| (at != 0).then(|| &self.nodes[at as usize]);
        std::iter::successors(node(last), move |found| node(found.before[lane])).map(move |found| {
            let link = found.link[lane];
            let address = match link {
                Link::MemoryValue => found.memory.load,
                Link::MemoryName => found.memory.store,
                _ => 0,
            };
            Step { op: found.op, link, address, weight: f64::from(found.weight) }
        })
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node<N>>()
    }
}
