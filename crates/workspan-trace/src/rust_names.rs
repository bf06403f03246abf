//! Where a function of Rust's own library stands, by its symbol: `std`, `io`, `stdio`.
//!
//! Both forms of symbols are read: `_R…`, which the library is compiled with today, and `_ZN…17h…E`.

/// Crates of the library; the last holds the allocator.
const CRATES: [&str; 6] = ["core", "alloc", "std", "hashbrown", "__rustc", "proc_macro"];

/// Crate and modules of a function of the library, outermost first; nothing for any other function.
pub fn path(symbol: &str) -> Option<Vec<&str>> {
    let path = match symbol.strip_prefix("_R") {
        Some(rest) => of_new(rest)?,
        None => of_old(symbol)?,
    };
    CRATES.contains(path.first()?).then_some(path)
}

/// `Nv Nt Cs<hash>_3std 2io 6__print`: the first crate that is named, and what follows it.
fn of_new(symbol: &str) -> Option<Vec<&str>> {
    let mut rest = symbol;
    loop {
        let at = rest.find("Cs")?;
        rest = &rest[at + 2..];
        let (hash, name) = rest.split_once('_')?;
        if hash.chars().all(|c| c.is_ascii_alphanumeric()) && name.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(identifiers(name));
        }
    }
}

/// `_ZN3std2io5stdio6_print17h<hash>E`, `_ZN…_$LT$std..io..Stdout$u20$as$u20$…17h<hash>E`.
fn of_old(symbol: &str) -> Option<Vec<&str>> {
    let body = symbol.strip_prefix("_ZN")?.strip_suffix('E')?;
    let (body, hash) = body.split_at_checked(body.len().checked_sub(19)?)?;
    let is_hash = hash.starts_with("17h") && hash[3..].bytes().all(|byte| byte.is_ascii_hexdigit());
    let all = identifiers(body);
    let first = all.first().filter(|_| is_hash)?;
    let Some(of_type) = first.strip_prefix("_$LT$").or_else(|| first.strip_prefix("$LT$")) else {
        return Some(all);
    };
    // A type may be a reference or a slice of what has a path.
    let begin = CRATES.iter().filter_map(|name| of_type.find(&format!("{name}.."))).min()?;
    let words = of_type[begin..].split('$').next()?;
    Some(words.split("..").collect())
}

/// Words with their length before them.
fn identifiers(mut rest: &str) -> Vec<&str> {
    let mut found = Vec::new();
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[..digits].parse::<usize>() else {
            return found;
        };
        rest = &rest[digits..];
        // A word that begins with a digit or an underscore is set off by one.
        if rest.starts_with('_') && !rest.get(..length).is_some_and(|word| word.starts_with("_$")) {
            let after = &rest[1..];
            if after.len() >= length && after.as_bytes().get(length).is_none_or(|next| !next.is_ascii_lowercase()) {
                rest = after;
            }
        }
        let Some((word, after)) = rest.split_at_checked(length) else {
            return found;
        };
        found.push(word);
        rest = after;
    }
}

/// True for a file of the library's source.
pub fn is_library_file(file: &str) -> bool {
    let of_crate = |rest: &str| ["core/", "alloc/", "std/"].iter().any(|name| rest.starts_with(name));
    // Debug information has the folder apart from the name.
    let relative = file.strip_prefix("library/").is_some_and(of_crate);
    let folders = ["/rustc/", "/rust/deps/"].iter().any(|folder| file.starts_with(folder));
    relative || folders || file.contains("/rustlib/src/rust/library/")
}

/// True for a file of the library whose loops search, grow or sort: none of them goes through what the program iterates over, though it
/// may have been inlined there.
pub fn is_container_file(file: &str) -> bool {
    let folders = ["/hashbrown-", "/collections/btree/", "/slice/sort/"];
    is_library_file(file) && folders.iter().any(|folder| file.contains(folder))
}

/// True for a file of the library that keeps what no result may depend on: the keys of new hash tables, which are random, whether a variable
/// that each thread has for itself is there, and how much memory a vector has. What its elements are depends on its length, too.
pub fn is_private_file(file: &str) -> bool {
    const PARTS: [&str; 3] = ["std/src/hash/random.rs", "std/src/sys/thread_local/", "alloc/src/raw_vec"];
    is_library_file(file) && PARTS.iter().any(|part| file.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_of_the_library() {
        let library = "/opt/rust/lib/rustlib/src/rust/library";
        for file in
            ["/rust/deps/hashbrown-0.16.1/src/raw/mod.rs", "/rustc/0123/library/alloc/src/collections/btree/search.rs"]
        {
            assert!(is_container_file(file), "{file}");
        }
        assert!(is_container_file(&format!("{library}/core/src/slice/sort/stable/mod.rs")));
        for file in [
            "src/collections/btree/search.rs",
            "/rustc/0123/library/core/src/slice/iter.rs",
            "/opt/hashbrown-1/src/map.rs",
        ] {
            assert!(!is_container_file(file), "{file}");
        }
    }

    #[track_caller]
    fn check(symbol: &str, expected: &str) {
        assert_eq!(path(symbol).map(|path| path.join("::")).unwrap_or_default(), expected, "{symbol}");
    }

    #[test]
    fn functions_of_the_library_have_paths() {
        check("_RNvNtNtCsjrHSEGnQ3l9_3std2io5stdio6__print", "std::io::stdio::_print");
        check("_RNvCsfLfy6EI15iL_7___rustc14___rust_dealloc", "__rustc::__rust_dealloc");
        check("_RNvNtCsgEmfK2I1SDS_4core9panicking9panic_fmt", "core::panicking::panic_fmt");
        check("_ZN3std2io5stdio6_print17h0123456789abcdefE", "std::io::stdio::_print");
        check(
            "_ZN60_$LT$std..io..stdio..Stdout$u20$as$u20$std..io..Write$GT$9write_all17h0123456789abcdefE",
            "std::io::stdio::Stdout",
        );
        check("_ZN4prog4main17h0123456789abcdefE", "");
        check("_RNvCsjrHSEGnQ3l9_4prog4main", "");
        check("_ZN4core3fooEv", "");
        check("_ZNSt6vectorE", "");
        check("printf", "");
        check("_R", "");
    }
}
