//! Documents name what there is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;

use crate::build::root;
use crate::command::run;

/// Path and text of every document.
fn documents() -> Vec<(PathBuf, String)> {
    let mut files = vec![root().join("ARCHITECTURE.md")];
    below(&root().join("docs"), "md", &mut files);
    files.into_iter().map(|file| (file.clone(), text(&file))).collect()
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn below(folder: &Path, extension: &str, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it is there").path();
        if path.is_dir() {
            below(&path, extension, into);
        } else if path.extension().is_some_and(|found| found == extension) {
            into.push(path);
        }
    }
}

/// What stands between backticks and begins with the name of one of our crates: `crate::module::name`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|name| name.starts_with("workspan") && name.contains("::") && !name.contains(char::is_whitespace))
}

#[test]
fn what_documents_name_is_defined() {
    let mut missing = Vec::new();
    let mut seen = 0;
    for (file, text) in documents() {
        for name in names(&text) {
            seen += 1;
            if !is_defined(name) {
                missing.push(format!("{}: {name}", file.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(seen > 100, "{seen}");
}

/// The last part is defined somewhere in the crate, or is a module of it.
fn is_defined(name: &str) -> bool {
    let (krate, rest) = name.split_once("::").expect("it has parts");
    let last = rest.rsplit("::").next().expect("it has parts");
    let source = root().join("crates").join(krate.replace('_', "-")).join("src");
    if !source.is_dir() {
        return false;
    }
    let mut files = Vec::new();
    below(&source, "rs", &mut files);
    let module = |file: &PathBuf| {
        file.file_stem().is_some_and(|stem| stem == last) || file.parent().is_some_and(|folder| folder.ends_with(last))
    };
    let defined = |text: &str| {
        let kinds = ["fn", "struct", "enum", "const", "mod", "trait", "type"];
        kinds.iter().any(|kind| {
            let definition = format!("{kind} {last}");
            text.match_indices(&definition)
                .any(|(at, found)| !text[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    };
    files.iter().any(|file| module(file) || defined(&text(file)))
}

/// Each word of a report is explained once: README and page show the same sentence.
#[test]
fn words_are_explained() {
    let readme = text(&root().join("README.md"));
    for (word, meaning) in workspan_report::glossary::WORDS {
        assert!(readme.contains(&format!("| {word} | {meaning} |\n")), "README.md lacks | {word} | {meaning} |");
    }
}

#[test]
fn every_option_is_described() {
    let described = text(&root().join("docs/cli.md"));
    let mut missing = Vec::new();
    for verb in workspan::args::Workspan::command().get_subcommands() {
        if !described.contains(&format!("`workspan {}", verb.get_name())) {
            missing.push(verb.get_name().to_owned());
        }
        for option in verb.get_arguments().filter(|option| !option.is_hide_set()) {
            let long = option.get_long().map(|long| format!("--{long}"));
            missing.extend(long.filter(|long| !described.contains(&format!("`{long}"))));
        }
    }
    for command in workspan::cargo::command().get_subcommands() {
        let command = format!("cargo workspan {}", command.get_name());
        missing.extend((!described.contains(&format!("`{command}"))).then_some(command));
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// Both `--help`s list every command, in groups; the summary of each fits on a line of a terminal.
#[test]
fn help_lists_commands_in_groups() {
    for (mut program, command, first) in [
        (crate::command::workspan(&root()), workspan::args::command(), "Measure:\n  record "),
        (crate::build::cargo_workspan(), workspan::cargo::command(), "Build instrumented and measure:\n  run "),
    ] {
        let help = run(program.arg("--help")).check_success().out();
        assert!(help.contains(first) && help.contains("\nOptions:\n  -h, --help"), "{help}");
        for command in command.get_subcommands() {
            let line = help.lines().find(|line| line.split_whitespace().next() == Some(command.get_name()));
            let line = line.unwrap_or_else(|| panic!("no line for {}: {help}", command.get_name()));
            assert!(line.chars().count() <= 100, "{line}");
        }
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 120).collect();
        assert!(wide.is_empty(), "{wide:#?}");
    }
}

/// Scripts that were written for the former spellings go on; no help shows them.
#[test]
fn former_spellings_work() {
    use workspan::args::{parse, Verb};
    let parsed = |line: &str| parse(line.split(' ').map(Into::into).collect()).expect("it is right").verb;
    for line in ["workspan record --record -- x", "workspan record --strands -- x"] {
        assert!(matches!(parsed(line), Verb::Record(record) if record.options.strands), "{line}");
    }
    for line in ["workspan inflate -- x", "workspan inflation -- x"] {
        assert!(matches!(parsed(line), Verb::Inflation(_)), "{line}");
    }
    for help in [&["--help"][..], &["record", "--help"]] {
        let help = run(crate::command::workspan(&root()).args(help)).check_success().out();
        assert!(!help.contains("inflate") && !help.contains("--record"), "{help}");
    }
}

#[test]
fn every_variable_and_status_is_described() {
    let described = text(&root().join("docs/cli.md"));
    let mut files = Vec::new();
    below(&root().join("crates/workspan/src"), "rs", &mut files);
    below(&root().join("crates/workspan-wire/src"), "rs", &mut files);
    let mut variables = BTreeSet::new();
    for file in files {
        let text = text(&file);
        for (at, _) in text.match_indices("\"WORKSPAN_") {
            let name: String = text[at + 1..].chars().take_while(|c| *c != '"').collect();
            variables.insert(name);
        }
    }
    assert!(variables.len() >= 5, "{variables:?}");
    let missing: Vec<_> = variables.iter().filter(|name| !described.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    use workspan::exit::{FAILED, MISSING, NOT_EXECUTABLE, NOT_FOUND, OK};
    for status in [OK, MISSING, FAILED, NOT_EXECUTABLE, NOT_FOUND] {
        assert!(described.contains(&format!("\n| {status} |")), "{status}");
    }
}

/// Every warning has a line in the methods.
#[test]
fn every_warning_is_described() {
    let described = text(&root().join("docs/methods/runs.md"));
    let source = text(&root().join("crates/workspan-analysis/src/warnings.rs"));
    let codes: Vec<&str> = source
        .lines()
        .filter(|line| line.trim_start().starts_with("Warning::") && line.contains("=> \""))
        .filter_map(|line| line.split('"').nth(1))
        .collect();
    assert!(codes.len() > 10, "{codes:?}");
    let missing: Vec<_> = codes.iter().filter(|code| !described.contains(&format!("| `{code}` |"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
