//! Cells, reference counting, memories, trees, rows of a matrix. Labels as in `main.rs`.
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::{Relaxed, SeqCst}};

static SUM: AtomicU64 = AtomicU64::new(0);
static MOST: AtomicU64 = AtomicU64::new(0);
static TICKETS: AtomicUsize = AtomicUsize::new(0);
fn atomics(values: &[u64]) -> usize {
    for x in values { // @clauses
        SUM.fetch_add(*x, Relaxed);
        MOST.fetch_max(*x, SeqCst);
    }
    let mut owners = vec![0; values.len()];
    for (owner, x) in owners.iter_mut().zip(values) { // @serial
        if x % 2 == 0 { *owner = TICKETS.fetch_add(1, Relaxed); }
    }
    let mut risen = 0;
    for x in values { // @serial
        if MOST.fetch_max(*x * 2, Relaxed) < *x * 2 { risen += 1; }
    }
    owners.iter().sum::<usize>() + risen // @clauses
}

struct Stats<'a> { most: &'a mut u64, least: u64, count: usize, rises: usize }
impl Stats<'_> {
    fn add(&mut self, x: u64) {
        *self.most = (*self.most).max(x);
        if x < self.least { self.least = x; }
        self.count += 1;
    }
    fn highest(&mut self, x: u64) -> u64 { *self.most = (*self.most).max(x); *self.most }
    fn rise(&mut self, x: u64) { if x > *self.most { *self.most = x; self.rises += 1; } }
}
fn statistics(values: &[u64]) -> u64 {
    let mut most = 0;
    let mut stats = Stats { most: &mut most, least: u64::MAX, count: 0, rises: 0 };
    for x in values { stats.add(*x); } // @clauses
    let mut highest = vec![0; values.len()];
    for (to, x) in highest.iter_mut().zip(values) { *to = stats.highest(*x); } // @serial
    for x in values { stats.rise(*x * 2); } // @serial
    let mut last = 0;
    let mut keep = |x: u64| if x > last { last = x; };
    for x in values { keep(*x); } // @clauses
    stats.least + stats.count as u64 + stats.rises as u64 + highest[7] + last
}

