//! Labelled loops: `@parallel`, `@clauses` or `@serial` at the end of a loop's line.

mod adapters;
mod applied;
mod cells;
mod choices;
mod folds;
mod iterators;
mod kernels;
mod leftover;
mod library;
mod shown;
mod tricky;
mod vectors;

use std::collections::HashMap;
use std::fmt::Write;

const N: usize = 64;

fn square(x: f64) -> f64 {
    x * x
}

fn next(seed: &mut u32) -> u32 {
    *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    *seed
}

struct Point {
    x: f64,
    y: f64,
}

struct Node {
    value: u64,
    next: Option<Box<Node>>,
}

fn numbers(v: &mut [f64], w: &mut [f64]) -> f64 {
    for i in 0..v.len() { // @parallel
        v[i] = i as f64;
    }
    for (i, x) in w.iter_mut().enumerate() { // @parallel
        *x = square(v[i]);
    }
    for (x, y) in v.iter_mut().zip(w.iter()) { // @parallel
        *x += 2.0 * *y;
    }
    let mut sum = 0.0;
    for x in v.iter() { // @clauses
        sum += x;
    }
    let total: f64 = v.iter().map(|x| x * 0.5).sum(); // @clauses
    let product = v.iter().fold(1.0, |a, x| a * (1.0 + x)); // @clauses
    let mut i = 1;
    while i < v.len() { // @serial
        v[i] += v[i - 1];
        i += 1;
    }
    for i in 1..v.len() - 1 { // @parallel
        w[i] = (v[i - 1] + v[i] + v[i + 1]) / 3.0;
    }
    for i in 1..v.len() - 1 { // @serial
        v[i] = (v[i - 1] + v[i] + v[i + 1]) / 3.0;
    }
    sum + total + product
}

fn choices(v: &[f64]) -> f64 {
    let mut best = f64::MIN;
    for x in v { // @clauses
        if *x > best {
            best = *x;
        }
    }
    let mut count = 0;
    for x in v { // @clauses
        if *x > 3.0 {
            count += 1;
        }
    }
    let mut at = 0;
    for (i, x) in v.iter().enumerate() { // @serial
        if *x > v[at] {
            at = i;
        }
    }
    let mut first = 0.0;
    for x in v { // @serial
        if *x > 10.0 {
            first = *x;
            break;
        }
    }
    let found = v.iter().position(|x| *x > 20.0).unwrap_or(0); // @serial
    let mut all = true;
    for x in v { // @clauses
        all &= *x >= 0.0;
    }
    best + first + (count + at + found + usize::from(all)) as f64
}

fn tables(v: &[f64]) -> usize {
    let mut histogram = [0_u32; 8];
    for x in v { // @clauses
        histogram[(*x as usize) % 8] += 1;
    }
    let mut map = HashMap::new();
    for (i, x) in v.iter().enumerate() { // @serial
        *map.entry(*x as i64 % 7).or_insert(0) += i;
    }
    let mut rows = vec![vec![0.0; N]; N];
    for (i, row) in rows.iter_mut().enumerate() { // @parallel
        for x in row.iter_mut() { // @parallel
            *x = i as f64;
        }
    }
    let mut list = Vec::new();
    for x in v { // @serial
        if *x > 1.0 {
            list.push(*x);
        }
    }
    let mut text = String::new();
    for x in v.iter().take(5) { // @serial
        let _ = write!(text, "{x};");
    }
    let mut seed = 1;
    let mut random = 0;
    for _ in 0..N { // @serial
        random ^= next(&mut seed);
    }
    for x in v.iter().take(2) { // @serial
        println!("{x}");
    }
    let mut fib = [1_u64; N];
    for i in 2..N { // @serial
        fib[i] = fib[i - 1].wrapping_add(fib[i - 2]);
    }
    let (mut a, mut b) = (0_u64, 1_u64);
    for _ in 0..N { // @serial
        (a, b) = (b, a.wrapping_add(b));
    }
    histogram[1] as usize + map.len() + rows.len() + list.len() + text.len() + random as usize % 3 + fib[9] as usize
        + a as usize % 2
}

