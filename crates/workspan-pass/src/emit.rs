//! The instructions that write an event.
//!
//! A segment begins with a call of `__workspan_begin`, a function of the module that is inlined right away: it takes as
//! many bytes from the thread's buffer as the event has, or has the run-time hand out another buffer, and writes the id.
//! Before each access its address is stored at its place: 8 bytes at a distance of 6, each overwriting the zeros of the one
//! before. The bytes are taken before any is written, so that the events of a signal's handler come after.

use std::collections::HashMap;
use std::ffi::CStr;
use std::ptr::null_mut;

use workspan_trace::program::{flag, operation};
use workspan_trace::{ID_BYTES, SLOT_BYTES};

use crate::allocators::Deed;
use crate::lines::{Lines, Repeat, When};
use crate::llvm::{opcode, text_with_zero, Llvm, Ref, FUNCTION, INTERNAL};
use crate::plan::{Address, Atomic, Kept, Length, Operation, OrderingCall, Segment};

const INITIAL_EXEC: i32 = 3;
const PRESERVE_MOST: u32 = 14;
/// `icmp uge`.
const AT_LEAST: i32 = 35;

/// What all functions of a module share.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "handles")]
pub struct Emitter<'l> {
    llvm: &'l Llvm,
    module: Ref,
    context: Ref,
    builder: Ref,
    pointer: Ref,
    byte: Ref,
    word: Ref,
    bit32: Ref,
    begin: Ref,
    begin_type: Ref,
    /// Number of the module's first segment, a variable that the run-time sets.
    pub base: Ref,
    frame: Ref,
    frame_type: Ref,
    frame_has_argument: bool,
    memory: u32,
    order_type: Ref,
    release: Ref,
    acquire: Ref,
    begins_type: Ref,
    begins: Ref,
    ends_type: Ref,
    ends: Ref,
}

