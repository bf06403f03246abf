//! Vectors of which a mask says what is read or written.

use workspan_trace::program::{operation, Access};

use crate::llvm::{type_kind, Ref};
use crate::plan::{Address, Length, Operation, Planner, LANES};

impl Planner<'_> {
    /// Masked vectors: an operation for each lane.
    pub(crate) fn masked(&self, call: Ref, name: &str) -> Vec<Operation> {
        let llvm = self.llvm;
        let store = name.contains("store") || name.contains("scatter");
        let access = if store { Access::Store } else { Access::Load };
        let data = llvm.type_of(if store { llvm.operand(call, 0) } else { call });
        if llvm.type_kind(data) != type_kind::VECTOR {
            return Vec::new();
        }
        let lanes = llvm.vector_size(data);
        let size = u32::try_from(llvm.store_size(self.layout, llvm.element_type(data))).unwrap_or(u32::MAX);
        // The mask is the vector of single bits; its place has changed between versions of LLVM.
        let arguments = u32::try_from(llvm.operands(call)).unwrap_or(1) - 1;
        let is_mask = |value: &Ref| {
            let ty = llvm.type_of(*value);
            llvm.type_kind(ty) == type_kind::VECTOR
                && llvm.type_kind(llvm.element_type(ty)) == type_kind::INTEGER
                && llvm.int_width(llvm.element_type(ty)) == 1
        };
        let from = u32::from(store);
        let Some(mask) = (from..arguments).map(|at| llvm.operand(call, at)).find(is_mask) else {
            return Vec::new();
        };
        let pointer = llvm.operand(call, from);
        let flags = operation::VECTOR;
        if name.starts_with("llvm.masked.expandload") || name.starts_with("llvm.masked.compressstore") {
            let mut found = self.plain(call, access, flags | operation::SIZE_SLOT, 0, pointer);
            found.iter_mut().for_each(|operation| operation.length = Some(Length::Lanes(mask, size)));
            return found;
        }
        let gathers = name.starts_with("llvm.masked.gather") || name.starts_with("llvm.masked.scatter");
        let masked = name.starts_with("llvm.masked.load") || name.starts_with("llvm.masked.store");
        if !gathers && !masked {
            return Vec::new();
        }
        (0..lanes)
            .map(|lane| {
                let address = match (gathers, lane) {
                    (true, _) => Address::Lane(pointer, lane),
                    (false, 0) => Address::Pointer(pointer),
                    (false, _) => Address::Near(LANES, i64::from(lane) * i64::from(size)),
                };
                let flags = flags | operation::MASK_SLOT;
                Operation {
                    instruction: call,
                    access,
                    flags,
                    size,
                    address,
                    length: None,
                    mask: Some((mask, lane)),
                    step: 0,
                }
            })
            .collect()
    }
}
