//! Code of runtimes that is compiled into the program: templates of oneTBB's headers, generic functions of rayon.
//!
//! Such code runs within the runtime's own order, which it makes itself. An operation is a runtime's if the innermost function
//! that is none of the standard library's lies in one of its files: what the program passes to a runtime is the program's,
//! wherever it was inlined. **Cost:** a walk up the inlined calls for each place of a module, once.

use workspan_trace::program::{Module, NONE};

/// Parts of paths of standard libraries.
const STANDARD: [&str; 5] = ["/include/c++/", "/rustc/", "library/core/", "library/alloc/", "library/std/"];
/// Parts of paths of runtimes.
const RUNTIMES: [&str; 5] =
    ["/oneapi/tbb/", "/rayon-core-", "/crossbeam-deque-", "/crossbeam-epoch-", "/crossbeam-utils-"];

/// Parts of names of functions of runtimes, where all places in them are the standard library's.
const NAMES: [&str; 3] = ["rayon_core", "crossbeam_deque", "crossbeam_epoch"];

/// For each operation of a module whether it is a runtime's.
pub fn operations(module: &Module) -> Vec<bool> {
    let mut places: Vec<Option<bool>> = Vec::with_capacity(module.places.len());
    for place in &module.places {
        let file = module.text(place.file);
        let found = if is_in(file, &STANDARD) {
            // An earlier place: it is known.
            places.get(place.inlined_at as usize).copied().flatten()
        } else {
            Some(is_in(file, &RUNTIMES))
        };
        places.push(found);
    }
    let of = |place: u32| if place == NONE { None } else { places.get(place as usize).copied().flatten() };
    let mut found = vec![false; module.operations.len()];
    for segment in &module.segments {
        let function = module.functions.get(segment.function as usize);
        let first = segment.first as usize;
        for (number, operation) in (first..).zip(module.operations_of(segment)) {
            // Code that the compiler made up is the function's.
            let known = of(operation.place).or_else(|| of(function?.place));
            found[number] = known.or_else(|| Some(is_in(&function?.name, &NAMES))).unwrap_or(false);
        }
    }
    found
}

fn is_in(file: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| file.contains(part))
}
