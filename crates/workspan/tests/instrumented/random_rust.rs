//! Random programs in Rust that print their own accesses, as those in C do ([`crate::random`]): programs of one package, built by cargo.

use std::fmt::Write;
use std::fs;

use workspan_testkit::random::Random;

use crate::oracle::{compare_noted, programs, Noted};
use crate::support::{build, folder, record};

const PRELUDE: &str = r#"
#![allow(static_mut_refs, unused, unconditional_recursion)]
use std::ffi::c_char;
use std::ptr::{addr_of, addr_of_mut, read_volatile, write_volatile};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::*};
extern "C" { fn printf(format: *const c_char, ...) -> i32; fn fflush(file: *mut u8) -> i32; }
static mut LOG: [(u8, usize, usize); 1 << 17] = [(0, 0, 0); 1 << 17];
static mut COUNT: usize = 0;
#[inline(always)]
fn note<T>(kind: u8, place: *const T, size: usize) {
    unsafe { if COUNT < 1 << 17 { LOG[COUNT] = (kind, place as usize, size); COUNT += 1; } }
}
#[inline(always)]
fn get<T>(place: *const T) -> T { note(b'R', place, size_of::<T>()); unsafe { read_volatile(place) } }
#[inline(always)]
fn put<T>(place: *mut T, value: T) { note(b'W', place, size_of::<T>()); unsafe { write_volatile(place, value) } }
#[inline(always)]
fn copy(to: *mut u8, from: *const u8, n: usize) {
    // Of a constant length it would be plain accesses.
    let n = std::hint::black_box(n);
    note(b'R', from, n); note(b'W', to, n);
    std::sync::atomic::compiler_fence(SeqCst);
    unsafe { std::ptr::copy(from, to, n) };
    std::sync::atomic::compiler_fence(SeqCst);
}
struct Pair { tag: u8, value: i64, many: [i32; 6] }
static mut NUMBER: i32 = 3;
static mut LONGS: [i64; 64] = [5; 64];
static mut BYTES: [u8; 512] = [7; 512];
static mut FLOATS: [f64; 64] = [1.5; 64];
static mut PAIRS: [Pair; 16] = [const { Pair { tag: 1, value: 2, many: [3; 6] } }; 16];
static ATOMIC: AtomicI32 = AtomicI32::new(1);
static WIDE: AtomicU64 = AtomicU64::new(1);
static mut CALLS: u32 = 0;
fn main() {
    let mut heap: Vec<i32> = (0..2048).map(|n| n * 7).collect();
    let mut sum = 0_i64;
    for (number, function) in FUNCTIONS.iter().enumerate() {
        sum = sum.wrapping_add(function(3 + number as i64 % 3, &mut heap));
    }
    unsafe {
        printf(c"sum %ld\n".as_ptr(), sum);
        for (kind, address, size) in &LOG[..COUNT] { printf(c"%c %lx %ld\n".as_ptr(), *kind as i32, *address, *size); }
        fflush(std::ptr::null_mut());
    }
}
"#;

fn program(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0x5eed_0000);
    let mut text = PRELUDE.to_owned();
    let functions = 2 + random.below(4);
    for function in 0..functions {
        let mut body = String::new();
        for _ in 0..2 + random.below(5) {
            statement(&mut random, &mut body, 0, function);
        }
        let spread = if random.below(3) == 0 { "#[inline(never)]\n" } else { "" };
        let _ = write!(
            text,
            "{spread}fn f{function}(depth: i64, heap: &mut Vec<i32>) -> i64 {{ unsafe {{\n let mut s = depth; let mut local = [depth; 8]; \
             CALLS += 1; if depth <= 0 || CALLS > 60 {{ return get(addr_of!(NUMBER)) as i64; }}\n{body} s.wrapping_add(get(&local[(depth & 7) as usize]))\n}} }}\n"
        );
    }
    let names: Vec<String> = (0..functions).map(|function| format!("f{function}")).collect();
    let _ = writeln!(text, "static FUNCTIONS: &[fn(i64, &mut Vec<i32>) -> i64] = &[{}];", names.join(", "));
    text
}

/// A place, and its type.
fn place(random: &mut Random) -> (&'static str, &'static str) {
    random.pick(&[
        ("addr_of_mut!(NUMBER)", "i32"),
        ("addr_of_mut!(LONGS[(s & 63) as usize])", "i64"),
        ("addr_of_mut!(BYTES[(s & 255) as usize])", "u8"),
        ("addr_of_mut!(BYTES[17])", "u8"),
        ("addr_of_mut!(FLOATS[(s & 63) as usize])", "f64"),
        ("addr_of_mut!(PAIRS[(s & 15) as usize].value)", "i64"),
        ("addr_of_mut!(PAIRS[3].many[(s & 3) as usize])", "i32"),
        ("addr_of_mut!(PAIRS[5].tag)", "u8"),
        ("addr_of_mut!(heap[(s & 1023) as usize + 4])", "i32"),
        ("addr_of_mut!(local[(s & 7) as usize])", "i64"),
    ])
}

