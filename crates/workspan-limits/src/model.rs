//! The models: which dependences count.

/// Which branch an instruction must wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// None: all branches are predicted.
    None,
    /// The last branch or indirect jump that ran.
    Last,
    /// The one that decided that it runs: the last one whose ways have not merged yet.
    Merge,
    /// The last one that a predictor with two bits for each branch got wrong.
    Missed,
}

/// What a store has in common with the earlier access that it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// Memory of one frame, used for another value: a spilled register, a local variable.
    Spill,
    /// Memory of the stack that belonged to another call.
    Stack,
    /// Memory that the program requested from the system.
    Heap,
    /// Memory of the program's files: global variables.
    Global,
}

/// All of them, in the order of their numbers.
pub const REUSES: [Reuse; 4] = [Reuse::Spill, Reuse::Stack, Reuse::Heap, Reuse::Global];

/// Whether a store waits for earlier accesses to the same memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Never.
    None,
    /// Always.
    All,
    /// Always but for one kind.
    Without(Reuse),
}

/// What the machine allows, if it is not all that dependences allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// As many instructions at once as one likes, one cycle each.
    Ideal,
    /// Instructions take the cycles that they take on a processor.
    Latency,
    /// An instruction begins no earlier than the one that is this power of two before it has ended, with all before that.
    Window(u32),
    /// A window of [`BROADEST`], and no more instructions in a cycle than this power of two.
    Width(u32),
}

/// A model of dependences. All have those through registers and memory; registers are renamed, so that only true
/// dependences of registers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// As in Mak's table 3.1; what goes beyond has names of the same kind.
    pub name: &'static str,
    /// Whether a store waits for earlier accesses to the same memory.
    pub names: Names,
    /// What branches hold back.
    pub control: Control,
    /// Whether each call has its frame from a heap: a spaghetti stack.
    pub spaghetti: bool,
    /// Whether addresses are known beforehand.
    pub addresses: bool,
    /// Whether calls of the allocator may run in any order: what one leaves in memory for the next does not count.
    pub allocator: bool,
    /// What the machine allows.
    pub machine: Machine,
}

const fn model(name: &'static str, names: bool, control: Control, spaghetti: bool, addresses: bool) -> Model {
    let names = if names { Names::All } else { Names::None };
    Model { name, names, control, spaghetti, addresses, allocator: false, machine: Machine::Ideal }
}

/// Lanes of an engine for all models.
pub const LANES: usize = 12;
/// Those of them that have name dependences: the first.
pub const NAMED: usize = 5;

/// All models: those with name dependences first, the one without addresses last.
pub const ALL: [Model; LANES] = [
    model("TruNamCtl", true, Control::Last, false, false),
    model("TruNam", true, Control::None, false, false),
    model("TruNamSp", true, Control::None, true, false),
    model("TruNamMerge", true, Control::Merge, false, false),
    model("TruNamMiss", true, Control::Missed, false, false),
    model("TruCtl", false, Control::Last, false, false),
    model("Tru", false, Control::None, false, false),
    model("TruSp", false, Control::None, true, false),
    model("TruMerge", false, Control::Merge, false, false),
    model("TruMiss", false, Control::Missed, false, false),
    // Beyond the table: merge points and a spaghetti stack together, what a compiler could do at best.
    model("TruMergeSp", false, Control::Merge, true, false),
    model("TruNoAddr", false, Control::None, true, true),
];

/// Lanes of an engine for the seven models and one control variant.
pub const SEVEN_LANES: usize = 8;
/// Those of them that have name dependences.
pub const SEVEN_NAMED: usize = 3;

/// The seven models of the table, and the variant of `TruCtl` with merge points.
pub const SEVEN: [Model; SEVEN_LANES] = [ALL[0], ALL[1], ALL[2], ALL[5], ALL[6], ALL[7], ALL[8], ALL[11]];

/// `Tru` alone.
pub const TRU: [Model; 1] = [ALL[6]];

/// The names of the seven models, in the order of the table.
pub const TABLE: [&str; 7] = ["TruNamCtl", "TruCtl", "TruNam", "Tru", "TruNamSp", "TruSp", "TruNoAddr"];

/// The smallest window, and the largest, as powers of two.
pub const WINDOWS: std::ops::RangeInclusive<u32> = 5..=20;
/// The window of all widths, as a power of two.
pub const BROADEST: u32 = 16;
/// The largest width, as a power of two; the smallest is one instruction.
pub const WIDEST: u32 = 10;

