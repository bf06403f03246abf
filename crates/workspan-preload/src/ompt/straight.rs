//! Straight-line code of x86-64, followed without running it: which division by the size of the team does it come to?
//!
//! gcc puts the header of a static loop into the program: behind the call of `omp_get_thread_num` it divides the number of
//! iterations by the number of threads, with no branch before. So whoever has the registers at that point knows the iterations.
//!
//! **Invariant:** memory is read only where the program reads it itself a few instructions later: there is no branch or call
//! before, and what it stores on the way is kept aside. Whatever is not known stays unknown, and any other instruction ends it.
//! **Cost:** at most [`STEPS`] instructions, some ten nanoseconds each.

use core::ptr;

/// Most instructions that are followed.
const STEPS: usize = 48;
/// Stores that are kept aside.
const STORES: usize = 8;

const RAX: usize = 0;
const RDX: usize = 2;
const RSP: usize = 4;
const RBP: usize = 5;

/// General registers, as far as they are known.
pub(super) type Registers = [Option<u64>; 16];

/// What is divided by `divisor` in the straight-line code at `code`: 0 if it is less than 1, none if there is no such division.
///
/// # Safety
///
/// The calling thread is about to run that code with these registers.
pub(super) unsafe fn dividend(code: u64, registers: Registers, divisor: u64) -> Option<u64> {
    let mut machine = Machine { at: code, registers, stores: [(0, 0, None); STORES], kept: 0 };
    for _ in 0..STEPS {
        match machine.step()? {
            Step::On => {}
            Step::Division { dividend, by, wide } => {
                let signed = if wide { dividend as i64 } else { i64::from(dividend as u32 as i32) };
                let by = if wide { by } else { by & u64::from(u32::MAX) };
                return (by == divisor).then_some(signed.max(0) as u64);
            }
        }
    }
    None
}

enum Step {
    On,
    Division { dividend: u64, by: u64, wide: bool },
}

#[derive(Clone, Copy)]
enum Place {
    Register(usize),
    Memory(Option<u64>),
}

struct Machine {
    at: u64,
    registers: Registers,
    /// Address, size and value.
    stores: [(u64, u64, Option<u64>); STORES],
    kept: usize,
}

