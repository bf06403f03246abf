//! Columns of the tables of programs, regions and sites: what each is called, what it means, and for which programs it is shown.

use crate::view::Report;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// What stands above it.
    pub(crate) name: &'static str,
    /// What its cells are, in a sentence: the page shows it where a hand rests on the name.
    pub(crate) help: &'static str,
    /// Of which programs it says something.
    of: Of,
}

/// Programs of which a column says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Any,
    /// Those that create tasks.
    Tasks,
    /// Those with workers: a pool or a team, of which more than one runs at a time.
    Workers,
    /// Those whose tasks may be stolen.
    Steals,
    /// Those in which somebody waited for a lock.
    Locks,
}

const fn column(name: &'static str, of: Of, help: &'static str) -> Column {
    Column { name, help, of }
}

const CREATING: &str = "cost of creating tasks, as a share of the work of the program";
const IDLE: &str = "time that workers waited for work, summed over all workers: it may exceed the time that passed";
const BURDENED: &str = "parallelism if each task on the critical path that another worker may take also costs a steal";
const PARALLELISM: &str = "work divided by span: the highest speedup, however many processors there are";

/// Columns of the whole program.
pub(crate) const PROGRAM: [Column; 10] = [
    column("", Of::Any, ""),
    column("work", Of::Any, "time that all code took, on all processors together"),
    column("span", Of::Any, "length of the critical path: the running time with unlimited processors"),
    column("parallelism", Of::Any, PARALLELISM),
    column("burdened", Of::Steals, BURDENED),
    column("tasks", Of::Tasks, "tasks that were created"),
    column("task overhead", Of::Tasks, CREATING),
    column("wall", Of::Any, "time that passed while the program ran, with the profiler"),
    column("idle, all workers", Of::Workers, IDLE),
    column("blocked", Of::Any, "time that strands waited for files, timers or other processes"),
];

/// Columns of regions.
pub(crate) const REGION: [Column; 7] = [
    column("critical (total)", Of::Any, "share of the critical path, with all that runs inside the region"),
    column("work (total)", Of::Any, "work of the region, with all that runs inside"),
    column(
        "span (total)",
        Of::Any,
        "longest chain of code inside the region, summed over all times that it ran; where these ran side by side, at most the program's span",
    ),
    column("parallelism", Of::Any, PARALLELISM),
    column("count", Of::Any, "how often the region ran"),
    column("idle, all workers", Of::Workers, IDLE),
    column("region, or serial code", Of::Any, "an outermost site, or the code between two of them"),
];

/// Columns of spawn sites.
pub(crate) const SITE: [Column; 13] = [
    column(
        "critical (self)",
        Of::Any,
        "share of the critical path that is the site's own code, without the sites inside",
    ),
    column("work (total)", Of::Any, "work of the site, with all that runs inside"),
    column(
        "span (total)",
        Of::Any,
        "longest chain of code of the site, with all that runs inside, summed over all times that it ran; where these ran side by side, at \
         most the program's span",
    ),
    column("parallelism", Of::Any, PARALLELISM),
    column("burdened", Of::Steals, BURDENED),
    column("tasks", Of::Tasks, "tasks that the site created"),
    column("task mean", Of::Tasks, "mean time of the code that a task ran itself, its own chunk of a loop inside it included"),
    column("median", Of::Tasks, "median of that time; it is read from a histogram, so it may be off by up to 25 %"),
    column(
        "p90",
        Of::Tasks,
        "the time that one task in ten exceeds; it is read from a histogram, so it may be off by up to 25 %; \u{2264}: of fewer than ten \
         tasks, no task took longer than that",
    ),
    column("task overhead", Of::Tasks, CREATING),
    column(
        "lock wait",
        Of::Locks,
        "time that strands waited for the lock which others held, summed over all: it may exceed the time that passed",
    ),
    column("taken", Of::Locks, "how often the lock was taken; that of threads: from the first wait for it on, or from when it was seen to be held for long"),
    column("site", Of::Any, "where the source forks, spawns, begins a loop or takes a lock"),
];

/// Which columns of a table a report shows.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    kept: Vec<usize>,
    all: &'static [Column],
}

impl Columns {
    /// Those that say something of the program.
    pub(crate) fn of(all: &'static [Column], report: &Report) -> Columns {
        let program = &report.program;
        let tasks = program.tasks > 0 || report.sites.iter().any(|site| site.tasks > 0);
        // With OpenMP's virtual cores one thread runs at a time, and the others wait for that.
        let is_team = report.sites.iter().any(|site| site.kind == "parallel");
        let one_runs = is_team && program.logical_cores == Some(program.workers);
        let shown = |column: &Column| match column.of {
            Of::Any => true,
            Of::Tasks => tasks,
            Of::Workers => program.workers > 0 && !one_runs,
            Of::Locks => report.sites.iter().any(|site| site.contended_ns > 0),
            Of::Steals => tasks || program.workers > 0 && program.burdened.is_some(),
        };
        let kept = all.iter().enumerate().filter(|(_, column)| shown(column)).map(|(at, _)| at);
        Columns { kept: kept.collect(), all }
    }

    /// The columns themselves.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &'static Column> + '_ {
        self.kept.iter().filter_map(|at| self.all.get(*at))
    }

    /// What stands above them.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.shown().map(|column| column.name).collect()
    }

    /// Of a row with all cells, those that are shown.
    pub(crate) fn pick<T: Clone>(&self, row: &[T]) -> Vec<T> {
        self.kept.iter().filter_map(|at| row.get(*at)).cloned().collect()
    }
}
