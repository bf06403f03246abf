//! Which tables there are.

/// Tables, besides the views.
pub(crate) const TABLES: [&str; 4] = ["nodes", "sites", "contexts", "meta"];
