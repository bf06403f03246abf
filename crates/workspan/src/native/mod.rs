//! Programs that use oneTBB, or threads of their own: they are run as they are, with the collector loaded into them.

mod environment;
pub mod tbb;
pub mod threads;
