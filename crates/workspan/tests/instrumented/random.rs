//! Random programs that print their own accesses: the oracle.
//!
//! Each access to the program's data goes through a macro, which notes it in a log, and is volatile (or atomic, or a
//! `memcpy`), so that no compiler leaves it out, joins it with another, or changes its order. What the macros
//! themselves do is neither volatile, atomic nor bulk.

use std::fmt::Write;

use workspan_testkit::random::Random;

const HEAD: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
struct entry { char kind; void *address; long size; };
static struct entry entries[1 << 18];
static long count;
static inline void note(char kind, const volatile void *address, long size) {
    if (count < 1 << 18) { entries[count].kind = kind; entries[count].address = (void *)address; entries[count].size = size; count++; }
}
#define R(x) (note('R', &(x), SIZE(x)), *(volatile __typeof__(x) *)&(x))
#define W(x, v) do { __typeof__(x) value_ = (__typeof__(x))(v); note('W', &(x), SIZE(x)); *(volatile __typeof__(x) *)&(x) = value_; } while (0)
#define U(x, v) do { note('U', &(x), sizeof(x)); __atomic_fetch_add(&(x), (v) | 1, __ATOMIC_SEQ_CST); } while (0)
#define X(x, v) do { __typeof__(x) old_ = (v); note('U', &(x), sizeof(x)); __atomic_compare_exchange_n(&(x), &old_, 7, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); } while (0)
#define FENCE __asm__ volatile("" ::: "memory")
#define COPY(d, s, n) do { long n_ = (n); FENCE; note('R', s, n_); note('W', d, n_); __builtin_memmove(d, s, n_); FENCE; } while (0)
#define FILL(d, n) do { long n_ = (n); FENCE; note('W', d, n_); __builtin_memset(d, 3, n_); FENCE; } while (0)
#define SIZE(x) _SIZE(x)
static int g_int; static char g_bytes[256]; static double g_doubles[64]; static long g_long; static short g_shorts[32];
struct pair { char tag; long value; float ratio; int many[6]; };
static struct pair g_pair, g_pairs[16];
static long double g_extended;
typedef int wide __attribute__((vector_size(32)));
static wide g_wide[4];
static volatile long zero;
static int *heap;
static jmp_buf out_of_it;
static long calls;
"#;

const TAIL: &str = r#"
int main(void) {
    heap = (int *)malloc(4096 * sizeof(int));
    for (int i = 0; i < 4096; i++) heap[i] = i * 7;
    long sum = 0;
    for (int i = 0; i < FUNCTIONS; i++) sum += functions[i](3 + i % 3, &g_int);
    printf("sum %ld\n", sum);
    for (long i = 0; i < count; i++) printf("%c %lx %ld\n", entries[i].kind, (long)entries[i].address, entries[i].size);
    return 0;
}
"#;

/// A program of C, or of C++ with exceptions.
pub(crate) fn program(seed: u64, cpp: bool) -> String {
    let mut random = Random::new(seed);
    // The size in memory of 80 bits.
    let size = if cpp {
        "template <class T> static constexpr long size_of(const T &) { return sizeof(T); }\n\
         static constexpr long size_of(const long double &) { return 10; }\n#define _SIZE(x) size_of(x)\n"
    } else {
        "#define _SIZE(x) _Generic((x), long double: 10, default: (long)sizeof(x))\n"
    };
    let mut text = format!("{HEAD}{size}");
    let functions = 3 + random.below(5);
    for function in 0..functions {
        let mut body = String::new();
        for _ in 0..1 + random.below(5) {
            statement(&mut random, &mut body, 0, function, cpp);
        }
        let spread = if random.below(3) == 0 { "__attribute__((noinline)) " } else { "" };
        let _ = write!(
            text,
            "static {spread}long f{function}(long depth, int *p) {{\n    long s = depth; int local = 1; long array[8]; FILL(array, zero + 64); \
             if (depth <= 0 || ++calls > 60) return R(*p);\n{body}    return s + R(local) + R(array[depth & 7]);\n}}\n"
        );
    }
    let names: Vec<String> = (0..functions).map(|function| format!("f{function}")).collect();
    let _ = write!(
        text,
        "#define FUNCTIONS {functions}\nstatic long (*functions[])(long, int *) = {{{}}};\n{TAIL}",
        names.join(", ")
    );
    text
}

