//! Programs with a closed-form answer.
//!
//! * `shapes list`: the names, with work and span in units, one a line; `P` is the number of workers.
//! * `shapes NAME`: runs one; a unit is a tick of the virtual clock.
//! * `shapes comparisons NAME`: the number of comparisons of a sort, which is its work in units.
//! * `shapes NAME NANOS`: runs one inside a scope; a unit is this number of nanoseconds of CPU time.
//!
//! The answers stand beside the programs in `shapes.rs`.

mod cost;
mod shapes;

use std::sync::atomic::Ordering;

use shapes::SHAPES;

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|a| a == "list") {
        let workers = rayon::current_num_threads() as u64;
        for shape in SHAPES {
            let (work, span) = (shape.answer)(workers);
            println!("{} {work} {span}", shape.name);
        }
        return;
    }
    let counting = arguments.first().is_some_and(|a| a == "comparisons");
    let arguments = &arguments[usize::from(counting)..];
    let Some(shape) = SHAPES.iter().find(|s| arguments.first().is_some_and(|a| a == s.name)) else {
        eprintln!("usage: shapes list | shapes NAME [NANOS]");
        std::process::exit(2);
    };
    match arguments.get(1) {
        None => (shape.run)(),
        Some(nanos) => {
            cost::in_nanos(nanos);
            rayon::scope(|_| (shape.run)());
        }
    }
    if counting {
        println!("{}", shapes::COMPARISONS.load(Ordering::Relaxed));
    }
}
