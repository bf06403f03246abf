//! What-if: the same graphs without some dependences, and with lines of lower cost.
//!
//! **Argument:** all that a change names is in the profile, so [`evaluate`](super::evaluate) gives the span of the changed program without a
//! run: exactly as good as the graph of the program as it is.

use std::collections::{BTreeMap, BTreeSet};

use super::{Clause, Edge, Paths};

/// What is changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Dependences that are gone, by number.
    pub removed: BTreeSet<u32>,
    /// Lines whose instructions and calls cost less, by file and line, and the factor.
    pub faster: BTreeMap<(String, u32), f64>,
}

impl Change {
    /// A dependence is gone.
    pub(super) fn removes(&self, number: u32) -> bool {
        self.removed.contains(&number)
    }

    /// By how much a piece is faster. Where a loop begins on its line, the loop is.
    pub(super) fn of_piece(&self, paths: &Paths, piece: u32) -> f64 {
        let place = &paths.pieces[piece as usize].place;
        match self.of(&place.file, place.line) {
            Some(factor) if !paths.loops.iter().any(|each| is_at(each, &place.file, place.line)) => factor,
            _ => 1.0,
        }
    }

    /// By how much a loop is faster.
    pub(super) fn of_loop(&self, paths: &Paths, number: u32) -> f64 {
        let place = &paths.loops[number as usize].place;
        self.of(&place.file, place.line).unwrap_or(1.0)
    }

    fn of(&self, file: &str, line: u32) -> Option<f64> {
        if self.faster.is_empty() {
            return None;
        }
        self.faster.get(&(file.to_owned(), line)).copied()
    }
}

fn is_at(each: &super::Loop, file: &str, line: u32) -> bool {
    each.place.line == line && each.place.file == file
}

/// How a variable is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Its dependences are gone.
    Remove,
    /// Each iteration has its own copy: what iterations share by it is gone, and names that are used again.
    Private,
    /// It is computed from the iteration's number: nothing waits for its updates.
    ClosedForm,
}

/// A place that a person named: the end of a file's name, and a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// End of the file's name; empty: any file.
    pub file: String,
    /// Line.
    pub line: u32,
}

impl At {
    /// `FILE:LINE`, or `LINE`.
    pub fn parse(text: &str) -> Option<At> {
        let (file, line) = text.rsplit_once(':').unwrap_or(("", text));
        let line = line.parse().ok().filter(|line| *line > 0)?;
        Some(At { file: file.to_owned(), line })
    }

    /// It is that place.
    pub fn is(&self, file: &str, line: u32) -> bool {
        let named = || file.strip_suffix(self.file.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        self.line == line && (self.file.is_empty() || named())
    }
}

/// Where dependences are that a person named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The loop there carries them.
    Loop(At),
    /// Both ends are in the function.
    Function(String),
}

/// Dependences that a person named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// By their variable, and where they are.
    Variable(String, Option<Scope>),
    /// By both ends.
    Ends(At, At),
}

impl Named {
    /// `VARIABLE`, `VARIABLE@FILE:LINE`, `VARIABLE@FUNCTION`, or `FILE:LINE->FILE:LINE`.
    pub fn parse(text: &str) -> Option<Named> {
        if let Some((from, to)) = text.split_once("->").and_then(|(from, to)| Some((At::parse(from)?, At::parse(to)?)))
        {
            return Some(Named::Ends(from, to));
        }
        match text.rsplit_once('@') {
            Some((variable, scope)) if !scope.is_empty() => {
                let of_function = || Scope::Function(scope.to_owned());
                Some(Named::Variable(variable.to_owned(), Some(At::parse(scope).map_or_else(of_function, Scope::Loop))))
            }
            Some(_) => None,
            None => Some(text.to_owned()).filter(|text| !text.is_empty()).map(|text| Named::Variable(text, None)),
        }
    }

    fn is(&self, paths: &Paths, edge: &Edge) -> bool {
        let place = |piece: u32| &paths.pieces[piece as usize].place;
        match self {
            Named::Variable(variable, scope) => {
                let carrier = edge.carrier.checked_sub(1).map(|number| &paths.loops[number as usize].place);
                let here = match scope {
                    None => true,
                    Some(Scope::Loop(at)) => carrier.is_some_and(|place| at.is(&place.file, place.line)),
                    Some(Scope::Function(name)) => paths.pieces[edge.from as usize].function == *name,
                };
                here && name_of(edge) == variable
            }
            Named::Ends(from, to) => {
                let (source, sink) = (place(edge.from), place(edge.to));
                from.is(&source.file, source.line) && to.is(&sink.file, sink.line)
            }
        }
    }
}

/// What a dependence is called where variables are named.
pub fn name_of(edge: &Edge) -> &str {
    match edge.kind.as_str() {
        "control" => "control",
        _ if edge.variable.is_empty() => "memory",
        _ => &edge.variable,
    }
}

/// Dependences that a change takes away, of those that hold something; none: nothing is named so.
pub fn removed(paths: &Paths, named: &Named, deed: Deed) -> BTreeSet<u32> {
    let counts = |edge: &Edge| {
        let is_data = edge.kind != "line" && edge.kind != "control";
        edge.clause == Clause::None
            && match deed {
                Deed::Remove => edge.kind != "line",
                Deed::Private => is_data && (edge.carrier != 0 || edge.kind != "RAW"),
                Deed::ClosedForm => is_data,
            }
    };
    let all = (0..).zip(&paths.edges).filter(|(_, edge)| counts(edge) && named.is(paths, edge));
    all.map(|(number, _)| number).collect()
}

/// Lines of pieces and loops that a person named.
pub fn lines(paths: &Paths, at: &At) -> BTreeSet<(String, u32)> {
    let places = paths.pieces.iter().map(|each| &each.place).chain(paths.loops.iter().map(|each| &each.place));
    let own = places.filter(|place| at.is(&place.file, place.line));
    own.map(|place| (place.file.clone(), place.line)).collect()
}
