//! OpenMP: every implicit and explicit task is a context.
//!
//! LLVM's runtime reports them through OMPT ([`tasks`]); [`locks`] defines the entry points first whose order OMPT does not
//! report well enough. A word of the runtime holds a task's context ([`tasks`]), so that nothing is allocated here.

pub mod abi;
pub mod locks;
pub mod start;
pub mod tasks;

pub use start::{find, owns};
