//! Functions by which a program asks how many threads there are.

/// A function that says how many threads there are: bits of [`super::shm::Header::asked_by`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Asked {
    /// `rayon::current_num_threads`, also that of a pool.
    CurrentNumThreads = 1,
    /// `omp_get_max_threads`.
    OmpGetMaxThreads = 2,
    /// `omp_get_num_procs`.
    OmpGetNumProcs = 4,
    /// `tbb::this_task_arena::max_concurrency`, also that of an arena.
    MaxConcurrency = 8,
}
