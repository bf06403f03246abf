//! Conversions between what a variable holds and what is computed: which of them an update may have.
//!
//! **Argument:** a sum may drop bits only where the variable has none. The greatest value is the same before and after a conversion only
//! if that keeps the order of all values that are compared.

use workspan_trace::facts::Update;

use crate::alike::{same, DEEPEST};
use crate::llvm::{opcode, type_kind, Llvm, Ref};
use crate::locals::users;

/// LLVM's predicates of integers.
const EQUAL: i32 = 32;
const NOT_EQUAL: i32 = 33;

/// Bits of an integer.
pub(crate) fn width(llvm: &Llvm, value: Ref) -> Option<u32> {
    let ty = llvm.type_of(value);
    (llvm.type_kind(ty) == type_kind::INTEGER).then(|| llvm.int_width(ty))
}

/// The number that an address holds.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'l> {
    pub(crate) llvm: &'l Llvm,
    /// Bits of an integer.
    pub(crate) width: Option<u32>,
    /// Whether the variable has a sign, if its type is known.
    pub(crate) signed: Option<bool>,
}

impl Stored<'_> {
    /// True for a conversion that changes no number but by the bits that it keeps. Between integers and others it rounds, in an order of
    /// its own.
    fn is_plain(code: i32) -> bool {
        let is_cast = (opcode::FIRST_CAST..=opcode::LAST_CAST).contains(&code);
        is_cast && !opcode::ROUNDING.contains(&code) || code == opcode::FREEZE
    }

    /// What a value is without conversions, and without the test that makes a truth value of it.
    pub(crate) fn strip(&self, mut value: Ref) -> Ref {
        let llvm = self.llvm;
        for _ in 0..DEEPEST {
            if llvm.is_a_instruction(value).is_null() {
                break;
            }
            let code = llvm.opcode(value);
            let inner = if Self::is_plain(code) || code == opcode::ICMP { llvm.operand(value, 0) } else { break };
            // A truth value that is used as a number is no longer the number that it was made of.
            let is_number = code == opcode::ZEXT && !llvm.is_a_instruction(inner).is_null();
            if is_number && llvm.opcode(inner) == opcode::ICMP && !self.is_stored(value)
                || code == opcode::ICMP && llvm.is_null(llvm.operand(value, 1)) == 0
            {
                break;
            }
            value = inner;
        }
        value
    }

    pub(crate) fn is_bit(&self, value: Ref) -> bool {
        let ty = self.llvm.type_of(value);
        self.llvm.type_kind(ty) == type_kind::INTEGER && self.llvm.int_width(ty) == 1
    }

    /// True if a value goes to memory.
    fn is_stored(&self, value: Ref) -> bool {
        users(self.llvm, value).into_iter().all(|user| self.llvm.opcode(user) == opcode::STORE)
    }

    /// What a value is without conversions that drop no bits of an integer.
    fn widened(&self, mut value: Ref) -> Ref {
        let llvm = self.llvm;
        for _ in 0..DEEPEST {
            let is_instruction = !llvm.is_a_instruction(value).is_null();
            if !is_instruction || !Self::is_plain(llvm.opcode(value)) || llvm.opcode(value) == opcode::TRUNC {
                break;
            }
            value = llvm.operand(value, 0);
        }
        value
    }

    /// How a value has been made wider: with its sign, or with zeros.
    fn extension(&self, mut value: Ref) -> Option<i32> {
        let llvm = self.llvm;
        for _ in 0..DEEPEST {
            let code = (!llvm.is_a_instruction(value).is_null()).then(|| llvm.opcode(value))?;
            match code {
                opcode::ZEXT | opcode::SEXT => return Some(code),
                _ if Self::is_plain(code) => value = llvm.operand(value, 0),
                _ => return None,
            }
        }
        None
    }

    /// True if the conversions on the way from a value to one inside it leave an update what it is.
    pub(crate) fn allows(&self, outer: Ref, inner: Ref, update: Update) -> bool {
        let (llvm, mut at) = (self.llvm, outer);
        while at != inner {
            let next = llvm.operand(at, 0);
            let allowed = match llvm.opcode(at) {
                opcode::TRUNC => self.allows_fewer_bits(at, next, update),
                opcode::ICMP => llvm.predicate(at) == NOT_EQUAL && self.allows_test(inner, update),
                _ => true,
            };
            if !allowed {
                return false;
            }
            at = next;
        }
        true
    }

    fn allows_fewer_bits(&self, narrow: Ref, wide: Ref, update: Update) -> bool {
        let llvm = self.llvm;
        // All that a truth value in memory holds is one bit.
        let is_load = !llvm.is_a_instruction(wide).is_null() && llvm.opcode(wide) == opcode::LOAD;
        if self.is_bit(narrow) && is_load {
            return true;
        }
        match update {
            Update::Max | Update::Min => false,
            Update::Sum | Update::Product => width(llvm, narrow) >= self.width,
            _ => true,
        }
    }

    /// True for a comparison of two truth values that is an exclusive or: whether they differ. Fortran's `.eqv.` is one that is turned round
    /// each time; C and Rust have no operator for it.
    pub(crate) fn is_difference(&self, comparison: Ref) -> bool {
        let llvm = self.llvm;
        let sides = [0, 1].map(|side| llvm.operand(comparison, side));
        match llvm.predicate(comparison) {
            NOT_EQUAL => sides.iter().all(|side| self.is_zero_or_one(*side, 0)),
            // Only Fortran compares bits, and keeps what that gives in a number.
            EQUAL => self.width.is_some_and(|bits| bits >= 32) && sides.iter().all(|side| self.is_bit(*side)),
            _ => false,
        }
    }

    /// True if an update of a number may end in a test whether that is zero.
    fn allows_test(&self, inner: Ref, update: Update) -> bool {
        match update {
            Update::Sum | Update::Max | Update::Min => false,
            Update::Xor => self.is_zero_or_one(inner, 0),
            _ => true,
        }
    }

    fn is_zero_or_one(&self, value: Ref, depth: usize) -> bool {
        let llvm = self.llvm;
        if self.is_bit(value) || matches!(llvm.constant(value), Some(0 | 1)) {
            return true;
        }
        if depth > DEEPEST || llvm.is_a_instruction(value).is_null() {
            return false;
        }
        let is = |at: u32| self.is_zero_or_one(llvm.operand(value, at), depth + 1);
        match llvm.opcode(value) {
            opcode::ZEXT | opcode::TRUNC => is(0),
            opcode::AND => is(0) || is(1),
            opcode::OR | opcode::XOR => is(0) && is(1),
            opcode::LOAD => self.is_truth(value),
            _ => false,
        }
    }

    /// True for a use that takes no more than a bit.
    pub(crate) fn takes_bit(&self, user: Ref) -> bool {
        self.llvm.opcode(user) == opcode::TRUNC && self.is_bit(user)
    }

    /// True for a load of which only the truth is used: C keeps it in a bit, Fortran in whether the number is zero.
    fn is_truth(&self, load: Ref) -> bool {
        let llvm = self.llvm;
        let tests = |user: &Ref| llvm.opcode(*user) == opcode::ICMP && llvm.is_null(llvm.operand(*user, 1)) != 0;
        users(llvm, load).iter().all(|user| self.takes_bit(*user) || tests(user))
    }

    /// True if a value that is compared is the one that is taken: the same bits, widened in the same way.
    pub(crate) fn is_equal(&self, compared: Ref, taken: Ref) -> bool {
        let own = self.extension(taken);
        same(self.llvm, self.widened(compared), self.widened(taken), 0)
            && own.is_none_or(|own| Some(own) == self.extension(compared))
    }

    /// True if what was there and another value are compared in the order of the variable's type. `signed`: the comparison has a sign; none:
    /// it is one of real numbers.
    pub(crate) fn agrees(&self, signed: Option<bool>, ours: Ref, other: Ref) -> bool {
        let Some(signed) = signed else { return true };
        let llvm = self.llvm;
        let own = self.extension(ours);
        let has_order = match own {
            Some(opcode::SEXT) => signed && self.signed != Some(false),
            Some(_) => self.signed != Some(true),
            None => self.signed.is_none_or(|own| own == signed),
        };
        let is_as_wide = width(llvm, self.widened(ours)) == width(llvm, self.widened(other));
        let is_constant = llvm.constant(other).is_some();
        has_order && (!is_as_wide || is_constant || own == self.extension(other))
    }

    /// True if all that a choice may give are numbers of the variable's type that were made wider to be compared: then nothing is lost
    /// where they are made as narrow again.
    pub(crate) fn fits(&self, value: Ref, loads: &[Ref], depth: usize) -> bool {
        let llvm = self.llvm;
        if depth > DEEPEST || llvm.is_a_instruction(value).is_null() {
            return false;
        }
        let all = |sides: [Ref; 2]| sides.into_iter().all(|side| self.fits(side, loads, depth + 1));
        match llvm.opcode(value) {
            opcode::SELECT => all([llvm.operand(value, 1), llvm.operand(value, 2)]),
            opcode::CALL if llvm.arguments(value) == 2 => all([llvm.operand(value, 0), llvm.operand(value, 1)]),
            opcode::PHI if llvm.incoming_count(value) == 2 => {
                all([llvm.incoming_value(value, 0), llvm.incoming_value(value, 1)])
            }
            code @ (opcode::ZEXT | opcode::SEXT) => {
                let from = width(llvm, llvm.operand(value, 0));
                let is_own =
                    || loads.iter().all(|load| users(llvm, *load).iter().all(|user| llvm.opcode(*user) == code));
                code == opcode::ZEXT && from < self.width || from <= self.width && is_own()
            }
            _ => false,
        }
    }
}
