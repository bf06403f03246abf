//! A module from beginning to end: events in all its functions, its static description, its registration.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

use workspan_trace::control::FIRST_SEGMENT;
use workspan_trace::program::{self, Module, NONE};
use workspan_trace::VERSION;

use crate::allocators::Allocators;
use crate::begun;
use crate::below;
use crate::choosers;
use crate::copies;
use crate::debug::Places;
use crate::early;
use crate::emit::Emitter;
use crate::fixed::Written;
use crate::lines::Repeats;
use crate::llvm::{
    initialise_assembly, llvm, text, text_with_zero, Llvm, Ref, AVAILABLE_EXTERNALLY, FUNCTION, INTERNAL,
};
use crate::loads;
use crate::locals::Locals;
use crate::names::{is_fortran, Declared, Variable};
use crate::nested;
use crate::pipeline::{is_left_to_the_pass, unchanged};
use crate::plan::{Address, Plan, Planner, Segment};
use crate::repeats;
use crate::rust;
use crate::rust_sync;
use crate::sections;
use crate::stores;
use crate::unread;
use crate::updates::updates;

const APPENDING: i32 = 7;
const RETURN_STATUS: i32 = 2;

/// Instruments a module, unless it has been. Says whether it has changed it.
pub fn module(module: Ref) -> Result<bool, String> {
    let llvm = llvm().map_err(|name| format!("this compiler's LLVM has no {name}: LLVM 16 to 22 are supported"))?;
    if !llvm.named_global(module, c"__workspan_base".as_ptr()).is_null() {
        return Ok(false);
    }
    let target = text_with_zero(llvm.target(module));
    if !(target.starts_with("x86_64") || target.starts_with("aarch64")) || !target.contains("linux") {
        return Err(format!("programs for {target} cannot be instrumented: only x86-64 and aarch64 on Linux"));
    }
    initialise_assembly(&target);
    let is_early = early::wanted();
    let is_rust = is_early && rust::is_rust(llvm, module);
    let mut variables = HashMap::new();
    if is_rust {
        rust::answer_questions(llvm, module);
        rust::inline_library(llvm, module);
        inline(llvm, module)?;
        run(llvm, module, c"function(sroa)")?;
        loads::hold(llvm, module);
        run(llvm, module, rust::TAKE_APART)?;
        rust::compare_references(llvm, module);
        run(llvm, module, rust::STRAIGHTEN)?;
        nested::join(llvm, module);
        rust::simplify_loops(llvm, module, |passes| run(llvm, module, passes))?;
        loads::release(llvm, module);
        stores::split(llvm, module);
        unread::take_away(llvm, module);
        rust::add_plainly(llvm, module);
        begun::scopes(llvm, module);
        variables = rust::variables(llvm, module);
        crate::bounded::add(llvm, module);
        below::begin(llvm, module);
        early::prepare(llvm, module);
    } else if is_early {
        if is_fortran(llvm, module) {
            if !is_left_to_the_pass() {
                return Err("this flang has optimised the file before it could be instrumented".to_owned());
            }
            sections::add(llvm, module)?;
        }
        early::keep_functions(llvm, module);
        early::inline_accessors(llvm, module);
        inline(llvm, module)?;
        early::forward_parameters(llvm, module);
        copies::plain(llvm, module);
        crate::results::keep(llvm, module, None, &mut variables);
        crate::bounded::add(llvm, module);
        early::prepare(llvm, module);
    } else {
        rust_sync::make_room(llvm, module);
    }
    let mut work = Work {
        llvm,
        module,
        context: llvm.context_of(module),
        emitter: Emitter::new(llvm, module),
        described: Module::default(),
        places: Places::default(),
        symbols: HashMap::new(),
        variables,
        choosers: if is_early { choosers::of_module(llvm, module) } else { HashMap::new() },
        is_rust,
    };
    work.described.facts.early = is_early;
    let mut length = 0;
    let name = llvm.source_file_name(module, &raw mut length);
    work.described.name = text(name, length);
    if let Some(folder) = std::env::var_os("WORKSPAN_PASS_PRINT") {
        print(llvm, module, Path::new(&folder), &work.described.name)?;
    }
    work.functions();
    work.register();
    work.emitter.finish();
    inline(llvm, module)?;
    if is_early {
        run(llvm, module, c"default<O1>")?;
    }
    // LLVM may go on for ever with a module that is not valid, and of Rust's control flow much is changed here.
    if is_rust || std::env::var_os("WORKSPAN_PASS_VERIFY").is_some() {
        verify(llvm, module)?;
    }
    Ok(true)
}

