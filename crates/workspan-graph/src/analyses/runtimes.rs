//! Whose code it is: the program's, or that of a runtime that is compiled into it, as templates of oneTBB's headers and generic
//! functions of rayon.
//!
//! A runtime's code runs within the runtime's own order, which it makes itself. An operation is a runtime's if the innermost
//! function that is none of the standard library's lies in one of its files: what the program passes to a runtime is the program's,
//! wherever it was inlined. Functions of the standard library that were not inlined, as in a program that is not optimised, are whose
//! call runs them: [`Owners`] follows the calls of each context.
//! **Cost:** a walk up the inlined calls for each place of a module, once; a comparison for each segment, a list of frames for each context.

use std::rc::Rc;

use workspan_trace::control::Kind;
use workspan_trace::program::{flag, Module, NONE};
use workspan_trace::rust_names;

use crate::contexts::Contexts;
use crate::events::Control;
use crate::replay::Executed;

/// Parts of paths of standard libraries.
const STANDARD: [&str; 5] = ["/include/c++/", "/rustc/", "library/core/", "library/alloc/", "library/std/"];
/// Parts of paths of runtimes. The keys of hash tables are variables of threads, which no program sees.
const RUNTIMES: [&str; 4] =
    ["/oneapi/tbb/", "/crossbeam-deque-", "/crossbeam-utils-", "library/std/src/hash/random.rs"];
/// Of those whose atomic operations order tasks by accident: which happened to run before which. The run-time's events say what these
/// order by design.
const SCHEDULERS: [&str; 2] = ["/rayon-core-", "/crossbeam-epoch-"];

/// Parts of names of functions of runtimes, where nobody else says whose code it is.
const NAMES: [&str; 1] = ["crossbeam_deque"];
const NAMES_OF_SCHEDULERS: [&str; 2] = ["rayon_core", "crossbeam_epoch"];

/// Whose code it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Owner {
    /// The program's.
    #[default]
    Program,
    /// A runtime's.
    Runtime,
    /// A runtime's that schedules.
    Scheduler,
}

/// Whose code is what of a module; nothing: the standard library's, throughout.
#[derive(Debug)]
struct Code {
    places: Vec<Option<Owner>>,
    operations: Vec<Option<Owner>>,
    functions: Vec<Option<Owner>>,
    /// Whose functions are if nobody says.
    named: Vec<Owner>,
    /// Functions in which no other code was inlined than the standard library's.
    pure: Vec<bool>,
}

impl Code {
    fn of(module: &Module) -> Code {
        let mut places: Vec<Option<Owner>> = Vec::with_capacity(module.places.len());
        for place in &module.places {
            let found = of_file(module.text(place.file));
            // An earlier place: it is known.
            let found = found.or_else(|| places.get(place.inlined_at as usize).copied().flatten());
            places.push(found);
        }
        let mut code = Code {
            places,
            operations: vec![None; module.operations.len()],
            functions: vec![],
            named: vec![],
            pure: vec![],
        };
        for function in &module.functions {
            let named = of_name(&function.name);
            let unknown = if rust_names::path(&function.name).is_some() { None } else { Some(named) };
            code.functions.push(if function.place == NONE { unknown } else { code.at(function.place) });
            code.named.push(named);
        }
        code.pure = code.functions.iter().map(Option::is_none).collect();
        for segment in &module.segments {
            let function = code.functions.get(segment.function as usize).copied().flatten();
            let first = segment.first as usize;
            for (number, operation) in (first..).zip(module.operations_of(segment)) {
                // Code that the compiler made up is the function's.
                code.operations[number] = code.at(operation.place).or(function);
                if let Some(pure) = code.pure.get_mut(segment.function as usize) {
                    *pure &= code.operations[number].is_none();
                }
            }
        }
        code
    }

    fn at(&self, place: u32) -> Option<Owner> {
        self.places.get(place as usize).copied().flatten()
    }
}

fn of_file(file: &str) -> Option<Owner> {
    if is_in(file, &RUNTIMES) {
        Some(Owner::Runtime)
    } else if is_in(file, &SCHEDULERS) {
        Some(Owner::Scheduler)
    } else if is_in(file, &STANDARD) {
        None
    } else {
        Some(Owner::Program)
    }
}

