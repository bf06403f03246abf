//! Writing, reading, and what happens to files in between.

mod damage;
mod folder;
mod round_trip;
mod rows;
