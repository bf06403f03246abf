//! Kinds of source places ("sites").

/// What a site stands for. The numbers are part of the wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum SiteKind {
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
    /// Serial code between two parallel regions of the root strand ([`super::shm::SiteRecord::serial_from`]).
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
}

impl SiteKind {
    /// Every kind, in the order of the wire numbers.
    pub const ALL: [SiteKind; 31] = [
        SiteKind::Join,
        SiteKind::Scope,
        SiteKind::ScopeSpawn,
        SiteKind::Spawn,
        SiteKind::Broadcast,
        SiteKind::ParIter,
        SiteKind::ParSort,
        SiteKind::Serial,
        SiteKind::Thread,
        SiteKind::Parallel,
        SiteKind::Teams,
        SiteKind::Task,
        SiteKind::Taskloop,
        SiteKind::Loop,
        SiteKind::Sections,
        SiteKind::Critical,
        SiteKind::Lock,
        SiteKind::Marked,
        SiteKind::ParallelFor,
        SiteKind::ParallelForEach,
        SiteKind::ParallelReduce,
        SiteKind::ParallelScan,
        SiteKind::ParallelInvoke,
        SiteKind::ParallelSort,
        SiteKind::ParallelPipeline,
        SiteKind::TaskGroup,
        SiteKind::FlowGraph,
        SiteKind::ArenaTask,
        SiteKind::CallOnce,
        SiteKind::StdPar,
        SiteKind::TbbTask,
    ];

    /// The kind with wire number `n`, if there is one.
    pub fn from_u32(n: u32) -> Option<SiteKind> {
        let mut i = 0;
        while i < Self::ALL.len() {
            if Self::ALL[i] as u32 == n {
                return Some(Self::ALL[i]);
            }
            i += 1;
        }
        None
    }

    /// The word used in reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            SiteKind::Join => "join",
            SiteKind::Scope => "scope",
            SiteKind::ScopeSpawn => "scope-spawn",
            SiteKind::Spawn => "spawn",
            SiteKind::Broadcast => "broadcast",
            SiteKind::ParIter => "par-iter",
            SiteKind::ParSort => "par-sort",
            SiteKind::Serial => "serial",
            SiteKind::Thread => "thread",
            SiteKind::Parallel => "parallel",
            SiteKind::Teams => "teams",
            SiteKind::Task => "task",
            SiteKind::Taskloop => "taskloop",
            SiteKind::Loop => "loop",
            SiteKind::Sections => "sections",
            SiteKind::Critical => "critical",
            SiteKind::Lock => "lock",
            SiteKind::Marked => "marked",
            SiteKind::ParallelFor => "parallel-for",
            SiteKind::ParallelForEach => "parallel-for-each",
            SiteKind::ParallelReduce => "parallel-reduce",
            SiteKind::ParallelScan => "parallel-scan",
            SiteKind::ParallelInvoke => "parallel-invoke",
            SiteKind::ParallelSort => "parallel-sort",
            SiteKind::ParallelPipeline => "parallel-pipeline",
            SiteKind::TaskGroup => "task-group",
            SiteKind::FlowGraph => "flow-graph",
            SiteKind::ArenaTask => "arena-task",
            SiteKind::CallOnce => "call-once",
            SiteKind::StdPar => "std-par",
            SiteKind::TbbTask => "tbb-task",
        }
    }
}
