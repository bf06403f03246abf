//! Instructions of loops that may poll, and what they leave in registers.

use core::ptr;

const RAX: usize = 0;
const RSP: usize = 4;
const RBP: usize = 5;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// The same each time.
    Same,
    /// What was read, this time, from a place that is the same each time.
    Read,
    /// What was read the time before.
    ReadBefore,
    /// Counts by fixed steps.
    Counter,
}

/// Where an operand is.
#[derive(Clone, Copy)]
enum Place {
    Register(usize),
    /// By which registers: one, and another times something.
    Memory(Option<usize>, Option<usize>),
}

/// Where an instruction leads.
#[derive(Debug)]
pub(super) enum Step {
    On(u64),
    /// A condition holds, or does not.
    Branch {
        next: u64,
        to: u64,
    },
}

/// Registers along a way.
#[derive(Debug)]
pub(super) struct Registers {
    values: [Value; 16],
    /// Values matter.
    strict: bool,
    compares: bool,
    pauses: bool,
    at: u64,
}

/// Bytes before an opcode.
#[derive(Clone, Copy, Default)]
struct Prefixes {
    rex: u8,
    locked: bool,
    repeated: bool,
    short: bool,
}

impl Registers {
    /// To find a way.
    pub(super) fn loose() -> Registers {
        Registers { strict: false, ..Registers::strict() }
    }

    /// To judge it.
    pub(super) fn strict() -> Registers {
        Registers { values: [Value::Same; 16], strict: true, compares: false, pauses: false, at: 0 }
    }

    /// The way begins, perhaps again.
    pub(super) fn begin(&mut self) {
        for value in &mut self.values {
            if *value == Value::Read {
                *value = Value::ReadBefore;
            }
        }
    }

    /// What was read was compared, or it pauses.
    pub(super) fn looks(&self) -> bool {
        self.compares || self.pauses
    }

