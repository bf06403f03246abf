//! Members of structures, by what debug information says of types: `ctx.sum` rather than `ctx`, and in a member function `energy_` rather
//! than `this`.
//!
//! **Invariant:** a name is given only where all steps from the variable are constant; elements of arrays stay the array's.

use crate::llvm::{Llvm, Ref};

/// Tags of DWARF.
mod tag {
    pub(super) const ARRAY: u16 = 0x01;
    pub(super) const CLASS: u16 = 0x02;
    pub(super) const MEMBER: u16 = 0x0d;
    pub(super) const POINTER: u16 = 0x0f;
    pub(super) const REFERENCE: u16 = 0x10;
    pub(super) const STRUCTURE: u16 = 0x13;
    pub(super) const TYPEDEF: u16 = 0x16;
    pub(super) const BASE: u16 = 0x24;
    pub(super) const NAMESPACE: u16 = 0x39;
    pub(super) const GLOBAL: u16 = 0x34;
    pub(super) const INHERITANCE: u16 = 0x1c;
    pub(super) const CONST: u16 = 0x26;
    pub(super) const VOLATILE: u16 = 0x35;
    pub(super) const RESTRICT: u16 = 0x37;
    pub(super) const RVALUE_REFERENCE: u16 = 0x42;
}

/// Namespaces of libraries, whose members are nobody's business.
const LIBRARIES: [&str; 5] = ["std", "__gnu_cxx", "core", "alloc", "hashbrown"];
/// What the names of their types begin with whose members programs name.
const PAIR: &str = "pair<";
/// Operands of a node that describes a type: what it lies in, its name; the type it is made of or its parent's, its members.
const SCOPE: usize = 1;
const NAME: usize = 2;
const BASE: usize = 3;
const ELEMENTS: usize = 4;
/// From LLVM 21 on, size and offset come before the latter two.
const MORE: usize = 2;
/// The type of a variable.
const TYPE: usize = 3;
/// LLVM's kind of metadata that is a constant.
const CONSTANT: u32 = 1;
/// LLVM's kinds of metadata from here on are nodes, and from there on nodes with a tag.
const FIRST_NODE: u32 = 4;
const FIRST_TAGGED: u32 = 8;
/// LLVM's flag of a static member.
const STATIC: i32 = 1 << 12;
/// How deep types are followed.
const DEEPEST: usize = 16;

/// Looks at types.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "handles")]
pub struct Types<'l> {
    /// LLVM.
    pub llvm: &'l Llvm,
    /// Its context.
    pub context: Ref,
}

