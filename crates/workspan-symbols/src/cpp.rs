//! Names of C++ functions: without parameters and template arguments, and for a lambda that of the function around it.
//!
//! **Cost:** linear in what is written, of which [`MOST`] bytes are.

use std::fmt;

use cpp_demangle::{DemangleNodeType, DemangleOptions, DemangleWrite, Symbol};

/// Most bytes that demangling may write: substitutions can stand for each other, so that it doubles with every few
/// letters. No compiler's own names come near.
const MOST: usize = 1 << 16;

/// The function that a mangled name stands for. A bare type would be one, too: `f` is `float`, and a function of C.
pub(crate) fn demangle(mangled: &str) -> Option<String> {
    if !["_Z", "__Z", "_GLOBAL_"].iter().any(|begin| mangled.starts_with(begin)) {
        return None;
    }
    write(&Symbol::new(mangled).ok()?)
}

fn write<T: AsRef<[u8]>>(symbol: &Symbol<T>) -> Option<String> {
    let mut writer = Writer::default();
    let options = DemangleOptions::new().no_params().no_return_type();
    // Where it stops early, the beginning says enough.
    let _ = symbol.structured_demangle(&mut writer, &options);
    simplify(&writer.out)
}

/// Takes down what is outside of template arguments. Their brackets come just before and after their node.
#[derive(Default)]
struct Writer {
    out: String,
    written: usize,
    arguments: usize,
    closing: bool,
    nodes: Vec<DemangleNodeType>,
}

impl DemangleWrite for Writer {
    fn push_demangle_node(&mut self, node: DemangleNodeType) {
        if node == DemangleNodeType::TemplateArgs {
            if self.arguments == 0 {
                let open = self.out.strip_suffix('<').unwrap_or(&self.out).trim_end().len();
                self.out.truncate(open);
            }
            self.arguments += 1;
        }
        self.nodes.push(node);
    }

    fn write_string(&mut self, text: &str) -> fmt::Result {
        self.written = self.written.saturating_add(text.len());
        if self.written > MOST {
            return Err(fmt::Error);
        }
        if self.arguments == 0 {
            let text = if std::mem::take(&mut self.closing) { text.strip_prefix('>').unwrap_or(text) } else { text };
            self.out.push_str(text);
        }
        Ok(())
    }

    fn pop_demangle_node(&mut self) {
        if self.nodes.pop() == Some(DemangleNodeType::TemplateArgs) {
            self.arguments -= 1;
            self.closing = self.arguments == 0;
        }
    }
}

/// A path without lambdas and what is in them: the function in which they are written. `None` if nothing is left.
fn simplify(path: &str) -> Option<String> {
    let kept: Vec<&str> = parts(path).take_while(|part| !is_lambda(part)).map(bare).collect();
    Some(kept.join("::")).filter(|name| !name.is_empty())
}

/// A part of a path without parameters, which those functions have in which something else is defined, qualifiers, tags.
fn bare(part: &str) -> &str {
    let end = match sign_of_operator(part) {
        _ if part.starts_with('(') => None,
        0 => part.find([' ', '[', '(']),
        sign => part[sign..].find('(').map(|at| at + sign),
    };
    &part[..end.unwrap_or(part.len())]
}

/// `{lambda(int)#1}`, `'lambda'(int)`, `$_0`.
fn is_lambda(part: &str) -> bool {
    part.starts_with('{') || part.starts_with("'lambda") || part.starts_with("$_")
}

/// The parts of a path, between the `::` outside of brackets.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let text = rest?;
        let sign = sign_of_operator(text);
        // Of a conversion to a qualified type all belongs to its name.
        let whole = text.starts_with("operator ");
        let mut depth = 0_usize;
        for (at, byte) in text.bytes().enumerate().skip(sign) {
            match byte {
                b'(' | b'{' | b'[' | b'<' => depth += 1,
                b')' | b'}' | b']' | b'>' => depth = depth.saturating_sub(1),
                b':' if depth == 0 && !whole && text[at..].starts_with("::") => {
                    rest = Some(&text[at + 2..]);
                    return Some(&text[..at]);
                }
                _ => {}
            }
        }
        rest = None;
        Some(text)
    })
}

