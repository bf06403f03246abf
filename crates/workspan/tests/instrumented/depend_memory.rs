//! Random programs about memory: accesses of all sizes that lie across one another, arrays whose length is known at run time, `alloca`,
//! arrays of a block, copies of many bytes, functions that call themselves.
//!
//! The interpreter keeps for each byte the last write and all reads since. An object is a new one whenever its declaration is
//! executed. Counters and numbers are no memory here: [`depend_oracle`](crate::depend_oracle) knows them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::rc::Rc;

use serde_json::Value;

use crate::depend_oracle::{between, difference, note, reported, Found, Key, Node, Random, Seen};
use crate::support::{build, command, err, folder};

/// Files, and programs in each.
const FILES: u64 = 4;
const PROGRAMS: u64 = 40;
/// Bytes of each object that any function may access.
const COMMON: u64 = 32;
/// Accesses of a program at most.
const MOST: u64 = 5000;

/// `constant + counters + n`, all times something.
#[derive(Clone, Debug)]
struct Index {
    constant: u64,
    counters: Vec<(usize, u64)>,
    n: u64,
}

/// What an address is reached by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Global(usize),
    /// The parameter `p`.
    Parameter,
    /// An array that is declared in the function.
    Array(usize),
    /// A pointer that is declared in the function, to memory of `alloca`.
    Pointer(usize),
}

/// Bytes of an object: from `index % (most, and n times step) * scale` on.
#[derive(Clone, Debug)]
struct Place {
    base: Base,
    /// Of the read of the pointer.
    site: usize,
    index: Index,
    most: u64,
    and_n: bool,
    scale: u64,
}

#[derive(Clone, Debug)]
enum Statement {
    /// Reads, writes, or both.
    Access {
        line: u32,
        sites: [usize; 2],
        place: Place,
        size: u64,
        reads: bool,
        writes: bool,
    },
    /// `memmove` of a number of bytes, and `n` more.
    Copy {
        line: u32,
        sites: [usize; 2],
        to: Place,
        from: Place,
        size: u64,
        and_n: bool,
    },
    Fill {
        line: u32,
        site: usize,
        to: Place,
        size: u64,
        and_n: bool,
    },
    /// A block that begins with an array; or a pointer, written in that line by that site.
    Declare {
        slot: usize,
        pointer: Option<(u32, usize)>,
        body: Vec<Statement>,
    },
    For {
        line: u32,
        depth: usize,
        times: u64,
        body: Vec<Statement>,
    },
    Call {
        line: u32,
        function: usize,
        to: Place,
        n: Index,
    },
    /// If `n` is not 0.
    Again {
        line: u32,
        to: Place,
    },
}

struct Function {
    site_of_p: usize,
    body: Vec<Statement>,
}

struct Writer {
    random: Random,
    text: String,
    line: u32,
    sites: usize,
    program: u64,
    slots: usize,
    /// Number of the function.
    own: usize,
    /// What may be accessed now, and how an element of an array is named.
    known: Vec<(Base, Option<Elements>)>,
}

