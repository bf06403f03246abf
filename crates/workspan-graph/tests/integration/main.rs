//! Tests of decoding, encoding, graphs and analyses, on made-up programs.

mod cache;
mod chunks;
mod damaged;
mod graphs;
mod made;
mod order;
mod races;
