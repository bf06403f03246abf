//! Places in the source, by debug information: line, column, function, and the calls that were inlined.

use std::collections::HashMap;

use workspan_trace::program::{Module, Place, NONE};
use workspan_trace::rust_names::{is_container_file, is_library_file, is_private_file};

use crate::llvm::{text, Llvm, Ref};

/// LLVM's kind of metadata for a function of the source.
const SUBPROGRAM: u32 = 17;
/// Calls inlined in each other that are followed; what lies further out is skipped.
const MOST_INLINED: usize = 200;

/// File of a function's source; empty if it is not known.
pub fn file_of(llvm: &Llvm, function: Ref) -> String {
    let subprogram = llvm.subprogram(function);
    if subprogram.is_null() {
        return String::new();
    }
    file_of_scope(llvm, subprogram)
}

/// The same of a function or a block in one: of code that was inlined, where it comes from.
pub fn file_of_scope(llvm: &Llvm, scope: Ref) -> String {
    let file = if scope.is_null() { scope } else { llvm.scope_file(scope) };
    if file.is_null() {
        return String::new();
    }
    path(llvm, file)
}

/// Name of a function in the source; empty if it is not known.
pub fn name_of(llvm: &Llvm, context: Ref, function: Ref) -> String {
    let subprogram = llvm.subprogram(function);
    if subprogram.is_null() {
        return String::new();
    }
    let node = llvm.metadata_as_value(context, subprogram);
    let mut length = 0;
    let name = operands(llvm, node).get(2).copied().filter(|name| !name.is_null());
    let name = name.map(|name| llvm.metadata_string(name, &raw mut length));
    name.map_or_else(String::new, |name| text(name, length as usize))
}

/// Of calls that were inlined in each other, the place that is shown: the outermost; in Rust, the innermost that is not in
/// Rust's library.
pub fn shown(llvm: &Llvm, location: Ref) -> Ref {
    let mut at = location;
    for _ in 0..MOST_INLINED {
        if at.is_null() {
            return location;
        }
        let file = file_of_scope(llvm, llvm.location_scope(at));
        let outer = llvm.location_inlined_at(at);
        if outer.is_null() || file.ends_with(".rs") && !is_library_file(&file) {
            return at;
        }
        at = outer;
    }
    at
}

/// True for a place in Rust's library, however it was inlined; nothing for none.
pub fn in_library(llvm: &Llvm, location: Ref) -> Option<bool> {
    let is_known = !location.is_null() && llvm.location_line(location) != 0;
    is_known.then(|| is_library_file(&file_of_scope(llvm, llvm.location_scope(location))))
}

/// True for what was inlined of a part of Rust's library that keeps something for itself.
pub fn is_private_to_library(llvm: &Llvm, instruction: Ref) -> bool {
    let mut at = llvm.debug_location(instruction);
    while !at.is_null() && !llvm.location_inlined_at(at).is_null() {
        let file = file_of_scope(llvm, llvm.location_scope(at));
        if !is_library_file(&file) {
            return false;
        }
        if is_private_file(&file) {
            return true;
        }
        at = llvm.location_inlined_at(at);
    }
    false
}

/// Of calls that were inlined in each other, the innermost place in a container of Rust's library.
pub fn in_container(llvm: &Llvm, location: Ref) -> Option<Ref> {
    let mut at = location;
    for _ in 0..MOST_INLINED {
        if at.is_null() {
            return None;
        }
        if is_container_file(&file_of_scope(llvm, llvm.location_scope(at))) {
            return Some(at);
        }
        at = llvm.location_inlined_at(at);
    }
    None
}

fn operands(llvm: &Llvm, node: Ref) -> Vec<Ref> {
    let mut list = vec![std::ptr::null_mut(); llvm.metadata_operands(node) as usize];
    if !list.is_empty() {
        llvm.metadata_operand_list(node, list.as_mut_ptr());
    }
    list
}

/// Places and texts of a module, each kept once.
#[derive(Debug, Default)]
pub struct Places {
    by_location: HashMap<Ref, u32>,
    by_place: HashMap<Place, u32>,
    texts: HashMap<String, u32>,
    subprograms: HashMap<Ref, u32>,
}

impl Places {
    /// Number of a text.
    pub fn text(&mut self, module: &mut Module, text: &str) -> u32 {
        if let Some(number) = self.texts.get(text) {
            return *number;
        }
        let number = u32::try_from(module.texts.len()).unwrap_or(NONE);
        module.texts.push(text.to_owned());
        self.texts.insert(text.to_owned(), number);
        number
    }

    /// Number of the place of an instruction, or none.
    pub fn of_instruction(&mut self, llvm: &Llvm, context: Ref, module: &mut Module, instruction: Ref) -> u32 {
        let location = llvm.debug_location(instruction);
        self.of_location(llvm, context, module, location, 0)
    }

