//! What registers and the stack hold along a way through a loop, as far as it matters.
//!
//! Addresses within the stack are known relative to where the stack pointer was, so that what unoptimised code keeps there, and what
//! functions save, counts as registers do.

pub(super) const RAX: usize = 0;
pub(super) const RDX: usize = 2;
pub(super) const RSP: usize = 4;
pub(super) const RBP: usize = 5;

/// Registers.
const REGISTERS: usize = 16;
/// Places of the stack that a way may write.
const SLOTS: usize = 32;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// What was in these places when the way began, by bit; or what was made of it alone.
    Same { places: u64, made: bool },
    /// What was read, this time, from a place that is the same each time.
    Read,
    /// What was read the time before, or else has changed since.
    Before,
    /// Counts by fixed steps.
    Counter,
    /// An address within the stack: how far from where the stack pointer was.
    Stack(i64),
}

/// A number of the program's text.
pub(super) const NUMBER: Value = Value::Same { places: 0, made: false };

/// Where an operand is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Register(usize),
    /// By which registers, one and another times something; and how far from there.
    Memory(Option<usize>, Option<usize>, i64),
}

/// What an arithmetic instruction does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Add,
    Subtract,
    /// Of bits.
    Other,
}

/// The other operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Other {
    Of(Place),
    Number(i64),
}

/// Registers, and places of the stack.
#[derive(Debug)]
pub(super) struct Values {
    /// Of registers, and of places of the stack.
    values: [Value; REGISTERS + SLOTS],
    /// Where in the stack.
    slots: [i64; SLOTS],
    used: usize,
    /// Values matter.
    strict: bool,
    /// What the last comparison was of.
    flags: Value,
    compares: bool,
}

impl Values {
    /// To find a way, from where the frame pointer lies so far from the stack pointer.
    pub(super) fn loose(frame: Option<i64>) -> Values {
        let values = core::array::from_fn(initial);
        let mut loose = Values { values, slots: [0; SLOTS], used: 0, strict: false, flags: NUMBER, compares: false };
        loose.set(RSP, Value::Stack(0));
        if let Some(frame) = frame {
            loose.set(RBP, Value::Stack(frame));
        }
        loose
    }

    /// To judge the way that these have found, from where the two [pointers](Values::pointers) are `at`.
    pub(super) fn strict(&self, at: [Value; 2]) -> Values {
        let mut strict = Values { slots: self.slots, used: self.used, strict: true, ..Values::loose(None) };
        for (register, value) in [RSP, RBP].into_iter().zip(at) {
            if let Value::Stack(_) = value {
                strict.set(register, value);
            }
        }
        strict
    }

    /// Stack pointer and frame pointer.
    pub(super) fn pointers(&self) -> [Value; 2] {
        [self.values[RSP], self.values[RBP]]
    }

    /// The way begins again: what stays the same is known now.
    pub(super) fn begin(&mut self) {
        let mut constant = 0;
        for (place, value) in self.values.iter().enumerate() {
            constant |= u64::from(*value == initial(place)) << place;
        }
        for (place, value) in self.values.iter_mut().enumerate() {
            *value = match *value {
                Value::Same { places, .. } if places & !constant == 0 => initial(place),
                Value::Same { places, .. } if places == 1 << place => Value::Counter,
                Value::Same { .. } | Value::Read => Value::Before,
                other => other,
            };
        }
        self.compares = false;
    }

    /// What was read was compared, since it began.
    pub(super) fn compares(&self) -> bool {
        self.compares
    }

    pub(super) fn set(&mut self, register: usize, value: Value) {
        self.values[register] = value;
    }

    /// What is read there; none if it is at another place each time.
    pub(super) fn value(&self, place: Place) -> Option<Value> {
        let (base, index) = match place {
            Place::Register(register) => return Some(self.values[register]),
            Place::Memory(base, index, _) => (base, index),
        };
        if let Some(slot) = self.slot(place) {
            return Some(self.known(slot).map_or(Value::Read, |known| self.values[known]));
        }
        let moves = |register: Option<usize>| {
            register.is_some_and(|register| matches!(self.values[register], Value::Counter | Value::Before))
        };
        (!self.strict || !moves(base) && !moves(index)).then_some(Value::Read)
    }

    /// `value` is written there; none if others see it.
    pub(super) fn store(&mut self, place: Place, value: Value) -> Option<()> {
        let place = match place {
            Place::Register(register) => register,
            Place::Memory(..) => {
                let at = self.slot(place)?;
                match self.known(at) {
                    Some(known) => known,
                    None => {
                        *self.slots.get_mut(self.used)? = at;
                        self.used += 1;
                        REGISTERS + self.used - 1
                    }
                }
            }
        };
        self.set(place, value);
        Some(())
    }