impl Types<'_> {
    /// Type of a variable, by its description; null: unknown.
    pub fn of_variable(&self, variable: Ref) -> Ref {
        self.operand(variable, TYPE)
    }

    /// Type of a global variable, by what is attached to it: the variable with an expression.
    pub fn of_global(&self, node: Ref) -> Ref {
        let variable = self.operand(node, 0);
        if self.tag(variable) == tag::GLOBAL {
            self.of_variable(variable)
        } else {
            std::ptr::null_mut()
        }
    }

    /// True for a pointer or reference.
    pub fn is_pointer(&self, ty: Ref) -> bool {
        !self.pointee(ty).is_null()
    }

    /// What a pointer or reference points to; null: it is neither.
    pub fn pointee(&self, ty: Ref) -> Ref {
        let ty = self.plain(ty);
        match self.tag(ty) {
            tag::POINTER | tag::REFERENCE | tag::RVALUE_REFERENCE => self.later(ty, BASE),
            _ => std::ptr::null_mut(),
        }
    }

    /// Size of a type; 0: unknown.
    pub fn bits(&self, ty: Ref) -> u64 {
        let ty = self.plain(ty);
        if self.tag(ty) == 0 {
            0
        } else {
            self.llvm.type_bits(ty)
        }
    }

    /// What a pointer, a reference or a slice of Rust points to; null: it is none of them.
    pub fn target(&self, ty: Ref) -> Ref {
        let plain = self.plain(ty);
        let first = match self.tag(plain) {
            tag::STRUCTURE => {
                self.member(plain, 0).map(|(member, _)| member).filter(|member| self.name(*member) == "data_ptr")
            }
            _ => None,
        };
        self.pointee(first.map_or(ty, |member| self.later(member, BASE)))
    }

    /// Whether integers of a type have a sign; none: it is another one, or not known. LLVM's C interface has names, and encodings only as text.
    pub fn signed(&self, ty: Ref) -> Option<bool> {
        let ty = self.plain(ty);
        let name = if self.tag(ty) == tag::BASE { self.name(ty) } else { return None };
        match name.as_str() {
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => Some(false),
            "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => Some(true),
            "int" | "short" | "long" | "long long" | "signed char" | "__int128" | "integer" => Some(true),
            // The processor, or an option, decides.
            "char" => self
                .is_described(ty, "DW_ATE_signed_char")
                .then_some(true)
                .or_else(|| self.is_described(ty, "DW_ATE_unsigned_char").then_some(false)),
            _ => name.starts_with("unsigned ").then_some(false),
        }
    }

    /// True if a word stands in LLVM's text of a type.
    fn is_described(&self, ty: Ref, word: &str) -> bool {
        let llvm = self.llvm;
        let message = llvm.print(llvm.metadata_as_value(self.context, ty));
        let text = crate::llvm::text_with_zero(message);
        llvm.dispose_message(message);
        text.contains(word)
    }

    /// Type of what lies at a distance from the beginning of an object: a part that has no parts itself. None: it is not known, as in a union.
    /// Behind the object others like it follow, as behind what a pointer points to.
    pub fn part(&self, ty: Ref, offset: i64) -> Option<Ref> {
        let mut ty = self.plain(ty);
        let mut offset = self.within(ty, offset)?;
        for _ in 0..DEEPEST {
            let next = match self.tag(ty) {
                0 => return None,
                tag::ARRAY => self.later(ty, BASE),
                tag::CLASS | tag::STRUCTURE => {
                    let (member, begin) = self.member(ty, offset)?;
                    offset -= begin;
                    self.later(member, BASE)
                }
                _ => return Some(ty),
            };
            ty = self.plain(next);
            offset = self.within(ty, i64::try_from(offset).ok()?)?;
        }
        None
    }

    /// A distance within the first of several objects of a type; where its size is not known, there is one.
    fn within(&self, ty: Ref, offset: i64) -> Option<u64> {
        let bytes = self.bits(ty) / 8;
        match i64::try_from(bytes) {
            Ok(1..) => u64::try_from(offset.rem_euclid(bytes as i64)).ok(),
            _ => u64::try_from(offset).ok(),
        }
    }

    /// Names of members, outermost first, that lead to a distance from the beginning of an object.
    pub fn path(&self, ty: Ref, offset: i64) -> Vec<String> {
        let mut names = Vec::new();
        let (mut ty, Ok(mut offset)) = (self.plain(ty), u64::try_from(offset)) else {
            return names;
        };
        for _ in 0..DEEPEST {
            // Members of a union lie on each other; of a library's types, programs name those of pairs alone.
            let is_open = || !self.is_of_library(ty) || self.name(ty).starts_with(PAIR);
            if !matches!(self.tag(ty), tag::CLASS | tag::STRUCTURE) || !is_open() {
                break;
            }
            let Some((member, begin)) = self.member(ty, offset) else {
                break;
            };
            let name = self.name(member);
            if self.tag(member) == tag::MEMBER && !name.is_empty() {
                // Rust numbers members of tuples.
                let number = name.strip_prefix("__").filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
                names.push(number.map(str::to_owned).unwrap_or(name));
            }
            offset -= begin;
            ty = self.plain(self.later(member, BASE));
        }
        names
    }

    /// True for a type in a namespace of a library.
    fn is_of_library(&self, ty: Ref) -> bool {
        let mut scope = self.operand(ty, SCOPE);
        for _ in 0..DEEPEST {
            let around = self.operand(scope, SCOPE);
            if self.tag(scope) == tag::NAMESPACE && self.tag(around) != tag::NAMESPACE {
                return LIBRARIES.contains(&self.name(scope).as_str());
            }
            scope = around;
        }
        false
    }

    /// The last member that begins at or before a distance.
    fn member(&self, ty: Ref, offset: u64) -> Option<(Ref, u64)> {
        let llvm = self.llvm;
        let all = self.operands(self.later(ty, ELEMENTS)).into_iter().filter(|each| {
            !each.is_null()
                && matches!(self.tag(*each), tag::MEMBER | tag::INHERITANCE)
                && llvm.type_flags(*each) & STATIC == 0
        });
        let found = all.map(|each| (each, llvm.type_offset(each) / 8)).filter(|(_, begin)| *begin <= offset);
        found.max_by_key(|(_, begin)| *begin)
    }

    /// Without names of types and qualifiers.
    fn plain(&self, mut ty: Ref) -> Ref {
        for _ in 0..DEEPEST {
            match self.tag(ty) {
                tag::TYPEDEF | tag::CONST | tag::VOLATILE | tag::RESTRICT => ty = self.later(ty, BASE),
                _ => break,
            }
        }
        ty
    }

    fn tag(&self, node: Ref) -> u16 {
        if node.is_null() || self.llvm.metadata_kind(node) < FIRST_TAGGED {
            0
        } else {
            self.llvm.node_tag(node)
        }
    }

    fn name(&self, node: Ref) -> String {
        let name = self.operand(node, NAME);
        let mut length = 0;
        if name.is_null() {
            return String::new();
        }
        let text = self.llvm.metadata_string(self.llvm.metadata_as_value(self.context, name), &raw mut length);
        crate::llvm::text(text, length as usize)
    }

    /// [`BASE`] or [`ELEMENTS`] of a type.
    fn later(&self, ty: Ref, at: usize) -> Ref {
        let all = self.operands(ty);
        let is_size = |node: &Ref| !node.is_null() && self.llvm.metadata_kind(*node) == CONSTANT;
        let more = if all.get(BASE).is_some_and(is_size) { MORE } else { 0 };
        all.get(at + more).copied().unwrap_or(std::ptr::null_mut())
    }

    fn operand(&self, node: Ref, at: usize) -> Ref {
        self.operands(node).get(at).copied().unwrap_or(std::ptr::null_mut())
    }

    /// Operands of a node, as metadata.
    fn operands(&self, node: Ref) -> Vec<Ref> {
        let llvm = self.llvm;
        if node.is_null() || llvm.metadata_kind(node) < FIRST_NODE {
            return Vec::new();
        }
        let value = llvm.metadata_as_value(self.context, node);
        let mut list = vec![std::ptr::null_mut(); llvm.metadata_operands(value) as usize];
        if !list.is_empty() {
            llvm.metadata_operand_list(value, list.as_mut_ptr());
        }
        let as_metadata = |value: Ref| if value.is_null() { value } else { llvm.value_as_metadata(value) };
        list.into_iter().map(as_metadata).collect()
    }
}
