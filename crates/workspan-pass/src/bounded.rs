//! Functions of the C library that touch as much as their arguments or their result say: `strncpy`, `snprintf`, `qsort`.
//!
//! Around a call of one stand calls of functions that stand for its accesses, as in [`sections`]; how many bytes they have is known at
//! run time, of the C library's own rules (`workspan_pass_rt::extents`).

mod texts;

use std::collections::HashMap;
use std::ffi::CStr;

pub use self::texts::{constant, format_of, printed};

use self::texts::Seen;
use crate::format::{self, Text};
use crate::llvm::{opcode, Llvm, Ref, AVAILABLE_EXTERNALLY};
use crate::sections;
use crate::stand_ins::stand_in;
use crate::ways::first_behind;

/// What the names of functions of the run-time begin with that say how many bytes there are.
pub const EXTENT: &str = "__workspan_extent_";

/// How many bytes an access has.
#[derive(Clone, Copy, Debug)]
enum Bytes {
    /// Always as many.
    Number(u64),
    /// An argument.
    Argument(u32),
    /// One argument times another.
    Product(u32, u32),
    /// A text, at most N of its bytes.
    Text(u32, Most),
    /// A copy of at most N characters of a text, and its end.
    Copy(u32, Most),
    /// What was printed, by the result; at most as many.
    Printed(Most),
    /// What was copied, by the result: from the beginning of an argument on.
    Found(u32, u32),
}

/// How long a text may be.
#[derive(Clone, Copy, Debug)]
enum Most {
    /// It has an end.
    Any,
    Number(u64),
    Argument(u32),
}

/// An access through an argument.
#[derive(Clone, Copy, Debug)]
struct Touch {
    writes: bool,
    pointer: u32,
    /// It begins where a text ends that the pointer leads to.
    behind: bool,
    bytes: Bytes,
}

fn read(pointer: u32, bytes: Bytes) -> Touch {
    Touch { writes: false, pointer, behind: false, bytes }
}

fn write(pointer: u32, bytes: Bytes) -> Touch {
    Touch { writes: true, ..read(pointer, bytes) }
}

/// A text that is read to its end, or as far as a format says.
fn of_text(text: &Text) -> Touch {
    let most = match text.precision {
        format::Precision::None => Most::Any,
        format::Precision::Number(most) => Most::Number(most),
        format::Precision::Argument(at) => Most::Argument(at),
    };
    read(text.argument, Bytes::Text(text.argument, most))
}

/// What the names of members of a string begin with; of those that change none.
const STRING: &str = "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE";
const CONSTANT_STRING: &str = "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE";

/// A text, to its end.
fn text(at: u32) -> Bytes {
    Bytes::Text(at, Most::Any)
}

