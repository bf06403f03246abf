//! Iterators in pairs and pieces, tables, state in objects. Labels as in `main.rs`.
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

struct Stats { sum: f64, sq: f64, n: usize, max: f64 }
impl Stats {
    fn add(&mut self, x: f64) { self.sum += x; self.sq += x * x; self.n += 1; }
    fn top(&mut self, x: f64) { if x > self.max { self.max = x; } }
}
struct Lcg(u64);
impl Lcg { fn next(&mut self) -> u64 { self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1); self.0 >> 33 } }
trait Shape { fn area(&self) -> f64; }
struct Sq(f64);
struct Ci(f64);
impl Shape for Sq { fn area(&self) -> f64 { self.0 * self.0 } }
impl Shape for Ci { fn area(&self) -> f64 { self.0 * 3.0 } }

fn collatz(mut n: u64) -> u32 {
    let mut k = 0;
    while n != 1 { n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 }; k += 1; } // @serial
    k
}

pub(crate) fn run() {
    let n = 60;
    let mut rng = Lcg(7);
    let mut v: Vec<f64> = Vec::new();
    for _ in 0..n { v.push((rng.next() % 100) as f64); } // @serial
    let mut w = vec![0.0; n];
    for (a, b) in w.iter_mut().zip(&v) { *a = b * 2.0; } // @parallel
    for chunk in w.chunks_mut(7) { let s: f64 = chunk.iter().sum(); for x in chunk.iter_mut() { *x /= s + 1.0; } } // @parallel
    let mut total = 0.0;
    for pair in v.windows(2) { total += (pair[1] - pair[0]).abs(); } // @clauses
    for i in 1..n { w[i] = w[i - 1] * 0.5 + v[i]; } // @serial
    let mut st = Stats { sum: 0.0, sq: 0.0, n: 0, max: f64::MIN };
    for &x in &v { st.add(x); } // @clauses
    for &x in &v { st.top(x); }
    let mut hist = [0usize; 10];
    for &x in &v { hist[x as usize / 10] += 1; } // @clauses
    let mut seen: HashMap<u64, u32> = HashMap::new();
    for &x in &v { *seen.entry(x as u64).or_insert(0) += 1; } // @serial
    let mut uniq = 0;
    for (_, c) in &seen { if *c == 1 { uniq += 1; } }
    let mut ord = BTreeMap::new();
    for (i, &x) in v.iter().enumerate() { ord.insert(x as u64, i); } // @serial
    let best = v.iter().copied().fold(f64::MIN, f64::max);
    let mut m = f64::MIN;
    for &x in &v { m = m.max(x); } // @clauses
    let lens: Vec<u32> = (1..50u64).map(collatz).collect();
    let mut counts = vec![0u32; 50];
    for i in 1..50 { counts[i] = collatz(i as u64); } // @parallel
    let mut grid = vec![vec![0i32; 20]; 15];
    for (i, row) in grid.iter_mut().enumerate() { // @parallel
        for (j, x) in row.iter_mut().enumerate() { *x = (i * j) as i32 % 7; } // @parallel
    }
    for i in 1..15 { // @serial
        for j in 1..20 { grid[i][j] = grid[i - 1][j].max(grid[i][j - 1]) + grid[i][j]; } // @serial
    }
    let mut out = String::new();
    for i in 0..10 { out.push_str(&i.to_string()); } // @serial
    let shapes: Vec<Box<dyn Shape>> = (0..10).map(|i| if i % 2 == 0 { Box::new(Sq(i as f64)) as Box<dyn Shape> } else { Box::new(Ci(i as f64)) }).collect();
    let mut area = 0.0;
    for s in &shapes { area += s.area(); } // @clauses
    let mut queue = VecDeque::from([0usize]);
    let mut visited = HashSet::new();
    while let Some(x) = queue.pop_front() { // @serial
        if x < 40 && visited.insert(x) { queue.push_back(2 * x + 1); queue.push_back(2 * x + 2); }
    }
    let mut k = 0;
    let mut packed = vec![0.0; n];
    for &x in &v { if x > 50.0 { packed[k] = x; k += 1; } } // @serial
    let mut all = 0u32;
    for (i, c) in out.bytes().enumerate() { all ^= u32::from(c) << (i % 16); } // @clauses
    let mut h = 0u32;
    for c in out.chars() { h = h.wrapping_mul(31).wrapping_add(c as u32); } // @serial
    let mut rows = grid.clone();
    for row in &mut rows { row.sort_unstable(); } // @parallel
    let mut last = 0;
    for i in 0..n { last = i; w[i] = v[i] + last as f64; } // @clauses
    let mut fibs = [0u64; 30];
    fibs[1] = 1;
    for i in 2..30 { fibs[i] = fibs[i - 1] + fibs[i - 2]; } // @serial
    let (left, right) = w.split_at_mut(30);
    for (a, b) in left.iter_mut().zip(right.iter()) { *a += *b; } // @parallel
    let mut bits = 0u64;
    for &x in &v { bits |= 1 << (x as u64 % 64); } // @clauses
    let mut t = 1.0;
    for i in (0..n).rev().step_by(2) { w[i] = t; t += 0.5; } // @clauses
    let any = v.iter().any(|&x| x == 50.0);
    let mut found = false;
    for &x in &v { if x == 77.0 { found = true; } } // @parallel
    for x in &v { if *x > 98.0 { println!("{x}"); break; } } // @serial
    println!("{total} {} {} {} {uniq} {best} {m} {} {} {area} {} {k} {all} {h} {last} {} {bits} {any} {found} {} {}", st.sum + st.sq, st.n, st.max, lens[6], counts[7], visited.len(), fibs[20], ord.len(), rows[3][4] + hist[3] as i32);
}
