//! In how many ways n queens stand on a board of n × n, none of them in reach of another: row by row, every place that
//! is out of reach is tried, all of them beside each other. Size is n, 16 at most; with no more than cutoff rows left
//! no tasks are made.
//!
//! Work as the number of boards without queens in reach, below n!; span Θ(n²).

use std::hint::black_box;

/// The answers, from n = 0 on.
const WAYS: [u64; 17] = [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14_200, 73_712, 365_596, 2_279_184, 14_772_512];

/// Places of a row in reach of the queens above it, one bit each, by the direction in which they reach them.
#[derive(Clone, Copy)]
struct Board {
    down: u32,
    left: u32,
    right: u32,
}

impl Board {
    /// Places out of reach, of those of `all`.
    fn free(self, all: u32) -> u32 {
        all & !(self.down | self.left | self.right)
    }

    /// The next row, after a queen was put on `place`.
    fn put(self, place: u32) -> Board {
        Board { down: self.down | place, left: (self.left | place) << 1, right: (self.right | place) >> 1 }
    }
}

pub fn run(n: usize, cutoff: usize) -> bool {
    let Some(expected) = WAYS.get(n) else {
        return false;
    };
    let board = Board { down: 0, left: 0, right: 0 };
    let ways = rayon::scope(|_| count(board, (1 << n) - 1, black_box(n), cutoff));
    ways == *expected
}

/// Ways to fill the last `rows` rows.
fn count(board: Board, all: u32, rows: usize, cutoff: usize) -> u64 {
    match rows {
        0 => 1,
        _ if rows <= cutoff => count_serially(board, all, rows),
        _ => count_from(board, board.free(all), all, rows, cutoff),
    }
}

/// The same with a queen on one of `places` in the first of these rows.
fn count_from(board: Board, places: u32, all: u32, rows: usize, cutoff: usize) -> u64 {
    if places == 0 {
        return 0;
    }
    let place = lowest(places);
    let (with, without) = rayon::join(
        || count(board.put(place), all, rows - 1, cutoff),
        || count_from(board, places ^ place, all, rows, cutoff),
    );
    with + without
}

fn count_serially(board: Board, all: u32, rows: usize) -> u64 {
    if rows == 0 {
        return 1;
    }
    let mut ways = 0;
    let mut places = board.free(all);
    while places != 0 {
        ways += count_serially(board.put(lowest(places)), all, rows - 1);
        places ^= lowest(places);
    }
    ways
}

/// The lowest bit of a set.
fn lowest(places: u32) -> u32 {
    places & places.wrapping_neg()
}
