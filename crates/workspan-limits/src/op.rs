//! An instruction as dependences see it: registers that it reads and writes, and what else matters.

/// Registers, numbered.
pub mod register {
    /// Always ready: what is known from the beginning.
    pub const NONE: u8 = 0;
    /// The first of sixteen general registers.
    pub const GENERAL: u8 = 1;
    /// The stack pointer.
    pub const STACK: u8 = GENERAL + 4;
    /// The carry flag.
    pub const CARRY: u8 = 17;
    /// The overflow flag.
    pub const OVERFLOW: u8 = 18;
    /// Sign, zero, auxiliary carry and parity.
    pub const FLAGS: u8 = 19;
    /// The first of 32 vector registers.
    pub const VECTOR: u8 = 20;
    /// The top of the floating-point stack; seven more follow.
    pub const FLOAT: u8 = 52;
    /// The first of eight mask registers.
    pub const MASK: u8 = 60;
    /// Control and status of floating point.
    pub const CONTROL: u8 = 68;
    /// How many there are, rounded up.
    pub const COUNT: usize = 128;
}

/// How an instruction changes control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// Not at all, or to a place that is known: other instructions do not wait for it.
    #[default]
    Next,
    /// A conditional branch.
    Branch,
    /// A jump to a place that is computed.
    Indirect,
    /// A direct call.
    Call,
    /// An indirect call.
    IndirectCall,
    /// A return.
    Return,
}

impl Flow {
    /// Whether what follows depends on it.
    pub fn decides(self) -> bool {
        matches!(self, Flow::Branch | Flow::Indirect | Flow::IndirectCall | Flow::Return)
    }

    /// Whether it makes a frame.
    pub fn calls(self) -> bool {
        matches!(self, Flow::Call | Flow::IndirectCall)
    }
}

/// A pointer that an instruction moves besides: `to` becomes `from` and a constant, whatever else the instruction waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Move {
    /// Register that is written.
    pub to: u8,
    /// Register that is read.
    pub from: u8,
    /// True if this makes room on the stack, which a spaghetti stack gives without a look at the pointer.
    pub allocates: bool,
    /// False for a counter: no address.
    pub address: bool,
}

/// A few values, in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List<V, const K: usize> {
    len: u8,
    items: [V; K],
}

impl<V: Copy + Default, const K: usize> Default for List<V, K> {
    fn default() -> List<V, K> {
        List { len: 0, items: [V::default(); K] }
    }
}

impl<V: Copy + Default + PartialEq, const K: usize> List<V, K> {
    /// Adds a value unless it is there. False if there is no room.
    pub fn add(&mut self, value: V) -> bool {
        if self.contains(&value) {
            return true;
        }
        let Some(place) = self.items.get_mut(usize::from(self.len)) else { return false };
        *place = value;
        self.len += 1;
        true
    }

    /// Removes all but what `keep` accepts.
    pub fn retain(&mut self, keep: impl Fn(V) -> bool) {
        let old = *self;
        *self = List::default();
        for value in old.iter().filter(|value| keep(**value)) {
            self.add(*value);
        }
    }
}

impl<V, const K: usize> std::ops::Deref for List<V, K> {
    type Target = [V];

    #[inline(always)]
    fn deref(&self) -> &[V] {
        &self.items[..usize::from(self.len).min(K)]
    }
}

/// Registers beyond those that an [`Op`] has room for: of instructions that save or restore everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// Registers whose values it needs.
    pub sources: Vec<u8>,
    /// Registers that it writes.
    pub targets: Vec<u8>,
}

/// An instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Op {
    /// Its number among the instructions of the program; 0 is none.
    pub id: u32,
    /// Registers whose values it needs.
    pub sources: List<u8, 7>,
    /// Registers that it writes.
    pub targets: List<u8, 7>,
    /// Registers that make addresses of memory that it accesses.
    pub addresses: List<u8, 3>,
    /// Pointers that it moves besides.
    pub moves: List<Move, 3>,
    /// What does not fit.
    pub rest: Option<Box<Rest>>,
    /// True if it accesses memory.
    pub memory: bool,
    /// True if its stores read first what they overwrite.
    pub updates: bool,
    /// True if it makes room on the stack: it needs the stack pointer, but not with a spaghetti stack.
    pub allocates: bool,
    /// What it does to control.
    pub flow: Flow,
    /// Cycles that it takes on a processor; 0 and 1 are the same.
    pub cycles: u8,
    /// True if a function of the allocator begins here.
    pub allocator: bool,
    /// True if it calls the system.
    pub system: bool,
    /// By how much it turns the floating-point stack: −1 is a push.
    pub turn: i8,
}

impl Op {
    /// It needs a register's value.
    pub fn reads(&mut self, register: u8) {
        if !self.sources.add(register) {
            self.rest.get_or_insert_default().sources.push(register);
        }
    }

    /// It writes a register.
    pub fn writes(&mut self, register: u8) {
        if !self.targets.add(register) {
            self.rest.get_or_insert_default().targets.push(register);
        }
    }

    /// All registers whose values it needs, but for addresses and moves.
    pub fn all_sources(&self) -> impl Iterator<Item = u8> + '_ {
        self.sources.iter().chain(self.rest.iter().flat_map(|rest| &rest.sources)).copied()
    }

    /// All registers that it writes, but for moves.
    pub fn all_targets(&self) -> impl Iterator<Item = u8> + '_ {
        self.targets.iter().chain(self.rest.iter().flat_map(|rest| &rest.targets)).copied()
    }
}
