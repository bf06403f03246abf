//! What the pass knows of the program, with numbers over all modules.
//!
//! **Invariant:** number 0 of sites and places is none; every other index is valid.

use std::collections::HashMap;

use workspan_graph::program::Loaded;
use workspan_trace::cpp_library;
use workspan_trace::facts::{Deed, Induction, Run};
use workspan_trace::program::{flag, operation, Access, Module, NONE};
use workspan_trace::rust_names::{self, is_container_file, is_library_file};

use crate::effects::{reads_on, Named};
use crate::shadow::{BuildHasher, Site};
use crate::touches::{parts, settled, Action};

/// A place in the source; 0 is unknown.
pub type PlaceId = u32;

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// File.
    pub file: String,
    /// Line; 0: unknown.
    pub line: u32,
    /// Column; 0: unknown.
    pub column: u32,
}

/// A place where a variable is accessed.
#[derive(Clone, Debug, Default)]
pub struct SiteInfo {
    /// Place.
    pub place: PlaceId,
    /// Function.
    pub function: u32,
    /// Innermost loop + 1; 0: none.
    pub in_loop: u32,
    /// Variable, in [`Source::names`]; 0: unknown.
    pub variable: u32,
    /// The local variable that it is, + 1: one without an address, or a number or pointer with one.
    pub local: u32,
    /// Which operator the access is part of; 0: none.
    pub update: u8,
    /// The variable itself is accessed, not what it points to.
    pub direct: bool,
    /// The variable is a number or a pointer by itself, and all of it is accessed.
    pub whole: bool,
    /// The call on the same line that has just returned: the write takes its result. What is read beside it could be read before.
    pub tail: PlaceId,
    /// Segment, and line of the segment.
    pub segment: (u32, u32),
    /// State of the C library or of code that was not instrumented, + 1.
    pub state: u8,
    /// A library function reads on from there.
    pub reads_on: bool,
    /// It is written.
    pub writes: bool,
    /// Each thread has its own.
    pub thread_local: bool,
    /// The local variable has an address.
    pub has_address: bool,
    /// Every iteration of the innermost loop around it does it.
    pub always: bool,
    /// It applies an operator, and nothing else depends on what that gives.
    pub alone: bool,
    /// The number of loops around it, from the innermost one on, in which each iteration writes at the same address.
    pub fixed: u8,
    /// In the next loop around it an index changes: it reaches several elements.
    pub moves: bool,
    /// What it reads is a pointer or a part of Fortran's description of an array, or what it writes is all of the latter.
    pub pointer: bool,
}

