//! Kinds of sites: all that is known of each, in one row.
//!
//! Whoever asks something of a kind asks its [row](SiteKind::row). A new kind is a row here, its number in
//! `workspan_wire::site`, and the hooks that make such sites.

/// Position of a site in its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u32);

/// What is known of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// On the wire and in pages.
    pub number: u32,
    /// In `.wspan` files.
    pub stored: u64,
    /// The word used in reports and JSON.
    pub name: &'static str,
    /// What code of such a site is, before its place; of serial code nothing, its place says it.
    pub code: &'static str,
    /// What to do about such code on the critical path, before its place; empty: to run it in parallel.
    pub remedy: &'static str,
    /// Whose construct it is.
    pub family: Family,
    /// What tasks in its contexts are.
    pub tasks: Tasks,
    /// How the cost of creating them is known.
    pub created: Created,
    /// Every execution creates exactly one task.
    pub one_task: bool,
    /// Who creates the tasks runs one of them, or a part of the work, itself.
    pub runs_one: bool,
    /// Code under a lock.
    pub lock: bool,
    /// False for code that spawns nothing.
    pub spawns: bool,
}

/// Whose construct a kind is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// None of a runtime's.
    Program,
    /// Rayon's.
    Rayon,
    /// OpenMP's.
    Openmp,
    /// oneTBB's.
    Tbb,
    /// Threads of the program's own.
    Threads,
    /// The program's, in all runtimes; follows the rules of OpenMP where that is the runtime.
    Any,
}

/// What tasks in a context are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tasks {
    /// Each is an instance.
    Each,
    /// Items of a shared iterator, and no instances.
    Items,
    /// The same as the first; but of an instance of this loop, or of these sections, all members of a team have a part.
    Pieces,
    /// Tasks of a loop, which is the instance.
    Chunks,
}

/// How the cost of creating tasks is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// It is what a fork and join cost when that was measured, times their number.
    AsFork,
    /// It is measured one by one, where the clock is real.
    Measured,
    /// The collector reports it, with any clock.
    Reported,
}

impl Row {
    /// What most kinds have in common.
    const PLAIN: Row = Row {
        number: 0,
        stored: 0,
        name: "",
        code: "",
        remedy: "",
        family: Family::Program,
        tasks: Tasks::Each,
        created: Created::AsFork,
        one_task: false,
        runs_one: false,
        lock: false,
        spawns: true,
    };
}

/// Makes of one row each: the kind with what it stands for, its place in [`SiteKind::ALL`], and what is known of it.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $({ $($(#[$end:meta])* $field:ident: $type:ty,)* })? => { $($known:tt)* };)*) => {
        /// What a site stands for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SiteKind {
            $($(#[$doc])* $kind $({ $($(#[$end])* $field: $type,)* })?,)*
        }

        impl SiteKind {
            /// All of them; serial code without its ends.
            pub const ALL: &'static [SiteKind] = &[$(SiteKind::$kind $({ $($field: None,)* })?,)*];

            /// All that is known of it.
            pub fn row(self) -> &'static Row {
                match self {
                    $(SiteKind::$kind $({ $($field: _,)* })? => &Row { $($known)*, ..Row::PLAIN },)*
                }
            }
        }
    };
}