impl Machine {
    /// Follows one instruction, which the thread is about to run; none if it is not among those that are known here.
    fn step(&mut self) -> Option<Step> {
        let (mut rex, mut prefixed) = (0u8, false);
        let mut opcode = self.byte();
        while matches!(opcode, 0x66 | 0xf2 | 0xf3) {
            prefixed = true;
            opcode = self.byte();
        }
        if opcode & 0xf0 == 0x40 {
            rex = opcode;
            opcode = self.byte();
        }
        let wide = rex & 8 != 0;
        if prefixed {
            // Of halves of registers there is nothing here; vectors and no-operations leave the registers alone.
            return if opcode == 0x0f { self.vector(rex) } else { None };
        }
        match opcode {
            0x90 => {}
            0x0f => return self.second(rex, wide),
            0x01 | 0x03 | 0x09 | 0x0b | 0x21 | 0x23 | 0x29 | 0x2b | 0x31 | 0x33 => {
                let (reg, place) = self.modrm(rex, 0)?;
                let to_register = opcode & 2 != 0;
                let (left, right) =
                    if to_register { (Place::Register(reg), place) } else { (place, Place::Register(reg)) };
                self.arithmetic(opcode >> 3, left, right, None, wide);
            }
            // Comparisons change flags alone, which nothing here looks at.
            0x39 | 0x3b | 0x85 => {
                self.modrm(rex, 0)?;
            }
            0x05 | 0x0d | 0x25 | 0x2d | 0x35 => {
                let value = self.immediate(4);
                self.arithmetic(opcode >> 3, Place::Register(RAX), Place::Memory(None), Some(value), wide);
            }
            0x3d | 0xa9 => {
                self.immediate(4);
            }
            0x63 => {
                let (reg, place) = self.modrm(rex, 0)?;
                let value = self.read(place, 4).map(|value| i64::from(value as u32 as i32) as u64);
                self.write(Place::Register(reg), value, wide);
            }
            0x69 | 0x6b => {
                let size = if opcode == 0x69 { 4 } else { 1 };
                let (reg, place) = self.modrm(rex, size)?;
                let value = self.immediate(size);
                let product = self.read(place, width(wide)).map(|left| left.wrapping_mul(value));
                self.write(Place::Register(reg), product, wide);
            }
            0x81 | 0x83 => {
                let size = if opcode == 0x81 { 4 } else { 1 };
                let (operation, place) = self.modrm(rex & !4, size)?;
                let value = self.immediate(size);
                // The seventh is a comparison.
                if operation != 7 {
                    self.arithmetic(operation as u8, place, Place::Memory(None), Some(value), wide);
                }
            }
            0x89 => {
                let (reg, place) = self.modrm(rex, 0)?;
                self.write(place, self.registers[reg], wide);
            }
            0x8b => {
                let (reg, place) = self.modrm(rex, 0)?;
                let value = self.read(place, width(wide));
                self.write(Place::Register(reg), value, wide);
            }
            0x8d => {
                let (reg, Place::Memory(address)) = self.modrm(rex, 0)? else { return None };
                self.write(Place::Register(reg), address, wide);
            }
            0x98 => {
                let value = self.registers[RAX];
                let extended = if wide {
                    value.map(|value| i64::from(value as u32 as i32) as u64)
                } else {
                    value.map(|value| i32::from(value as u16 as i16) as u32 as u64)
                };
                self.write(Place::Register(RAX), extended, wide);
            }
            0x99 => {
                let bits = if wide { 63 } else { 31 };
                let sign = self.registers[RAX].map(|value| if value >> bits & 1 == 1 { u64::MAX } else { 0 });
                self.write(Place::Register(RDX), sign, wide);
            }
            0xb8..=0xbf => {
                let value = if wide { self.word() } else { self.immediate(4) & u64::from(u32::MAX) };
                let reg = usize::from(opcode & 7) | usize::from(rex & 1) << 3;
                self.write(Place::Register(reg), Some(value), wide);
            }
            0xc1 | 0xd1 => {
                let size = u64::from(opcode == 0xc1);
                let (operation, place) = self.modrm(rex & !4, size)?;
                let by = if opcode == 0xc1 { self.immediate(1) as u32 & 63 } else { 1 };
                let value = self.read(place, width(wide));
                self.write(place, shifted(operation, value, by, wide)?, wide);
            }
            0xc7 => {
                let (_, place) = self.modrm(rex, 4)?;
                let value = self.immediate(4);
                self.write(place, Some(value), wide);
            }
            0xf7 => return self.product_or_division(rex, wide),
            _ => return None,
        }
        Some(Step::On)
    }

    /// `test`, `not`, `neg`, `mul`, `imul`, `div`, `idiv`.
    fn product_or_division(&mut self, rex: u8, wide: bool) -> Option<Step> {
        // Of `test` the immediate follows; it addresses by no instruction pointer.
        let (operation, place) = self.modrm(rex & !4, 0)?;
        let value = self.read(place, width(wide));
        match operation {
            0 => {
                self.immediate(4);
            }
            2 => self.write(place, value.map(|value| !value), wide),
            3 => self.write(place, value.map(u64::wrapping_neg), wide),
            4 | 5 => {
                let (low, high) = match (self.registers[RAX], value) {
                    (Some(a), Some(b)) => halves(operation == 5, a, b, wide),
                    _ => (None, None),
                };
                self.write(Place::Register(RAX), low, wide);
                self.write(Place::Register(RDX), high, wide);
            }
            6 | 7 => return Some(Step::Division { dividend: self.registers[RAX]?, by: value?, wide }),
            _ => return None,
        }
        Some(Step::On)
    }

