//! The guide's text, in one place. A test compares it with the commands that exist and with the JSON that they write.

/// A topic that concerns several commands.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct Verb {
    /// Its name.
    pub name: &'static str,
    /// The question that it answers.
    pub question: &'static str,
    /// How it is used.
    pub text: &'static str,
    /// The main fields of its JSON: a dot before a field of a field, `[]` behind a list.
    pub fields: &'static [&'static str],
}

/// Topics, in order.
pub const TOPICS: [Topic; 4] = [
    Topic { name: "questions", text: QUESTIONS },
    Topic { name: "example", text: EXAMPLE },
    Topic { name: "ids", text: IDS },
    Topic { name: "statuses", text: STATUSES },
];

const QUESTIONS: &str = "\
Is my program parallel enough, and what limits it?   record, then report: the first line is the verdict
Which line holds the critical path?                  report: sites, by share of the critical path
How much faster, if these lines ran in parallel?     what-if -s FILE:LINES=FACTOR
Which lines must be parallelised to reach P?         advise --target P
Are my tasks too small or too large?                 advise; report: sizes and overhead of sites
Which calls have the work, which the span?           calls
What is lost on 2, 4, … processors?                  scale --workers 1,2,4
Which code takes longer when others run beside it?   inflation
How far would it scale on a larger machine?          predict -p 1..1024
How parallel could a serial program be at most?      limits -- ./prog
Which loops and calls of a serial program could run in parallel? build, then depend -- ./prog
Did my change help, or is it noise?                  diff BEFORE AFTER
How do I reduce noise?                               record --strands --repeat N, then merge
Which thread ran what when?                          export --format perfetto
I want a flame graph, a table, a task graph          export
I have a question of my own                          query
What did threads execute and touch, and in what order? build, then graph record, graph report
Do threads race? How do caches of all sizes miss?    build, then graph races, graph cache
Why are the numbers odd?                             report: warnings; info; doctor

Work is the time that all code took. Span is the time of the longest chain of code that must run in order. Parallelism is
work divided by span: the highest speedup over one processor, however many processors there are.";

const EXAMPLE: &str =
    "  cargo workspan run --release --strands -- args       build instrumented, run, write workspan.wspan
  workspan report --json | jq .verdict.text            what limits it
  workspan report --json | jq -r '.sites[0] | \"\\(.id) \\(.file):\\(.line) \\(.critical_share)\"'
  workspan advise --target 16 --json | jq -r '.findings[] | \"\\(.id) \\(.kind) \\(.text)\"'
  workspan what-if -s a-0123abcd=8 --json | jq .after.parallelism     an id from advise
  … change the program …
  cargo workspan run --release --strands -o after.wspan -- args
  workspan diff workspan.wspan after.wspan -s a-0123abcd=8 --json | jq '.prediction, .program.parallelism'
  workspan advise after.wspan --fail-on too-fine       a gate: status 1 if there is a finding too-fine

A program in C, C++ or Fortran that uses OpenMP, oneTBB or threads needs no instrumented build:
  workspan record --strands -- ./prog args";

const IDS: &str = "  s-0123abcd    a site: a hash of its kind and place, the same in every recording of the same source
  a-0123abcd    a segment, the code between two task events, that advise lists; what-if and diff take it as a PART
