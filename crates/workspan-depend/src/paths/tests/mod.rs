//! The graphs against the definition, and shapes whose answers are known.

mod oracle;
mod shapes;

use super::{Context, Edge, Loop, Paths, Piece};
use crate::source::Place;

/// They are the same, but for rounding.
#[track_caller]
pub(super) fn equal(found: f64, expected: f64) {
    assert!((found - expected).abs() <= expected.abs() * 1e-9, "{found} instead of {expected}");
}

pub(super) fn at(line: u32) -> Place {
    Place { file: "prog.c".to_owned(), line, column: 1 }
}

/// A program: `main` with lines and one loop, whose pieces and edges are added.
#[derive(Default)]
pub(super) struct Small {
    pub(super) paths: Paths,
}

impl Small {
    pub(super) fn new() -> Small {
        let main = Context { function: "main".to_owned(), depth: 1, entries: 1, ..Context::default() };
        Small { paths: Paths { contexts: vec![main], ..Paths::default() } }
    }

    /// A loop within another, + 1.
    pub(super) fn in_loop(&mut self, context: usize, line: u32, parent: u32, (entries, turns): (u64, u64)) -> u32 {
        let id = u32::try_from(self.paths.loops.len()).expect("few");
        let function = self.paths.contexts[context].function.clone();
        self.paths.loops.push(Loop { id, place: at(line), function, parent });
        self.paths.contexts[context].loops.push((id, entries, turns));
        id + 1
    }

    pub(super) fn piece(&mut self, context: usize, line: u32, in_loop: u32, cost: u32, count: u64) -> u32 {
        let number = u32::try_from(self.paths.pieces.len()).expect("few");
        let function = self.paths.contexts[context].function.clone();
        self.paths.pieces.push(Piece { id: (number, 0), place: at(line), function, in_loop, cost });
        self.paths.contexts[context].pieces.push((number, count));
        number
    }

    /// A dependence; `carried`: the loop, distance.
    pub(super) fn edge(
        &mut self,
        from: u32,
        to: u32,
        variable: &str,
        carried: Option<(u32, u64)>,
        count: u64,
    ) -> usize {
        let (carrier, distance) = carried.unwrap_or_default();
        self.paths.edges.push(Edge {
            from,
            to,
            kind: "RAW".to_owned(),
            variable: variable.to_owned(),
            carrier,
            distance: (distance, distance),
            sum: distance * count,
            count,
            ..Edge::default()
        });
        self.paths.edges.len() - 1
    }

    pub(super) fn call(&mut self, from: usize, piece: u32, function: &str, depth: u32, count: u64) -> usize {
        let to = self.paths.contexts.len();
        let call = self.paths.pieces[piece as usize].place.clone();
        let function = function.to_owned();
        self.paths.contexts.push(Context { call, function, depth, entries: count, ..Context::default() });
        self.paths.contexts[from].calls.push((piece, u32::try_from(to).expect("few"), count));
        to
    }
}