fn place(random: &mut Random) -> &'static str {
    random.pick(&[
        "g_int",
        "g_long",
        "g_bytes[(s * 3) & 255]",
        "g_bytes[17]",
        "g_doubles[s & 63]",
        "g_shorts[5]",
        "g_shorts[s & 31]",
        "g_pair.value",
        "g_pair.tag",
        "g_pairs[s & 15].many[2]",
        "g_pairs[3].ratio",
        "g_extended",
        "heap[s & 4095]",
        "heap[(s & 1023) + 4]",
        "local",
        "array[s & 7]",
        "array[3]",
        "*p",
        "p[0]",
    ])
}

fn statement(random: &mut Random, text: &mut String, depth: u32, function: u64, cpp: bool) {
    let pad = "    ".repeat(depth as usize + 1);
    let one = place(random);
    let other = place(random);
    let small = 1 + random.below(60);
    if random.below(5) == 0 {
        let _ = writeln!(text, "{pad}{}", sweep(random));
        return;
    }
    let _ = match random.below(if depth < 2 { 16 } else { 9 }) {
        0 | 1 => writeln!(text, "{pad}s += (long)R({one});"),
        2 | 3 => writeln!(text, "{pad}W({one}, s + {small});"),
        4 => writeln!(text, "{pad}W({one}, (long)R({other}) + (long)R({one}));"),
        5 => writeln!(
            text,
            "{pad}{}({}, s);",
            random.pick(&["U", "X"]),
            random.pick(&["g_int", "g_long", "heap[s & 4095]", "g_shorts[3]"])
        ),
        6 => writeln!(text, "{pad}COPY(&g_bytes[{}], &heap[s & 63], zero + {small});", random.below(64)),
        7 => writeln!(text, "{pad}FILL(&heap[{}], zero + (s & 63));", random.below(64)),
        8 => writeln!(text, "{pad}W(g_wide[s & 3], R(g_wide[{}]) + (int)s);", random.below(4)),
        9 | 10 => {
            let _ = writeln!(
                text,
                "{pad}for (long i{depth} = 0; i{depth} < {}; i{depth}++) {{ s += i{depth};",
                1 + random.below(9)
            );
            block(random, text, depth, function, cpp);
            writeln!(text, "{pad}}}")
        }
        11 | 12 => {
            let _ = writeln!(text, "{pad}if (((long)R({one}) ^ s) & {}) {{", 1 << random.below(3));
            block(random, text, depth, function, cpp);
            let _ = writeln!(text, "{pad}}} else {{");
            block(random, text, depth, function, cpp);
            writeln!(text, "{pad}}}")
        }
        13 if function > 0 => {
            let called = random.below(function);
            writeln!(text, "{pad}s += f{called}(depth - 1, {});", random.pick(&["p", "&local", "&heap[s & 4095]"]))
        }
        13 => writeln!(text, "{pad}s += f{function}(depth - 1, &local);"),
        14 if cpp => {
            let _ = writeln!(text, "{pad}try {{ if (s & 1) throw (int)s; s += (long)R({one});");
            block(random, text, depth, function, cpp);
            writeln!(text, "{pad}}} catch (int caught) {{ W({other}, caught); }}")
        }
        14 => writeln!(
            text,
            "{pad}if (setjmp(out_of_it) == 0) {{ W({one}, 5); if (R(g_int) >= 0) longjmp(out_of_it, 1); }}"
        ),
        _ => {
            let _ = writeln!(text, "{pad}switch ((long)R({one}) & 3) {{ case 0: W({other}, 1); break; case 1:");
            block(random, text, depth, function, cpp);
            writeln!(text, "{pad}break; default: s++; }}")
        }
    };
}

