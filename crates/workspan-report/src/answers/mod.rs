//! Answers of the commands: each its view model beside its text.

pub mod advice;
pub mod calls;
pub mod diff;
pub mod differential;
pub mod inflated_memory;
pub mod inflation;
pub mod merged;
pub mod predict;
pub mod under_lock;
pub(crate) mod unfound;
pub mod what_if;
