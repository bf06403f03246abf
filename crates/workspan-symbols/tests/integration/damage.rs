//! Damaged executables: an answer or an error, in bounded time, never a panic.

use std::process::Command;

use workspan_model::{Site, SiteKind};
use workspan_symbols::{symbolise, Executable, Module, Symbolised};
use workspan_testkit::patience::ends;
use workspan_testkit::random::Random;

use crate::build::{fixtures, program, rustc, scratch};
use crate::native::{Compiler, Native};

/// A small library, built for a test: what is damaged in it matters.
fn tiny(test: &str, options: &[&str]) -> Vec<u8> {
    let output = scratch(&format!("{test}{}", options.concat())).join("tiny.so");
    let path = output.to_str().expect("the path is UTF-8");
    let link = ["-Cpanic=abort", "-Clink-arg=-nostdlib", "-Ccodegen-units=1", "--crate-type=cdylib", "-o", path];
    rustc(&fixtures(), &[&["tiny.rs"], &link[..], options].concat());
    std::fs::read(output).expect("it was just built")
}

fn sites() -> Vec<Site> {
    let site = |line: u32| Site {
        kind: SiteKind::Join,
        file: "tiny.rs".to_owned(),
        line,
        column: 5,
        function: None,
        type_name: String::new(),
        module: String::new(),
        // Any address will do.
        addresses: (0..64).map(|i| u64::from(line) * 0x400 + i * 16).collect(),
        via: None,
    };
    let elsewhere = Site { file: "/elsewhere.rs".to_owned(), ..site(1) };
    let by_address = |line: u32| Site { kind: SiteKind::Task, file: String::new(), line: 0, column: 0, ..site(line) };
    (1..30).map(site).chain([elsewhere]).chain((1..30).map(by_address)).collect()
}

fn look(bytes: &[u8]) -> Symbolised {
    let copy = bytes.to_vec();
    // Without a bound it could be hours.
    let done = ends("symbols", move || symbolise(&[Module::executable(&copy)], "", &mut sites()));
    if let Ok(executable) = Executable::parse(bytes) {
        executable.frames().first_workspace_frame(&[0x1001, 0x1010, u64::MAX]);
    }
    done
}

/// What a fixture is built with: each has other forms and sections.
const BUILDS: &[&[&str]] = &[
    &["-Cdebuginfo=2", "-Copt-level=3", "-Cdwarf-version=4"],
    &["-Cdebuginfo=2", "-Copt-level=3", "-Cdwarf-version=5"],
    &["-Cdebuginfo=line-tables-only", "-Copt-level=0", "-Cdwarf-version=5"],
    &["-Cdebuginfo=2", "-Clink-arg=-Wl,--compress-debug-sections=zlib"],
];

#[test]
fn the_small_library_is_understood() {
    for options in BUILDS {
        let mut sites = sites();
        let done = symbolise(&[Module::executable(&tiny("the_small_library_is_understood", options))], "", &mut sites);
        assert!(done.has_debug_info, "{options:?}");
        assert!(done.from_debug_info >= 6, "{options:?}: {done:?}");
        assert_eq!(done.problem, None, "{options:?}");
    }
}

#[test]
fn cut_short() {
    for options in BUILDS {
        let bytes = tiny("cut_short", options);
        let mut random = Random::new(7);
        for _ in 0..100 {
            look(&bytes[..random.index(bytes.len())]);
        }
    }
}

#[test]
fn bytes_changed() {
    for options in BUILDS {
        let bytes = tiny("bytes_changed", options);
        let mut random = Random::new(11);
        let mut understood = 0;
        for round in 0..400 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + round % 8 {
                let at = random.index(damaged.len());
                damaged[at] = match random.index(4) {
                    0 => 0,
                    1 => 0xff,
                    2 => damaged[at] ^ 1 << random.index(8),
                    _ => u8::try_from(random.index(256)).unwrap_or(0),
                };
            }
            understood += usize::from(look(&damaged).from_debug_info > 0);
        }
        // Compressed sections have a check sum, so that any damage is fatal.
        assert!(understood > 20, "damage is local: {understood}");
    }
}

#[test]
fn stretches_copied_elsewhere() {
    for options in BUILDS {
        let bytes = tiny("stretches_copied_elsewhere", options);
        let mut random = Random::new(13);
        for _ in 0..150 {
            let mut damaged = bytes.clone();
            let length = 1 + random.index(200);
            let from = random.index(bytes.len() - length);
            let to = random.index(bytes.len() - length);
            damaged.copy_within(from..from + length, to);
            look(&damaged);
        }
    }
}

/// Found by the fuzzer: a unit whose code goes on beyond the end of the address space.
#[test]
fn a_unit_that_does_not_end() {
    const SOURCE: &str = r#"
        __asm__(".section .debug_abbrev,\"\",@progbits\n"
                ".byte 1, 0x11, 0, 0x11, 0x01, 0x12, 0x07, 0, 0, 0\n"
                ".section .debug_info,\"\",@progbits\n"
                ".long 2f - 1f\n"
                "1: .short 4\n .long 0\n .byte 8, 1\n .quad -256, 4096\n 2:\n .text\n");
        int code(void) { return 1; }
    "#;
    let folder = scratch("a_unit_that_does_not_end");
    let [source, library] = ["unit.c", "unit.so"].map(|name| folder.join(name));
    std::fs::write(&source, SOURCE).expect("the target directory is writable");
    let built = Command::new("gcc").args(["-shared", "-nostdlib", "-o"]).arg(&library).arg(&source).status();
    assert!(built.expect("gcc runs").success());
    look(&std::fs::read(library).expect("it was just built"));
}

#[test]
fn a_whole_program_damaged() {
    let bytes = program("damaged", "functions.rs", &["-Cdebuginfo=2", "-Copt-level=3"]).bytes;
    let mut random = Random::new(17);
    for _ in 0..15 {
        look(&bytes[..random.index(bytes.len())]);
        let mut damaged = bytes.clone();
        for _ in 0..200 {
            let at = random.index(damaged.len());
            damaged[at] = u8::try_from(random.index(256)).unwrap_or(0);
        }
        look(&damaged);
    }
}

#[test]
fn a_program_in_cpp_damaged() {
    let native = Native::build("damaged-cpp", Compiler::ClangCpp, &["-g", "-O2"]);
    let bytes = native.bytes();
    let mut random = Random::new(23);
    for _ in 0..200 {
        let mut damaged = bytes.clone();
        for _ in 0..20 {
            let at = random.index(damaged.len());
            damaged[at] = u8::try_from(random.index(256)).unwrap_or(0);
        }
        look(&damaged);
        symbolise(&[Module::executable(&damaged)], "/", &mut native.sites());
        symbolise(&[Module { debug_file: Some(&damaged), ..Module::executable(&bytes) }], "/", &mut native.sites());
    }
}

#[test]
fn noise() {
    let mut random = Random::new(19);
    for length in [0, 1, 4, 63, 64, 65, 1000, 100_000] {
        let mut bytes: Vec<u8> = (0..length).map(|_| u8::try_from(random.index(256)).unwrap_or(0)).collect();
        look(&bytes);
        let head = tiny("noise", BUILDS[0]);
        let kept = length.min(64);
        bytes[..kept].copy_from_slice(&head[..kept]);
        look(&bytes);
    }
}
