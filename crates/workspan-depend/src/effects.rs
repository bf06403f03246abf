//! What functions outside the instrumented code do to what other calls see.
//!
//! Memory behind their arguments is the pass's matter. A function that is in no list is a black box: two calls of black boxes
//! depend on each other.

use std::collections::HashMap;

use workspan_trace::rust_names;

/// State that calls share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// None: the same arguments give the same result, or the order does not matter.
    None,
    /// Files, terminals, sockets, the process: their order can be seen.
    Io,
    /// A generator of random numbers.
    Random,
    /// State within the C library, as that of `strtok`.
    Library,
    /// Unknown.
    Unknown,
}

/// Effects that are state, in the order of [`Effect::state`].
pub const STATES: [Effect; 4] = [Effect::Io, Effect::Random, Effect::Library, Effect::Unknown];

impl Effect {
    /// Number of the state, if it is one.
    pub fn state(self) -> Option<usize> {
        STATES.iter().position(|state| *state == self)
    }

    /// As shown in place of a variable.
    pub fn name(self) -> &'static str {
        match self {
            Effect::None => "",
            Effect::Io => "input and output",
            Effect::Random => "random numbers",
            Effect::Library => "state of the C library",
            Effect::Unknown => "code that was not instrumented",
        }
    }
}

/// Effects that the user has named, before those that are known.
#[derive(Clone, Debug, Default)]
pub struct Named(HashMap<String, Effect>);

impl Named {
    /// Reads `NAME none|io|random|state|unknown`, one on each line; `#` begins a comment. Fails with the number of a line that is
    /// something else.
    pub fn parse(text: &str) -> Result<Named, usize> {
        let mut found = HashMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            let (name, effect) = match words.as_slice() {
                [] => continue,
                [name, "none"] => (name, Effect::None),
                [name, "io"] => (name, Effect::Io),
                [name, "random"] => (name, Effect::Random),
                [name, "state"] => (name, Effect::Library),
                [name, "unknown"] => (name, Effect::Unknown),
                _ => return Err(number),
            };
            found.insert((*name).to_owned(), effect);
        }
        Ok(Named(found))
    }

    /// The effect of a function by its symbol.
    pub fn of(&self, name: &str) -> Effect {
        self.0.get(name).copied().unwrap_or_else(|| effect(name))
    }
}

/// Allocation, mathematics, strings, questions: nothing that another call could see.
const NONE: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "free",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "_Znwm",
    "_Znam",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZnwmSt11align_val_t",
    "_ZdlPvSt11align_val_t",
    "_ZdlPvmSt11align_val_t",
    "memcpy",
    "memmove",
    "memset",
    "bzero",
    "sprintf",
    "snprintf",
    "vsnprintf",
    "sscanf",
    "__isoc99_sscanf",
    "rand_r",
    "abs",
    "labs",
    "llabs",
    "isalpha",
    "isdigit",
    "isalnum",
    "isspace",
    "isupper",
    "islower",
    "isxdigit",
    "ispunct",
    "isprint",
    "toupper",
    "tolower",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "getenv",
    "getpid",
    "sysconf",
    "clock_gettime",
    "gettimeofday",
    "time",
    "clock",
    "omp_get_wtime",
    "omp_get_thread_num",
    "omp_get_num_threads",
    "omp_get_max_threads",
    "omp_set_num_threads",
    "omp_get_num_procs",
    "sincos",
    "sincosf",
    "frexp",
    "ldexp",
    "modf",
    "frexpf",
    "ldexpf",
    "modff",
    "__memcpy_chk",
    "__memset_chk",
    "__strcpy_chk",
    "__strcat_chk",
    "__snprintf_chk",
    "__sprintf_chk",
    "__errno_location",
    "__cxa_begin_catch",
    "__cxa_end_catch",
    "__cxa_allocate_exception",
    "__cxa_throw",
    "__cxa_free_exception",
    "_Unwind_Resume",
    "__gxx_personality_v0",
    "__cxa_guard_acquire",
    "__cxa_guard_release",
    "__cxa_atexit",
    "exit",
    "abort",
    "_exit",
    "__assert_fail",
    "__stack_chk_fail",
    "_FortranAStopStatement",
];

