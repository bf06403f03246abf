//! Tests of the engine against graphs that are built, and of the worked examples.

mod examples;
mod graph;
mod oracle;
mod random;
