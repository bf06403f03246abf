//! What functions of the C library do with the memory that their arguments point to.
//!
//! How much they touch is not known before the call: at least the first byte is. Those of which it is known are in
//! [`bounded`](crate::bounded).

use workspan_trace::program::Access::{self, Load, Store, Update};

/// Mathematics: numbers to a number, and nothing else but `errno`; with `f` and `l` at the end, too.
const MATHEMATICS: [&str; 29] = [
    "sqrt", "cbrt", "fabs", "floor", "ceil", "round", "trunc", "rint", "exp", "exp2", "log", "log2", "log10", "sin",
    "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "pow", "hypot", "fmod", "fmax", "fmin",
    "fdim",
];

/// True for a function of mathematics.
pub fn is_mathematics(name: &str) -> bool {
    let is = |name: &str| MATHEMATICS.contains(&name);
    is(name) || name.strip_suffix(['f', 'l']).is_some_and(is)
}

/// True for functions that choose one of two objects: `std::max`, `std::min`.
pub fn chooses(name: &str) -> bool {
    name.starts_with("_ZSt3maxI") || name.starts_with("_ZSt3minI")
}

/// True for functions of C++'s library that are taken as a whole: what turns text into numbers calls C's function by a pointer, and
/// keeps `errno`.
pub fn is_whole(name: &str) -> bool {
    chooses(name) || name.starts_with("_ZN9__gnu_cxx6__stoa")
}

/// True for those that choose of a list, and return a value.
pub fn chooses_of_list(name: &str) -> bool {
    chooses(name) && name.contains("St16initializer_list")
}