    /// Instructions of two bytes.
    fn second(&mut self, rex: u8, wide: bool) -> Option<Step> {
        let opcode = self.byte();
        match opcode {
            0x1f => {
                self.modrm(rex, 0)?;
            }
            // What is moved depends on flags.
            0x40..=0x4f => {
                let (reg, _) = self.modrm(rex, 0)?;
                self.write(Place::Register(reg), None, wide);
            }
            0xaf => {
                let (reg, place) = self.modrm(rex, 0)?;
                let right = self.read(place, width(wide));
                let product = self.registers[reg].zip(right).map(|(left, right)| left.wrapping_mul(right));
                self.write(Place::Register(reg), product, wide);
            }
            0xb6 | 0xb7 | 0xbe | 0xbf => {
                let size = if opcode & 1 == 0 { 1 } else { 2 };
                let (reg, place) = self.modrm(rex, 0)?;
                if size == 1 && matches!(place, Place::Register(_)) && rex == 0 {
                    // It may be the second byte of a register.
                    self.write(Place::Register(reg), None, wide);
                    return Some(Step::On);
                }
                let value = self.read(place, size).map(|value| if opcode >= 0xbe { sign(value, size) } else { value });
                self.write(Place::Register(reg), value, wide);
            }
            _ => return self.vector_code(opcode, rex),
        }
        Some(Step::On)
    }

    fn vector(&mut self, rex: u8) -> Option<Step> {
        let opcode = self.byte();
        self.vector_code(opcode, rex)
    }

    /// Moves and arithmetic of vector registers: no general register changes. What they store is not known any more.
    fn vector_code(&mut self, opcode: u8, rex: u8) -> Option<Step> {
        match opcode {
            0x10 | 0x12 | 0x14 | 0x16 | 0x28 | 0x2e | 0x2f | 0x51 | 0x54 | 0x57..=0x5f | 0x6c..=0x6f | 0xef => {
                self.modrm(rex, 0)?;
            }
            0x11 | 0x13 | 0x17 | 0x29 | 0x7f | 0xd6 => {
                if let (_, Place::Memory(address)) = self.modrm(rex, 0)? {
                    self.keep(address?, 16, None)?;
                }
            }
            _ => return None,
        }
        Some(Step::On)
    }

    fn arithmetic(&mut self, operation: u8, left: Place, right: Place, value: Option<u64>, wide: bool) {
        // A register less itself is zero, whatever is in it.
        if let (Place::Register(a), Place::Register(b), 5 | 6) = (left, right, operation) {
            if a == b {
                return self.write(left, Some(0), wide);
            }
        }
        let right = value.or_else(|| self.read(right, width(wide)));
        let result = self.read(left, width(wide)).zip(right).map(|(left, right)| match operation {
            0 => left.wrapping_add(right),
            1 => left | right,
            4 => left & right,
            5 => left.wrapping_sub(right),
            _ => left ^ right,
        });
        // With carry: not known.
        let known = !matches!(operation, 2 | 3);
        self.write(left, result.filter(|_| known), wide);
    }

    fn read(&self, place: Place, size: u64) -> Option<u64> {
        let value = match place {
            Place::Register(register) => self.registers[register]?,
            Place::Memory(address) => self.load(address?, size)?,
        };
        Some(if size < 8 { value & ((1 << (8 * size)) - 1) } else { value })
    }

    fn load(&self, address: u64, size: u64) -> Option<u64> {
        for (at, stored, value) in self.stores[..self.kept].iter().rev() {
            if *at == address && *stored == size {
                return *value;
            }
            if address < at.wrapping_add(*stored) && *at < address.wrapping_add(size) {
                return None;
            }
        }
        let mut bytes = [0u8; 8];
        for (offset, byte) in bytes.iter_mut().enumerate().take(size as usize) {
            // SAFETY: the thread is about to read there itself, by the promise to `dividend`: no instruction before was a branch.
            *byte = unsafe { ptr::read_volatile((address as *const u8).add(offset)) };
        }
        Some(u64::from_le_bytes(bytes))
    }

    fn write(&mut self, place: Place, value: Option<u64>, wide: bool) {
        let value = value.map(|value| if wide { value } else { value & u64::from(u32::MAX) });
        match place {
            Place::Register(register) => self.registers[register] = value,
            Place::Memory(address) => {
                let kept = address.and_then(|address| self.keep(address, width(wide), value));
                if kept.is_none() {
                    // It may be anywhere: no memory is known from here on.
                    self.stores = [(0, u64::MAX, None); STORES];
                    self.kept = STORES;
                }
            }
        }
    }

