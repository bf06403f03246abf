//! `--fail-on CONDITION`: comparisons as a gate, for continuous integration.

use std::str::FromStr;

use anyhow::{bail, ensure, Context};
use workspan_analysis::diff::SAME;
use workspan_report::diff::{Answer, Changed, Quantity};
use workspan_report::differential::NodeByNode;

/// A condition such as `parallelism<0.9x`.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// As it was given.
    text: String,
    subject: Subject,
    above: bool,
    limit: f64,
    /// The limit is a multiple of what was before.
    relative: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Parallelism,
    Work,
    Span,
    Wall,
    Inflation,
    CriticalInflation,
}

const SUBJECTS: [(&str, Subject); 6] = [
    ("parallelism", Subject::Parallelism),
    ("work", Subject::Work),
    ("span", Subject::Span),
    ("wall", Subject::Wall),
    ("inflation", Subject::Inflation),
    ("critical-inflation", Subject::CriticalInflation),
];

impl FromStr for Gate {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Gate> {
        let Some(at) = text.find(['<', '>']) else {
            bail!("`{text}` is not a condition: write one like 'parallelism<0.9x' or 'inflation>1.2'");
        };
        let (name, rest) = text.split_at(at);
        let (above, limit) = (rest.starts_with('>'), rest[1..].trim());
        let name = name.trim();
        let Some((_, subject)) = SUBJECTS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = SUBJECTS.iter().map(|(known, _)| *known).collect();
            bail!("`{name}` cannot be compared: write one of {}", known.join(", "));
        };
        let times = limit.strip_suffix('x');
        let number: Option<f64> = times.unwrap_or(limit).parse().ok();
        let Some(number) = number.filter(|number| number.is_finite() && *number >= 0.0) else {
            bail!("`{limit}` is not a limit: write a number, followed by x for a multiple of the value before");
        };
        let inflation = matches!(subject, Subject::Inflation | Subject::CriticalInflation);
        let relative = times.is_some() && !inflation;
        let times_only = matches!(subject, Subject::Work | Subject::Span | Subject::Wall);
        ensure!(
            relative || !times_only,
            "`{text}`: {name} can only be compared with the value before: write '{name}{}1.1x'",
            if above { ">" } else { "<" }
        );
        Ok(Gate { text: text.to_owned(), subject: *subject, above, limit: number, relative })
    }
}

impl Gate {
    /// Whether it is met. A multiple is so only where the runs leave no doubt that something has changed.
    pub fn is_met(&self, answer: &Answer) -> anyhow::Result<bool> {
        let quantity: Option<&Quantity> = match self.subject {
            Subject::Parallelism => answer.program.parallelism.as_ref(),
            Subject::Work => Some(&answer.program.work),
            Subject::Span => Some(&answer.program.span),
            Subject::Wall => Some(&answer.program.wall),
            _ => {
                let Some(nodes) = &answer.nodes else {
                    bail!("`{}` needs strands on both sides (record both again with `--strands`)", self.text);
                };
                return self.is_met_by(nodes);
            }
        };
        let value = quantity.and_then(|it| if self.relative { it.ratio } else { Some(it.after.median) });
        let changed = |it: &Quantity| matches!(it.change, Changed::Less | Changed::More);
        // What has not changed, or not for certain, meets a condition only if all of it does: that it is no gain, say.
        let all = |it: &Quantity| it.ratio_range.is_some_and(|range| range.iter().all(|end| self.is_past(*end)));
        let apart = (self.limit - 1.0).abs() > SAME;
        let certain = !self.relative || quantity.is_none_or(|it| changed(it) || (apart && all(it)));
        Ok(self.is_beyond(value)? && certain)
    }

    /// The same of an inflation.
    pub fn is_met_by(&self, nodes: &NodeByNode) -> anyhow::Result<bool> {
        let pair = match self.subject {
            Subject::CriticalInflation => &nodes.program.critical,
            _ => &nodes.program.work,
        };
        self.is_beyond(pair.inflation)
    }

    /// Whether it is about an inflation.
    pub fn is_inflation(&self) -> bool {
        matches!(self.subject, Subject::Inflation | Subject::CriticalInflation)
    }

    /// As it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn is_beyond(&self, value: Option<f64>) -> anyhow::Result<bool> {
        let value = value.with_context(|| format!("`{}`: there is nothing to compare", self.text))?;
        Ok(self.is_past(value))
    }

    fn is_past(&self, value: f64) -> bool {
        if self.above {
            value > self.limit
        } else {
            value < self.limit
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, subject: Subject, above: bool, limit: f64, relative: bool) {
        let gate: Gate = text.parse().expect("it is right");
        assert_eq!(gate, Gate { text: text.to_owned(), subject, above, limit, relative });
    }

    #[test]
    fn conditions_are_read() {
        check("parallelism<0.9x", Subject::Parallelism, false, 0.9, true);
        check("parallelism < 8", Subject::Parallelism, false, 8.0, false);
        check("span>1.1x", Subject::Span, true, 1.1, true);
        check("inflation>1.2x", Subject::Inflation, true, 1.2, false);
        check("critical-inflation>2", Subject::CriticalInflation, true, 2.0, false);
    }

    #[test]
    fn what_is_no_condition_is_said() {
        for (text, words) in [
            ("parallelism", "is not a condition"),
            ("speed<1", "cannot be compared"),
            ("work<x", "is not a limit"),
            ("work<nan", "is not a limit"),
            ("work>5", "with the value before: write 'work>1.1x'"),
        ] {
            let error = text.parse::<Gate>().expect_err(text).to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
