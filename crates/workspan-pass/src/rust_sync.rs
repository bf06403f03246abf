//! Functions of Rust's standard library that wait for other threads, or let them go on, and are compiled already.
//!
//! What the library does in its generic functions is instrumented as the program is. Where a lock is held by another thread, a
//! condition or a barrier is waited for, something is initialised once, or a scope's thread ends, it calls functions that are not.
//! Their calls are noted as atomic operations of the same words that the instrumented part uses: so both sides meet. What a function
//! does with a word besides is not seen, and needs not be: it releases before, or acquires after, all that it does.
//!
//! `Once` marks its word as done before it returns, so that what it calls has to release it: the closure that it is given, an object
//! of `dyn FnMut(&OnceState)`, is passed in an object of the run-time, which calls it and releases the word.

use crate::atomics::Order;
use crate::llvm::{opcode, type_kind, Llvm, Ref};
use crate::ways::lead_to;

const ACQUIRES: Order = Order { releases: false, acquires: true };
const RELEASES: Order = Order { releases: true, acquires: false };
const BOTH: Order = Order { releases: true, acquires: true };

/// What the call of a function orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Module and method, as symbols have them.
    name: (&'static str, &'static str),
    /// The argument that points to the words.
    pub argument: u32,
    /// The argument is a reference to a pointer to them.
    pub through: bool,
    /// Where the words are: where the library's order of members is not known, all that it may be.
    pub offsets: &'static [usize],
    /// What it does to them.
    pub order: Order,
    /// Calls a closure first, the argument with its table of functions after that.
    pub closure: Option<u32>,
}

const fn rule(module: &'static str, method: &'static str, offsets: &'static [usize], order: Order) -> Rule {
    Rule { name: (module, method), argument: 0, through: false, offsets, order, closure: None }
}

const RULES: &[Rule] = &[
    rule("4sync5mutex5futex", "5Mutex14lock_contended", &[0], ACQUIRES),
    rule("4sync6rwlock5futex", "6RwLock14read_contended", &[0, 4], ACQUIRES),
    rule("4sync6rwlock5futex", "6RwLock15write_contended", &[0, 4], ACQUIRES),
    Rule { argument: 1, ..rule("4sync7condvar5futex", "7Condvar4wait", &[0], BOTH) },
    Rule { argument: 1, ..rule("4sync7condvar5futex", "7Condvar12wait_timeout", &[0], BOTH) },
    rule("4sync7barrier", "7Barrier4wait", &[0], BOTH),
    rule("6thread6scoped", "9ScopeData29decrement_num_running_threads", &[0, 8, 16], RELEASES),
    rule("4sync4once5futex", "4Once4wait", &[0], ACQUIRES),
    Rule { closure: Some(2), ..rule("4sync4once5futex", "4Once4call", &[0], ACQUIRES) },
    Rule { through: true, ..rule("6thread6thread", "6Thread4park", &[16, 20, 24, 28, 32, 36, 40, 44], ACQUIRES) },
];

impl Rule {
    fn fits(&self, symbol: &str) -> bool {
        let (module, method) = self.name;
        let Some((_, rest)) =
            symbol.split_once("3std").filter(|_| symbol.starts_with("_R") || symbol.starts_with("_ZN"))
        else {
            return false;
        };
        let ends = |rest: &str| rest.is_empty() || rest.starts_with("17h");
        rest.contains(module) && rest.rsplit_once(method).is_some_and(|(_, rest)| ends(rest))
    }
}

/// What the call of a function orders that is compiled elsewhere.
pub fn of(llvm: &Llvm, call: Ref) -> Option<Rule> {
    let callee = llvm.callee(call).filter(|callee| llvm.is_declaration(*callee) != 0)?;
    let name = llvm.name(callee);
    let rule = RULES.iter().find(|rule| rule.fits(&name))?;
    let is_pointer = |at: u32| {
        at < llvm.arguments(call) && llvm.type_kind(llvm.type_of(llvm.operand(call, at))) == type_kind::POINTER
    };
    let fits = is_pointer(rule.argument) && rule.closure.is_none_or(|at| is_pointer(at) && is_pointer(at + 1));
    fits.then_some(*rule)
}

/// Gives each way on from a call of these a block of its own, where what is noted after the call has its place.
pub fn make_room(llvm: &Llvm, module: Ref) {
    let context = llvm.context_of(module);
    let builder = llvm.create_builder(context);
    for function in llvm.functions(module) {
        let blocks = if llvm.is_declaration(function) == 0 { llvm.blocks(function) } else { Vec::new() };
        for block in &blocks {
            let invoke = llvm.terminator(*block);
            if invoke.is_null() || llvm.opcode(invoke) != opcode::INVOKE || of(llvm, invoke).is_none() {
                continue;
            }
            let next = llvm.successor(invoke, 0);
            if lead_to(llvm, &blocks, next) < 2 {
                continue;
            }
            let between = llvm.append_block(context, function, c"".as_ptr());
            llvm.position_at_end(builder, between);
            llvm.build_br(builder, next);
            llvm.set_successor(invoke, 0, between);
            for phi in llvm.instructions(next).into_iter().filter(|each| llvm.opcode(*each) == opcode::PHI) {
                llvm.position_before(builder, phi);
                let other = llvm.build_phi(builder, llvm.type_of(phi), c"".as_ptr());
                for at in 0..llvm.incoming_count(phi) {
                    let from = llvm.incoming_block(phi, at);
                    let from = if from == *block { between } else { from };
                    llvm.add_incoming(other, [llvm.incoming_value(phi, at)].as_mut_ptr(), [from].as_mut_ptr(), 1);
                }
                llvm.replace_uses(phi, other);
                llvm.erase(phi);
            }
        }
    }
    llvm.dispose_builder(builder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(symbol: &str, expected: Option<&str>) {
        assert_eq!(RULES.iter().find(|rule| rule.fits(symbol)).map(|rule| rule.name.1), expected, "{symbol}");
    }

    #[test]
    fn functions_are_known_by_both_forms_of_symbols() {
        let locked = Some("5Mutex14lock_contended");
        check("_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended", locked);
        check("_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE", locked);
        check("_RNvMs0_NtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync4once5futexNtB5_4Once4call", Some("4Once4call"));
        check("_RNvMs0_NtNtCsjrHSEGnQ3l9_3std4sync7barrierNtB5_7Barrier4wait", Some("7Barrier4wait"));
        check("_ZN3std4sync6poison7condvar7Condvar4wait17h0123456789abcdefE", None);
        check("_RNvCsjrHSEGnQ3l9_4prog5Mutex14lock_contended", None);
        check("pthread_mutex_lock", None);
    }
}
