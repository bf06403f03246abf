//! Checks as values.

use serde_json::{json, Value};

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Stable between versions.
    pub id: &'static str,
    /// Of what it is a part.
    pub group: &'static str,
    /// How it is.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What that means for a profile; may be empty where all is well.
    pub means: String,
    /// What to do about it.
    pub fix: Option<String>,
}

/// How a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Ok,
    /// Profiles are worse than they could be.
    Warn,
    /// Without it there is no profile.
    Missing,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warn => "warn",
            State::Missing => "missing",
        }
    }

    fn colour(self) -> &'static str {
        match self {
            State::Ok => "32",
            State::Warn => "33",
            State::Missing => "31",
        }
    }
}

impl Check {
    /// As it should be.
    pub fn ok(group: &'static str, id: &'static str, found: impl Into<String>) -> Check {
        Check { id, group, state: State::Ok, found: found.into(), means: String::new(), fix: None }
    }

    /// Worse than it could be.
    pub fn warn(group: &'static str, id: &'static str, found: impl Into<String>) -> Check {
        Check { state: State::Warn, ..Check::ok(group, id, found) }
    }

    /// Essential, and not there.
    pub fn missing(group: &'static str, id: &'static str, found: impl Into<String>) -> Check {
        Check { state: State::Missing, ..Check::ok(group, id, found) }
    }

    /// What it means.
    pub fn means(self, means: impl Into<String>) -> Check {
        Check { means: means.into(), ..self }
    }

    /// What to do.
    pub fn fix(self, fix: impl Into<String>) -> Check {
        Check { fix: Some(fix.into()), ..self }
    }

    pub fn as_json(&self) -> Value {
        json!({
            "id": self.id,
            "group": self.group,
            "state": self.state.name(),
            "found": self.found,
            "means": self.means,
            "fix": self.fix,
        })
    }
}

/// One line a check, and below those that are not well what it means and what to do.
pub fn as_text(checks: &[Check], colour: bool) -> String {
    let width = checks.iter().map(|check| check.id.len()).max().unwrap_or(0);
    let indent = " ".repeat("missing  ".len() + width + 2);
    let mut out = String::new();
    let mut group = "";
    for check in checks {
        if check.group != group {
            if !group.is_empty() {
                out.push('\n');
            }
            group = check.group;
            out.extend([group, "\n"]);
        }
        let mut state = format!("{:<7}", check.state.name());
        if colour {
            state = format!("\x1b[{}m{state}\x1b[0m", check.state.colour());
        }
        out.extend([format!("{state}  {:<width$}  {}", check.id, check.found).trim_end(), "\n"]);
        if !check.means.is_empty() {
            out.extend([indent.as_str(), &check.means, "\n"]);
        }
        if let Some(fix) = &check.fix {
            out.extend([indent.as_str(), "fix: ", fix, "\n"]);
        }
    }
    out.push('\n');
    let of = |state| checks.iter().filter(|check| check.state == state).count();
    let verdict = match (of(State::Missing), of(State::Warn)) {
        (0, 0) => "all is well".to_owned(),
        (0, 1) => "nothing essential is missing; 1 warning".to_owned(),
        (0, warnings) => format!("nothing essential is missing; {warnings} warnings"),
        (1, _) => "1 essential thing is missing".to_owned(),
        (missing, _) => format!("{missing} essential things are missing"),
    };
    out.extend([verdict.as_str(), "\n"]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table() {
        let checks = [
            Check::ok("machine", "system", "linux"),
            Check::warn("machine", "load", "9.0 on 2 CPUs").means("Others disturb.").fix("wait"),
            Check::missing("tools", "cargo", "not found"),
        ];
        insta::assert_snapshot!(as_text(&checks, false), @r"
        machine
        ok       system  linux
        warn     load    9.0 on 2 CPUs
                         Others disturb.
                         fix: wait

        tools
        missing  cargo   not found

        1 essential thing is missing
        ");
    }
}
