//! Analyses of strands against the graph of all strands, the worked example of TaskProf, factored speedups, and rows that break the rules.

mod advice;
mod calls;
mod cilkprof;
mod differential;
mod example;
mod factored;
mod idle;
mod merge;
mod oracle;
mod order;
mod predict;
mod rules;
mod schedule;
mod verdict;
mod walk;
