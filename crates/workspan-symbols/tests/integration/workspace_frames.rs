//! From return addresses to the workspace's own lines.

use workspan_model::{Site, SiteKind};
use workspan_symbols::{symbolise, Executable, Module};

use crate::build::{program, Program};

/// The line that the fixture has printed for a word.
fn line(program: &Program, word: &str) -> u32 {
    let line = program.lines.iter().find(|line| line.get(3).is_some_and(|found| found == word));
    line.and_then(|line| line[1].parse().ok()).expect("the fixture prints it")
}

fn addresses(program: &Program) -> Vec<u64> {
    let address = |line: &Vec<String>| (line[0] == "address").then(|| line[1].parse().expect("a number"));
    program.lines.iter().filter_map(address).collect()
}

#[track_caller]
fn check(options: &[&str]) {
    let program = program(&format!("frames{}", options.concat()), "addresses.rs", options);
    let executable = Executable::parse(&program.bytes).expect("rustc makes sound files");
    let frames = executable.frames();
    let own = |line: u32| Some(("addresses.rs".to_owned(), line));
    let chain = addresses(&program);
    assert!(chain.len() > 4);
    // Each alone: where it is in the fixture, the innermost of the calls inlined there.
    let mut lines: Vec<u32> = Vec::new();
    for address in &chain {
        if let Some((file, line)) = frames.first_workspace_frame(&[*address]) {
            assert_eq!(file, "addresses.rs");
            lines.push(line);
        }
    }
    lines.dedup();
    let walk = lines.remove(0);
    let innermost = line(&program, "innermost");
    assert!(walk > innermost, "first the line of the walk itself");
    assert_eq!(lines[0], innermost);
    assert!(lines.ends_with(&[line(&program, "middle"), line(&program, "outer")]), "{lines:?}");
    // The chain from the library's frames on.
    let library = chain.iter().position(|address| frames.first_workspace_frame(&[*address]).is_none());
    let library = library.expect("the standard library is not the workspace");
    assert_eq!(frames.first_workspace_frame(&chain[library..]), own(line(&program, "middle")));
    assert_eq!(frames.first_workspace_frame(&chain), own(walk));
    assert_eq!(frames.first_workspace_frame(&[]), None);
    assert_eq!(frames.first_workspace_frame(&[0, 1, u64::MAX]), None);
    // As a site in a dependency has them.
    let site = |file: &str| Site {
        kind: SiteKind::ParIter,
        file: file.to_owned(),
        line: 1,
        column: 1,
        function: None,
        type_name: String::new(),
        module: String::new(),
        addresses: chain[library..].to_vec(),
        via: None,
    };
    let mut sites = [site("/opt/dep/src/lib.rs"), site("src/main.rs")];
    symbolise(&[Module::executable(&program.bytes)], "", &mut sites);
    assert_eq!(sites[0].via, own(line(&program, "middle")));
    assert_eq!(sites[1].via, None);
}

#[test]
fn calls_are_seen_through_the_library_and_through_inlining() {
    for debug in ["-Cdebuginfo=2", "-Cdebuginfo=line-tables-only"] {
        for level in ["-Copt-level=0", "-Copt-level=3"] {
            check(&[debug, level]);
        }
    }
    check(&["-Cdebuginfo=2", "-Copt-level=3", "-Cdwarf-version=5"]);
}