/// Mathematics of one and two arguments; with `f` and `l` at the end, too.
const MATHEMATICS: &[&str] = &[
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "pow",
    "sqrt",
    "cbrt",
    "hypot",
    "fabs",
    "floor",
    "ceil",
    "round",
    "trunc",
    "rint",
    "nearbyint",
    "lround",
    "lrint",
    "llround",
    "fmod",
    "remainder",
    "fmax",
    "fmin",
    "fma",
    "fdim",
    "copysign",
    "erf",
    "erfc",
    "tgamma",
    "lgamma",
    "cabs",
    "cexp",
    "carg",
    "creal",
    "cimag",
    "conj",
    "csqrt",
    "__divdc3",
    "__muldc3",
    "__divsc3",
    "__mulsc3",
    "isnan",
    "isinf",
    "finite",
    "scalbn",
    "ilogb",
    "logb",
    "nextafter",
    "nan",
];

const RANDOM: &[&str] = &[
    "rand", "srand", "random", "srandom", "drand48", "lrand48", "mrand48", "srand48", "erand48", "nrand48", "jrand48",
];

const LIBRARY: &[&str] = &[
    "strtok",
    "setlocale",
    "localtime",
    "gmtime",
    "ctime",
    "asctime",
    "strerror",
    "signal",
    "sigaction",
    "setenv",
    "putenv",
];

const IO: &[&str] = &[
    "printf",
    "fprintf",
    "vprintf",
    "vfprintf",
    "puts",
    "fputs",
    "putchar",
    "fputc",
    "putc",
    "_IO_putc",
    "fwrite",
    "fread",
    "fopen",
    "fclose",
    "fflush",
    "fseek",
    "ftell",
    "rewind",
    "fgets",
    "fgetc",
    "getc",
    "getchar",
    "_IO_getc",
    "ungetc",
    "scanf",
    "fscanf",
    "__isoc99_scanf",
    "__isoc99_fscanf",
    "getline",
    "read",
    "write",
    "open",
    "close",
    "lseek",
    "perror",
    "feof",
    "ferror",
    "setvbuf",
    "remove",
    "rename",
    "system",
    "send",
    "recv",
    "sleep",
    "usleep",
    "nanosleep",
    "__printf_chk",
    "__fprintf_chk",
    "__vprintf_chk",
    "__vfprintf_chk",
    "fputc_unlocked",
    "putchar_unlocked",
    "getchar_unlocked",
    "dprintf",
    "popen",
    "pclose",
    "mkstemp",
    "unlink",
    "stat",
    "fstat",
];

/// Functions that write as much as they want, or as other arguments say.
const UNBOUNDED: &[&str] = &[
    "strcpy",
    "strncpy",
    "stpcpy",
    "strcat",
    "strncat",
    "__strcpy_chk",
    "__strcat_chk",
    "memcpy",
    "memmove",
    "memset",
    "bzero",
    "__memcpy_chk",
    "__memset_chk",
    "sprintf",
    "snprintf",
    "vsprintf",
    "vsnprintf",
    "__sprintf_chk",
    "__snprintf_chk",
    "qsort",
    "sscanf",
    "__isoc99_sscanf",
];

/// The same, of functions that read on from where an argument points to, as far as they find.
const READS_ON: &[&str] = &[
    "strlen",
    "strnlen",
    "strcmp",
    "strncmp",
    "strcasecmp",
    "strncasecmp",
    "strchr",
    "strrchr",
    "strstr",
    "strspn",
    "strcspn",
    "strpbrk",
    "strcpy",
    "strncpy",
    "stpcpy",
    "strcat",
    "strncat",
    "strdup",
    "strndup",
    "memcmp",
    "memchr",
    "bcmp",
    "atoi",
    "atol",
    "atoll",
    "atof",
    "strtol",
    "strtoul",
    "strtoll",
    "strtoull",
    "strtod",
    "strtof",
    "bsearch",
    "qsort",
];

/// Modules of Rust's `std` that have no state that another call could see.
const RUST_NONE: &[&str] = &[
    "alloc",
    "ascii",
    "char",
    "collections",
    "error",
    "f32",
    "f64",
    "ffi",
    "hash",
    "num",
    "panic",
    "panicking",
    "path",
    "rt",
    "time",
];
/// Those that read and write files, terminals, sockets, and the process.
const RUST_IO: &[&str] = &["fs", "io", "net", "os", "process"];