    fn keep(&mut self, address: u64, size: u64, value: Option<u64>) -> Option<()> {
        *self.stores.get_mut(self.kept)? = (address, size, value);
        self.kept += 1;
        Some(())
    }

    /// The register and the place that an instruction names; `more` bytes of it follow.
    fn modrm(&mut self, rex: u8, more: u64) -> Option<(usize, Place)> {
        let byte = self.byte();
        let (mode, reg, rm) = (byte >> 6, usize::from(byte >> 3 & 7), usize::from(byte & 7));
        let reg = reg | usize::from(rex & 4) << 1;
        if mode == 3 {
            return Some((reg, Place::Register(rm | usize::from(rex & 1) << 3)));
        }
        let mut address = Some(0u64);
        let mut base = Some(rm | usize::from(rex & 1) << 3);
        if rm == RSP {
            let scaled = self.byte();
            let index = usize::from(scaled >> 3 & 7) | usize::from(rex & 2) << 2;
            let low = usize::from(scaled & 7);
            base = Some(low | usize::from(rex & 1) << 3).filter(|_| low != RBP || mode != 0);
            if index != RSP {
                address = self.registers[index].map(|value| value << (scaled >> 6));
            }
            if base.is_none() {
                let offset = self.immediate(4);
                return Some((reg, Place::Memory(address.map(|address| address.wrapping_add(offset)))));
            }
        } else if rm == RBP && mode == 0 {
            let offset = self.immediate(4);
            return Some((reg, Place::Memory(Some(self.at.wrapping_add(more).wrapping_add(offset)))));
        }
        let offset = match mode {
            1 => self.immediate(1),
            2 => self.immediate(4),
            _ => 0,
        };
        let base = base.and_then(|base| self.registers[base]);
        let address = address.zip(base).map(|(index, base)| index.wrapping_add(base).wrapping_add(offset));
        Some((reg, Place::Memory(address)))
    }

    fn byte(&mut self) -> u8 {
        // SAFETY: code that the thread is about to run, by the promise to `dividend`: no instruction before was a branch.
        let byte = unsafe { ptr::read_volatile(self.at as *const u8) };
        self.at = self.at.wrapping_add(1);
        byte
    }

    /// Sign-extended.
    fn immediate(&mut self, size: u64) -> u64 {
        let value = (0..size).fold(0, |value, at| value | u64::from(self.byte()) << (8 * at));
        sign(value, size)
    }

    fn word(&mut self) -> u64 {
        (0..8).fold(0, |value, at| value | u64::from(self.byte()) << (8 * at))
    }
}

const fn width(wide: bool) -> u64 {
    if wide {
        8
    } else {
        4
    }
}

fn sign(value: u64, size: u64) -> u64 {
    let unused = 64 - 8 * size as u32;
    ((value << unused) as i64 >> unused) as u64
}

/// Both halves of a product.
fn halves(signed: bool, a: u64, b: u64, wide: bool) -> (Option<u64>, Option<u64>) {
    let product = match (signed, wide) {
        (true, true) => (i128::from(a as i64) * i128::from(b as i64)) as u128,
        (false, true) => u128::from(a) * u128::from(b),
        (true, false) => (i64::from(a as i32) * i64::from(b as i32)) as u128,
        (false, false) => u128::from(a as u32) * u128::from(b as u32),
    };
    let bits = if wide { 64 } else { 32 };
    (Some(product as u64), Some((product >> bits) as u64))
}

