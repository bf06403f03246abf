//! Random programs in Fortran that print their own accesses: all that touch one block of memory, as flang does not mark what is volatile.
//! Without optimisation, so that each access of the source is one of the program.

use std::fmt::Write;

use workspan_testkit::random::Random;

use crate::oracle::{compare_noted, programs, Noted};
use crate::support::{build_source, folder, record};

const HEAD: &str = "\
module all
  implicit none
  integer(8) :: cells(200), longs(20, 10)
  real(8) :: reals(100)
  integer(2) :: shorts(64)
  integer(4) :: numbers(50)
  common /block/ cells, longs, reals, numbers, shorts
  integer, parameter :: most = 100000
  integer :: seen = 0, calls = 0
  character :: kinds(most)
  integer(8) :: places(most), sizes(most)
contains
  subroutine note(kind, place, size)
    character, intent(in) :: kind
    integer(8), value :: place
    integer, value :: size
    if (seen < most) then
      seen = seen + 1
      kinds(seen) = kind
      places(seen) = place
      sizes(seen) = size
    end if
  end subroutine
";

const TAIL: &str = "\
  print '(A,I0)', 'sum ', t
  print '(Z0,A,Z0)', loc(cells(1)), ' ', loc(shorts(64)) + 1
  do i = 1, seen
    print '(A,A,Z0,A,I0)', kinds(i), ' ', places(i), ' ', sizes(i)
  end do
end program
";

fn program(seed: u64) -> String {
    let mut random = Random::new(seed ^ 0xf0_0000);
    let mut text = HEAD.to_owned();
    let functions = 1 + random.below(4);
    for function in 0..functions {
        let mut body = String::new();
        for _ in 0..2 + random.below(6) {
            statement(&mut random, &mut body, 0, function);
        }
        let _ = write!(
            text,
            "  recursive subroutine f{function}(depth, t)\n    integer, value :: depth\n    integer(8), intent(inout) :: t\n    integer(8) :: s\n    \
             integer :: i0, i1, i2\n    s = depth\n    calls = calls + 1\n    if (depth <= 0 .or. calls > 60) return\n{body}    t = t + s\n  end subroutine\n"
        );
    }
    let _ = write!(
        text,
        "end module\nprogram prog\n  use all\n  integer(8) :: t\n  integer :: i\n  integer :: j\n  t = 0\n"
    );
    for (name, count, size) in [("cells", 200, 8), ("reals", 100, 8), ("numbers", 50, 4), ("shorts", 64, 2)] {
        let _ = writeln!(
            text,
            "  do i = 1, {count}\n    call note('W', loc({name}(i)), {size})\n    {name}(i) = 3\n  end do"
        );
    }
    text += "  do j = 1, 10\n  do i = 1, 20\n    call note('W', loc(longs(i, j)), 8)\n    longs(i, j) = 2\n  end do\n  end do\n";
    for function in 0..functions {
        let _ = writeln!(text, "  call f{function}({}, t)", 2 + random.below(3));
    }
    text + TAIL
}

/// A place, its size, and how an integer becomes its value.
fn place(random: &mut Random) -> (String, u32, &'static str) {
    let (index, other) = (random.pick(&["3", "1 + mod(abs(s), 20_8)", "17"]), 1 + random.below(10));
    match random.below(5) {
        0 => (format!("cells(2 * ({index}))"), 8, "s"),
        1 => (format!("longs({index}, {other})"), 8, "s + 1"),
        2 => (format!("reals(90 - ({index}))"), 8, "real(s, 8)"),
        3 => (format!("numbers({index})"), 4, "int(mod(s, 1000_8), 4)"),
        _ => (format!("shorts(3 * ({index}))"), 2, "int(mod(s, 100_8), 2)"),
    }
}

fn statement(random: &mut Random, text: &mut String, depth: u32, function: u64) {
    let (one, size, value) = place(random);
    let i = format!("i{depth}");
    let _ = match random.below(if depth < 2 { 9 } else { 4 }) {
        0 | 1 => writeln!(text, "    call note('R', loc({one}), {size})\n    s = s + int({one}, 8)"),
        2 | 3 => writeln!(text, "    call note('W', loc({one}), {size})\n    {one} = {value}"),
        4 => {
            let (from, to, step) = random.pick(&[(1, 9, 1), (20, 1, -3), (2, 40, 7), (5, 4, 1)]);
            let _ = writeln!(text, "    do {i} = {from}, {to}, {step}\n    s = s + {i}\n    call note('W', loc(cells({i} * 3)), 8)\n    cells({i} * 3) = {i}");
            block(random, text, depth, function);
            writeln!(text, "    end do")
        }
        5 => {
            let _ = writeln!(
                text,
                "    call note('R', loc({one}), {size})\n    if (mod(int({one}, 8) + s, 2_8) == 0) then"
            );
            block(random, text, depth, function);
            let _ = writeln!(text, "    else");
            block(random, text, depth, function);
            writeln!(text, "    end if")
        }
        6 => {
            let _ = writeln!(text, "    select case (mod(abs(s), 3_8))\n    case (0)");
            block(random, text, depth, function);
            writeln!(text, "    case (1)\n    call note('W', loc({one}), {size})\n    {one} = {value}\n    case default\n    s = s + 1\n    end select")
        }
        7 => {
            let _ = writeln!(text, "    {i} = 0\n    do while ({i} < {})\n    {i} = {i} + 1", 1 + random.below(6));
            block(random, text, depth, function);
            writeln!(text, "    end do")
        }
        _ if function > 0 => writeln!(text, "    call f{}(depth - 1, s)", random.below(function)),
        _ => writeln!(text, "    call f{function}(depth - 1, s)"),
    };
}

fn block(random: &mut Random, text: &mut String, depth: u32, function: u64) {
    for _ in 0..1 + random.below(3) {
        statement(random, text, depth + 1, function);
    }
}

#[test]
fn random_programs_of_fortran() {
    let folder = folder("random-fortran");
    for seed in 1..=programs() {
        build_source(&folder, "prog.f90", &program(seed), random_compiler(seed));
        let printed = record(&folder);
        let (_, rest) = printed.split_once('\n').expect("the first line is the sum");
        let (bounds, expected) = rest.split_once('\n').expect("the second line is where memory lies");
        let bound =
            |at: usize| u64::from_str_radix(bounds.split(' ').nth(at).unwrap_or_default(), 16).expect("an address");
        let lines = expected.lines().map(|line| {
            let mut words = line.split(' ');
            let [kind, place, size] = [(); 3].map(|()| words.next().unwrap_or_default());
            format!("{kind} {} {size}\n", place.to_lowercase())
        });
        let what = format!("program {seed} in {}", folder.display());
        compare_noted(&folder, &lines.collect::<String>(), &what, Noted::Within(bound(0)..=bound(1)));
    }
}

fn random_compiler(seed: u64) -> &'static str {
    ["gfortran -O0", "flang-new -O0 -g"][usize::from(seed.is_multiple_of(2))]
}
