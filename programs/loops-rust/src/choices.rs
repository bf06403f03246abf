//! Updates on conditions, checks in closures, copies of counters, and what Rust's library keeps for itself.

use std::collections::HashMap;
use std::hint::black_box;

fn on_conditions(v: &[i32]) -> (i32, i32, i32, i32) {
    let (mut most, mut least, mut few, mut many) = (0, 9, 0, 0);
    for &x in v { // @clauses
        if x % 2 == 0 { most = most.max(x); }
    }
    for &x in v { // @clauses
        if x % 3 == 0 && x < least { least = x; }
    }
    for &x in v { // @clauses
        if x < 10 { few += 1; } else if x > 20 { many += 1; }
    }
    (most, least, few, many)
}

fn only_alike(v: &[i32]) -> (i32, i32, i32) {
    let (mut reset, mut seen, mut steps) = (0, 0, 0);
    for &x in v { // @serial
        if x < 10 { reset += 1; } else if x > 30 { reset = 0; }
    }
    for &x in v { // @serial
        if x > seen { seen = x; steps += 1; } else if x == 0 { seen = 0; }
    }
    (reset, seen, steps)
}

fn grows(v: &[i32]) -> (i32, i32) {
    let (mut sum, mut most) = (0, 0);
    for &x in v { // @serial
        if x < sum { sum += 1; } else if x > 20 { sum += 2; }
    }
    for &x in v { // @serial
        if x % 2 == 0 && most < 30 { most += x; }
    }
    (sum, most)
}

fn table() -> [u32; 64] {
    let mut t = [0; 64];
    for i in 0..64 { // @parallel
        let mut c = i;
        for _ in 0..8 { // @serial
            c = if c & 1 != 0 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 };
        }
        t[i as usize] = c;
    }
    t
}

fn steps(v: &mut [u32]) {
    for i in 1..v.len() { // @parallel
        let (mut x, mut n) = (i, 0);
        while x != 1 { // @serial
            x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
            n += 1;
        }
        v[i] = n;
    }
}

fn checked(at: &[usize], of: &[f64]) -> f64 {
    let sum: f64 = at.iter().map(|&i| of[i]).sum(); // @clauses
    let parts: usize = at.iter().map(|&i| 100 / (i + 1)).sum(); // @clauses
    let most = at.iter().map(|&i| of[i]).fold(0.0, f64::max); // @clauses
    let stops = at.iter().map(|&i| of[i]).take_while(|x| *x < 5.0).sum::<f64>(); // @serial
    sum + parts as f64 + most + stops
}

fn keyed(rows: &[Vec<u32>]) -> Vec<usize> {
    let mut counts = vec![0; rows.len()];
    for (count, row) in counts.iter_mut().zip(rows) { // @parallel
        let mut seen = HashMap::new();
        for x in row { // @serial
            *seen.entry(*x).or_insert(0) += 1;
        }
        *count = seen.len();
    }
    counts
}

fn named(v: &[i32]) -> Vec<usize> {
    let mut lengths = vec![0; v.len()];
    for (length, x) in lengths.iter_mut().zip(v) { // @parallel
        let text = format!("<{x}>");
        *length = text.len();
    }
    lengths
}

pub fn run() {
    let v: Vec<i32> = black_box((0..40).map(|i| i * 7 % 37).collect());
    let at: Vec<usize> = v.iter().map(|x| *x as usize % 20).collect();
    let of: Vec<f64> = v.iter().map(|x| f64::from(*x)).collect();
    let rows: Vec<Vec<u32>> = (0..10).map(|i| (0..9).map(|k| (i * k) % 4).collect()).collect();
    let mut counts = vec![0; 30];
    steps(&mut counts);
    println!("{:?} {:?} {:?} {}", on_conditions(&v), only_alike(&v), grows(&v), table()[9] + counts[7]);
    println!("{} {:?} {:?}", checked(&at, &of), keyed(&rows), named(&v));
}
