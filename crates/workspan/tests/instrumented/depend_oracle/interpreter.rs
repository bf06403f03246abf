//! Runs a program, and notes the dependences of every access.

use std::collections::{BTreeMap, BTreeSet};

use super::language::Language;
use super::program::{Array, Expression, Function, Statement, Target, Variable};
use super::{between, note, Between, Found, Key, Node, Seen};

/// An object or variable, and the element.
type Place = (usize, u32);

pub(super) struct Interpreter<'f> {
    functions: &'f [Function],
    language: Language,
    path: Vec<Node>,
    nodes: usize,
    values: BTreeMap<Place, u32>,
    writes: BTreeMap<Place, Seen>,
    reads: BTreeMap<Place, Vec<Seen>>,
    pub(super) found: Found,
    pub(super) steps: u64,
    /// What the statement has read already: flang reads it once.
    read: BTreeSet<String>,
}

struct Frame {
    base: usize,
    pointer: (usize, u32),
    counters: Vec<usize>,
}

const OBJECT_A: usize = 1;
const OBJECT_B: usize = 2;
const OBJECT_G: usize = 3;

/// Variables of a call, by their distance from its first number.
pub(super) const X: usize = 0;
pub(super) const Y: usize = 1;
pub(super) const N: usize = 2;
pub(super) const P: usize = 3;
pub(super) const COUNTER: usize = 4;
/// Numbers that a call or a loop takes.
const IDS: usize = 8;

