//! Contexts as call stacks: what flame graphs are made of.
//!
//! A context's stack is the program, then the sites around it, then its own. Its *work* is that of its strands, its *critical*
//! weight what they add to the critical path: the weights of all stacks add up to the work and the span of the run.

use workspan_model::{ContextId, Nanos, Recording, Run, SiteKind};

use crate::names;

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Cost of strands.
    Work,
    /// What they add to the critical path.
    Critical,
}

/// A place on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name.
    pub name: String,
    /// File, line and column, as far as they are known.
    pub place: Option<(String, u32, u32)>,
    /// Its kind; `None` for the program itself.
    pub kind: Option<SiteKind>,
}

/// A stack: one frame on another stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The stack below; `None` for the program.
    pub parent: Option<usize>,
    /// The frame on top, by its position.
    pub frame: usize,
    /// Cost of strands of exactly this stack.
    pub work: Nanos,
    /// What they add to the critical path.
    pub critical: Nanos,
}

/// The stacks of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stacks {
    /// The program.
    pub name: String,
    /// Frames, each once.
    pub frames: Vec<Frame>,
    /// Stacks, the ones below first. Those of contexts stand in the order of the recording's tree.
    pub stacks: Vec<Stack>,
}

/// The stacks of a run of `recording`.
pub fn stacks(recording: &Recording, run: &Run) -> Stacks {
    let tree = &recording.contexts;
    let name = names::program(recording);
    let mut frames: Vec<Frame> = Vec::new();
    let mut known = std::collections::BTreeMap::new();
    let mut stacks = Vec::new();
    for (id, label) in tree.ids().zip(names::contexts(recording)) {
        let Some(context) = tree.get(id) else {
            continue;
        };
        let frame = *known.entry((context.site, context.recursive)).or_insert_with(|| {
            let site = context.site.and_then(|site| recording.sites.get(site.0 as usize));
            let place = site.filter(|site| !site.file.is_empty());
            frames.push(Frame {
                name: label,
                place: place.map(|site| (site.file.clone(), site.line, site.column)),
                kind: site.map(|site| site.kind),
            });
            frames.len() - 1
        });
        stacks.push(Stack {
            parent: (id != ContextId::ROOT).then(|| context.parent.index()),
            frame,
            work: run.totals.get(id.index()).map_or(Nanos::ZERO, |totals| totals.self_work),
            critical: run.critical.get(id.index()).copied().unwrap_or_default(),
        });
    }
    if run.lost_path != Nanos::ZERO {
        frames.push(Frame { name: "(context not known)".to_owned(), place: None, kind: None });
        let frame = frames.len() - 1;
        stacks.push(Stack { parent: Some(0), frame, work: Nanos::ZERO, critical: run.lost_path });
    }
    Stacks { name, frames, stacks }
}

impl Stacks {
    /// Stacks that weigh something, with their weights; of two below a third, the one that is met first comes first, with all
    /// on it.
    ///
    /// Sums of calibrated costs may be a little below zero, which no format allows: they are zero here, and
    /// [reported](Stacks::below_zero) separately.
    pub fn weighted(&self, weight: Weight) -> Vec<(usize, Nanos)> {
        let mut children = vec![Vec::new(); self.stacks.len()];
        let mut todo = Vec::new();
        for (at, stack) in self.stacks.iter().enumerate().rev() {
            match stack.parent.and_then(|parent| children.get_mut(parent)) {
                Some(children) => children.push(at),
                None => todo.push(at),
            }
        }
        let mut found = Vec::new();
        while let Some(at) = todo.pop() {
            let own = self.stacks[at].weight(weight);
            if own > Nanos::ZERO {
                found.push((at, own));
            }
            todo.append(&mut children[at]);
        }
        found
    }

    /// What is missing since it is below zero.
    pub fn below_zero(&self, weight: Weight) -> Nanos {
        self.stacks.iter().map(|stack| stack.weight(weight)).filter(|own| *own < Nanos::ZERO).sum()
    }

    /// Frames of a stack, the program first.
    pub fn frames_of(&self, stack: usize) -> Vec<usize> {
        let mut frames: Vec<usize> =
            std::iter::successors(self.stacks.get(stack), |stack| self.stacks.get(stack.parent?))
                .map(|s| s.frame)
                .collect();
        frames.reverse();
        frames
    }
}

impl Stack {
    fn weight(&self, weight: Weight) -> Nanos {
        match weight {
            Weight::Work => self.work,
            Weight::Critical => self.critical,
        }
    }
}
