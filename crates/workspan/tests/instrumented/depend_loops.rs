//! `workspan depend`: verdicts on labelled loops.

use std::fs;
use std::path::Path;

use crate::depend::profile;
use crate::support::{build, build_source, folder};

/// Labels of a source: line, `@parallel`, `@clauses` or `@serial`.
fn labels(text: &str) -> Vec<(u64, &str)> {
    let label = |line: &str| ["@parallel", "@clauses", "@serial"].into_iter().find(|label| line.contains(*label));
    (1..).zip(text.lines()).filter_map(|(number, line)| Some((number, label(line)?))).collect()
}

#[test]
fn no_serial_loop_is_called_parallel_and_parallel_ones_are_found() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/loops");
    let (mut all, mut parallel, mut exact, mut wrong, mut missed) = (0, 0, 0, Vec::new(), Vec::new());
    for (file, command) in [
        ("arrays.c", "cc -O2"),
        ("arrays.c", "cc -O0"),
        ("scalars.c", "cc -O3 -march=native"),
        ("calls.c", "cc -O1"),
        ("objects.cpp", "c++ -O2"),
        ("numbers.f90", "gfortran -O2"),
        ("suites.c", "cc -O2"),
        ("containers.cpp", "c++ -O1"),
        ("suites.f90", "gfortran -O1"),
        ("idioms.c", "cc -O2"),
        ("idioms.cpp", "c++ -O2"),
        ("kinds.c", "cc -O2"),
        ("kinds.c", "cc -O1 -fno-inline"),
        ("kinds.cpp", "c++ -O2"),
        ("main.f90", "gfortran -O2"),
        ("more.c", "cc -O2"),
        ("more.cpp", "c++ -O2"),
        ("more.f90", "gfortran -O1"),
        ("language.c", "cc -O2"),
        ("library.c", "cc -O2 library_state.c"),
        ("assembly.c", "cc -O2"),
        ("inlined.c", "cc -O2"),
        ("inlined.c", "cc -O1"),
        ("bounded.c", "cc -O2"),
        ("bounded.c", "c++ -x c++ -O1 -D_FORTIFY_SOURCE=2"),
        ("tricky.c", "cc -O2"),
        ("tricky.c", "c++ -x c++ -O1"),
        ("kernels.c", "cc -O3 -g"),
        ("members.c", "cc -O0"),
        ("owners.c", "cc -O2"),
        ("owners.c", "cc -O0"),
        ("classes.cpp", "c++ -std=c++20 -O2"),
        ("worlds.cpp", "c++ -std=c++20 -O0 -g"),
        ("sections.f90", "gfortran -O2"),
        ("fields.f90", "gfortran -O0 -g"),
        ("tricky.f90", "gfortran -O2"),
        ("tricky.cpp", "c++ -O2"),
        ("applied.cpp", "c++ -std=c++20 -O2"),
        ("applied.f90", "gfortran -O2"),
        ("deep.f90", "gfortran -O1"),
        ("kept.c", "cc -O2"),
        ("kept.c", "c++ -x c++ -O0"),
        ("printed.c", "cc -O2"),
        ("printed.c", "cc -O1 -D_FORTIFY_SOURCE=2"),
        ("reals.c", "cc -O2"),
        ("packed.c", "cc -O3"),
        ("extremes.c", "cc -O1"),
        ("pointed.c", "cc -O2"),
        ("linked.c", "cc -O3"),
        ("scanned.c", "cc -O2"),
        ("remembered.c", "cc -O1"),
        ("waves.c", "cc -O3"),
        ("lasting.c", "cc -O2"),
        ("grown.cpp", "c++ -std=c++20 -O2"),
        ("algorithms.cpp", "c++ -std=c++20 -O2"),
        ("algorithms.cpp", "c++ -O0"),
        ("visited.cpp", "c++ -std=c++20 -O3"),
        ("streams.cpp", "c++ -O2"),
        ("streams.cpp", "c++ -std=c++20 -O0"),
        ("slices.f90", "gfortran -O2"),
        ("derived.f90", "gfortran -O3"),
        ("leftover.c", "cc -O2"),
        ("leftover.c", "cc -O0"),
        ("places.c", "cc -O2"),
        ("places.c", "c++ -x c++ -O0"),
        ("places.f90", "gfortran -O2"),
        ("copied.c", "cc -O1"),
        ("copied.c", "c++ -x c++ -O2"),
        ("copied.f90", "gfortran -O2"),
        ("ternaries.c", "cc -O1"),
        ("ternaries.c", "c++ -x c++ -O2"),
        ("hosts.f90", "gfortran -O1"),
        ("leftover.cpp", "c++ -std=c++20 -O2"),
        ("abandoned.cpp", "c++ -std=c++20 -O2"),
        ("abandoned.cpp", "c++ -O0"),
        ("abandoned.c", "cc -O2"),
        ("texts.f90", "gfortran -O2"),
        ("whole.f90", "gfortran -O0"),
        ("whole.f90", "gfortran -O3"),
    ] {
        let folder = folder(&format!("depend-loops-{}-{}", file, command.replace(' ', "")));
        let text = fs::read_to_string(programs.join(file)).expect("it is there");
        for needed in [file, "library_state.c", "library_state.h"] {
            fs::copy(programs.join(needed), folder.join(needed)).expect("it is there");
        }
        build(&folder, &format!("{command} -w {file} -o prog -lm"));
        let profile = profile(&folder, &[]);
        let loops = profile["loops"].as_array().expect("a list");
        for (line, label) in labels(&text) {
            // Of several on a line, the first.
            let own = loops.iter().filter(|each| each["line"] == line);
            let own =
                own.min_by_key(|each| each["column"].as_u64()).unwrap_or_else(|| panic!("{file}:{line} is missing"));
            let verdict = own["parallel"].as_str().expect("a text");
            let is_parallel = matches!(verdict, "yes" | "with-clauses");
            all += 1;
            if label == "@serial" {
                if is_parallel {
                    wrong.push(format!("{file}:{line} is serial, and is called {own:#}"));
                }
                continue;
            }
            parallel += 1;
            missed.extend((!is_parallel).then(|| format!("{file}:{line}: {own:#}")));
            exact += usize::from(verdict == if label == "@parallel" { "yes" } else { "with-clauses" });
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all >= 1600, "{all}");
    assert!(missed.len() * 100 <= parallel * 3, "of {parallel}, missed:\n{}", missed.join("\n"));
    assert!(exact * 100 >= parallel * 95, "{exact} of {parallel}");
}

