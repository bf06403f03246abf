//! What functions of the C library do with the memory that their arguments point to.
//!
//! How much they touch is not known before the call: at least the first byte is.

use workspan_trace::program::Access::{self, Load, Store, Update};

/// True for functions that choose one of two objects: `std::max`, `std::min`.
pub fn chooses(name: &str) -> bool {
    name.starts_with("_ZSt3maxI") || name.starts_with("_ZSt3minI")
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

/// Arguments that a function reads or writes through; `count`: how many it was given.
pub fn touched(name: &str, count: u32) -> Vec<(u32, Access)> {
    let fixed: &[(u32, Access)] = match name {
        _ if chooses(name) => &[(0, Load), (1, Load)],
        "strlen" | "atoi" | "atol" | "atoll" | "atof" | "puts" | "fputs" | "perror" | "strchr" | "strrchr"
        | "memchr" | "strdup" | "strnlen" | "strndup" | "fwrite" | "putenv" => &[(0, Load)],
        "strcmp" | "strncmp" | "strcasecmp" | "strncasecmp" | "memcmp" | "bcmp" | "strstr" | "strspn" | "strcspn"
        | "strpbrk" => &[(0, Load), (1, Load)],
        "strcpy" | "strncpy" | "stpcpy" | "memcpy" | "memmove" | "__strcpy_chk" | "__memcpy_chk" => {
            &[(1, Load), (0, Store)]
        }
        "strcat" | "strncat" | "__strcat_chk" => &[(1, Load), (0, Update)],
        "memset" | "__memset_chk" | "bzero" | "fgets" | "fread" | "gets" | "gettimeofday" | "time" => &[(0, Store)],
        "read" | "recv" | "clock_gettime" => &[(1, Store)],
        "write" | "send" => &[(1, Load)],
        "strtol" | "strtoul" | "strtoll" | "strtoull" | "strtod" | "strtof" => &[(0, Load), (1, Store)],
        "qsort" | "rand_r" | "srand_r" => &[(0, Update)],
        "bsearch" => &[(0, Load), (1, Load)],
        "frexp" | "frexpf" | "modf" | "modff" => &[(1, Store)],
        "sincos" | "sincosf" => &[(1, Store), (2, Store)],
        "sprintf" | "vsprintf" => &[(0, Store)],
        "snprintf" | "vsnprintf" | "__snprintf_chk" | "__sprintf_chk" => &[(0, Store)],
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
    // What is read into follows the format.
    let first = match name {
        "scanf" | "__isoc99_scanf" => 1,
        "sscanf" | "fscanf" | "__isoc99_sscanf" | "__isoc99_fscanf" => 2,
        _ => count,
    };
    all.extend((first..count).map(|at| (at, Store)));
    all
}
