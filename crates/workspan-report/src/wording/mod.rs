//! How things are called: words, places, names of segments, and what is harmless to show.

pub mod glossary;
pub(crate) mod parts;
pub(crate) mod path;
pub mod place;
pub(crate) mod ran;
pub mod shown;
pub mod words;
