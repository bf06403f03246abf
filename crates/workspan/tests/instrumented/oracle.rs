//! Every decoded access against the program's own account.
//!
//! `WORKSPAN_RANDOM_PROGRAMS` says how many programs of each language are tried (default: 12).

use std::fmt::Write;
use std::path::Path;

use workspan_graph::events::Access;
use workspan_graph::file::{Recording, NAME};
use workspan_graph::replay::{replay, Consumer, Executed};
use workspan_trace::program::{flag, operation, Access as Mode};

use crate::random;
use crate::support::{build_source, folder, json, record};

/// Which accesses the programs print.
#[derive(Clone, Default)]
pub(crate) enum Noted {
    /// Those that are volatile, atomic or bulk.
    #[default]
    Marked,
    /// The same, but for bulk ones of a constant length: rustc moves values so, where it does not optimise.
    MarkedButMoves,
    /// All within these addresses: flang does not mark what is volatile.
    Within(std::ops::RangeInclusive<u64>),
}

impl Noted {
    fn has(&self, access: &Access) -> bool {
        let is_marked = access.flags & (operation::VOLATILE | operation::ATOMIC | operation::BULK) != 0;
        let is_move = access.flags & operation::BULK != 0 && access.flags & operation::SIZE_SLOT == 0;
        match self {
            Self::Marked => is_marked,
            Self::MarkedButMoves => is_marked && !is_move,
            Self::Within(addresses) => addresses.contains(&access.address),
        }
    }
}

/// The accesses that programs print. And frames: calls and returns must match.
#[derive(Default)]
struct Account {
    text: String,
    noted: Noted,
    /// Addresses of the frames of functions that are running.
    frames: Vec<u64>,
}

impl Consumer for Account {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        if let Some(frame) = executed.frame {
            // A new frame, or one that unwinding goes back to, lies above all that have ended.
            while self.frames.last().is_some_and(|last| *last <= frame) {
                self.frames.pop();
            }
            self.frames.push(frame);
        }
        let names = executed.module.module.functions.get(executed.segment.function as usize);
        assert!(names.is_some() && !self.frames.is_empty());
        if executed.segment.flags & flag::RETURN != 0 && executed.segment.flags & flag::CALL == 0 {
            self.frames.pop();
        }
        for access in accesses {
            if !self.noted.has(access) {
                continue;
            }
            let letter = match access.mode {
                Mode::Load => 'R',
                Mode::Store => 'W',
                Mode::Update => 'U',
            };
            // `zero` is volatile by itself, and not noted.
            let is_zero = access.flags & operation::VOLATILE != 0 && executed.is_named("zero", access);
            // `main` of Rust's programs keeps this section by a read.
            let is_section = executed.is_named("__rustc_debug_gdb_scripts_section__", access);
            if !is_zero && !is_section {
                let _ = writeln!(self.text, "{letter} {:x} {}", access.address, access.size);
            }
        }
    }
}

trait Named {
    fn is_named(&self, name: &str, access: &Access) -> bool;
}

impl Named for Executed<'_> {
    /// The access is to the variable of this name.
    fn is_named(&self, name: &str, access: &Access) -> bool {
        let module = &self.module.module;
        let found = module.symbols.iter().position(|symbol| symbol.ends_with(name));
        found.is_some_and(|at| self.module.variables[at] == access.address)
    }
}

fn account(folder: &Path, noted: Noted) -> String {
    let recording = Recording::open(&folder.join("run.graph").join(NAME)).expect("readable");
    assert!(recording.complete());
    let mut account = Account { noted, ..Account::default() };
    replay(&recording, &mut account).expect("readable");
    account.text
}

#[track_caller]
pub(crate) fn compare(folder: &Path, printed: &str, what: &str) {
    let (_, expected) = printed.split_once('\n').expect("the first line is the program's result");
    compare_noted(folder, expected, what, Noted::Marked);
}

#[track_caller]
pub(crate) fn compare_noted(folder: &Path, expected: &str, what: &str, noted: Noted) {
    let found = account(folder, noted);
    if found != expected {
        let differs = found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
        let at = differs.unwrap_or_else(|| found.lines().count().min(expected.lines().count()));
        let show = |text: &str| text.lines().skip(at.saturating_sub(2)).take(6).collect::<Vec<_>>().join("\n  ");
        panic!("{what} differs at access {at}; decoded\n  {}\nprinted\n  {}", show(&found), show(expected));
    }
}

