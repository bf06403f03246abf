//! Which arguments are ours, which are cargo's, which are the program's.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use anyhow::Context;

/// Arguments by addressee.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Split {
    /// Program name, verb, and our options.
    pub ours: Vec<OsString>,
    /// Cargo's options.
    pub cargo: Vec<OsString>,
    /// After `--`.
    pub program: Vec<OsString>,
}

/// Cargo's, although we have an option of this name, too.
const CARGOS: &str = "-p";

/// Our option of this name, if `verb` has it.
fn our_option<'c>(verb: Option<&'c clap::Command>, name: &str) -> Option<&'c clap::Arg> {
    let is_it = |option: &&clap::Arg| match name.strip_prefix("--") {
        Some(long) => {
            option.get_long() == Some(long) || option.get_all_aliases().is_some_and(|old| old.contains(&long))
        }
        None => option.get_short().is_some_and(|short| name == format!("-{short}")),
    };
    verb?.get_arguments().find(is_it).filter(|_| name != CARGOS)
}

/// Splits `cargo-workspan VERB …`, of which `command` knows the verbs and their options. `None` if there is no verb first, or
/// help is requested.
pub fn split(command: &clap::Command, arguments: Vec<OsString>) -> Option<Split> {
    let mut rest = arguments.into_iter();
    let (program, verb) = (rest.next()?, rest.next()?);
    if verb.to_string_lossy().starts_with('-') || verb == "help" {
        return None;
    }
    let known = command.find_subcommand(&verb);
    let mut split = Split { ours: vec![program, verb], ..Split::default() };
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        if text == "--" {
            split.program = rest.collect();
            break;
        }
        if text == "-h" || text == "--help" {
            split.ours.push(argument);
            continue;
        }
        let name = text.split('=').next().unwrap_or(&text);
        let Some(option) = our_option(known, name) else {
            split.cargo.push(argument);
            continue;
        };
        // One that may stand without a value has it behind `=` only.
        let value_follows = option.get_action().takes_values() && !option.is_require_equals_set() && name == text;
        split.ours.push(argument);
        if value_follows {
            split.ours.extend(rest.next());
        }
    }
    Some(split)
}

impl Split {
    /// True if one of `names` is among cargo's options.
    pub fn has_any(&self, names: &[&str]) -> bool {
        self.cargo.iter().any(|a| names.iter().any(|n| a == OsStr::new(n)))
    }

    /// The value of one of cargo's options.
    pub fn cargo_value(&self, name: &str) -> Option<OsString> {
        let mut arguments = self.cargo.iter();
        while let Some(argument) = arguments.next() {
            if argument == OsStr::new(name) {
                return arguments.next().cloned();
            }
            if let Some(value) = argument.to_str().and_then(|a| a.strip_prefix(name)?.strip_prefix('=')) {
                return Some(value.into());
            }
        }
        None
    }

    /// Cargo's options but for one that takes a value.
    pub fn cargo_without(&self, name: &str) -> Vec<OsString> {
        let mut kept = Vec::new();
        let mut arguments = self.cargo.iter();
        while let Some(argument) = arguments.next() {
            if argument == OsStr::new(name) {
                arguments.next();
            } else if !argument.to_str().is_some_and(|a| a.strip_prefix(name).is_some_and(|r| r.starts_with('='))) {
                kept.push(argument.clone());
            }
        }
        kept
    }

    /// The platform to build for.
    pub fn target_triple(&self) -> anyhow::Result<String> {
        if let Some(target) = self.cargo_value("--target") {
            return Ok(target.to_string_lossy().into_owned());
        }
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let output = Command::new(&rustc).arg("-vV").output().context("cannot run rustc")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let host = text.lines().find_map(|line| line.strip_prefix("host: "));
        host.map(str::to_owned).context("`rustc -vV` names no host platform")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, ours: &str, cargo: &str, program: &str) {
        let words = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let split = split(&crate::cargo::command(), words(line)).unwrap();
        assert_eq!((split.ours, split.cargo, split.program), (words(ours), words(cargo), words(program)));
    }

    #[test]
    fn options_go_to_whom_they_belong() {
        check(
            "cw run --release -o x.wspan --bin b --json=- --strands -p q --workers=3 --what-if a=8,b=inf -- --top 4 -o y",
            "cw run -o x.wspan --json=- --strands --workers=3 --what-if a=8,b=inf",
            "--release --bin b -p q",
            "--top 4 -o y",
        );
        check("cw test some_test", "cw test", "some_test", "");
        check("cw run", "cw run", "", "");
        check("cw run --processors 4 --csv", "cw run --processors 4", "--csv", "");
        check("cw scale --csv x -p q --pin", "cw scale --csv --pin", "x -p q", "");
        check("cw inflation --events a,b --fail-on=c", "cw inflation --events a,b --fail-on=c", "", "");
        // Former spellings.
        check("cw inflate --events a --release", "cw inflate --events a", "--release", "");
        check("cw run --record --release", "cw run --record", "--release", "");
    }

    #[test]
    fn help_has_no_verb() {
        assert_eq!(split(&crate::cargo::command(), vec!["cw".into(), "--help".into()]), None);
        assert_eq!(split(&crate::cargo::command(), vec!["cw".into()]), None);
    }

    #[test]
    fn values_are_found_in_both_forms() {
        let words = ["cw", "run", "--target-dir", "a", "--target=b", "-v"].map(OsString::from);
        let split = split(&crate::cargo::command(), words.into()).unwrap();
        assert_eq!(split.cargo_value("--target-dir"), Some("a".into()));
        assert_eq!(split.cargo_value("--target"), Some("b".into()));
        assert_eq!(split.cargo_without("--target-dir"), ["--target=b", "-v"]);
        assert!(split.has_any(&["-v"]));
    }
}
