//! `--help` by groups: which command stands under which heading.
//!
//! clap has one list of commands and no headings for it. So the list goes, group by group, into the template of the help text.
//! A command's summary is written once, where the command is defined. A command without a group stands under the last heading;
//! a test requests a group of its own.

use std::fmt::Write;

use clap::builder::Styles;
use clap::Command;

/// Headings, and the commands under each.
pub type Groups = &'static [(&'static str, &'static [&'static str])];

/// Groups of `workspan --help`.
pub const WORKSPAN: Groups = &[
    ("Measure", &["record", "scale", "inflation", "build", "graph", "depend", "limits"]),
    ("Ask a recording", &["report", "calls", "what-if", "advise", "predict", "query"]),
    ("Compare recordings", &["diff", "merge"]),
    ("Export", &["export"]),
    ("Other", &["info", "doctor", "guide"]),
];

/// Groups of `cargo workspan --help`.
pub const CARGO: Groups = &[
    ("Build instrumented and measure", &["run", "test", "bench", "scale", "inflation", "depend"]),
    ("Build instrumented, to run elsewhere", &["build", "install"]),
];

/// `command`, with its subcommands in groups in its help.
pub fn grouped(command: Command, groups: Groups) -> Command {
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}{}\n{{options}}{{after-help}}",
        list(&command, groups),
        heading("Options")
    );
    command.help_template(template)
}

/// The commands under their headings, a line for each.
fn list(command: &Command, groups: Groups) -> String {
    let visible: Vec<&Command> = command.get_subcommands().filter(|sub| !sub.is_hide_set()).collect();
    let width = visible.iter().map(|sub| sub.get_name().len()).max().unwrap_or(0);
    let in_a_group = |name: &str| groups.iter().any(|(_, names)| names.contains(&name));
    let literal = *Styles::default().get_literal();
    let mut out = String::new();
    for (index, (title, names)) in groups.iter().enumerate() {
        let named = names.iter().filter_map(|name| visible.iter().find(|sub| sub.get_name() == *name));
        let last = index + 1 == groups.len();
        let rest = visible.iter().filter(|sub| last && !in_a_group(sub.get_name()));
        let _ = writeln!(out, "{}", heading(title));
        for sub in named.chain(rest) {
            let summary = sub.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(out, "  {literal}{:width$}{literal:#}  {summary}", sub.get_name());
        }
        out.push('\n');
    }
    out
}

fn heading(title: &str) -> String {
    let header = *Styles::default().get_header();
    format!("{header}{title}:{header:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command has a heading, every summary is one line, and no heading names a command twice.
    #[track_caller]
    fn check(command: &Command, groups: Groups) {
        let mut listed: Vec<&str> = groups.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let name = sub.get_name();
            assert!(listed.contains(&name), "`{name}` has no group in workspan::args::groups");
            let summary = sub.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(
                (10..=75).contains(&summary.chars().count()),
                "`{name}`: one line that says what comes out: {summary}"
            );
            listed.retain(|other| *other != name);
        }
        // A feature leaves it out.
        listed.retain(|name| *name != "query");
        assert_eq!(listed, Vec::<&str>::new(), "no such commands, or named twice");
    }

    #[test]
    fn every_command_has_a_group() {
        check(&crate::args::command(), WORKSPAN);
        check(&crate::cargo::command(), CARGO);
    }

    #[test]
    fn commands_stand_under_their_headings() {
        let command = Command::new("w")
            .about("About.")
            .subcommand(Command::new("b").about("Does b"))
            .subcommand(Command::new("a").about("Does a"))
            .subcommand(Command::new("new").about("Does new things"));
        let help = grouped(command, &[("First", &["a", "gone"]), ("Last", &["b"])]).render_help().to_string();
        let start = "About.\n\nUsage: w [COMMAND]\n\nFirst:\n  a    Does a\n\nLast:\n  b    Does b\n  new  Does new things\n\nOptions:\n";
        assert!(help.starts_with(start), "{help}");
    }
}
