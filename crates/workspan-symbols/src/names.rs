//! Names of scopes.
//!
//! A scope is named by its linkage name, which has the whole path; if the compiler has left that out, as rustc does with
//! line tables only, by the symbol at its address; and for calls that were inlined, which have no symbol, by their short
//! name. Closures, and code that a compiler has moved out of its function, then have no name at all.
//!
//! **Cost:** each entry, each symbol and each mangled name is looked at once.

use std::collections::HashMap;

use gimli::{AttributeValue, UnitOffset};

use crate::budget::Stop;
use crate::executable::Slice;
use crate::scopes::Scope;
use crate::symbols::{Symbol, Symbols};
use crate::units::{CompileUnit, Units};
use crate::{cpp, demangle, fortran, path};

/// Most entries through which a name is sought: inlined call, abstract function, declaration.
const MAX_HOPS: usize = 16;

/// Position among the names.
pub(crate) type NameId = usize;

/// A function's name, without generic arguments and closures.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub(crate) text: String,
    /// Only the last part of the path is known.
    pub(crate) short: bool,
}

/// What an entry says about its name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EntryName<'s> {
    Linkage(&'s [u8]),
    Short(&'s [u8]),
    None,
}

/// All names met so far.
#[derive(Debug)]
pub(crate) struct Names<'s> {
    symbols: Symbols<'s>,
    names: Vec<Name>,
    ids: HashMap<Name, NameId>,
    mangled: HashMap<&'s [u8], Option<NameId>>,
    /// By whether it is of C++.
    short: HashMap<(bool, &'s [u8]), Option<NameId>>,
    by_symbol: HashMap<usize, Option<NameId>>,
    /// By offset in `.debug_info`.
    entries: HashMap<usize, EntryName<'s>>,
}

impl<'s> Names<'s> {
    pub(crate) fn new(symbols: Symbols<'s>) -> Names<'s> {
        Names {
            symbols,
            names: Vec::new(),
            ids: HashMap::new(),
            mangled: HashMap::new(),
            short: HashMap::new(),
            by_symbol: HashMap::new(),
            entries: HashMap::new(),
        }
    }

    pub(crate) fn get(&self, id: NameId) -> &Name {
        &self.names[id]
    }

    /// The symbol at an address.
    pub(crate) fn symbol(&self, address: u64) -> Option<Symbol<'s>> {
        self.symbols.at(address)
    }

    /// The name of a scope; `None` for a closure that has none.
    pub(crate) fn of_scope(
        &mut self,
        units: &Units<'s>,
        unit: &CompileUnit<'s>,
        scope: &Scope,
    ) -> Result<Option<NameId>, Stop> {
        let entry = self.of_entry(units, unit, scope.entry)?;
        if let EntryName::Linkage(name) = entry {
            return self.demangled(units, name);
        }
        if scope.parent.is_none() {
            if let Some(name) = self.of_symbol(units, scope.address)? {
                return Ok(Some(name));
            }
        }
        match entry {
            // Of code that they have moved out of a function, compilers know only symbols.
            EntryName::Short(name) if name.starts_with(b"_Z") || name.starts_with(b"_Q") => self.demangled(units, name),
            EntryName::Short(name) => self.shortened(units, unit, name),
            EntryName::Linkage(_) | EntryName::None => Ok(None),
        }
    }

    /// The name of the symbol at an address.
    pub(crate) fn of_symbol(&mut self, units: &Units<'s>, address: u64) -> Result<Option<NameId>, Stop> {
        let Some(symbol) = self.symbols.at(address) else {
            return Ok(None);
        };
        if let Some(id) = self.by_symbol.get(&symbol.index) {
            return Ok(*id);
        }
        let name = self.demangled(units, symbol.name)?;
        self.by_symbol.insert(symbol.index, name);
        Ok(name)
    }

    fn of_entry(
        &mut self,
        units: &Units<'s>,
        unit: &CompileUnit<'s>,
        entry: UnitOffset,
    ) -> Result<EntryName<'s>, Stop> {
        let key = unit.start.saturating_add(entry.0);
        if let Some(name) = self.entries.get(&key) {
            return Ok(*name);
        }
        let name = read_name(units, unit, entry)?;
        self.entries.insert(key, name);
        Ok(name)
    }

    fn demangled(&mut self, units: &Units<'s>, mangled: &'s [u8]) -> Result<Option<NameId>, Stop> {
        if let Some(id) = self.mangled.get(mangled) {
            return Ok(*id);
        }
        let raw = String::from_utf8_lossy(mangled);
        let own = fortran::external(&raw).filter(|_| self.symbols.has_fortran());
        let text = own.map(str::to_owned).or_else(|| demangle::function(&raw));
        units.budget.charge(mangled.len() + text.as_ref().map_or(0, String::len))?;
        let id = text.and_then(|text| self.intern(text, false));
        self.mangled.insert(mangled, id);
        Ok(id)
    }

    fn shortened(&mut self, units: &Units<'s>, unit: &CompileUnit<'s>, name: &'s [u8]) -> Result<Option<NameId>, Stop> {
        let key = (unit.is_cpp(), name);
        if let Some(id) = self.short.get(&key) {
            return Ok(*id);
        }
        units.budget.charge(name.len())?;
        let raw = String::from_utf8_lossy(name);
        let text = match key {
            _ if demangle::is_outlined(&raw) => None,
            (true, _) => cpp::short(&raw).map(str::to_owned),
            (false, _) => Some(path::simplify(&raw)),
        };
        let id = text.and_then(|text| self.intern(text, true));
        self.short.insert(key, id);
        Ok(id)
    }

    fn intern(&mut self, text: String, short: bool) -> Option<NameId> {
        let name = Name { text, short };
        if name.text.is_empty() {
            return None;
        }
        let next = self.names.len();
        let id = *self.ids.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        });
        Some(id)
    }
}