    /// Follows the instruction at `at`; none if it is not one of those that may poll.
    ///
    /// # Safety
    ///
    /// There is one.
    pub(super) unsafe fn step(&mut self, at: u64) -> Option<Step> {
        self.at = at;
        let mut prefixes = Prefixes::default();
        let mut opcode = self.byte();
        loop {
            match opcode {
                0xf0 => prefixes.locked = true,
                0xf3 => prefixes.repeated = true,
                0x66 => prefixes.short = true,
                // Of segments: a thread's own variables.
                0x2e | 0x3e | 0x64 | 0x65 => {}
                _ => break,
            }
            opcode = self.byte();
        }
        if opcode & 0xf0 == 0x40 {
            prefixes.rex = opcode;
            opcode = self.byte();
        }
        let immediate = if prefixes.short { 2 } else { 4 };
        match opcode {
            0x0f => return self.second(prefixes),
            0x90 => self.pauses |= prefixes.repeated,
            // Arithmetic of a register or memory and a register, in both directions.
            0x00..=0x03 | 0x08..=0x0b | 0x20..=0x23 | 0x28..=0x2b | 0x30..=0x33 => {
                let (reg, place) = self.modrm(prefixes.rex);
                let (to, from) =
                    if opcode & 2 != 0 { (Place::Register(reg), place) } else { (place, Place::Register(reg)) };
                self.arithmetic(opcode >> 3, to, Some(from))?;
            }
            0x38..=0x3b => {
                let (reg, place) = self.modrm(prefixes.rex);
                self.compare(place, Place::Register(reg))?;
            }
            0x84 | 0x85 => {
                let (reg, place) = self.modrm(prefixes.rex);
                self.compare(place, Place::Register(reg))?;
            }
            0x04 | 0x05 | 0x0c | 0x0d | 0x24 | 0x25 | 0x2c | 0x2d | 0x34 | 0x35 => {
                self.skip(if opcode & 1 == 0 { 1 } else { immediate });
                self.arithmetic(opcode >> 3, Place::Register(RAX), None)?;
            }
            0x3c | 0x3d | 0xa8 | 0xa9 => {
                self.skip(if opcode & 1 == 0 { 1 } else { immediate });
                self.compare(Place::Register(RAX), Place::Register(RAX))?;
            }
            0x63 | 0x8a | 0x8b => {
                let (reg, place) = self.modrm(prefixes.rex);
                let value = self.value(place)?;
                self.set(reg, value);
            }
            0x88 | 0x89 => {
                let (reg, place) = self.modrm(prefixes.rex);
                let Place::Register(to) = place else { return None };
                self.set(to, self.values[reg]);
            }
            0x8d => {
                let (reg, Place::Memory(base, index)) = self.modrm(prefixes.rex) else { return None };
                self.address_of(reg, base, index)?;
            }
            0x80 | 0x81 | 0x83 => {
                let (operation, place) = self.modrm(prefixes.rex & !4);
                self.skip(if opcode == 0x81 { immediate } else { 1 });
                match (operation, place) {
                    (7, place) => self.compare(place, place)?,
                    // A fence, on the stack.
                    (1, Place::Memory(Some(RSP), None)) if prefixes.locked => {}
                    _ => self.arithmetic(operation as u8, place, None)?,
                }
            }
            0xf6 | 0xf7 => {
                let (0, place) = self.modrm(prefixes.rex & !4) else { return None };
                self.skip(if opcode == 0xf6 { 1 } else { immediate });
                self.compare(place, place)?;
            }
            0xfe | 0xff => {
                let (0 | 1, place) = self.modrm(prefixes.rex & !4) else { return None };
                self.arithmetic(0, place, None)?;
            }
            0xc0 | 0xc1 | 0xd0 | 0xd1 => {
                let (_, place) = self.modrm(prefixes.rex & !4);
                self.skip(u64::from(opcode < 0xd0));
                self.arithmetic(4, place, None)?;
            }
            0xb0..=0xbf => {
                let wide = if prefixes.rex & 8 != 0 { 8 } else { immediate };
                self.skip(if opcode < 0xb8 { 1 } else { wide });
                self.set(usize::from(opcode & 7) | usize::from(prefixes.rex & 1) << 3, Value::Read);
            }
            // An attempt to take a lock.
            0x86 | 0x87 => {
                let (reg, place) = self.modrm(prefixes.rex);
                let Place::Memory(..) = place else { return None };
                let value = self.value(place)?;
                self.set(reg, value);
            }
            0x70..=0x7f => {
                let by = self.signed(1);
                return Some(Step::Branch { next: self.at, to: self.at.wrapping_add(by) });
            }
            0xeb | 0xe9 => {
                let by = self.signed(if opcode == 0xeb { 1 } else { 4 });
                self.at = self.at.wrapping_add(by);
            }
            _ => return None,
        }
        Some(Step::On(self.at))
    }

    /// Instructions of two bytes.
    fn second(&mut self, prefixes: Prefixes) -> Option<Step> {
        let opcode = self.byte();
        match opcode {
            // No operation, of any length; a mark of where jumps may lead.
            0x1e | 0x1f => {
                self.modrm(prefixes.rex);
            }
            0x80..=0x8f => {
                let by = self.signed(4);
                return Some(Step::Branch { next: self.at, to: self.at.wrapping_add(by) });
            }
            0x90..=0x9f => {
                let (_, Place::Register(to)) = self.modrm(prefixes.rex & !4) else { return None };
                self.set(to, Value::Read);
            }
            0xb6 | 0xb7 | 0xbe | 0xbf => {
                let (reg, place) = self.modrm(prefixes.rex);
                let value = self.value(place)?;
                self.set(reg, value);
            }
            // A bit is looked at.
            0xa3 => {
                let (reg, place) = self.modrm(prefixes.rex);
                self.compare(place, Place::Register(reg))?;
            }
            0xba => {
                let (4, place) = self.modrm(prefixes.rex & !4) else { return None };
                self.skip(1);
                self.compare(place, place)?;
            }
            // An attempt to take a lock.
            0xb0 | 0xb1 => {
                let (_, place) = self.modrm(prefixes.rex);
                let Place::Memory(..) = place else { return None };
                let value = self.value(place)?;
                self.set(RAX, value);
                self.compares = true;
            }
            // Fences.
            0xae if matches!(self.byte(), 0xe8 | 0xf0 | 0xf8) => {}
            _ => return None,
        }
        Some(Step::On(self.at))
    }