    /// Which place of the stack it is.
    fn slot(&self, place: Place) -> Option<i64> {
        let Place::Memory(Some(base), None, offset) = place else { return None };
        let Value::Stack(at) = self.values[base] else { return None };
        Some(at.wrapping_add(offset))
    }

    fn known(&self, slot: i64) -> Option<usize> {
        self.slots.iter().take(self.used).position(|at| *at == slot).map(|place| REGISTERS + place)
    }

    pub(super) fn push(&mut self, value: Value) -> Option<()> {
        let Value::Stack(top) = self.values[RSP] else { return None };
        self.set(RSP, Value::Stack(top.wrapping_sub(8)));
        self.store(Place::Memory(Some(RSP), None, 0), value)
    }

    pub(super) fn pop(&mut self) -> Option<Value> {
        let Value::Stack(top) = self.values[RSP] else { return None };
        let value = self.value(Place::Memory(Some(RSP), None, 0));
        self.set(RSP, Value::Stack(top.wrapping_add(8)));
        value
    }

    /// `leave`.
    pub(super) fn leave(&mut self) -> Option<()> {
        self.set(RSP, self.values[RBP]);
        let saved = self.pop()?;
        self.set(RBP, saved);
        Some(())
    }

    pub(super) fn compare(&mut self, left: Place, right: Other) -> Option<()> {
        let left = self.value(left)?;
        let right = self.other(right)?;
        let value = match (left, right) {
            (Value::Counter, _) | (_, Value::Counter) => Value::Counter,
            (Value::Read | Value::Before, _) | (_, Value::Read | Value::Before) => Value::Read,
            _ => made(left, right),
        };
        self.decide(value);
        Some(())
    }

    /// It goes on by what was found of this: of something read, that is a look.
    pub(super) fn decide(&mut self, value: Value) {
        self.flags = value;
        self.compares |= value == Value::Read;
    }

    /// What the last comparison was of.
    pub(super) fn flags(&self) -> Value {
        self.flags
    }

    /// `to` becomes what arithmetic makes of it and `from`.
    pub(super) fn arithmetic(&mut self, operation: Operation, to: Place, from: Other) -> Option<()> {
        let value = self.value(to)?;
        let other = self.other(from)?;
        let value = match (value, other, operation, from) {
            (Value::Stack(at), _, Operation::Add, Other::Number(by)) => Value::Stack(at.wrapping_add(by)),
            (Value::Stack(at), _, Operation::Subtract, Other::Number(by)) => Value::Stack(at.wrapping_sub(by)),
            // Steps are of one size.
            (Value::Counter, Value::Same { .. }, Operation::Add | Operation::Subtract, _) => Value::Counter,
            _ => self.of_both(value, other)?,
        };
        // What was read and compared with something by subtraction or by its bits.
        self.decide(value);
        self.store(to, value)
    }

    /// Either of both, or what is made of both.
    pub(super) fn of_both(&self, left: Value, right: Value) -> Option<Value> {
        match (left, right) {
            (Value::Same { .. }, Value::Same { .. }) => Some(made(left, right)),
            (Value::Same { .. } | Value::Read, Value::Same { .. } | Value::Read) => Some(Value::Read),
            _ => (!self.strict).then_some(Value::Read),
        }
    }

    fn other(&self, other: Other) -> Option<Value> {
        match other {
            Other::Of(place) => self.value(place),
            Other::Number(_) => Some(NUMBER),
        }
    }

    /// `to` becomes an address.
    pub(super) fn address_of(&mut self, to: usize, place: Place) -> Option<()> {
        let Place::Memory(base, index, offset) = place else { return None };
        let of = |register: Option<usize>| register.map_or(NUMBER, |register| self.values[register]);
        let value = match (of(base), of(index)) {
            (Value::Stack(at), _) if index.is_none() => Value::Stack(at.wrapping_add(offset)),
            (Value::Counter, Value::Same { .. }) if index.is_none() => Value::Counter,
            (left, _) if index.is_none() && offset == 0 => left,
            (left, right) => self.of_both(left, right)?,
        };
        self.set(to, value);
        Some(())
    }
}

/// What is there when a way begins.
fn initial(place: usize) -> Value {
    Value::Same { places: 1 << place, made: false }
}

/// What is made of both, if both are the same each time.
fn made(left: Value, right: Value) -> Value {
    let places = |value| match value {
        Value::Same { places, .. } => places,
        _ => 0,
    };
    Value::Same { places: places(left) | places(right), made: true }
}
