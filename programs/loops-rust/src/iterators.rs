//! Iterators, slices, maps, shared memory, closures, text. Labels as in the main file.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::rc::Rc;
const N: usize = 40;

#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Body { pos: [f64; 3], vel: [f64; 3], mass: f64 }
#[derive(Clone, Default)]
struct Cellx { value: f64, hits: u32 }
impl Cellx { fn hit(&mut self, by: f64) { self.value += by; self.hits += 1; } }
struct Store { all: Vec<Cellx>, total: u64, log: Vec<u64> }
impl Store {
    fn spread(&mut self, n: usize) {
        for i in 0..n { // @clauses
            self.all[i % 5].hit(1.0);
        }
    }
    fn each(&mut self) {
        for c in self.all.iter_mut() { // @parallel
            c.hit(2.0);
        }
    }
    fn sum(&mut self) -> u64 {
        for c in &self.all { // @clauses
            self.total += u64::from(c.hits);
        }
        self.total
    }
    fn record(&mut self, n: u64) {
        for i in 0..n { // @serial
            self.log.push(i);
        }
    }
    fn chain(&mut self) {
        for i in 1..self.all.len() { // @serial
            self.all[i].value += self.all[i - 1].value;
        }
    }
}
trait Shape { fn area(&self) -> f64; fn grow(&mut self, by: f64); }
struct Square(f64);
struct Circle { r: f64, grown: Rc<Cell<u32>> }
impl Shape for Square { fn area(&self) -> f64 { self.0 * self.0 } fn grow(&mut self, by: f64) { self.0 += by; } }
impl Shape for Circle { fn area(&self) -> f64 { 3.0 * self.r * self.r } fn grow(&mut self, by: f64) { self.r += by; self.grown.set(self.grown.get() + 1); } }
fn total_area<T: Shape>(all: &[T]) -> f64 {
    let mut t = 0.0;
    for s in all { // @clauses
        t += s.area();
    }
    t
}
fn iterators(v: &mut Vec<f64>, w: &[f64]) -> f64 {
    for x in v.iter_mut() { // @parallel
        *x += 1.0;
    }
    for (i, x) in v.iter_mut().enumerate() { // @parallel
        *x = i as f64;
    }
    for (x, y) in v.iter_mut().zip(w.iter()) { // @parallel
        *x += *y;
    }
    for i in 1..v.len() { // @serial
        v[i] += v[i - 1];
    }
    let s: f64 = v.iter().sum(); // @clauses
    let m = v.iter().cloned().fold(f64::MIN, f64::max); // @clauses
    let d: f64 = v.iter().zip(w).map(|(a, b)| a * b).sum(); // @clauses
    let mut up = 0;
    for p in v.windows(2) { // @clauses
        if p[1] > p[0] { up += 1; }
    }
    for c in v.chunks_mut(8) { // @parallel
        let first = c[0];
        for x in c { // @parallel
            *x -= first;
        }
    }
    let mut sums = vec![0.0; 5];
    for (s, c) in sums.iter_mut().zip(v.chunks(8)) { // @parallel
        *s = c.iter().sum(); // @clauses
    }
    let best = v.iter().enumerate().max_by(|a, b| a.1.partial_cmp(b.1).unwrap()).map(|(i, _)| i).unwrap();
    let evens: Vec<f64> = v.iter().filter(|x| **x as i64 % 2 == 0).cloned().collect();
    let squares: Vec<f64> = v.iter().map(|x| x * x).collect();
    let any = v.iter().any(|x| *x > 1e6);
    let last = v.iter().rev().take(3).sum::<f64>();
    let (mut a, mut b) = (0.0, 1.0);
    for x in w.iter().step_by(2) { // @clauses
        a += x;
        b *= 1.0 + x * 1e-3;
    }
    let mut ema = 0.0;
    for x in w { // @serial
        ema = ema * 0.9 + x;
    }
    let mut prev = 0.0;
    for (x, y) in v.iter_mut().zip(w) { // @serial
        *x = *y - prev;
        prev = *y;
    }
    let mut hi = f64::MIN;
    for &x in w { // @clauses
        if x > hi { hi = x; }
    }
    let mut lo = i64::MAX;
    for &x in w { // @clauses
        lo = lo.min(x as i64);
    }
    let mut pos = 0;
    for (i, &x) in w.iter().enumerate() { // @serial
        if x > 30.0 { pos = i; break; }
    }
    let mut parity = false;
    for &x in w { // @clauses
        parity ^= x > 3.0;
    }
    s + m + d + f64::from(up) + evens.len() as f64 + squares[2] + f64::from(u8::from(any)) + last + a + b + ema + prev + hi + lo as f64 + pos as f64 + best as f64 + f64::from(u8::from(parity)) + sums[1]
}
fn slices(m: &mut Vec<Vec<i64>>) -> i64 {
    for row in m.iter_mut() { // @parallel
        for x in row.iter_mut() { // @parallel
            *x += 1;
        }
    }
    let n = m.len();
    for i in 0..n { // @parallel
        for j in 0..m[i].len() { // @parallel
            m[i][j] = (i * j) as i64;
        }
    }
    for i in 1..n { // @serial
        for j in 0..n { // @parallel
            m[i][j] += m[i - 1][j];
        }
    }
    for i in 0..n { // @parallel
        let row = &mut m[i];
        row.sort();
        row.reverse();
    }
    for i in 0..n { // @parallel
        let t = m[i].clone();
        m[i][0] = t[1] + t.len() as i64;
    }
    let mut tmp = vec![0; n];
    for i in 0..n { // @clauses
        tmp.copy_from_slice(&m[i]);
        m[i][1] = tmp[2] + tmp[3];
    }
    let mut buf = [0i64; 40];
    for i in 0..n { // @clauses
        for j in 0..n { // @parallel
            buf[j] = m[i][j] * 2;
        }
        m[i][2] = buf[n - 1];
    }
    for i in 0..n / 2 { // @parallel
        m.swap(i, n - 1 - i);
    }
    let (left, right) = m.split_at_mut(n / 2);
    for i in 0..left.len() { // @parallel
        left[i][0] = right[i][0];
    }
    let mut t = vec![vec![0; n]; n];
    for i in 0..n { // @parallel
        for j in 0..n { // @parallel
            t[j][i] = m[i][j];
        }
    }
    let mut diag = 0;
    for i in 0..n { // @clauses
        diag += t[i][i];
    }
    let mut out = Vec::new();
    for i in 0..n { // @serial
        out.push(t[i][0]);
    }
    let mut col = vec![0; n];
    for row in &t { // @clauses
        for (c, x) in col.iter_mut().zip(row) { // @parallel
            *c += x;
        }
    }
    let mut bits = vec![0u64; 2];
    for i in 0..100 { // @clauses
        bits[i / 64] |= 1 << (i % 64);
    }
    let mut stack = vec![1usize];
    let mut seen = 0;
    while let Some(i) = stack.pop() { // @serial
        seen += 1;
        if i < 20 { stack.push(2 * i); stack.push(2 * i + 1); }
    }
    diag + out.len() as i64 + col[3] + bits[1] as i64 + seen
}
fn maps() -> u64 {
    let mut h: HashMap<u64, u64> = HashMap::new();
    for i in 0..N as u64 { // @serial
        *h.entry(i % 7).or_insert(0) += i;
    }
    let mut t = 0;
    for i in 0..N as u64 { // @clauses
        if let Some(x) = h.get(&i) { t += x; }
    }
    let mut keys: Vec<u64> = h.keys().copied().collect();
    keys.sort_unstable();
    let mut b = BTreeMap::new();
    for (i, k) in keys.iter().enumerate() { // @serial
        b.insert(*k, i);
    }
    for (_, v) in b.iter_mut() { // @serial
        *v += 1;
    }
    let mut set = HashSet::new();
    for i in 0..N { // @serial
        set.insert(i * i % 11);
    }
    let mut q = VecDeque::new();
    for i in 0..N { // @serial
        q.push_back(i);
    }
    let mut sum = 0;
    while let Some(x) = q.pop_front() { // @serial
        sum += x;
    }
    let mut found = vec![0u64; N];
    for i in 0..N { // @parallel
        found[i] = u64::from(set.contains(&i));
    }
    for (i, f) in found.iter_mut().enumerate() { // @parallel
        *f += b.get(&(i as u64)).map_or(0, |x| *x as u64);
    }
    t + sum as u64 + found[4] + set.len() as u64
}
fn shared() -> u32 {
    let counter = Rc::new(RefCell::new(0u32));
    for i in 0..N as u32 { // @serial
        *counter.borrow_mut() += i;
    }
    let cell = Cell::new(0u32);
    for i in 0..N as u32 { // @clauses
        cell.set(cell.get() + i);
    }
    let cells: Vec<RefCell<u32>> = (0..N as u32).map(RefCell::new).collect();
    for c in &cells { // @parallel
        *c.borrow_mut() += 1;
    }
    let nodes: Vec<Rc<Cell<u32>>> = (0..N).map(|_| Rc::new(Cell::new(1))).collect();
    for n in &nodes { // @parallel
        n.set(n.get() * 2);
    }
    let mut copies = Vec::new();
    for n in &nodes { // @serial
        copies.push(Rc::clone(n));
    }
    for i in 1..N { // @serial
        copies[i].set(copies[i].get() + nodes[i - 1].get());
    }
    let grown = Rc::new(Cell::new(0));
    let mut shapes: Vec<Box<dyn Shape>> = Vec::new();
    for i in 0..N { // @serial
        if i % 2 == 0 { shapes.push(Box::new(Square(i as f64))); } else { shapes.push(Box::new(Circle { r: 1.0, grown: Rc::clone(&grown) })); }
    }
    let mut area = 0.0;
    for s in &shapes { // @clauses
        area += s.area();
    }
    for s in shapes.iter_mut() { // @clauses
        s.grow(1.0);
    }
    let squares: Vec<Square> = (0..N).map(|i| Square(i as f64)).collect();
    let more = total_area(&squares);
    let result = *counter.borrow() + cell.get() + copies[3].get() + grown.get() + area as u32 + more as u32;
    result
}
fn closures(v: &mut [i64]) -> i64 {
    let scale = 3;
    let f = |x: i64| x * scale;
    for x in v.iter_mut() { // @parallel
        *x = f(*x);
    }
    let mut count = 0;
    let mut g = |x: i64| { count += 1; x + count };
    for x in v.iter_mut() { // @clauses
        *x = g(*x);
    }
    let mut seed = 7u64;
    let mut rng = || { seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1); (seed >> 40) as i64 };
    for x in v.iter_mut() { // @serial
        *x += rng() % 3;
    }
    let add: Box<dyn Fn(i64) -> i64> = Box::new(move |x| x + scale);
    for x in v.iter_mut() { // @parallel
        *x = add(*x);
    }
    v.iter_mut().for_each(|x| *x += 1); // @parallel
    let t = v.iter().fold(0i64, |a, x| a ^ x); // @clauses
    let p = v.iter().map(|x| x % 5 + 1).product::<i64>(); // @clauses
    let m = v.iter().copied().min().unwrap();
    let c = v.iter().filter(|x| **x > 10).count();
    let h = v.iter().fold(17u64, |a, x| a.wrapping_mul(31).wrapping_add(*x as u64)); // @serial
    t + p + m + c as i64 + (h % 100) as i64
}
fn text() -> usize {
    let words: Vec<String> = (0..N).map(|i| format!("word{i}")).collect();
    let mut n = 0;
    for w in &words { // @clauses
        n += w.len();
    }
    let mut all = String::new();
    for w in &words { // @serial
        all.push_str(w);
    }
    let mut vowels = 0;
    for c in all.chars() {
        if "aeiou".contains(c) { vowels += 1; }
    }
    let mut bytes = all.clone().into_bytes();
    for b in bytes.iter_mut() { // @parallel
        *b = b.to_ascii_uppercase();
    }
    let mut upper: Vec<String> = vec![String::new(); N];
    for (u, w) in upper.iter_mut().zip(&words) { // @parallel
        *u = w.to_uppercase();
    }
    let mut parsed = vec![0u32; N];
    for i in 0..N { // @parallel
        parsed[i] = words[i][4..].parse().unwrap();
    }
    let mut out = String::new();
    for p in &parsed { // @serial
        write!(out, "{p},").unwrap();
    }
    for i in 0..3 { // @serial
        println!("{i}");
    }
    let mut counts = [0usize; 26];
    for b in &bytes { // @clauses
        if b.is_ascii_uppercase() { counts[(b - b'A') as usize] += 1; }
    }
    n + vowels + upper[3].len() + out.len() + counts[3]
}
fn bodies() -> f64 {
    let mut all = vec![Body::default(); N];
    for (i, b) in all.iter_mut().enumerate() { // @parallel
        b.pos = [i as f64, 2.0 * i as f64, 1.0];
        b.mass = 1.0 + i as f64;
    }
    let snapshot = all.clone();
    for (i, b) in all.iter_mut().enumerate() { // @parallel
        let mut acc = [0.0; 3];
        for (j, o) in snapshot.iter().enumerate() {
            if i == j { continue; }
            for k in 0..3 { // @parallel
                acc[k] += (o.pos[k] - b.pos[k]) * o.mass * 1e-3;
            }
        }
        for k in 0..3 { // @parallel
            b.vel[k] += acc[k];
        }
    }
    for i in 0..N { // @clauses
        for j in 0..i {
            let d = all[j].pos[0] - all[i].pos[0];
            all[i].vel[0] += d * 1e-6;
            all[j].vel[0] -= d * 1e-6;
        }
    }
    for b in &mut all { // @parallel
        for k in 0..3 { // @parallel
            b.pos[k] += b.vel[k];
        }
    }
    let mut e = 0.0;
    for b in &all { // @clauses
        e += 0.5 * b.mass * b.vel.iter().map(|v| v * v).sum::<f64>();
    }
    e
}
/// Runs all.
pub fn run() {
    let mut v = vec![0.0; N];
    let w: Vec<f64> = (0..N).map(|i| (i * 7 % 40) as f64).collect();
    let a = iterators(&mut v, &w);
    let b = slices(&mut vec![vec![1; N]; N]);
    let c = maps() + u64::from(shared());
    let d = closures(&mut (0..N as i64).collect::<Vec<_>>());
    let e = text();
    let f = bodies();
    let mut s = Store { all: vec![Cellx::default(); 30], total: 0, log: Vec::new() };
    s.spread(30);
    s.each();
    let g = s.sum();
    s.record(5);
    s.chain();
    println!("{a} {b} {c} {d} {e} {f} {g} {} {}", s.log.len(), s.all[7].value);
}