/// Of an array: bytes of an element, number of elements, and whether there are `n` more.
type Elements = (u64, u64, bool);

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

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.random.below(most as u64)).expect("small")
    }

    fn index(&mut self, depth: usize) -> Index {
        let counters = (0..depth).map(|at| (at, self.random.below(4))).filter(|(_, times)| *times > 0).collect();
        Index { constant: self.random.below(8), counters, n: self.random.below(3) }
    }

    /// Bytes of the given size, at an element of the array itself, or at any byte, or at a multiple of the size.
    fn place(&mut self, depth: usize, size: &mut u64) -> Place {
        let (base, element) = {
            let at = self.below(self.known.len());
            self.known[at]
        };
        let (site, index) = (self.site(), self.index(depth));
        if let Some((width, count, and_n)) = element.filter(|_| self.random.below(2) == 0) {
            *size = width;
            return Place { base, site, index, most: count, and_n, scale: width };
        }
        let aligned = self.random.below(3) > 0 && COMMON.is_multiple_of(*size);
        let (most, scale) = if aligned { (COMMON / *size, *size) } else { (COMMON + 1 - *size, 1) };
        Place { base, site, index, most, and_n: false, scale }
    }

    fn name(&self, base: Base) -> String {
        match base {
            Base::Global(number) => format!("G{}_{number}", self.program),
            Base::Parameter => "p".into(),
            Base::Array(slot) => format!("v{slot}"),
            Base::Pointer(slot) => format!("a{slot}"),
        }
    }

    fn show_index(index: &Index) -> String {
        let counters: String = index.counters.iter().map(|(at, times)| format!(" + i{at} * {times}")).collect();
        format!("{}{counters} + n * {}", index.constant, index.n)
    }

    fn show(&self, place: &Place) -> String {
        let and_n = if place.and_n { " + n" } else { "" };
        let (base, index) = (self.name(place.base), Writer::show_index(&place.index));
        format!("((unsigned char *){base} + ({index}) % ({}{and_n}) * {})", place.most, place.scale)
    }

    fn body(&mut self, depth: usize, nested: u32, count: usize) -> Vec<Statement> {
        (0..count).map(|_| self.statement(depth, nested)).collect()
    }

    fn statement(&mut self, depth: usize, nested: u32) -> Statement {
        let (count, known) = (1 + self.below(3), self.known.len());
        match self.below(12) {
            0 | 1 if nested < 3 => {
                let most = if depth > 0 && self.below(3) == 0 { 14 } else { 4 };
                let times = 1 + self.random.below(most);
                let line = self.put(&format!("for (unsigned i{depth} = 0; i{depth} < {times}; i{depth}++) {{"));
                let body = self.body(depth + 1, nested + 1, count);
                self.put("}");
                Statement::For { line, depth, times, body }
            }
            2..=4 if nested < 4 => self.declaration(depth, nested, count, known),
            5 if self.own > 0 => {
                let function = self.below(self.own);
                let (to, n) = (self.pointed(), self.index(depth));
                let (pointer, number) = (self.show(&to), Writer::show_index(&n));
                let line = self.put(&format!("f{}_{function}({pointer}, ({number}) % 7);", self.program));
                Statement::Call { line, function, to, n }
            }
            6 if self.own < 2 => {
                let to = self.pointed();
                let line = self.put(&format!("if (n) f{}_{}({}, n - 1);", self.program, self.own, self.show(&to)));
                Statement::Again { line, to }
            }
            7 | 8 => {
                let (size, and_n) = (1 + self.random.below(12), self.below(2) == 0);
                let room = size + if and_n { 7 } else { 0 };
                let is_copy = self.below(3) > 0;
                let (site, number) = (self.site(), if and_n { " + n" } else { "" });
                let to = self.bytes(depth, room);
                if !is_copy {
                    let line = self.put(&format!("__builtin_memset({}, 0, {size}{number});", self.show(&to)));
                    return Statement::Fill { line, site, to, size, and_n };
                }
                let from = self.bytes(depth, room);
                let (left, right) = (self.show(&to), self.show(&from));
                let line = self.put(&format!("__builtin_memmove({left}, {right}, {size}{number});"));
                Statement::Copy { line, sites: [self.site(), site], to, from, size, and_n }
            }
            _ => {
                let mut size = 1 << self.below(4);
                let place = self.place(depth, &mut size);
                let (reads, writes) = [(true, false), (false, true), (true, true)][self.below(3)];
                let element = format!("*(U{size} *){}", self.show(&place));
                let line = self.put(&match (reads, writes) {
                    (true, false) => format!("x += {element};"),
                    (true, true) => format!("{element} += x;"),
                    _ => format!("{element} = x;"),
                });
                Statement::Access { line, sites: [self.site(), self.site()], place, size, reads, writes }
            }
        }
    }

    fn declaration(&mut self, depth: usize, nested: u32, count: usize, known: usize) -> Statement {
        self.slots += 1;
        let (slot, width) = (self.slots, 1 << self.below(4));
        self.put("{");
        let (kind, most) = (self.below(3), COMMON / width + self.random.below(3));
        let pointer = if kind == 2 {
            let line = self.put(&format!("unsigned char *a{slot} = __builtin_alloca({COMMON} + n);"));
            self.known.push((Base::Pointer(slot), None));
            Some((line, self.site()))
        } else {
            let length = if kind == 1 { format!("{most} + n") } else { most.to_string() };
            self.put(&format!("T{width} v{slot}[{length}];"));
            self.known.push((Base::Array(slot), Some((width, most, kind == 1))));
            None
        };
        let body = self.body(depth, nested + 1, count + 1);
        self.known.truncate(known);
        self.put("}");
        Statement::Declare { slot, pointer, body }
    }

    /// Room for that number of bytes, in any object.
    fn bytes(&mut self, depth: usize, room: u64) -> Place {
        let place = self.place(depth, &mut 1);
        Place { most: COMMON + 1 - room, and_n: false, scale: 1, ..place }
    }

    /// The beginning of an object.
    fn pointed(&mut self) -> Place {
        let at = self.below(self.known.len());
        let base = self.known[at].0;
        let index = Index { constant: 0, counters: Vec::new(), n: 0 };
        Place { base, site: self.site(), index, most: 1, and_n: false, scale: 1 }
    }

    fn program(&mut self) -> Vec<Function> {
        let program = self.program;
        self.put(&format!("static unsigned char G{program}_0[{COMMON}], G{program}_1[{COMMON}];"));
        let mut functions = Vec::new();
        for own in 0..3 {
            self.own = own;
            let parameters = if own == 2 { "void" } else { "unsigned char *p, unsigned n" };
            self.put(&format!("static void f{program}_{own}({parameters}) {{"));
            self.put(if own == 2 { "unsigned n = 3; U8 x = 1;" } else { "U8 x = 1;" });
            self.known = vec![(Base::Global(0), None), (Base::Global(1), None)];
            if own < 2 {
                self.known.push((Base::Parameter, None));
            }
            let site_of_p = self.site();
            let body = self.body(0, 0, 6);
            self.put("}");
            functions.push(Function { site_of_p, body });
        }
        functions
    }
}