    /// Number of a place, or none.
    pub fn of_location(&mut self, llvm: &Llvm, context: Ref, module: &mut Module, location: Ref, depth: usize) -> u32 {
        if location.is_null() || depth > MOST_INLINED {
            return NONE;
        }
        if let Some(number) = self.by_location.get(&location) {
            return *number;
        }
        let inlined_at = self.of_location(llvm, context, module, llvm.location_inlined_at(location), depth + 1);
        let scope = llvm.location_scope(location);
        let place = Place {
            file: self.file(llvm, module, scope),
            line: llvm.location_line(location),
            column: llvm.location_column(location),
            function: self.function(llvm, context, module, scope),
            inlined_at,
        };
        // Line 0 is code that the compiler made up.
        let number = if place.line == 0 { NONE } else { self.place(module, place) };
        self.by_location.insert(location, number);
        number
    }

    /// Number of the place where a function is declared, or none.
    pub fn of_function(&mut self, llvm: &Llvm, context: Ref, module: &mut Module, function: Ref) -> u32 {
        let subprogram = llvm.subprogram(function);
        if subprogram.is_null() {
            return NONE;
        }
        let place = Place {
            file: self.file(llvm, module, subprogram),
            line: llvm.subprogram_line(subprogram),
            column: 0,
            function: self.function(llvm, context, module, subprogram),
            inlined_at: NONE,
        };
        self.place(module, place)
    }

    fn place(&mut self, module: &mut Module, place: Place) -> u32 {
        if let Some(number) = self.by_place.get(&place) {
            return *number;
        }
        let number = u32::try_from(module.places.len()).unwrap_or(NONE);
        module.places.push(place.clone());
        self.by_place.insert(place, number);
        number
    }

    fn file(&mut self, llvm: &Llvm, module: &mut Module, scope: Ref) -> u32 {
        let file = if scope.is_null() { scope } else { llvm.scope_file(scope) };
        if file.is_null() {
            return NONE;
        }
        let name = path(llvm, file);
        self.text(module, &name)
    }

    /// Name of the function that a scope lies in.
    fn function(&mut self, llvm: &Llvm, context: Ref, module: &mut Module, scope: Ref) -> u32 {
        if scope.is_null() {
            return NONE;
        }
        if let Some(number) = self.subprograms.get(&scope) {
            return *number;
        }
        // Of all nodes of scopes, operand 0 is the file, 1 the scope around, 2 the name.
        let node = llvm.metadata_as_value(context, scope);
        let operands = operands(llvm, node);
        let operand = |at: usize| operands.get(at).copied().filter(|operand| !operand.is_null());
        let number = if llvm.metadata_kind(scope) == SUBPROGRAM {
            let mut length = 0;
            let name = operand(2).map(|name| llvm.metadata_string(name, &raw mut length));
            let name = name.map_or_else(String::new, |name| text(name, length as usize));
            self.text(module, &name)
        } else {
            match operand(1).map(|around| llvm.value_as_metadata(around)).filter(|around| *around != scope) {
                Some(around) => self.function(llvm, context, module, around),
                None => NONE,
            }
        };
        self.subprograms.insert(scope, number);
        number
    }
}

/// Path of a file of the source: as the compiler was given it, but for packages of cargo's registry and those that Rust's library is
/// made of, which all call theirs `src/…`.
fn path(llvm: &Llvm, file: Ref) -> String {
    let mut length = 0;
    let name = llvm.file_name(file, &raw mut length);
    let name = text(name, length as usize);
    let directory = llvm.file_directory(file, &raw mut length);
    let directory = text(directory, length as usize);
    if is_fortran(&name) {
        return below(name, &directory);
    }
    whole(name, &directory)
}

fn is_fortran(name: &str) -> bool {
    let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    end.is_some_and(|end| matches!(end.as_str(), "f" | "for" | "f77" | "f90" | "f95" | "f03" | "f08" | "f18"))
}

/// flang takes the folder out of the name that it was given: with it again, as from where the compiler runs.
fn below(name: String, folder: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    match std::path::Path::new(folder).strip_prefix(&here) {
        _ if name.starts_with('/') || folder.is_empty() => name,
        Ok(rest) if rest.as_os_str().is_empty() => name,
        Ok(rest) => rest.join(name).to_string_lossy().into_owned(),
        Err(_) => format!("{folder}/{name}"),
    }
}

/// The same of a name and a folder.
pub fn whole(name: String, folder: &str) -> String {
    if !name.starts_with('/') && (folder.contains("/registry/src/") || is_library_file(folder)) {
        format!("{folder}/{name}")
    } else {
        name
    }
}
