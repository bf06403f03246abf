//! From addresses to places and functions.

use std::cell::RefCell;

use crate::code_map::CodeMap;
use crate::demangle;
use crate::error::Error;
use crate::executable::{Executable, Slice};
use crate::files::below;
use crate::names::Names;
use crate::units::CompileUnit;

/// The code of an executable or a library, by address.
#[derive(Debug)]
pub struct Lookup<'e> {
    map: CodeMap<'e>,
    names: RefCell<Names<'e>>,
}

/// What is known of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Where it stands in the source, and the calls that were inlined around it, innermost first.
    pub places: Vec<SourcePlace>,
    /// The innermost function, without generic arguments.
    pub function: Option<String>,
    /// The symbol at the address, and how far behind its beginning that is.
    pub symbol: Option<(String, u64)>,
    /// The folder in which the compiler ran.
    pub folder: Option<String>,
}

/// A function that is being called, inlined or not, and where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Its name, without generic arguments.
    pub function: Option<String>,
    /// Where in it.
    pub place: Option<SourcePlace>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// Absolute, as far as known.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
}

impl Executable<'_> {
    /// Prepares the look-up of addresses, in all of the code.
    pub fn lookup(&self) -> Lookup<'_> {
        Lookup { map: CodeMap::new(self, |_| true), names: RefCell::new(Names::new(self.symbols())) }
    }
}

impl<'e> Lookup<'e> {
    /// What is known of an address, as the file has it when it is loaded at its own base: that of a call, not the one
    /// to which it returns; or that of a function.
    pub fn find(&self, address: u64) -> Found {
        self.find_where(address, |_| true)
    }

    /// The same, as if what was inlined there from files that are not `wanted` were not: calls that they lead to stand where they are
    /// called from. If there is nothing else, no place is found.
    pub fn find_where(&self, address: u64, wanted: impl Fn(&str) -> bool) -> Found {
        let mut found = Found { symbol: self.symbol(address), ..Found::default() };
        let Some(details) = self.map.details(address) else {
            return found;
        };
        let Some(unit) = self.map.units.units.get(details.unit) else {
            return found;
        };
        found.folder = unit.unit.comp_dir.map(|folder| String::from_utf8_lossy(folder.slice()).into_owned());
        let unwanted = |file: &str| !wanted(file);
        let mut steps = details
            .steps(address)
            .skip_while(|step| step.place.as_ref().is_some_and(|(file, ..)| unwanted(&file.path)));
        let first = steps.next();
        found.places = first
            .into_iter()
            .chain(steps)
            .map_while(|step| step.place)
            .map(|(file, line, column)| SourcePlace { file: file.path.clone(), line, column })
            .collect();
        let mut names = self.names.borrow_mut();
        let scope = first.and_then(|step| details.scopes.get(step.scope?));
        let name = match scope {
            Some(scope) => names.of_scope(&self.map.units, unit, scope),
            // Line tables alone have no entry for a function into which nothing was inlined.
            None => names.of_symbol(&self.map.units, address),
        };
        found.function = name.ok().flatten().map(|name| names.get(name).text.clone());
        found
    }

    /// The functions around an address, innermost first: what was inlined, and the function itself.
    pub fn called(&self, address: u64) -> Vec<Called> {
        let symbol = || vec![Called { function: self.symbol(address).map(|(name, _)| name), place: None }];
        let Some(details) = self.map.details(address) else { return symbol() };
        let Some(unit) = self.map.units.units.get(details.unit) else { return symbol() };
        let mut names = self.names.borrow_mut();
        let mut called = Vec::new();
        for step in details.steps(address) {
            let scope = step.scope.and_then(|scope| details.scopes.get(scope));
            let name = match scope {
                Some(scope) => names.of_scope(&self.map.units, unit, scope),
                None => names.of_symbol(&self.map.units, address),
            };
            let function = name.ok().flatten().map(|name| names.get(name).text.clone());
            let place = step.place.map(|(file, line, column)| SourcePlace { file: file.path.clone(), line, column });
            called.push(Called { function, place });
        }
        drop(names);
        if called.iter().all(|call| call.function.is_none()) {
            return symbol();
        }
        called
    }

    /// True for code of Rust's standard library that is not generic: it waits for its own purposes.
    pub(crate) fn is_of_standard_library(&self, address: u64) -> bool {
        self.map
            .unit_at(address)
            .and_then(|unit| self.map.units.units.get(unit))
            .is_some_and(CompileUnit::is_of_standard_library)
    }

    /// The folder in which the compiler ran when it was given a file by this name. Where several were, the first.
    pub fn folder_of(&self, file: &str) -> Option<String> {
        let named = |unit: &&CompileUnit<'e>| unit.unit.name.is_some_and(|name| name.slice() == file.as_bytes());
        let unit = self.map.units.units.iter().find(named)?;
        Some(String::from_utf8_lossy(unit.unit.comp_dir?.slice()).into_owned())
    }

    /// The files that a Fortran compiler was given, absolute as far as known.
    pub fn fortran_files(&self) -> Vec<String> {
        let text = |bytes: Slice<'e>| String::from_utf8_lossy(bytes.slice()).into_owned();
        let units = self.map.units.units.iter().filter(|unit| unit.is_fortran());
        units.filter_map(|unit| Some(below(unit.unit.comp_dir.map(text).as_deref(), &text(unit.unit.name?)))).collect()
    }

    /// What could not be read.
    pub fn problem(&self) -> Option<Error> {
        self.map.units.problem()
    }

    fn symbol(&self, address: u64) -> Option<(String, u64)> {
        let mut names = self.names.borrow_mut();
        let symbol = names.symbol(address)?;
        let raw = String::from_utf8_lossy(symbol.name);
        let offset = address - symbol.address;
        let name = match names.of_symbol(&self.map.units, address).ok().flatten() {
            // Of the beginning of a piece of a function it matters which piece.
            Some(name) if offset == 0 => format!("{}{}", names.get(name).text, demangle::suffix(&raw)),
            Some(name) => names.get(name).text.clone(),
            None => raw.into_owned(),
        };
        Some((name, offset))
    }
}
