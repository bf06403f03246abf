//! The guide's text, in one place. A test holds it against the verbs that there are and the JSON that they write.

/// Something that concerns several verbs.
#[derive(Clone, Copy, Debug)]
pub struct Topic {
    /// By which it is asked for.
    pub name: &'static str,
    /// What there is to say.
    pub text: &'static str,
}

/// A verb.
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
Which line holds the critical path?                  report: sites, by critical share
What would it give to parallelise these lines?       what-if -s FILE:LINES=FACTOR
Which lines must be parallelised to reach P?         advise --target P
Are my tasks too small or too large?                 advise; report: sizes and overhead of sites
Which calls have the work, which the span?           calls
What is lost on 2, 4, … processors?                  scale --workers 1,2,4
What costs more beside other work, and where?        inflate
How far would it scale on a larger machine?          predict -p 1..1024
How parallel could a serial program be at most?      limits -- ./prog
Did my change help, or is it noise?                  diff BEFORE AFTER
How do I get rid of noise?                           record --record --repeat N, then merge
Who ran what when?                                   export --format perfetto
I want a flame graph, a table, a graph               export
I have a question of my own                          query
Why are the numbers odd?                             report: warnings; info; doctor

Work is the time of all code, span that of the longest chain of code that must run in order,
parallelism work over span: how many processors the program can use at most.";

const EXAMPLE: &str = "\
  cargo workspan run --release --record -- args        build with hooks, run, write workspan.wspan
  workspan report --json | jq .verdict.text            what limits it
  workspan report --json | jq -r '.sites[0] | \"\\(.id) \\(.file):\\(.line) \\(.critical_share)\"'
  workspan advise --target 16 --json | jq -r '.findings[] | \"\\(.id) \\(.kind) \\(.text)\"'
  workspan what-if -s a-0123abcd=8 --json | jq .after.parallelism     an id that advise named
  … change the program …
  cargo workspan run --release --record -o after.wspan -- args
  workspan diff workspan.wspan after.wspan -s a-0123abcd=8 --json | jq '.prediction, .program.parallelism'
  workspan advise after.wspan --fail-on too-fine       a gate: status 1 if there is such a finding

A program in C, C++ or Fortran that uses OpenMP needs no build of its own:
  workspan record --record -- ./prog args";

const IDS: &str = "\
  s-0123abcd    a site: a hash of its kind and place, the same in every recording of the same source
  a-0123abcd    a piece of the program that advise names; what-if and diff take it as a PART
