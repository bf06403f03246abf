//! Graphs as bytes, within the [file](mod@crate::file).
//!
//! **Invariant:** what has been read has valid numbers, and loops lie in no circle.

use workspan_trace::bytes::{Malformed, Reader, Writer};

use super::{Clause, Context, Edge, Loop, Paths, Piece};
use crate::encoding::{all, many, put_place, take_place};

/// Writes them.
pub fn put(out: &mut Writer, paths: &Paths) {
    many(out, &paths.loops, |out, each| {
        out.number(each.id.into());
        put_place(out, &each.place);
        out.text(&each.function);
        out.number(each.parent.into());
    });
    many(out, &paths.pieces, |out, each| {
        out.number(each.id.0.into());
        out.number(each.id.1.into());
        put_place(out, &each.place);
        out.text(&each.function);
        out.number(each.in_loop.into());
        out.number(each.cost.into());
    });
    many(out, &paths.edges, |out, each| {
        out.number(each.from.into());
        out.number(each.to.into());
        out.text(&each.kind);
        out.text(&each.variable);
        let Edge { carrier, distance, sum, count, clause, .. } = each;
        for value in [u64::from(*carrier), distance.0, distance.1, *sum, *count, *clause as u64] {
            out.number(value);
        }
    });
    many(out, &paths.contexts, |out, each| {
        put_place(out, &each.call);
        out.text(&each.function);
        out.number(each.depth.into());
        out.number(each.entries);
        rows_of(out, &each.pieces, |(piece, count)| [(*piece).into(), *count, 0]);
        rows_of(out, &each.loops, |(number, entries, turns)| [(*number).into(), *entries, *turns]);
        rows_of(out, &each.calls, |(piece, context, count)| [(*piece).into(), (*context).into(), *count]);
    });
}

fn rows_of<T>(out: &mut Writer, all: &[T], numbers: impl Fn(&T) -> [u64; 3]) {
    many(out, all, |out, each| numbers(each).into_iter().for_each(|number| out.number(number)));
}

/// Reads them.
pub fn take(from: &mut Reader<'_>) -> Result<Paths, Malformed> {
    let loops = all(from, |from| {
        Ok(Loop { id: from.small()?, place: take_place(from)?, function: from.text()?, parent: from.small()? })
    })?;
    let pieces = all(from, |from| {
        Ok(Piece {
            id: (from.small()?, from.small()?),
            place: take_place(from)?,
            function: from.text()?,
            in_loop: from.small()?,
            cost: from.small()?,
        })
    })?;
    let edges = all(from, |from| {
        Ok(Edge {
            from: from.small()?,
            to: from.small()?,
            kind: from.text()?,
            variable: from.text()?,
            carrier: from.small()?,
            distance: (from.number()?, from.number()?),
            sum: from.number()?,
            count: from.number()?,
            clause: Clause::of(from.number()?).ok_or(Malformed)?,
        })
    })?;
    let contexts = all(from, |from| {
        Ok(Context {
            call: take_place(from)?,
            function: from.text()?,
            depth: from.small()?,
            entries: from.number()?,
            pieces: rows(from, |[piece, count, _]| Ok((small(piece)?, count)))?,
            loops: rows(from, |[number, entries, turns]| Ok((small(number)?, entries, turns)))?,
            calls: rows(from, |[piece, context, count]| Ok((small(piece)?, small(context)?, count)))?,
        })
    })?;
    let paths = Paths { pieces, loops, edges, contexts };
    if is_valid(&paths) {
        Ok(paths)
    } else {
        Err(Malformed)
    }
}

fn is_valid(paths: &Paths) -> bool {
    let (pieces, loops, contexts) = (paths.pieces.len(), paths.loops.len(), paths.contexts.len());
    let is_loop = |number: u32| number as usize <= loops;
    let is_piece = |number: u32| (number as usize) < pieces;
    let is_context = |each: &Context| {
        each.pieces.iter().all(|each| is_piece(each.0))
            && each.pieces.is_sorted_by(|a, b| a.0 < b.0)
            && each.loops.iter().all(|each| (each.0 as usize) < loops)
            && each.loops.is_sorted_by(|a, b| a.0 < b.0)
            && each.calls.iter().all(|each| is_piece(each.0) && (each.1 as usize) < contexts)
            && each.calls.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1))
    };
    paths.loops.iter().all(|each| is_loop(each.parent))
        && ends(&paths.loops)
        && paths.pieces.iter().all(|each| is_loop(each.in_loop))
        && paths.edges.iter().all(|each| is_piece(each.from) && is_piece(each.to) && is_loop(each.carrier))
        && paths.contexts.iter().all(is_context)
}

/// Whoever goes outwards from a loop comes to an end.
fn ends(loops: &[Loop]) -> bool {
    let mut inner = vec![0_usize; loops.len() + 1];
    loops.iter().for_each(|each| inner[each.parent as usize] += 1);
    let mut free: Vec<usize> = (0..loops.len()).filter(|at| inner[at + 1] == 0).collect();
    let mut gone = 0;
    while let Some(at) = free.pop() {
        gone += 1;
        let around = loops[at].parent as usize;
        inner[around] -= 1;
        if around != 0 && inner[around] == 0 {
            free.push(around - 1);
        }
    }
    gone == loops.len()
}

fn small(number: u64) -> Result<u32, Malformed> {
    u32::try_from(number).map_err(|_| Malformed)
}

fn rows<T>(from: &mut Reader<'_>, row: impl Fn([u64; 3]) -> Result<T, Malformed>) -> Result<Vec<T>, Malformed> {
    all(from, |from| row([from.number()?, from.number()?, from.number()?]))
}
