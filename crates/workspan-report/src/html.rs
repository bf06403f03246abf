//! HTML: to come.

use crate::view::Report;
use std::collections::BTreeMap;

/// Source files by name.
pub type Sources = BTreeMap<String, String>;

/// The page.
pub fn write(_report: &Report, _sources: &Sources) -> String {
    String::new()
}
