//! Random programs whose dependences an interpreter computes from the definition, against `workspan depend`.
//!
//! The interpreter keeps every access with its whole way from the root of the execution tree, and compares each access with all that
//! came before: no shadow, no groups, no compression. Several programs are functions of one file, to compile fewer.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use crate::support::{build, err, folder, workspan};

/// Files, and programs in each. 50 files are 2000 programs.
const FILES: u64 = 6;
const PROGRAMS: u64 = 40;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }
}

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    X,
    Y,
    N,
    Global,
    /// Counter of the loop at a depth.
    Counter(usize),
}

#[derive(Clone, Debug)]
enum Expression {
    Number(u32),
    Read(usize, Variable),
    /// Element of an array, or of what the parameter points to.
    Element(usize, Array, Box<Expression>),
    Sum(Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Array {
    A,
    B,
    /// By the parameter `p`: the number is the site of its own read.
    Parameter(usize),
}

#[derive(Clone, Debug)]
enum Target {
    Variable(Variable),
    Element(Array, Expression),
}

#[derive(Clone, Debug)]
enum Statement {
    Assign { line: u32, site: usize, target: Target, value: Expression },
    For { line: u32, sites: [usize; 5], depth: usize, times: u32, body: Vec<Statement> },
    If { line: u32, condition: Expression, body: Vec<Statement> },
    Call { line: u32, function: usize, array: Array, offset: u32, value: Expression },
}

#[derive(Clone, Debug)]
struct Function {
    name: String,
    /// Sites of the parameters and of both locals.
    sites: [usize; 4],
    line: u32,
    body: Vec<Statement>,
}

struct Writer {
    random: Random,
    text: String,
    line: u32,
    sites: usize,
    program: u64,
}

impl Writer {
    fn put(&mut self, text: &str) -> u32 {
        self.text.push_str(text);
        self.text.push('\n');
        self.line += 1;
        self.line
    }

    fn site(&mut self) -> usize {
        self.sites += 1;
        self.sites
    }

    fn variable(&mut self, depth: usize) -> Variable {
        match self.random.below(if depth == 0 { 4 } else { 7 }) {
            0 => Variable::X,
            1 => Variable::Y,
            2 => Variable::N,
            3 => Variable::Global,
            _ => Variable::Counter(usize::try_from(self.random.below(depth as u64)).expect("small")),
        }
    }

    fn array(&mut self, is_main: bool) -> Array {
        match self.random.below(if is_main { 2 } else { 4 }) {
            0 => Array::A,
            1 => Array::B,
            _ => Array::Parameter(self.site()),
        }
    }

    fn expression(&mut self, depth: usize, size: u32, is_main: bool) -> Expression {
        match self.random.below(if size == 0 { 2 } else { 5 }) {
            0 => Expression::Number(u32::try_from(self.random.below(9)).expect("small")),
            1 | 2 => Expression::Read(self.site(), self.variable(depth)),
            3 => {
                let site = self.site();
                let array = self.array(is_main);
                Expression::Element(site, array, Box::new(self.expression(depth, size - 1, is_main)))
            }
            _ => {
                let left = Box::new(self.expression(depth, size - 1, is_main));
                Expression::Sum(left, Box::new(self.expression(depth, size - 1, is_main)))
            }
        }
    }

    fn name(&self, variable: Variable) -> String {
        match variable {
            Variable::X => "x".into(),
            Variable::Y => "y".into(),
            Variable::N => "n".into(),
            Variable::Global => format!("g{}", self.program),
            Variable::Counter(depth) => format!("i{depth}"),
        }
    }

    fn element(&self, array: Array, index: &Expression) -> String {
        let index = self.show(index);
        match array {
            Array::A => format!("A{}[({index}) & 7]", self.program),
            Array::B => format!("B{}[({index}) & 7]", self.program),
            Array::Parameter(_) => format!("p[({index}) & 3]"),
        }
    }

    fn show(&self, expression: &Expression) -> String {
        match expression {
            Expression::Number(number) => number.to_string(),
            Expression::Read(_, variable) => self.name(*variable),
            Expression::Element(_, array, index) => self.element(*array, index),
            Expression::Sum(left, right) => format!("{} + {}", self.show(left), self.show(right)),
        }
    }

    fn block(&mut self, depth: usize, nested: u32, callees: &[usize], is_main: bool) -> Vec<Statement> {
        let count = 1 + self.random.below(4);
        (0..count).map(|_| self.statement(depth, nested, callees, is_main)).collect()
    }

    fn statement(&mut self, depth: usize, nested: u32, callees: &[usize], is_main: bool) -> Statement {
        let kind = self.random.below(9);
        match kind {
            0 | 1 if nested < 3 => {
                // Some are long enough for iterations to be taken together.
                let most = if nested > 0 && self.random.below(4) == 0 { 24 } else { 4 };
                let times = 1 + u32::try_from(self.random.below(most)).expect("small");
                let line = self.put(&format!("for (unsigned i{depth} = 0; i{depth} < {times}; i{depth}++) {{"));
                let sites = [0; 5].map(|_| self.site());
                let body = self.block(depth + 1, nested + 1, callees, is_main);
                self.put("}");
                Statement::For { line, sites, depth, times, body }
            }
            2 if nested < 3 => {
                let condition = self.expression(depth, 1, is_main);
                let line = self.put(&format!("if (({}) & 1) {{", self.show(&condition)));
                let body = self.block(depth, nested + 1, callees, is_main);
                self.put("}");
                Statement::If { line, condition, body }
            }
            3 | 4 if !callees.is_empty() => {
                let chosen = self.random.below(callees.len() as u64);
                let function = callees[usize::try_from(chosen).expect("small")];
                let array = self.array(is_main);
                let offset = u32::try_from(self.random.below(2)).expect("small") * 4;
                let offset = if matches!(array, Array::Parameter(_)) { 0 } else { offset };
                let value = self.expression(depth, 1, is_main);
                let base = match array {
                    Array::A => format!("A{} + {offset}", self.program),
                    Array::B => format!("B{} + {offset}", self.program),
                    Array::Parameter(_) => "p".into(),
                };
                let call = format!("f{}_{function}({base}, {});", self.program, self.show(&value));
                let line = self.put(&call);
                Statement::Call { line, function, array, offset, value }
            }
            _ => {
                let value = self.expression(depth, 2, is_main);
                let target = match self.random.below(3) {
                    0 => {
                        let array = self.array(is_main);
                        Target::Element(array, self.expression(depth, 1, is_main))
                    }
                    1 => Target::Variable(Variable::Global),
                    _ => Target::Variable(if self.random.below(2) == 0 { Variable::X } else { Variable::Y }),
                };
                let left = match &target {
                    Target::Variable(variable) => self.name(*variable),
                    Target::Element(array, index) => self.element(*array, index),
                };
                let site = self.site();
                let line = self.put(&format!("{left} = {};", self.show(&value)));
                Statement::Assign { line, site, target, value }
            }
        }
    }

    fn program(&mut self) -> Vec<Function> {
        let program = self.program;
        self.put(&format!("static unsigned A{program}[8], B{program}[8], g{program};"));
        let mut functions = Vec::new();
        for number in 0..3_usize {
            let is_main = number == 2;
            let name = format!("f{program}_{number}");
            let parameters = if is_main { "void" } else { "unsigned *p, unsigned n" };
            self.put(&format!("static void {name}({parameters}) {{"));
            let zero = if is_main { "unsigned n = 0, x = 0, y = 0;" } else { "unsigned x = 0, y = 0;" };
            let line = self.put(zero);
            let sites = [0; 4].map(|_| self.site());
            let callees: Vec<usize> = (0..number).collect();
            let mut body = self.block(0, 0, &callees, is_main);
            body.extend(self.block(0, 0, &callees, is_main));
            self.put("}");
            functions.push(Function { name, sites, line, body });
        }
        functions
    }
}

/// A node of the tree as an access saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) id: usize,
    /// Line of the loop; 0: a call.
    pub(crate) line: u32,
    pub(crate) function: usize,
    pub(crate) iteration: u64,
    /// The call that the access happened in.
    pub(crate) call: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) site: usize,
    pub(crate) line: u32,
    pub(crate) path: Vec<Node>,
}