/// Bytes of `operator` and its sign, with which a name begins; 0 if it does not.
fn sign_of_operator(name: &str) -> usize {
    let Some(operator) = name.strip_prefix("operator") else {
        return 0;
    };
    let sign = if operator.starts_with("()") || operator.starts_with("[]") {
        2
    } else {
        operator.bytes().take_while(|byte| b"<>=!+-*/%^&|~,".contains(byte)).count()
    };
    name.len() - operator.len() + sign
}

/// The function in which the lambda is written that a class of tasks runs, or else the class that it runs: by the mangled name of the
/// class, as `std::type_info` has it. `None` if there is nothing but classes of libraries.
pub(crate) fn of_class(mangled: &str) -> Option<String> {
    // Local to a function: `Z`, the function's encoding, `E`.
    let mut local = mangled.match_indices('Z').filter_map(|(at, _)| {
        let name = format!("_Z{}", mangled.get(at..)?);
        let (symbol, _) = Symbol::with_tail(name.as_bytes()).ok()?;
        write(&symbol)
    });
    local.find(|name| !["tbb::", "std::", "__pstl::"].iter().any(|space| name.starts_with(space)))
}

/// The function that a compiler has named in the text of a program's own language.
pub(crate) fn told(name: &str) -> Option<String> {
    let kept: Vec<&str> =
        parts(name).filter_map(|part| if part.starts_with('(') { Some(part) } else { short(part) }).collect();
    Some(kept.join("::")).filter(|name| !name.is_empty())
}

