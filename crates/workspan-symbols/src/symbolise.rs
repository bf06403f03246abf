//! Places and functions for the sites of a recording.

use workspan_model::{Function, Site, SiteKind};

use crate::error::Error;
use crate::executable::Executable;
use crate::files::{below, seen_from};
use crate::lookup::{Called, Found, Lookup, SourcePlace};
use crate::path::{function_from_type_name, last_segment};
use crate::places::Place;
use crate::{cpp, demangle};

/// A file of code that was mapped into the program.
#[derive(Clone, Copy, Debug)]
pub struct Module<'a> {
    /// As [`Site::module`].
    pub path: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
    /// The content of the file with its debug information, if that is another.
    pub debug_file: Option<&'a [u8]>,
}

impl<'a> Module<'a> {
    /// The executable itself.
    pub fn executable(bytes: &'a [u8]) -> Module<'a> {
        Module { path: "", bytes, debug_file: None }
    }

    pub(crate) fn parse(&self) -> Result<Executable<'a>, Error> {
        match self.debug_file {
            Some(debug_file) => Executable::parse_with_debug_file(self.bytes, debug_file),
            None => Executable::parse(self.bytes),
        }
    }
}

/// What [`symbolise`] has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbolised {
    /// There is debug information about the file of at least one site.
    pub has_debug_info: bool,
    /// Sites whose function was found there, or reported by the compiler.
    pub from_debug_info: usize,
    /// Sites known by an address, whose place in the source was found.
    pub placed: usize,
    /// Sites whose function was derived from the type of a closure.
    pub from_type_names: usize,
    /// Sites whose function was found in a symbol table.
    pub from_symbols: usize,
    /// What could not be read; functions were found nevertheless.
    pub problem: Option<Error>,
}

/// Fills in, but for serial code,
///
/// * the place of each site that is known by an address. Files below `directory` are named from there, as rustc does;
/// * the function of each site that has none;
/// * for sites in a dependency the place in the workspace that led there, if addresses were recorded.
pub fn symbolise(modules: &[Module<'_>], directory: &str, sites: &mut [Site]) -> Symbolised {
    let mut work = Work { directory, done: Symbolised::default() };
    for module in modules {
        let of_module = |site: &Site| site.module == module.path && !matches!(site.kind, SiteKind::Serial { .. });
        let indices = (0..sites.len()).filter(|index| of_module(&sites[*index]));
        let (by_address, by_place): (Vec<usize>, Vec<usize>) = indices.partition(|index| is_located(&sites[*index]));
        if by_address.is_empty() && by_place.is_empty() {
            continue;
        }
        match module.parse() {
            Err(problem) => work.note(Some(problem)),
            Ok(executable) => {
                work.name(&executable, sites, &by_place);
                find_callers(&executable, sites, &by_place);
                if !by_address.is_empty() {
                    work.locate(&executable, sites, &by_address);
                }
            }
        }
    }
    for site in sites.iter_mut().filter(|site| wants_function(site)) {
        if is_located(site) {
            // Its module could not be read: what the compiler reported must do.
            work.settle(site, &Found::default());
            work.done.from_debug_info += usize::from(site.function.is_some());
        } else if let Some(name) = function_from_type_name(closure(site)) {
            site.function = Some(Function { name, from_debug_info: false, offset: None });
            work.done.from_type_names += 1;
        }
    }
    work.done
}

/// True for sites for which an address counts. For those whose place or type rustc reported, addresses are but a hint.
fn is_located(site: &Site) -> bool {
    let has_type = site.kind == SiteKind::Thread && !site.type_name.is_empty();
    site.kind.lasts() && !is_named(site) && !has_type || site.bare_address().is_some()
}

/// True for a region that a Rust program marks: the compiler reported its place, and what stands for a type is its name.
fn is_named(site: &Site) -> bool {
    site.kind == SiteKind::Marked && !site.file.is_empty() && site.addresses.is_empty()
}

/// The type of a site's closure.
fn closure(site: &Site) -> &str {
    if is_named(site) {
        ""
    } else {
        &site.type_name
    }
}

fn wants_function(site: &Site) -> bool {
    site.function.is_none() && !matches!(site.kind, SiteKind::Serial { .. })
}

/// What flang 19 gives in place of a file's name.
const FLANG_FILE: &str = "FIRModule";

/// What clang gives in place of what it was not to emit.
const UNKNOWN: &str = "unknown";

struct Work<'d> {
    directory: &'d str,
    done: Symbolised,
}