struct Frame {
    p: (usize, u64),
    /// Object of the variable `p`.
    own: usize,
    n: u64,
    counters: Vec<u64>,
    /// Objects, and those of pointers to them, by slot.
    slots: BTreeMap<usize, (usize, usize)>,
}

#[derive(Default)]
struct Byte {
    write: Option<Rc<Seen>>,
    reads: Vec<Rc<Seen>>,
}

struct Interpreter<'f> {
    functions: &'f [Function],
    program: u64,
    path: Vec<Node>,
    ids: usize,
    memory: BTreeMap<(usize, u64), Byte>,
    found: Found,
    steps: u64,
}

impl Interpreter<'_> {
    fn id(&mut self) -> usize {
        self.ids += 1;
        self.ids
    }

    fn access(&mut self, object: usize, (first, size): (u64, u64), is_write: bool, site: usize, line: u32) {
        self.steps += 1;
        let now = Rc::new(Seen { site, line, path: self.path.clone() });
        // What all bytes have in common is one dependence of this access.
        let mut all: BTreeMap<(usize, Key, usize), (u64, u64)> = BTreeMap::new();
        for at in first..first + size {
            let byte = self.memory.entry((object, at)).or_default();
            let mut met = |kind: &str, from: &Seen| {
                let found = between(from, &now);
                let function = format!("f{}_{}", self.program, found.node.function);
                let key = (kind.to_owned(), found.lines.0, found.lines.1, function, found.carrier);
                let entry = all.entry((from.site, key, found.node.id)).or_insert((u64::MAX, 0));
                *entry = (entry.0.min(found.distance), entry.1.max(found.distance));
            };
            if let Some(write) = &byte.write {
                met(if is_write { "WAW" } else { "RAW" }, write);
            }
            if is_write {
                byte.reads.drain(..).for_each(|read| met("WAR", &read));
                byte.write = Some(Rc::clone(&now));
            } else {
                byte.reads.push(Rc::clone(&now));
            }
        }
        for ((_, key, _), (least, most)) in all {
            note(&mut self.found, key, least, most);
        }
    }

    fn index(frame: &Frame, index: &Index) -> u64 {
        let counters: u64 = index.counters.iter().map(|(at, times)| frame.counters[*at] * times).sum();
        index.constant + counters + frame.n * index.n
    }

    /// Object and offset; pointers are read.
    fn place(&mut self, frame: &Frame, place: &Place, line: u32) -> (usize, u64) {
        let (object, offset) = match place.base {
            Base::Global(number) => (number + 1, 0),
            Base::Parameter => {
                self.access(frame.own, (0, 8), false, place.site, line);
                frame.p
            }
            Base::Array(slot) => (frame.slots[&slot].0, 0),
            Base::Pointer(slot) => {
                let (object, pointer) = frame.slots[&slot];
                self.access(pointer, (0, 8), false, place.site, line);
                (object, 0)
            }
        };
        let most = place.most + if place.and_n { frame.n } else { 0 };
        (object, offset + Interpreter::index(frame, &place.index) % most * place.scale)
    }

    fn call(&mut self, number: usize, p: (usize, u64), n: u64) {
        let functions = self.functions;
        let function = &functions[number];
        let (own, id) = (self.id(), self.id());
        self.path.push(Node { id, line: 0, function: number, iteration: 0, call: 0 });
        let mut frame = Frame { p, own, n, counters: Vec::new(), slots: BTreeMap::new() };
        if number < 2 {
            self.access(own, (0, 8), true, function.site_of_p, 0);
        }
        self.block(&mut frame, &function.body);
        self.path.pop();
    }

    fn block(&mut self, frame: &mut Frame, body: &[Statement]) {
        for statement in body {
            if self.steps < MOST {
                self.statement(frame, statement);
            }
        }
    }

    fn enter(&mut self, line: u32, function: usize, p: (usize, u64), n: u64) {
        // All nodes of this frame are in the call now.
        let own = self.path.iter().rposition(|node| node.line == 0).expect("a frame");
        self.path[own..].iter_mut().for_each(|node| node.call = line);
        self.call(function, p, n);
        self.path[own..].iter_mut().for_each(|node| node.call = 0);
    }

    fn statement(&mut self, frame: &mut Frame, statement: &Statement) {
        match statement {
            Statement::Access { line, sites, place, size, reads, writes } => {
                let (object, at) = self.place(frame, place, *line);
                if *reads {
                    self.access(object, (at, *size), false, sites[0], *line);
                }
                if *writes {
                    self.access(object, (at, *size), true, sites[1], *line);
                }
            }
            Statement::Copy { line, sites, to, from, size, and_n } => {
                let size = size + if *and_n { frame.n } else { 0 };
                let (to, from) = (self.place(frame, to, *line), self.place(frame, from, *line));
                self.access(from.0, (from.1, size), false, sites[0], *line);
                self.access(to.0, (to.1, size), true, sites[1], *line);
            }
            Statement::Fill { line, site, to, size, and_n } => {
                let size = size + if *and_n { frame.n } else { 0 };
                let (object, at) = self.place(frame, to, *line);
                self.access(object, (at, size), true, *site, *line);
            }
            Statement::Declare { slot, pointer, body } => {
                let (object, own) = (self.id(), self.id());
                if let Some((line, site)) = pointer {
                    self.access(own, (0, 8), true, *site, *line);
                }
                frame.slots.insert(*slot, (object, own));
                self.block(frame, body);
            }
            Statement::For { line, depth, times, body } => {
                let (id, function) = (self.id(), self.path.last().expect("in a function").function);
                self.path.push(Node { id, line: *line, function, iteration: 0, call: 0 });
                for turn in 0..*times {
                    self.path.last_mut().expect("pushed").iteration = turn;
                    frame.counters.truncate(*depth);
                    frame.counters.push(turn);
                    self.block(frame, body);
                }
                self.path.pop();
            }
            Statement::Call { line, function, to, n } => {
                let p = self.place(frame, to, *line);
                self.enter(*line, *function, p, Interpreter::index(frame, n) % 7);
            }
            Statement::Again { line, to } => {
                if frame.n > 0 {
                    let (p, function) =
                        (self.place(frame, to, *line), self.path.last().expect("in a function").function);
                    self.enter(*line, function, p, frame.n - 1);
                }
            }
        }
    }
}