/// Follows an entry to the one that has the name.
pub(crate) fn read_name<'s>(
    units: &Units<'s>,
    unit: &CompileUnit<'s>,
    entry: UnitOffset,
) -> Result<EntryName<'s>, Stop> {
    let mut name = EntryName::None;
    let mut unit = unit;
    let mut entry = entry;
    for _ in 0..MAX_HOPS {
        let mut next = None;
        let mut entries = unit.unit.entries_raw(Some(entry))?;
        let Some(abbreviation) = entries.read_abbreviation()? else {
            return Ok(name);
        };
        units.budget.charge(1 + abbreviation.attributes().len())?;
        for specification in abbreviation.attributes() {
            let attribute = entries.read_attribute(*specification)?;
            match attribute.name() {
                gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                    return Ok(EntryName::Linkage(text(units, unit, attribute.value())?));
                }
                gimli::DW_AT_name if matches!(name, EntryName::None) => {
                    name = EntryName::Short(text(units, unit, attribute.value())?);
                }
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => {
                    next = next.or(reference(units, unit, attribute.value()));
                }
                _ => {}
            }
        }
        let Some(origin) = next else {
            return Ok(name);
        };
        (unit, entry) = origin;
    }
    Ok(name)
}

fn text<'s>(units: &Units<'s>, unit: &CompileUnit<'s>, value: AttributeValue<Slice<'s>>) -> Result<&'s [u8], Stop> {
    let text = units.dwarf.attr_string(&unit.unit, value)?.slice();
    units.budget.charge(text.len())?;
    Ok(text)
}

/// The entry that an attribute refers to, possibly in another unit.
fn reference<'u, 's>(
    units: &'u Units<'s>,
    unit: &'u CompileUnit<'s>,
    value: AttributeValue<Slice<'s>>,
) -> Option<(&'u CompileUnit<'s>, UnitOffset)> {
    match value {
        AttributeValue::UnitRef(offset) => Some((unit, offset)),
        AttributeValue::DebugInfoRef(offset) => {
            let unit = units.around(offset.0)?;
            Some((unit, offset.to_unit_offset(&unit.unit.header)?))
        }
        _ => None,
    }
}
