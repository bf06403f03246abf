//! What functions of Fortran's run-time do to arrays, which they are given by descriptors: where the elements are is known at run time
//! alone.
//!
//! Before a call that reads an array stands a call of a function of the module that goes through the elements, and reads them as far as
//! its events say; after one that writes, one that writes them. Elements that follow each other are one access. There is one such
//! function for each variable, so that the variable has its name.
//!
//! **Error:** what an object of a derived type holds beside its own bytes is not seen. Assignments of objects that may hold something, as
//! allocatable components are, depend on each other: flang says of a type whether its objects have to be destroyed.

use std::collections::{BTreeMap, HashSet};
use std::ffi::CString;
use std::fmt::Write as _;

use crate::library::{self, ADDED};
use crate::llvm::{lookup, opcode, type_kind, Llvm, Ref, INTERNAL};
use crate::locals::users_through;
use crate::names::Declared;
use crate::reached::variable;

/// What the functions begin with that stand for an access to elements that follow each other: address, bytes.
const RUN: &str = "__workspan_run_";
/// The functions themselves.
pub(crate) const RUN_READ: &str = "__workspan_run_read";
pub(crate) const RUN_WRITE: &str = "__workspan_run_write";
/// The variable that stands for what objects of derived types hold elsewhere.
const DEEP: &str = "components_of_derived_types";

/// How elements are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Read,
    Write,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Read => "read",
            Way::Write => "write",
        }
    }
}

/// True for a call that stands for an access; true in it: a write.
pub fn stands_for(name: &str) -> Option<bool> {
    name.strip_prefix(RUN).map(|way| way.starts_with(Way::Write.name()))
}

/// Adds the calls.
pub fn add(llvm: &Llvm, module: Ref) -> Result<(), String> {
    let declared = Declared::of(llvm, module);
    let mut wanted: BTreeMap<(Way, String), Vec<(Ref, Ref)>> = BTreeMap::new();
    for function in llvm.functions(module) {
        for call in llvm.blocks(function).into_iter().flat_map(|block| llvm.instructions(block)) {
            if llvm.opcode(call) != opcode::CALL {
                continue;
            }
            let Some(callee) = llvm.callee(call).map(|callee| llvm.name(callee)) else {
                continue;
            };
            let (read, written) = library::sections(&callee);
            let count = llvm.arguments(call);
            let all = read.iter().map(|at| (Way::Read, *at)).chain(written.iter().map(|at| (Way::Write, *at)));
            for (way, at) in all.filter(|(_, at)| *at < count) {
                let descriptor = llvm.operand(call, at);
                if is_descriptor(llvm, call, at) {
                    let name = name_of(llvm, &declared, descriptor).unwrap_or_default();
                    wanted.entry((way, name)).or_default().push((call, descriptor));
                }
            }
        }
    }
    if wanted.is_empty() {
        return Ok(());
    }
    Linker::load()?.link(llvm, module, &text(wanted.keys()))?;
    let builder = llvm.create_builder(llvm.context_of(module));
    for ((way, name), calls) in wanted {
        let Ok(function) = CString::new(format!("{ADDED}{}.{name}", way.name())) else {
            continue;
        };
        let function = llvm.named_function(module, function.as_ptr());
        if function.is_null() {
            continue;
        }
        // The linker takes what nobody calls yet only if others may.
        llvm.set_linkage(function, INTERNAL);
        for (call, descriptor) in calls {
            llvm.position_before(builder, if way == Way::Read { call } else { llvm.next_instruction(call) });
            let ty = llvm.global_value_type(function);
            let added = llvm.build_call(builder, ty, function, [descriptor].as_mut_ptr(), 1, c"".as_ptr());
            llvm.set_debug_location(added, llvm.debug_location(call));
        }
    }
    llvm.dispose_builder(builder);
    Ok(())
}

/// True for a pointer that is neither null nor the name of the file, before the line: functions of one name differ in their last arguments.
fn is_descriptor(llvm: &Llvm, call: Ref, at: u32) -> bool {
    let argument = llvm.operand(call, at);
    let kind = |argument| llvm.type_kind(llvm.type_of(argument));
    let is_file = at + 2 == llvm.arguments(call) && kind(llvm.operand(call, at + 1)) == type_kind::INTEGER;
    kind(argument) == type_kind::POINTER && llvm.is_null(argument) == 0 && !is_file
}

