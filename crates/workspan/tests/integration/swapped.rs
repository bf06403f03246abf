//! Programs of gcc's that are correct with its own runtime, under LLVM's in its place.

use std::fs;
use std::process::Command;

use nix::sys::signal::Signal;

use crate::build::scratch;
use crate::command::{report, run, warnings, workspan, Ended};
use crate::faults::compile;

/// A program with its own runtime leaves nothing in `/dev/shm`.
#[test]
fn the_swapped_runtime_leaves_nothing_behind() {
    let folder = scratch("left-behind");
    let text = "#include <stdio.h>\n#include <unistd.h>\nint main(void) { int n = 0;\n#pragma omp parallel\n#pragma omp atomic\n\
                n++;\nprintf(\"%d %d\\n\", getpid(), n); fflush(stdout); _exit(0); }\n";
    let program = compile("gcc", &folder, "p.c", text);
    let ended = run(workspan(&folder).args(["record", "--workers", "2", "--"]).arg(&program));
    let out = ended.check_success().out();
    let pid = out.split_whitespace().next().expect("a number");
    let left: Vec<String> = fs::read_dir("/dev/shm")
        .expect("there is shared memory")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("__KMP") && name.split('_').any(|part| part == pid))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Correct with libgomp; libomp's own entry point runs the body of a task with `if(0)` on data of the wrong layout.
const VECTORS: &str = r#"
#include <cstdio>
#include <vector>
int main() {
    long total = 0;
    bool wrong = false;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 50; i++) {
        std::vector<int> v(i + 1, i);
#pragma omp task if (i % 2) firstprivate(v) shared(total)
        {
            long sum = 0;
            for (int x : v) sum += x;
            v.clear();
#pragma omp atomic
            total += sum;
        }
        if (v.size() != unsigned(i + 1)) wrong = true;
    }
    std::printf("%ld\n", total);
    return total == 41650 && !wrong ? 0 : 1;
}
"#;

const ARRAYS: &str = "
program arrays
  implicit none
  integer :: a(7), total, i
  total = 0
  do i = 1, 20
    a = i
    call add(a(1:7:2))
  end do
  print *, total
  if (total /= 840) stop 1
contains
  subroutine add(x)
    integer, intent(in) :: x(:)
    integer :: y(size(x))
    y = x
    !$omp task if(.false.) firstprivate(y) shared(total)
    total = total + sum(y)
    !$omp end task
  end subroutine
end program
";

const TREE: &str = r#"
#include <cstdio>
#include <vector>
static long tree(std::vector<int> path, int depth) {
    long left = 0, right = 0;
    if (depth == 0) return path.size();
    path.push_back(depth);
#pragma omp task if (depth > 5) firstprivate(path) shared(left)
    left = tree(path, depth - 1);
#pragma omp task if (depth > 5) firstprivate(path) shared(right)
    right = tree(path, depth - 1);
#pragma omp taskwait
    return left + right;
}
int main() {
    long sum = 0;
#pragma omp parallel
#pragma omp single
    sum = tree({}, 10);
    std::printf("%ld\n", sum);
    return sum == 10240 ? 0 : 1;
}
"#;

#[test]
fn tasks_of_gcc_that_run_at_once_on_a_copy() {
    let folder = scratch("gcc-copies");
    for (compiler, file, text, tasks) in
        [("g++", "vectors.cpp", VECTORS, 50), ("gfortran", "arrays.f90", ARRAYS, 20), ("g++", "tree.cpp", TREE, 2046)]
    {
        let program = compile(compiler, &folder, file, text);
        let native = run(&mut Command::new(&program));
        native.check_success();
        let mut command = workspan(&folder);
        let ended = run(command.args(["record", "--clock", "virtual", "--workers", "2", "--"]).arg(&program));
        assert_eq!((ended.code(), ended.out()), (Some(0), native.out()), "{file}: {:?} {}", ended.status, ended.err());
        assert_eq!(report(&folder, "workspan.wspan")["program"]["tasks"], tasks, "{file}");
        let mut command = workspan(&folder);
        command.args(["scale", "-p", "1,2", "--repeat", "1", "--warm-up", "0", "--no-sites", "--"]).arg(&program);
        run(&mut command).check_success();
    }
}

/// Undeferred tasks nest on the stack, whose limit a program has been fitted to.
const DEEP: &str = r#"
#include <stdio.h>
static long deep(long level) {
    long below = 0;
    if (level == 0) return 0;
#pragma omp task if (0) shared(below)
    below = deep(level - 1);
    return below + 1;
}
int main(void) {
    long found = 0;
#pragma omp parallel num_threads(1)
    found = deep(15500);
    printf("%ld\n", found);
    return found != 15500;
}
"#;

#[test]
fn a_recursion_that_fits_libgomps_stack() {
    let folder = scratch("deep");
    let program = compile("gcc", &folder, "deep.c", DEEP);
    run(&mut Command::new(&program)).check_success();
    let ended = run(workspan(&folder).args(["record", "--clock", "virtual", "--"]).arg(&program));
    assert_eq!(ended.code(), Some(0), "{:?}: {}", ended.status, ended.err());
}

/// A crash under a runtime that is not the program's own is said to be that, and gives no verdict.
#[test]
fn crashes_under_a_swapped_runtime() {
    let folder = scratch("swapped-crash");
    let text = |condition: &str| {
        format!(
            "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdlib.h>\nint main(void) {{ int n = 0;\n\
             #pragma omp parallel\n#pragma omp atomic\nn++;\nif ({condition}) abort();\nreturn n < 1; }}\n"
        )
    };
    for (file, condition, fault) in [
        ("own.c", "n", "the program is at fault"),
        ("llvm.c", "dlsym(RTLD_DEFAULT, \"__kmpc_fork_call\")", "the runtime that stood in is at fault"),
        (
            "collector.c",
            "dlsym(RTLD_DEFAULT, \"workspan_marked_begin\") || getenv(\"WORKSPAN_SHM\")",
            "the collector is at fault",
        ),
    ] {
        let program = compile("gcc", &folder, file, &text(condition));
        let ended: Ended = run(workspan(&folder).args(["record", "--workers", "2", "--"]).arg(&program));
        assert_eq!(ended.signal(), Some(Signal::SIGABRT as i32), "{file}: {}", ended.err());
        assert!(
            ended.err().contains("in place of its own, gcc's") && ended.err().contains(fault),
            "{file}: {}",
            ended.err()
        );
        let found = report(&folder, "workspan.wspan");
        assert!(warnings(&found).contains(&"swapped-runtime"), "{file}: {}", found["warnings"]);
        assert!(found["verdict"]["text"].as_str().is_some_and(|text| text.starts_with("no verdict")), "{file}");
    }
}