/// Reads come before writes.
fn touches(name: &str) -> Vec<Touch> {
    let own = |number: u32| Bytes::Argument(number);
    match name {
        "strncpy" | "__strncpy_chk" => vec![read(1, Bytes::Text(1, Most::Argument(2))), write(0, own(2))],
        "strncat" | "__strncat_chk" => vec![
            read(0, Bytes::Text(0, Most::Any)),
            read(1, Bytes::Text(1, Most::Argument(2))),
            Touch { behind: true, ..write(0, Bytes::Copy(1, Most::Argument(2))) },
        ],
        "strcpy" | "stpcpy" | "__strcpy_chk" | "__stpcpy_chk" => {
            vec![read(1, Bytes::Text(1, Most::Any)), write(0, Bytes::Copy(1, Most::Any))]
        }
        "strcat" | "__strcat_chk" => vec![
            read(0, Bytes::Text(0, Most::Any)),
            read(1, Bytes::Text(1, Most::Any)),
            Touch { behind: true, ..write(0, Bytes::Copy(1, Most::Any)) },
        ],
        "strlen" | "strdup" | "puts" | "fputs" => vec![read(0, Bytes::Text(0, Most::Any))],
        "snprintf" | "__snprintf_chk" | "vsnprintf" | "__vsnprintf_chk" => {
            vec![write(0, Bytes::Printed(Most::Argument(1)))]
        }
        "sprintf" | "__sprintf_chk" | "vsprintf" | "__vsprintf_chk" => vec![write(0, Bytes::Printed(Most::Any))],
        "asprintf" | "__asprintf_chk" | "vasprintf" | "__vasprintf_chk" => vec![write(0, Bytes::Number(8))],
        "fread" => vec![write(0, Bytes::Product(1, 2))],
        "fwrite" => vec![read(0, Bytes::Product(1, 2))],
        "read" | "recv" => vec![write(1, own(2))],
        "write" | "send" => vec![read(1, own(2))],
        "clock_gettime" => vec![write(1, Bytes::Number(16))],
        "memccpy" => vec![read(1, Bytes::Found(0, 3)), write(0, Bytes::Found(0, 3))],
        "memcpy" | "memmove" | "mempcpy" | "__memcpy_chk" | "__memmove_chk" => vec![read(1, own(2)), write(0, own(2))],
        "memset" | "__memset_chk" => vec![write(0, own(2))],
        "bzero" => vec![write(0, own(1))],
        "memcmp" | "bcmp" => vec![read(0, own(2)), read(1, own(2))],
        "strnlen" | "strndup" => vec![read(0, Bytes::Text(0, Most::Argument(1)))],
        "qsort" => vec![read(0, Bytes::Product(1, 2)), write(0, Bytes::Product(1, 2))],
        "bsearch" => vec![read(0, own(3)), read(1, Bytes::Product(2, 3))],
        _ if name.starts_with("_ZStlsISt11char_traitsIcEE") && name.ends_with("PKc") => vec![read(1, text(1))],
        _ if name.starts_with("_ZNSo5writeEPKc") || name.starts_with("_ZSt16__ostream_insertIc") => {
            vec![read(1, own(2))]
        }
        _ if name.starts_with(STRING) || name.starts_with(CONSTANT_STRING) => of_string(name),
        _ => name.strip_prefix("_FortranAio").map_or_else(Vec::new, of_fortran),
    }
}

/// Of members of C++'s strings: a text that they are given.
fn of_string(name: &str) -> Vec<Touch> {
    let member = name.strip_prefix(STRING).or(name.strip_prefix(CONSTANT_STRING)).unwrap_or_default();
    match member {
        "6appendEPKc" | "pLEPKc" | "6assignEPKc" | "aSEPKc" | "7compareEPKc" | "4findEPKcm" => vec![read(1, text(1))],
        "6appendEPKcm" | "6assignEPKcm" | "9_M_appendEPKcm" => vec![read(1, Bytes::Argument(2))],
        "6insertEmPKc" => vec![read(2, text(2))],
        "10_M_replaceEmmPKcm" => vec![read(3, Bytes::Argument(4))],
        _ => Vec::new(),
    }
}

/// Of Fortran's input and output: the file that is a text, and items that are not given by value.
fn of_fortran(name: &str) -> Vec<Touch> {
    let own = |number: u32| Bytes::Argument(number);
    match name {
        "BeginInternalListOutput" | "BeginInternalFormattedOutput" => vec![write(0, own(1))],
        "BeginInternalListInput" | "BeginInternalFormattedInput" => vec![read(0, own(1))],
        "OutputAscii" => vec![read(1, own(2))],
        "InputAscii" | "InputInteger" => vec![write(1, own(2))],
        "InputReal32" => vec![write(1, Bytes::Number(4))],
        "InputReal64" | "InputComplex32" => vec![write(1, Bytes::Number(8))],
        "InputComplex64" => vec![write(1, Bytes::Number(16))],
        "InputLogical" => vec![write(1, Bytes::Number(1))],
        _ => Vec::new(),
    }
}

/// Number of the function that compares, of those whose elements nobody else looks at.
fn comparison(name: &str) -> Option<u32> {
    (name == "bsearch").then_some(4)
}

/// Adds the calls to a module.
pub fn add(llvm: &Llvm, module: Ref) {
    let mut adder = Adder::new(llvm, module);
    for function in llvm.functions(module) {
        if llvm.is_declaration(function) != 0 {
            continue;
        }
        let blocks = llvm.blocks(function);
        for call in blocks.iter().flat_map(|block| llvm.instructions(*block)) {
            if matches!(llvm.opcode(call), opcode::CALL | opcode::INVOKE) {
                adder.call(call, &blocks);
            }
        }
    }
    llvm.dispose_builder(adder.builder);
}