fn of_name(name: &str) -> Owner {
    if is_in(name, &NAMES_OF_SCHEDULERS) {
        Owner::Scheduler
    } else if is_in(name, &NAMES) {
        Owner::Runtime
    } else {
        Owner::Program
    }
}

fn is_in(text: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| text.contains(part))
}

/// A function that runs.
#[derive(Clone, Copy, Debug)]
struct Frame {
    module: u32,
    function: u32,
    address: u64,
    owner: Owner,
    pure: bool,
}

#[derive(Debug, Default)]
struct Stack {
    frames: Vec<Frame>,
    /// Whose call it is that the last segment ends in.
    calls: Option<Owner>,
    returns: bool,
}

/// Whose code contexts run.
#[derive(Debug, Default)]
pub struct Owners {
    modules: Vec<Option<Rc<Code>>>,
    stacks: Contexts<Stack>,
}

/// Whose the operations of a segment are that was executed.
#[derive(Clone, Debug)]
pub struct Owned {
    code: Rc<Code>,
    caller: Owner,
}

impl Owned {
    /// Whose an operation is.
    pub fn operation(&self, number: u32) -> Owner {
        self.code.operations.get(number as usize).copied().flatten().unwrap_or(self.caller)
    }
}

impl Owners {
    /// A segment is executed.
    pub fn segment(&mut self, executed: &Executed<'_>) -> Owned {
        let module = executed.module_number as usize;
        if self.modules.len() <= module {
            self.modules.resize(module + 1, None);
        }
        let code = self.modules[module].get_or_insert_with(|| Rc::new(Code::of(&executed.module.module)));
        let code = Rc::clone(code);
        let stack = self.stacks.get(executed.context);
        stack.arrive(&code, executed);
        let caller = stack.frames.last().map_or(Owner::Program, |frame| frame.owner);
        let flags = executed.segment.flags;
        stack.calls = (flags & flag::CALL != 0).then(|| code.at(executed.segment.call_place).unwrap_or(caller));
        stack.returns = flags & flag::RETURN != 0 && flags & flag::CALL == 0;
        Owned { code, caller }
    }

    /// A control event of a context.
    pub fn control(&mut self, context: u32, control: &Control) {
        if control.kind == Kind::End {
            self.stacks.remove(context);
        }
    }

    /// True if a context runs a function of the standard library for a scheduler. What is inlined, the pass has decided.
    pub fn schedules(&self, context: u32) -> bool {
        let frame = self.stacks.known(context).and_then(|stack| stack.frames.last());
        frame.is_some_and(|frame| frame.pure && frame.owner == Owner::Scheduler)
    }
}

impl Stack {
    fn arrive(&mut self, code: &Code, executed: &Executed<'_>) {
        let (module, function) = (executed.module_number, executed.segment.function);
        if std::mem::take(&mut self.returns) {
            self.frames.pop();
        }
        let is_here = |frame: &Frame| (frame.module, frame.function) == (module, function);
        let is_entry = executed.segment.flags & flag::ENTRY != 0;
        if !is_entry && executed.frame.is_none() && self.frames.last().is_some_and(is_here) {
            return;
        }
        let own = code.functions.get(function as usize).copied().flatten();
        let named = code.named.get(function as usize).copied().unwrap_or_default();
        let pure = code.pure.get(function as usize) == Some(&true);
        if is_entry {
            let address = executed.frame.unwrap_or(0);
            while self.frames.last().is_some_and(|frame| frame.address <= address) {
                self.frames.pop();
            }
            let caller = self.calls.or_else(|| self.frames.last().map(|frame| frame.owner));
            let owner = own.or(caller).unwrap_or(named);
            self.frames.push(Frame { module, function, address, owner, pure });
            return;
        }
        if let Some(address) = executed.frame {
            while self.frames.last().is_some_and(|frame| frame.address < address) {
                self.frames.pop();
            }
        }
        if let Some(at) = self.frames.iter().rposition(is_here) {
            self.frames.truncate(at + 1);
            return;
        }
        // Entered before the recording, or the task, began.
        let address = self.frames.last().map_or(u64::MAX, |frame| frame.address);
        self.frames.push(Frame { module, function, address, owner: own.unwrap_or(named), pure });
    }
}