pub(crate) fn programs() -> u64 {
    std::env::var("WORKSPAN_RANDOM_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(12)
}

fn random_programs(name: &str, file: &str, compilers: &[&str], cpp: bool) {
    let folder = folder(name);
    for seed in 1..=programs() {
        let compiler = compilers[usize::try_from(seed).expect("few") % compilers.len()];
        build_source(&folder, file, &random::program(seed, cpp), compiler);
        let printed = record(&folder);
        compare(&folder, &printed, &format!("program {seed} by `{compiler}` in {}", folder.display()));
    }
}

#[test]
fn random_programs_of_c() {
    random_programs("random-c", "prog.c", &["cc -O2", "cc -O0", "gcc -O3", "clang -O1 -g"], false);
}

#[test]
fn random_programs_of_cpp() {
    random_programs("random-cpp", "prog.cpp", &["c++ -O2", "g++ -O0", "clang++ -O3"], true);
}

/// A loop that fills buffers while it holds much in registers, the first of them before anything else does.
#[test]
fn a_change_of_buffers_in_a_loop_changes_nothing() {
    let text = "#include <stdio.h>
#include <string.h>
static float one[512][512], two[512][512];
int main(void) {
    for (int i = 0; i < 512; i++) for (int j = 0; j < 512; j++) one[i][j] = i * j % 17;
    for (int t = 0; t < 10; t++) {
        for (int i = 1; i < 511; i++) for (int j = 1; j < 511; j++)
            two[i][j] = .25f * (one[i - 1][j] + one[i + 1][j] + one[i][j - 1] + one[i][j + 1]);
        memcpy(one, two, sizeof one);
    }
    double sum = 0;
    for (int i = 0; i < 512; i++) for (int j = 0; j < 512; j++) sum += one[i][j] * (i + 3 * j);
    printf(\"%.3f\\n\", sum);
    return 0;
}
";
    for level in ["-O1", "-O2", "-O3"] {
        let folder = folder("buffers");
        build_source(&folder, "prog.c", text, &format!("cc {level}"));
        let plain = std::process::Command::new(folder.join("prog")).output().expect("it runs");
        assert_eq!(record(&folder), String::from_utf8_lossy(&plain.stdout), "{level}");
        let report = json(&folder, "report");
        assert_eq!(report["complete"], true);
        // The bytes that the loops store, whatever vectors the compiler makes of them, are at least these.
        assert!(report["accesses"]["bytes"].as_u64().is_some_and(|bytes| bytes > 10 * 510 * 510 * 4 * 5), "{report:#}");
    }
}

const FORTRAN: &str = "\
program prog
  use iso_c_binding
  integer(8) :: cells(100)
  integer :: i
  integer(8) :: total
  total = 0
  do i = 1, 100
    cells(i) = i * 3
  end do
  do i = 100, 1, -7
    total = total + cells(i)
  end do
  print '(A,I0)', 'sum ', total
  do i = 1, 100
    print '(A,Z0,A)', 'W ', loc(cells(i)), ' 8'
  end do
  do i = 100, 1, -7
    print '(A,Z0,A)', 'R ', loc(cells(i)), ' 8'
  end do
end program
";

#[test]
fn a_program_of_fortran() {
    let folder = folder("fortran");
    build_source(&folder, "prog.f90", FORTRAN, "gfortran -O0");
    let printed = record(&folder).to_lowercase().replace("w ", "W ").replace("r ", "R ");
    let (_, expected) = printed.split_once('\n').expect("the first line is the sum");
    let address = |line: &str| u64::from_str_radix(line.split(' ').nth(1).unwrap_or_default(), 16).expect("an address");
    let addresses: Vec<u64> = expected.lines().map(address).collect();
    assert_eq!(addresses.len(), 115);
    let within = addresses[0]..=addresses[99];
    compare_noted(&folder, expected, "the program", Noted::Within(within));
}

/// The masked vectors that a loop with a condition becomes: every lane that takes part, and no other.
#[test]
fn masked_vectors() {
    let text = r#"
#include <stdio.h>
int from[256], to[256], index_of[256];
__attribute__((noinline)) void copy(int *restrict t, const int *restrict f, const int *restrict x, int n) {
    for (int i = 0; i < n; i++) if (f[i] > 3) t[i] = x[i] + 1;
}
int main(void) {
    for (int i = 0; i < 256; i++) { from[i] = (i * 7) & 15; index_of[i] = (i * 11) & 255; }
    int stored = 0;
    for (int i = 0; i < 200; i++) stored += from[i] > 3;
    copy(to, from, index_of, 200);
    printf("%d\n", stored);
    return 0;
}
"#;
    #[derive(Default)]
    struct Stores(u64, u64, bool);
    impl Consumer for Stores {
        fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
            if executed.module.module.functions[executed.segment.function as usize].name == "copy" {
                self.0 += accesses
                    .iter()
                    .filter(|access| access.mode == Mode::Store)
                    .map(|access| access.size / 4)
                    .sum::<u64>();
                self.1 += accesses
                    .iter()
                    .filter(|access| access.mode == Mode::Load)
                    .map(|access| access.size / 4)
                    .sum::<u64>();
                self.2 |= accesses.iter().any(|access| access.flags & operation::MASK_SLOT != 0);
            }
        }
    }
    let folder = folder("masked");
    build_source(&folder, "prog.c", text, "cc -O3 -march=x86-64-v3");
    // The program itself may run on an older processor; what it would print is known.
    let stored = (0..200).filter(|i| (i * 7) & 15 > 3).count() as u64;
    if !std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains(" avx2 ")) {
        return;
    }
    assert_eq!(record(&folder).trim(), stored.to_string());
    let recording = Recording::open(&folder.join("run.graph").join(NAME)).expect("readable");
    let mut stores = Stores::default();
    replay(&recording, &mut stores).expect("readable");
    assert_eq!(stores.0, stored);
    // The condition of each element, and a load where it holds.
    assert_eq!(stores.1, 200 + stored);
    assert!(stores.2, "no masked operation was made");
    assert_eq!(json(&folder, "report")["complete"], true);
}
