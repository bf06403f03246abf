//! The instructions, one by one.

use super::operands::{sign, width, Machine, Place};

const RAX: usize = 0;
const RDX: usize = 2;

/// What an instruction was.
pub(super) enum Step {
    On,
    /// Division by this; the instruction before is where [`Machine::divide`] goes on.
    Division(Option<u64>),
    /// See [`Machine::compared`].
    Comparison,
}

impl Machine {
    /// What was compared last.
    pub(super) fn compared(&self) -> Option<(u64, u64)> {
        self.compared.map(|(left, right, _)| (left, right))
    }

    /// The branch behind the comparison that was followed last distinguishes what is not above the bound from what is, so that whoever begins
    /// at the bound has an iteration: `jg` or `jle` if where a member begins stands on the left, `jl` or `jge` if on the right, and the
    /// same without signs.
    pub(super) fn passes_at_equal(&self, begins_left: bool) -> bool {
        let [first, second] = [0, 1].map(|offset| {
            let byte = (self.at as *const u8).wrapping_add(offset);
            // SAFETY: the program's code, which the thread is about to run.
            unsafe { byte.read() }
        });
        let condition = match first {
            0x70..=0x7f => first & 15,
            0x0f if second & 0xf0 == 0x80 => second & 15,
            _ => return false,
        };
        match begins_left {
            true => matches!(condition, 0x6 | 0x7 | 0xe | 0xf),
            false => matches!(condition, 0x2 | 0x3 | 0xc | 0xd),
        }
    }

