//! Where a program calls given functions: x86-64.
//!
//! **Cost:** nobody decodes the code; the bytes that such instructions begin with, or have second, are looked for many at a time.

use std::collections::BTreeMap;

use memchr::{memchr2_iter, memchr_iter};
use object::{Object, ObjectSection, SectionKind};

/// The calls of these functions, in order, also by where their addresses are kept, `slots`.
pub(crate) fn calls_of(
    bytes: &[u8],
    functions: &BTreeMap<u64, &'static str>,
    slots: &BTreeMap<u64, &'static str>,
) -> Vec<(u64, &'static str)> {
    let Ok(file) = object::File::parse(bytes) else { return Vec::new() };
    let mut calls = Vec::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let Ok(code) = section.data() else { continue };
        let base = section.address();
        if !functions.is_empty() {
            // call, jmp
            let direct = memchr2_iter(0xe8, 0xe9, code).map(|at| (at, at + 1));
            let conditional = memchr_iter(0x0f, code).filter(|at| matches!(code.get(at + 1), Some(0x80..=0x8f)));
            find(code, base, direct.chain(conditional.map(|at| (at, at + 2))), functions, &mut calls);
        }
        if !slots.is_empty() {
            // call and jmp by the table; the address is kept in a register
            let indirect = memchr_iter(0xff, code).filter(|at| matches!(code.get(at + 1), Some(0x15 | 0x25)));
            let is_load = |(prefix, register): (&u8, &u8)| matches!(prefix, 0x48 | 0x4c) && register & 0xc7 == 5;
            let loads = memchr_iter(0x8b, code).filter_map(|at| Some((at.checked_sub(1)?, at)));
            let loads = loads.filter(|(first, at)| code.get(*first).zip(code.get(at + 1)).is_some_and(is_load));
            let loads = loads.map(|(first, _)| (first, first + 3));
            find(code, base, indirect.map(|at| (at, at + 2)).chain(loads), slots, &mut calls);
        }
    }
    calls.sort_unstable();
    calls
}

/// Those of the instructions that lead to what is `wanted`: where each begins, and where in it the four bytes are that are relative to
/// what follows them.
fn find(
    code: &[u8],
    base: u64,
    instructions: impl Iterator<Item = (usize, usize)>,
    wanted: &BTreeMap<u64, &'static str>,
    calls: &mut Vec<(u64, &'static str)>,
) {
    let (Some((first, _)), Some((last, _))) = (wanted.first_key_value(), wanted.last_key_value()) else { return };
    for (at, from) in instructions {
        let Some(relative) = code.get(from..).and_then(|rest| rest.first_chunk()) else { continue };
        let target = base.wrapping_add(from as u64 + 4).wrapping_add_signed(i64::from(i32::from_le_bytes(*relative)));
        if (*first..=*last).contains(&target) {
            calls.extend(wanted.get(&target).map(|name| (base.wrapping_add(at as u64), *name)));
        }
    }
}