fn objects(points: &mut [Point]) -> f64 {
    for p in points.iter_mut() { // @parallel
        let length = (p.x * p.x + p.y * p.y).sqrt();
        p.x /= length + 1.0;
        p.y /= length + 1.0;
    }
    let mut scratch = [0.0; 4];
    let mut out = vec![0.0; points.len()];
    for (p, o) in points.iter().zip(out.iter_mut()) { // @clauses
        for k in 0..4 { // @parallel
            scratch[k] = p.x * k as f64;
        }
        *o = scratch[0] + scratch[3] + p.y;
    }
    let lengths: Vec<f64> = points.iter().map(|p| p.x.hypot(p.y)).collect();
    let mut head: Option<Box<Node>> = None;
    for i in 0..N as u64 { // @serial
        head = Some(Box::new(Node { value: i, next: head }));
    }
    let (mut at, mut sum) = (head.as_deref(), 0);
    while let Some(node) = at { // @serial
        sum += node.value;
        at = node.next.as_deref();
    }
    while let Some(mut node) = head.take() { // @serial
        head = node.next.take();
    }
    let mut product = vec![0.0; N * N];
    for i in 0..9 { // @parallel
        for j in 0..9 { // @parallel
            let mut s = 0.0;
            for k in 0..9 { // @clauses
                s += out[(i * k) % N] * out[(k + j) % N];
            }
            product[i * N + j] = s;
        }
    }
    for chunk in product.chunks_mut(N) { // @parallel
        chunk[0] = chunk.iter().sum(); // @clauses
    }
    for i in (0..N).step_by(2) { // @parallel
        out[i] += 1.0;
    }
    for i in (1..N).rev() { // @serial
        out[i - 1] += out[i] * 0.5;
    }
    let bits = (0..N as u32).fold(0, |bits, i| bits ^ (i * i)); // @clauses
    let largest = lengths.iter().copied().fold(0.0, f64::max); // @clauses
    out[0] + largest + sum as f64 + product[5] + f64::from(bits)
}

/// What is printed is read by code that is not instrumented.
fn printed(v: &[f64]) {
    let mut last = 0;
    for i in 0..v.len() { // @serial
        if v[i] as i64 % 5 == 1 {
            last = i;
        }
    }
    let mut counts = [0_u32; 8];
    for x in v { // @clauses
        counts[(*x as usize) % 8] += 1;
    }
    let mut twice = 0.0;
    let mut out = vec![0.0; v.len()];
    for i in 0..v.len() { // @clauses
        twice = v[i] * 2.0;
        out[i] = twice + 1.0;
    }
    let mut best = [0; 8];
    for i in 0..v.len() { // @serial
        best[(i * i) % 8] = i;
    }
    println!("{last} {counts:?} {twice} {} {best:?}", out[3]);
}

/// Pieces of slices, and counts through references.
fn pieces(v: &mut [u32], hist: &mut [u32; 8]) -> u32 {
    for x in v.iter() { // @clauses
        hist[(*x % 8) as usize] += 1;
    }
    for piece in v.chunks_mut(8) { // @parallel
        for x in piece.iter_mut() { // @parallel
            *x += 1;
        }
    }
    for (i, piece) in v.chunks_exact_mut(4).enumerate() { // @parallel
        piece[0] = i as u32;
    }
    let mut sum = 0;
    for piece in v.chunks(5) { // @clauses
        sum += piece.iter().sum::<u32>();
    }
    let mut carry = 0;
    for piece in v.chunks_mut(8) { // @serial
        piece[0] += carry;
        carry = piece[1] * 3 + carry / 2;
    }
    let size = 3 + hist[1] as usize % 4;
    let mut sums = vec![0; v.len()];
    for (to, piece) in sums.iter_mut().zip(v.chunks(size)) { // @parallel
        *to = piece[0] * 2;
    }
    let mut rest = &v[..];
    while !rest.is_empty() { // @serial
        let length = (rest[0] as usize % 3 + 1).min(rest.len());
        rest = &rest[length..];
        sum ^= length as u32;
    }
    for pair in v.windows(2) { // @serial
        hist[0] = hist[0].wrapping_mul(3) + pair[0] + pair[1];
    }
    for i in 0..v.len() / 2 { // @parallel
        let (left, right) = v.split_at_mut(48);
        left[i] = right[i] + 1;
    }
    sum + hist[3] + sums[2]
}

fn main() {
    iterators::run();
    println!("{}", kernels::all());
    adapters::run();
    applied::run();
    tricky::run();
    println!("{}", vectors::all());
    folds::run();
    cells::run();
    choices::run();
    library::run();
    leftover::run();
    std::hint::black_box(shown::run());
    let (mut v, mut w) = (vec![0.0; N], vec![0.0; N]);
    let mut points: Vec<Point> = (0..N).map(|i| Point { x: i as f64, y: 1.0 }).collect();
    let result = numbers(&mut v, &mut w) + choices(&v) + tables(&w) as f64 + objects(&mut points);
    printed(&w);
    let mut numbers: Vec<u32> = (0..96).map(|i| i * 7 % 64).collect();
    let mut hist = [0; 8];
    let sum = pieces(&mut numbers, &mut hist);
    println!("{result} {sum} {hist:?} {}", numbers[5]);
}