/// Kind, line of the source, line of the sink, function, line of the loop that carries it.
pub(crate) type Key = (String, u32, u32, String, u32);
/// Count, least and greatest distance.
pub(crate) type Found = BTreeMap<Key, (u64, u64, u64)>;

type Place = (usize, u32);

/// Where two accesses meet.
pub(crate) struct Between {
    /// Of both accesses, or of the calls that they were made in.
    pub(crate) lines: (u32, u32),
    /// Line of the loop that carries a dependence, or 0.
    pub(crate) carrier: u32,
    /// As the later one saw it.
    pub(crate) node: Node,
    pub(crate) distance: u64,
}

/// The nearest common ancestor of two accesses.
pub(crate) fn between(from: &Seen, to: &Seen) -> Between {
    let common = from.path.iter().zip(&to.path).take_while(|(a, b)| a.id == b.id).count();
    let differs = (0..common).find(|at| from.path[*at].iteration != to.path[*at].iteration);
    let at = differs.unwrap_or(common - 1);
    let (a, b) = (from.path[at], to.path[at]);
    let carrier = if differs.is_some() { b.line } else { 0 };
    // The frame around: whether the access was made by a call of it.
    let line = |seen: &Seen, node: Node| if node.call == 0 { seen.line } else { node.call };
    let lines = (line(from, a), line(to, b));
    Between { lines, carrier, node: b, distance: b.iteration.abs_diff(a.iteration) }
}

