//! Where a program calls given functions: x86-64.

use std::collections::BTreeMap;

use object::{Object, ObjectSection, SectionKind};

/// The calls of these functions, in order, also by where their addresses are kept, `slots`.
pub(crate) fn calls_of(
    bytes: &[u8],
    functions: &BTreeMap<u64, &'static str>,
    slots: &BTreeMap<u64, &'static str>,
) -> Vec<(u64, &'static str)> {
    let Ok(file) = object::File::parse(bytes) else { return Vec::new() };
    if functions.is_empty() && slots.is_empty() {
        return Vec::new();
    }
    let mut calls = Vec::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let Ok(code) = section.data() else { continue };
        for (at, window) in code.windows(7).enumerate() {
            let here = section.address().wrapping_add(at as u64);
            // The four bytes from `from` on are relative to what follows them.
            let target = |from: usize| {
                let relative = i32::from_le_bytes([window[from], window[from + 1], window[from + 2], window[from + 3]]);
                here.wrapping_add(from as u64 + 4).wrapping_add_signed(i64::from(relative))
            };
            let lock = match window {
                // call, jmp; jcc
                [0xe8 | 0xe9, ..] => functions.get(&target(1)),
                [0x0f, 0x80..=0x8f, ..] => functions.get(&target(2)),
                // call and jmp by the table; the address is kept in a register
                [0xff, 0x15 | 0x25, ..] => slots.get(&target(2)),
                [0x48 | 0x4c, 0x8b, register, ..] if register & 0xc7 == 5 => slots.get(&target(3)),
                _ => None,
            };
            calls.extend(lock.map(|lock| (here, *lock)));
        }
    }
    calls
}