/// Verdict and clauses of the loop on a line: private variables, counters beside the loop's own, variables of blockers.
#[track_caller]
fn clauses(name: &str, (file, command): (&str, &str), text: &str) -> Vec<(u64, String, [Vec<String>; 3])> {
    let folder = folder(name);
    build_source(&folder, file, text, command);
    let profile = profile(&folder, &[]);
    let wanted: Vec<u64> = labels(text).into_iter().map(|(line, _)| line).collect();
    let own = profile["loops"].as_array().expect("a list").iter();
    let own = own.filter_map(|each| Some((each["line"].as_u64().filter(|line| wanted.contains(line))?, each)));
    own.map(|(line, each)| {
        let names = |list: &str| {
            let all = each[list].as_array().expect("a list").iter();
            let name = |one: &serde_json::Value| one["variable"].as_str().or(one.as_str()).expect("a text").to_owned();
            all.map(name).collect()
        };
        let verdict = each["parallel"].as_str().expect("a text").to_owned();
        (line, verdict, ["private", "linear", "blockers"].map(names))
    })
    .collect()
}

fn verdict(line: u64, verdict: &str, names: [&[&str]; 3]) -> (u64, String, [Vec<String>; 3]) {
    (line, verdict.to_owned(), names.map(|names| names.iter().map(|name| (*name).to_owned()).collect()))
}

