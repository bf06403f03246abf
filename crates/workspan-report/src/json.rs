//! JSON.

use crate::view::Report;

/// The report as indented JSON.
pub fn write(report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

/// The schema of [`write()`]'s output.
pub fn schema() -> String {
    serde_json::to_string_pretty(&schemars::schema_for!(Report)).unwrap_or_default() + "\n"
}
