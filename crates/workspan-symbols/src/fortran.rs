//! Names of Fortran procedures.
//!
//! | compiler | symbol | name |
//! |---|---|---|
//! | gfortran | `MAIN__` | main program |
//! | gfortran | `__solver_MOD_step` | solver::step |
//! | gfortran | `ext_` | ext |
//! | flang | `_QQmain` | main program |
//! | flang | `_QMsolverFstepPinner` | solver::step::inner |
//! | flang | `_QPext`, `ext_` | ext |
//!
//! Symbols are lower-case but for what the compilers add.

/// What the main program is called, whose own name no symbol has.
pub(crate) const MAIN_PROGRAM: &str = "main program";

/// The procedure that a mangled name stands for.
pub(crate) fn demangle(mangled: &str) -> Option<String> {
    match mangled {
        "MAIN__" | "_QQmain" => Some(MAIN_PROGRAM.to_owned()),
        _ => gfortran(mangled).or_else(|| flang(mangled)),
    }
}

fn gfortran(mangled: &str) -> Option<String> {
    let (module, procedure) = mangled.strip_prefix("__")?.split_once("_MOD_")?;
    let plain = |name: &str| !name.is_empty() && name.bytes().all(is_letter);
    (plain(module) && plain(procedure)).then(|| format!("{module}::{procedure}"))
}

/// After `_Q` each part has a letter for what it is: module, submodule, function or procedure, block.
fn flang(mangled: &str) -> Option<String> {
    let mut chars = mangled.strip_prefix("_Q")?.chars();
    let mut parts = Vec::new();
    while let Some(what) = chars.next() {
        let rest = chars.as_str();
        let length = rest.bytes().take_while(|byte| is_letter(*byte)).count();
        let (name, after) = rest.split_at(length);
        chars = after.chars();
        match what {
            // The main program has no name; blocks have only numbers.
            'F' if name.is_empty() => {}
            'B' => {}
            'M' | 'S' | 'F' | 'P' if !name.is_empty() => parts.push(name),
            _ => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("::"))
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'$'
}

/// True for symbols that only a program with Fortran in it has.
pub(crate) fn tells_of_fortran(symbol: &[u8]) -> bool {
    symbol == b"MAIN__"
        || symbol == b"_QQmain"
        || symbol.starts_with(b"_gfortran_")
        || symbol.starts_with(b"_FortranA")
        || symbol.starts_with(b"_QM")
}

/// The name of a procedure outside of modules, by its symbol: one underscore less.
pub(crate) fn external(symbol: &str) -> Option<&str> {
    symbol.strip_suffix('_').filter(|name| name.bytes().all(is_letter) && name.ends_with(|c| c != '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procedures() {
        for (mangled, expected) in [
            ("MAIN__", "main program"),
            ("__solver_MOD_step", "solver::step"),
            ("__my_mod_MOD_do_it", "my_mod::do_it"),
            ("_QQmain", "main program"),
            ("_QMsolverPstep", "solver::step"),
            ("_QMsolverFstepPinner", "solver::step::inner"),
            ("_QMsolverSimplPstep", "solver::impl::step"),
            ("_QFPdeep", "deep"),
            ("_QFouterPinner", "outer::inner"),
            ("_QPext", "ext"),
        ] {
            assert_eq!(demangle(mangled).as_deref(), Some(expected), "{mangled}");
        }
    }

    #[test]
    fn other_symbols() {
        for symbol in
            ["", "main", "_Q", "_QF", "__MOD_", "__libc_start_main", "_QEx", "_QMsolverEx", "_ZN1aE", "_QMä", "_Qä"]
        {
            assert_eq!(demangle(symbol), None, "{symbol}");
        }
    }

    #[test]
    fn externals() {
        assert_eq!(external("ext_"), Some("ext"));
        for symbol in ["ext", "_", "__", "ext__", "Ext_", ""] {
            assert_eq!(external(symbol), None, "{symbol}");
        }
    }
}