/// Lanes of an engine for what goes beyond: reuse, allocator, latencies, windows and widths.
pub const BEYOND_LANES: usize = 4 + 2 + 3 + 16 + 11;
/// Those of them that have name dependences.
pub const BEYOND_NAMED: usize = 4;
/// The first lane with a window or a width: they are the last.
pub const MACHINES: usize = 9;

/// The models that go beyond the table.
pub const BEYOND: [Model; BEYOND_LANES] = beyond();

const fn beyond() -> [Model; BEYOND_LANES] {
    let tru = ALL[6];
    let mut all = [tru; BEYOND_LANES];
    let names = ["TruNamWithoutSpill", "TruNamWithoutStack", "TruNamWithoutHeap", "TruNamWithoutGlobal"];
    let mut n = 0;
    while n < 4 {
        all[n] = Model { name: names[n], names: Names::Without(REUSES[n]), ..tru };
        n += 1;
    }
    all[4] = Model { name: "TruMalloc", allocator: true, ..tru };
    all[5] = Model { name: "TruMallocSp", allocator: true, spaghetti: true, ..tru };
    all[6] = Model { name: "TruLatency", machine: Machine::Latency, ..tru };
    all[7] = Model { name: "TruCtlLatency", machine: Machine::Latency, control: Control::Last, ..tru };
    all[8] = Model { name: "TruSpLatency", machine: Machine::Latency, spaghetti: true, ..tru };
    let mut lane = MACHINES;
    let mut window = 5;
    while window <= 20 {
        all[lane] = Model { name: "TruWindow", machine: Machine::Window(window), ..tru };
        window += 1;
        lane += 1;
    }
    let mut width = 0;
    while width <= WIDEST {
        all[lane] = Model { name: "TruWidth", machine: Machine::Width(width), ..tru };
        width += 1;
        lane += 1;
    }
    all
}

/// What an engine computes, known when it is compiled: it does nothing for what none of its models has.
pub trait Kind: std::fmt::Debug + Send + 'static {
    /// A depth.
    type Lane: crate::row::Lane;
    /// Whether paths are followed.
    const PATHS: bool;
    /// Whether the last lane knows addresses beforehand.
    const ADDRESSES: bool;
    /// Whether a model has a frame for each call.
    const SPAGHETTI: bool;
    /// Whether a model has control dependences of the last branch.
    const LAST: bool;
    /// Whether a model has merge points.
    const MERGE: bool;
    /// Whether a model has a predictor.
    const MISSED: bool;
    /// Whether profile and slack are wanted.
    const PROFILE: bool;
    /// Whether models go beyond: kinds of reuse, the allocator, latencies, windows and widths.
    const BEYOND: bool;
}

/// For [`ALL`].
#[derive(Debug)]
pub struct All;
/// For [`SEVEN`].
#[derive(Debug)]
pub struct Table;
/// For [`TRU`].
#[derive(Debug)]
pub struct Single;
/// For [`BEYOND`].
#[derive(Debug)]
pub struct Beyond;

impl Kind for All {
    type Lane = f64;
    const PATHS: bool = true;
    const ADDRESSES: bool = true;
    const SPAGHETTI: bool = true;
    const LAST: bool = true;
    const MERGE: bool = true;
    const MISSED: bool = true;
    const PROFILE: bool = true;
    const BEYOND: bool = false;
}

impl Kind for Table {
    type Lane = f64;
    const PATHS: bool = true;
    const ADDRESSES: bool = true;
    const SPAGHETTI: bool = true;
    const LAST: bool = true;
    const MERGE: bool = true;
    const MISSED: bool = true;
    const PROFILE: bool = false;
    const BEYOND: bool = false;
}

impl Kind for Single {
    type Lane = f64;
    const PATHS: bool = true;
    const ADDRESSES: bool = false;
    const SPAGHETTI: bool = false;
    const LAST: bool = false;
    const MERGE: bool = false;
    const MISSED: bool = false;
    const PROFILE: bool = false;
    const BEYOND: bool = false;
}

impl Kind for Beyond {
    type Lane = f32;
    const PATHS: bool = false;
    const ADDRESSES: bool = false;
    const SPAGHETTI: bool = true;
    const LAST: bool = true;
    const MERGE: bool = false;
    const MISSED: bool = false;
    const PROFILE: bool = false;
    const BEYOND: bool = true;
}