/// Counts a dependence.
pub(crate) fn note(found: &mut Found, key: Key, least: u64, most: u64) {
    let entry = found.entry(key).or_insert((0, u64::MAX, 0));
    *entry = (entry.0 + 1, entry.1.min(least), entry.2.max(most));
}

struct Interpreter<'f> {
    functions: &'f [Function],
    path: Vec<Node>,
    nodes: usize,
    values: BTreeMap<Place, u32>,
    writes: BTreeMap<Place, Seen>,
    reads: BTreeMap<Place, Vec<Seen>>,
    found: Found,
    steps: u64,
}

struct Frame {
    base: usize,
    pointer: (usize, u32),
    counters: Vec<usize>,
}

const OBJECT_A: usize = 1;
const OBJECT_B: usize = 2;
const OBJECT_G: usize = 3;

impl Interpreter<'_> {
    fn new_id(&mut self) -> usize {
        self.nodes += 8;
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
            Variable::X => (frame.base, 0),
            Variable::Y => (frame.base + 1, 0),
            Variable::N => (frame.base + 2, 0),
            Variable::Global => (OBJECT_G, 0),
            Variable::Counter(depth) => (frame.counters[depth], 0),
        }
    }

    fn element(&mut self, frame: &Frame, array: Array, index: u32, line: u32) -> Place {
        match array {
            Array::A => (OBJECT_A, index & 7),
            Array::B => (OBJECT_B, index & 7),
            Array::Parameter(site) => {
                self.access((frame.base + 3, 0), false, site, line);
                (frame.pointer.0, frame.pointer.1 + (index & 3))
            }
        }
    }

    fn value(&mut self, frame: &Frame, expression: &Expression, line: u32) -> u32 {
        match expression {
            Expression::Number(number) => *number,
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

    fn call(&mut self, number: usize, pointer: (usize, u32), n: u32, is_main: bool) {
        let function = &self.functions[number];
        let (base, id) = (self.new_id(), self.new_id());
        self.path.push(Node { id, line: 0, function: number, iteration: 0, call: 0 });
        let mut frame = Frame { base, pointer, counters: Vec::new() };
        let [at_p, at_n, at_x, at_y] = function.sites;
        if is_main {
            self.write((base + 2, 0), 0, at_n, function.line);
        } else {
            self.write((base + 3, 0), 0, at_p, 0);
            self.write((base + 2, 0), n, at_n, 0);
        }
        self.write((base, 0), 0, at_x, function.line);
        self.write((base + 1, 0), 0, at_y, function.line);
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
                let (place, id) = ((self.new_id(), 0), self.new_id());
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
                        self.access((frame.base + 3, 0), false, *site, *line);
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

/// What `workspan depend` found in the functions of one program.
pub(crate) fn reported(json: &serde_json::Value, program: u64, wanted: impl Fn(&str) -> bool) -> Found {
    let mut found = Found::new();
    let prefix = format!("f{program}_");
    for each in json["dependences"].as_array().expect("a list") {
        let function = each["function"].as_str().expect("a text");
        if !function.starts_with(&prefix) || !wanted(each["variable"].as_str().unwrap_or_default()) {
            continue;
        }
        let line = |point: &serde_json::Value| u32::try_from(point["line"].as_u64().unwrap_or(0)).expect("a line");
        let key = (
            each["kind"].as_str().expect("a text").to_owned(),
            line(&each["source"]),
            line(&each["sink"]),
            function.to_owned(),
            line(&each["carried_by"]),
        );
        let number = |value: &serde_json::Value| value.as_u64().expect("a number");
        let distance = &each["distance"];
        let entry = found.entry(key).or_insert((0, u64::MAX, 0));
        entry.0 += number(&each["count"]);
        entry.1 = entry.1.min(number(&distance["min"]));
        entry.2 = entry.2.max(number(&distance["max"]));
    }
    found
}

/// What was not found, or not expected.
pub(crate) fn difference(expected: &Found, found: &Found) -> String {
    let mut difference = String::new();
    for (key, value) in expected.iter().filter(|(key, value)| found.get(*key) != Some(*value)) {
        let _ = writeln!(difference, "expected {key:?} {value:?}, found {:?}", found.get(key));
    }
    for (key, value) in found.iter().filter(|(key, _)| !expected.contains_key(*key)) {
        let _ = writeln!(difference, "not expected: {key:?} {value:?}");
    }
    difference
}

#[test]
fn random_programs_have_the_dependences_of_the_definition() {
    let folder = folder("depend-oracle");
    let files = std::env::var("WORKSPAN_DEPEND_FILES").ok().and_then(|files| files.parse().ok()).unwrap_or(FILES);
    let (mut compared, mut dependences) = (0, 0);
    for file in 0..files {
        let random = Random(0x9e37_79b9 + file * 7919);
        let mut writer = Writer { random, text: String::new(), line: 0, sites: 0, program: 0 };
        let mut expected = Vec::new();
        while expected.len() < usize::try_from(PROGRAMS).expect("small") {
            let (text, line) = (writer.text.len(), writer.line);
            let functions = writer.program();
            let mut interpreter = Interpreter {
                functions: &functions,
                path: Vec::new(),
                nodes: 8,
                values: BTreeMap::new(),
                writes: BTreeMap::new(),
                reads: BTreeMap::new(),
                found: Found::new(),
                steps: 0,
            };
            interpreter.call(2, (0, 0), 0, true);
            if interpreter.steps >= 60_000 {
                // Too long: another one in its place.
                writer.text.truncate(text);
                writer.line = line;
                continue;
            }
            expected.push(interpreter.found);
            writer.program += 1;
        }
        writer.put("int main(void) {");
        for program in 0..PROGRAMS {
            writer.put(&format!("f{program}_2();"));
        }
        writer.put("return 0; }");
        fs::write(folder.join("prog.c"), &writer.text).expect("writable");
        build(&folder, "cc -O2 -w prog.c -o prog");
        let output = workspan(&folder, &["depend", "-o", "run.depend", "--json", "--", "./prog"]);
        assert!(output.status.success(), "{}", err(&output));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        for (program, expected) in (0..).zip(&expected) {
            let found = reported(&json, program, |_| true);
            let difference = difference(expected, &found);
            assert!(difference.is_empty(), "file {file}, program {program} ({}):\n{difference}", folder.display());
            compared += 1;
            dependences += expected.len();
        }
    }
    assert!(compared == files * PROGRAMS && dependences > 100, "{compared} programs, {dependences} dependences");
}