impl Work<'_> {
    fn note(&mut self, problem: Option<Error>) {
        self.done.problem = self.done.problem.take().or(problem);
    }

    /// The functions of sites whose place is known.
    fn name(&mut self, executable: &Executable<'_>, sites: &mut [Site], indices: &[usize]) {
        let indices: Vec<usize> = indices.iter().copied().filter(|index| wants_function(&sites[*index])).collect();
        let places: Vec<_> = indices.iter().map(|index| place(&sites[*index])).collect();
        let found = executable.functions(&places);
        self.done.has_debug_info |= found.files_known;
        self.note(found.problem);
        for (index, name) in indices.into_iter().zip(found.names) {
            if let Some(name) = name {
                let name = whole_name(name, closure(&sites[index]));
                sites[index].function = Some(Function { name, from_debug_info: true, offset: None });
                self.done.from_debug_info += 1;
            }
        }
    }

    /// Places and functions of sites by their addresses.
    fn locate(&mut self, executable: &Executable<'_>, sites: &mut [Site], indices: &[usize]) {
        let lookup = executable.lookup();
        let mut found: Vec<Found> = indices.iter().map(|index| look_up(&lookup, &sites[*index])).collect();
        find_fortran_files(executable, &lookup, sites, indices, &mut found);
        let mut unnamed = Vec::new();
        for (index, found) in indices.iter().zip(found) {
            let site = &mut sites[*index];
            let told =
                SourcePlace { file: below(found.folder.as_deref(), &site.file), line: site.line, column: site.column };
            self.settle(site, &found);
            // A compiler that moves code out of a function may keep its lines, and not its name; and one that reports names
            // may report only their last part.
            let place = found.places.into_iter().next().or(site.addresses.is_empty().then_some(told));
            let whole = site.function.as_ref().is_some_and(|f| f.name.contains("::") || !site.addresses.is_empty());
            if let Some(place) = place.filter(|_| !whole) {
                unnamed.push((*index, place, found.symbol));
            }
        }
        self.note(lookup.problem());
        let names = executable.functions(&unnamed.iter().map(|(_, place, _)| at(place)).collect::<Vec<_>>()).names;
        for ((index, _, symbol), name) in unnamed.into_iter().zip(names) {
            let site = &mut sites[index];
            let known = site.function.take().map(|function| function.name);
            site.function = match (best_name(known, name), symbol) {
                (Some(name), _) => Some(Function { name, from_debug_info: true, offset: None }),
                (None, Some((name, _))) => Some(Function { name, from_debug_info: false, offset: None }),
                (None, None) => None,
            };
        }
        self.count(sites, indices);
    }

    fn count(&mut self, sites: &[Site], indices: &[usize]) {
        for function in indices.iter().filter_map(|index| sites[*index].function.as_ref()) {
            match function.from_debug_info {
                true => self.done.from_debug_info += 1,
                false => self.done.from_symbols += 1,
            }
        }
    }

    /// Puts together what the compiler reported of a site and what was found at its address.
    fn settle(&mut self, site: &mut Site, found: &Found) {
        let told = !site.file.is_empty() && site.file != FLANG_FILE;
        if told {
            site.file = seen_from(self.directory, &below(found.folder.as_deref(), &site.file));
        } else if let Some(place) = found.places.first() {
            site.file = seen_from(self.directory, &place.file);
            if site.line == 0 {
                (site.line, site.column) = (place.line, place.column);
            }
            self.done.placed += 1;
        }
        self.done.has_debug_info |= told || !found.places.is_empty();
        if site.via.is_none() && site.file.starts_with('/') {
            let callers = found.places.iter().skip(1).map(|place| (seen_from(self.directory, &place.file), place.line));
            site.via = callers.into_iter().find(|(file, _)| !file.starts_with('/'));
        }
        if site.function.is_some() {
            return;
        }
        let offset = found.symbol.as_ref().map(|(_, offset)| *offset).filter(|_| site.file.is_empty());
        site.function = if let Some(name) = best_name(told_function(site), found.function.clone()) {
            Some(Function { name, from_debug_info: true, offset })
        } else {
            let symbol = found.symbol.as_ref().filter(|_| found.places.is_empty());
            let of_class = || cpp::of_class(&site.type_name).filter(|_| site.kind.is_called());
            let class = of_class().map(|name| Function { name, from_debug_info: false, offset: None });
            class.or_else(|| symbol.map(|(name, _)| Function { name: name.clone(), from_debug_info: false, offset }))
        };
    }
}

