//! What a run had: lengths of critical paths, and the instructions on them.

use std::collections::BTreeMap;

use crate::engine::Engine;
use crate::model::{Kind, Model};
use crate::path::{Link, Step};
use crate::profile::{Profile, Slack};
use crate::program::Program;

/// The limits of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Instructions that ran.
    pub instructions: u64,
    /// What each model allows.
    pub models: Vec<ModelLimit>,
    /// What models allow that another engine had, of the same run.
    pub beyond: Vec<ModelLimit>,
    /// Branches that ran, and how many of them were predicted wrong, if a predictor ran.
    pub branches: (u64, Option<u64>),
    /// How long values in registers waited for their first use, if that is known.
    pub slack: Option<Slack>,
    /// Bytes that the analysis took.
    pub bytes: u64,
    /// True if memory was used up, so that dependences may have been seen that are not there.
    pub coarse: bool,
    /// True if each instruction on a path is known, not a sample.
    pub exact: bool,
}

/// What a model allows.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelLimit {
    /// Its name.
    pub name: &'static str,
    /// Instructions of its graph.
    pub instructions: u64,
    /// Length of the longest path.
    pub critical_path: u64,
    /// Instructions on it, joined by instruction of the program, link and address; `weight` is how many.
    pub path: Vec<Step>,
    /// Instructions by the cycle in which they run, if that is kept.
    pub profile: Option<Profile>,
    /// What it is.
    pub model: Model,
}

impl ModelLimit {
    /// Instructions over the length of the longest path; 0 of nothing.
    pub fn parallelism(&self) -> f64 {
        if self.critical_path == 0 {
            return 0.0;
        }
        self.instructions as f64 / self.critical_path as f64
    }
}

/// The limits that an engine has found so far.
pub fn limits<K: Kind, const N: usize, const T: usize>(engine: &Engine<K, N, T>, program: &Program) -> Limits {
    let instructions = engine.instructions();
    let lengths = engine.critical_paths();
    let (paths, last) = engine.paths();
    let mut models = Vec::with_capacity(N);
    for (lane, model) in engine.models().iter().enumerate() {
        let removed = if model.addresses { removed(engine, program) } else { 0 };
        let mut found: BTreeMap<(u32, Link, u64), f64> = BTreeMap::new();
        for step in paths.walk(last[lane], lane) {
            *found.entry((step.op, step.link, step.address)).or_default() += step.weight;
        }
        // Samples say which share of the path; its length is known.
        let sum: f64 = found.values().sum();
        let scale = if sum > 0.0 { lengths[lane] as f64 / sum } else { 0.0 };
        models.push(ModelLimit {
            name: model.name,
            model: *model,
            profile: engine.profile(lane).cloned(),
            instructions: instructions.saturating_sub(removed),
            critical_path: lengths[lane],
            path: found
                .into_iter()
                .map(|((op, link, address), weight)| Step { op, link, address, weight: weight * scale })
                .collect(),
        });
    }
    let (bytes, coarse) = engine.memory();
    Limits {
        instructions,
        models,
        beyond: Vec::new(),
        branches: (engine.branches().0, K::MISSED.then_some(engine.branches().1)),
        slack: engine.slack().copied(),
        bytes: bytes as u64,
        coarse,
        exact: instructions <= crate::path::EXACT,
    }
}

/// How many of the instructions that ran compute nothing but addresses.
fn removed<K: Kind, const N: usize, const T: usize>(engine: &Engine<K, N, T>, program: &Program) -> u64 {
    let of = |ops: &[crate::op::Op]| ops.iter().filter(|op| !op.memory && engine.is_marked(op.id)).count() as u64;
    program.blocks().iter().map(|block| block.runs * of(&block.ops)).sum()
}
