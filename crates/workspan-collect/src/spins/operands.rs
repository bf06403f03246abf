//! Instructions of loops that may poll: how they are written, and what they leave.

use core::ptr;

use super::values::{Operation, Other, Place, Value, Values, NUMBER, RAX, RBP, RDX, RSP};

/// Where an instruction leads.
#[derive(Debug)]
pub(super) enum Step {
    On(u64),
    /// A condition holds, or does not.
    Branch {
        next: u64,
        to: u64,
    },
    Call {
        next: u64,
        to: u64,
    },
    /// To where a library's table says.
    Far(u64),
    /// To whoever called.
    Return,
}

/// What reads a way's instructions one by one.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) values: Values,
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

impl Prefixes {
    /// Bytes of a number in the instruction.
    fn number(self) -> u64 {
        if self.short {
            2
        } else {
            4
        }
    }

    /// The register that is named by the opcode itself.
    fn register(self, opcode: u8) -> usize {
        usize::from(opcode & 7) | usize::from(self.rex & 1) << 3
    }

    /// For instructions that name one operand: what would be the register is part of the opcode.
    fn one(self) -> u8 {
        self.rex & !4
    }
}

fn operation(number: usize) -> Operation {
    match number & 7 {
        0 => Operation::Add,
        5 => Operation::Subtract,
        _ => Operation::Other,
    }
}

impl Reader {
    pub(super) fn new(values: Values) -> Reader {
        Reader { values, pauses: false, at: 0 }
    }

    /// What was read was compared, or it pauses.
    pub(super) fn looks(&self) -> bool {
        self.values.compares() || self.pauses
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
                0xf2 => {}
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
        match opcode {
            0x0f => return self.second(prefixes),
            0x50..=0x5f | 0x68 | 0x6a | 0xc3 | 0xc9 | 0xe8 => return self.stack(opcode, prefixes),
            0x70..=0x7f => {
                let by = self.signed(1) as u64;
                return Some(Step::Branch { next: self.at, to: self.at.wrapping_add(by) });
            }
            0xeb | 0xe9 => {
                let by = self.signed(if opcode == 0xeb { 1 } else { 4 }) as u64;
                self.at = self.at.wrapping_add(by);
            }
            0xff => return self.by_register(prefixes),
            _ => self.plain(opcode, prefixes)?,
        }
        Some(Step::On(self.at))
    }

