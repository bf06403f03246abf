//! From symbols to the names of functions.

use crate::{cpp, fortran, path};

/// The function that a symbol stands for, without generic arguments, and without closures and what compilers make of parts
/// of it (`.cold`, `.omp_outlined`, `._omp_fn.0`). `None` for code that only a compiler has a name for.
pub fn function(symbol: &str) -> Option<String> {
    if is_outlined(symbol) {
        return None;
    }
    let name = match rustc_demangle::try_demangle(symbol) {
        // The alternate form leaves out the hash.
        Ok(name) => path::simplify(&format!("{name:#}")),
        Err(_) => {
            let whole = without_suffix(symbol);
            match cpp::demangle(whole).or_else(|| fortran::demangle(whole)) {
                Some(name) => name,
                None => path::simplify(symbol),
            }
        }
    };
    Some(name).filter(|name| !name.is_empty())
}

/// True for code that clang has moved out of a function without keeping its name.
pub(crate) fn is_outlined(symbol: &str) -> bool {
    symbol.starts_with(".omp") || symbol.starts_with("__omp_")
}

/// Without what a compiler has appended.
fn without_suffix(symbol: &str) -> &str {
    &symbol[..symbol.len() - suffix(symbol).len()]
}

/// What a compiler has appended.
pub(crate) fn suffix(symbol: &str) -> &str {
    match symbol.find('.') {
        Some(at) if at > 0 => &symbol[at..],
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(symbol: &str, expected: Option<&str>) {
        assert_eq!(function(symbol).as_deref(), expected);
    }

    #[test]
    fn languages() {
        check("main", Some("main"));
        for name in ["a", "f", "i", "v", "Sa", "Dn", "std", "P1x"] {
            check(name, Some(name));
        }
        check("_ZN3app4GridIdE5solveEv", Some("app::Grid::solve"));
        check(
            "_ZN4core3ops8function6FnOnce9call_once17h0123456789abcdefE",
            Some("core::ops::function::FnOnce::call_once"),
        );
        check("_RNvC3fib4main", Some("fib::main"));
        check("__solver_MOD_step", Some("solver::step"));
        check("_QMsolverPstep", Some("solver::step"));
    }

    #[test]
    fn parts_of_functions() {
        check("main.omp_outlined", Some("main"));
        check("main.omp_outlined_debug__", Some("main"));
        check("tasks._omp_fn.1", Some("tasks"));
        check("_ZN3app4GridIdE5solveEv.omp_outlined.3", Some("app::Grid::solve"));
        check("_ZZ4mainENK3$_0clEi._omp_fn.0", Some("main"));
        check("MAIN__._omp_fn.0", Some("main program"));
        check("__solver_MOD_step._omp_fn.0", Some("solver::step"));
        check("_QMsolverPstep..omp_par.1", Some("solver::step"));
        check("_QQmain..omp_par", Some("main program"));
        check("inner.0", Some("inner"));
        check("main.cold", Some("main"));
    }

    #[test]
    fn nobodys_functions() {
        check(".omp_outlined.", None);
        check(".omp_outlined..7", None);
        check(".omp_task_entry..3", None);
        check("", None);
    }
}