kinds! {
    /// `join`: two branches, one of them a task.
    Join => { number: 1, stored: 0, name: "join", code: "code inside branches of the join at", family: Family::Rayon, one_task: true, runs_one: true };
    /// A scope: its body, and the wait for its tasks.
    Scope => { number: 2, stored: 1, name: "scope", code: "code outside tasks in the scope at", family: Family::Rayon };
    /// A task spawned into a scope.
    ScopeSpawn => { number: 3, stored: 2, name: "scope-spawn", code: "code inside tasks spawned at", family: Family::Rayon, created: Created::Measured, one_task: true };
    /// A detached task.
    Spawn => { number: 4, stored: 3, name: "spawn", code: "code inside tasks spawned at", family: Family::Rayon, created: Created::Measured, one_task: true };
    /// A task on every worker.
    Broadcast => { number: 5, stored: 4, name: "broadcast", code: "code inside the broadcast at", family: Family::Rayon, created: Created::Reported };
    /// The consuming end of a parallel iterator.
    ParIter => { number: 6, stored: 5, name: "par-iter", code: "code inside chunks of the parallel iterator at", family: Family::Rayon, tasks: Tasks::Items, runs_one: true };
    /// A parallel sort.
    ParSort => { number: 7, stored: 6, name: "par-sort", code: "code inside the parallel sort at", family: Family::Rayon, runs_one: true };
    /// Serial code of the root strand between two regions.
    Serial {
        /// The region before it; `None` at the start of the program. Of kind [`SiteKind::Beside`]: what runs beside it.
        from: Option<SiteId>,
        /// The region after it; `None` at the end of the program.
        to: Option<SiteId>,
    } => { number: 8, stored: 100, name: "serial", spawns: false };
    /// A thread of the program, outside any pool.
    Thread => { number: 9, stored: 7, name: "thread", code: "code of the thread at", family: Family::Threads };
    /// A parallel region: one implicit task to each thread of a team.
    Parallel => { number: 10, stored: 8, name: "parallel", code: "code outside tasks and loops in the parallel region at", family: Family::Openmp };
    /// A league of teams.
    Teams => { number: 11, stored: 9, name: "teams", code: "code outside parallel regions in the teams at", family: Family::Openmp };
    /// An explicit task.
    Task => { number: 12, stored: 10, name: "task", code: "code inside tasks created at", family: Family::Openmp, created: Created::Measured, one_task: true };
    /// A loop whose iterations become tasks.
    Taskloop => { number: 13, stored: 11, name: "taskloop", code: "code inside tasks of the taskloop at", family: Family::Openmp, tasks: Tasks::Chunks, created: Created::Measured };
    /// A worksharing loop.
    Loop => { number: 14, stored: 12, name: "loop", code: "code inside chunks of the loop at", family: Family::Openmp, tasks: Tasks::Pieces };
    /// Worksharing sections.
    Sections => { number: 15, stored: 13, name: "sections", code: "code inside the sections at", family: Family::Openmp, tasks: Tasks::Pieces };
    /// A critical section.
    Critical => { number: 16, stored: 14, name: "critical", code: "the critical section at", family: Family::Openmp, lock: true };
    /// Code between taking a lock and giving it back.
    Lock => { number: 17, stored: 15, name: "lock", code: "code under the lock taken at", family: Family::Any, lock: true };
    /// A region that the program marks.
    Marked => { number: 18, stored: 16, name: "marked", code: "code directly inside the region marked at", family: Family::Any };
    /// `parallel_for` of oneTBB.
    ParallelFor => { number: 19, stored: 17, name: "parallel-for", code: "code inside chunks of the parallel_for at", family: Family::Tbb, tasks: Tasks::Chunks, created: Created::Measured };
    /// `parallel_for_each` of oneTBB.
    ParallelForEach => { number: 20, stored: 18, name: "parallel-for-each", code: "code inside items of the parallel_for_each at", family: Family::Tbb, tasks: Tasks::Chunks, created: Created::Measured };
    /// `parallel_reduce` and `parallel_deterministic_reduce` of oneTBB.
    ParallelReduce => { number: 21, stored: 19, name: "parallel-reduce", code: "code inside chunks of the parallel_reduce at", family: Family::Tbb, tasks: Tasks::Chunks, created: Created::Measured };
    /// `parallel_scan` of oneTBB.
    ParallelScan => { number: 22, stored: 20, name: "parallel-scan", code: "code inside chunks of the parallel_scan at", family: Family::Tbb, tasks: Tasks::Chunks, created: Created::Measured };
    /// `parallel_invoke` of oneTBB.
    ParallelInvoke => { number: 23, stored: 21, name: "parallel-invoke", code: "code inside functions of the parallel_invoke at", family: Family::Tbb, tasks: Tasks::Chunks, created: Created::Measured };
    /// `parallel_sort` of oneTBB.
    ParallelSort => { number: 24, stored: 22, name: "parallel-sort", code: "code inside the parallel_sort at", family: Family::Tbb, tasks: Tasks::Chunks, created: Created::Measured };
    /// `parallel_pipeline` of oneTBB.
    ParallelPipeline => { number: 25, stored: 23, name: "parallel-pipeline", code: "stages of the parallel_pipeline at", remedy: "shorten the longest serial stage, or allow more items at a time, in the parallel_pipeline at", family: Family::Tbb, tasks: Tasks::Chunks, created: Created::Measured };
    /// A task of a `task_group` of oneTBB.
    TaskGroup => { number: 26, stored: 24, name: "task-group", code: "code inside tasks run at", family: Family::Tbb, created: Created::Measured, one_task: true };
    /// Nodes of a flow graph of oneTBB, from a message on.
    FlowGraph => { number: 27, stored: 25, name: "flow-graph", code: "code inside nodes of the flow graph reached from", remedy: "let the slowest nodes take more messages at a time, shorten those that take one, or send more messages, to the flow graph reached from", family: Family::Tbb, created: Created::Measured };
    /// A task that is enqueued in an arena of oneTBB.
    ArenaTask => { number: 28, stored: 26, name: "arena-task", code: "code inside tasks enqueued at", family: Family::Tbb, created: Created::Measured, one_task: true };
    /// `collaborative_call_once` of oneTBB.
    CallOnce => { number: 29, stored: 27, name: "call-once", code: "code of the collaborative_call_once at", family: Family::Tbb, created: Created::Measured };
    /// A parallel algorithm of the C++ standard library.
    StdPar => { number: 30, stored: 28, name: "std-par", code: "code inside the parallel algorithm at", family: Family::Tbb, tasks: Tasks::Chunks, created: Created::Measured };
    /// Another task of oneTBB.
    TbbTask => { number: 31, stored: 29, name: "tbb-task", code: "code inside tasks created at", family: Family::Tbb, created: Created::Measured, one_task: true };
    /// A task of a pool of the program's own.
    PoolTask => { number: 32, stored: 30, name: "pool-task", code: "code inside tasks created at", family: Family::Any, created: Created::Measured, one_task: true };
    /// Not a construct: stands before serial code beside which tasks or threads of the site at its place run.
    Beside => { number: 33, stored: 31, name: "beside", code: "code beside tasks or threads of", family: Family::Any };
    /// The body of a stage of a pipeline of oneTBB.
    Stage => { number: 34, stored: 32, name: "stage", code: "code of the stage at", remedy: "shorten, or divide, the stage at", family: Family::Tbb };
    /// The body of a node of a flow graph of oneTBB.
    Node => { number: 35, stored: 33, name: "node", code: "code of the node at", remedy: "shorten, or let take more messages at a time, the node at", family: Family::Tbb };
    /// Code of iterations that runs in their order.
    Ordered => { number: 36, stored: 34, name: "ordered", code: "code in the order of iterations at", remedy: "shorten what runs in the order of iterations at", family: Family::Openmp };
}

