//! Assembly within a function: what it does to memory is known of its operands alone.
//!
//! One that may do more — it is `volatile`, or says that it changes memory — is a call of a function that nobody knows. One without an
//! instruction, as barriers for the compiler are, does nothing.

use workspan_trace::program::Access;

use crate::llvm::{text_with_zero, type_kind, Ref};
use crate::plan::{Operation, Planner};

/// What stands in place of the name of a function.
pub(crate) const NAME: &str = "inline assembly";

/// What is written of a piece of assembly.
struct Assembly {
    has_effects: bool,
    text: String,
    constraints: String,
}

impl Assembly {
    /// `… asm sideeffect "TEXT", "CONSTRAINTS"`, in which quotes are escaped.
    fn read(printed: &str) -> Option<Assembly> {
        let mut parts = printed.rsplit('"');
        let [_, constraints, _, text] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
        let (head, _) = printed.split_once('"')?;
        let has_effects = head.split_whitespace().any(|word| word == "sideeffect");
        Some(Assembly { has_effects, text: text.to_owned(), constraints: constraints.to_owned() })
    }

    /// It has no instruction: comments begin with `#` or `//`.
    fn is_empty(&self) -> bool {
        let lines = self.text.split("\\0A").flat_map(|line| line.split(';'));
        lines.map(|line| line.replace("\\09", " ")).all(|line| {
            let line = line.trim();
            line.is_empty() || line.starts_with('#') || line.starts_with("//")
        })
    }

    fn is_black_box(&self) -> bool {
        self.has_effects || self.constraints.contains("~{memory}")
    }

    /// Arguments that are operands in memory: what is written comes first, as in the list.
    fn in_memory(&self) -> Vec<(u32, Access)> {
        let (mut found, mut argument) = (Vec::new(), 0);
        for constraint in self.constraints.split(',').filter(|each| !each.starts_with(['~', '!'])) {
            let is_output = constraint.starts_with('=');
            let is_indirect = constraint.trim_start_matches(['=', '&', '%']).starts_with('*');
            if is_output && !is_indirect {
                // A result, which is no argument.
                continue;
            }
            if is_indirect {
                found.push((argument, if is_output { Access::Store } else { Access::Load }));
            }
            argument += 1;
        }
        found
    }
}

impl Planner<'_> {
    /// True for a call of assembly.
    pub(crate) fn is_assembly(&self, call: Ref) -> bool {
        let llvm = self.llvm;
        !llvm.is_a_inline_asm(llvm.called_value(call)).is_null()
    }

    /// True for a call that leads somewhere: neither one of an intrinsic, nor of assembly of which all is known.
    pub(crate) fn is_call(&self, call: Ref) -> bool {
        if !self.is_assembly(call) {
            return !self.is_intrinsic(call);
        }
        // What cannot be read may do anything.
        self.locals.is_some() && self.assembly(call).is_none_or(|found| !found.is_empty() && found.is_black_box())
    }

    fn assembly(&self, call: Ref) -> Option<Assembly> {
        let llvm = self.llvm;
        let message = llvm.print(llvm.called_value(call));
        let printed = text_with_zero(message);
        llvm.dispose_message(message);
        Assembly::read(&printed)
    }

    /// What assembly does to its operands in memory.
    pub(crate) fn of_assembly(&self, call: Ref) -> Vec<Operation> {
        let llvm = self.llvm;
        let Some(assembly) = self.locals.and(self.assembly(call)).filter(|found| !found.is_empty()) else {
            return Vec::new();
        };
        let count = llvm.arguments(call);
        let is_pointer = |at: u32| llvm.type_kind(llvm.type_of(llvm.operand(call, at))) == type_kind::POINTER;
        let mut operands = assembly.in_memory();
        operands.retain(|(at, _)| *at < count && is_pointer(*at));
        // Inputs are read before anything is written.
        operands.sort_by_key(|(_, access)| *access != Access::Load);
        let operations = operands.into_iter().flat_map(|(at, access)| {
            self.plain(call, access, 0, self.size_of_operand(call, at), llvm.operand(call, at))
        });
        operations.collect()
    }

    /// Bytes of an operand in memory.
    fn size_of_operand(&self, call: Ref, argument: u32) -> u32 {
        let llvm = self.llvm;
        let name = c"elementtype";
        let kind = llvm.attribute_kind(name.as_ptr(), name.count_bytes());
        let attribute = llvm.call_attribute_at(call, argument + 1, kind);
        let size = (!attribute.is_null()).then(|| llvm.store_size(self.layout, llvm.type_attribute(attribute)));
        size.and_then(|size| u32::try_from(size).ok()).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(printed: &str, is_empty: bool, is_black_box: bool, operands: &[(u32, Access)]) {
        let found = Assembly::read(printed).expect("it is assembly");
        assert_eq!((found.is_empty(), found.is_black_box()), (is_empty, is_black_box), "{printed}");
        assert_eq!(found.in_memory(), operands, "{printed}");
    }

    #[test]
    fn operands_and_effects_are_read() {
        let update = [(0, Access::Store), (2, Access::Load)];
        check("ptr asm sideeffect \"addq $1, $0\", \"=*m,r,*m,~{dirflag},~{flags}\"", false, true, &update);
        check("ptr asm \"incq $0\", \"=*m,*m,~{flags}\"", false, false, &[(0, Access::Store), (1, Access::Load)]);
        check("ptr asm \"incq $0\", \"=r,0,~{flags}\"", false, false, &[]);
        check("ptr asm \"movq $$1, ($0)\", \"r,~{memory}\"", false, true, &[]);
        check(
            "ptr asm sideeffect \"\", \"=r,=&*m,0,*m,~{memory}\"",
            true,
            true,
            &[(0, Access::Store), (2, Access::Load)],
        );
        check("ptr asm sideeffect \"# mark \\22a\\22\\0A\\09// b\", \"~{memory}\"", true, true, &[]);
        check("ptr asm sideeffect inteldialect \"nop\", \"~{memory}\"", false, true, &[]);
    }
}