/// A function's own name as debug information has it, without template arguments. `None` for a lambda.
pub(crate) fn short(name: &str) -> Option<&str> {
    match sign_of_operator(name) {
        0 => name.split(['<', '[', '(']).next().filter(|name| !name.is_empty()),
        // A name that only begins like one.
        8 if name[8..].starts_with(|c: char| c == '_' || c.is_ascii_alphanumeric()) => name.split('<').next(),
        // A call may be that of a lambda: then the lines around it say more.
        sign => Some(name).filter(|_| !name[..sign].ends_with("()")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lambdas_of_classes() {
        let check = |class: &str, expected: Option<&str>| assert_eq!(of_class(class).as_deref(), expected, "{class}");
        check("N3tbb6detail2d113function_taskIZ3fibiEUlvE_EE", Some("fib"));
        check("N3tbb6detail2d116function_invokerIZ4mainEUlvE2_NS1_16invoke_root_taskEEE", Some("main"));
        check("N3tbb6detail2d19start_forINS1_16quick_sort_rangeIPiSt4lessIiEEEE", None);
    }

    #[track_caller]
    fn check(mangled: &str, expected: &str) {
        assert_eq!(demangle(mangled).as_deref(), Some(expected));
    }

    #[test]
    fn functions() {
        check("_Z5solvei", "solve");
        check("_ZN3app4GridIdE5solveEv", "app::Grid::solve");
        check("_ZN12_GLOBAL__N_16Hidden2goEv", "(anonymous namespace)::Hidden::go");
        check("_ZN3app4GridIdED2Ev", "app::Grid::~Grid");
        check("_ZSt8for_eachIPiN3app4GridIdEEET0_T_S4_S3_", "std::for_each");
        check("_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector::size");
        check("_ZN3app4nameB5cxx11Ev", "app::name");
    }

    #[test]
    fn operators() {
        check("_ZNK3app4GridIdEltERKS1_", "app::Grid::operator<");
        check("_ZN3app4GridIdElsEi", "app::Grid::operator<<");
        check("_ZN3app4GridIdEptEv", "app::Grid::operator->");
        check("_ZN3app4GridIdEclEi", "app::Grid::operator()");
        check("_ZNK3app4GridIdEcvbEv", "app::Grid::operator bool");
        check("_ZN3app4GridcvSt4pairIiiEEv", "app::Grid::operator std::pair");
    }

    #[test]
    fn lambdas_are_their_functions() {
        check("_ZZ4mainENKUliE_clEi", "main");
        check("_ZZ4mainENK3$_0clEi", "main");
        check("_ZZZ4mainENK3$_0clEiENKUliE_clEi", "main");
        check("_ZZN3app4GridIdE5solveEvENKUlvE_clEv", "app::Grid::solve");
        check("_ZZ1fiENKUlvE_clEv", "f");
        check("_ZZN1XclEiENKUlvE_clEv", "X::operator()");
        check("_ZZN1XltEiENKUlvE_clEv", "X::operator<");
        check("_Z4callIZ4mainEUliE_EvT_", "call");
    }

    #[test]
    fn classes_within_functions() {
        check("_ZZ1fiEN5Local2goEv", "f::Local::go");
    }

    #[test]
    fn own_names() {
        assert_eq!(short("solve"), Some("solve"));
        assert_eq!(short("~Grid"), Some("~Grid"));
        assert_eq!(short("call<main()::<lambda(int)> >"), Some("call"));
        assert_eq!(short("operator<"), Some("operator<"));
        assert_eq!(short("operator bool"), Some("operator bool"));
        assert_eq!(short("operator_of<int>"), Some("operator_of"));
        assert_eq!(short("<lambda(int)>"), None);
        assert_eq!(short("operator()"), None);
        assert_eq!(short(""), None);
    }

    #[test]
    fn names_in_the_words_of_the_language() {
        for (name, expected) in [
            ("main", Some("main")),
            ("app::Grid<double>::solve", Some("app::Grid::solve")),
            ("app::Grid<std::pair<int, a::b>>::solve", Some("app::Grid::solve")),
            ("(anonymous namespace)::hidden", Some("(anonymous namespace)::hidden")),
            ("app::Grid<int>::operator<", Some("app::Grid::operator<")),
            ("app::Grid<int>::operator<<", Some("app::Grid::operator<<")),
            ("app::operator_of<int>", Some("app::operator_of")),
            ("app::Grid<int>::~Grid", Some("app::Grid::~Grid")),
            ("", None),
        ] {
            assert_eq!(told(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for name in ["", "_Z", "_ZN", "main", "_ZN3app", "_ZNSt", "__Z", "_Z999999999999f", "_ZNKUl"] {
            assert_eq!(demangle(name), None, "{name}");
        }
    }

    /// Each letter after the first doubles the type before it.
    #[test]
    fn names_that_double_come_to_an_end() {
        let pairs: String = (0..60)
            .map(|i| format!("S{}_S{}_", digit(i), digit(i)))
            .fold(String::new(), |all, pair| format!("1aI{all}{pair}E"));
        let _ = demangle(&format!("_Z1f{pairs}"));
        let deep = format!("_Z1f{}i", "P".repeat(100_000));
        let _ = demangle(&deep);
    }

    #[test]
    fn damaged_names_do_no_harm() {
        let names =
            ["_ZZZ4mainENK3$_0clEiENKUliE_clEi", "_ZSt8for_eachIPiN3app4GridIdEEET0_T_S4_S3_", "_ZNKcvSt4pairIiiEEv"];
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            usize::try_from(state >> 33).unwrap_or(0) % below
        };
        for round in 0..30_000 {
            let mut name = names[round % names.len()].as_bytes().to_vec();
            for _ in 0..1 + random(4) {
                let at = random(name.len());
                name[at] = b"_ZNKSTILEUdpc0123456789a$"[random(25)];
            }
            let name = String::from_utf8_lossy(&name);
            let _ = demangle(&name);
            let _ = (told(&name), short(&name));
        }
    }

    fn digit(n: usize) -> String {
        char::from_digit(u32::try_from(n % 36).unwrap_or(0), 36)
            .map_or(String::new(), |c| c.to_ascii_uppercase().into())
    }
}
