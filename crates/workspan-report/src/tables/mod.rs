//! Text in columns for a terminal: tables, trees, styles.

pub mod table;
pub(crate) mod terminal;
pub(crate) mod tree;