    /// Instructions of one byte that go on behind themselves.
    fn plain(&mut self, opcode: u8, prefixes: Prefixes) -> Option<()> {
        let number = prefixes.number();
        match opcode {
            0x90 => self.pauses |= prefixes.repeated,
            // Arithmetic of a register or memory and a register, in both directions.
            0x00..=0x03 | 0x08..=0x0b | 0x20..=0x23 | 0x28..=0x2b | 0x30..=0x33 => {
                let (reg, place) = self.modrm(prefixes.rex);
                let reg = Place::Register(reg);
                let (to, from) = if opcode & 2 != 0 { (reg, place) } else { (place, reg) };
                let itself = matches!((to, from), (Place::Register(to), Place::Register(from)) if to == from);
                if itself && matches!(opcode >> 3, 5 | 6) {
                    return self.values.store(to, NUMBER);
                }
                self.values.arithmetic(operation((opcode >> 3).into()), to, Other::Of(from))?;
            }
            0x38..=0x3b | 0x84 | 0x85 => {
                let (reg, place) = self.modrm(prefixes.rex);
                self.values.compare(place, Other::Of(Place::Register(reg)))?;
            }
            0x04 | 0x05 | 0x0c | 0x0d | 0x24 | 0x25 | 0x2c | 0x2d | 0x34 | 0x35 => {
                let by = self.signed(if opcode & 1 == 0 { 1 } else { number });
                self.values.arithmetic(operation((opcode >> 3).into()), Place::Register(RAX), Other::Number(by))?;
            }
            0x3c | 0x3d | 0xa8 | 0xa9 => {
                let by = self.signed(if opcode & 1 == 0 { 1 } else { number });
                self.values.compare(Place::Register(RAX), Other::Number(by))?;
            }
            0x63 | 0x8a | 0x8b => {
                let (reg, place) = self.modrm(prefixes.rex);
                let value = self.values.value(place)?;
                self.values.set(reg, value);
            }
            0x88 | 0x89 => {
                let (reg, place) = self.modrm(prefixes.rex);
                let value = self.values.value(Place::Register(reg))?;
                self.values.store(place, value)?;
            }
            0x8d => {
                let (reg, place) = self.modrm(prefixes.rex);
                self.values.address_of(reg, place)?;
            }
            0x80 | 0x81 | 0x83 => {
                let (reg, place) = self.modrm(prefixes.one());
                let by = Other::Number(self.signed(if opcode == 0x81 { number } else { 1 }));
                match (reg, place) {
                    (7, place) => self.values.compare(place, by)?,
                    // A fence, on the stack.
                    (1, Place::Memory(Some(RSP), None, _)) if prefixes.locked => {}
                    _ => self.values.arithmetic(operation(reg), place, by)?,
                }
            }
            // A register is widened, or its sign.
            0x98 => {}
            0x99 => {
                let value = self.values.value(Place::Register(RAX))?;
                self.values.set(RDX, value);
            }
            0xc6 | 0xc7 => {
                let (0, place) = self.modrm(prefixes.one()) else { return None };
                self.skip(if opcode == 0xc6 { 1 } else { number });
                self.values.store(place, NUMBER)?;
            }
            0xf6 | 0xf7 => {
                let (0, place) = self.modrm(prefixes.one()) else { return None };
                let by = self.signed(if opcode == 0xf6 { 1 } else { number });
                self.values.compare(place, Other::Number(by))?;
            }
            0xfe => {
                let (step @ (0 | 1), place) = self.modrm(prefixes.one()) else { return None };
                self.values.arithmetic(operation(step * 5), place, Other::Number(1))?;
            }
            0xc0 | 0xc1 | 0xd0 | 0xd1 => {
                let (_, place) = self.modrm(prefixes.one());
                self.skip(u64::from(opcode < 0xd0));
                self.values.arithmetic(Operation::Other, place, Other::Number(1))?;
            }
            0xb0..=0xbf => {
                let wide = if prefixes.rex & 8 != 0 { 8 } else { number };
                self.skip(if opcode < 0xb8 { 1 } else { wide });
                self.values.set(prefixes.register(opcode), NUMBER);
            }
            // An attempt to take a lock.
            0x86 | 0x87 => {
                let (reg, place) = self.modrm(prefixes.rex);
                let Place::Memory(..) = place else { return None };
                let value = self.values.value(place)?;
                self.values.set(reg, value);
            }
            _ => return None,
        }
        Some(())
    }

    /// What saves and restores, calls and returns.
    fn stack(&mut self, opcode: u8, prefixes: Prefixes) -> Option<Step> {
        match opcode {
            0x50..=0x57 => {
                let value = self.values.value(Place::Register(prefixes.register(opcode)))?;
                self.values.push(value)?;
            }
            0x58..=0x5f => {
                let value = self.values.pop()?;
                self.values.set(prefixes.register(opcode), value);
            }
            0xc9 => self.values.leave()?,
            0xc3 => {
                self.values.pop()?;
                return Some(Step::Return);
            }
            0xe8 => {
                let by = self.signed(4) as u64;
                self.values.push(NUMBER)?;
                return Some(Step::Call { next: self.at, to: self.at.wrapping_add(by) });
            }
            _ => {
                self.skip(if opcode == 0x6a { 1 } else { 4 });
                self.values.push(NUMBER)?;
            }
        }
        Some(Step::On(self.at))
    }

