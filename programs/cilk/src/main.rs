//! The eleven programs by which Cilkprof was measured, each written anew from its algorithm, with tasks of rayon.
//! `programs/cilk-openmp` has the same in C, with the same structure, sizes, and inputs.
//!
//! * `cilk NAME [SIZE [CUTOFF [REPEAT]]]`: runs a program this number of times, then prints `peak_kib`, the largest resident
//!   set of this process. Each run checks its result. What size and cutoff are is described in the file of the program;
//!   with cutoff 0 a program makes as many tasks as it can.
//! * `cilk list`: names, each with its size and its cutoff.

mod cholesky;
mod cilksort;
mod fft;
mod fib;
mod heat;
mod input;
mod knapsack;
mod lu;
mod matmul;
mod nqueens;
mod rectmul;
mod strassen;
mod tile;

/// A program.
struct Program {
    name: &'static str,
    /// The size by default: less than a second of work.
    size: usize,
    /// The cutoff by default.
    cutoff: usize,
    /// Runs it with a size and a cutoff, and reports whether its result is right.
    run: fn(usize, usize) -> bool,
}

const PROGRAMS: &[Program] = &[
    Program { name: "fib", size: 36, cutoff: 0, run: fib::run },
    Program { name: "cholesky", size: 2200, cutoff: 64, run: cholesky::run },
    Program { name: "cilksort", size: 4_000_000, cutoff: 4096, run: cilksort::run },
    Program { name: "fft", size: 1 << 21, cutoff: 2048, run: fft::run },
    Program { name: "heat", size: 1600, cutoff: 16, run: heat::run },
    Program { name: "knapsack", size: 58, cutoff: 0, run: knapsack::run },
    Program { name: "lu", size: 1700, cutoff: 64, run: lu::run },
    Program { name: "matmul", size: 1280, cutoff: 80, run: matmul::run },
    Program { name: "nqueens", size: 14, cutoff: 7, run: nqueens::run },
    Program { name: "rectmul", size: 1280, cutoff: 80, run: rectmul::run },
    Program { name: "strassen", size: 1280, cutoff: 80, run: strassen::run },
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["list"] {
        for program in PROGRAMS {
            println!("{} {} {}", program.name, program.size, program.cutoff);
        }
        return;
    }
    let program = arguments.first().and_then(|name| PROGRAMS.iter().find(|program| program.name == *name));
    let numbers: Option<Vec<usize>> = arguments.iter().skip(1).map(|word| word.parse().ok()).collect();
    let (Some(program), Some(numbers)) = (program, numbers.filter(|numbers| numbers.len() <= 3)) else {
        eprintln!("usage: cilk NAME [SIZE [CUTOFF [REPEAT]]] | cilk list");
        std::process::exit(2);
    };
    let number = |at: usize, otherwise| numbers.get(at).copied().unwrap_or(otherwise);
    for _ in 0..number(2, 1) {
        if !(program.run)(number(0, program.size), number(1, program.cutoff)) {
            eprintln!("wrong result");
            std::process::exit(1);
        }
    }
    if let Some(peak) = peak_kib() {
        println!("peak_kib {peak}");
    }
}

/// Largest resident set of this process so far.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
