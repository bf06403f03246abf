//! Kinds of source places ("sites").

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $number:literal,)*) => {
        /// What a site stands for. The numbers are part of the wire format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum SiteKind {
            $($(#[$doc])* $kind = $number,)*
        }

        impl SiteKind {
            /// Every kind, in the order of the numbers.
            pub const ALL: &'static [SiteKind] = &[$(SiteKind::$kind,)*];
        }
    };
}

kinds! {
    /// `join` or `join_context`: two branches, one of them a task.
    Join = 1,
    /// A `scope` of any sort: the body, and the wait for its tasks.
    Scope = 2,
    /// A task spawned into a scope.
    ScopeSpawn = 3,
    /// A detached task that nobody waits for.
    Spawn = 4,
    /// One task on every worker.
    Broadcast = 5,
    /// The consuming end of a parallel iterator.
    ParIter = 6,
    /// A parallel sort.
    ParSort = 7,
    /// Serial code between two parallel regions of the root strand ([`super::records::SiteRecord::serial_from`]).
    Serial = 8,
    /// A thread of the program itself, outside any pool.
    Thread = 9,
    /// A parallel region: one implicit task to each thread of a team.
    Parallel = 10,
    /// A league of teams.
    Teams = 11,
    /// An explicit task.
    Task = 12,
    /// A loop whose iterations become tasks.
    Taskloop = 13,
    /// A worksharing loop.
    Loop = 14,
    /// Worksharing sections.
    Sections = 15,
    /// A critical section.
    Critical = 16,
    /// Code between taking a lock and giving it back.
    Lock = 17,
    /// A region that the program marks.
    Marked = 18,
    /// `parallel_for` of oneTBB.
    ParallelFor = 19,
    /// `parallel_for_each` of oneTBB.
    ParallelForEach = 20,
    /// `parallel_reduce` and `parallel_deterministic_reduce` of oneTBB.
    ParallelReduce = 21,
    /// `parallel_scan` of oneTBB.
    ParallelScan = 22,
    /// `parallel_invoke` of oneTBB.
    ParallelInvoke = 23,
    /// `parallel_sort` of oneTBB.
    ParallelSort = 24,
    /// `parallel_pipeline` of oneTBB.
    ParallelPipeline = 25,
    /// A task of a `task_group` of oneTBB.
    TaskGroup = 26,
    /// Nodes of a flow graph of oneTBB, from a message on.
    FlowGraph = 27,
    /// A task that is enqueued in an arena of oneTBB.
    ArenaTask = 28,
    /// `collaborative_call_once` of oneTBB.
    CallOnce = 29,
    /// A parallel algorithm of the C++ standard library.
    StdPar = 30,
    /// Another task of oneTBB.
    TbbTask = 31,
    /// A task of a pool of the program's own, where it is created.
    PoolTask = 32,
    /// Not a construct: stands before serial code beside which tasks or threads of a site run, with that site's place.
    Beside = 33,
    /// The body of a stage of a pipeline of oneTBB.
    Stage = 34,
    /// The body of a node of a flow graph of oneTBB.
    Node = 35,
    /// Code of iterations that runs in their order.
    Ordered = 36,
}