/// True for members of a string that only show where its characters are.
fn shows(name: &str) -> bool {
    ["EEixEm", "EE2atEm", "EE5beginEv", "EE3endEv", "EE4dataEv", "EE5frontEv", "EE4backEv"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// What the names of functions begin with that the pass adds; the variable comes last.
pub const ADDED: &str = "workspan.";

/// What the names of functions of Fortran's run-time begin with.
const FORTRAN: &str = "_FortranA";

/// Arguments of a function of Fortran's run-time that are descriptors of arrays: those that it reads, and those that it writes.
pub fn sections(name: &str) -> (&'static [u32], &'static [u32]) {
    let Some(name) = name.strip_prefix(FORTRAN) else {
        return (&[], &[]);
    };
    let starts = |all: &[&str]| all.iter().any(|start| name.starts_with(start));
    let reductions = ["Sum", "Product", "Maxval", "Minval", "IAll", "IAny", "IParity", "Norm2"];
    let truths = ["Count", "Any", "All", "Parity"];
    let is_truth = truths.contains(&name);
    match name {
        _ if starts(&[
            "Assign",
            "CopyInAssign",
            "CopyOutAssign",
            "AllocatableAllocateSource",
            "PointerAllocateSource",
        ]) =>
        {
            (&[1], &[0])
        }
        "ioOutputDescriptor" | "ioOutputDerivedType" => (&[1], &[]),
        "ioInputDescriptor" | "ioInputDerivedType" => (&[], &[1]),
        _ if starts(&["ioBeginInternalArray"]) && name.ends_with("Input") => (&[0], &[]),
        _ if starts(&["ioBeginInternalArray"]) => (&[], &[0]),
        _ if starts(&["Matmul"]) => (&[1, 2], &[0]),
        _ if starts(&["DotProduct"]) => (&[0, 1], &[]),
        _ if starts(&["CppDotProduct"]) => (&[1, 2], &[]),
        _ if starts(&["Maxloc", "Minloc"]) => (&[1, 5, 6], &[0]),
        _ if starts(&["Findloc"]) => (&[1, 2, 6, 7], &[0]),
        _ if starts(&["Reshape", "Unpack", "Pack", "Cshift", "Eoshift"]) => (&[1, 2, 3, 4], &[0]),
        _ if starts(&["Transpose", "Spread", "Trim", "Repeat", "Adjust"]) => (&[1], &[0]),
        _ if starts(&["RandomNumber", "Initialize", "Destroy"]) => (&[], &[0]),
        _ if starts(&reductions) && name.contains("Dim") => (&[1, 5], &[0]),
        _ if starts(&truths) && name.ends_with("Dim") => (&[1], &[0]),
        _ if starts(&reductions) => (&[0, 4], &[]),
        _ if name.strip_prefix("Cpp").is_some_and(|rest| reductions.iter().any(|start| rest.starts_with(start))) => {
            (&[1, 5], &[])
        }
        _ if is_truth => (&[0], &[]),
        _ => (&[], &[]),
    }
}

/// The same functions: descriptors, and other arguments that they read or write through.
fn of_fortran(name: &str) -> Vec<(u32, Access)> {
    let (read, written) = sections(name);
    let mut all: Vec<(u32, Access)> = read.iter().chain(written).map(|at| (*at, Load)).collect();
    let starts = |all: &[&str]| all.iter().any(|start| name.starts_with(start));
    match name.strip_prefix(FORTRAN).unwrap_or_default() {
        rest if rest.starts_with("Cpp") => all.push((0, Store)),
        rest if ["Index", "Scan", "Verify", "LenTrim"].iter().any(|start| rest.starts_with(start)) => {
            all.extend([(0, Load), (2, Load)]);
        }
        rest if rest.starts_with("CharacterCompare") => all.extend([(0, Load), (1, Load)]),
        _ if starts(&["_FortranAAllocatable", "_FortranAPointer", "_FortranAPushArray", "_FortranAInitArray"]) => {
            all.push((0, Update));
        }
        _ => {}
    }
    all
}

/// Arguments that a function reads or writes through; `count`: how many it was given.
pub fn touched(name: &str, count: u32) -> Vec<(u32, Access)> {
    let fixed: &[(u32, Access)] = match name {
        _ if chooses(name) => &[(0, Load), (1, Load)],
        _ if is_whole(name) => &[(2, Load), (3, Store)],
        "atoi" | "atol" | "atoll" | "atof" | "perror" | "strchr" | "strrchr" | "memchr" | "putenv" => &[(0, Load)],
        "strcmp" | "strncmp" | "strcasecmp" | "strncasecmp" | "strstr" | "strspn" | "strcspn" | "strpbrk" => {
            &[(0, Load), (1, Load)]
        }
        "fgets" | "gets" | "gettimeofday" | "time" => &[(0, Store)],
        "strtol" | "strtoul" | "strtoll" | "strtoull" | "strtod" | "strtof" => &[(0, Load), (1, Store)],
        "rand_r" | "srand_r" => &[(0, Update)],
        "strtok_r" => &[(0, Update), (1, Load), (2, Update)],
        "gmtime_r" => &[(0, Load), (1, Store)],
        "frexp" | "frexpf" | "modf" | "modff" => &[(1, Store)],
        "sincos" | "sincosf" => &[(1, Store), (2, Store)],
        // Containers of C++: what of them is not in headers.
        _ if name.starts_with("_ZSt29_Rb_tree_insert_and_rebalance") => &[(1, Update), (2, Update), (3, Update)],
        _ if name.starts_with("_ZSt28_Rb_tree_rebalance_for_erase") => &[(0, Update), (1, Update)],
        _ if name.starts_with("_ZSt18_Rb_tree_") => &[(0, Load)],
        _ if name.starts_with("_ZNSt8__detail15_List_node_base") => &[(0, Update), (1, Update), (2, Update)],
        _ if name.starts_with("_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehash") => &[(0, Update)],
        _ if name.starts_with("_ZSt11_Hash_bytes") => &[(0, Load)],
        // Strings of C++: the object comes first.
        _ if name.starts_with("_ZNKSt7__cxx1112basic_string") => &[(0, Load)],
        _ if name.starts_with("_ZNSt7__cxx1112basic_string") && shows(name) => &[(0, Load)],
        _ if name.starts_with("_ZNSt7__cxx1112basic_string") => &[(0, Update)],
        _ => &[],
    };
    let mut all = fixed.to_vec();
    if name.starts_with(FORTRAN) {
        all.extend(of_fortran(name));
    }
    // What is read into follows the format.
    let first = match name {
        "scanf" | "__isoc99_scanf" => 1,
        "sscanf" | "fscanf" | "__isoc99_sscanf" | "__isoc99_fscanf" => 2,
        _ => count,
    };
    all.extend((first..count).map(|at| (at, Store)));
    all
}
