//! Adapters of iterators, options, vectors of vectors, members. Labels as in the main file.

use std::collections::HashMap;
const N: usize = 36;
#[derive(Clone, Debug, Default)]
struct Acc { sum: f64, n: u64, max: f64, hist: [u32; 8] }
impl Acc {
    fn add(&mut self, x: f64) { self.sum += x; self.n += 1; }
    fn all(&mut self, v: &[f64]) {
        for &x in v { // @clauses
            self.sum += x;
            self.n += 1;
        }
        for &x in v { // @clauses
            if x > self.max { self.max = x; }
        }
        for &x in v { // @clauses
            self.hist[x as usize & 7] += 1;
        }
        for &x in v { // @serial
            self.sum = self.sum * 0.5 + x;
        }
    }
}
struct Countdown(u32);
impl Iterator for Countdown { type Item = u32; fn next(&mut self) -> Option<u32> { if self.0 == 0 { None } else { self.0 -= 1; Some(self.0) } } }
struct Matrix { r: usize, c: usize, d: Vec<f64> }
impl Matrix {
    fn new(r: usize, c: usize) -> Matrix { Matrix { r, c, d: vec![0.0; r * c] } }
    fn get(&self, i: usize, j: usize) -> f64 { self.d[i * self.c + j] }
    fn set(&mut self, i: usize, j: usize, x: f64) { self.d[i * self.c + j] = x; }
    fn mul(&self, o: &Matrix) -> Matrix {
        let mut m = Matrix::new(self.r, o.c);
        for i in 0..self.r { // @parallel
            for j in 0..o.c { // @parallel
                let mut s = 0.0;
                for k in 0..self.c { // @clauses
                    s += self.get(i, k) * o.get(k, j);
                }
                m.set(i, j, s);
            }
        }
        m
    }
    fn rows(&mut self) {
        let c = self.c;
        for row in self.d.chunks_exact_mut(c) { // @parallel
            let t: f64 = row.iter().sum(); // @clauses
            for x in row.iter_mut() { // @parallel
                *x /= t + 1.0;
            }
        }
    }
    fn smooth(&mut self) {
        for i in 1..self.r { // @serial
            for j in 0..self.c { // @parallel
                let x = 0.5 * (self.get(i, j) + self.get(i - 1, j));
                self.set(i, j, x);
            }
        }
    }
}
fn stepping(v: &mut [f64]) -> f64 {
    for i in (0..v.len()).step_by(2) { // @parallel
        v[i] = i as f64;
    }
    for i in (0..v.len()).rev() { // @parallel
        v[i] += 1.0;
    }
    for i in (1..v.len()).rev() { // @serial
        v[i] = v[i] + v[i - 1];
    }
    let mut s = 0.0;
    for i in (1..v.len()).step_by(3) { // @clauses
        s += v[i];
    }
    for x in v.iter_mut().skip(3).take(10) { // @parallel
        *x *= 2.0;
    }
    for (i, x) in v.iter_mut().enumerate().skip(1) { // @parallel
        *x += i as f64;
    }
    let mut i = 0;
    while i < v.len() { // @parallel
        v[i] *= 0.5;
        i += 1;
    }
    let mut i = 0;
    loop {
        if i >= v.len() { break; }
        v[i] += 1.0;
        i += 1;
    }
    for i in 0..v.len() - 2 { // @serial
        v[i + 2] = v[i] + 1.0;
    }
    for i in 0..v.len() / 2 { // @parallel
        v[2 * i] = v[2 * i + 1];
    }
    let n = v.len();
    let (a, b) = v.split_at_mut(n / 2);
    for (x, y) in a.iter_mut().zip(b.iter()) { // @parallel
        *x += y;
    }
    for ((x, y), z) in a.iter_mut().zip(b.iter_mut()).zip(0..) { // @parallel
        *x += *y + z as f64;
        *y = 0.0;
    }
    s
}
fn options(v: &[f64]) -> (i64, Option<usize>) {
    let mut count = 0;
    for x in v { // @clauses
        match *x as i64 % 4 {
            0 => count += 1,
            1 => count += 2,
            _ => {}
        }
    }
    let mut found = None;
    for (i, x) in v.iter().enumerate() { // @serial
        if *x > 10.0 && found.is_none() { found = Some(i); }
    }
    let mut last = None;
    for (i, x) in v.iter().enumerate() { // @serial
        if *x > 5.0 { last = Some(i); }
    }
    let mut out = vec![None; v.len()];
    for (o, x) in out.iter_mut().zip(v) { // @parallel
        if *x > 3.0 { *o = Some(*x as i64); }
    }
    for o in out.iter().flatten() {
        count += o;
    }
    let mut best: Option<f64> = None;
    for &x in v { // @serial
        best = Some(best.map_or(x, |b| b.max(x)));
    }
    let parsed: Result<Vec<i64>, std::num::ParseIntError> = "1 2 3 4".split(' ').map(str::parse).collect();
    for x in parsed.unwrap() { // @clauses
        count += x;
    }
    (count + last.unwrap_or(0) as i64 + best.unwrap_or(0.0) as i64, found)
}
fn vectors(n: usize) -> usize {
    let mut v: Vec<usize> = Vec::with_capacity(n);
    for i in 0..n { // @serial
        v.push(i * 7 % n);
    }
    let mut w = vec![0; n];
    for i in 0..n { // @parallel
        w[v[i]] = i;
    }
    v.sort_unstable();
    v.retain(|x| x % 3 != 0);
    let mut pairs: Vec<(usize, f64)> = vec![(0, 0.0); n];
    for (i, p) in pairs.iter_mut().enumerate() { // @parallel
        p.0 = i;
        p.1 = i as f64 * 0.5;
    }
    let mut t = 0.0;
    for (i, x) in &pairs { // @clauses
        t += *i as f64 * x;
    }
    let mut grid = vec![[0u8; 16]; 12];
    for (y, row) in grid.iter_mut().enumerate() { // @parallel
        for (x, c) in row.iter_mut().enumerate() { // @parallel
            *c = (x ^ y) as u8;
        }
    }
    let mut alive = 0;
    for y in 1..11 { // @clauses
        for x in 1..15 { // @clauses
            let mut near = 0;
            for dy in 0..3 { // @clauses
                for dx in 0..3 { // @clauses
                    near += u32::from(grid[y + dy - 1][x + dx - 1] & 1);
                }
            }
            if near == 3 { alive += 1; }
        }
    }
    let mut lists: Vec<Vec<usize>> = vec![Vec::new(); 6];
    for i in 0..n { // @serial
        lists[i % 6].push(i);
    }
    for l in lists.iter_mut() { // @parallel
        l.push(1);
        l.sort_unstable();
    }
    let mut total = 0;
    for l in &lists { // @clauses
        for x in l { // @clauses
            total += x;
        }
    }
    let mut boxes: Vec<Box<u64>> = (0..n as u64).map(Box::new).collect();
    for b in boxes.iter_mut() { // @parallel
        **b *= 2;
    }
    for i in 1..n { // @serial
        *boxes[i] += *boxes[i - 1];
    }
    let mut s = 0;
    for x in Countdown(10) {
        s += x;
    }
    alive + total + w[3] + t as usize + *boxes[4] as usize + s as usize + v.len()
}
fn accumulate(v: &[f64]) -> f64 {
    let mut a = Acc::default();
    a.all(v);
    for &x in v {
        a.add(x);
    }
    let mut accs = vec![Acc::default(); 6];
    for (i, acc) in accs.iter_mut().enumerate() { // @parallel
        acc.add(v[i]);
    }
    for i in 0..v.len() {
        accs[i % 6].add(v[i]);
    }
    let (lo, hi) = v.iter().fold((f64::MAX, f64::MIN), |(lo, hi), &x| (lo.min(x), hi.max(x)));
    let mut words: HashMap<String, usize> = HashMap::new();
    for w in "a b a c b a".split_whitespace() { // @serial
        *words.entry(w.to_string()).or_default() += 1;
    }
    let mut run = 0.0;
    let pre: Vec<f64> = v.iter().map(|x| { run += x; run }).collect();
    let mut t = [0.0; 3];
    for x in v { // @serial
        t.rotate_left(1);
        t[2] = *x;
    }
    a.sum + a.max + accs[2].sum + lo + hi + words.len() as f64 + pre[3] + t[0] + accs[1].n as f64 + a.hist[3] as f64
}
/// Runs all.
pub fn run() {
    let mut v: Vec<f64> = (0..N).map(|i| (i * 5 % 11) as f64).collect();
    let a = stepping(&mut v);
    let b = options(&v);
    let c = vectors(N);
    let d = accumulate(&v);
    let mut m = Matrix::new(12, 12);
    for i in 0..12 { // @parallel
        for j in 0..12 { // @parallel
            m.set(i, j, (i + j) as f64);
        }
    }
    let mut p = m.mul(&m);
    p.rows();
    p.smooth();
    println!("{a} {b:?} {c} {d} {}", p.get(3, 4));
}