Sites, regions, contexts and call sites have ids in all JSON; what-if takes `s-…` (the site's own code) and
`s-…/` (with all code below it). Times are in nanoseconds, in fields that end with `_ns`; shares are from 0 to 1.
Each JSON has `schema_version`: it stays when fields are added; no field is removed or redefined.
stdout is data, stderr is messages. A field without a value is null.";

const STATUSES: &str = "  0    success
  1    doctor: something essential is missing; advise, diff, inflation: a finding or condition of --fail-on is met;
       graph races: there are races
  2    wrong usage, unusable input, output that cannot be written; stderr names it, and what to type next
  126  record, scale, inflation, limits, graph record, depend, build: the program cannot be run
  127  record, scale, inflation, limits, graph record, depend, build: there is no such program
record, inflation and the cargo commands otherwise end as the program did: with its status, or by its signal. scale ends by a
signal that interrupts it.";

/// Commands, in the order in which they are needed.
pub const VERBS: &[Verb] = &[
    Verb {
        name: "record",
        question: "How parallel is this program, and what limits it?",
        text: "  workspan record -- ./prog args                   a program that `cargo workspan build` built, or that uses OpenMP
  workspan record --strands --repeat 5 -- ./prog   five runs, with every strand
Runs the program and reports. Writes workspan.wspan (-o FILE), and with --strands the folder workspan.strands, which
what-if, advise, predict, merge, query and most of export need. --json=FILE writes the report. Output and status are
the program's.",
        fields: REPORT,
    },
    Verb {
        name: "report",
        question: "What limits the program, and where?",
        text: "  workspan report [FILE] [--json] [--html page.html] [--top N]
Read `verdict.text` first, then `warnings`, which limit the accuracy of the numbers. `sites` and `regions` are sorted by
their share of the critical path; `critical_share` of sites and serial regions adds up to 1. `contexts` is the tree of sites.",
        fields: REPORT,
    },
    Verb {
        name: "info",
        question: "What does a recording hold, and how was it made?",
        text: "  workspan info [FILE] [--json]",
        fields: &["command", "runtime", "complete", "machine.cpus", "runs[].work_ns", "runs[].span_ns", "problems"],
    },
    Verb {
        name: "doctor",
        question: "What can Workspan measure on this machine, and how do I fix what is missing?",
        text: "  workspan doctor [PROGRAM] [--json]",
        fields: &["ok", "checks[].id", "checks[].state", "checks[].found", "checks[].fix"],
    },
    Verb {
        name: "what-if",
        question: "How much faster would the program be if these lines ran in parallel?",
        text: "  workspan what-if [FILE] -s PART=FACTOR [-s …] [--json]
A PART is FILE:LINE, FILE:LINE-LINE, s-…, s-…/, a-…, or the name of a region that the program marks: in Rust by
workspan_probe::region(\"solve\"), in C and C++ by WORKSPAN_FUNCTION of workspan.h. A FACTOR is a number of at least 1, or
inf. `after` assumes the factors, `ceiling` infinite ones. Needs strands. The program does not run again.",
        fields: &[
            "before.parallelism",
            "after.parallelism",
            "ceiling.parallelism",
            "named_ns",
            "sites[].id",
            "path[].piece.text",
            "path[].after_share",
            "warnings",
        ],
    },
    Verb {
        name: "advise",
        question: "Which code must be parallelised to reach a goal, and which tasks have the wrong size?",
        text: "  workspan advise [FILE] [--target P] [--fail-on KIND] [--json]
`findings`: segments to parallelise, in the order of the steps (what-if takes their ids), then sites whose tasks are too
small or too large, by their share of the critical path. `outcome` says whether the target can be reached. Needs strands.",
        fields: &[
            "outcome",
            "parallelism",
            "reached",
            "steps[].piece.text",
            "steps[].parallelism",
            "findings[].id",
            "findings[].kind",
            "findings[].text",
            "findings[].parallelism",
            "findings[].caveats",
        ],
    },
    Verb {
        name: "calls",
        question: "Which calls have the work, which the span, and what would stealing cost?",
        text: "  workspan calls [FILE] [--by height] [--json | --csv]
The ids of caller and callee identify a call site. `on_work` sums over all of its calls, `on_span` over those on the
critical path. The first rows limit the program.",
        fields: &[
            "program.burdened_parallelism",
            "calls[].caller.id",
            "calls[].callee.id",
            "calls[].on_work.work_ns",
            "calls[].on_span.span_ns",
            "calls[].span_share",
            "calls[].burdened_span_ns",
        ],
    },
    Verb {
        name: "diff",
        question: "What changed between two recordings, and what may be noise?",
        text: "  workspan diff BEFORE AFTER [-s PART=FACTOR] [--fail-on CONDITION] [--json]
A quantity has median, low and high of both, `ratio`, and `change`: same, less, more or inconclusive. With -s,
`prediction` compares the predicted with the measured gain. `nodes` compares strand by strand if both have strands.
--fail-on is a gate: 'parallelism<0.9x', 'inflation>1.2'; `failed` lists the conditions that are met.",
        fields: &[
            "program.parallelism.ratio",
            "program.work.change",
            "sites[].before",
            "sites[].after",
            "sites[].verdict",
            "sites[].span.ratio",
            "prediction.error",
            "nodes.program.work.inflation",
            "failed",
            "warnings",
        ],
    },
    Verb {
        name: "merge",
        question: "What are the numbers without the noise of single runs?",
        text: "  workspan merge [FILE] [-o merged.wspan] [--keep median] [--json]
Keeps of each strand the least cost in any run, or the median. Needs a recording made with --strands --repeat N. Every
command reads the merged recording.",
        fields: &["keep", "strands", "matched", "parallelism", "runs[].parallelism", "runs[].missing", "sites[].id"],
    },
    Verb {
        name: "limits",
        question: "How parallel could a program be at most, and which dependences limit it?",
        text: "  workspan limits [--json | --csv] [--html page.html] [--svg bars.svg] [--limit N] [--roi FUNCTION] -- ./prog args
Runs any program for x86-64 under the emulator qemu-user and follows dependences between its instructions, under seven models
at once, and for windows and widths of a processor. Takes 150 to 1300 times as long as the program alone. Fewer models
take less of that time: --models table (no windows, no widths) a fourth, --models tru (one model) a tenth. Needs no build, no
recording. --roi main excludes start-up.",
        fields: &[
            "text",
            "instructions",
            "models[].name",
            "models[].critical_path",
            "models[].parallelism",
            "control[].name",
            "control[].parallelism",
            "windows[].window",
            "windows[].parallelism",
            "widths[].width",
            "widths[].parallelism",
            "names[].without",
            "names[].parallelism",
            "lines[].model",
            "lines[].file",
            "lines[].line",
            "lines[].instructions_on_path",
            "lines[].share",
            "links[].link",
            "links[].share",
            "warnings",
        ],
    },
    Verb {
        name: "predict",
        question: "How long would it take on other numbers of processors?",
        text: "  workspan predict [FILE] [-p 1..64 | -p 8,16] [-s PART=FACTOR] [--grain SITE=NS] [--json | --csv]
Simulates the recorded run: bounds, a greedy schedule, and work stealing with median and range. Needs strands.",
        fields: &[
            "program.most_speedup",
            "scales_to",
            "points[].processors",
            "points[].time_ns",
            "points[].speedup",
            "points[].speedup_min",
            "points[].speedup_max",
            "points[].efficiency",
            "points[].idle_ns",
            "points[].laws_ns",
            "points[].greedy_ns",
        ],
    },
    Verb {
        name: "scale",
        question: "How much faster does it run on more processors, and what is lost?",
        text: "  workspan scale --workers 1,2,4 [--json] -- ./prog args
Runs the program on each number of workers and attributes the loss to overhead, idle time and work inflation. --csv
writes a row for each number of workers, --svg and --html draw the curves.",
        fields: &[
            "text",
            "complete",
            "points[].workers",
            "points[].speedups.actual.value",
            "points[].time.mean_ns",
            "points[].idle.mean_ns",
            "points[].inflation_ns",
            "causes.available_ns",
            "causes.inflation_ns",
            "reading",
            "regions[].id",
            "sites[].inflation_ns",
            "warnings",
        ],
    },
    Verb {
        name: "inflation",
        question: "Which code takes longer with several workers than with one?",
        text: "  workspan inflation [--workers N] [--repeat N] [--fail-on CONDITION] [--json] -- ./prog args
Alternates runs on one worker and on N, and compares strand by strand. The first site adds most to the
critical path of the run with N. --fail-on 'inflation>1.2' is a gate.",
        fields: &[
            "text",
            "base.work_ns",
            "new.work_ns",
            "nodes.sites[].critical.more_ns",
            "events[].name",
            "events[].inflation",
            "failed",
            "warnings",
        ],
    },
    Verb {
        name: "export",
        question: "How do I open it in the tool that I know?",
        text: "  workspan export [FILE] --format FORMAT [-o FILE] [--json]
perfetto, chrome: timeline with arrows (needs strands). firefox, speedscope, folded: flame graphs by work and by critical
path. dot, graphml: small task graphs (need strands). csv --table T: every table. cilkscale, taskprof: tables with the
headers of these tools. With -o, --json lists the files written and what was excluded.",
        fields: &["format", "run", "files[].file", "files[].bytes", "left_out.strands", "left_out.time_ns"],
    },
    Verb {
        name: "query",
        question: "Which strands, tasks, threads or sites match a condition of my own?",
        text: "  workspan query [FILE] 'select …' [--json | --csv]
Tables nodes, sites, contexts, meta; views strands, site_totals, tasks, threads. `describe nodes` lists the columns.
--json writes one object a line for each row. Needs strands, and the program workspan-query: without it, query shows the
command that installs it.",
        fields: &[],
    },
    Verb {
        name: "build",
        question: "How do I build a program whose memory accesses can be recorded?",
        text: "  workspan build -- COMMAND             make -j, cc -O2 a.c -o a, cargo build --release, …
C, C++ and Fortran are compiled by clang and flang of LLVM 16 to 22, whatever the build calls them, Rust by its own
compiler. Clean the build first.",
        fields: &[],
    },
    Verb {
        name: "graph",
        question: "What did each task execute and touch, and what was ordered?",
        text: "  workspan graph record [-o FOLDER] -- COMMAND
  workspan graph merge [-o FOLDER] GRAPH…       (ranks of a program on MPI)
  workspan graph report | cache | races | timeline | misses | sharing | code | waits [FOLDER] [--json]
  workspan graph export --format dot | graphml | perfetto [FOLDER] [-o FILE]
For programs made by workspan build. races ends with status 1 if there is one.",
        fields: &[],
    },
    Verb {
        name: "depend",
        question: "Which loops and calls could run in parallel, and which dependence forbids it?",
        text: "  workspan depend [-o FILE] [--add] [--json=FILE] [--sarif FILE] [--csv FILE] [--html FILE] -- ./prog args
  workspan depend report [FILE] [--json]
  workspan depend what-if [FILE] --remove | --private | --closed-form DEPENDENCE, --speed-up FILE:LINE=FACTOR [--json]
  workspan depend export --format dot [FILE] [-o FILE]
  cargo workspan depend --release [-- args]
For programs made by workspan build, which writes .NAME.depend beside NAME for it, and in Rust. --add merges runs on
several inputs. `parallel` is yes, with-clauses, no or not-executed; dependences are seen only where code ran. The exit
status is the program's.",
        fields: &[
            "loops[].file",
            "loops[].line",
            "loops[].column",
            "loops[].parallel",
            "loops[].speedup",
            "loops[].change",
            "loops[].reductions",
            "loops[].private",
            "loops[].blockers[].kind",
            "loops[].blockers[].variable",
            "loops[].blockers[].source",
            "loops[].blockers[].sink",
            "loops[].blockers[].distance",
            "calls[].spawn",
            "calls[].sync",
            "models[].name",
            "models[].parallelism",
            "critical_paths.lines_as_tasks.parallelism",
            "critical_paths.lines[].held_by",
            "critical_paths.graphs[].nodes[].cost",
            "critical_paths.graphs[].edges[].times",
            "coverage.lines",
            "coverage.executed",
        ],
    },
    Verb {
        name: "guide",
        question: "Which command answers which question?",
        text: "  workspan guide [COMMAND | questions | example | ids | statuses] [--json]",
        fields: &["topics[].topic", "topics[].text", "verbs[].verb", "verbs[].question", "verbs[].fields"],
    },
];

/// Main fields of a report.
const REPORT: &[&str] = &[
    "verdict.text",
    "verdict.outcome",
    "verdict.parallelism",
    "verdict.next",
    "verdict.losses[].cause",
    "verdict.losses[].share",
    "program.work_ns",
    "program.span_ns",
    "program.parallelism",
    "program.task_overhead",
    "program.complete",
    "regions[].id",
    "regions[].critical_share",
    "sites[].id",
    "sites[].file",
    "sites[].line",
    "sites[].parallelism",
    "sites[].critical_share",
    "sites[].task_ns.mean",
    "contexts[].parent",
    "warnings[].code",
];