/// The bounds are known, so that the descriptor is a constant; functions of one name differ in their arguments, and what is no descriptor must not be taken
/// for one.
#[test]
fn a_part_of_an_array_has_its_name_and_shifts_have_their_arguments() {
    let text = "program main
  implicit none
  integer, parameter :: n = 12
  real(8) :: a(n), b(n), w(n), c(n, n), kept
  integer :: i, at(1), where_(n); common /shared/ kept
  a = 1; c = 2
  do i = 1, n                    ! @clauses
    w(1:5) = a(i)
    b(i) = sum(w(1:5))
  end do
  do i = 1, n                    ! @parallel
    c(:, i) = cshift(c(:, i), 1) + eoshift(c(:, i), i)
    c(:, i) = unpack(pack(c(:, i), c(:, i) > 1), c(:, i) > 1, c(:, i))
  end do
  at = maxloc(b)
  where_ = minloc(c, dim = 1, back = a(1) > 0)
  do i = 1, n                    ! @clauses
    kept = at(1); b(i) = kept + where_(i)
  end do
  print *, b(3)
end program
";
    let found = clauses("depend-sections-named", ("prog.f90", "gfortran -O2"), text);
    assert_eq!(
        found,
        [
            verdict(7, "with-clauses", [&["w"], &[], &[]]),
            verdict(11, "yes", [&[], &[], &[]]),
            verdict(17, "with-clauses", [&["/shared/"], &[], &[]]),
        ]
    );
}