/// A segment.
#[derive(Clone, Debug, Default)]
pub struct SegmentInfo {
    /// Flags.
    pub flags: u32,
    /// Function.
    pub function: u32,
    /// Innermost loop + 1.
    pub in_loop: u32,
    /// Place of the call at its end.
    pub call: PlaceId,
    /// Name of the called function.
    pub callee: u32,
    /// Site of the first operation.
    pub sites: Site,
    /// Number of the first operation in its module.
    pub first: u32,
    /// Lines.
    pub runs: Box<[Run]>,
    /// Touches: variable in its function, what is done, site.
    pub touches: Box<[(u32, Action, Site)]>,
    /// The loop whose body begins here, + 1.
    pub body_of: u32,
    /// Its first place.
    pub place: PlaceId,
    /// [Numbers](Source::line_of) of its lines.
    pub numbers: Box<[u32]>,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct FunctionInfo {
    /// Name in the source.
    pub name: String,
    /// Place.
    pub place: PlaceId,
    /// Locals without an address.
    pub locals: u32,
    /// The first of them.
    pub first_local: u32,
    /// Lines of its segments.
    pub lines: u32,
}

/// A loop.
#[derive(Clone, Debug, Default)]
pub struct LoopInfo {
    /// Function.
    pub function: u32,
    /// The loop around it, + 1.
    pub parent: u32,
    /// Place of the statement.
    pub place: PlaceId,
    /// `workspan_trace::facts::loop_flag`.
    pub flags: u32,
    /// Last line.
    pub last_line: u32,
    /// Variables that advance by a step; numbers are over all modules.
    pub inductions: Vec<Induction>,
    /// It stands in a header of C++'s library.
    pub of_library: bool,
    /// Its module has code for dependences. Of another one, what optimisation has put into registers is not seen: no verdict.
    pub judged: bool,
}

/// The program.
#[derive(Debug, Default)]
pub struct Source {
    /// Names; the first is empty.
    pub names: Vec<String>,
    by_name: HashMap<String, u32>,
    /// Places; the first is unknown.
    pub places: Vec<Place>,
    by_place: HashMap<Place, PlaceId>,
    lines: HashMap<(u32, u32), u32, BuildHasher>,
    /// Sites; the first is none.
    pub sites: Vec<SiteInfo>,
    /// Segments by id.
    pub segments: Vec<SegmentInfo>,
    /// Functions.
    pub functions: Vec<FunctionInfo>,
    /// Loops.
    pub loops: Vec<LoopInfo>,
    /// Names of locals.
    pub locals: Vec<u32>,
    /// Lines of their declarations; 0: unknown.
    pub declared: Vec<u32>,
    /// Modules that are known, by their first id.
    known: HashMap<u32, bool>,
    /// Modules that were instrumented after optimisation.
    pub late: Vec<String>,
    /// Modules that have no debug information.
    pub without_lines: Vec<String>,
    states: HashMap<(PlaceId, u8, u32), Site>,
    /// The loop, + 1, that a call stands in.
    loop_of_call: HashMap<PlaceId, u32>,
    /// Effects that the user has named.
    pub effects: Named,
}

impl Source {
    /// Nothing known yet.
    pub fn new() -> Source {
        let mut source = Source::default();
        source.names.push(String::new());
        source.places.push(Place::default());
        source.sites.push(SiteInfo::default());
        source
    }

    /// The function of a site; not known: no function's number.
    #[inline]
    pub fn function_of(&self, site: Site) -> u32 {
        self.sites.get(site as usize).map_or(u32::MAX, |site| site.function)
    }