struct Memo { known: HashMap<u64, u64>, hits: u64 }
impl Memo {
    fn fib(&mut self, n: u64) -> u64 {
        if n < 2 { return n; }
        if let Some(&x) = self.known.get(&n) { self.hits += 1; return x; }
        let x = self.fib(n - 1) + self.fib(n - 2);
        self.known.insert(n, x);
        x
    }
}
#[derive(Clone, Copy, Default)]
struct V { x: f64, y: f64 }
impl std::ops::Add for V { type Output = V; fn add(self, o: V) -> V { V { x: self.x + o.x, y: self.y + o.y } } }
impl std::ops::AddAssign for V { fn add_assign(&mut self, o: V) { self.x += o.x; self.y += o.y; } }
struct Body { p: V, v: V, m: f64 }
struct Node { v: i32, next: Option<Box<Node>> }
struct Tree { k: i32, l: Option<Box<Tree>>, r: Option<Box<Tree>> }
fn insert(t: &mut Option<Box<Tree>>, k: i32) {
    match t { None => *t = Some(Box::new(Tree { k, l: None, r: None })), Some(n) => if k < n.k { insert(&mut n.l, k) } else { insert(&mut n.r, k) } }
}
fn depth(t: &Option<Box<Tree>>) -> usize { t.as_ref().map_or(0, |n| 1 + depth(&n.l).max(depth(&n.r))) }
fn matmul(a: &[f64], b: &[f64], c: &mut [f64], n: usize) {
    for i in 0..n { // @parallel
        for j in 0..n { // @parallel
            let mut s = 0.0;
            for k in 0..n { s += a[i * n + k] * b[k * n + j]; } // @clauses
            c[i * n + j] = s;
        }
    }
}
fn escape(s: &str, out: &mut Vec<u8>) {
    for b in s.bytes() { // @serial
        if b == b' ' { out.extend_from_slice(b"%20"); } else { out.push(b); }
    }
}
pub(crate) fn run() {
    let mut memo = Memo { known: HashMap::new(), hits: 0 };
    let mut fibs = vec![0; 40];
    for i in 0..40 { fibs[i] = memo.fib(i as u64); } // @serial
    assert!(atomics(&fibs) > 0 && statistics(&fibs) > 0);
    let counter = Cell::new(0);
    for i in 0..40 { if fibs[i] % 2 == 0 { counter.set(counter.get() + 1); } } // @clauses
    let shared = Rc::new(RefCell::new(vec![0u64; 40]));
    for i in 0..40 { shared.borrow_mut()[i] = fibs[i] * 2; } // @serial
    let mut bodies: Vec<Body> = (0..25).map(|i| Body { p: V { x: i as f64, y: 0.0 }, v: V::default(), m: 1.0 }).collect();
    let mut forces = vec![V::default(); 25];
    for _step in 0..3 { // @serial
        for i in 0..25 { // @parallel
            let mut f = V::default();
            for j in 0..25 { // @clauses
                if i != j { f += V { x: bodies[j].p.x - bodies[i].p.x, y: bodies[j].m } }
            }
            forces[i] = f;
        }
        for (b, f) in bodies.iter_mut().zip(&forces) { b.v += *f; b.p = b.p + b.v; } // @parallel
    }
    let mut mid = V::default();
    for b in &bodies { mid += b.p; } // @clauses
    let mut list: Option<Box<Node>> = None;
    for i in 0..30 { list = Some(Box::new(Node { v: i, next: list })); } // @serial
    let mut sum = 0;
    let mut at = &list;
    while let Some(n) = at { sum += n.v; at = &n.next; } // @serial
    let mut tree = None;
    for i in 0..40 { insert(&mut tree, i * 17 % 41); } // @serial
    let n = 12;
    let a: Vec<f64> = (0..n * n).map(|x| x as f64).collect();
    let mut c = vec![0.0; n * n];
    matmul(&a, &a, &mut c, n);
    let mut out = Vec::new();
    escape("a b c d e f", &mut out);
    let text = "one two three two one two";
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for w in text.split(' ') { *counts.entry(w).or_default() += 1; } // @serial
    let mut longest = "";
    for w in text.split(' ') { if w.len() > longest.len() { longest = w; } } // @serial
    let mut prefix = vec![0; 40];
    let mut run = 0;
    for (p, f) in prefix.iter_mut().zip(&fibs) { run += f; *p = run; } // @serial
    let scan: Vec<u64> = fibs.iter().scan(0, |s, x| { *s += x; Some(*s) }).collect();
    let mut sieve = [true; 200];
    for i in 2..200 { // @serial
        if sieve[i] { let mut k = i * i; while k < 200 { sieve[k] = false; k += i; } }
    }
    let mut primes = 0;
    for s in sieve.iter().skip(2) { primes += usize::from(*s); } // @clauses
    let mut x = 1.0f64;
    for _ in 0..20 { x = 0.5 * (x + 2.0 / x); } // @serial
    let mut buf = [0u8; 16];
    let mut sums = vec![0u32; 30];
    for i in 0..30usize { // @clauses
        for (k, b) in buf.iter_mut().enumerate() { *b = (i * k) as u8; } // @parallel
        sums[i] = buf.iter().map(|&b| u32::from(b)).sum();
    }
    let mut acc = [0.0f64; 4];
    for (i, x) in a.iter().enumerate() { acc[i % 4] += x; } // @clauses
    let mut state = 0u8;
    for b in text.bytes() { state = match (state, b) { (0, b't') => 1, (1, b'w') => 2, (2, _) => 2, _ => 0 }; } // @serial
    for chunk in a.chunks_exact(4).zip(c.chunks_exact_mut(4)) { for k in 0..4 { chunk.1[k] = chunk.0[3 - k]; } } // @parallel
    let mut dp = vec![0u64; 100];
    dp[0] = 1;
    for coin in [1usize, 5, 10, 25] { // @serial
        for v in coin..100 { dp[v] += dp[v - coin]; } // @serial
    }
    let mut perm: Vec<usize> = (0..30).collect();
    let mut seed = 5usize;
    for i in (1..30).rev() { seed = (seed * 1103515245 + 12345) % (1 << 31); perm.swap(i, seed % (i + 1)); } // @serial
    let mut scattered = vec![0usize; 30];
    for (i, &p) in perm.iter().enumerate() { scattered[p] = i; } // @parallel
    println!("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", memo.hits, counter.get(), shared.borrow()[3], mid.x, sum, depth(&tree), c[5], out.len(), counts["two"], longest, prefix[30] == scan[30], primes, x, sums[3] as f64 + acc[2] + state as f64 + dp[99] as f64, scattered[4]);
}
