//! Programs of random joins, scopes and parallel iterators, which say by themselves whether they race.

use rayon::prelude::*;

use crate::CELLS;

/// What a program consists of.
enum Node {
    Access { cell: usize, write: bool },
    Sequence(Vec<Node>),
    Join(Box<(Node, Node)>),
    Scope(Vec<Node>),
    Iterator(Vec<Node>),
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

fn make(random: &mut Random, depth: u64, cells: u64) -> Node {
    let list = |random: &mut Random| (0..2 + random.below(3)).map(|_| make(random, depth - 1, cells)).collect();
    match if depth == 0 { 0 } else { 1 + random.below(5) } {
        0 => Node::Access { cell: random.below(cells) as usize, write: random.below(32) == 0 },
        1 | 2 => Node::Sequence(list(random)),
        3 => Node::Join(Box::new((make(random, depth - 1, cells), make(random, depth - 1, cells)))),
        4 => Node::Scope(list(random)),
        _ => Node::Iterator(list(random)),
    }
}

impl Node {
    fn run(&self) {
        match self {
            Node::Access { cell, write: true } => CELLS[*cell].set(1),
            Node::Access { cell, .. } => drop(std::hint::black_box(CELLS[*cell].get())),
            Node::Sequence(all) => all.iter().for_each(Node::run),
            Node::Join(both) => drop(rayon::join(|| both.0.run(), || both.1.run())),
            Node::Scope(all) => rayon::scope(|scope| all.iter().for_each(|each| scope.spawn(|_| each.run()))),
            Node::Iterator(all) => all.par_iter().for_each(Node::run),
        }
    }

    /// Cells that are read, cells that are written, as bits; whether two accesses of it race.
    fn races(&self) -> ([u64; 2], bool) {
        let together = |parts: &mut dyn Iterator<Item = &Node>, parallel: bool| {
            parts.fold(([0; 2], false), |([reads, writes], races), part| {
                let ([other_reads, other_writes], other) = part.races();
                let meet = writes & (other_reads | other_writes) | reads & other_writes;
                ([reads | other_reads, writes | other_writes], races || other || parallel && meet != 0)
            })
        };
        match self {
            Node::Access { cell, write } => ([u64::from(!write) << cell, u64::from(*write) << cell], false),
            Node::Sequence(all) => together(&mut all.iter(), false),
            Node::Join(both) => together(&mut [&both.0, &both.1].into_iter(), true),
            Node::Scope(all) | Node::Iterator(all) => together(&mut all.iter(), true),
        }
    }
}

/// Runs a program, and says whether it races.
pub fn run(seed: u64) -> bool {
    let mut random = Random(seed);
    random.below(1);
    let cells = [8, 32, 64][(seed % 3) as usize];
    let node = make(&mut random, 4, cells);
    rayon::scope(|_| node.run());
    node.races().1
}