struct Adder<'l> {
    llvm: &'l Llvm,
    module: Ref,
    builder: Ref,
    pointer: Ref,
    word: Ref,
    number: Ref,
    functions: HashMap<&'static str, (Ref, Ref)>,
}

impl<'l> Adder<'l> {
    fn new(llvm: &'l Llvm, module: Ref) -> Adder<'l> {
        let context = llvm.context_of(module);
        Adder {
            llvm,
            module,
            builder: llvm.create_builder(context),
            pointer: llvm.pointer_type(context, 0),
            word: llvm.int_type(context, 64),
            number: llvm.int_type(context, 32),
            functions: HashMap::new(),
        }
    }

    fn call(&mut self, call: Ref, blocks: &[Ref]) {
        let llvm = self.llvm;
        let Some(callee) = llvm.callee(call) else { return };
        let after = first_behind(llvm, blocks, call);
        for touch in self.copied(call) {
            self.touch(call, touch, after);
        }
        for seen in texts::wrapped(llvm, call, callee) {
            let touch = match seen {
                Seen::All(text) => of_text(&text),
                Seen::First(at) => read(at, Bytes::Number(1)),
            };
            self.touch(call, touch, after);
        }
        // A body that another module has is none that has events.
        if llvm.is_declaration(callee) == 0 && llvm.linkage(callee) != AVAILABLE_EXTERNALLY {
            return;
        }
        let name = llvm.name(callee);
        let mut all = touches(&name);
        let count = llvm.arguments(call);
        // A function of the module has events of its own: it is what looks at the elements.
        let compared = comparison(&name).filter(|at| *at < count).map(|at| llvm.operand(call, at));
        if compared.is_some_and(|by| !llvm.is_a_function(by).is_null() && llvm.is_declaration(by) == 0) {
            return;
        }
        let texts = printed(llvm, call, &name).unwrap_or_default();
        all.splice(0..0, texts.iter().map(of_text));
        for touch in all.into_iter().filter(|touch| touch.last() < count) {
            self.touch(call, touch, after);
        }
    }

    /// Objects that a call is given by value: it is what copies them.
    fn copied(&self, call: Ref) -> Vec<Touch> {
        let (llvm, layout) = (self.llvm, self.llvm.data_layout(self.module));
        let kind = llvm.attribute_kind(c"byval".as_ptr(), 5);
        let of = |at: u32| {
            let attribute = llvm.call_attribute_at(call, at + 1, kind);
            let size = || llvm.abi_size(layout, llvm.type_attribute(attribute));
            (!attribute.is_null()).then(|| read(at, Bytes::Number(size())))
        };
        (0..llvm.arguments(call)).filter_map(of).collect()
    }

    fn touch(&mut self, call: Ref, touch: Touch, after: Option<Ref>) {
        let llvm = self.llvm;
        let (b, none) = (self.builder, c"".as_ptr());
        let place = llvm.debug_location(call);
        let of_result = matches!(touch.bytes, Bytes::Printed(_) | Bytes::Found(..));
        llvm.position_before(b, call);
        let mut pointer = llvm.operand(call, touch.pointer);
        if touch.behind {
            let length = self.text(call, touch.pointer, Most::Any, c"__workspan_extent_text");
            let mut length = llvm.build_sub(b, length, llvm.const_int(self.word, 1, 0), none);
            let byte = llvm.int_type(llvm.context_of(self.module), 8);
            pointer = llvm.build_gep(b, byte, pointer, &raw mut length, 1, none);
        }
        let mut bytes = if of_result { None } else { Some(self.bytes(call, touch.bytes)) };
        if of_result || touch.writes {
            // An exception leaves nothing behind that is known.
            let Some(after) = after else { return };
            llvm.position_before(b, after);
        }
        let bytes = *bytes.get_or_insert_with(|| self.bytes(call, touch.bytes));
        let name = if touch.writes { sections::RUN_WRITE } else { sections::RUN_READ };
        let (function, ty) = self.stand_in(name);
        let added = llvm.build_call(b, ty, function, [pointer, bytes].as_mut_ptr(), 2, none);
        llvm.set_debug_location(added, place);
    }

    fn bytes(&mut self, call: Ref, bytes: Bytes) -> Ref {
        let llvm = self.llvm;
        let (b, none) = (self.builder, c"".as_ptr());
        let argument = |at: u32| llvm.operand(call, at);
        match bytes {
            Bytes::Number(bytes) => llvm.const_int(self.word, bytes, 0),
            Bytes::Argument(at) => self.widen(argument(at)),
            Bytes::Product(count, size) => {
                let (count, size) = (self.widen(argument(count)), self.widen(argument(size)));
                llvm.build_mul(b, count, size, none)
            }
            Bytes::Text(at, most) => self.text(call, at, most, c"__workspan_extent_text"),
            Bytes::Copy(at, most) => self.text(call, at, most, c"__workspan_extent_copy"),
            Bytes::Printed(most) => {
                let types = [self.number, self.word];
                let most = match most {
                    Most::Any => llvm.const_int(self.word, u64::MAX, 0),
                    Most::Number(most) => llvm.const_int(self.word, most, 0),
                    Most::Argument(at) => self.widen(argument(at)),
                };
                self.ask(call, c"__workspan_extent_printed", &types, &mut [call, most])
            }
            Bytes::Found(from, most) => {
                let types = [self.pointer, self.pointer, self.word];
                let most = self.widen(argument(most));
                self.ask(call, c"__workspan_extent_found", &types, &mut [argument(from), call, most])
            }
        }
    }

    fn text(&mut self, call: Ref, at: u32, most: Most, function: &'static CStr) -> Ref {
        let most = match most {
            Most::Any => self.llvm.const_int(self.word, u64::MAX, 0),
            Most::Number(most) => self.llvm.const_int(self.word, most, 0),
            // A negative precision is none.
            Most::Argument(at) => self.signed(self.llvm.operand(call, at)),
        };
        let types = [self.pointer, self.word];
        self.ask(call, function, &types, &mut [self.llvm.operand(call, at), most])
    }

    fn ask(&mut self, call: Ref, name: &'static CStr, types: &[Ref], arguments: &mut [Ref]) -> Ref {
        let llvm = self.llvm;
        let mut types = types.to_vec();
        let count = u32::try_from(types.len()).unwrap_or(0);
        let ty = llvm.function_type(self.word, types.as_mut_ptr(), count, 0);
        let known = llvm.named_function(self.module, name.as_ptr());
        let function = if known.is_null() { llvm.add_function(self.module, name.as_ptr(), ty) } else { known };
        let asked = llvm.build_call(self.builder, ty, function, arguments.as_mut_ptr(), count, c"".as_ptr());
        llvm.set_debug_location(asked, llvm.debug_location(call));
        asked
    }

    /// A function that does nothing: its calls stand for accesses.
    fn stand_in(&mut self, name: &'static str) -> (Ref, Ref) {
        if let Some(known) = self.functions.get(name) {
            return *known;
        }
        let llvm = self.llvm;
        let (function, ty) = stand_in(llvm, self.module, name, &mut [self.pointer, self.word]);
        self.functions.insert(name, (function, ty));
        (function, ty)
    }

    fn widen(&self, value: Ref) -> Ref {
        if self.llvm.int_width(self.llvm.type_of(value)) < 64 {
            self.llvm.build_zext(self.builder, value, self.word, c"".as_ptr())
        } else {
            value
        }
    }

    fn signed(&self, value: Ref) -> Ref {
        if self.llvm.int_width(self.llvm.type_of(value)) < 64 {
            self.llvm.build_sext(self.builder, value, self.word, c"".as_ptr())
        } else {
            value
        }
    }
}

impl Touch {
    /// The last argument that it needs.
    fn last(&self) -> u32 {
        let most = |most: Most| if let Most::Argument(at) = most { at } else { 0 };
        let of_bytes = match self.bytes {
            Bytes::Number(_) => 0,
            Bytes::Argument(at) => at,
            Bytes::Printed(of) => most(of),
            Bytes::Product(one, other) | Bytes::Found(one, other) => one.max(other),
            Bytes::Text(at, of) | Bytes::Copy(at, of) => at.max(most(of)),
        };
        self.pointer.max(of_bytes)
    }
}
