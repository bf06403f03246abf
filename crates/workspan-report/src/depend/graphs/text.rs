//! The critical path of the program as text.

use std::fmt::Write as _;

use super::view::{CriticalPaths, Held, PathLine};
use crate::place::short_file;
use crate::table::{self, Align};

/// A table of the lines that the critical path runs through.
pub(in crate::depend) fn critical(view: &CriticalPaths, top: usize, out: &mut String) {
    if view.lines.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\nCritical path with the clauses above: parallelism {:.2} if an iteration waits for the whole iterations that it depends on, {:.2} if \
         a line waits for the lines that it depends on.\nThis is an estimate from means. It may exceed the model `everything`, which has no \
         clauses and waits for all earlier iterations.\nThe costliest lines of the latter path, which has {} instructions:",
        view.iterations_as_tasks.parallelism, view.lines_as_tasks.parallelism, view.lines_as_tasks.span
    );
    out.push_str(&lines(&view.lines, top));
    let costly = view.lines.iter().filter(is_costly).count();
    if costly > top {
        let _ = writeln!(out, "{} more lines: --top {costly}, or --json", costly - top);
    }
}

/// Lines with a smaller share, which would be shown as 0.0 %, say nothing.
const LEAST: f64 = 0.0005;

fn is_costly(line: &&PathLine) -> bool {
    line.share >= LEAST
}

/// Lines of a critical path as a table.
pub(super) fn lines(lines: &[PathLine], top: usize) -> String {
    let mut rows = vec![["share", "line", "waits for"].map(str::to_owned).to_vec()];
    rows.extend(lines.iter().filter(is_costly).take(top).map(|each| {
        vec![
            format!("{:.1} %", each.share * 100.0),
            format!("{}:{} in {}", short_file(&each.file), each.line, each.function),
            each.held_by.as_ref().map_or_else(String::new, reason),
        ]
    }));
    table::write(&rows, &[Align::Right, Align::Left, Align::Left])
}

/// A dependence in words.
fn reason(held: &Held) -> String {
    let at = format!("{}:{}", short_file(&held.source.file), held.source.line);
    let carried = held
        .carried_by
        .as_ref()
        .map_or_else(String::new, |of| format!(", carried by the loop at {}:{}", short_file(&of.file), of.line));
    match held.kind.as_str() {
        "control" => format!("the condition at {at}{carried}"),
        kind if held.variable.is_empty() => format!("memory ({kind}) of {at}{carried}"),
        kind => format!("{} ({kind}) of {at}{carried}", held.variable),
    }
}

/// Instructions, or a count: whole unless small.
pub(super) fn number(value: f64) -> String {
    if value < 10.0 && value.fract() != 0.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_say_nothing_are_not_shown() {
        let line = |line: u32, share: f64| PathLine {
            file: "a.c".to_owned(),
            line,
            function: "main".to_owned(),
            cost: 1,
            share,
            held_by: None,
        };
        let all = [line(17, 0.999), line(20, 0.001), line(21, 0.000_4), line(22, 0.0)];
        assert_eq!(
            lines(&all, 9),
            " share  line            waits for\n99.9 %  a.c:17 in main\n 0.1 %  a.c:20 in main\n"
        );
    }
}
