//! The page in a real browser. Screenshots are kept in `target/screenshots`.

mod browser;
mod page;
mod pages;
