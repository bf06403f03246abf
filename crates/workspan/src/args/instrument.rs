//! Command lines of `workspan build`.

use std::ffi::OsString;

use clap::Args;

const BUILD: &str = "\
COMMAND runs with clang, clang++ and flang in place of cc, gcc, c++, g++, gfortran and others, also \
under names with versions: Workspan puts them first in PATH and into CC, CXX and FC. With cargo, rustc \
compiles and inserts the instrumentation, and the program goes to target/TRIPLE. `depend` runs a second \
program that the build writes beside yours, .NAME.depend: copy both. Clean an existing build first: objects \
that are up to date are not compiled again. For `workspan record`, use `cargo workspan build` (rayon) or \
no special build (OpenMP, oneTBB, threads).

Examples:
  workspan build -- make -j
  workspan build -- cc -O2 prog.c -o prog -lpthread
  workspan build -- sh -c 'cmake -B build && cmake --build build'
  workspan build -- cargo build --release";

/// `workspan build`.
#[derive(Args, Clone, Debug)]
#[command(after_help = BUILD)]
pub struct Build {
    /// Leave out the second form of each program, which `workspan depend` runs; the build then takes about half as long.
    #[arg(long)]
    pub no_depend: bool,
    /// The build and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
