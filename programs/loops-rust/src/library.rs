//! What Rust's library does on the way: iterators that are given by value, that follow one another or take steps, vectors that are used again, texts of
//! objects.

use std::fmt;
use std::hint::black_box;

fn by_value(a: i32, out: &mut [i32]) -> (i32, i32) {
    let (mut sum, mut chained) = (0, 1);
    for x in [a, 2 * a, a + 5, 7] { // @clauses
        sum += x * x;
    }
    for (o, x) in out.iter_mut().zip([a, 3, 4]) { // @parallel
        *o = x * 2;
    }
    for at in [4_usize, 5, 6, 9] { // @parallel
        out[at] = at as i32;
    }
    for x in [a, 2, 3, 4] { // @serial
        chained = chained * x + 1;
    }
    (sum, chained)
}

fn one_after_the_other(a: &[i32], b: &[i32]) -> (i32, i32) {
    let (mut sum, mut last) = (0, 1);
    for x in a.iter().chain(b) { // @clauses
        sum += x;
    }
    for x in a.iter().chain(b) { // @serial
        last = x - last;
    }
    (sum, last)
}

fn in_steps(n: usize, v: &[i32]) -> (usize, i32) {
    let mut prime = vec![true; n + 1];
    for i in 2..=n { // @serial
        if prime[i] && i * i <= n {
            for k in (i * i..=n).step_by(i) { // @parallel
                prime[k] = false;
            }
        }
    }
    let mut longest = vec![0; n + 1];
    for i in (2..=n).step_by(2) { // @serial
        longest[i] = longest[i - 2] + i;
    }
    let chosen = v.iter().enumerate().filter(|(i, _)| i % 3 == 0).map(|(_, x)| x * 2).sum::<i32>(); // @clauses
    (prime.iter().filter(|prime| **prime).count() + longest[n], chosen) // @clauses
}

fn greatest(v: &[i32]) -> i32 {
    let most = v.iter().max().unwrap(); // @clauses
    let least = v.iter().min().unwrap(); // @clauses
    most - least
}

fn used_again(v: &[u32], out: &mut [u32]) -> usize {
    let mut room = Vec::new();
    for i in 0..v.len() { // @clauses
        room.clear();
        room.extend(v[i..].iter().take(4).map(|x| x + 1));
        out[i] = room.iter().sum(); // @clauses
    }
    let mut kept = Vec::new();
    for i in 0..v.len() { // @serial
        kept.push(v[i]);
        out[i] += kept.len() as u32;
    }
    kept.capacity()
}

struct Named {
    name: String,
    sizes: Vec<u32>,
}

impl fmt::Display for Named {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:", self.name)?;
        for size in &self.sizes { // @serial
            write!(out, " {size}")?;
        }
        Ok(())
    }
}

fn shown(all: &[Named], v: &[i32]) -> (Vec<String>, usize, String) {
    let mut texts = vec![String::new(); all.len()];
    for (text, each) in texts.iter_mut().zip(all) { // @parallel
        *text = format!("{each}");
    }
    let (mut length, mut together) = (0, String::new());
    for x in v { // @clauses
        length += format!("{x:>5}").len();
    }
    for each in all { // @serial
        together.push_str(&format!("{each};"));
    }
    for each in all { // @serial
        println!("{each}");
    }
    for x in v.iter().take(3) { // @serial
        println!("{x}");
    }
    (texts, length, together)
}

pub fn run() {
    let v: Vec<i32> = black_box((0..40).map(|i| i * 7 % 37).collect());
    let sizes: Vec<u32> = v.iter().map(|x| *x as u32).collect();
    let all: Vec<Named> =
        (0..6).map(|i| Named { name: format!("n{i}"), sizes: (0..i + 1).collect() }).collect();
    let (mut out, mut sums) = (vec![0; 20], vec![0; 40]);
    println!("{:?} {:?}", by_value(black_box(3), &mut out), one_after_the_other(&v, &v[5..]));
    println!("{:?} {} {}", in_steps(black_box(100), &v), greatest(&v), used_again(&sizes, &mut sums));
    println!("{:?}", shown(&all, &v));
}