/// The effect of a function of Rust's library: what `core` and `alloc` do is in their arguments alone.
fn of_rust(path: &[&str]) -> Effect {
    match (path.first().copied(), path.get(1)) {
        (Some("std"), Some(module)) if RUST_NONE.contains(module) => Effect::None,
        (Some("std"), Some(module)) if RUST_IO.contains(module) => Effect::Io,
        (Some("std"), Some(&"env")) => Effect::Library,
        (Some("std" | "proc_macro"), _) => Effect::Unknown,
        _ => Effect::None,
    }
}

/// True if a function reads more than is known.
pub fn reads_on(name: &str) -> bool {
    READS_ON.contains(&name)
}

/// Functions of C++'s library that do nothing that another call could see, but to the objects that they are given: the pass knows
/// these. What is in no list may keep state of its own.
const OF_OBJECTS: &[&str] = &[
    "_ZNSt7__cxx11",
    "_ZNKSt",
    "_ZNSa",
    "_ZSt17__throw_",
    "_ZSt19__throw_",
    "_ZSt20__throw_",
    "_ZSt24__throw_",
    "_ZSt16__throw_",
    "_ZSt18__throw_",
    "_ZSt21__throw_",
    "_ZSt25__throw_",
    "_ZSt28__throw_",
    "_ZSt9terminatev",
    "_ZSt3minI",
    "_ZSt3maxI",
    "_ZSt11_Hash_bytes",
    "_ZSt15_Fnv_hash_bytes",
    "_ZSt18_Rb_tree_",
    "_ZSt29_Rb_tree_insert_and_rebalance",
    "_ZSt28_Rb_tree_rebalance_for_erase",
    "_ZNSt8__detail15_List_node_base",
    "_ZNSt9exception",
    "_ZNSt15__exception_ptr",
    "_ZNSt11logic_error",
    "_ZNSt13runtime_error",
    "_ZNSt16invalid_argument",
    "_ZNSt12out_of_range",
    "_ZNSt12length_error",
    "_ZNSt12domain_error",
    "_ZNSt11range_error",
    "_ZNSt14overflow_error",
    "_ZNSt15underflow_error",
    "_ZNSt9bad_alloc",
    "_ZNSt8bad_cast",
    "_ZNSt6chrono",
];

/// True if a function writes more than is known.
pub fn is_unbounded(name: &str) -> bool {
    UNBOUNDED.contains(&name)
}

/// The effect of a function by its name; an empty name is one that was called by a pointer.
pub fn effect(name: &str) -> Effect {
    if NONE.contains(&name) || READS_ON.contains(&name) {
        return Effect::None;
    }
    if let Some(path) = rust_names::path(name) {
        return of_rust(&path);
    }
    let base = name.strip_prefix("__").and_then(|rest| rest.strip_suffix("_finite")).unwrap_or(name);
    let short = base.strip_suffix(['f', 'l']).unwrap_or(base);
    if MATHEMATICS.contains(&base) || MATHEMATICS.contains(&short) || name.starts_with("llvm.") {
        return Effect::None;
    }
    if RANDOM.contains(&name) {
        return Effect::Random;
    }
    if LIBRARY.contains(&name) {
        return Effect::Library;
    }
    // Streams of C++, and Fortran's input and output.
    let streams = [
        "_ZNSo",
        "_ZNSi",
        "_ZStls",
        "_ZStrs",
        "_ZNSt8ios",
        "_ZSt4endl",
        "_ZSt4ends",
        "_ZSt5flush",
        "_ZSt2ws",
        "_ZSt16__ostream_insert",
        "_ZSt7getline",
        "_ZNSt14basic_ofstream",
        "_ZNSt14basic_ifstream",
        "_ZNSt13basic_fstream",
        "_ZNSt13basic_filebuf",
        "_ZNSt9basic_ios",
        "_ZNKSt9basic_ios",
        "_ZNSt15basic_streambuf",
        "_ZNSt13basic_istream",
        "_ZNSt13basic_ostream",
        "_FortranAio",
    ];
    if IO.contains(&name) || streams.iter().any(|start| name.starts_with(start)) {
        return Effect::Io;
    }
    if name.starts_with("_ZNSt13random_device") {
        return Effect::Random;
    }
    if OF_OBJECTS.iter().any(|start| name.starts_with(start)) {
        return Effect::None;
    }
    Effect::Unknown
}