fn look_up(lookup: &Lookup<'_>, site: &Site) -> Found {
    if site.kind.is_body() {
        let found = look_up_body(lookup, site).unwrap_or_else(|| look_up_call(lookup, site));
        // A header's function says no more than the class of the body.
        return Found { function: found.function.filter(|name| !name.starts_with("tbb::")), ..found };
    }
    if site.kind.is_called() || site.kind == SiteKind::Lock {
        return look_up_call(lookup, site);
    }
    match site.addresses.as_slice() {
        [compared, computed] if site.kind == SiteKind::Loop => look_up_header(lookup, *compared, *computed),
        // A construct stands in no library's header, though an iterator's code may stand where it begins.
        [address] if site.kind == SiteKind::Loop => Some(lookup.find_where(*address, is_own))
            .filter(|own| !own.places.is_empty())
            .unwrap_or_else(|| lookup.find(*address)),
        [address, ..] => lookup.find(*address),
        [] => Found { folder: lookup.folder_of(&site.file), ..Found::default() },
    }
}

/// Of a loop whose header the compiler has put into the program: where its bounds are compared, unless the compiler has moved code of
/// what it has inlined there; then where these are computed, or the call that
/// was inlined.
fn look_up_header(lookup: &Lookup<'_>, compared: u64, computed: u64) -> Found {
    let found = lookup.find(compared);
    if found.places.len() < 2 {
        return found;
    }
    let header = lookup.find(computed);
    if header.places.len() == 1 {
        return header;
    }
    match lookup.called(compared).pop() {
        Some(Called { function, place: Some(place) }) => Found { places: vec![place], function, ..found },
        _ => found,
    }
}

/// Of a call that may come from the templates of a library: the innermost place of the program's own. The addresses are those of calls
/// within each other, outermost first.
fn look_up_call(lookup: &Lookup<'_>, site: &Site) -> Found {
    let own = |address: &u64| Some(lookup.find_where(*address, is_own)).filter(|found| !found.places.is_empty());
    let outermost = || site.addresses.first().map(|address| lookup.find(*address));
    site.addresses.iter().rev().find_map(own).or_else(outermost).unwrap_or_default()
}

/// Of what the program gives to an algorithm: where it begins, inlined into a header's function or not. Of the addresses the last one that has
/// code of the program's own counts; of what was inlined there, the outermost.
fn look_up_body(lookup: &Lookup<'_>, site: &Site) -> Option<Found> {
    site.addresses.iter().rev().find_map(|address| {
        // Compilers leave lines of what they have inlined in a header's function that say nothing of where it was.
        let in_headers = |called: &Called| called.function.as_ref().is_some_and(|name| name.starts_with("tbb::"));
        let is_own =
            |called: &Called| called.place.as_ref().is_some_and(|place| is_own(&place.file)) && !in_headers(called);
        let Called { function, place } = lookup.called(*address).into_iter().rev().find(is_own)?;
        Some(Found { places: place.into_iter().collect(), function, ..lookup.find(*address) })
    })
}

