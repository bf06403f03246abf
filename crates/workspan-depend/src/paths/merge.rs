//! Merges the graphs of several runs: what ran adds up, and so do dependences.
//!
//! **Argument:** numbers of segments and loops are those of the program, so that two runs of one build meet. Of another build they do not,
//! as lines and functions are compared too: then both stand side by side.

use std::collections::BTreeMap;

use super::{Clause, Context, Edge, Loop, Paths, Piece};
use crate::source::small;

/// The graphs of both.
pub fn merge(one: Paths, other: Paths) -> Paths {
    let mut found = Merged::default();
    found.add(&one);
    found.add(&other);
    found.finish()
}

#[derive(Default)]
struct Merged {
    pieces: Vec<Piece>,
    piece_of: BTreeMap<Piece, u32>,
    loops: Vec<Loop>,
    loop_of: BTreeMap<Loop, u32>,
    edges: BTreeMap<Edge, Edge>,
    contexts: Vec<Sums>,
    context_of: BTreeMap<Context, u32>,
}

#[derive(Default)]
struct Sums {
    own: Context,
    pieces: BTreeMap<u32, u64>,
    loops: BTreeMap<u32, (u64, u64)>,
    calls: BTreeMap<(u32, u32), u64>,
}

impl Merged {
    fn add(&mut self, paths: &Paths) {
        // Loops are the same without those around them, which have other numbers.
        let key = |each: &Loop| Loop { parent: 0, ..each.clone() };
        for each in &paths.loops {
            let next = small(self.loops.len());
            if *self.loop_of.entry(key(each)).or_insert(next) == next {
                self.loops.push(key(each));
            }
        }
        let number = |at: u32| at.checked_sub(1).map_or(0, |at| self.loop_of[&key(&paths.loops[at as usize])] + 1);
        for each in &paths.loops {
            let own = self.loop_of[&key(each)] as usize;
            self.loops[own].parent = number(each.parent);
        }
        let mut pieces = Vec::new();
        for each in &paths.pieces {
            let piece = Piece { in_loop: number(each.in_loop), ..each.clone() };
            let next = small(self.pieces.len());
            let own = *self.piece_of.entry(piece.clone()).or_insert(next);
            if own == next {
                self.pieces.push(piece);
            }
            pieces.push(own);
        }
        for each in &paths.edges {
            let (from, to) = (pieces[each.from as usize], pieces[each.to as usize]);
            let edge = Edge { from, to, carrier: number(each.carrier), ..each.clone() };
            let key = Edge { distance: (0, 0), sum: 0, count: 0, clause: Clause::None, ..edge.clone() };
            match self.edges.get_mut(&key) {
                Some(own) => join(own, &edge),
                None => drop(self.edges.insert(key, edge)),
            }
        }
        let empty = |each: &Context| Context {
            entries: 0,
            pieces: Vec::new(),
            loops: Vec::new(),
            calls: Vec::new(),
            ..each.clone()
        };
        let mut contexts = Vec::new();
        for each in &paths.contexts {
            let next = small(self.contexts.len());
            let own = *self.context_of.entry(empty(each)).or_insert(next);
            if own == next {
                self.contexts.push(Sums { own: empty(each), ..Sums::default() });
            }
            contexts.push(own);
        }
        for (each, own) in paths.contexts.iter().zip(&contexts) {
            let sums = &mut self.contexts[*own as usize];
            sums.own.entries = sums.own.entries.saturating_add(each.entries);
            for (piece, count) in &each.pieces {
                plus(sums.pieces.entry(pieces[*piece as usize]).or_default(), *count);
            }
            for (at, entries, turns) in &each.loops {
                let count = sums.loops.entry(self.loop_of[&key(&paths.loops[*at as usize])]).or_default();
                plus(&mut count.0, *entries);
                plus(&mut count.1, *turns);
            }
            for (piece, to, count) in &each.calls {
                plus(sums.calls.entry((pieces[*piece as usize], contexts[*to as usize])).or_default(), *count);
            }
        }
    }

    fn finish(self) -> Paths {
        let context = |sums: Sums| Context {
            pieces: sums.pieces.into_iter().collect(),
            loops: sums.loops.into_iter().map(|(at, (entries, turns))| (at, entries, turns)).collect(),
            calls: sums.calls.into_iter().map(|((piece, to), count)| (piece, to, count)).collect(),
            ..sums.own
        };
        let contexts = self.contexts.into_iter().map(context).collect();
        Paths { pieces: self.pieces, loops: self.loops, edges: self.edges.into_values().collect(), contexts }
    }
}

fn plus(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn join(one: &mut Edge, other: &Edge) {
    one.add(other);
    // What one run needs, is needed.
    if one.clause != other.clause {
        one.clause = if one.clause == Clause::None || other.clause == Clause::None { Clause::None } else { one.clause };
    }
}
