//! Wrong command lines: what clap says of them, and what to type instead.

use std::ffi::OsString;

use clap::builder::Styles;

/// clap's text on wrong `arguments` (with the program's name first) of `known`, with what to type next.
pub fn advised(text: &str, known: &clap::Command, arguments: &[OsString]) -> String {
    let words: Vec<String> = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let mut lines: Vec<String> = Vec::new();
    // The usage that clap shows has the option which it proposes.
    let misled = text.lines().any(|line| is_far_fetched(line, text));
    for line in text.trim_end().lines() {
        // Of an option that does not exist nobody wants the value.
        if line.contains("tip: to pass '-") {
            continue;
        }
        if line.starts_with("For more information, try") || is_far_fetched(line, text) {
            continue;
        }
        match usage(known, &words).filter(|_| misled && line.starts_with("Usage:")) {
            Some(usage) => lines.push(usage),
            None => lines.push(plain(line)),
        }
    }
    lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
    let text = lines.join("\n");
    let tip = tip(&text, &words).map_or(String::new(), |tip| format!("\n\n  tip: {tip}"));
    format!("{}{tip}\n\nType `{} --help` for what it takes.", text.trim_end(), command(known, &words))
}

/// What [`advised`] says, in the colours that clap has for it.
pub fn painted(text: &str) -> String {
    let styles = Styles::default();
    let marks = [("error:", styles.get_error()), ("tip:", styles.get_valid()), ("Usage:", styles.get_usage())];
    let paint = |line: &str| {
        let start = line.trim_start();
        match marks.iter().find(|(mark, _)| start.starts_with(mark)) {
            Some((mark, style)) => {
                let (indent, rest) = (&line[..line.len() - start.len()], &start[mark.len()..]);
                format!("{indent}{style}{mark}{style:#}{rest}")
            }
            None => line.to_owned(),
        }
    };
    text.lines().map(paint).collect::<Vec<_>>().join("\n")
}

/// Words of a parser, in plain English.
fn plain(line: &str) -> String {
    let line = line.replace("unrecognized subcommand", "there is no command").replace("subcommand", "command");
    let line = line.replace("invalid digit found in string", "this is not a whole number");
    let line = line.replace("unexpected argument", "there is no such option or argument:").replace("' found", "'");
    // A range as Rust writes it.
    match (line.split_once(" is not in "), line.rsplit_once("..=")) {
        (Some((before, range)), Some((_, to))) => {
            let from = range.split("..").next().unwrap_or_default();
            format!("{before} is not from {from} to {to}")
        }
        _ => line,
    }
}

/// True for a proposal of options that are not much like the one that was typed.
fn is_far_fetched(line: &str, text: &str) -> bool {
    let typed = text.lines().next().and_then(|first| first.split('\'').nth(1)).unwrap_or_default();
    line.contains("similar argument") && !line.split('\'').skip(1).step_by(2).any(|known| is_alike(typed, known))
}

/// True if one of two options is the beginning of the other, or they differ in one letter of four at most.
fn is_alike(typed: &str, known: &str) -> bool {
    let [typed, known] = [typed, known].map(|option| option.trim_start_matches('-'));
    let is_beginning = !typed.is_empty() && (known.starts_with(typed) || typed.starts_with(known));
    is_beginning || distance(typed, known) <= (known.chars().count() / 4).max(1)
}

/// Letters to insert, remove or replace (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, letter) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (at, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[to.len()]
}

/// Commands that run a program, and an example of one.
const RUNS: [(&str, &str); 6] = [
    ("record", "./prog"),
    ("scale", "./prog"),
    ("inflation", "./prog"),
    ("limits", "./prog"),
    ("depend", "./prog"),
    ("build", "make"),
];

/// How the command is used, whatever was typed.
fn usage(known: &clap::Command, words: &[String]) -> Option<String> {
    let mut known = known.clone();
    known.build();
    let mut words = words.iter().skip_while(|word| *word == "workspan");
    let sub = known.find_subcommand(words.next()?)?;
    let below = words.next().and_then(|word| sub.find_subcommand(word)).unwrap_or(sub);
    Some(below.clone().render_usage().to_string())
}

/// What was probably meant.
fn tip(text: &str, words: &[String]) -> Option<String> {
    let first = words.first()?;
    let runs = RUNS.iter().find(|(name, _)| name == first);
    if text.lines().nth(1).is_some_and(|line| line.trim_start().starts_with("<COMMAND>")) {
        let (last, before) = words.split_last()?;
        let given = joined(if last == "--" { before } else { words });
        return runs.map(|(_, example)| format!("name the program, for example `workspan {given} -- {example}`"));
    }
    let unexpected = text.lines().next()?.split_once("argument: '")?.1.trim_end_matches('\'').to_owned();
    let at = words.iter().position(|word| *word == unexpected)?;
    let before = at.checked_sub(1).and_then(|at| words.get(at));
    if before.is_some_and(|word| word == "--json") {
        return Some(format!("write `--json={unexpected}`"));
    }
    if first == "report" && ["-o", "--output"].contains(&unexpected.as_str()) {
        return Some("write the page with `--html FILE`, JSON with `--json=FILE`".to_owned());
    }
    (runs.is_some() && !unexpected.starts_with('-')).then(|| {
        let (before, after) = words.split_at(at);
        format!("write `--` before the program: `workspan {} -- {}`", joined(before), joined(after))
    })
}

