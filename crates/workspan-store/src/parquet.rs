//! A reader of Parquet, as far as the writer here makes use of it: flat tables of whole numbers and texts, pages of
//! version 1, encodings plain, dictionary and delta, zstd.
//!
//! It takes any bytes: `None` is for all that makes no sense. The crate `parquet` reads far more, but trusts the sizes
//! that a file reports, and panics on some files.

pub(crate) mod chunk;
pub(crate) mod footer;

mod bits;
mod delta;
mod hybrid;
mod page;
mod thrift;
