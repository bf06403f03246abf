//! The functions of the symbol table, by address. Line tables alone name only functions into which others were inlined;
//! without any debug information there is nothing else.

use object::{Object, ObjectSymbol, SymbolKind};

use crate::fortran;

/// All functions that have a size, by address.
#[derive(Debug)]
pub(crate) struct Symbols<'s> {
    table: Vec<Entry<'s>>,
    fortran: bool,
}

#[derive(Debug)]
struct Entry<'s> {
    begin: u64,
    end: u64,
    name: &'s [u8],
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol<'s> {
    /// Position in the table.
    pub(crate) index: usize,
    /// Mangled.
    pub(crate) name: &'s [u8],
    /// Of its first instruction.
    pub(crate) address: u64,
}

impl<'s> Symbols<'s> {
    pub(crate) fn of(file: &'s object::File<'s>) -> Symbols<'s> {
        let mut symbols = Symbols { table: Vec::new(), fortran: false };
        // A stripped library still has the table for the loader.
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let Ok(name) = symbol.name_bytes() else {
                continue;
            };
            symbols.fortran |= fortran::tells_of_fortran(name);
            if symbol.kind() == SymbolKind::Text && symbol.size() > 0 && symbol.is_definition() {
                let begin = symbol.address();
                symbols.table.push(Entry { begin, end: begin.saturating_add(symbol.size()), name });
            }
        }
        // Of several for the same code that of the first table counts: it also has those that are not for others.
        symbols.table.sort_by_key(|entry| (entry.begin, entry.end));
        symbols.table.dedup_by(|later, first| later.begin == first.begin && later.end == first.end);
        symbols
    }

    /// True if a Fortran compiler made any of it.
    pub(crate) fn has_fortran(&self) -> bool {
        self.fortran
    }

    /// The function at an address.
    pub(crate) fn at(&self, address: u64) -> Option<Symbol<'s>> {
        let index = self.table.partition_point(|entry| entry.begin <= address).checked_sub(1)?;
        let Entry { begin, end, name } = self.table.get(index)?;
        (address < *end).then_some(Symbol { index, name, address: *begin })
    }
}