    /// Number of a name.
    pub fn name(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        if let Some(number) = self.by_name.get(name) {
            return *number;
        }
        let number = small(self.names.len());
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), number);
        number
    }

    fn place(&mut self, module: &Module, place: u32) -> PlaceId {
        let Some(mut found) = module.places.get(place as usize) else {
            return 0;
        };
        // What was inlined before instrumentation stands where it was called; in Rust, all but the library.
        while let Some(outer) = module.places.get(found.inlined_at as usize) {
            let file = module.text(found.file);
            if file.ends_with(".rs") && !is_library_file(file) {
                break;
            }
            found = outer;
        }
        let place = Place { file: module.text(found.file).to_owned(), line: found.line, column: found.column };
        self.intern(place)
    }

    fn intern(&mut self, place: Place) -> PlaceId {
        if let Some(number) = self.by_place.get(&place) {
            return *number;
        }
        let number = small(self.places.len());
        self.places.push(place.clone());
        self.by_place.insert(place, number);
        number
    }

    /// Takes a module in, once.
    pub fn learn(&mut self, loaded: &Loaded) {
        if self.known.insert(loaded.base, true).is_some() {
            return;
        }
        let module = &loaded.module;
        if !module.facts.early {
            self.late.push(module.name.clone());
        }
        // What rustc makes up has none.
        let is_made_up = |name: &str| rust_names::path(name).is_some_and(|path| path[0] == "__rustc");
        let has_own = module.functions.iter().any(|each| !is_made_up(&each.name) && !each.name.starts_with("__rust"));
        if module.places.is_empty() && has_own {
            self.without_lines.push(module.name.clone());
        }
        let (functions, loops) = (small(self.functions.len()), small(self.loops.len()));
        let locals = self.functions(module);
        self.loops(module, functions, loops, locals);
        self.segments(loaded, functions, loops, locals);
    }

    fn functions(&mut self, module: &Module) -> u32 {
        let first_function = small(self.functions.len());
        let first_local = small(self.locals.len());
        for function in &module.functions {
            let place = self.place(module, function.place);
            let named = module.places.get(function.place as usize).map(|place| module.text(place.function));
            let name = named.filter(|name| !name.is_empty()).unwrap_or(&function.name).to_owned();
            self.functions.push(FunctionInfo { name, place, first_local, ..FunctionInfo::default() });
        }
        for (number, local) in (0..).zip(&module.facts.locals) {
            let name = if local.name == NONE { 0 } else { self.name(module.text(local.name)) };
            self.locals.push(name);
            self.declared.push(local.line);
            if let Some(function) = self.functions.get_mut((first_function + local.function) as usize) {
                if function.locals == 0 {
                    function.first_local = first_local + number;
                }
                function.locals = first_local + number + 1 - function.first_local;
            }
        }
        first_local
    }

    fn loops(&mut self, module: &Module, functions: u32, loops: u32, locals: u32) {
        for (number, each) in module.loops.iter().enumerate() {
            let facts = module.facts.loops.get(number).cloned().unwrap_or_default();
            let known = number < module.facts.loops.len() && facts.place != NONE;
            let innermost = if known { facts.place } else { each.place };
            let of_library = is_loop_of_library(module, innermost);
            let place = self.place(module, innermost);
            let shifted = facts.inductions.iter().map(|each| Induction { local: locals + each.local, ..*each });
            self.loops.push(LoopInfo {
                function: functions + each.function,
                parent: if each.parent == NONE { 0 } else { loops + each.parent + 1 },
                place,
                flags: facts.flags,
                last_line: facts.last_line,
                inductions: shifted.collect(),
                of_library,
                judged: module.facts.early,
            });
        }
    }

    fn segments(&mut self, loaded: &Loaded, functions: u32, loops: u32, locals: u32) {
        let module = &loaded.module;
        let facts = &module.facts;
        let settled = settled(module);
        let mut before: Option<(u32, PlaceId)> = None;
        // A call whose result nothing has taken in its own block: function, line, place.
        let mut open: Option<(u32, u32, PlaceId)> = None;
        let all = module.loops.iter().zip(&facts.loops).enumerate();
        let bodies: HashMap<(u32, u32), u32> =
            all.map(|(at, (each, facts))| ((each.function, facts.body), loops + small(at) + 1)).collect();
        for (number, (segment, runs, of_segment)) in parts(module).enumerate() {
            let function = functions + segment.function;
            let in_loop = if segment.in_loop == NONE { 0 } else { loops + segment.in_loop + 1 };
            // What is written on the line of the call that has just returned takes its result.
            let after = segment.flags & flag::AFTER_CALL != 0;
            let first_line = runs.first().map_or(0, |run| run.line);
            let in_block = before.filter(|(line, _)| after && first_line == *line);
            // Where a call ends its block, or a choice follows it, a later block takes the result.
            let in_later = open.filter(|(of, line, _)| {
                in_block.is_none() && *of == segment.function && *line == first_line && segment.flags & flag::BLOCK != 0
            });
            let tail = in_block.or(in_later.map(|(_, line, place)| (line, place)));
            let mut taken = false;
            // Counters take no results.
            let counts = |local: u32| {
                let own = facts.loops.get(segment.in_loop as usize).filter(|_| segment.in_loop != NONE);
                own.is_some_and(|of| of.inductions.iter().any(|each| each.local == local))
            };
            let of_first = runs.first().map_or((0, 0), |run| (run.operations, run.touches));
            let sites = small(self.sites.len());
            let id = loaded.base + small(number);
            let mut in_run = RunOf::new(runs, |run| run.operations);
            let callee_reads_on = module.texts.get(segment.callee as usize).is_some_and(|name| reads_on(name));
            let mut touch_in_run = RunOf::new(runs, |run| run.touches);
            for (at, operation) in (0..).zip(module.operations_of(segment)) {
                let meaning = facts.operations.get((segment.first + at) as usize).copied().unwrap_or_default();
                let place = self.place(module, operation.place);
                let variable = module.texts.get(meaning.variable as usize).cloned().unwrap_or_default();
                let variable = self.name(&variable);
                let is_counter = meaning.local != 0 && counts(meaning.local - 1);
                let takes = at < of_first.0 && operation.access != Access::Load && !is_counter;
                taken |= takes;
                let tail = tail.filter(|_| takes).map_or(0, |(_, call)| call);
                let (update, direct, whole) = (meaning.update, meaning.direct, meaning.whole);
                let reads_on =
                    operation.flags & operation::LIBRARY != 0 && operation.access != Access::Store && callee_reads_on;
                let segment = (id, in_run.next());
                let has_address = meaning.local != 0;
                let local = if has_address { locals + meaning.local } else { 0 };
                let info = SiteInfo {
                    local,
                    has_address,
                    always: meaning.always,
                    alone: meaning.alone,
                    fixed: meaning.fixed,
                    moves: meaning.moves,
                    pointer: meaning.pointer,
                    writes: operation.access != Access::Load,
                    thread_local: operation.flags & operation::THREAD_LOCAL != 0,
                    place,
                    function,
                    in_loop,
                    variable,
                    update,
                    direct,
                    whole,
                    tail,
                    segment,
                    reads_on,
                    ..SiteInfo::default()
                };
                self.sites.push(info);
            }
            let mut touches = Vec::new();
            for (at, touch) in (0..).zip(of_segment) {
                let site = small(self.sites.len());
                let place = self.place(module, touch.place);
                let local = locals + touch.local;
                let variable = self.locals.get(local as usize).copied().unwrap_or(0);
                let takes = at < of_first.1 && touch.deed == Deed::Write && !counts(touch.local);
                taken |= takes;
                let tail = tail.filter(|_| takes).map_or(0, |(_, call)| call);
                self.sites.push(SiteInfo {
                    place,
                    function,
                    in_loop,
                    variable,
                    local: local + 1,
                    update: touch.update,
                    direct: true,
                    writes: touch.deed == Deed::Write,
                    always: touch.always,
                    tail,
                    segment: (id, touch_in_run.next()),
                    ..SiteInfo::default()
                });
                let first = self.functions.get(function as usize).map_or(0, |function| function.first_local);
                let is_settled = segment.flags & flag::ENTRY == 0 && settled.get(touch.local as usize) == Some(&true);
                let deed = match touch.deed {
                    Deed::Begin => Action::Begin,
                    Deed::Read if is_settled => Action::Look,
                    Deed::Read => Action::Read,
                    Deed::Write => Action::Write,
                };
                touches.push((local.saturating_sub(first), deed, site));
            }
            let is_first = segment.flags & flag::BLOCK != 0;
            let body_of = bodies.get(&(segment.function, segment.block)).filter(|_| is_first).copied().unwrap_or(0);
            let call = self.place(module, segment.call_place);
            let last_line = runs.last().map_or(0, |run| run.line);
            let numbers = runs.iter().map(|run| self.number_line(function, run.line)).collect();
            before = (segment.flags & flag::CALL != 0).then_some((last_line, call));
            if let Some((line, place)) = before {
                open = Some((segment.function, line, place));
            } else if taken && tail.is_some() {
                open = None;
            }
            if before.is_some() && in_loop != 0 {
                self.loop_of_call.insert(call, in_loop);
            }
            let callee = module.texts.get(segment.callee as usize).cloned().unwrap_or_default();
            let callee = self.name(&callee);
            let place = self.place(module, segment.place);
            let id = id as usize;
            if self.segments.len() <= id {
                self.segments.resize_with(id + 1, SegmentInfo::default);
            }
            let flags = segment.flags;
            let first = segment.first;
            self.segments[id] = SegmentInfo {
                flags,
                function,
                in_loop,
                call,
                callee,
                sites,
                first,
                runs: runs.into(),
                touches: touches.into(),
                body_of,
                place,
                numbers,
            };
        }
    }

    /// The innermost loop, + 1, around a call; 0: none.
    pub fn loop_of_call(&self, call: PlaceId) -> u32 {
        self.loop_of_call.get(&call).copied().unwrap_or(0)
    }

    /// The site of a call that changes state.
    pub fn state(&mut self, call: PlaceId, state: usize, function: u32, in_loop: u32) -> Site {
        let number = u8::try_from(state + 1).unwrap_or(u8::MAX);
        self.outside(SiteInfo { place: call, function, in_loop, state: number, tail: call, ..SiteInfo::default() })
    }

    /// The site of a call that frees an object.
    pub fn freeing(&mut self, call: PlaceId, function: u32, in_loop: u32) -> Site {
        self.outside(SiteInfo { place: call, function, in_loop, writes: true, tail: call, ..SiteInfo::default() })
    }

    /// The site of what a function outside instrumented code does: one for each place, function and state.
    fn outside(&mut self, info: SiteInfo) -> Site {
        let site = small(self.sites.len());
        let known = *self.states.entry((info.place, info.state, info.function)).or_insert(site);
        if known == site {
            self.sites.push(info);
        }
        known
    }

    /// Number of a line in a function, of those that its segments have; 0: the unknown line.
    pub fn line_of(&self, function: u32, line: u32) -> Option<u32> {
        if line == 0 {
            return Some(0);
        }
        self.lines.get(&(function, line)).copied()
    }

    fn number_line(&mut self, function: u32, line: u32) -> u32 {
        if line == 0 {
            return 0;
        }
        let Some(info) = self.functions.get_mut(function as usize) else {
            return 0;
        };
        let number = self.lines.entry((function, line)).or_insert(info.lines + 1);
        info.lines = info.lines.max(*number);
        *number
    }

    /// Modules that were instrumented before optimisation.
    pub fn modules_early(&self) -> usize {
        self.known.len().saturating_sub(self.late.len())
    }

    /// True if a loop is another or lies in it; both + 1.
    pub fn is_within(&self, mut inner: u32, outer: u32) -> bool {
        while inner != 0 && inner != outer {
            inner = self.loops.get(inner as usize - 1).map_or(0, |each| each.parent);
        }
        inner == outer
    }
}