/// Types of a size, and the same at any address.
fn types() -> String {
    [("1", "char"), ("2", "short"), ("4", "int"), ("8", "long")]
        .map(|(size, name)| {
            let any = "__attribute__((aligned(1), may_alias))";
            format!("typedef unsigned {name} T{size}; typedef unsigned {name} U{size} {any};\n")
        })
        .concat()
}

/// JSON of `./prog`, whose environment is larger by that number of bytes.
fn profile(folder: &std::path::Path, more: usize) -> Vec<u8> {
    let mut command = command(folder, &["depend", "-o", "run.depend", "--json", "--", "./prog"]);
    let output = command.env("MORE", "x".repeat(more)).output().expect("it can be run");
    assert!(output.status.success(), "{}", err(&output));
    output.stdout
}

#[test]
fn bytes_have_the_dependences_of_the_definition_wherever_the_stack_lies() {
    let folder = folder("depend-memory");
    let files = std::env::var("WORKSPAN_DEPEND_FILES").ok().and_then(|files| files.parse().ok()).unwrap_or(FILES);
    let mut dependences = 0;
    for file in 0..files {
        let random = Random(0x2545_f491 + file * 7919);
        let (text, known) = (types(), Vec::new());
        let mut writer = Writer { random, text, line: 4, sites: 0, program: 0, slots: 0, own: 0, known };
        let mut expected = Vec::new();
        while writer.program < PROGRAMS {
            let (text, line) = (writer.text.len(), writer.line);
            let functions = writer.program();
            let (program, memory) = (writer.program, BTreeMap::new());
            let (path, found) = (Vec::new(), Found::new());
            let mut interpreter = Interpreter { functions: &functions, program, path, ids: 8, memory, found, steps: 0 };
            interpreter.call(2, (0, 0), 3);
            if interpreter.steps >= MOST {
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
        build(&folder, ["cc -O2 -w prog.c -o prog", "clang -O1 -g -w prog.c -o prog"][usize::from(file % 2 == 1)]);
        let json = profile(&folder, 0);
        let number = usize::try_from(file).expect("small");
        assert!(json == profile(&folder, 1000 + 1712 * number), "file {file}: another stack, other dependences");
        let json: Value = serde_json::from_slice(&json).expect("JSON");
        let is_number = |name: &str| {
            matches!(name, "n" | "x") || name.strip_prefix('i').is_some_and(|depth| depth.parse::<u32>().is_ok())
        };
        let mut wrong = String::new();
        for (program, expected) in (0..).zip(&expected) {
            let difference = difference(expected, &reported(&json, program, |name| !is_number(name)));
            if !difference.is_empty() {
                let _ = writeln!(wrong, "program {program}:\n{difference}");
            }
            dependences += expected.len();
        }
        assert!(wrong.is_empty(), "file {file} ({}), {wrong}", folder.display());
    }
    assert!(dependences > 100, "{dependences} dependences");
}
