//! What instructions name: registers, memory, numbers.

use core::ptr;

const RSP: usize = 4;
const RBP: usize = 5;

/// Stores that are kept aside.
const STORES: usize = 8;

/// General registers, as far as they are known.
pub(in super::super) type Registers = [Option<u64>; 16];

/// Where an operand is.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Register(usize),
    Memory(Option<u64>),
}

/// Registers and memory as far as they are known.
pub(super) struct Machine {
    pub(super) at: u64,
    pub(super) registers: Registers,
    /// Address, size and value.
    pub(super) stores: [(u64, u64, Option<u64>); STORES],
    pub(super) kept: usize,
    /// What flags are of: both sides, and whether of 64 bits.
    pub(super) compared: Option<(u64, u64, bool)>,
    /// Of the division that was met: signed, of 64 bits.
    pub(super) division: (bool, bool),
}

impl Machine {
    /// Before the instruction at `at`.
    pub(super) fn at(at: u64, registers: Registers) -> Machine {
        Machine { at, registers, stores: [(0, 0, None); STORES], kept: 0, compared: None, division: (false, false) }
    }

    pub(super) fn read(&self, place: Place, size: u64) -> Option<u64> {
        let value = match place {
            Place::Register(register) => self.registers[register]?,
            Place::Memory(address) => self.load(address?, size)?,
        };
        Some(if size < 8 { value & ((1 << (8 * size)) - 1) } else { value })
    }

    pub(super) fn load(&self, address: u64, size: u64) -> Option<u64> {
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
            // SAFETY: the thread is about to read there itself, by the promise to `iterations`: it takes the branches before.
            *byte = unsafe { ptr::read_volatile((address as *const u8).wrapping_add(offset)) };
        }
        Some(u64::from_le_bytes(bytes))
    }

    pub(super) fn write(&mut self, place: Place, value: Option<u64>, wide: bool) {
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

    pub(super) fn keep(&mut self, address: u64, size: u64, value: Option<u64>) -> Option<()> {
        *self.stores.get_mut(self.kept)? = (address, size, value);
        self.kept += 1;
        Some(())
    }

    /// The register and the place that an instruction names; `more` bytes of it follow.
    pub(super) fn modrm(&mut self, rex: u8, more: u64) -> Option<(usize, Place)> {
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

    pub(super) fn byte(&mut self) -> u8 {
        // SAFETY: code that the thread is about to run, by the promise to `iterations`: it takes the branches before.
        let byte = unsafe { ptr::read_volatile(self.at as *const u8) };
        self.at = self.at.wrapping_add(1);
        byte
    }

    /// Sign-extended.
    pub(super) fn immediate(&mut self, size: u64) -> u64 {
        let value = (0..size).fold(0, |value, at| value | u64::from(self.byte()) << (8 * at));
        sign(value, size)
    }

    pub(super) fn word(&mut self) -> u64 {
        (0..8).fold(0, |value, at| value | u64::from(self.byte()) << (8 * at))
    }
}

/// Bytes of a register, or of its lower half.
pub(super) const fn width(wide: bool) -> u64 {
    if wide {
        8
    } else {
        4
    }
}

/// A number of this size, sign-extended.
pub(super) fn sign(value: u64, size: u64) -> u64 {
    let unused = 64 - 8 * size as u32;
    ((value << unused) as i64 >> unused) as u64
}
