//! Loops of small programs as they are written today.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::rc::Rc;

struct Matrix { rows: usize, cols: usize, data: Vec<f64> }
impl Matrix {
    fn new(rows: usize, cols: usize) -> Matrix { Matrix { rows, cols, data: vec![0.0; rows * cols] } }
    fn at(&self, i: usize, j: usize) -> f64 { self.data[i * self.cols + j] }
    fn set(&mut self, i: usize, j: usize, v: f64) { self.data[i * self.cols + j] = v; }
}
impl std::ops::Index<(usize, usize)> for Matrix { type Output = f64; fn index(&self, (i, j): (usize, usize)) -> &f64 { &self.data[i * self.cols + j] } }
impl std::ops::IndexMut<(usize, usize)> for Matrix { fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 { &mut self.data[i * self.cols + j] } }
fn mul(a: &Matrix, b: &Matrix, c: &mut Matrix) {
    for i in 0..a.rows { // @parallel
        for j in 0..b.cols { // @parallel
            let mut s = 0.0;
            for k in 0..a.cols { // @clauses
                s += a.at(i, k) * b.at(k, j);
            }
            c.set(i, j, s);
        }
    }
}
fn lu(a: &mut Matrix) {
    for k in 0..a.rows { // @serial
        for i in k + 1..a.rows { // @parallel
            a[(i, k)] /= a[(k, k)];
            for j in k + 1..a.rows { // @parallel
                let t = a[(i, k)] * a[(k, j)];
                a[(i, j)] -= t;
            }
        }
    }
}
fn jacobi(a: &mut Vec<f64>, b: &mut Vec<f64>) -> f64 {
    let mut err = 0.0_f64;
    for _ in 0..4 { // @serial
        err = 0.0;
        for i in 1..a.len() - 1 { // @clauses
            b[i] = 0.5 * (a[i - 1] + a[i + 1]);
            err = err.max((b[i] - a[i]).abs());
        }
        std::mem::swap(a, b);
    }
    err
}
fn kmeans(xs: &[f64], c: &mut [f64], assign: &mut [usize]) -> f64 {
    let mut inertia = 0.0;
    for _ in 0..3 { // @serial
        inertia = 0.0;
        for (i, x) in xs.iter().enumerate() { // @clauses
            let mut best = (0, f64::MAX);
            for (k, c) in c.iter().enumerate() { // @serial
                let d = (x - c).abs();
                if d < best.1 { best = (k, d); }
            }
            assign[i] = best.0;
            inertia += best.1 * best.1;
        }
        let mut sum = vec![0.0; c.len()];
        let mut n = vec![0usize; c.len()];
        for (x, a) in xs.iter().zip(assign.iter()) { // @clauses
            sum[*a] += x;
            n[*a] += 1;
        }
        for ((c, s), n) in c.iter_mut().zip(&sum).zip(&n) { // @parallel
            if *n > 0 { *c = s / *n as f64; }
        }
    }
    inertia
}
fn mandel(w: usize, h: usize, img: &mut [u8]) -> u32 {
    let mut total = 0;
    for (y, row) in img.chunks_mut(w).enumerate() { // @clauses
        for (x, px) in row.iter_mut().enumerate() { // @clauses
            let (cx, cy) = (-2.0 + 3.0 * x as f64 / w as f64, -1.0 + 2.0 * y as f64 / h as f64);
            let (mut zx, mut zy, mut n) = (0.0, 0.0, 0u32);
            while n < 50 && zx * zx + zy * zy < 4.0 { // @serial
                let t = zx * zx - zy * zy + cx;
                zy = 2.0 * zx * zy + cy;
                zx = t;
                n += 1;
            }
            *px = n as u8;
            total += n;
        }
    }
    total
}
fn spmv(ptr: &[usize], col: &[usize], val: &[f64], x: &[f64], y: &mut [f64]) {
    for (i, y) in y.iter_mut().enumerate() { // @parallel
        *y = (ptr[i]..ptr[i + 1]).map(|k| val[k] * x[col[k]]).sum();
    }
}
fn lcs(a: &[u8], b: &[u8]) -> usize {
    let mut t = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 1..=a.len() { // @serial
        for j in 1..=b.len() { // @serial
            t[i][j] = if a[i - 1] == b[j - 1] { t[i - 1][j - 1] + 1 } else { t[i - 1][j].max(t[i][j - 1]) };
        }
    }
    t[a.len()][b.len()]
}
fn sieve(n: usize) -> usize {
    let mut c = vec![false; n + 1];
    let mut i = 2;
    while i * i <= n { // @serial
        if !c[i] {
            for j in (i * i..=n).step_by(i) {
                c[j] = true;
            }
        }
        i += 1;
    }
    let mut count = 0;
    for x in &c[2..] { // @clauses
        if !x { count += 1; }
    }
    count
}
fn bfs(g: &[Vec<usize>]) -> usize {
    let mut dist = vec![usize::MAX; g.len()];
    let mut q = VecDeque::from([0]);
    dist[0] = 0;
    while let Some(u) = q.pop_front() { // @serial
        for &v in &g[u] { // @serial
            if dist[v] == usize::MAX {
                dist[v] = dist[u] + 1;
                q.push_back(v);
            }
        }
    }
    let mut far = 0;
    for d in &dist { far = far.max(*d); } // @clauses
    far
}
fn dijkstra(g: &[Vec<usize>]) -> u64 {
    let mut d = vec![u64::MAX; g.len()];
    let mut h = BinaryHeap::new();
    d[0] = 0;
    h.push(std::cmp::Reverse((0, 0usize)));
    while let Some(std::cmp::Reverse((c, u))) = h.pop() { // @serial
        if c > d[u] { continue; }
        for &v in &g[u] { // @serial
            let n = c + 1 + (u + v) as u64 % 3;
            if n < d[v] { d[v] = n; h.push(std::cmp::Reverse((n, v))); }
        }
    }
    d.iter().sum()
}
fn words(ws: &[&str]) -> HashMap<String, usize> {
    let mut m = HashMap::new();
    for w in ws { // @serial
        *m.entry(w.to_string()).or_insert(0) += 1;
    }
    m
}
fn unique(v: &[i64]) -> usize {
    let mut s = HashSet::new();
    for x in v { s.insert(x % 7); } // @serial
    s.len()
}
fn btree(v: &[i64]) -> i64 {
    let mut m = BTreeMap::new();
    for (i, x) in v.iter().enumerate() { m.insert(*x, i); } // @serial
    m.keys().sum()
}
fn lower(ss: &mut Vec<String>) {
    for s in ss.iter_mut() { // @parallel
        *s = s.to_lowercase().chars().rev().collect();
    }
}
fn lengths(ss: &[String]) -> usize {
    let mut n = 0;
    for s in ss { n += s.len(); } // @clauses
    n
}
fn join(ss: &[String]) -> String {
    let mut out = String::new();
    for s in ss { // @serial
        out.push_str(s);
        out.push(' ');
    }
    out
}
fn fmt(v: &[i64]) -> String {
    let mut out = String::new();
    for x in v { write!(out, "{x},").unwrap(); } // @serial
    out
}
fn squares(n: i64) -> Vec<i64> {
    let mut v = Vec::new();
    for i in 0..n { v.push(i * i); } // @serial
    v
}
fn hash(v: &[i64]) -> u64 {
    let mut h = 0xcbf29ce484222325u64;
    for x in v { // @serial
        h ^= *x as u64;
        h = h.wrapping_mul(0x100000001b3);
    }
    h
}
fn xor(v: &[i64]) -> u64 {
    let mut h = 0;
    for x in v { h ^= (*x as u64).wrapping_mul(0x9e3779b97f4a7c15); } // @clauses
    h
}
fn wrap(v: &[i64]) -> i32 {
    let mut h = 0i32;
    for x in v { h = h.wrapping_add(*x as i32); } // @clauses
    h
}
fn sat(v: &[i64]) -> i64 {
    let mut h = 0i64;
    for x in v { h = h.saturating_add(*x); } // @serial
    h
}
fn minmax(v: &[f64]) -> (f64, f64) {
    let mut r = (f64::MAX, f64::MIN);
    for x in v { // @clauses
        r.0 = r.0.min(*x);
        r.1 = r.1.max(*x);
    }
    r
}
fn minif(v: &[i64]) -> (i64, i64) {
    let (mut lo, mut hi) = (i64::MAX, i64::MIN);
    for &x in v { // @clauses
        if x < lo { lo = x; }
        if x > hi { hi = x; }
    }
    (lo, hi)
}
fn all(v: &[i64]) -> bool {
    let mut ok = true;
    for x in v { ok &= *x >= 0; } // @clauses
    ok
}
fn anyb(v: &[i64]) -> bool {
    let mut any = false;
    for x in v { any = any || *x == 49; } // @clauses
    any
}
fn find(v: &[i64], k: i64) -> Option<usize> {
    for (i, x) in v.iter().enumerate() { // @serial
        if *x == k { return Some(i); }
    }
    None
}
fn prefix(v: &mut [i64]) {
    for i in 1..v.len() { v[i] += v[i - 1]; } // @serial
}
fn windows(v: &[f64], out: &mut [f64]) {
    for (w, o) in v.windows(3).zip(out.iter_mut()) { // @parallel
        *o = (w[0] + w[1] + w[2]) / 3.0;
    }
}
fn transpose(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut b = vec![vec![0.0; a.len()]; a[0].len()];
    for (i, row) in a.iter().enumerate() { // @parallel
        for (j, x) in row.iter().enumerate() { // @parallel
            b[j][i] = *x;
        }
    }
    b
}
trait Shape { fn area(&self) -> f64; }
struct Circle(f64);
struct Rect { a: f64, b: f64 }
impl Shape for Circle { fn area(&self) -> f64 { 3.14 * self.0 * self.0 } }
impl Shape for Rect { fn area(&self) -> f64 { self.a * self.b } }
fn areas(s: &[Box<dyn Shape>]) -> f64 {
    let mut t = 0.0;
    for x in s { t += x.area(); } // @clauses
    t
}
enum Op { Add(i64), Mul(i64), Neg }
fn interpret(ops: &[Op]) -> i64 {
    let mut acc = 1i64;
    for op in ops { // @serial
        match op {
            Op::Add(x) => acc = acc.wrapping_add(*x),
            Op::Mul(x) => acc = acc.wrapping_mul(*x),
            Op::Neg => acc = -acc,
        }
    }
    acc
}
fn weigh(ops: &[Op]) -> i64 {
    let mut n = 0;
    for op in ops { // @clauses
        n += match op { Op::Add(x) => *x, Op::Mul(x) => 2 * x, Op::Neg => 1 };
    }
    n
}
fn refcell(v: &[i64], total: &RefCell<i64>, cell: &Cell<i64>) {
    for x in v { *total.borrow_mut() += x; }
    for x in v { cell.set(cell.get() + x); } // @clauses
}
fn rc(v: &[Rc<i64>]) -> i64 {
    let mut s = 0;
    for x in v { s += **x; } // @clauses
    s
}
fn fold(v: &[i64]) -> i64 { v.iter().fold(0, |a, x| a + x * x) }
fn collatz(n: u64) -> u64 {
    let mut longest = 0;
    for i in 1..n { // @clauses
        let (mut x, mut len) = (i, 0);
        while x != 1 { // @serial
            x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
            len += 1;
        }
        if len > longest { longest = len; }
    }
    longest
}
fn lcg(n: usize) -> f64 {
    let mut s = 12345u64;
    let mut inside = 0;
    for _ in 0..n { // @serial
        s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = (s >> 33) as f64 / (1u64 << 31) as f64;
        if x < 0.5 { inside += 1; }
    }
    inside as f64 / n as f64
}
fn bubble(v: &mut [i64]) {
    for i in 0..v.len() { // @serial
        for j in 0..v.len() - 1 - i { // @serial
            if v[j] > v[j + 1] { v.swap(j, j + 1); }
        }
    }
}
fn oddeven(v: &mut [i64]) {
    for p in 0..v.len() { // @serial
        for c in v[p % 2..].chunks_exact_mut(2) { // @parallel
            if c[0] > c[1] { c.swap(0, 1); }
        }
    }
}
fn rows(vv: &mut [Vec<i64>]) {
    for v in vv.iter_mut() { v.sort_unstable(); } // @parallel
}
fn hist(v: &[u8], h: &mut [u32; 256]) {
    for b in v { h[*b as usize] += 1; } // @clauses
}
fn copyback(v: &mut [i64], w: &[i64]) {
    for (i, x) in v.iter_mut().enumerate() { // @parallel
        let t = [w[i], w[(i + 1) % w.len()], w[(i + 2) % w.len()]];
        *x = t.iter().copied().max().unwrap();
    }
}
fn last(v: &[i64]) -> i64 {
    let mut l = 0;
    for x in v { l = *x * 2; } // @clauses
    l
}
pub fn run() {
    let v: Vec<i64> = (0..40).map(|i| (i * 37) % 101).collect();
    let xs: Vec<f64> = v.iter().map(|x| *x as f64 / 3.0).collect();
    let (mut a, mut c) = (Matrix::new(8, 8), Matrix::new(8, 8));
    for i in 0..8 { for j in 0..8 { a[(i, j)] = if i == j { 20.0 } else { ((i * 7 + j * 3) % 5) as f64 }; } }
    mul(&a, &a, &mut c);
    lu(&mut a);
    let (mut ja, mut jb) = (xs.clone(), xs.clone());
    let e = jacobi(&mut ja, &mut jb);
    let mut cs = [1.0, 10.0, 20.0];
    let mut asg = vec![0; xs.len()];
    let k = kmeans(&xs, &mut cs, &mut asg);
    let mut img = vec![0u8; 200];
    let m = mandel(20, 10, &mut img);
    let mut y = [0.0; 4];
    spmv(&[0, 2, 4, 7, 9], &[0, 1, 1, 2, 0, 2, 3, 1, 3], &[1.5; 9], &[2.0; 4], &mut y);
    let l = lcs(b"kitten sitting", b"sitting kitten");
    let s = sieve(200);
    let g: Vec<Vec<usize>> = (0..10).map(|i| vec![(i * 3 + 1) % 10, (i + 1) % 10]).collect();
    let (f, d) = (bfs(&g), dijkstra(&g));
    let ws = words(&["a", "b", "a", "cc"]);
    let mut ss: Vec<String> = ["Hello", "World", "Foo", "Bar"].map(String::from).to_vec();
    lower(&mut ss);
    let (n, j, ff) = (lengths(&ss), join(&ss), fmt(&v));
    let mut sq = squares(20);
    println!("{} {} {} {} {}", hash(&v), xor(&v), wrap(&v), sat(&v), unique(&v));
    println!("{:?} {:?} {} {} {:?}", minmax(&xs), minif(&v), all(&v), anyb(&v), find(&v, 50));
    prefix(&mut sq);
    let mut out = vec![0.0; 38];
    windows(&xs, &mut out);
    let t = transpose(&[xs.clone(), out.iter().copied().chain([0.0, 0.0]).collect()]);
    let sh: Vec<Box<dyn Shape>> = (0..6).map(|i| if i % 2 == 0 { Box::new(Circle(i as f64)) as Box<dyn Shape> } else { Box::new(Rect { a: 2.0, b: i as f64 }) }).collect();
    let ops = [Op::Add(3), Op::Mul(4), Op::Neg, Op::Add(7)];
    let (rcell, cell) = (RefCell::new(0), Cell::new(0));
    refcell(&v, &rcell, &cell);
    let rcs: Vec<Rc<i64>> = v.iter().map(|x| Rc::new(*x)).collect();
    println!("{} {} {} {:?} {} {} {}", areas(&sh), interpret(&ops), weigh(&ops), rcell, cell.get(), rc(&rcs), fold(&v));
    let mut w = v.clone();
    bubble(&mut w);
    let mut w2 = v.clone();
    oddeven(&mut w2);
    let mut vv = vec![v.clone(), w2.clone(), sq.clone()];
    rows(&mut vv);
    let mut h = [0; 256];
    hist(&img, &mut h);
    copyback(&mut w, &v);
    println!("{} {} {} {} {} {}", collatz(30), lcg(50), w[3], w2[3], vv[2][0], h[3] as i64 + last(&v));
    println!("{e} {k} {m} {} {l} {s} {f} {d} {} {n} {j} {} {} {} {} {}", y[1], ws.len(), ff.len(), sq[3], t[1][1], c.data[9] + a.data[9], btree(&v));
}