/// The variable whose elements a descriptor describes.
fn name_of(llvm: &Llvm, declared: &Declared, descriptor: Ref) -> Option<String> {
    let is_word = |name: &String| {
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '/')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    if let Some(name) = variable(llvm, declared, descriptor).name.filter(is_word) {
        return Some(name);
    }
    let mut stores = users_through(llvm, descriptor)
        .into_iter()
        .filter(|user| llvm.opcode(*user) == opcode::STORE && llvm.operand(*user, 1) == descriptor);
    let mut at = llvm.operand(stores.next()?, 0);
    let mut seen = HashSet::new();
    while !llvm.is_a_instruction(at).is_null() && seen.insert(at) {
        match llvm.opcode(at) {
            opcode::INSERT_VALUE if is_first(llvm, at) => {
                return variable(llvm, declared, llvm.operand(at, 1)).name.filter(is_word);
            }
            opcode::INSERT_VALUE => at = llvm.operand(at, 0),
            opcode::LOAD => return name_of(llvm, declared, llvm.operand(at, 0)),
            _ => return None,
        }
    }
    // Of a variable whose bounds are known, it is a constant.
    let is_constant = llvm.type_kind(llvm.type_of(at)) == type_kind::STRUCT && llvm.operands(at) > 0;
    let address = is_constant.then(|| llvm.operand(at, 0)).filter(|address| !address.is_null())?;
    variable(llvm, declared, address).name.filter(is_word)
}

/// True if a value becomes the first member of a structure.
fn is_first(llvm: &Llvm, insert: Ref) -> bool {
    llvm.first_index(insert) == Some(0)
}

/// The functions, as LLVM reads them.
fn text<'w>(wanted: impl Iterator<Item = &'w (Way, String)>) -> String {
    let mut out = format!("@{DEEP} = linkonce_odr global i64 0\n");
    for way in [Way::Read, Way::Write] {
        let _ = writeln!(out, "define internal void @{RUN}{}(ptr %a, i64 %n) {{\n  ret void\n}}", way.name());
    }
    for (way, name) in wanted {
        let way = way.name();
        let body = BODY.replace("WAY", way);
        let _ = writeln!(out, "define void @\"{ADDED}{way}.{name}\"(ptr %D) {{\n{body}}}");
    }
    out
}

/// The body of such a function; `%D` is its parameter. A descriptor is: address, bytes of an element, version (4), rank, type, attribute, extra (1 each), then lower bound, extent and stride in
/// bytes of each dimension; then, of a derived type, the address of what says which one. That has the size of an object at byte 88, and at byte 430
/// whether nothing has to be done to destroy one.
const BODY: &str = "entry:
  %null = icmp eq ptr %D, null
  br i1 %null, label %end, label %some
some:
  %base = load ptr, ptr %D, align 8
  %none = icmp eq ptr %base, null
  br i1 %none, label %end, label %begin
begin:
  %l = getelementptr i8, ptr %D, i64 8
  %length = load i64, ptr %l, align 8
  %r = getelementptr i8, ptr %D, i64 20
  %rank1 = load i8, ptr %r, align 1
  %rank = zext i8 %rank1 to i64
  %x = getelementptr i8, ptr %D, i64 23
  %extra = load i8, ptr %x, align 1
  %bit = and i8 %extra, 1
  %deep = icmp ne i8 %bit, 0
  br i1 %deep, label %typed, label %merge
typed:
  %dims = mul i64 %rank, 24
  %behind = getelementptr i8, ptr %D, i64 %dims
  %t = getelementptr i8, ptr %behind, i64 24
  %type = load ptr, ptr %t, align 8
  %unknown = icmp eq ptr %type, null
  br i1 %unknown, label %also, label %look_up
look_up:
  %sp = getelementptr i8, ptr %type, i64 88
  %size = load i64, ptr %sp, align 8
  %is_type = icmp eq i64 %size, %length
  %np = getelementptr i8, ptr %type, i64 430
  %needs_nothing = load i8, ptr %np, align 1
  %is_flat = icmp eq i8 %needs_nothing, 1
  %is_plain = and i1 %is_type, %is_flat
  br i1 %is_plain, label %merge, label %also
also:
  %held = load i64, ptr @components_of_derived_types, align 8
  %times = mul i64 %held, 3
  %next = add i64 %times, 1
  store i64 %next, ptr @components_of_derived_types, align 8
  br label %merge
merge:
  %dim = phi i64 [ 0, %begin ], [ 0, %look_up ], [ 0, %also ], [ %dim1, %merged ]
  %run = phi i64 [ %length, %begin ], [ %length, %look_up ], [ %length, %also ], [ %run1, %merged ]
  %more = icmp ult i64 %dim, %rank
  br i1 %more, label %look, label %count
look:
  %d = mul i64 %dim, 24
  %p = getelementptr i8, ptr %D, i64 %d
  %e = getelementptr i8, ptr %p, i64 32
  %extent = load i64, ptr %e, align 8
  %s = getelementptr i8, ptr %p, i64 40
  %stride = load i64, ptr %s, align 8
  %follows = icmp eq i64 %stride, %run
  br i1 %follows, label %merged, label %count
merged:
  %dim1 = add i64 %dim, 1
  %run1 = mul i64 %run, %extent
  br label %merge