#[test]
fn counters_advance_in_several_steps_but_not_by_real_numbers() {
    let text = "#include <stdio.h>
int main(void) {
  char out[64], *p = out;
  double x[16], at = 0, h = 0.25, cut = 0.3, scaled = 1;
  int k = 0;
  for (int i = 0; i < 16; i++) { *p++ = 'a'; *p++ = 'b'; *p++ = i; }        /* @clauses */
  for (int i = 0; i < 16; i++) { x[i] = at; at += h; }                      /* @serial */
  for (int i = 0; i < 16; i++) { x[i] += cut; cut = (int)(cut + 1.5); }     /* @serial */
  for (int i = 0; i < 16; i++) { x[i] += scaled; scaled *= h; }             /* @serial */
  for (int i = 0; i < 16; i++) { x[i] += k; k += 2; if (x[i] > 1) k++; }    /* @serial */
  for (double y = 0; y < 1; y += h) x[(int)(y * 16)] = y;                   /* @serial */
  printf(\"%g %d %g\\n\", x[3], out[2], cut);
  return 0;
}
";
    let found = clauses("depend-counters", ("prog.c", "cc -O2 -w"), text);
    let own: Vec<(u64, &str)> = found.iter().map(|(line, verdict, _)| (*line, verdict.as_str())).collect();
    assert_eq!(own, [(6, "with-clauses"), (7, "no"), (8, "no"), (9, "no"), (10, "no"), (11, "no")]);
    assert_eq!(found[0].2, [vec![], vec!["p".to_owned()], vec![]]);
}

/// Each clause that a loop needs: of elements where an index changes or several are named, though one alone was seen twice; of what is left over by
/// a loop that ran in the last iteration; of two variables that one function sets, and of two that it adds to.
#[test]
fn clauses_are_all_that_a_loop_needs() {
    let text = "#include <stdio.h>
static void set(int *to, int value) { *to = value; }
static void add(int *to, int value) { *to += value; }
int main(int argc, char **argv) {
  int in[] = {1, 2, 3, 1, 4}, bins[8] = {0}, two[2] = {0}, few[3] = {5, 6, 7}, out[5], kept = 0, v = 0, w = 0;
  (void)argv;
  for (int i = 0; i < 5; i++) bins[in[i]]++; // @clauses
  for (int i = 0; i < 5; i++) { two[0] += in[i]; two[1] += 2 * in[i]; } // @clauses
  for (int i = 0; i < 5; i++) { // @clauses
    kept = argc;
    if (i == 4)
      for (int k = 0; k < 3; k++) kept = few[k];
  }
  for (int i = 0; i < 5; i++) { // @clauses
    set(&v, i);
    set(&w, 2 * i);
    out[i] = v + w;
  }
  for (int i = 0; i < 5; i++) { // @clauses
    add(&v, i);
    add(&w, in[i]);
  }
  printf(\"%d %d %d %d %d %d\\n\", bins[1], two[1], out[2], kept, v, w);
  return 0;
}
";
    let folder = folder("depend-clauses-needed");
    build_source(&folder, "prog.c", text, "cc -O1");
    let profile = profile(&folder, &[]);
    let of_line = |line: u64| {
        let mut all = profile["loops"].as_array().expect("a list").iter();
        let own = all.find(|each| each["line"] == line && each["column"] == 3).expect("it is there");
        assert_eq!(own["parallel"], "with-clauses", "{own:#}");
        let names = |list: &str| {
            let all = own[list].as_array().expect("a list").iter();
            let name = |one: &serde_json::Value| one["variable"].as_str().or(one.as_str()).expect("a text").to_owned();
            let marked = |one: &serde_json::Value| name(one) + if one["elements"] == true { "[]" } else { "" };
            all.map(marked).collect::<Vec<String>>().join(" ")
        };
        ["reductions", "lastprivate"].map(names)
    };
    assert_eq!(of_line(7), ["bins[]", ""]);
    assert_eq!(of_line(8), ["two[]", ""]);
    assert_eq!(of_line(9), ["", "kept"]);
    assert_eq!(of_line(14), ["", "v w"]);
    assert_eq!(of_line(19), ["v w", ""]);
}

/// What to write compiles, and copies what the loop writes: each variable once, whatever `std::max` reads it through; memory that a pointer
/// or a vector leads to, and not the pointer; arrays as a whole.
#[test]
fn what_to_write_copies_what_the_loop_writes() {
    let text = "#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>
static long bins[5];
static void count(long *to, int n) {
  for (int k = 0; k < n; k++) to[k % 5] += k; // 8
}
int main() {
  std::vector<double> v(50), room(4);
  double r = 0, q = 0, *scratch = (double *)malloc(4 * sizeof(double));
  std::pair<double, double> both{1e9, -1e9};
  for (int i = 0; i < 50; i++) v[i] = i * 17 % 23;
  for (int i = 0; i < 50; i++) r = std::max(r, v[i]); // 15
  for (int i = 0; i < 50; i++) q = std::max(v[i], q); // 16
  for (int i = 0; i < 50; i++) both.second = std::max(both.second, v[i]); // 17
  for (int k = 0; k < 50; k++) bins[k % 5] += k; // 18
  for (int i = 0; i < 50; i++) { // 19
    for (int k = 0; k < 4; k++) scratch[k] = v[i] + k;
    v[i] = scratch[1] + scratch[3];
  }
  for (int i = 0; i < 50; i++) { // 23
    for (int k = 0; k < 4; k++) room[k] = v[i] + k;
    v[i] = room[1] + room[3];
  }
  count(bins, 60);
  printf(\"%g %g %g %ld %g\\n\", r, q, both.second, bins[3], v[7]);
  return 0;
}
";
    let folder = folder("depend-clauses-written");
    build_source(&folder, "prog.cpp", text, "c++ -std=c++20 -O1");
    let profile = profile(&folder, &[]);
    let check = |line: u64, expected: &str| {
        let mut all = profile["loops"].as_array().expect("a list").iter();
        let own = all.find(|each| each["line"] == line && each["column"] == 3).expect("it is there");
        assert_eq!(own["change"], expected, "{own:#}");
    };
    check(8, "#pragma omp parallel for reduction(+:to[:])");
    check(15, "#pragma omp parallel for reduction(max:r)");
    check(16, "#pragma omp parallel for reduction(max:q)");
    check(
        17,
        "keep both.second in a variable local during the loop, then #pragma omp parallel for reduction(max:local)",
    );
    check(18, "#pragma omp parallel for reduction(+:bins)");
    check(19, "give each iteration its own copy of what scratch leads to, then #pragma omp parallel for");
    check(23, "give each iteration its own copy of what room leads to, then #pragma omp parallel for");
}