/// Which line of a segment the next operation belongs to.
struct RunOf<'r> {
    runs: &'r [Run],
    count: fn(&Run) -> u32,
    at: u32,
    left: u32,
}

/// True for a loop of a library's own. Those of C++'s algorithms are the program's, if the program calls these itself.
fn is_loop_of_library(module: &Module, innermost: u32) -> bool {
    let Some(mut found) = module.places.get(innermost as usize) else {
        return false;
    };
    loop {
        let (file, function) = (module.text(found.file), module.text(found.function));
        if !cpp_library::is_library_file(file) {
            return is_container_file(file);
        }
        match module.places.get(found.inlined_at as usize) {
            Some(outer) if cpp_library::is_algorithm(file, function) => found = outer,
            _ => return true,
        }
    }
}

impl<'r> RunOf<'r> {
    fn new(runs: &'r [Run], count: fn(&Run) -> u32) -> RunOf<'r> {
        RunOf { runs, count, at: 0, left: runs.first().map_or(0, count) }
    }

    fn next(&mut self) -> u32 {
        while self.left == 0 {
            let Some(run) = self.runs.get(self.at as usize + 1) else {
                return self.at;
            };
            self.at += 1;
            self.left = (self.count)(run);
        }
        self.left -= 1;
        self.at
    }
}

/// Counts fit into 32 bits.
pub fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