/// True for files that are neither oneTBB's, which calls itself on behalf of the program, nor a standard library's headers, nor Rust's.
fn is_own(file: &str) -> bool {
    let is_libtbb = file.contains("/tbb/src/tbb/") || file.ends_with("src/tbb/parallel_pipeline.cpp");
    let headers = ["/oneapi/tbb/", "/include/tbb/", "/pstl/", "/include/c++/", "/c++/v1/", "/bits/gthr"];
    let rust = ["library/std/src/", "library/core/src/", "library/alloc/src/"];
    !is_libtbb && !headers.iter().chain(&rust).any(|folder| file.contains(folder))
}

/// The files of places of which flang reported line and function: the only one there is, or the one that has the function
/// there.
fn find_fortran_files(
    executable: &Executable<'_>,
    lookup: &Lookup<'_>,
    sites: &[Site],
    indices: &[usize],
    found: &mut [Found],
) {
    let missing = |(index, found): &(&usize, &mut Found)| sites[**index].file == FLANG_FILE && found.places.is_empty();
    let mut missing: Vec<_> = indices.iter().zip(found).filter(missing).collect();
    if missing.is_empty() {
        return;
    }
    let files = lookup.fortran_files();
    let of_site = |index: usize| files.iter().map(move |file| Place { file, line: sites[index].line, column: 0 });
    let places: Vec<Place<'_>> = missing.iter().flat_map(|(index, _)| of_site(**index)).collect();
    let names = if files.len() > 1 { executable.functions(&places).names } else { vec![None; places.len()] };
    for ((index, found), names) in missing.iter_mut().zip(names.chunks(files.len().max(1))) {
        let site = &sites[**index];
        let told = told_function(site);
        let same = |name: &Option<String>| match (name, &told) {
            (Some(name), Some(told)) => last_segment(name) == last_segment(told),
            _ => false,
        };
        let mut candidates = files.iter().zip(names).filter(|(_, name)| files.len() == 1 || same(name));
        if let (Some((file, _)), None) = (candidates.next(), candidates.next()) {
            found.places.push(SourcePlace { file: file.clone(), line: site.line, column: site.column });
        }
    }
}

/// The function that the compiler reported.
fn told_function(site: &Site) -> Option<String> {
    let name = site.type_name.as_str();
    if site.kind.is_called() {
        // The class of a task: it serves where nothing else is known.
        return None;
    }
    if name.is_empty() || name == UNKNOWN {
        return None;
    }
    if name.starts_with("_Q") {
        return demangle::function(name);
    }
    cpp::told(name)
}

/// What the compiler reported is right even where the code was inlined elsewhere; what was found may have more of the path.
fn best_name(told: Option<String>, found: Option<String>) -> Option<String> {
    match (told, found) {
        (Some(told), Some(found)) if !told.contains("::") && last_segment(&found) == told => Some(found),
        (Some(told), _) => Some(told),
        (None, found) => found,
    }
}

fn at(place: &SourcePlace) -> Place<'_> {
    Place { file: &place.file, line: place.line, column: place.column }
}

fn place(site: &Site) -> Place<'_> {
    Place { file: &site.file, line: site.line, column: site.column }
}

/// Line tables alone have only the last part of some functions' paths. If the closure passed at the site is of a function
/// with that name, it is the same.
fn whole_name(name: String, type_name: &str) -> String {
    match function_from_type_name(type_name) {
        Some(whole) if !name.contains("::") && last_segment(&whole) == name => whole,
        _ => name,
    }
}

fn find_callers(executable: &Executable<'_>, sites: &mut [Site], indices: &[usize]) {
    let in_dependency = |site: &Site| site.via.is_none() && !site.addresses.is_empty() && site.file.starts_with('/');
    let indices: Vec<usize> = indices.iter().copied().filter(|index| in_dependency(&sites[*index])).collect();
    if indices.is_empty() {
        return;
    }
    let frames = executable.frames();
    for index in indices {
        sites[index].via = frames.first_workspace_frame(&sites[index].addresses);
    }
}