impl<'l> Emitter<'l> {
    /// Declares what is needed.
    pub fn new(llvm: &'l Llvm, module: Ref) -> Emitter<'l> {
        let context = llvm.context_of(module);
        let bit32 = llvm.int_type(context, 32);
        let pointer = llvm.pointer_type(context, 0);
        let base = llvm.add_global(module, bit32, c"__workspan_base".as_ptr());
        llvm.set_linkage(base, INTERNAL);
        llvm.set_initializer(base, llvm.const_null(bit32));
        let target = text_with_zero(llvm.target(module));
        // The slot of the return address marks a frame exactly; other processors have something near.
        let exact = target.starts_with("x86_64") || target.starts_with("aarch64");
        let name = if exact { c"llvm.addressofreturnaddress" } else { c"llvm.frameaddress" };
        let id = llvm.intrinsic_id(name.as_ptr(), name.count_bytes());
        let frame = llvm.intrinsic(module, id, [pointer].as_mut_ptr(), 1);
        let frame_type = if exact {
            llvm.function_type(pointer, null_mut(), 0, 0)
        } else {
            llvm.function_type(pointer, [bit32].as_mut_ptr(), 1, 0)
        };
        let mut emitter = Emitter {
            llvm,
            module,
            context,
            builder: llvm.create_builder(context),
            pointer,
            byte: llvm.int_type(context, 8),
            word: llvm.int_type(context, 64),
            bit32,
            begin: null_mut(),
            begin_type: null_mut(),
            base,
            frame,
            frame_type,
            frame_has_argument: !exact,
            memory: kind(llvm, c"memory"),
            order_type: null_mut(),
            release: null_mut(),
            acquire: null_mut(),
            begins_type: null_mut(),
            begins: null_mut(),
            ends_type: null_mut(),
            ends: null_mut(),
        };
        emitter.declare_order();
        emitter.declare_begin();
        emitter
    }

    /// Gives the builder back.
    pub fn finish(self) {
        self.llvm.dispose_builder(self.builder);
    }

    fn number(&self, value: usize) -> Ref {
        self.llvm.const_int(self.word, value as u64, 0)
    }

    fn at(&self, pointer: Ref, offset: usize) -> Ref {
        let mut index = self.number(offset);
        self.llvm.build_gep(self.builder, self.byte, pointer, &raw mut index, 1, c"".as_ptr())
    }

    /// `__workspan_begin(bytes, segment)`: where the event's slots are.
    fn declare_begin(&mut self) {
        let llvm = self.llvm;
        // What the run-time defines: where the thread writes next, and from where on it needs another buffer.
        let thread_type = llvm.array_type(self.pointer, 2);
        let thread = llvm.add_global(self.module, thread_type, c"__workspan_thread".as_ptr());
        llvm.set_thread_local_mode(thread, INITIAL_EXEC);
        let flush_type = llvm.function_type(self.pointer, null_mut(), 0, 0);
        let flush = llvm.add_function(self.module, c"__workspan_flush".as_ptr(), flush_type);
        llvm.set_function_convention(flush, PRESERVE_MOST);
        self.attribute(flush, c"nounwind");
        self.attribute(flush, c"cold");
        // The loader, when it binds a function at the first call, keeps fewer registers than the convention promises.
        self.attribute(flush, c"nonlazybind");

        self.begin_type = llvm.function_type(self.pointer, [self.word, self.bit32].as_mut_ptr(), 2, 0);
        self.begin = llvm.add_function(self.module, c"__workspan_begin".as_ptr(), self.begin_type);
        llvm.set_linkage(self.begin, INTERNAL);
        self.attribute(self.begin, c"alwaysinline");
        self.attribute(self.begin, c"nounwind");
        let block = |name: &CStr| llvm.append_block(self.context, self.begin, name.as_ptr());
        let (entry, full, go) = (block(c"entry"), block(c"full"), block(c"go"));
        let (b, none) = (self.builder, c"".as_ptr());
        llvm.position_at_end(b, entry);
        let next = llvm.build_load(b, self.pointer, thread, none);
        let limit = llvm.build_load(b, self.pointer, self.at(thread, 8), none);
        let at_end = llvm.build_icmp(b, AT_LEAST, next, limit, none);
        let branch = llvm.build_cond_br(b, at_end, full, go);
        self.unlikely(branch);
        llvm.position_at_end(b, full);
        let other = llvm.build_call(b, flush_type, flush, null_mut(), 0, none);
        llvm.set_call_convention(other, PRESERVE_MOST);
        llvm.build_br(b, go);
        llvm.position_at_end(b, go);
        let here = llvm.build_phi(b, self.pointer, none);
        llvm.add_incoming(here, [next, other].as_mut_ptr(), [entry, full].as_mut_ptr(), 2);
        let mut bytes = llvm.param(self.begin, 0);
        let after = llvm.build_gep(b, self.byte, here, &raw mut bytes, 1, none);
        llvm.build_store(b, after, thread);
        let base = llvm.build_load(b, self.bit32, self.base, none);
        let id = llvm.build_add(b, base, llvm.param(self.begin, 1), none);
        llvm.set_alignment(llvm.build_store(b, id, here), 1);
        llvm.build_ret(b, self.at(here, ID_BYTES));
    }

    /// What notes that an atomic operation lets others take over, or has taken over.
    fn declare_order(&mut self) {
        let llvm = self.llvm;
        let void = llvm.void_type(self.context);
        self.order_type = llvm.function_type(void, [self.pointer].as_mut_ptr(), 1, 0);
        self.release = llvm.add_function(self.module, c"__workspan_release".as_ptr(), self.order_type);
        self.acquire = llvm.add_function(self.module, c"__workspan_acquire".as_ptr(), self.order_type);
        self.begins_type = llvm.function_type(self.word, [self.pointer].as_mut_ptr(), 1, 0);
        self.begins = llvm.add_function(self.module, c"__workspan_allocator_begins".as_ptr(), self.begins_type);
        self.ends_type = llvm.function_type(void, [self.pointer, self.word, self.word].as_mut_ptr(), 3, 0);
        self.ends = llvm.add_function(self.module, c"__workspan_allocator_ends".as_ptr(), self.ends_type);
        for function in [self.release, self.acquire, self.begins, self.ends] {
            self.attribute(function, c"nounwind");
        }
    }

    /// Has the order of an atomic operation noted. To be called before its segments are written.
    pub fn atomic(&self, function: Ref, atomic: &Atomic) {
        if atomic.order.releases {
            self.note_order(function, atomic.instruction, self.release, atomic.pointer);
        }
        if atomic.order.acquires {
            self.note_order(function, atomic.next, self.acquire, atomic.pointer);
        }
    }

    /// Has pointers of operations acquired at fences, as a local variable keeps them. To be called before segments are written.
    pub fn kept(&self, function: Ref, all: &[Kept]) {
        let llvm = self.llvm;
        let b = self.builder;
        let none = llvm.const_null(self.pointer);
        let mut variables: HashMap<Ref, Ref> = HashMap::new();
        for Kept { operation, pointer, fence } in all {
            let variable = *variables.entry(*operation).or_insert_with(|| {
                llvm.position_before(b, llvm.first_instruction(llvm.first_block(function)));
                let variable = llvm.build_alloca(b, self.pointer, c"".as_ptr());
                llvm.build_store(b, none, variable);
                llvm.position_before(b, llvm.next_instruction(*operation));
                llvm.build_store(b, *pointer, variable);
                variable
            });
            let next = llvm.next_instruction(*fence);
            llvm.position_before(b, next);
            let pointer = llvm.build_load(b, self.pointer, variable, c"".as_ptr());
            llvm.build_store(b, none, variable);
            self.note_order(function, next, self.acquire, pointer);
        }
    }

    /// Has noted what a function does that allocates.
    pub fn allocator(&self, function: Ref, deed: Deed) {
        let llvm = self.llvm;
        let b = self.builder;
        let none = c"".as_ptr();
        let ends: Vec<Ref> = llvm.blocks(function).into_iter().map(|block| llvm.terminator(block)).collect();
        let nothing = llvm.const_null(self.pointer);
        let former = match deed {
            Deed::Gives(_) => nothing,
            Deed::Takes(former) | Deed::Changes(former, _) => llvm.param(function, former),
        };
        llvm.position_before(b, llvm.first_instruction(llvm.first_block(function)));
        let before = llvm.build_call(b, self.begins_type, self.begins, [former].as_mut_ptr(), 1, none);
        self.locate(function, before);
        for end in ends.into_iter().filter(|end| llvm.opcode(*end) == opcode::RET) {
            llvm.position_before(b, end);
            let (given, size) = match deed {
                Deed::Takes(_) => (nothing, llvm.const_null(self.word)),
                Deed::Gives(size) | Deed::Changes(_, size) => (llvm.operand(end, 0), llvm.param(function, size)),
            };
            let call = llvm.build_call(b, self.ends_type, self.ends, [given, size, before].as_mut_ptr(), 3, none);
            self.locate(function, call);
        }
    }

    /// Has what a call orders noted. To be called before the segments of its function are written.
    pub fn ordering_call(&self, function: Ref, OrderingCall { call, next, rule }: &OrderingCall) {
        let llvm = self.llvm;
        let (b, none) = (self.builder, c"".as_ptr());
        llvm.position_before(b, *call);
        let argument = llvm.operand(*call, rule.argument);
        let words = if rule.through { llvm.build_load(b, self.pointer, argument, none) } else { argument };
        let all: Vec<Ref> = rule.offsets.iter().map(|offset| self.at(words, *offset)).collect();
        for word in all {
            if rule.order.releases {
                self.note_order(function, *call, self.release, word);
            }
            if rule.order.acquires {
                self.note_order(function, *next, self.acquire, word);
            }
        }
        if let Some(closure) = rule.closure {
            self.pass_closure(function, *call, closure, words);
        }
    }

    /// Has a call's closure release a word when it has run: the run-time's object takes its place.
    fn pass_closure(&self, function: Ref, call: Ref, argument: u32, word: Ref) {
        let llvm = self.llvm;
        let b = self.builder;
        llvm.position_before(b, llvm.first_instruction(llvm.first_block(function)));
        let object = llvm.build_alloca(b, llvm.array_type(self.pointer, 3), c"".as_ptr());
        llvm.position_before(b, call);
        let members = [llvm.operand(call, argument), llvm.operand(call, argument + 1), word];
        for (at, member) in (0..).zip(members) {
            llvm.build_store(b, member, self.at(object, 8 * at));
        }
        let name = c"__workspan_once_functions".as_ptr();
        let known = llvm.named_global(self.module, name);
        let functions =
            if known.is_null() { llvm.add_global(self.module, llvm.array_type(self.word, 5), name) } else { known };
        llvm.set_operand(call, argument, object);
        llvm.set_operand(call, argument + 1, functions);
    }

    fn note_order(&self, function: Ref, before: Ref, callee: Ref, mut pointer: Ref) {
        let llvm = self.llvm;
        llvm.position_before(self.builder, before);
        let call = llvm.build_call(self.builder, self.order_type, callee, &raw mut pointer, 1, c"".as_ptr());
        self.locate(function, call);
    }

    /// A call in a function with debug information needs a place.
    fn locate(&self, function: Ref, call: Ref) {
        let llvm = self.llvm;
        let subprogram = llvm.subprogram(function);
        if !subprogram.is_null() && llvm.debug_location(call).is_null() {
            let location = llvm.create_location(self.context, 0, 0, subprogram, null_mut());
            llvm.set_debug_location(call, location);
        }
    }

    fn attribute(&self, function: Ref, name: &CStr) {
        let attribute = self.llvm.create_attribute(self.context, kind(self.llvm, name), 0);
        self.llvm.add_attribute(function, FUNCTION, attribute);
    }

    fn unlikely(&self, branch: Ref) {
        let llvm = self.llvm;
        let weight = |value| llvm.value_as_metadata(llvm.const_int(self.bit32, value, 0));
        let name = c"branch_weights";
        let text = llvm.string_metadata(self.context, name.as_ptr(), name.count_bytes());
        let node = llvm.node_metadata(self.context, [text, weight(1), weight(1_000_000)].as_mut_ptr(), 3);
        let prof = llvm.metadata_kind_id(self.context, c"prof".as_ptr(), 4);
        llvm.set_metadata(branch, prof, llvm.metadata_as_value(self.context, node));
    }

    /// Makes ready a function that will write: it may no longer be taken for one that does not.
    pub fn prepare(&self, function: Ref) {
        self.llvm.remove_attribute(function, FUNCTION, self.memory);
    }

    /// The same for a call of a function that will write.
    pub fn prepare_call(&self, call: Ref) {
        self.llvm.remove_call_attribute(call, FUNCTION, self.memory);
    }

    /// Writes the event of a segment.
    pub fn segment(&self, function: Ref, segment: &Segment, number: u32) {
        let llvm = self.llvm;
        let (b, none) = (self.builder, c"".as_ptr());
        if let Some(repeat) = segment.repeat {
            self.repeated(function, segment, repeat, number);
            return;
        }
        llvm.position_before(b, segment.before);
        let id = llvm.const_int(self.bit32, number.into(), 0);
        let mut arguments = [self.number(segment.bytes()), id];
        let slots = llvm.build_call(b, self.begin_type, self.begin, arguments.as_mut_ptr(), 2, none);
        self.locate(function, slots);
        let mut slot = 0;
        if segment.flags & flag::FRAME != 0 {
            let mut zero = llvm.const_null(self.bit32);
            let count = u32::from(self.frame_has_argument);
            let frame = llvm.build_call(b, self.frame_type, self.frame, &raw mut zero, count, none);
            self.store(slots, &mut slot, llvm.build_ptr_to_int(b, frame, self.word, none));
        }
        for operation in &segment.operations {
            // Where an allocation lies is known behind it.
            let behind = llvm.opcode(operation.instruction) == opcode::ALLOCA;
            let before = if behind { llvm.next_instruction(operation.instruction) } else { operation.instruction };
            llvm.position_before(b, before);
            self.operation(slots, &mut slot, operation);
        }
    }

    /// Writes the event of all iterations of a loop, on the way out of it.
    fn repeated(&self, function: Ref, segment: &Segment, repeat: Repeat, number: u32) {
        let llvm = self.llvm;
        let (b, none) = (self.builder, c"".as_ptr());
        let lines = Lines { llvm, layout: llvm.data_layout(self.module), block: repeat.block };
        llvm.position_before(b, llvm.terminator(repeat.way_out));
        let iterations = repeat.counter.iterations(llvm, b, self.word);
        let id = llvm.const_int(self.bit32, number.into(), 0);
        let mut arguments = [self.number(segment.bytes()), id];
        let slots = llvm.build_call(b, self.begin_type, self.begin, arguments.as_mut_ptr(), 2, none);
        self.locate(function, slots);
        let mut slot = 0;
        for operation in &segment.operations {
            if let Address::Pointer(pointer) = operation.address {
                let value = |when| llvm.build_ptr_to_int(b, lines.value(b, pointer, when), self.word, none);
                let next = value(When::Next);
                let is_static = operation.flags & operation::STEP_SLOT == 0;
                let step = if is_static {
                    llvm.const_int(self.word, operation.step.cast_unsigned(), 0)
                } else {
                    llvm.build_sub(b, next, value(When::Last), none)
                };
                let first = llvm.build_sub(b, next, llvm.build_mul(b, iterations, step, none), none);
                self.store(slots, &mut slot, first);
                if !is_static {
                    self.store(slots, &mut slot, step);
                }
            }
        }
        self.store(slots, &mut slot, iterations);
    }

    fn operation(&self, slots: Ref, slot: &mut usize, operation: &Operation) {
        let llvm = self.llvm;
        let (b, none) = (self.builder, c"".as_ptr());
        let pointer = match operation.address {
            Address::Pointer(pointer) => Some(pointer),
            Address::Lane(vector, lane) => Some(llvm.build_extract(b, vector, self.number(lane as usize), none)),
            Address::Near(..) | Address::Symbol(..) => None,
        };
        if let Some(pointer) = pointer {
            self.store(slots, slot, llvm.build_ptr_to_int(b, pointer, self.word, none));
        }
        let lane_of = |mask, lane: u32| {
            let bit = llvm.build_extract(b, mask, self.number(lane as usize), none);
            llvm.build_zext(b, bit, self.word, none)
        };
        match operation.length {
            Some(Length::Value(value)) => self.store(slots, slot, self.widen(value)),
            Some(Length::Elements(count, size)) => {
                let bytes = llvm.build_mul(b, self.widen(count), self.number(size as usize), none);
                self.store(slots, slot, bytes);
            }
            Some(Length::Lanes(mask, size)) => {
                let lanes = llvm.vector_size(llvm.type_of(mask));
                let mut bytes = self.number(0);
                for lane in 0..lanes {
                    for _ in 0..size {
                        bytes = llvm.build_add(b, bytes, lane_of(mask, lane), none);
                    }
                }
                self.store(slots, slot, bytes);
            }
            None => {}
        }
        if let Some((mask, lane)) = operation.mask {
            self.store(slots, slot, lane_of(mask, lane));
        }
    }

    fn widen(&self, value: Ref) -> Ref {
        let width = self.llvm.int_width(self.llvm.type_of(value));
        match width {
            64 => value,
            0..64 => self.llvm.build_zext(self.builder, value, self.word, c"".as_ptr()),
            _ => self.llvm.build_trunc(self.builder, value, self.word, c"".as_ptr()),
        }
    }

    fn store(&self, slots: Ref, slot: &mut usize, value: Ref) {
        let place = self.at(slots, *slot * SLOT_BYTES);
        self.llvm.set_alignment(self.llvm.build_store(self.builder, value, place), 1);
        *slot += 1;
    }

    /// Allocations on the stack move to the beginning of the function: what follows an inlined check would be made again
    /// and again.
    pub fn hoist(&self, block: Ref, is_static: impl Fn(Ref) -> bool) {
        use crate::llvm::opcode::{ALLOCA, PHI};
        let instructions = self.llvm.instructions(block);
        let is_alloca = |instruction: &Ref| self.llvm.opcode(*instruction) == ALLOCA && is_static(*instruction);
        let first = instructions.iter().find(|i| !is_alloca(i) && self.llvm.opcode(**i) != PHI);
        let Some(first) = first.copied() else {
            return;
        };
        let late: Vec<Ref> = instructions.into_iter().skip_while(|i| *i != first).filter(|i| is_alloca(i)).collect();
        for alloca in late {
            self.llvm.remove(alloca);
            self.llvm.position_before(self.builder, first);
            self.llvm.insert(self.builder, alloca);
        }
    }
}

fn kind(llvm: &Llvm, name: &CStr) -> u32 {
    llvm.attribute_kind(name.as_ptr(), name.count_bytes())
}