impl SiteKind {
    /// The kind of this number; serial code between these sites.
    pub fn numbered(number: u32, from: Option<SiteId>, to: Option<SiteId>) -> Option<SiteKind> {
        SiteKind::found(from, to, |row| row.number == number)
    }

    /// The kind of this number in a file; serial code between these sites.
    pub fn stored(number: u64, from: Option<SiteId>, to: Option<SiteId>) -> Option<SiteKind> {
        SiteKind::found(from, to, |row| row.stored == number)
    }

    fn found(from: Option<SiteId>, to: Option<SiteId>, is: impl Fn(&Row) -> bool) -> Option<SiteKind> {
        SiteKind::ALL.iter().find(|kind| is(kind.row())).map(|kind| kind.with_ends(from, to))
    }

    /// The same; serial code between these sites.
    pub fn with_ends(self, from: Option<SiteId>, to: Option<SiteId>) -> SiteKind {
        if self.ends().is_some() {
            SiteKind::Serial { from, to }
        } else {
            self
        }
    }

    /// The sites between which serial code lies.
    pub fn ends(self) -> Option<[Option<SiteId>; 2]> {
        match self {
            SiteKind::Serial { from, to } => Some([from, to]),
            _ => None,
        }
    }

    /// The word used in reports and JSON.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// False for serial code, which spawns nothing.
    pub fn spawns(self) -> bool {
        self.row().spawns
    }

    /// True for code under a lock.
    pub fn is_lock(self) -> bool {
        self.row().lock
    }

    /// True for constructs of OpenMP.
    pub fn is_openmp(self) -> bool {
        self.row().family == Family::Openmp
    }

    /// True for constructs of rayon.
    pub fn is_rayon(self) -> bool {
        self.row().family == Family::Rayon
    }

    /// True for what the program gives to an algorithm: a part of its tasks, with a name of its own.
    pub fn is_body(self) -> bool {
        matches!(self, SiteKind::Stage | SiteKind::Node)
    }

    /// True for constructs that are known by calls within each other, as those of oneTBB and threads are.
    pub fn is_called(self) -> bool {
        matches!(self.row().family, Family::Tbb | Family::Threads) || self == SiteKind::Beside
    }

    /// True for constructs whose tasks may outlive the one that created them, of which an instance lasts until the last of its tasks has
    /// ended: those of OpenMP and oneTBB, threads, and those that may be.
    pub fn lasts(self) -> bool {
        matches!(self.row().family, Family::Openmp | Family::Tbb | Family::Threads | Family::Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_tell_kinds_apart() {
        let ends = (Some(SiteId(3)), None);
        for (at, kind) in (1..).zip(SiteKind::ALL) {
            let row = kind.row();
            assert_eq!(row.number, at, "{kind:?}");
            let found = [SiteKind::numbered(at, ends.0, ends.1), SiteKind::stored(row.stored, ends.0, ends.1)];
            let expected = kind.with_ends(ends.0, ends.1);
            assert_eq!(found, [Some(expected); 2]);
            let same = SiteKind::ALL.iter().filter(|other| other.row().name == row.name).count();
            assert_eq!(same, 1, "{}", row.name);
        }
        let past = SiteKind::ALL.iter().map(|kind| kind.row().stored).max().map_or(0, |last| last + 1);
        assert_eq!([SiteKind::numbered(0, None, None), SiteKind::stored(past, None, None)], [None; 2]);
    }

    #[test]
    fn every_row_says_what_its_code_is() {
        for kind in SiteKind::ALL {
            assert_eq!(kind.row().code.is_empty(), kind.ends().is_some(), "{kind:?}");
        }
    }
}