/// Known shifts: to the left, to the right, and that with the sign.
fn shifted(operation: usize, value: Option<u64>, by: u32, wide: bool) -> Option<Option<u64>> {
    let by = if wide { by } else { by & 31 };
    Some(match operation {
        4 => value.map(|value| value << by),
        5 => value.map(|value| value >> by),
        7 if wide => value.map(|value| (value as i64 >> by) as u64),
        7 => value.map(|value| (value as i32 >> by) as u32 as u64),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &[u8], registers: &[(usize, u64)], divisor: u64, expected: Option<u64>) {
        let mut known: Registers = [None; 16];
        registers.iter().for_each(|(register, value)| known[*register] = Some(*value));
        // An instruction that is not known ends it.
        let code = [code, &[0xcc; 16]].concat();
        // SAFETY: the code reads no memory but what these registers point at, which is there.
        let found = unsafe { dividend(code.as_ptr() as u64, known, divisor) };
        assert_eq!(found, expected);
    }

    const RBX: usize = 3;
    const R12: usize = 12;

    /// As gcc 12 compiles headers of loops.
    #[test]
    fn headers_of_loops() {
        // mov ebx,eax; mov eax,[r12]; cdq; idiv ebp
        let count = 1000i32;
        let at = &raw const count as u64;
        let header = [0x89, 0xc3, 0x41, 0x8b, 0x04, 0x24, 0x99, 0xf7, 0xfd];
        check(&header, &[(RAX, 0), (R12, at), (RBP, 4)], 4, Some(1000));
        check(&header, &[(RAX, 0), (R12, at), (RBP, 4)], 5, None);
        check(&header, &[(RAX, 0), (RBP, 4)], 4, None);
        // xor edx,edx; mov r13d,eax; mov eax,12; idiv r14d
        let header = [0x31, 0xd2, 0x41, 0x89, 0xc5, 0xb8, 0x0c, 0, 0, 0, 0x41, 0xf7, 0xfe];
        check(&header, &[(RAX, 1), (14, 2)], 2, Some(12));
        // movsxd rsi,eax; mov rax,[rbp+8]; lea rcx,[rax+1]; movabs rax,0x5555555555555556; sub rcx,r13; imul rcx;
        // sar rcx,63; mov rax,rdx; sub rax,rcx; cqo; idiv rbx: (102 + 1 - 4) / 3 iterations
        let data = [0u64, 102];
        let header = [
            0x48, 0x63, 0xf0, 0x48, 0x8b, 0x45, 0x08, 0x48, 0x8d, 0x48, 0x01, 0x48, 0xb8, 0x56, 0x55, 0x55, 0x55, 0x55,
            0x55, 0x55, 0x55, 0x4c, 0x29, 0xe9, 0x48, 0xf7, 0xe9, 0x48, 0xc1, 0xf9, 0x3f, 0x48, 0x89, 0xd0, 0x48, 0x29,
            0xc8, 0x48, 0x99, 0x48, 0xf7, 0xfb,
        ];
        let registers = [(RAX, 0), (RBP, &raw const data as u64), (13, 4), (RBX, 8)];
        check(&header, &registers, 8, Some(33));
        // movsxd rcx,ebx; xor edx,edx; movsxd rbp,eax; mov rax,r12; div rcx
        let header = [0x48, 0x63, 0xcb, 0x31, 0xd2, 0x48, 0x63, 0xe8, 0x4c, 0x89, 0xe0, 0x48, 0xf7, 0xf1];
        check(&header, &[(RAX, 0), (RBX, 3), (R12, 64)], 3, Some(64));
    }

    #[test]
    fn what_is_no_header() {
        // jmp
        check(&[0xeb, 0x00], &[(RAX, 0)], 1, None);
        // mov [r12],eax; mov ecx,[r12]; mov eax,ecx; cdq; idiv ebx: the store is kept aside
        let mut memory = 7u32;
        let at = &raw mut memory as u64;
        let code = [0x41, 0x89, 0x04, 0x24, 0x41, 0x8b, 0x0c, 0x24, 0x89, 0xc8, 0x99, 0xf7, 0xfb];
        check(&code, &[(RAX, 30), (R12, at), (RBX, 3)], 3, Some(30));
        assert_eq!(memory, 7);
        // The same where it is not known what is stored where.
        check(&code, &[(R12, at), (RBX, 3)], 3, None);
        // cmovle eax,ecx; cdq; idiv ebx: depends on flags.
        check(&[0x0f, 0x4e, 0xc1, 0x99, 0xf7, 0xfb], &[(RAX, 30), (1, 2), (RBX, 3)], 3, None);
        // No iterations: cdq; idiv ebx
        check(&[0x99, 0xf7, 0xfb], &[(RAX, 0), (RBX, 3)], 3, Some(0));
    }
}
