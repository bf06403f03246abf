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

/// A model of dependences. All have those through registers and memory; registers are renamed, so that only true
/// dependences of registers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// As in Mak's table 3.1; what goes beyond has names of the same kind.
    pub name: &'static str,
    /// Whether a store waits for earlier accesses to the same memory.
    pub names: bool,
    /// What branches hold back.
    pub control: Control,
    /// Whether each call has its frame from a heap: a spaghetti stack.
    pub spaghetti: bool,
    /// Whether addresses are known beforehand.
    pub addresses: bool,
}

const fn model(name: &'static str, names: bool, control: Control, spaghetti: bool, addresses: bool) -> Model {
    Model { name, names, control, spaghetti, addresses }
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
