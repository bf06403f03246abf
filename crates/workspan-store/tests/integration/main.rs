//! Writing, reading, and what happens to files in between.

mod damage;
mod documents;
mod folder;
mod golden;
mod round_trip;
mod rows;