    /// Follows one instruction, which the thread is about to run; none if it is not among those that are known here.
    pub(super) fn step(&mut self) -> Option<Step> {
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
            0x39 | 0x3b => {
                let (reg, place) = self.modrm(rex, 0)?;
                let (reg, place) = (self.read(Place::Register(reg), width(wide)), self.read(place, width(wide)));
                let (left, right) = if opcode == 0x39 { (place, reg) } else { (reg, place) };
                return self.compare(left, right, wide);
            }
            0x85 => {
                // A register by itself is compared with zero.
                let (reg, place) = self.modrm(rex, 0)?;
                let itself = matches!(place, Place::Register(other) if other == reg);
                let value = self.read(place, width(wide)).filter(|_| itself);
                self.compared = value.map(|value| (value, 0, wide));
            }
            0x70..=0x7f => {
                let by = self.immediate(1);
                self.branch(opcode & 15, by)?;
            }
            0xeb | 0xe9 => {
                let by = self.immediate(if opcode == 0xeb { 1 } else { 4 });
                self.at = self.at.wrapping_add(by);
            }
            0x05 | 0x0d | 0x25 | 0x2d | 0x35 => {
                let value = self.immediate(4);
                self.arithmetic(opcode >> 3, Place::Register(RAX), Place::Memory(None), Some(value), wide);
            }
            0x3d => {
                let value = self.immediate(4);
                return self.compare(self.read(Place::Register(RAX), width(wide)), Some(value), wide);
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
                self.compared = None;
                let product = self.read(place, width(wide)).map(|left| left.wrapping_mul(value));
                self.write(Place::Register(reg), product, wide);
            }
            0x81 | 0x83 => {
                let size = if opcode == 0x81 { 4 } else { 1 };
                let (operation, place) = self.modrm(rex & !4, size)?;
                let value = self.immediate(size);
                // The seventh is a comparison.
                if operation == 7 {
                    return self.compare(self.read(place, width(wide)), Some(value), wide);
                }
                self.arithmetic(operation as u8, place, Place::Memory(None), Some(value), wide);
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
                    value.map(|value| u64::from(i32::from(value as u16 as i16) as u32))
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
                self.compared = None;
                self.write(place, shifted(operation, value, by, wide)?, wide);
            }
            0xc7 => {
                let (_, place) = self.modrm(rex, 4)?;
                let value = self.immediate(4);
                self.write(place, Some(value), wide);
            }
            0xf7 => return self.product_or_division(rex, wide),
            0xff => {
                let (operation, place) = self.modrm(rex & !4, 0)?;
                let by = match operation {
                    0 => 1,
                    1 => u64::MAX,
                    _ => return None,
                };
                self.arithmetic(0, place, Place::Memory(None), Some(by), wide);
            }
            _ => return None,
        }
        Some(Step::On)
    }

    /// `not`, `neg`, `mul`, `imul`, `div`, `idiv`.
    fn product_or_division(&mut self, rex: u8, wide: bool) -> Option<Step> {
        self.compared = None;
        let (operation, place) = self.modrm(rex & !4, 0)?;
        let value = self.read(place, width(wide));
        match operation {
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
            6 | 7 => {
                self.division = (operation == 7, wide);
                return Some(Step::Division(value));
            }
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
            0x80..=0x8f => {
                let by = self.immediate(4);
                self.branch(opcode & 15, by)?;
            }
            // Moved if a condition holds.
            0x40..=0x4f => {
                let (reg, place) = self.modrm(rex, 0)?;
                let value = match self.holds(opcode & 15) {
                    Some(true) => self.read(place, width(wide)),
                    Some(false) => self.registers[reg],
                    None => None,
                };
                self.write(Place::Register(reg), value, wide);
            }
            0xaf => {
                let (reg, place) = self.modrm(rex, 0)?;
                let right = self.read(place, width(wide));
                self.compared = None;
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
            // Of vectors.
            0x2e | 0x2f => {
                self.modrm(rex, 0)?;
                self.compared = None;
            }
            0x10 | 0x12 | 0x14 | 0x16 | 0x28 | 0x51 | 0x54 | 0x57..=0x5f | 0x6c..=0x6f | 0xef => {
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

    /// What is divided: 0 if it is less than that.
    pub(super) fn divided(&self) -> Option<u64> {
        let (signed, wide) = self.division;
        let value = self.registers[RAX]?;
        Some(match (signed, wide) {
            (true, true) => (value as i64).max(0) as u64,
            (true, false) => i64::from(value as i32).max(0) as u64,
            (false, true) => value,
            (false, false) => value & u64::from(u32::MAX),
        })
    }

    /// Divides; the high half of what is divided is its sign.
    pub(super) fn divide(&mut self, by: u64) -> Option<()> {
        let (_, wide) = self.division;
        let value = self.divided()?;
        self.write(Place::Register(RAX), Some(value.checked_div(by)?), wide);
        self.write(Place::Register(RDX), Some(value.checked_rem(by)?), wide);
        Some(())
    }

    fn compare(&mut self, left: Option<u64>, right: Option<u64>, wide: bool) -> Option<Step> {
        let narrow = |value: u64| if wide { value } else { value & u64::from(u32::MAX) };
        self.compared = left.zip(right).map(|(left, right)| (narrow(left), narrow(right), wide));
        Some(Step::Comparison)
    }

    /// Goes on behind a conditional branch; none if what it depends on is not known.
    fn branch(&mut self, condition: u8, by: u64) -> Option<()> {
        if self.holds(condition)? {
            self.at = self.at.wrapping_add(by);
        }
        Some(())
    }

    /// Whether a condition holds, by its number.
    fn holds(&self, condition: u8) -> Option<bool> {
        let (left, right, wide) = self.compared?;
        let signed = |value: u64| if wide { value as i64 } else { i64::from(value as i32) };
        let (less, equal, below) = (signed(left) < signed(right), left == right, left < right);
        let holds = match condition >> 1 {
            1 => below,
            2 => equal,
            3 => below || equal,
            6 => less,
            7 => less || equal,
            _ => return None,
        };
        Some(holds != (condition & 1 == 1))
    }

    fn arithmetic(&mut self, operation: u8, left: Place, right: Place, value: Option<u64>, wide: bool) {
        // A register less itself is zero, whatever is in it.
        if let (Place::Register(a), Place::Register(b), 5 | 6) = (left, right, operation) {
            if a == b {
                self.compared = Some((0, 0, wide));
                return self.write(left, Some(0), wide);
            }
        }
        let narrow = |value: u64| if wide { value } else { value & u64::from(u32::MAX) };
        let right = value.or_else(|| self.read(right, width(wide)));
        let before = self.read(left, width(wide)).zip(right);
        let result = before.map(|(left, right)| match operation {
            0 => left.wrapping_add(right),
            1 => left | right,
            4 => left & right,
            5 => left.wrapping_sub(right),
            _ => left ^ right,
        });
        // With carry: not known.
        let known = !matches!(operation, 2 | 3);
        // Flags are those of a comparison of both sides, or of the result with zero.
        self.compared = match operation {
            2 | 3 => None,
            5 => before.map(|(left, right)| (narrow(left), narrow(right), wide)),
            _ => result.map(|result| (narrow(result), 0, wide)),
        };
        self.write(left, result.filter(|_| known), wide);
    }
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
        7 => value.map(|value| u64::from((value as i32 >> by) as u32)),
        _ => return None,
    })
}
