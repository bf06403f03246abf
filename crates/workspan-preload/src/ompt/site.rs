//! Which place of the program a construct is.
//!
//! The runtime gives a return address. Better is what clang and flang pass to its entry points with every construct
//! ([`super::interpose`]): file, function, line and column, which neither tail calls nor unrolling can confuse.

use core::ffi::{c_void, CStr};

use workspan_collect::region::{CallSite, Place, Told};
use workspan_wire::site::SiteKind;

use super::noted::{Entry, Ident};

/// The site of a construct with return address `after`.
pub fn call_site(kind: SiteKind, entry: Entry, after: *const c_void) -> CallSite {
    CallSite { kind, place: place(entry, after), type_name: || "" }
}

/// Its place.
#[inline(always)]
pub(super) fn place(entry: Entry, after: *const c_void) -> Place {
    // The instruction after the call may belong to the next statement.
    let call = (after as u64).saturating_sub(1);
    let body = entry.body as u64;
    if has_source(entry.ident) {
        // Should the compiler leave the file out (flang), the unit of that place says more than the address of a call,
        // which may be inlined from anywhere.
        Place::Told { key: entry.ident as u64, address: 0, tell }
    } else {
        // gcc has the call stand at the statement before the directive, and the body's beginning at the directive.
        Place::Address(if body == 0 || !entry.ident.is_null() { call } else { body })
    }
}

/// True if the compiler has said where in the source a construct is.
pub(super) fn has_source(ident: *const Ident) -> bool {
    // SAFETY: null or what the compiler passed: a constant of the program.
    let Some(ident) = (unsafe { ident.as_ref() }) else {
        return false;
    };
    if ident.source.is_null() {
        return false;
    }
    // Without debug information the text is ";unknown;unknown;0;0;;".
    let unknown = b";unknown;";
    let mut at = ident.source.cast::<u8>();
    for byte in unknown {
        // SAFETY: a terminated text, of the compiler's; all bytes before this one were not its end.
        if unsafe { *at } != *byte {
            return true;
        }
        // SAFETY: not past the end, as the byte was not the terminating one.
        at = unsafe { at.add(1) };
    }
    false
}

/// Takes the compiler's text apart.
fn tell(key: u64) -> Told {
    // SAFETY: the key is the address of an `Ident` with a source, a constant of the program.
    let ident = unsafe { &*(key as *const Ident) };
    // SAFETY: as in `has_source`.
    let text: &'static CStr = unsafe { CStr::from_ptr(ident.source) };
    let text = core::str::from_utf8(text.to_bytes()).unwrap_or("");
    parse(text)
}

/// ";file;function;line;column;;" — a file name may hold semicolons itself.
fn parse(text: &'static str) -> Told {
    let text = text.strip_prefix(';').unwrap_or(text).trim_end_matches(';');
    let mut parts = text.rsplitn(4, ';');
    let mut next = || parts.next().unwrap_or("");
    let (column, line, function, file) = (next(), next(), next(), next());
    Told { file, function, line: line.parse().unwrap_or(0), column: column.parse().unwrap_or(0), address: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_text() {
        let told = parse(";src/a.c;spawn;12;3;;");
        assert_eq!((told.file, told.function, told.line, told.column), ("src/a.c", "spawn", 12, 3));
        let told = parse(";odd;name.c;f;1;2;;");
        assert_eq!((told.file, told.function, told.line, told.column), ("odd;name.c", "f", 1, 2));
        let told = parse("nonsense");
        assert_eq!((told.line, told.column), (0, 0));
    }
}
