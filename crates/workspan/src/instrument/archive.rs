//! Standing in for `ar`: the second forms of objects that it puts into a static library go into a second library beside it,
//! `.libx.a.depend`, which the second link takes in place of `libx.a`.
//!
//! The archiver runs first, with its own arguments. Where the second library would not hold what the first one does, there is none.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::Context;

use super::{companion, compiler};
use crate::exit::{self, Outcome};

/// The word by which scripts call this.
pub const VERB: &str = "archive-as";
/// Names of archivers that are stood in for, where they are in `PATH`.
pub const COMMANDS: &[&str] = &["ar", "gcc-ar", "llvm-ar"];

/// `workspan archive-as NAME -- ARGUMENTS`, as the stand-ins' scripts call it.
pub fn run_if_asked(arguments: &[OsString]) -> Option<ExitCode> {
    let [_, verb, name, dashes, rest @ ..] = arguments else {
        return None;
    };
    (verb == VERB && dashes == "--").then(|| exit::code(run(name, rest)))
}

fn run(name: &OsStr, arguments: &[OsString]) -> anyhow::Result<Outcome> {
    let archiver =
        compiler::in_path(name).with_context(|| format!("found no {} but that of workspan", name.to_string_lossy()))?;
    let mut command = Command::new(&archiver);
    let status = command.args(arguments).status().with_context(|| format!("cannot run {}", archiver.display()))?;
    match Change::parse(arguments) {
        Change::None => {}
        Change::Add { letters, archive, members } if status.success() && companion::wanted() => {
            add(&archiver, &letters, &archive, &members);
        }
        Change::Add { archive, .. } | Change::Other(archive) => remove(&companion::beside(&archive)),
    }
    Ok(Outcome::of(status))
}

/// Adds the second forms of members that an archive has got, if its second form then holds all that it does.
fn add(archiver: &Path, letters: &str, archive: &Path, members: &[PathBuf]) {
    let second = companion::beside(archive);
    let seconds: Vec<PathBuf> = members.iter().map(|member| companion::of_object(member)).collect();
    let begins = holds_no_other(archiver, archive, members);
    if begins {
        remove(&second);
    }
    let is_needless = if begins { seconds == members } else { !second.exists() };
    if is_needless {
        return;
    }
    let mut command = Command::new(archiver);
    command.arg(letters_of_second(letters)).arg(&second).args(seconds);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if !command.status().is_ok_and(|status| status.success()) {
        remove(&second);
    }
}

fn remove(file: &Path) {
    // Mostly there is none.
    let _ = fs::remove_file(file);
}

/// What becomes of an archive.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    /// Nothing.
    None,
    /// Objects are added or replaced: `q` or `r` with modifiers.
    Add { letters: String, archive: PathBuf, members: Vec<PathBuf> },
    /// Anything else.
    Other(PathBuf),
}

impl Change {
    fn parse(arguments: &[OsString]) -> Change {
        let mut rest = arguments.iter();
        let letters = loop {
            match rest.next().map(|argument| argument.to_string_lossy()) {
                None => return Change::None,
                Some(option) if matches!(option.as_ref(), "--plugin" | "--target" | "--output") => {
                    rest.next();
                }
                Some(option) if option.starts_with("--") || option.starts_with("-X") => {}
                Some(letters) => break letters.trim_start_matches('-').to_owned(),
            }
        };
        let has = |wanted: &str| letters.contains(|letter| wanted.contains(letter));
        if !has("qrdms") || has("M") {
            return Change::None;
        }
        let mut files: Vec<PathBuf> = rest.map(PathBuf::from).collect();
        if has("abiN") && !files.is_empty() {
            // A place among the members.
            files.remove(0);
        }
        if files.is_empty() {
            return Change::None;
        }
        let archive = files.remove(0);
        let is_listed = files.iter().any(|file| file.to_string_lossy().starts_with('@'));
        if has("abiNdm") || is_listed {
            return Change::Other(archive);
        }
        if files.is_empty() || !has("qr") {
            // An index alone.
            return Change::None;
        }
        Change::Add { letters, archive, members: files }
    }
}

/// True if an archive has these members alone.
fn holds_no_other(archiver: &Path, archive: &Path, members: &[PathBuf]) -> bool {
    let Ok(listed) = Command::new(archiver).arg("t").arg(archive).stderr(Stdio::null()).output() else {
        return false;
    };
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    listed.lines().all(|line| members.iter().any(|member| member.file_name() == Path::new(line).file_name()))
}

/// What makes the second archive: with an index, which may be made later for the first one; and not only of what is newer, since an
/// object and its second form are in the archives together.
fn letters_of_second(letters: &str) -> String {
    letters.chars().filter(|letter| !"Suv".contains(*letter)).chain(['s']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(text: &str) -> Change {
        Change::parse(&text.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn command_lines_are_understood() {
        let add = |letters: &str, archive: &str, members: &[&str]| Change::Add {
            letters: letters.to_owned(),
            archive: archive.into(),
            members: members.iter().map(PathBuf::from).collect(),
        };
        for (text, expected) in [
            ("cq libx.a a.o b.o", add("cq", "libx.a", &["a.o", "b.o"])),
            ("-rcs out/libx.a a.o", add("rcs", "out/libx.a", &["a.o"])),
            ("--plugin p.so csrDT x.a a.o", add("csrDT", "x.a", &["a.o"])),
            ("t libx.a", Change::None),
            ("s libx.a", Change::None),
            ("x libx.a a.o", Change::None),
            ("-M", Change::None),
            ("--version", Change::None),
            ("d libx.a a.o", Change::Other("libx.a".into())),
            ("rb a.o libx.a c.o", Change::Other("libx.a".into())),
            ("rcs libx.a @objects", Change::Other("libx.a".into())),
        ] {
            assert_eq!(change(text), expected, "{text}");
        }
    }
}