Sites, regions, contexts and call sites have ids in all JSON; what-if takes `s-…` (the site's own code) and
`s-…/` (with all below). Times are in nanoseconds and their fields end with `_ns`; shares lie from 0 to 1.
Each JSON has `schema_version`: fields may be added without a change of it, none is removed or redefined.
stdout is data, stderr is talk. A field without a value is null.";

const STATUSES: &str = "\
  0    all is well
  1    doctor: something essential is missing; advise, diff, inflate: there is what --fail-on names
  2    wrong usage, input that cannot be used, output that cannot be written; stderr says which, and what to do
  126  record, scale, inflate, limits: the program cannot be run
  127  record, scale, inflate, limits: there is no such program
record, inflate and the cargo verbs otherwise end as the program did: with its status, or by its signal. scale ends by a
signal that interrupts it.";

/// Verbs, in the order in which they are needed.
pub const VERBS: &[Verb] = &[
    Verb {
        name: "record",
        question: "How parallel is this program? Runs it, and reports.",
        text: "\
  workspan record -- ./prog args                 one that was built by `cargo workspan build`, or uses OpenMP
  workspan record --record --repeat 5 -- ./prog  every strand, too, of five runs
Writes workspan.wspan (-o FILE), and with --record the folder workspan.strands, which what-if, advise, predict,
merge, query and most of export need. --json=FILE writes the report. Output and status are the program's.",
        fields: REPORT,
    },
    Verb {
        name: "report",
        question: "What limits the program, and where?",
        text: "\
  workspan report [FILE] [--json] [--html page.html] [--top N]
`verdict.text` first, then `warnings`: what to know before believing a number. `sites` and `regions` stand by falling
share of the critical path; `critical_share` of sites and serial regions add up to 1. `contexts` is the tree of sites.",
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
        question: "What do this machine and this program allow, and how is it mended?",
        text: "  workspan doctor [PROGRAM] [--json]",
        fields: &["ok", "checks[].id", "checks[].state", "checks[].found", "checks[].fix"],
    },
    Verb {
        name: "what-if",
        question: "What would it give if these parts ran in parallel?",
        text: "\
  workspan what-if [FILE] -s PART=FACTOR [-s …] [--json]
A PART is FILE:LINE, FILE:LINE-LINE, s-…, s-…/, a-…, or the name of a marked region; a FACTOR a number of at least 1, or
inf. `after` is with the factors, `ceiling` with all of them infinite. Needs strands. Nothing is run again.",
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
        question: "What must be parallelised to get there, and which tasks have the wrong size?",
        text: "\
  workspan advise [FILE] [--target P] [--fail-on KIND] [--json]
`findings` are by falling use; give their ids to what-if. `outcome` says whether the target can be reached. Needs strands.",
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
        question: "Which calls have the work and which the span, and what would stealing cost?",
        text: "\
  workspan calls [FILE] [--by height] [--json | --csv]
A call site is told from others by the ids of caller and callee. On work: all instances; on span: those on the critical
path. The first rows limit the program.",
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
        question: "What has changed between two recordings, and what is noise?",
        text: "\
  workspan diff BEFORE AFTER [-s PART=FACTOR] [--fail-on CONDITION] [--json]
A quantity has median, low and high of both, `ratio`, and `change`: same, less, more or inconclusive. With -s,
`prediction` holds what was foretold against what came. Where both have strands, `nodes` compares them one by one.
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
        question: "What is left of repeated runs without their noise?",
        text: "\
  workspan merge [FILE] [-o merged.wspan] [--keep median] [--json]
Needs a recording made with --record --repeat N. Every verb reads what is written.",
        fields: &["keep", "strands", "matched", "parallelism", "runs[].parallelism", "runs[].missing", "sites[].id"],
    },
    Verb {
        name: "limits",
        question: "How parallel could a program be at most, and which dependences limit it?",
        text: "\
  workspan limits [--json | --csv] [--html page.html] [--svg bars.svg] [--limit N] -- ./prog args
Runs any program for x86-64 under the emulator qemu-user and follows dependences between its instructions, under seven models
at once. Takes about 20 to 50 times as long as the program. Needs no build, no recording.",
        fields: &[
            "text",
            "instructions",
            "models[].name",
            "models[].critical_path",
            "models[].parallelism",
            "control[].name",
            "control[].parallelism",
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
        text: "\
  workspan predict [FILE] [-p 1..64 | -p 8,16] [-s PART=FACTOR] [--grain SITE=NS] [--json | --csv]
Simulates the recorded run: bounds, a greedy schedule, and work stealing, median and extremes. Needs strands.",
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
        question: "How much faster is it on more processors, and what are the speedups lost to?",
        text: "\
  workspan scale --workers 1,2,4 [--json] -- ./prog args
Runs the program with so many workers each, and tells what is lost to overhead, idle time and work inflation. --csv has a
row for each number of workers, --svg and --html draw the curves.",
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
        name: "inflate",
        question: "What costs more with several workers than with one, and where?",
        text: "\
  workspan inflate [--workers N] [--repeat N] [--fail-on CONDITION] [--json] -- ./prog args
Runs the program with one worker and with N, strands recorded, in turn, and compares strand by strand. The first site costs
most on the critical path of the run with N. --fail-on 'inflation>1.2' is a gate.",
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
        question: "How do I look at it in the tool that I know?",
        text: "\
  workspan export [FILE] --format FORMAT [-o FILE] [--json]
perfetto, chrome: timeline with arrows (strands). firefox, speedscope, folded: flame graphs by work and by critical
path. dot, graphml: small graphs (strands). csv --table T: every table. cilkscale, taskprof: their headers. With -o,
--json says what was written and what was left out.",
        fields: &["format", "run", "files[].file", "files[].bytes", "left_out.strands", "left_out.time_ns"],
    },
    Verb {
        name: "query",
        question: "What does SQL say about every strand?",
        text: "\
  workspan query [FILE] 'select …' [--json | --csv]
Tables nodes, sites, contexts, meta; views strands, site_totals, tasks, threads. `describe nodes` tells the columns. --json
writes an object for each row, in lines. Needs strands, and a workspan that was built with `query`.",
        fields: &[],
    },
    Verb {
        name: "guide",
        question: "Which verb answers which question?",
        text: "  workspan guide [VERB | questions | example | ids | statuses] [--json]",
        fields: &["topics[].topic", "topics[].text", "verbs[].verb", "verbs[].question", "verbs[].fields"],
    },
];

/// Of a report.
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