/// A loop that is one block, which notes all that it will access before it does: over arrays, in steps of constants and of what is
/// known at run time, upwards and downwards, by index and by pointer, with an end that the data decide.
fn sweep(random: &mut Random) -> String {
    let (steps, first) = (random.pick(&["1", "2", "7", "1 + (s & 7)", "zero + 3"]), random.below(40));
    let times = random.pick(&["(s & 15) + 1", "zero + 13", "9", "(s & 63) + 1", "zero + 2"]);
    let heap = format!("heap[{first} + i_ * t_]");
    let back = format!("heap[{} - i_ * t_]", first + 2000);
    // What an iteration reads, and what it writes.
    let bodies: [(&[&str], &[&str]); 8] = [
        (&[&heap], &[]),
        (&[], &[&back]),
        (&[&heap, "g_doubles[i_]"], &["g_doubles[i_]"]),
        (&["g_pairs[i_ & 15].many[2]"], &[&heap]),
        (&["g_pairs[zero].value", &back], &[&heap]),
        (&["g_bytes[255 - i_]"], &["g_bytes[3 * i_]"]),
        (&["g_pair.value"], &["g_shorts[i_ & 31]", &back]),
        (&["g_wide[i_ & 3]"], &[]),
    ];
    let (reads, writes) = random.pick(&bodies);
    let notes = |kind, places: &[&str]| -> String {
        places.iter().map(|place| format!("note('{kind}', &({place}), SIZE({place})); ")).collect()
    };
    let read = |place: &&str| {
        let value = format!("*(volatile __typeof__({place}) *)&({place})");
        if place.starts_with("g_wide") {
            format!("s += ({value})[1]; ")
        } else {
            format!("s += (long){value}; ")
        }
    };
    let write = |place: &&str| format!("*(volatile __typeof__({place}) *)&({place}) = (__typeof__({place}))i_; ");
    let body: String = reads.iter().map(read).chain(writes.iter().map(write)).collect();
    let notes = notes('R', reads) + &notes('W', writes);
    let head = format!("long n_ = {times}, t_ = {steps};");
    match random.below(4) {
        0 => format!(
            "{{ {head} for (long i_ = 0; i_ < n_; i_++) {{ {notes}}} FENCE; for (long i_ = 0; i_ < n_; i_++) {{ {body}}} FENCE; }}"
        ),
        1 => format!(
            "{{ {head} long i_ = n_; while (i_-- > 0) {{ {notes}}} FENCE; i_ = n_; while (i_-- > 0) {{ {body}}} FENCE; }}"
        ),
        2 => format!(
            "{{ {head} n_ = 0; do n_++; while ((n_ < 40) & (heap[n_] % 5 != 3)); for (long i_ = 0; i_ < n_; i_++) {{ {notes}}} \
             FENCE; long i_ = 0; do {{ {body}i_++; }} while ((i_ < 40) & (i_ < n_)); FENCE; }}"
        ),
        _ => format!(
            "{{ {head} int *p_; for (p_ = heap + 300; p_ < heap + 600 + n_; p_ += t_) {{ note('R', p_, 4); note('W', p_ + 1, 4); }} \
             FENCE; for (p_ = heap + 300; p_ < heap + 600 + n_; p_ += t_) \
             {{ s += *(volatile int *)p_; ((volatile int *)p_)[1] = (int)s; }} FENCE; }}"
        ),
    }
}

fn block(random: &mut Random, text: &mut String, depth: u32, function: u64, cpp: bool) {
    for _ in 0..1 + random.below(3) {
        statement(random, text, depth + 1, function, cpp);
    }
}
