//! Loops that nearly are reductions. Labels as in the main file.

static mut G: usize = 0;
struct P { pos: usize, out: Vec<u32>, best: u32, at: usize, sum: u64 }
impl P {
    fn emit(&mut self, v: &[u32]) {
        for &x in v { // @serial
            self.out[self.pos] = x;
            self.pos += x as usize % 3;
        }
        for (i, &x) in v.iter().enumerate() { // @serial
            if x > self.best { self.best = x; self.at = i; }
        }
        for &x in v { // @serial
            self.sum += u64::from(x);
            if self.sum > 300 { self.out[0] = 1; }
        }
        for &x in v { // @serial
            self.sum = self.sum * 3 + u64::from(x);
        }
        for i in 0..v.len() { // @serial
            self.sum += u64::from(v[i]);
            self.out[i] = self.sum as u32;
        }
    }
}
fn a(v: &[u32], out: &mut Vec<u32>) -> u64 {
    let n = v.len();
    let mut s = 0;
    for i in 0..n { // @serial
        out[i] = { s += v[i]; s };
    }
    let mut r = 1i32;
    for &x in v { // @serial
        r = (f64::from(r) * 1.5) as i32 + x as i32;
    }
    let mut hi = 0;
    for i in 0..n { // @serial
        hi = hi.max(v[i]);
        out[i] = hi;
    }
    let (mut best, mut at) = (0, 0);
    for i in 0..n { // @serial
        if v[i] > best { best = v[i]; at = i; }
    }
    let mut last = 0;
    for i in 0..n { // @serial
        if v[i] > 30 && v[i] < 33 { last = i; }
    }
    let mut h = 17u64;
    for &x in v { // @serial
        h ^= u64::from(x);
        h = h.wrapping_mul(0x100000001b3);
    }
    let mut on = false;
    let mut k = 0;
    for &x in v { // @serial
        if x % 5 == 0 { on = !on; }
        if on { k += 1; }
    }
    let mut prev = 0;
    let mut rises = 0;
    for &x in v { // @serial
        if x > prev { rises += 1; }
        prev = x;
    }
    let mut m = 0.0f64;
    for &x in v { // @serial
        m = (m + f64::from(x)) / 2.0;
    }
    let mut t = 0u32;
    for &x in v { // @serial
        t = t << 1 | (x & 1);
    }
    let mut i = 0;
    let mut hops = 0;
    while i < n { // @serial
        i += 1 + v[i] as usize % 3;
        hops += 1;
    }
    let (mut a, mut b) = (0u64, 1u64);
    for _ in 0..30 { // @serial
        (a, b) = (b, a.wrapping_add(b));
    }
    let mut seen = [false; 8];
    let mut firsts = 0;
    for &x in v { // @serial
        if !seen[x as usize % 8] { seen[x as usize % 8] = true; firsts += 1; }
    }
    let mut cur = vec![0u32; n];
    let mut next = vec![1u32; n];
    for _ in 0..4 { // @serial
        for j in 1..n { next[j] = cur[j - 1] + v[j]; } // @parallel
        std::mem::swap(&mut cur, &mut next);
    }
    let mut q = 0;
    for &x in v { // @serial
        unsafe { if x > 20 { G = q; } } // SAFETY: one thread.
        q += 1;
    }
    let mut w = 0;
    for i in 0..n { // @serial
        if v[i] % 2 == 0 { out[w] = v[i]; w += 1; }
    }
    let mut any = false;
    for &x in v {
        if x == 7 { any = true; }
    }
    let mut worst = f64::MIN;
    for &x in v { // @clauses
        worst = worst.max(f64::from(x));
    }
    let mut sum = 0u64;
    for &x in v { // @clauses
        sum += u64::from(x * x);
    }
    let mut cnt = 0;
    for w in v.windows(2) { // @clauses
        if w[0] < w[1] { cnt += 1; }
    }
    let mut c = Vec::new();
    for &x in v { // @serial
        c.push(c.len() as u32 + x);
    }
    let mut stack = vec![0u32];
    for &x in v { // @serial
        let top = *stack.last().unwrap();
        if x > top { stack.push(x); }
    }
    u64::from(s) + r as u64 + u64::from(hi) + at as u64 + last as u64 + h + k + rises + m as u64 + u64::from(t) + hops + a + firsts + u64::from(cur[3]) + w as u64 + u64::from(any) + worst as u64 + sum + cnt + c.len() as u64 + stack.len() as u64 + u64::from(best)
}
/// Runs all.
pub fn run() {
    let v: Vec<u32> = (0..40).map(|i| i * 7 % 41).collect();
    let mut out = vec![0; 200];
    let x = a(&v, &mut out);
    let mut p = P { pos: 0, out, best: 0, at: 0, sum: 0 };
    p.emit(&v);
    println!("{x} {} {} {} {}", p.pos, p.at, p.sum, unsafe { G }); // SAFETY: one thread.
}
