//! The overhead tables of Cilkprof, for the same programs: `programs/cilk` in Rust, `programs/cilk-openmp` in C.

use super::child::Call;
use super::figure::{Figure, Target};
use super::pairs::{cpu, work, Pairs};
use super::spread::Spread;
use super::{build, table, Options};

/// The group's name.
pub(super) const GROUP: &str = "cilk";
/// What profiling costs in time: the quantity that Cilkprof reports.
pub(super) const TIME: &str = "CPU time";

/// A program, of the size that it has by itself unless one is given.
struct Load {
    program: &'static str,
    arguments: &'static [&'static str],
    /// CPU time, profiled over native, at most.
    cpu: Option<f64>,
    /// Whether two workers should do the same work as one; `None` for all that need not.
    same_work: Option<f64>,
}

/// CPU time of programs whose base case is coarse.
const COARSE: Option<f64> = Some(1.10);
/// CPU time of those that are next to nothing but tasks.
const TASKS: Option<f64> = Some(3.2);
/// CPU time of what lies between.
const FINE: Option<f64> = Some(1.5);
/// CPU time with two workers, profiled over native, over the same with one.
const PARALLEL: f64 = 1.10;
/// Work measured with two workers over that with one, of programs whose data fit into a processor's own cache, a tile at
/// a time, or that have none.
const SAME: Option<f64> = Some(1.15);

/// Those that may do more work with two workers: cilksort, fft, heat and strassen stream arrays through cache and memory
/// that processors share; what knapsack cuts off depends on the order in which its tasks run. In C, fib and nqueens have
/// a target that LLVM's runtime keeps from being met: it runs the tasks of a team of one at once, and queues those of two.
const LOADS: &[Load] = &[
    Load { program: "fib", arguments: &[], cpu: TASKS, same_work: SAME },
    Load { program: "cholesky", arguments: &[], cpu: COARSE, same_work: SAME },
    Load { program: "cilksort", arguments: &[], cpu: COARSE, same_work: None },
    Load { program: "fft", arguments: &[], cpu: COARSE, same_work: None },
    Load { program: "heat", arguments: &[], cpu: COARSE, same_work: None },
    Load { program: "knapsack", arguments: &[], cpu: TASKS, same_work: None },
    Load { program: "lu", arguments: &[], cpu: COARSE, same_work: SAME },
    Load { program: "matmul", arguments: &[], cpu: COARSE, same_work: SAME },
    Load { program: "nqueens", arguments: &[], cpu: FINE, same_work: SAME },
    // A task for each board, which is next to no work: reported, and without a target.
    Load { program: "nqueens", arguments: &["12", "0"], cpu: None, same_work: None },
    Load { program: "rectmul", arguments: &[], cpu: COARSE, same_work: SAME },
    Load { program: "strassen", arguments: &[], cpu: COARSE, same_work: None },
];

/// Measures the group.
pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let loads: Vec<&Load> = LOADS.iter().filter(|load| options.wants(GROUP, &load.name())).collect();
    let mut figures = Vec::new();
    if loads.is_empty() {
        return Ok(figures);
    }
    table::group("Programs of Cilkprof: profiled over native");
    let rust = build::program("cilk")?;
    for load in loads {
        let words = |first: &[&'static str]| [first, load.arguments].concat().into_iter().map(str::to_owned).collect();
        let c = build::c_program("cilk-openmp", load.program)?;
        for (language, program, arguments) in [("Rust", rust.clone(), words(&[load.program])), ("C", c, words(&[]))] {
            let call = Call { program, arguments, workers: 1, folder: build::root() };
            for figure in load.figures(language, &call, options.runs)? {
                table::row(&figure);
                figures.push(figure);
            }
        }
    }
    Ok(figures)
}

impl Load {
    /// As it is requested.
    fn name(&self) -> String {
        format!("cilk-{}", self.program)
    }

    fn figures(&self, language: &str, call: &Call, runs: u32) -> anyhow::Result<Vec<Figure>> {
        let case = [&[self.program], self.arguments, &[language]].concat().join(" ");
        let several = Call { workers: 2, ..call.clone() };
        let one = Pairs::run(GROUP, &case, call, runs)?;
        let two = Pairs::run(GROUP, &case, &several, runs)?;
        let times = [&one, &two].map(|pairs| pairs.ratio(TIME, cpu, cpu, self.cpu.map(Target::AtMost)));
        let mut figures: Vec<Figure> = times.into_iter().flatten().collect();
        if let [one, two] = &figures[..] {
            // Where one ratio has no target, neither has the other.
            let target = self.cpu.map(|_| Target::AtMost(PARALLEL));
            let (one, two) = ((one.value, &one.spread), (two.value, &two.spread));
            figures.push(over(&case, "CPU time, 2 workers over 1", two, one, target));
        }
        let works = [&one, &two].map(|pairs| {
            let samples: Option<Vec<f64>> = pairs.runs.iter().map(|(_, profiled)| work(profiled)).collect();
            samples.map(Spread::of)
        });
        // What it costs the program itself: caches and memory that processors share, a runtime that does more.
        let [alone, both] = [&one, &two].map(|pairs| Spread::of(pairs.runs.iter().map(|(native, _)| native.cpu)));
        let natively = ((both.median(), &both), (alone.median(), &alone));
        figures.push(over(&case, "native CPU time, 2 workers over 1", natively.0, natively.1, None));
        if let [Some(one), Some(two)] = &works {
            let target = self.same_work.map(Target::AtMost);
            figures.push(over(&case, "work, 2 workers over 1", (two.median(), two), (one.median(), one), target));
        }
        Ok(figures)
    }
}

/// A figure over another. Its spread is that of the first over the second's value.
fn over(
    case: &str,
    quantity: &'static str,
    first: (f64, &Spread),
    second: (f64, &Spread),
    target: Option<Target>,
) -> Figure {
    let spread = first.1.over(second.0);
    let behind = vec![("2 workers", first.1.clone()), ("1 worker", second.1.clone())];
    let (case, value) = (case.to_owned(), first.0 / second.0);
    Figure { group: GROUP, case, workers: 2, quantity, value, spread, target, behind, remark: String::new() }
}
