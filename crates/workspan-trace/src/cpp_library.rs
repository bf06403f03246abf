//! Where a function of C++'s own library stands, by its file and name: libstdc++ and libc++.

/// Files whose loops go through what the program hands over, libstdc++'s first.
const ALGORITHMS: [&str; 8] = [
    "/bits/stl_algo.h",
    "/bits/stl_algobase.h",
    "/bits/stl_numeric.h",
    "/bits/ranges_algo.h",
    "/bits/ranges_algobase.h",
    "/numeric",
    "/__algorithm/",
    "/__numeric/",
];

/// In the names of functions that are not one loop through what they are given: they sort, merge or move, or do four iterations at once and the
/// rest in another loop.
const OTHERS: [&str; 9] = ["sort", "heap", "merge", "rotate", "partition", "unguarded", "shuffle", "find_if", "reduce"];

/// True for a file of the library.
pub fn is_library_file(file: &str) -> bool {
    file.contains("/include/c++/")
}

/// True for a function of the library that is one loop through what the program iterates over: `std::for_each`, `std::transform`. A name may
/// have its template's arguments behind it.
pub fn is_algorithm(file: &str, function: &str) -> bool {
    let name = function.split('<').next().unwrap_or_default();
    let is_of = |part: &&str| if part.ends_with('/') { file.contains(*part) } else { file.ends_with(*part) };
    is_library_file(file) && ALGORITHMS.iter().any(is_of) && !OTHERS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_are_known_by_file_and_name() {
        for (file, function) in [
            ("/usr/include/c++/12/bits/stl_algo.h", "for_each<double *, (lambda at a.cpp:3:4)>"),
            (
                "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/stl_numeric.h",
                "accumulate<int *, int>",
            ),
            ("/usr/lib/llvm-19/bin/../include/c++/v1/__algorithm/transform.h", "transform<int *, int *>"),
            ("/usr/include/c++/12/bits/stl_algobase.h", "__fill_a1<int *, int>"),
        ] {
            assert!(is_algorithm(file, function), "{file} {function}");
        }
        for (file, function) in [
            ("/usr/include/c++/12/bits/stl_algo.h", "__insertion_sort<int *>"),
            ("/usr/include/c++/12/bits/stl_vector.h", "for_each"),
            ("/usr/include/c++/12/numeric", "transform_reduce<int *>"),
            ("src/bits/stl_algo.h", "for_each"),
        ] {
            assert!(!is_algorithm(file, function), "{file} {function}");
        }
    }
}