    /// What a byte of 255 begins: steps, and calls and jumps by way of the table of a library's functions.
    fn by_register(&mut self, prefixes: Prefixes) -> Option<Step> {
        let begin = self.at;
        let (what, place) = self.modrm(prefixes.one());
        match (what, place) {
            (0 | 1, place) => self.values.arithmetic(operation(what * 5), place, Other::Number(1))?,
            (6, place) => {
                let value = self.values.value(place)?;
                self.values.push(value)?;
            }
            (2 | 4, Place::Memory(None, None, offset)) if self.byte_at(begin) & 0xc7 == 0x05 => {
                let entry = self.at.wrapping_add(offset as u64);
                // SAFETY: the instruction reads it each time that it runs, and the loader has put it into the same file.
                let to = unsafe { ptr::read_unaligned(entry as *const u64) };
                if what == 4 {
                    return Some(Step::Far(to));
                }
                self.values.push(NUMBER)?;
                return Some(Step::Call { next: self.at, to });
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
            // If a condition holds.
            0x40..=0x4f => {
                let (reg, place) = self.modrm(prefixes.rex);
                let (old, new) = (self.values.value(Place::Register(reg))?, self.values.value(place)?);
                let value = self.values.of_both(old, new)?;
                self.values.set(reg, value);
            }
            0x80..=0x8f => {
                let by = self.signed(4) as u64;
                return Some(Step::Branch { next: self.at, to: self.at.wrapping_add(by) });
            }
            0x90..=0x9f => {
                let (_, place) = self.modrm(prefixes.one());
                self.values.store(place, self.values.flags())?;
            }
            0xb6 | 0xb7 | 0xbe | 0xbf => {
                let (reg, place) = self.modrm(prefixes.rex);
                let value = self.values.value(place)?;
                self.values.set(reg, value);
            }
            // A bit is looked at.
            0xa3 => {
                let (reg, place) = self.modrm(prefixes.rex);
                self.values.compare(place, Other::Of(Place::Register(reg)))?;
            }
            0xba => {
                let (4, place) = self.modrm(prefixes.one()) else { return None };
                let by = self.signed(1);
                self.values.compare(place, Other::Number(by))?;
            }
            // An attempt to take a lock.
            0xb0 | 0xb1 => {
                let (_, place) = self.modrm(prefixes.rex);
                let Place::Memory(..) = place else { return None };
                let value = self.values.value(place)?;
                self.values.set(RAX, value);
                self.values.decide(Value::Read);
            }
            // Fences.
            0xae if matches!(self.byte(), 0xe8 | 0xf0 | 0xf8) => {}
            _ => return None,
        }
        Some(Step::On(self.at))
    }

    /// The register and the place that an instruction names. Of what lies near the instruction: how far.
    fn modrm(&mut self, rex: u8) -> (usize, Place) {
        let byte = self.byte();
        let (mode, reg, rm) = (byte >> 6, usize::from(byte >> 3 & 7), usize::from(byte & 7));
        let reg = reg | usize::from(rex & 4) << 1;
        let mut base = Some(rm | usize::from(rex & 1) << 3);
        if mode == 3 {
            return (reg, Place::Register(rm | usize::from(rex & 1) << 3));
        }
        let mut index = None;
        let mut size = [0, 1, 4][usize::from(mode)];
        if rm == RSP {
            let scaled = self.byte();
            let low = usize::from(scaled & 7);
            index = Some(usize::from(scaled >> 3 & 7) | usize::from(rex & 2) << 2).filter(|index| *index != RSP);
            base = Some(low | usize::from(rex & 1) << 3);
            if low == RBP && mode == 0 {
                (base, size) = (None, 4);
            }
        } else if rm == RBP && mode == 0 {
            (base, size) = (None, 4);
        }
        let offset = self.signed(size);
        (reg, Place::Memory(base, index, offset))
    }

    fn skip(&mut self, bytes: u64) {
        self.at = self.at.wrapping_add(bytes);
    }

    fn byte(&mut self) -> u8 {
        let byte = self.byte_at(self.at);
        self.skip(1);
        byte
    }

    fn byte_at(&self, at: u64) -> u8 {
        // SAFETY: within an instruction, by the promise to `step`.
        unsafe { ptr::read_volatile(at as *const u8) }
    }

    /// A number of `size` bytes.
    fn signed(&mut self, size: u64) -> i64 {
        if size == 0 {
            return 0;
        }
        let value = (0..size).fold(0, |value, at| value | u64::from(self.byte()) << (8 * at));
        let unused = 64 - 8 * size as u32;
        (value << unused) as i64 >> unused
    }
}
