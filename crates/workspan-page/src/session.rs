//! Questions to what a page carries.

use workspan_analysis::laws;
use workspan_analysis::schedule::{BuildOptions, Graph, MOST_PROCESSORS};
use workspan_analysis::strands::Place;
use workspan_analysis::what_if::{
    changed, path_by_place, Change, Changed, Factor, Figures, PlaceOnPath, Scenario, Selector,
};
use workspan_model::Nanos;

use crate::codec::{Carried, CodecError};
use crate::predict::{predicted, Predicted, PARTS, STRANDS};

/// A page's recording, ready to be asked.
#[derive(Debug)]
pub struct Session {
    carried: Carried,
    before: Figures,
    /// With infinite factors, for the parts that were named last: a slider that moves names the same again and again.
    ceiling: Option<(Vec<Selector>, Changed)>,
    /// What was asked last, and the graph of it and of what was recorded, once somebody wants them.
    scenario: Scenario,
    graph: Option<Graph>,
    changed: Option<Graph>,
}

/// What a scenario amounts to, as `workspan what-if` reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// As recorded.
    pub before: Program,
    /// With the factors.
    pub after: Program,
    /// With the factors, if what was [merged](crate::shorten) cost nothing: the truth lies between. The same where nothing was.
    pub least: Program,
    /// With infinite ones.
    pub ceiling: Program,
    /// Work of the strands that are named.
    pub named: Nanos,
    /// Their number.
    pub strands: u64,
    /// What the critical path consists of, before and after.
    pub path: Vec<PlaceOnPath>,
}

/// The whole program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Program {
    /// Sum of all strands.
    pub work: Nanos,
    /// Longest chain.
    pub span: Nanos,
    /// Time that strands waited for the outside world.
    pub blocked: Nanos,
    /// Time on one processor, as recorded.
    pub on_one: Nanos,
    /// That, over span.
    pub parallelism: Option<f64>,
    /// The shortest that the chain can be: the other end of the range.
    pub shortest: Option<Nanos>,
}

impl Program {
    /// Between what speedups lie.
    pub fn curve(&self) -> [laws::Bounds; laws::POWERS as usize] {
        let Program { work, span, blocked, on_one, shortest, .. } = *self;
        laws::Program { work, span, blocked, on_one }.curve(shortest)
    }
}

impl Session {
    /// Of what [`crate::encode`] made.
    pub fn new(bytes: &[u8]) -> Result<Session, CodecError> {
        let carried = Carried::decode(bytes)?;
        let before = run(&carried, Vec::new()).figures;
        Ok(Session { carried, before, ceiling: None, scenario: Scenario::default(), graph: None, changed: None })
    }

    /// What is carried.
    pub fn carried(&self) -> &Carried {
        &self.carried
    }

    /// The answer to one scenario. Reads the rows once, and once more where other parts are named than the last time.
    pub fn ask(&mut self, changes: Vec<Change>) -> Answer {
        let parts: Vec<Selector> = changes.iter().map(|change| change.part.clone()).collect();
        let after = run(&self.carried, changes.clone()).figures;
        if self.scenario.changes != changes {
            (self.scenario, self.changed) = (Scenario { changes }, None);
        }
        let known = self.ceiling.take().filter(|(known, _)| *known == parts);
        let (parts, ceiling) = known.unwrap_or_else(|| {
            let infinite = |part: &Selector| Change { part: part.clone(), factor: Factor::INFINITE };
            let ceiling = run(&self.carried, parts.iter().map(infinite).collect());
            (parts, ceiling)
        });
        let on_one = self.before.on_one + self.carried.merged.elsewhere;
        let program = |figures: &Figures| program(figures, on_one, self.carried.merged.elsewhere);
        let least = self.carried.merged_context().map(|context| {
            let merged = Change { part: Selector::Context(context), factor: Factor::INFINITE };
            run(&self.carried, self.scenario.changes.iter().cloned().chain([merged]).collect()).figures
        });
        let answer = Answer {
            before: program(&self.before),
            after: program(&after),
            least: program(least.as_ref().unwrap_or(&after)),
            ceiling: program(&ceiling.figures),
            named: ceiling.named,
            strands: ceiling.strands,
            path: path_by_place(&self.carried.recording.contexts, &self.before, &after),
        };
        self.ceiling = Some((parts, ceiling));
        answer
    }

    /// What the scenario that was asked last takes on this number of processors; `None` if that may take longer than somebody waits:
    /// where strands are too many, or many of them are made so much faster that they fall into too many parts.
    pub fn predict(&mut self, processors: u32) -> Option<Predicted> {
        let strands = self.ceiling.as_ref().map_or(0, |(_, ceiling)| ceiling.strands);
        let factor: f64 = self.scenario.changes.iter().map(|change| change.factor.value()).product();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most so many parts, rounded up"
        )]
        let parts = factor.min(f64::from(MOST_PROCESSORS)).ceil() as u64;
        let is_merged = self.carried.merged.rows > 0;
        if is_merged || self.carried.len() > STRANDS || strands.saturating_mul(parts) > PARTS {
            return None;
        }
        let recording = &self.carried.recording;
        let graph = || Graph::of(recording, &self.carried, &BuildOptions::default());
        let recorded = self.graph.get_or_insert_with(|| graph().unwrap_or_else(|never| match never {}));
        let changed = self.changed.get_or_insert_with(|| recorded.with_factors(self.scenario.factors(recording)));
        let steal = Nanos(i64::try_from(recording.machine.steal_ns).unwrap_or(i64::MAX));
        Some(predicted(changed, self.before.on_one, steal, processors))
    }
}

fn run(carried: &Carried, changes: Vec<Change>) -> Changed {
    changed(&carried.recording, carried, &Scenario { changes }).unwrap_or_else(|never| match never {})
}

fn program(figures: &Figures, on_one: Nanos, elsewhere: Nanos) -> Program {
    let (work, span, blocked) = (figures.replayed.work + elsewhere, figures.replayed.span, figures.replayed.blocked);
    let shortest = figures.uniform.map(|uniform| uniform.span);
    Program { work, span, blocked, on_one, parallelism: laws::parallelism(on_one, span).map(|ratio| ratio.0), shortest }
}

/// A place as three whole numbers: its site and one, or 0; the events before and after it.
pub fn numbers(place: &Place) -> [u32; 3] {
    [place.site.map_or(0, |site| site.0.saturating_add(1)), place.before.code(), place.after.code()]
}
