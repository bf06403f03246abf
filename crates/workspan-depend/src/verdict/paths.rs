//! What the tables know, put to what was counted of the lines: the [graphs](crate::paths).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use workspan_trace::facts::{loop_flag, Update};
use workspan_trace::program::flag;

use super::judge::Judge;
use super::remedy::Remedy;
use crate::paths::{Clause, Context, Edge, Loop, Paths, Piece};
use crate::source::{small, Place, PlaceId};
use crate::table::{Key, Record};

/// Numbers of pieces and loops.
struct Numbers {
    /// By line of the journal.
    pieces: BTreeMap<u32, u32>,
    /// By segment and line of it.
    of_run: HashMap<(u32, u32), u32>,
    /// By the call at their end.
    of_call: HashMap<PlaceId, Vec<u32>>,
    /// By number in the program; + 1.
    loops: BTreeMap<u32, u32>,
}

impl Judge<'_> {
    /// All graphs.
    pub(super) fn paths(&self) -> Paths {
        let (walked, source) = (&self.engine.walked, &self.engine.source);
        let lines: BTreeSet<u32> =
            walked.contexts.iter().flat_map(|each| each.lines.iter().map(|(line, _)| line)).collect();
        let mut paths = Paths::default();
        let (pieces, loops) = (BTreeMap::new(), BTreeMap::from([(0, 0)]));
        let mut numbers = Numbers { pieces, of_run: HashMap::new(), of_call: HashMap::new(), loops };
        for each in walked.contexts.iter().flat_map(|each| each.loops.keys()) {
            self.number_loop(*each, &mut numbers, &mut paths);
        }
        for line in lines {
            let (segment, run) = self.engine.lines[line as usize];
            let info = &source.segments[segment as usize];
            let Some(found) = info.runs.get(run as usize) else { continue };
            let number = small(paths.pieces.len());
            let in_loop = self.number_loop(info.in_loop, &mut numbers, &mut paths);
            let file = self.place(info.place).file;
            let place = Place { file, line: found.line, column: 0 };
            let (id, function) = ((segment, run), self.function(info.function));
            paths.pieces.push(Piece { id, place, function, in_loop, cost: found.cost });
            numbers.pieces.insert(line, number);
            numbers.of_run.insert(id, number);
            if info.flags & flag::CALL != 0 && run as usize + 1 == info.runs.len() {
                numbers.of_call.entry(info.call).or_default().push(number);
            }
        }
        for each in &walked.contexts {
            let numbered = |line: &u32| numbers.pieces.get(line).copied();
            let mut context = Context {
                call: self.place(each.key.0),
                function: self.function(each.key.1),
                depth: each.key.2,
                entries: each.entries,
                pieces: each.lines.iter().filter_map(|(line, count)| Some((numbered(&line)?, count))).collect(),
                loops: each
                    .loops
                    .iter()
                    .map(|(at, (entries, turns))| (numbers.loops[at] - 1, *entries, *turns))
                    .collect(),
                calls: each
                    .calls
                    .iter()
                    .filter_map(|((line, to), count)| Some((numbered(line)?, *to, *count)))
                    .collect(),
            };
            context.pieces.sort_unstable();
            context.loops.sort_unstable();
            context.calls.sort_unstable();
            paths.contexts.push(context);
        }
        paths.edges = self.edges(&numbers, &paths);
        paths
    }

    fn number_loop(&self, number: u32, numbers: &mut Numbers, paths: &mut Paths) -> u32 {
        if let Some(known) = numbers.loops.get(&number) {
            return *known;
        }
        let info = &self.engine.source.loops[number as usize - 1];
        let parent = self.number_loop(info.parent, numbers, paths);
        let (place, function) = (self.place(info.place), self.function(info.function));
        paths.loops.push(Loop { id: number, place, function, parent });
        let own = small(paths.loops.len());
        numbers.loops.insert(number, own);
        own
    }

    fn edges(&self, numbers: &Numbers, paths: &Paths) -> Vec<Edge> {
        let mut found: BTreeMap<Edge, Edge> = BTreeMap::new();
        let mut add = |edge: Edge| {
            let key = Edge { distance: (0, 0), sum: 0, count: 0, ..edge.clone() };
            match found.get_mut(&key) {
                Some(known) => known.add(&edge),
                None => drop(found.insert(key, edge)),
            }
        };
        for (from, to) in &self.engine.walked.follow {
            if let (Some(from), Some(to)) = (numbers.pieces.get(from), numbers.pieces.get(to)) {
                add(Edge { from: *from, to: *to, kind: "line".to_owned(), count: 1, ..Edge::default() });
            }
        }
        let clauses = self.clauses(numbers);
        for (key, record) in &self.engine.table.all {
            let clause = clauses.get(key).copied().unwrap_or_else(|| self.of_counter(key));
            let Some(carrier) = numbers.loops.get(&key.carrier) else { continue };
            for from in self.ends_of(numbers, key, true) {
                for to in self.ends_of(numbers, key, false) {
                    let (kind, variable) = (key.kind.name().to_owned(), self.variable(key));
                    let Record { least, most, sum, count, .. } = *record;
                    add(Edge {
                        from,
                        to,
                        kind,
                        variable,
                        carrier: *carrier,
                        distance: (least, most),
                        sum,
                        count,
                        clause,
                    });
                }
            }
        }
        for (number, own) in numbers.loops.iter().filter(|(number, _)| **number != 0) {
            let flags = self.engine.source.loops[*number as usize - 1].flags;
            if flags & (loop_flag::EARLY_EXIT | loop_flag::DATA_EXIT | loop_flag::ENDLESS) == 0 {
                continue;
            }
            let counted = self.engine.loops[*number as usize - 1].iterations;
            let is_condition = |piece: &Piece| {
                let info = &self.engine.source.segments[piece.id.0 as usize];
                piece.in_loop == *own && info.flags & flag::BRANCH != 0 && piece.id.1 as usize + 1 == info.runs.len()
            };
            for (at, _) in (0..).zip(&paths.pieces).filter(|(_, piece)| is_condition(piece)) {
                let (kind, variable) = ("control".to_owned(), String::new());
                let (distance, count) = ((1, 1), counted.max(1));
                let clause = Clause::None;
                add(Edge { from: at, to: at, kind, variable, carrier: *own, distance, sum: count, count, clause });
            }
        }
        found.into_values().collect()
    }

    /// Pieces in which one end of a dependence is.
    fn ends_of(&self, numbers: &Numbers, key: &Key, is_source: bool) -> Vec<u32> {
        let (call, site) = if is_source { (key.source_call, key.source) } else { (key.sink_call, key.sink) };
        let info = self.site(site);
        let call = if call == 0 && info.state != 0 { info.place } else { call };
        if call != 0 {
            return numbers.of_call.get(&call).cloned().unwrap_or_default();
        }
        numbers.of_run.get(&info.segment).copied().into_iter().collect()
    }

    /// What the verdicts take away, of dependences that loops carry.
    fn clauses(&self, numbers: &Numbers) -> HashMap<Key, Clause> {
        let mut found = HashMap::new();
        for carrier in numbers.loops.keys().copied().filter(|carrier| *carrier != 0) {
            // A variable that is set beside a minimum: copies do not find its place.
            let judged = self.of_loop(carrier as usize - 1);
            let is_chosen = judged.blockers.iter().any(|each| each.kind == "control" && !each.variable.is_empty());
            let holds = |update: Update| is_chosen && matches!(update.sign(), "min" | "max");
            for carried in self.by_variable(carrier) {
                let (of_flows, of_names) = match self.remedy(carrier, &carried) {
                    Remedy::Step { .. } => (Clause::Linear, Clause::Linear),
                    Remedy::Copies { .. } => (Clause::None, Clause::Private),
                    Remedy::NoneOfNames(_) => (Clause::None, Clause::None),
                    Remedy::Operator(update) if !holds(update) => (Clause::Reduction, Clause::Reduction),
                    Remedy::Operator(_) | Remedy::NoneOfFlows => (Clause::None, Clause::Private),
                };
                for (key, _) in &carried.flows {
                    let clause = if self.steps(carrier, key) { Clause::Linear } else { of_flows };
                    found.insert(*key, clause);
                }
                found.extend(carried.names.iter().map(|(key, _)| (*key, of_names)));
            }
        }
        found
    }

    /// Within an iteration a counter of a loop around both places holds nothing either.
    fn of_counter(&self, key: &Key) -> Clause {
        let (source, sink) = (self.site(key.source), self.site(key.sink));
        let mut around =
            if key.carrier == 0 && source.local != 0 && source.local == sink.local { sink.in_loop } else { 0 };
        while around != 0 {
            let is_own = self.engine.source.is_within(source.in_loop, around);
            if is_own && self.induction(around, sink.local).is_some() {
                return Clause::Linear;
            }
            around = self.engine.source.loops.get(around as usize - 1).map_or(0, |each| each.parent);
        }
        Clause::None
    }
}
