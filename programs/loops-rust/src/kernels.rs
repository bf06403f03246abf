//! Numeric kernels. Labels as in the main file.
const N: usize = 24;
type Grid = Vec<Vec<f64>>;
fn matmul(a: &Grid, b: &Grid, c: &mut Grid) {
    for i in 0..N { // @parallel
        for j in 0..N { // @parallel
            let mut s = 0.0;
            for k in 0..N { // @clauses
                s += a[i][k] * b[k][j];
            }
            c[i][j] = s;
        }
    }
}
fn jacobi(a: &mut [f64], b: &mut [f64], steps: usize) {
    for _ in 0..steps { // @serial
        for i in 1..a.len() - 1 { // @parallel
            b[i] = (a[i - 1] + a[i + 1]) / 2.0;
        }
        a.copy_from_slice(b);
    }
}
fn seidel(g: &mut Grid) {
    for i in 1..N - 1 { // @serial
        for j in 1..N - 1 { // @serial
            g[i][j] = 0.25 * (g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1]);
        }
    }
}
fn swapping(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    for _ in 0..4 { // @serial
        for i in 1..a.len() - 1 { // @parallel
            b[i] = a[i - 1] + a[i + 1];
        }
        std::mem::swap(&mut a, &mut b);
    }
    a[3]
}
fn lu(a: &mut Grid) {
    for k in 0..N - 1 { // @serial
        for i in k + 1..N { // @parallel
            let f = a[i][k] / (a[k][k] + 100.0);
            a[i][k] = f;
            for j in k + 1..N { // @parallel
                a[i][j] -= f * a[k][j];
            }
        }
    }
}
fn spmv(rows: &[usize], cols: &[usize], x: &[f64], y: &mut [f64]) {
    for i in 0..y.len() { // @parallel
        let mut s = 0.0;
        for k in rows[i]..rows[i + 1] { // @clauses
            s += x[cols[k]];
        }
        y[i] = s;
    }
}
fn scatter(index: &[usize], y: &mut [f64], x: &[f64]) {
    for (k, &i) in index.iter().enumerate() { // @clauses
        y[i] += x[k];
    }
}
fn permute(index: &[usize], y: &mut [f64], x: &[f64]) {
    for (k, &i) in index.iter().enumerate() { // @parallel
        y[i] = x[k];
    }
}
fn sieve(n: usize) -> usize {
    let mut prime = vec![true; n];
    let mut i = 2;
    while i * i < n {
        if prime[i] {
            let mut j = i * i;
            while j < n { // @parallel
                prime[j] = false;
                j += i;
            }
        }
        i += 1;
    }
    prime.iter().filter(|p| **p).count()
}
fn collatz() -> u32 {
    let mut most = 0;
    for i in 1..60u64 { // @clauses
        let (mut n, mut steps) = (i, 0);
        while n != 1 { // @serial
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        most = most.max(steps);
    }
    most
}
fn fib(memo: &mut [u64]) -> u64 {
    for i in 2..memo.len() { // @serial
        memo[i] = memo[i - 1].wrapping_add(memo[i - 2]);
    }
    memo[memo.len() - 1]
}
static mut CALLS: u32 = 0;
fn global(n: u32) -> u32 {
    for i in 0..n { // @clauses
        unsafe { CALLS += i; } // SAFETY: one thread.
    }
    unsafe { CALLS } // SAFETY: one thread.
}
fn mandel() -> usize {
    let mut image = vec![0u8; N * N];
    for y in 0..N { // @parallel
        for x in 0..N { // @parallel
            let (cx, cy) = (x as f64 / 10.0 - 2.0, y as f64 / 10.0 - 1.0);
            let (mut a, mut b, mut n) = (0.0, 0.0, 0);
            while a * a + b * b < 4.0 && n < 50 { // @serial
                let t = a * a - b * b + cx;
                b = 2.0 * a * b + cy;
                a = t;
                n += 1;
            }
            image[y * N + x] = n;
        }
    }
    image.iter().map(|p| *p as usize).sum() // @clauses
}
fn lcs(a: &[u8], b: &[u8]) -> usize {
    let mut t = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for i in 1..=a.len() { // @serial
        for j in 1..=b.len() { // @serial
            t[i][j] = if a[i - 1] == b[j - 1] { t[i - 1][j - 1] + 1 } else { t[i - 1][j].max(t[i][j - 1]) };
        }
    }
    t[a.len()][b.len()]
}
fn prefix(v: &mut [u64]) {
    let mut acc = 0;
    for x in v.iter_mut() { // @serial
        acc += *x;
        *x = acc;
    }
}
fn compact(v: &[u64]) -> Vec<u64> {
    let mut out = vec![0; v.len()];
    let mut n = 0;
    for &x in v { // @serial
        if x % 3 == 0 { out[n] = x; n += 1; }
    }
    out.truncate(n);
    out
}
fn strided(v: &mut [u64]) {
    let mut k = 0;
    for i in 0..v.len() / 2 { // @clauses
        v[k] = i as u64;
        k += 2;
    }
}
pub fn all() -> String {
    let a: Grid = (0..N).map(|i| (0..N).map(|j| (i + j) as f64).collect()).collect();
    let mut c = a.clone();
    matmul(&a, &a, &mut c);
    seidel(&mut c);
    lu(&mut c);
    let (mut x, mut y) = (vec![1.0; N], vec![2.0; N]);
    jacobi(&mut x, &mut y, 5);
    let rows: Vec<usize> = (0..=N).map(|i| i * 2).collect();
    let cols: Vec<usize> = (0..2 * N).map(|i| i * 7 % N).collect();
    spmv(&rows, &cols, &x, &mut y);
    scatter(&cols, &mut y, &vec![1.5; 2 * N]);
    let perm: Vec<usize> = (0..N).map(|i| i * 5 % N).collect();
    permute(&perm, &mut y, &x);
    let mut v: Vec<u64> = (0..N as u64).collect();
    prefix(&mut v);
    let z = compact(&v);
    strided(&mut v);
    format!("{} {} {} {} {} {} {} {} {} {}", c[3][4], y[5], sieve(200), collatz(), fib(&mut v.clone()), global(30), mandel(), lcs(b"the quick brown fox", b"lazy dogs jump quick"), z.len(), swapping(x.clone(), y.clone()) + v[4] as f64)
}