impl Interpreter<'_> {
    pub(super) fn new(functions: &[Function], language: Language) -> Interpreter<'_> {
        Interpreter {
            functions,
            language,
            path: Vec::new(),
            nodes: IDS,
            values: BTreeMap::new(),
            writes: BTreeMap::new(),
            reads: BTreeMap::new(),
            found: Found::new(),
            steps: 0,
            read: BTreeSet::new(),
        }
    }

    fn new_id(&mut self) -> usize {
        self.nodes += IDS;
        self.nodes
    }

    fn depends(&mut self, kind: &str, from: &Seen, to: &Seen) -> (Key, u64) {
        let Between { lines, carrier, node, distance } = between(from, to);
        let function = self.functions[node.function].name.clone();
        ((kind.to_owned(), lines.0, lines.1, function, carrier), distance)
    }

    fn note(&mut self, key: Key, least: u64, most: u64) {
        note(&mut self.found, key, least, most);
    }

    fn access(&mut self, place: Place, is_write: bool, site: usize, line: u32) {
        self.steps += 1;
        let is_object = place.0 <= OBJECT_G;
        if !is_object && !self.language.keeps(place.0 % IDS) {
            return;
        }
        let now = Seen { site, line, path: self.path.clone() };
        let before = self.writes.get(&place).cloned();
        if let Some(before) = before {
            let (key, distance) = self.depends(if is_write { "WAW" } else { "RAW" }, &before, &now);
            self.note(key, distance, distance);
        }
        if !is_write {
            self.reads.entry(place).or_default().push(now);
            return;
        }
        let mut groups: BTreeMap<(usize, Key, usize), (u64, u64)> = BTreeMap::new();
        for read in self.reads.remove(&place).unwrap_or_default() {
            let (key, distance) = self.depends("WAR", &read, &now);
            let node = between(&read, &now).node.id;
            let entry = groups.entry((read.site, key, node)).or_insert((u64::MAX, 0));
            *entry = (entry.0.min(distance), entry.1.max(distance));
        }
        for ((_, key, _), (least, most)) in groups {
            self.note(key, least, most);
        }
        self.writes.insert(place, now);
    }

    fn place(&self, frame: &Frame, variable: Variable) -> Place {
        match variable {
            Variable::X => (frame.base + X, 0),
            Variable::Y => (frame.base + Y, 0),
            Variable::N => (frame.base + N, 0),
            Variable::Global => (OBJECT_G, 0),
            Variable::Counter(depth) => (frame.counters[depth], 0),
        }
    }

    fn element(&mut self, frame: &Frame, array: Array, index: u32, line: u32) -> Place {
        match array {
            Array::A => (OBJECT_A, index & 7),
            Array::B => (OBJECT_B, index & 7),
            Array::Parameter(site) => {
                self.access((frame.base + P, 0), false, site, line);
                (frame.pointer.0, frame.pointer.1 + (index & 3))
            }
        }
    }

    fn value(&mut self, frame: &Frame, expression: &Expression, line: u32) -> u32 {
        let again = self.language == Language::Fortran
            && !matches!(expression, Expression::Number(_) | Expression::Sum(..))
            && !self.read.insert(written(expression));
        match expression {
            Expression::Number(number) => *number,
            Expression::Read(_, variable) if again => {
                self.values.get(&self.place(frame, *variable)).copied().unwrap_or(0)
            }
            Expression::Element(_, array, index) if again => {
                let index = self.value(frame, index, line);
                let place = self.element(frame, *array, index, line);
                self.values.get(&place).copied().unwrap_or(0)
            }
            Expression::Read(site, variable) => {
                let place = self.place(frame, *variable);
                self.access(place, false, *site, line);
                self.values.get(&place).copied().unwrap_or(0)
            }
            Expression::Element(site, array, index) => {
                let index = self.value(frame, index, line);
                let place = self.element(frame, *array, index, line);
                self.access(place, false, *site, line);
                self.values.get(&place).copied().unwrap_or(0)
            }
            Expression::Sum(left, right) => {
                let left = self.value(frame, left, line);
                left.wrapping_add(self.value(frame, right, line))
            }
        }
    }

    fn write(&mut self, place: Place, value: u32, site: usize, line: u32) {
        self.access(place, true, site, line);
        self.values.insert(place, value);
    }

    pub(super) fn call(&mut self, number: usize, pointer: (usize, u32), n: u32, is_main: bool) {
        let function = &self.functions[number];
        let (base, id) = (self.new_id(), self.new_id());
        self.path.push(Node { id, line: 0, function: number, iteration: 0, call: 0 });
        let mut frame = Frame { base, pointer, counters: Vec::new() };
        let [at_p, at_n, at_x, at_y] = function.sites;
        if is_main {
            self.write((base + N, 0), 0, at_n, function.line);
        } else {
            self.write((base + P, 0), 0, at_p, 0);
            self.write((base + N, 0), n, at_n, 0);
        }
        self.write((base + X, 0), 0, at_x, function.line);
        self.write((base + Y, 0), 0, at_y, function.line);
        let body = function.body.clone();
        self.block(&mut frame, &body);
        self.path.pop();
    }

    fn block(&mut self, frame: &mut Frame, body: &[Statement]) {
        for statement in body {
            if self.steps < 60_000 {
                self.statement(frame, statement);
            }
        }
    }

    fn statement(&mut self, frame: &mut Frame, statement: &Statement) {
        self.read.clear();
        match statement {
            Statement::Assign { line, site, target, value } => {
                let value = self.value(frame, value, *line);
                let place = match target {
                    Target::Variable(variable) => self.place(frame, *variable),
                    Target::Element(array, index) => {
                        let index = self.value(frame, index, *line);
                        self.element(frame, *array, index, *line)
                    }
                };
                self.write(place, value, *site, *line);
            }
            Statement::For { line, sites, depth, times, body } => {
                let [init, test, read, write, _] = *sites;
                let (place, id) = ((self.new_id() + COUNTER, 0), self.new_id());
                frame.counters.truncate(*depth);
                frame.counters.push(place.0);
                self.write(place, 0, init, *line);
                let function = self.path.last().expect("in a function").function;
                self.path.push(Node { id, line: *line, function, iteration: 0, call: 0 });
                for turn in 0..=*times {
                    self.path.last_mut().expect("pushed").iteration = turn.into();
                    self.access(place, false, test, *line);
                    if turn < *times {
                        self.block(frame, body);
                        frame.counters.truncate(depth + 1);
                        self.access(place, false, read, *line);
                        self.write(place, turn + 1, write, *line);
                    }
                }
                self.path.pop();
            }
            Statement::If { line, condition, body } => {
                if self.value(frame, condition, *line) & 1 == 1 {
                    self.block(frame, body);
                }
            }
            Statement::Call { line, function, array, offset, value } => {
                let pointer = match array {
                    Array::A => (OBJECT_A, *offset),
                    Array::B => (OBJECT_B, *offset),
                    Array::Parameter(site) => {
                        self.access((frame.base + P, 0), false, *site, *line);
                        frame.pointer
                    }
                };
                let n = self.value(frame, value, *line);
                // All nodes of this frame are in the call now.
                let own = self.path.iter().rposition(|node| node.line == 0).expect("a frame");
                self.path[own..].iter_mut().for_each(|node| node.call = *line);
                self.call(*function, pointer, n, false);
                self.path[own..].iter_mut().for_each(|node| node.call = 0);
            }
        }
    }
}

/// An expression without its sites, as flang sees it: constants are computed.
fn written(expression: &Expression) -> String {
    let index = |index: &Expression, mask: u32| match constant(index) {
        Some(number) => (number & mask).to_string(),
        None => written(index),
    };
    match expression {
        _ if constant(expression).is_some() => constant(expression).unwrap_or_default().to_string(),
        Expression::Number(number) => number.to_string(),
        Expression::Read(_, variable) => format!("{variable:?}"),
        Expression::Element(_, Array::Parameter(_), at) => format!("p[{}]", index(at, 3)),
        Expression::Element(_, array, at) => format!("{array:?}[{}]", index(at, 7)),
        Expression::Sum(left, right) => format!("{}+{}", written(left), written(right)),
    }
}

fn constant(expression: &Expression) -> Option<u32> {
    match expression {
        Expression::Number(number) => Some(*number),
        Expression::Sum(left, right) => Some(constant(left)?.wrapping_add(constant(right)?)),
        _ => None,
    }
}
