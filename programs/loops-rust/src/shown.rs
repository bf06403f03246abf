//! Numbers that are printed, so that they have an address; ranges of all kinds; iterators that remember where they are. Labels as in the main file.

use std::hint::black_box;

fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

fn least(a: u64, b: u64) -> u64 {
    a.min(b)
}

fn halves(mut n: u64) -> u32 {
    let mut count = 0;
    while n != 1 { // @serial
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        count += 1;
    }
    count
}

fn ranges(a: &mut [f64]) -> f64 {
    let n = a.len();
    for i in 0..=n - 1 { // @parallel
        a[i] = (i * i % 37) as f64;
    }
    let mut s = 0.0;
    for i in 1..=n - 1 { // @clauses
        s += a[i] - a[i - 1];
    }
    for i in (0..n).rev() { // @clauses
        s += a[i] * 0.1;
    }
    for i in (0..n).step_by(3) { // @clauses
        s += a[i];
    }
    for i in (0..n).rev().step_by(2) { // @clauses
        s += a[i];
    }
    for i in 0..n as i64 { // @clauses
        if i % 3 == 0 {
            continue;
        }
        s += (i * i) as f64;
    }
    for i in (-20..20i32).rev() { // @clauses
        s += f64::from(i * i);
    }
    for b in 0..=255u8 { // @clauses
        s += f64::from(b);
    }
    for i in 1..=n - 1 { // @serial
        a[i] += a[i - 1];
    }
    for i in 0..=n - 2 { // @serial
        a[i + 1] = a[i] * 0.5 + a[i + 1];
    }
    println!("{s}");
    s
}

fn remembered(a: &mut [f64]) -> f64 {
    let mut s = 0.0;
    for v in a.iter().step_by(2) { // @clauses
        s += v;
    }
    for v in a.iter().skip(3) { // @clauses
        s += v;
    }
    for (i, v) in a.iter().enumerate().skip(1) { // @clauses
        s += v * i as f64;
    }
    for v in a.iter().chain([1.0, 2.0].iter()) { // @clauses
        s += v;
    }
    for v in a.iter().filter(|v| **v > 10.0) { // @clauses
        s += v;
    }
    let copy = a.to_vec();
    for (_, v) in a.iter().enumerate().filter(|(i, _)| copy[*i] > 4.0) { // @clauses
        s += v;
    }
    for v in a.iter_mut().filter(|v| **v > 10.0) { // @parallel
        *v -= 1.0;
    }
    for v in a.iter_mut().step_by(2) { // @parallel
        *v -= 1.0;
    }
    for v in a.iter_mut().skip(2) { // @parallel
        *v *= 0.5;
    }
    let mut last = 0.0;
    for v in a.iter_mut().skip(1) { // @serial
        last = last * 0.5 + *v;
        *v = last;
    }
    for v in a.iter_mut().filter(|v| **v > 1.0) { // @serial
        last = last * 0.5 + *v;
        *v = last;
    }
    for v in a.iter_mut().step_by(2) { // @serial
        last = last * 0.5 + *v;
        *v = last;
    }
    let mut cursor = a.iter();
    while let Some(v) = cursor.next() { // @serial
        if *v > 1.0 {
            cursor.next();
        }
        s += v;
    }
    let mut bytes = black_box("hällo wörld").chars();
    while let Some(c) = bytes.next() { // @serial
        s += f64::from(c as u32);
    }
    println!("{s} {last}");
    s
}

fn printed(a: &[f64]) {
    let n = a.len();
    let mut max = f64::MIN;
    for v in a { // @clauses
        max = larger(max, *v);
    }
    let mut min = u64::MAX;
    for i in 0..n { // @clauses
        min = least(min, (i * 7 % 13) as u64);
    }
    let mut least = usize::MAX;
    for i in 0..n { // @clauses
        least = least.min(i * 7 % 13 + 1);
    }
    let mut steps = 0;
    for i in 1..n as u64 { // @clauses
        steps += u64::from(halves(i));
    }
    let mut plain = 0u64;
    for i in 1..n as u64 { // @clauses
        plain += i;
    }
    let (mut even, mut odd) = (0.0, 0.0);
    for (i, v) in a.iter().enumerate() { // @clauses
        if i % 2 == 0 {
            even += v;
        } else {
            odd += v;
        }
    }
    let mut either = 0.0;
    for v in a { // @clauses
        if *v > 3.0 {
            either += v;
        } else {
            either -= 1.0;
        }
    }
    let mut flat = vec![0.0; n * 4];
    let mut k = 0;
    for i in 0..n {
        for j in 0..4 { // @clauses
            flat[k] = (i * j) as f64;
            k += 1;
        }
    }
    let mut kept = 0;
    for v in a { // @serial
        if *v > 2.0 {
            flat[kept] = *v;
            kept += 1;
        }
    }
    let mut x = 0.5;
    for _ in 0..n { // @serial
        x = 3.7 * x * (1.0 - x);
    }
    let mut first = true;
    let mut begun = 0;
    for v in a { // @serial
        if first && *v > 1.0 {
            begun += 1;
            first = false;
        }
    }
    println!("{max} {min} {least} {steps} {plain} {even} {odd} {either} {k} {kept} {x} {begun} {}", flat[3]);
}

pub fn run() -> f64 {
    let mut a = vec![0.0; black_box(90)];
    let sum = ranges(&mut a) + remembered(&mut a);
    for (i, v) in a.iter_mut().enumerate() { // @parallel
        *v = (i * 37 % 11) as f64;
    }
    printed(&a);
    sum
}
