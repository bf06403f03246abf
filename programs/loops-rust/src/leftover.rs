//! What is left over of several iterations, and who knows that a greater value has been found. Labels as in the other files.

#[derive(Default)]
struct Best {
    at: usize,
    value: f64,
    hits: usize,
}

impl Best {
    fn see(&mut self, i: usize, x: f64) {
        if x > self.value {
            self.value = x;
            self.at = i;
        }
    }

    fn last(&mut self, i: usize, x: f64) {
        if x > 3.0 {
            self.at = i;
        }
    }

    fn count(&mut self, x: f64) {
        if x > 3.0 {
            self.hits += 1;
        }
    }

    fn find(&mut self, v: &[f64], key: f64) {
        for (i, x) in v.iter().enumerate() { if *x == key { self.at = i; } } // @serial
    }
}

fn put(to: &mut usize, i: usize, x: f64) {
    if x > 3.0 {
        *to = i;
    }
}

#[rustfmt::skip]
fn known(v: &[f64]) -> f64 {
    let (mut most, mut times) = (-1.0, 0);
    for x in v { if *x > most { most = *x; times += 1; } } // @serial
    let (mut greatest, mut others) = (-1.0, 0);
    for x in v { if *x > greatest { greatest = *x; } else { others += 1; } } // @serial
    let (mut first, mut second) = (-1.0, -1.0);
    for x in v { if *x > first { first = *x; } else if *x > second { second = *x; } } // @serial
    let (mut lo, mut hi) = (1e9, -1e9);
    for x in v { if *x > hi { hi = *x; } if *x < lo { lo = *x; } } // @clauses
    let (mut streak, mut longest) = (0, 0);
    for x in v { if *x > 3.0 { streak += 1; longest = longest.max(streak); } else { streak = 0; } } // @serial
    let mut even = 0.0;
    for (i, x) in v.iter().enumerate().filter(|(i, _)| i % 2 == 0) { even += *x * i as f64; } // @clauses
    most + times as f64 + greatest + others as f64 + first + second + lo + hi + longest as f64 + even
}

#[rustfmt::skip]
fn left(v: &[f64]) -> usize {
    let (mut single, mut last, mut count, mut found) = (Best::default(), Best::default(), Best::default(), Best::default());
    for (i, x) in v.iter().enumerate() { single.see(i, *x); } // @serial
    for (i, x) in v.iter().enumerate() { last.last(i, *x); } // @serial
    for x in v { count.count(*x); } // @clauses
    found.find(v, 9.0);
    let (mut kept, mut boxed, mut each) = (0, Box::new(0), [0; 4]);
    for (i, x) in v.iter().enumerate() { put(&mut kept, i, *x); } // @serial
    for (i, x) in v.iter().enumerate() { if *x > 3.0 { *boxed = i; } } // @serial
    for (i, x) in v.iter().enumerate() { if *x == 9.0 { each[2] = i; } } // @serial
    single.at + last.at + count.hits + found.at + kept + *boxed + each[2]
}

fn keep(last: &mut i64, v: i64) {
    if v % 2 == 0 {
        *last = v;
    }
}

fn always(last: &mut i64, v: i64) {
    *last = v * 2;
}

fn checked(v: i64) -> i64 {
    assert!(v != 25, "a panic");
    v
}

/// The library reads by reference what called functions have written by reference.
#[rustfmt::skip]
fn shown() {
    let v: Vec<i64> = (0..36).map(|i| (i * 19) % 31).collect();
    let (mut last, mut newest, mut sum) = (0, 0, 0);
    for x in &v { keep(&mut last, *x); } // @serial
    for x in &v { always(&mut newest, *x); sum += newest; } // @clauses
    println!("{last} {newest} {sum}");
}

/// A panic leaves a loop.
#[rustfmt::skip]
fn left_by_panics() {
    let mut out = [0; 40];
    std::panic::set_hook(Box::new(|_| {}));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for i in 0..40 { out[i] = checked(i as i64); } // @serial
    }));
    let short = [1; 10];
    let other = std::panic::catch_unwind(|| {
        let (mut own, v) = ([0; 40], std::hint::black_box(&short[..]));
        for i in 0..40 { own[i] = v[i]; } // @serial
        own[3]
    });
    drop(std::panic::take_hook());
    println!("{} {} {:?}", result.is_err(), other.is_err(), out);
}

struct Range {
    high: i32,
    most: u64,
    each: [i16; 4],
}

/// A greatest number has the order of its type.
#[rustfmt::skip]
#[inline(never)]
fn compared(v: &[i32], r: &mut Range, w: &mut [i64], grown: &mut Vec<i32>) -> i64 {
    for &x in v { if x as u32 > r.high as u32 { r.high = x; } } // @serial
    r.high = 0;
    for &x in v { if x > r.high { r.high = x; } } // @clauses
    for &x in v { if x as u64 > r.most { r.most = x as u64; } } // @clauses
    for &x in v { if x as u16 > r.each[1] as u16 { r.each[1] = x as i16; } } // @serial
    for &x in v { if x as i16 > r.each[2] { r.each[2] = x as i16; } } // @clauses
    for &x in v { if i64::from(x) > w[3] { w[3] = i64::from(x); } } // @clauses
    for &x in v { if x > grown[3] { grown[3] = x; } } // @clauses
    let mut own = vec![-5_i64; 8];
    for &x in v { if i64::from(x) > own[5] { own[5] = i64::from(x); } } // @clauses
    let mut bytes = std::hint::black_box(vec![-5_i8; 8]);
    for &x in v { if x as i8 > bytes[5] { bytes[5] = x as i8; } } // @clauses
    own[5] + i64::from(bytes[5])
}

pub fn run() {
    let v: Vec<f64> = (0..40).map(|i| if i == 20 { 9.0 } else { f64::from((i * 7 + 3) % 8) }).collect();
    println!("{} {}", known(&v), left(&v));
    shown();
    left_by_panics();
    let numbers: Vec<i32> = (0..40).map(|i| i * 7 % 41).collect();
    let (mut range, mut w, mut grown) = (Range { high: 0, most: 0, each: [0; 4] }, vec![0; 8], vec![-1; 8]);
    let own = compared(&numbers, &mut range, &mut w, &mut grown);
    println!("{} {} {:?} {} {} {own}", range.high, range.most, range.each, w[3], grown[3]);
}