fn statement(random: &mut Random, text: &mut String, depth: u32, function: u64) {
    let ((one, kind), (other, _)) = (place(random), place(random));
    let small = 1 + random.below(60);
    let _ = match random.below(if depth < 2 { 14 } else { 8 }) {
        0 | 1 => writeln!(text, "s = s.wrapping_add(get({one}) as i64);"),
        2 | 3 => writeln!(text, "put({one}, s as {kind});"),
        4 => writeln!(text, "note(b'U', ATOMIC.as_ptr(), 4); s ^= ATOMIC.fetch_add(s as i32 | 1, SeqCst) as i64;"),
        5 => {
            writeln!(text, "note(b'U', WIDE.as_ptr(), 8); let _ = WIDE.compare_exchange(s as u64, 7, AcqRel, Acquire);")
        }
        6 => writeln!(text, "copy(addr_of_mut!(BYTES[{small}]), addr_of!(LONGS[3]).cast(), (s & 63) as usize + 1);"),
        7 => writeln!(text, "{}", sweep(random)),
        8 => {
            let _ = writeln!(text, "for i in 0..{} {{ s = s.wrapping_add(i);", 1 + random.below(8));
            block(random, text, depth, function);
            writeln!(text, "}}")
        }
        9 => {
            let _ = writeln!(text, "if (get({one}) as i64 ^ s) & {} != 0 {{", 1 << random.below(3));
            block(random, text, depth, function);
            let _ = writeln!(text, "}} else {{");
            block(random, text, depth, function);
            writeln!(text, "}}")
        }
        10 => {
            let _ = writeln!(text, "match get({one}) as i64 & 3 {{ 0 => put({other}, Default::default()), 1 => {{");
            block(random, text, depth, function);
            writeln!(text, "}} _ => s = s.wrapping_add(1) }}")
        }
        11 if function > 0 => writeln!(text, "s = s.wrapping_add(f{}(depth - 1, heap));", random.below(function)),
        11 => writeln!(text, "s = s.wrapping_add(f{function}(depth - 1, heap));"),
        12 => {
            let _ = writeln!(
                text,
                "let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {{ put({one}, 1 as {kind}); \
                 if s & 1 == 1 {{ std::panic::resume_unwind(Box::new(s)); }}"
            );
            block(random, text, depth.max(1), function);
            writeln!(text, "}})); if caught.is_err() {{ put({other}, Default::default()); }}")
        }
        _ => {
            let _ = writeln!(text, "let mut twice = |step: i64| {{ s = s.wrapping_add(step); put({one}, s as {kind}); }}; twice(1); twice({small});");
            Ok(())
        }
    };
}

/// A loop that is one block, or iterators that become one; what it will access is noted before.
fn sweep(random: &mut Random) -> String {
    let n = random.pick(&["(s & 15) as usize + 1", "13", "(s & 31) as usize + 2"]);
    let (note, body) = random.pick(&[
        (
            "note(b'R', &heap[40 + i], 4)",
            "for x in &heap[40..40 + n] { s = s.wrapping_add(read_volatile(x) as i64); }",
        ),
        (
            "note(b'W', &heap[900 - 3 * i], 4)",
            "let mut p = heap.as_mut_ptr().add(900); for i in 0..n { write_volatile(p, i as i32); p = p.sub(3); }",
        ),
        (
            "{ note(b'R', addr_of!(LONGS[i]), 8); note(b'W', addr_of!(FLOATS[i]), 8) }",
            "for i in 0..n { write_volatile(addr_of_mut!(FLOATS).cast::<f64>().add(i), read_volatile(addr_of!(LONGS).cast::<i64>().add(i)) as f64); }",
        ),
        (
            "note(b'W', addr_of!(BYTES[i * t]), 1)",
            "let mut i = 0; while i < n { write_volatile(addr_of_mut!(BYTES).cast::<u8>().add(i * t), i as u8); i += 1; }",
        ),
        (
            "note(b'R', &heap[i * t], 4)",
            "for x in heap.chunks_exact(t).take(n) { s ^= read_volatile(&x[0]) as i64; }",
        ),
    ]);
    format!("{{ let n: usize = {n}; let t = 1 + (s & 7) as usize; for i in 0..n {{ {note} }} {body} }}")
}

fn block(random: &mut Random, text: &mut String, depth: u32, function: u64) {
    for _ in 0..1 + random.below(3) {
        statement(random, text, depth + 1, function);
    }
}

#[test]
fn random_programs_of_rust() {
    let folder = folder("random-rust");
    fs::create_dir_all(folder.join("src/bin")).expect("writable");
    let manifest = "[package]\nname = \"random\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n[profile.release]\nopt-level = 2\n";
    fs::write(folder.join("Cargo.toml"), manifest).expect("writable");
    for seed in 1..=programs() {
        fs::write(folder.join(format!("src/bin/p{seed}.rs")), program(seed)).expect("writable");
    }
    for (profile, built, noted) in
        [("--release", "release", Noted::Marked), ("--profile=dev", "debug", Noted::MarkedButMoves)]
    {
        build(&folder, &format!("cargo build {profile}"));
        let target = format!("target/{}-unknown-linux-gnu/{built}", std::env::consts::ARCH);
        for seed in 1..=programs() {
            fs::copy(folder.join(&target).join(format!("p{seed}")), folder.join("prog")).expect("it was built");
            let printed = record(&folder);
            let (_, expected) = printed.split_once('\n').expect("the first line is the program's result");
            let what = format!("program {seed}, {profile}, in {}", folder.display());
            compare_noted(&folder, expected, &what, noted.clone());
        }
    }
}
