//! What computes in the HTML report: the analyses themselves, compiled to WebAssembly, on rows that the page carries.
//!
//! * [`mod@codec`]: what a page carries, as bytes: kinds of sites, contexts, rows. Whoever writes a page encodes, the page
//!   decodes; both is here, so that the form needs no version of its own beyond a check.
//! * [`mod@shorten`]: fewer rows, where there are too many.
//! * [`mod@session`]: questions to it. The answers are [`workspan_analysis::what_if()`]'s, to the last unit.
//! * [`mod@predict`]: what the run would take on this number of processors, with and without changes.
//! * [`mod@abi`]: how a script asks: numbers in, numbers out.
//!
//! **Invariant:** any bytes are survived: what cannot be decoded is an error, never a panic. Nothing here is unsafe but the
//! names of the functions that a script calls.

pub mod abi;
pub mod codec;
mod numbers;
pub mod predict;
pub mod session;
pub mod shorten;

pub use codec::{encode, encode_merged, encode_within, Carried, CodecError};
pub use session::{Answer, Session};
pub use shorten::Merged;
