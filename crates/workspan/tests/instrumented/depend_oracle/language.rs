//! How the three languages write the same program, line by line.

use super::interpreter::{X, Y};

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    C,
    /// Counters of loops have no variable that is read, and parameters are references.
    Fortran,
    /// Variables without an address are values; memory is read and written as volatile, since rustc removes what repeats.
    Rust,
}

use Language::{Fortran, Rust, C};

impl Language {
    /// True if accesses to such a variable of a call are compared.
    pub(super) fn keeps(self, variable: usize) -> bool {
        match self {
            C => true,
            Fortran => variable == X || variable == Y,
            Rust => false,
        }
    }

    /// True if the report of such a variable is compared.
    pub(super) fn wants(self, name: &str) -> bool {
        let is_counter = name.starts_with('i') || name == "n";
        match self {
            C => true,
            Fortran => !is_counter,
            Rust => !is_counter && name != "x" && name != "y",
        }
    }

    /// What stands before all programs; one line.
    pub(super) fn begin_file(self) -> &'static str {
        match self {
            C => "",
            Fortran => "module programs; use objects; contains",
            Rust => "#![allow(warnings)] static mut ONE: u32 = 1;",
        }
    }

    /// A file of its own with the objects, and the end of the other one: its first program begins all.
    pub(super) fn end_file(self, calls: &[String]) -> (String, String) {
        let calls = calls.join("\n");
        match self {
            C => (String::new(), format!("int main(void) {{\n{calls}\nreturn 0; }}\n")),
            Rust => (String::new(), format!("fn main() {{ unsafe {{\n{calls}\n}} }}\n")),
            Fortran => {
                let objects: String = (0..calls.lines().count())
                    .map(|program| format!("integer :: A{program}(0:7) = 0, B{program}(0:7) = 0, g{program} = 0\n"))
                    .collect();
                let calls =
                    calls.lines().map(|call| format!("call {}\n", call.trim_end_matches(';'))).collect::<String>();
                (
                    format!("module objects\n{objects}end module\n"),
                    format!("end module\nprogram main\nuse programs\n{calls}end program\n"),
                )
            }
        }
    }

    /// Objects of a program.
    pub(super) fn declarations(self, program: u64) -> String {
        match self {
            C => format!("static unsigned A{program}[8], B{program}[8], g{program};"),
            Fortran => String::new(),
            Rust => format!(
                "static mut A{program}: [u32; 8] = [0; 8]; static mut B{program}: [u32; 8] = [0; 8]; static mut g{program}: u32 = 0;"
            ),
        }
    }

    pub(super) fn begin_function(self, name: &str, is_main: bool) -> String {
        match (self, is_main) {
            (C, true) => format!("static void {name}(void) {{"),
            (C, false) => format!("static void {name}(unsigned *p, unsigned n) {{"),
            (Fortran, true) => format!("subroutine {name}()"),
            (Fortran, false) => format!("subroutine {name}(p, n)"),
            (Rust, true) => format!("unsafe fn {name}() {{"),
            (Rust, false) => format!("unsafe fn {name}(p: *mut u32, n: u32) {{"),
        }
    }

    /// Variables of a function; one line.
    pub(super) fn locals(self, is_main: bool) -> String {
        match (self, is_main) {
            (C, true) => "unsigned n = 0, x = 0, y = 0;".to_owned(),
            (C, false) => "unsigned x = 0, y = 0;".to_owned(),
            (Fortran, _) => {
                let parameters = if is_main { "integer :: n" } else { "integer :: p(0:3); integer, value :: n" };
                let n = if is_main { "n = 0; " } else { "" };
                format!("{parameters}; integer :: x, y, i0, i1, i2; {n}x = 0; y = 0")
            }
            (Rust, _) => {
                let n = if is_main { "let n = 0u32; " } else { "" };
                format!("{n}let (mut x, mut y) = (0u32, 0u32);")
            }
        }
    }

    pub(super) fn end_function(self) -> &'static str {
        if self == Fortran {
            "end subroutine"
        } else {
            "}"
        }
    }

    pub(super) fn begin_for(self, depth: usize, times: u32) -> String {
        match self {
            C => format!("for (unsigned i{depth} = 0; i{depth} < {times}; i{depth}++) {{"),
            Fortran => format!("do i{depth} = 0, {}", times - 1),
            Rust => format!("for i{depth} in 0..{times}u32 {{"),
        }
    }

    pub(super) fn end_for(self) -> &'static str {
        if self == Fortran {
            "end do"
        } else {
            "}"
        }
    }

    pub(super) fn begin_if(self, condition: &str) -> String {
        match self {
            C => format!("if (({condition}) & 1) {{"),
            Fortran => format!("if (iand({condition}, 1) == 1) then"),
            // Not known beforehand: the compiler would copy what follows for each outcome, and each copy is a place of its own.
            Rust => format!("if ({condition}) & (&raw mut ONE).read_volatile() == 1 {{"),
        }
    }

    pub(super) fn end_if(self) -> &'static str {
        if self == Fortran {
            "end if"
        } else {
            "}"
        }
    }

    /// An element; `mask`: greatest index.
    pub(super) fn element(self, array: &str, index: &str, mask: u32) -> String {
        match self {
            C => format!("{array}[({index}) & {mask}]"),
            Fortran => format!("{array}(iand({index}, {mask}))"),
            Rust if array == "p" => format!("p.add((({index}) & {mask}) as usize)"),
            Rust => format!("(&raw mut {array}[(({index}) & {mask}) as usize])"),
        }
    }

    /// What an object or element holds.
    pub(super) fn read(self, place: &str) -> String {
        match self {
            Rust if place.starts_with('g') => format!("(&raw mut {place}).read_volatile()"),
            Rust => format!("{place}.read_volatile()"),
            _ => place.to_owned(),
        }
    }

    pub(super) fn assign(self, place: &str, value: &str, is_memory: bool) -> String {
        match self {
            C => format!("{place} = {value};"),
            Fortran => format!("{place} = {value}"),
            Rust if !is_memory => format!("{place} = {value};"),
            Rust if place.starts_with('g') => format!("(&raw mut {place}).write_volatile({value});"),
            Rust => format!("{place}.write_volatile({value});"),
        }
    }

    /// The address of an element of an object.
    pub(super) fn address(self, array: &str, offset: u32) -> String {
        match self {
            C => format!("{array} + {offset}"),
            Fortran => format!("{array}({offset})"),
            Rust => format!("(&raw mut {array}).cast::<u32>().add({offset})"),
        }
    }

    pub(super) fn call(self, function: &str, base: &str, value: &str) -> String {
        match self {
            Fortran => format!("call {function}({base}, {value})"),
            _ => format!("{function}({base}, {value});"),
        }
    }
}