struct Work<'l> {
    llvm: &'l Llvm,
    module: Ref,
    context: Ref,
    emitter: Emitter<'l>,
    described: Module,
    places: Places,
    symbols: HashMap<Ref, u32>,
    /// Variables that were given memory again, and their names.
    variables: HashMap<Ref, Variable>,
    /// Functions that return the greatest or the least of two numbers.
    choosers: HashMap<Ref, choosers::Choice>,
    is_rust: bool,
}

impl Work<'_> {
    fn functions(&mut self) {
        let llvm = self.llvm;
        let layout = llvm.data_layout(self.module);
        let mut declared =
            if self.described.facts.early { Declared::of(llvm, self.module) } else { Declared::default() };
        declared.is_rust = self.is_rust;
        declared.extend(std::mem::take(&mut self.variables));
        let naked = llvm.attribute_kind(c"naked".as_ptr(), 5);
        let of_ours = |name: &str| name.starts_with("__workspan_") || name.starts_with("llvm.");
        let allocators = Allocators::of(llvm, self.module);
        for function in llvm.functions(self.module) {
            if let Some(deed) = allocators.deeds.get(&function) {
                self.emitter.allocator(function, *deed);
            }
            let skipped = llvm.is_declaration(function) != 0
                || llvm.linkage(function) == AVAILABLE_EXTERNALLY
                || !llvm.attribute_at(function, FUNCTION, naked).is_null()
                || of_ours(&llvm.name(function))
                || allocators.all.contains(&function)
                || self.described.facts.early && crate::library::is_whole(&llvm.name(function));
            if skipped {
                // Functions elsewhere may be instrumented, too. Of intrinsics LLVM has to know that they touch no memory: it could not
                // select instructions for some of a processor's.
                if !llvm.name(function).starts_with("llvm.") {
                    self.emitter.prepare(function);
                }
                continue;
            }
            self.emitter.prepare(function);
            let entry = llvm.first_block(function);
            let plain = Planner { llvm, layout, locals: None, is_ours: false };
            self.emitter.hoist(entry, |alloca| plain.is_static(alloca));
            let locals = self.described.facts.early.then(|| Locals::of(llvm, layout, function));
            let is_ours = llvm.name(function).starts_with(crate::library::ADDED);
            let planner = Planner { locals: locals.as_ref(), is_ours, ..plain };
            let repeats =
                if locals.is_none() { repeats::prepare(&planner, self.context, function) } else { Repeats::new() };
            let plan = planner.plan(function, &repeats);
            self.function(function, &plan, locals.as_ref(), &declared);
        }
    }

    fn function(&mut self, function: Ref, plan: &Plan, locals: Option<&Locals>, declared: &Declared) {
        let llvm = self.llvm;
        let number = small(self.described.functions.len());
        let place = self.places.of_function(llvm, self.context, &mut self.described, function);
        let name = llvm.name(function);
        self.described.functions.push(program::Function { name, place, blocks: small(plan.blocks) });
        let first_loop = small(self.described.loops.len());
        let loop_number = |number: Option<usize>| number.map_or(NONE, |number| first_loop + small(number));
        for each in &plan.loops.loops {
            let first = plan.first_instructions.get(each.header).copied();
            let place = first.map_or(NONE, |first| self.first_place(first));
            let (parent, header) = (loop_number(each.parent), small(each.header));
            self.described.loops.push(program::Loop { function: number, parent, header, place });
        }
        let extra = locals.map(|locals| early::Extra {
            locals,
            first: self.described.facts.locals.len(),
            updates: updates(llvm, plan, &self.choosers, declared),
            declared,
            written: Written::of(llvm, &plan.loops, &plan.handles),
            all_conditions: self.is_rust,
        });
        let mut dead_ends = HashSet::new();
        if let Some(extra) = &extra {
            let mut sink =
                early::Sink { llvm, context: self.context, described: &mut self.described, places: &mut self.places };
            dead_ends = sink.function(number, plan, extra);
        }
        plan.atomics.iter().for_each(|atomic| self.emitter.atomic(function, atomic));
        self.emitter.kept(function, &plan.kept);
        plan.ordering_calls.iter().for_each(|call| self.emitter.ordering_call(function, call));
        for segment in &plan.segments {
            let in_loop = loop_number(plan.loops.innermost[segment.block]);
            let mut described = self.segment(segment, number, in_loop);
            if dead_ends.contains(&segment.block) {
                described.flags |= program::flag::DEAD_END;
            }
            if let Some(extra) = &extra {
                let mut sink = early::Sink {
                    llvm,
                    context: self.context,
                    described: &mut self.described,
                    places: &mut self.places,
                };
                sink.segment(segment, plan, extra);
            }
            let id = small(self.described.segments.len());
            self.described.segments.push(described);
            self.emitter.segment(function, segment, id);
        }
    }

    /// Place of the first instruction from here on that has one.
    fn first_place(&mut self, from: Ref) -> u32 {
        let mut at = from;
        while !at.is_null() {
            let place = self.place(at);
            if place != NONE {
                return place;
            }
            at = self.llvm.next_instruction(at);
        }
        NONE
    }

    fn place(&mut self, instruction: Ref) -> u32 {
        self.places.of_instruction(self.llvm, self.context, &mut self.described, instruction)
    }

    fn segment(&mut self, segment: &Segment, function: u32, in_loop: u32) -> program::Segment {
        let (mut call_place, mut callee) = (NONE, NONE);
        if let Some(call) = segment.call {
            self.emitter.prepare_call(call);
            call_place = self.place(call);
            let is_assembly = !self.llvm.is_a_inline_asm(self.llvm.called_value(call)).is_null();
            let assembly = is_assembly.then(|| crate::assembly::NAME.to_owned());
            let stream = segment.of_text.then(|| program::TEXT_STREAM.to_owned());
            if let Some(name) = assembly.or(stream).or_else(|| Some(self.llvm.name(self.llvm.callee(call)?))) {
                callee = self.places.text(&mut self.described, &name);
            }
        }
        let first = small(self.described.operations.len());
        for operation in &segment.operations {
            let address = match operation.address {
                Address::Pointer(_) | Address::Lane(..) => program::Address::Slot,
                Address::Near(other, offset) => program::Address::Near { operation: small(other), offset },
                Address::Symbol(symbol, offset) => program::Address::Symbol { symbol: self.symbol(symbol), offset },
            };
            let of_length = if operation.length.is_some() { program::operation::SIZE_SLOT } else { 0 };
            let described = program::Operation {
                access: operation.access,
                flags: operation.flags | of_length,
                size: operation.size,
                address,
                place: self.place(operation.instruction),
                step: operation.step,
            };
            self.described.operations.push(described);
        }
        program::Segment {
            function,
            block: small(segment.block),
            flags: segment.flags,
            in_loop,
            place: self.first_place(segment.before),
            call_place,
            callee,
            first,
            operations: small(segment.operations.len()),
        }
    }

    fn symbol(&mut self, variable: Ref) -> u32 {
        let next = small(self.described.symbols.len());
        let number = *self.symbols.entry(variable).or_insert(next);
        if number == next {
            let name = self.llvm.name(variable);
            self.described.symbols.push(name);
        }
        number
    }

    /// Leaves the description in the program, and has the run-time read it before anything else of the module runs.
    fn register(&self) {
        let llvm = self.llvm;
        let (bit32, word) = (llvm.int_type(self.context, 32), llvm.int_type(self.context, 64));
        let pointer = llvm.pointer_type(self.context, 0);
        let constant = |name: &std::ffi::CStr, value: Ref| {
            let global = llvm.add_global(self.module, llvm.type_of(value), name.as_ptr());
            llvm.set_initializer(global, value);
            llvm.set_linkage(global, INTERNAL);
            llvm.set_constant(global, 1);
            global
        };
        let bytes = self.described.encode();
        let text = llvm.const_string(self.context, bytes.as_ptr().cast(), small(bytes.len()), 1);
        let description = constant(c"__workspan_description", text);
        let mut variables = vec![null_mut(); self.symbols.len()];
        // The order of insertion is in the numbers.
        for variable in self.sorted_symbols() {
            variables[variable.1 as usize] = variable.0;
        }
        let list = llvm.const_array(pointer, variables.as_mut_ptr(), small(variables.len()));
        let list = constant(c"__workspan_variables", list);
        let number = |ty, value: usize| llvm.const_int(ty, value as u64, 0);
        let mut fields = [
            number(bit32, VERSION as usize),
            number(bit32, self.described.segments.len()),
            self.emitter.base,
            description,
            number(word, bytes.len()),
            list,
            number(word, variables.len()),
        ];
        let record = llvm.const_struct(self.context, fields.as_mut_ptr(), small(fields.len()), 0);
        let record = constant(c"__workspan_module", record);

        let void = llvm.void_type(self.context);
        let take_type = llvm.function_type(void, [pointer].as_mut_ptr(), 1, 0);
        let take = llvm.add_function(self.module, c"__workspan_register".as_ptr(), take_type);
        let start_type = llvm.function_type(void, null_mut(), 0, 0);
        let start = llvm.add_function(self.module, c"__workspan_start".as_ptr(), start_type);
        llvm.set_linkage(start, INTERNAL);
        let builder = llvm.create_builder(self.context);
        llvm.position_at_end(builder, llvm.append_block(self.context, start, c"entry".as_ptr()));
        llvm.build_call(builder, take_type, take, [record].as_mut_ptr(), 1, c"".as_ptr());
        llvm.build_ret_void(builder);
        llvm.dispose_builder(builder);
        // Before all constructors that a program may have.
        let entry = constant(c"__workspan_entry", start);
        llvm.set_section(entry, c".init_array.00101".as_ptr());
        self.use_always(entry);
        self.use_always(record);
        self.note();
    }

    fn sorted_symbols(&self) -> Vec<(Ref, u32)> {
        let mut symbols: Vec<(Ref, u32)> = self.symbols.iter().map(|(variable, number)| (*variable, *number)).collect();
        symbols.sort_by_key(|(_, number)| *number);
        symbols
    }

    /// The note by which the run-time and `workspan` find the record: its distance from the note's own last word.
    fn note(&self) {
        let text = format!(
            ".pushsection .note.workspan.pass,\"a\",%note\n.balign 4\n.long 13, 4, {VERSION}\n.asciz \"WorkspanPass\"\n\
             .balign 4\n.long __workspan_module - .\n.popsection\n"
        );
        self.llvm.append_asm(self.module, text.as_ptr().cast(), text.len());
    }

    /// No linker or optimiser may drop it.
    fn use_always(&self, global: Ref) {
        let llvm = self.llvm;
        let name = c"llvm.used".as_ptr();
        let former = llvm.named_global(self.module, name);
        let mut all = Vec::new();
        if !former.is_null() {
            let list = llvm.initializer(former);
            let count = u32::try_from(llvm.operands(list)).unwrap_or(0);
            all.extend((0..count).map(|at| llvm.operand(list, at)));
            llvm.delete_global(former);
        }
        all.push(global);
        let pointer = llvm.pointer_type(self.context, 0);
        let list = llvm.const_array(pointer, all.as_mut_ptr(), small(all.len()));
        let used = llvm.add_global(self.module, llvm.type_of(list), name);
        llvm.set_initializer(used, list);
        llvm.set_linkage(used, APPENDING);
        llvm.set_section(used, c"llvm.metadata".as_ptr());
    }
}