/// Words as a shell reads them.
fn joined(words: &[String]) -> String {
    let quoted = words.iter().map(|word| shlex::try_quote(word).unwrap_or(word.into()));
    quoted.collect::<Vec<_>>().join(" ")
}

/// The command whose help has the answer.
fn command(known: &clap::Command, words: &[String]) -> String {
    let name = known.get_bin_name().unwrap_or(known.get_name());
    let words: Vec<&str> = words.iter().map(String::as_str).skip_while(|word| *word == "workspan").collect();
    let sub = words.first().and_then(|word| known.find_subcommand(word));
    let below = words.get(1).and_then(|word| sub?.find_subcommand(word));
    let names = [sub, below].into_iter().flatten().map(clap::Command::get_name);
    names.fold(name.to_owned(), |name, next| format!("{name} {next}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = crate::args::parse(arguments.clone()).expect_err("it is wrong");
        assert_eq!(advised(&error.render().to_string(), &crate::args::command(), &arguments), expected);
    }

    #[test]
    fn marks_are_painted_and_nothing_else() {
        let text = "error: no error: here\n\n  tip: write `--`\n\nUsage: workspan";
        let painted = painted(text);
        assert_eq!(painted.matches('\x1b').count(), 3 + 2 + 3, "{painted:?}");
        assert!(painted.starts_with("\x1b[1m\x1b[31merror:\x1b[0m no error: here\n\n  \x1b[32mtip:"), "{painted:?}");
    }

    #[test]
    fn every_wrong_line_says_what_to_type() {
        check(
            "workspan reprot",
            "error: there is no command 'reprot'\n\n  tip: some similar commands exist: 'export', 'report'\n\n\
             Usage: workspan <COMMAND>\n\nType `workspan --help` for what it takes.",
        );
        check(
            "workspan record ./prog",
            "error: there is no such option or argument: './prog'\n\nUsage: workspan record [OPTIONS] -- <COMMAND>...\n\n  \
             tip: write `--` before the program: `workspan record -- ./prog`\n\n\
             Type `workspan record --help` for what it takes.",
        );
        check(
            "workspan build gcc -O2 p.c -o p",
            "error: there is no such option or argument: 'gcc'\n\nUsage: workspan build [OPTIONS] -- <COMMAND>...\n\n  \
             tip: write `--` before the program: `workspan build -- gcc -O2 p.c -o p`\n\n\
             Type `workspan build --help` for what it takes.",
        );
        check(
            "workspan record --foo",
            "error: there is no such option or argument: '--foo'\n\nUsage: workspan record [OPTIONS] -- <COMMAND>...\n\n\
             Type `workspan record --help` for what it takes.",
        );
        check(
            "workspan record --strnds -- ./prog",
            "error: there is no such option or argument: '--strnds'\n\n  tip: a similar argument exists: '--strands'\n\n\
             Usage: workspan record --strands -- <COMMAND>...\n\nType `workspan record --help` for what it takes.",
        );
        check(
            "workspan record --strands",
            "error: the following required arguments were not provided:\n  <COMMAND>...\n\n\
             Usage: workspan record --strands -- <COMMAND>...\n\n  \
             tip: name the program, for example `workspan record --strands -- ./prog`\n\n\
             Type `workspan record --help` for what it takes.",
        );
        check(
            "workspan record --",
            "error: the following required arguments were not provided:\n  <COMMAND>...\n\n\
             Usage: workspan record -- <COMMAND>...\n\n  \
             tip: name the program, for example `workspan record -- ./prog`\n\n\
             Type `workspan record --help` for what it takes.",
        );
        check(
            "workspan report -o page.html",
            "error: there is no such option or argument: '-o'\n\nUsage: workspan report [OPTIONS] [FILE]\n\n  \
             tip: write the page with `--html FILE`, JSON with `--json=FILE`\n\n\
             Type `workspan report --help` for what it takes.",
        );
        check(
            "workspan report a.wspan --json x.json",
            "error: there is no such option or argument: 'x.json'\n\nUsage: workspan report [OPTIONS] [FILE]\n\n  \
             tip: write `--json=x.json`\n\nType `workspan report --help` for what it takes.",
        );
        check(
            "workspan record --workers 0 -- ./prog",
            "error: invalid value '0' for '--workers <N>': 0 is not from 1 to 4096\n\n\
             Type `workspan record --help` for what it takes.",
        );
        check(
            "workspan report --top x",
            "error: invalid value 'x' for '--top <N>': this is not a whole number\n\n\
             Type `workspan report --help` for what it takes.",
        );
    }
}