    /// What is read there; none if it is at another place each time.
    fn value(&self, place: Place) -> Option<Value> {
        let (base, index) = match place {
            Place::Register(register) => return Some(self.values[register]),
            Place::Memory(base, index) => (base, index),
        };
        let moves = |register: Option<usize>| {
            register.is_some_and(|register| matches!(self.values[register], Value::Counter | Value::ReadBefore))
        };
        (!self.strict || !moves(base) && !moves(index)).then_some(Value::Read)
    }

    fn set(&mut self, register: usize, value: Value) {
        self.values[register] = value;
    }

    fn compare(&mut self, left: Place, right: Place) -> Option<()> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        let is_read = |value| matches!(value, Value::Read | Value::ReadBefore);
        self.compares |= is_read(left) || is_read(right);
        Some(())
    }

    /// `to` becomes what arithmetic makes of it and `from`, or a number.
    fn arithmetic(&mut self, operation: u8, to: Place, from: Option<Place>) -> Option<()> {
        let Place::Register(register) = to else { return None };
        let itself = matches!(from, Some(Place::Register(other)) if other == register);
        if itself && matches!(operation & 7, 5 | 6) {
            self.set(register, Value::Read);
            return Some(());
        }
        let other = match from {
            Some(place) => self.value(place)?,
            None => Value::Same,
        };
        let value = match (self.values[register], other) {
            (Value::Read, Value::Same | Value::Read) => Value::Read,
            // Steps are of one size.
            (Value::Same | Value::Counter, Value::Same) if matches!(operation & 7, 0 | 5) => Value::Counter,
            _ if !self.strict => Value::Read,
            _ => return None,
        };
        // What was read and compared with something by subtraction or by its bits.
        self.compares |= value == Value::Read;
        self.set(register, value);
        Some(())
    }

    /// `to` becomes an address.
    fn address_of(&mut self, to: usize, base: Option<usize>, index: Option<usize>) -> Option<()> {
        let of = |register: Option<usize>| register.map_or(Value::Same, |register| self.values[register]);
        let value = match (of(base), of(index)) {
            (Value::Same, Value::Same) if base == Some(to) || index == Some(to) => Value::Counter,
            (Value::Same, Value::Same) => Value::Same,
            (Value::Counter, Value::Same) if index.is_none() => Value::Counter,
            (Value::Same | Value::Read, Value::Same | Value::Read) => Value::Read,
            _ if !self.strict => Value::Read,
            _ => return None,
        };
        self.set(to, value);
        Some(())
    }

    /// The register and the place that an instruction names.
    fn modrm(&mut self, rex: u8) -> (usize, Place) {
        let byte = self.byte();
        let (mode, reg, rm) = (byte >> 6, usize::from(byte >> 3 & 7), usize::from(byte & 7));
        let reg = reg | usize::from(rex & 4) << 1;
        let mut base = Some(rm | usize::from(rex & 1) << 3);
        if mode == 3 {
            return (reg, Place::Register(rm | usize::from(rex & 1) << 3));
        }
        let mut index = None;
        let mut offset = [0, 1, 4][usize::from(mode)];
        if rm == RSP {
            let scaled = self.byte();
            let low = usize::from(scaled & 7);
            index = Some(usize::from(scaled >> 3 & 7) | usize::from(rex & 2) << 2).filter(|index| *index != RSP);
            base = Some(low | usize::from(rex & 1) << 3);
            if low == RBP && mode == 0 {
                (base, offset) = (None, 4);
            }
        } else if rm == RBP && mode == 0 {
            (base, offset) = (None, 4);
        }
        self.skip(offset);
        (reg, Place::Memory(base, index))
    }

    fn skip(&mut self, bytes: u64) {
        self.at = self.at.wrapping_add(bytes);
    }

    fn byte(&mut self) -> u8 {
        // SAFETY: within an instruction, by the promise to `step`.
        let byte = unsafe { ptr::read_volatile(self.at as *const u8) };
        self.skip(1);
        byte
    }

    fn signed(&mut self, size: u64) -> u64 {
        let value = (0..size).fold(0, |value, at| value | u64::from(self.byte()) << (8 * at));
        let unused = 64 - 8 * size as u32;
        ((value << unused) as i64 >> unused) as u64
    }
}