count:
  %at = phi i64 [ %dim, %merge ], [ %dim, %look ], [ %at1, %counted ]
  %total = phi i64 [ 1, %merge ], [ 1, %look ], [ %total1, %counted ]
  %most = icmp ult i64 %at, %rank
  br i1 %most, label %counted, label %check
counted:
  %cd = mul i64 %at, 24
  %cp = getelementptr i8, ptr %D, i64 %cd
  %ce = getelementptr i8, ptr %cp, i64 32
  %cextent = load i64, ptr %ce, align 8
  %total1 = mul i64 %total, %cextent
  %at1 = add i64 %at, 1
  br label %count
check:
  %bytes = mul i64 %total, %run
  %any = icmp sgt i64 %bytes, 0
  br i1 %any, label %each, label %end
each:
  %k = phi i64 [ 0, %check ], [ %k1, %access ]
  br label %decode
decode:
  %dd = phi i64 [ %dim, %each ], [ %dd1, %decoded ]
  %rest = phi i64 [ %k, %each ], [ %rest1, %decoded ]
  %address = phi ptr [ %base, %each ], [ %address1, %decoded ]
  %deeper = icmp ult i64 %dd, %rank
  br i1 %deeper, label %decoded, label %access
decoded:
  %ed = mul i64 %dd, 24
  %ep = getelementptr i8, ptr %D, i64 %ed
  %ee = getelementptr i8, ptr %ep, i64 32
  %eextent = load i64, ptr %ee, align 8
  %es = getelementptr i8, ptr %ep, i64 40
  %estride = load i64, ptr %es, align 8
  %index = urem i64 %rest, %eextent
  %rest1 = udiv i64 %rest, %eextent
  %offset = mul i64 %index, %estride
  %address1 = getelementptr i8, ptr %address, i64 %offset
  %dd1 = add i64 %dd, 1
  br label %decode
access:
  call void @__workspan_run_WAY(ptr %address, i64 %run)
  %k1 = add i64 %k, 1
  %again = icmp ult i64 %k1, %total
  br i1 %again, label %each, label %end
end:
  ret void
";

type Parse = unsafe extern "C" fn(Ref, Ref, *mut Ref, *mut *mut core::ffi::c_char) -> i32;
type Buffer = unsafe extern "C" fn(*const core::ffi::c_char, usize, *const core::ffi::c_char) -> Ref;
type Link = unsafe extern "C" fn(Ref, Ref) -> i32;
type Layout = unsafe extern "C" fn(Ref) -> *const core::ffi::c_char;

/// Functions that read and link text: only this file needs them, and a compiler may lack them.
struct Linker {
    buffer: Buffer,
    parse: Parse,
    link: Link,
    layout: Layout,
}

impl Linker {
    fn load() -> Result<Linker, String> {
        let names = [
            "LLVMCreateMemoryBufferWithMemoryRangeCopy",
            "LLVMParseIRInContext",
            "LLVMLinkModules2",
            "LLVMGetDataLayoutStr",
        ];
        let [buffer, parse, link, layout] = names.map(lookup);
        if [buffer, parse, link, layout].iter().any(|function| function.is_null()) {
            return Err("this compiler's LLVM cannot read code as text".to_owned());
        }
        Ok(Linker {
            // SAFETY: LLVM's C interface is stable: a function of this name has this type.
            buffer: unsafe { core::mem::transmute::<Ref, Buffer>(buffer) },
            // SAFETY: as above.
            parse: unsafe { core::mem::transmute::<Ref, Parse>(parse) },
            // SAFETY: as above.
            link: unsafe { core::mem::transmute::<Ref, Link>(link) },
            // SAFETY: as above.
            layout: unsafe { core::mem::transmute::<Ref, Layout>(layout) },
        })
    }

    /// Adds what a text defines to a module.
    fn link(&self, llvm: &Llvm, module: Ref, text: &str) -> Result<(), String> {
        // SAFETY: a module that this thread may read.
        let layout = crate::llvm::text_with_zero(unsafe { (self.layout)(module) });
        let target = crate::llvm::text_with_zero(llvm.target(module));
        let text = format!("target datalayout = \"{layout}\"\ntarget triple = \"{target}\"\n{text}");
        // SAFETY: LLVM copies the text, whose length is given.
        let buffer = unsafe { (self.buffer)(text.as_ptr().cast(), text.len(), c"workspan".as_ptr()) };
        let (mut parsed, mut message) = (core::ptr::null_mut(), core::ptr::null_mut());
        // SAFETY: LLVM takes the buffer; the other pointers are to variables that live until it returns.
        if unsafe { (self.parse)(llvm.context_of(module), buffer, &raw mut parsed, &raw mut message) } != 0 {
            return Err(format!("LLVM cannot read code: {}", crate::llvm::text_with_zero(message)));
        }
        // SAFETY: two modules of one context; the second is LLVM's from here on.
        match unsafe { (self.link)(module, parsed) } {
            0 => Ok(()),
            _ => Err("LLVM cannot link code".to_owned()),
        }
    }
}
