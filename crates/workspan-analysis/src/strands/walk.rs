//! The critical path in order: through which regions of the source it goes, one after the other.
//!
//! A replay sums the path by region, and folds what comes again. So that its order survives, the rows are cut into *stages* of
//! equal numbers of rows, and regions of different stages are kept separate: what is folded is then close together. With a stage
//! for each row the order is exact; otherwise, what comes again within a stage may stand where it is last.
//!
//! Cost per row: constant. Memory: as for a replay, and one number for each region of each stage that has rows.

use workspan_model::{ContextId, Nanos, Recording, Strand};

use super::charge::Charge;
use super::machine::Machine;
use super::region::{Region, Regions};
use super::rows::Rows;

/// A stretch of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Stretches of one stage have one number; they ascend along the path.
    pub stage: u32,
    /// Its region.
    pub region: Region,
    /// Cost of its strands.
    pub critical: Nanos,
    /// Time that they were blocked.
    pub blocked: Nanos,
    /// Their number, but for those that cost nothing.
    pub strands: u64,
}

impl Step {
    /// What it adds to the span.
    pub fn length(&self) -> Nanos {
        self.critical + self.blocked
    }

    fn absorb(&mut self, other: &Step) {
        self.critical += other.critical;
        self.blocked += other.blocked;
        self.strands += other.strands;
    }
}

/// The critical path of `count` rows of `recording` in order, in a number of stages. Neighbours in one region are one step.
pub fn walk<R: Rows + ?Sized>(recording: &Recording, rows: &R, count: u64, stages: u32) -> Result<Vec<Step>, R::Error> {
    let per_stage = count.div_ceil(u64::from(stages.max(1))).max(1);
    let finished = super::run(rows, || vec![Machine::new(recording, ByStage::new(per_stage))])?;
    let mut steps: Vec<Step> = Vec::new();
    for finished in finished {
        // Members of a team stand one after the other in the rows, but for the path their rounds do: stages may come back.
        let (mut stage, mut stage_of_rows) = (0, None);
        for part in &finished.path {
            let Some((rows, region)) = finished.charge.steps.get(part.key as usize / 2) else {
                continue;
            };
            stage += u32::from(stage_of_rows.replace(*rows).is_some_and(|before| before != *rows));
            let blocked = part.key % 2 == 1;
            let step = Step {
                stage,
                region: finished.charge.regions.get(*region),
                critical: Nanos(if blocked { 0 } else { part.span }),
                blocked: Nanos(if blocked { part.span } else { 0 }),
                strands: if blocked { 0 } else { part.secondary.unsigned_abs() },
            };
            match steps.last_mut().filter(|last| last.region == step.region) {
                Some(last) => last.absorb(&step),
                None => steps.push(step),
            }
        }
    }
    Ok(steps)
}

/// The same walk with at most a number of steps, as far as that can be: stages are joined two by two, and a region that occurs
/// in several places of a stage is reported once, where it is first.
pub fn coarsened(mut steps: Vec<Step>, most: usize) -> Vec<Step> {
    while steps.len() > most && steps.iter().any(|step| step.stage > 0) {
        let mut joined: Vec<Step> = Vec::new();
        // Where the stage begins that is being put together.
        let mut begin = 0;
        for step in steps {
            let step = Step { stage: step.stage / 2, ..step };
            if joined.get(begin).is_some_and(|first| first.stage != step.stage) {
                begin = joined.len();
            }
            match joined[begin..].iter_mut().find(|other| other.region == step.region) {
                Some(other) => other.absorb(&step),
                None => joined.push(step),
            }
        }
        steps = joined;
    }
    steps
}

/// By stage and region, as recorded.
struct ByStage {
    regions: Regions,
    /// By key: the stage and the region, in the order of their first rows.
    steps: Vec<(u32, u32)>,
    /// By region: its newest key.
    newest: Vec<Option<u32>>,
    per_stage: u64,
    stage: u32,
    left: u64,
}

impl ByStage {
    fn new(per_stage: u64) -> ByStage {
        let (steps, newest) = (Vec::new(), Vec::new());
        ByStage { regions: Regions::new(), steps, newest, per_stage, stage: 0, left: per_stage }
    }
}

impl Charge for ByStage {
    const PLACES: bool = true;
    const IN_ORDER: bool = true;
    const SCALE: i64 = 1;

    fn charge(&mut self, row: &Strand, context: ContextId, before: u32, after: u32) -> (u32, i64) {
        if self.left == 0 {
            self.stage += 1;
            self.left = self.per_stage;
        }
        self.left -= 1;
        let region = self.regions.find(context, before, after);
        let index = region as usize;
        if index >= self.newest.len() {
            self.newest.resize(index + 1, None);
        }
        let known = self.newest[index].filter(|key| self.steps[*key as usize].0 == self.stage);
        let key = known.unwrap_or_else(|| {
            // Keys have one bit for what is blocked, and the path one for its own purposes.
            let key = u32::try_from(self.steps.len()).unwrap_or(u32::MAX).min(u32::MAX >> 3);
            self.steps.push((self.stage, region));
            self.newest[index] = Some(key);
            key
        });
        (key * 2, row.cost.0)
    }

    fn blocked(&self, key: u32) -> u32 {
        key | 1
    }

    fn expected(&self, _: ContextId) -> u32 {
        u32::MAX
    }
}