/// Inlines the beginning of events.
fn inline(llvm: &Llvm, module: Ref) -> Result<(), String> {
    run(llvm, module, c"always-inline")
}

/// Runs passes of LLVM.
fn run(llvm: &Llvm, module: Ref, passes: &std::ffi::CStr) -> Result<(), String> {
    let options = llvm.create_options();
    let error = unchanged(|| llvm.run_passes(module, passes.as_ptr(), null_mut(), options));
    llvm.dispose_options(options);
    if error.is_null() {
        Ok(())
    } else {
        Err(format!("LLVM cannot run its passes: {}", text_with_zero(llvm.error_message(error))))
    }
}

fn verify(llvm: &Llvm, module: Ref) -> Result<(), String> {
    let mut message = null_mut();
    if llvm.verify(module, RETURN_STATUS, &raw mut message) == 0 {
        Ok(())
    } else {
        Err(format!("the instrumented module is not valid: {}", text_with_zero(message)))
    }
}

/// Writes what the events of a module are about to be added to, for those who develop the pass.
fn print(llvm: &Llvm, module: Ref, folder: &Path, name: &str) -> Result<(), String> {
    let file = folder.join(format!("{}.ll", name.replace('/', "_")));
    let mut message = null_mut();
    let path = CString::new(file.as_os_str().as_bytes()).map_err(|_| "a path with a zero in it".to_owned())?;
    if llvm.print_module(module, path.as_ptr(), &raw mut message) == 0 {
        Ok(())
    } else {
        Err(format!("{}: {}", file.display(), text_with_zero(message)))
    }
}

/// Counts of a module fit into 32 bits, less those of control events.
fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX - FIRST_SEGMENT)
}
