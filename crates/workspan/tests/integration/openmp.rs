//! OpenMP programs as they are, in C, C++ and Fortran: exact with every compiler and any number of threads.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::ops::AddAssign;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::openmp_build::{openmp, sources, Compiler};
use crate::openmp_run::{check_none, check_seeds, each, excused, native, number, parse, record, Threads, Wrong};

/// As many virtual cores as loops of the test programs have iterations.
const VIRTUAL: Threads = Threads::Virtual(64);

/// Every way in which a closed form is checked.
const ALL: &[Threads] = &[Threads::Real(1), Threads::Real(2), Threads::Real(4), Threads::Real(8), VIRTUAL];

// ---- Closed forms ----

#[test]
fn constructs_of_c_by_clang() {
    check_cases("constructs.c", Compiler::Clang, 120);
}

#[test]
fn constructs_of_c_by_gcc() {
    check_cases("constructs.c", Compiler::Gcc, 120);
}

#[test]
fn constructs_of_cpp_by_clang() {
    check_cases("constructs.cpp", Compiler::ClangCpp, 15);
}

#[test]
fn constructs_of_cpp_by_gcc() {
    check_cases("constructs.cpp", Compiler::GccCpp, 15);
}

#[test]
fn constructs_of_fortran_by_flang() {
    check_cases("constructs.F90", Compiler::Flang, 30);
}

#[test]
fn constructs_of_fortran_by_gfortran() {
    check_cases("constructs.F90", Compiler::Gfortran, 35);
}

/// A case and its answer, as `cost.h` describes them.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    work: i64,
    span: i64,
    how: How,
}

/// How an answer is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Exact,
    Loop,
    Lock,
    Runs,
    Native,
}

fn check_cases(main: &str, compiler: Compiler, at_least: usize) {
    let program = openmp(main, compiler);
    let mut runs = Vec::new();
    for threads in ALL {
        let cases = list(&program, threads.count());
        assert!(cases.len() >= at_least, "only {} cases", cases.len());
        runs.extend(cases.into_iter().map(|case| (case, *threads)));
    }
    let tags = Tags::read(main);
    let differences = each(&runs, |(case, threads)| {
        let difference = if case.how == How::Native {
            // It has nothing to be compared with.
            native(&program, &case.name, threads.count()).err().map(|fault| fault.to_string())
        } else {
            match record(&program, &[&case.name], *threads) {
                Ok(report) => compare(case, &report, *threads, compiler, &tags),
                Err(Wrong::Ours(message)) => Some(message),
                Err(Wrong::Runtimes(message)) => excused(&case.name, &message),
            }
        };
        difference.map(|difference| format!("{} {threads:?}: {difference}", case.name))
    });
    check_none(&differences, &format!("{main} by {compiler:?}, of {} runs", runs.len()));
}

/// What is wrong with a report.
fn compare(case: &Case, report: &Value, threads: Threads, compiler: Compiler, tags: &Tags) -> Option<String> {
    let mut wrong = String::new();
    let found = (number(&report["program"]["work_ns"]), number(&report["program"]["span_ns"]));
    let span_is_known = case.how != How::Loop || matches!(threads, Threads::Virtual(_));
    if case.how != How::Runs {
        if found.0 != case.work {
            let _ = write!(wrong, "work {}, not {}; ", found.0, case.work);
        }
        if span_is_known && found.1 != case.span {
            let _ = write!(wrong, "span {}, not {}; ", found.1, case.span);
        }
        let critical = critical_of_contexts(report);
        if critical != found.1 && case.how != How::Lock {
            let _ = write!(wrong, "the critical path's parts are {critical} of {}; ", found.1);
        }
        wrong.push_str(&tags.check(case, report, compiler));
    }
    (!wrong.is_empty()).then_some(wrong)
}

fn critical_of_contexts(report: &Value) -> i64 {
    report["contexts"].as_array().expect("a list").iter().map(|context| number(&context["critical_ns"])).sum()
}

/// The cases of a program, with the answers for this number of threads.
fn list(program: &Path, threads: u32) -> Vec<Case> {
    let output = Command::new(program).arg("list").env("OMP_NUM_THREADS", threads.to_string()).output();
    let output = output.expect("the program runs");
    assert!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names and numbers");
    text.lines().map(parse_case).collect()
}

fn parse_case(line: &str) -> Case {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, work, span, how] = words[..] else { panic!("not a case: {line}") };
    let how = match how {
        "exact" => How::Exact,
        "loop" => How::Loop,
        "lock" => How::Lock,
        "runs" => How::Runs,
        "native" => How::Native,
        _ => panic!("not a case: {line}"),
    };
    Case { name: name.to_owned(), work: parse(work), span: parse(span), how }
}

// ---- Places ----

/// What the sources say about the tasks that a case creates: `// tasks: N` behind the directive.
struct Tags {
    /// Directives, by file and line.
    directives: BTreeMap<(String, i64), Directive>,
    /// Of each case: its directives that create a known number of tasks, those of its helpers included.
    of_cases: BTreeMap<String, Vec<(String, i64, i64)>>,
    /// Cases with such directives, and no others that create tasks.
    complete: BTreeSet<String>,
}

struct Directive {
    text: String,
    /// The function around it, where that is plain.
    function: Option<String>,
}

impl Tags {
    /// Reads the sources of the program whose main file this is.
    fn read(main: &str) -> Tags {
        let mut files = vec![sources().join(main)];
        if main == "constructs.c" {
            let parts = fs::read_dir(sources().join("constructs")).expect("the sources are there");
            files.extend(parts.map(|part| part.expect("it can be read").path()));
        }
        let mut tags = Tags { directives: BTreeMap::new(), of_cases: BTreeMap::new(), complete: BTreeSet::new() };
        for file in files {
            tags.read_file(&file);
        }
        tags
    }

    fn read_file(&mut self, path: &Path) {
        let text = fs::read_to_string(path).expect("the sources are there");
        let file = path.file_name().expect("a file").to_string_lossy().into_owned();
        let (mut function, mut case) = (None, None);
        // Of the case being read, and of the functions before it.
        let (mut tagged, mut untagged) = (Vec::new(), false);
        for (line, text) in (1..).zip(text.lines()) {
            if let Some(name) = case_of(text) {
                case = Some(name.to_owned());
                function.clone_from(&case);
            } else if let Some(name) = function_of(text) {
                function = Some(name.to_owned());
            }
            let trimmed = text.trim_start();
            if trimmed.starts_with("#pragma omp") || trimmed.starts_with("!$omp") {
                let directive = Directive { text: text.to_owned(), function: function.clone() };
                self.directives.insert((file.clone(), line), directive);
                match text.split_once("// tasks: ") {
                    Some((_, count)) => tagged.push((file.clone(), line, parse(count))),
                    None => untagged |= creates_tasks(text),
                }
            }
            if text == "}" {
                function = None;
                if let Some(case) = case.take() {
                    if !untagged && !tagged.is_empty() {
                        self.complete.insert(case.clone());
                    }
                    self.of_cases.insert(case, std::mem::take(&mut tagged));
                    untagged = false;
                }
            }
        }
    }

    /// What is wrong with the sites of a report. Only programs of LLVM's compilers know their columns.
    fn check(&self, case: &Case, report: &Value, compiler: Compiler) -> String {
        let mut wrong = String::new();
        let known = self.of_cases.get(&case.name).map_or(&[][..], Vec::as_slice);
        let sites: Vec<Site> = report["sites"].as_array().expect("a list").iter().map(Site::read).collect();
        if self.complete.contains(&case.name) {
            let expected: i64 = known.iter().map(|(.., count)| count).sum();
            let found = number(&report["program"]["tasks"]);
            if found != expected {
                let _ = write!(wrong, "{found} tasks, not {expected}; ");
            }
        }
        for (file, line, expected) in known {
            let here = sites.iter().filter(|site| site.file == *file && site.line == *line);
            let found: i64 = here.map(|site| site.tasks).sum();
            if found != *expected {
                let _ = write!(wrong, "{file}:{line}: {found} tasks, not {expected}; ");
            }
        }
        if !compiler.is_llvm() {
            return wrong;
        }
        for site in &sites {
            match self.directives.get(&(site.file.clone(), site.line)) {
                Some(directive) => {
                    let in_line = usize::try_from(site.column).is_ok_and(|c| (1..=directive.text.len()).contains(&c));
                    let right = directive.text.split(|c: char| !c.is_alphanumeric()).any(|w| site.is_named_by(w));
                    if !in_line || !right {
                        let _ = write!(wrong, "{} is no `{}`; ", site.place(), directive.text.trim());
                    }
                    if compiler == Compiler::Clang && site.function != directive.function {
                        let _ = write!(wrong, "{} is in {:?}; ", site.place(), directive.function);
                    }
                }
                None if site.kind == "lock" || site.kind == "thread" || site.kind == "marked" => {}
                // It takes the beginning of the subroutine for the place of a directive with sections, and the statement
                // before a critical section for its place.
                None if compiler == Compiler::Flang && (case.name == "sections" || site.kind == "critical") => {}
                None => {
                    let _ = write!(wrong, "{} is no directive; ", site.place());
                }
            }
        }
        wrong
    }
}

fn creates_tasks(directive: &str) -> bool {
    let words = directive.split(|c: char| !c.is_alphanumeric());
    let directive = directive.contains("#pragma");
    directive && words.into_iter().skip_while(|word| *word != "omp").any(|word| ["task", "taskloop"].contains(&word))
}

/// The name of the case that begins here.
fn case_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("CASE(").or_else(|| line.strip_prefix("CASE_AS("))?;
    rest.split(',').next()
}

/// The name of the C function that begins here, at the start of a line.
fn function_of(line: &str) -> Option<&str> {
    let plain = line.starts_with(|c: char| c.is_alphabetic() || c == '_') && line.ends_with(')');
    let head = line.split('(').next_back().filter(|_| plain).and(line.rsplit_once('('))?.0;
    head.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

/// A site of a report.
struct Site {
    file: String,
    line: i64,
    column: i64,
    function: Option<String>,
    kind: String,
    tasks: i64,
}

impl Site {
    fn read(site: &Value) -> Site {
        let text = |name: &str| site[name].as_str().unwrap_or_default().to_owned();
        Site {
            file: Path::new(&text("file")).file_name().unwrap_or_default().to_string_lossy().into_owned(),
            line: number(&site["line"]),
            column: number(&site["column"]),
            function: site["function"].as_str().map(str::to_owned),
            kind: text("kind"),
            tasks: number(&site["tasks"]),
        }
    }

    /// How messages name it.
    fn place(&self) -> String {
        format!("{} {}:{}:{} in {:?}", self.kind, self.file, self.line, self.column, self.function)
    }

    /// True if this word of a directive makes a site of this kind.
    fn is_named_by(&self, word: &str) -> bool {
        match self.kind.as_str() {
            "loop" => ["for", "do", "loop", "distribute"].contains(&word),
            "sections" => ["sections", "section"].contains(&word),
            // What is ordered is as code under a lock.
            "lock" => ["lock", "ordered"].contains(&word),
            // A target region that does not wait.
            "task" => ["task", "target"].contains(&word),
            kind => kind == word,
        }
    }
}

/// A taskloop with a group of its own is as long as the longest of its tasks; what a group around it waits for besides is not
/// the loop's.
#[test]
fn a_taskloop_spans_its_longest_task() {
    let cases = [("taskloop_grainsize", 4), ("taskloop_num_tasks", 31), ("taskloop_many", 3), ("taskloop_in_group", 0)];
    for compiler in [Compiler::Clang, Compiler::Gcc] {
        let program = openmp("constructs.c", compiler);
        for (case, threads) in cases.iter().flat_map(|case| ALL.iter().map(move |threads| (case, *threads))) {
            let report = record(&program, &[case.0], threads).unwrap_or_else(|wrong| panic!("{case:?}: {wrong}"));
            let sites = report["sites"].as_array().expect("a list").iter().filter(|site| site["kind"] == "taskloop");
            let spans: Vec<i64> = sites.map(|site| number(&site["span_ns"])).collect();
            assert_eq!(spans, [case.1], "{case:?} by {compiler:?} on {threads:?}");
        }
    }
}

// ---- Random programs ----

/// Random programs, and how many of them run one after another in one process.
const PROGRAMS: u64 = 1_000;
const TOGETHER: u64 = 8;

#[test]
fn random_programs_by_clang() {
    check_random(Compiler::Clang, &[Threads::Real(1), Threads::Real(2), Threads::Real(4), Threads::Virtual(4)]);
}

#[test]
fn random_programs_by_gcc() {
    check_random(Compiler::Gcc, &[Threads::Real(1), Threads::Real(2), Threads::Real(4)]);
}

fn check_random(compiler: Compiler, ways: &[Threads]) {
    let program = openmp("random.c", compiler);
    let lines = site_lines();
    let mut runs = Vec::new();
    for first in (0..PROGRAMS).step_by(usize::try_from(TOGETHER).expect("a small number")) {
        runs.extend(ways.iter().map(|threads| (first, *threads)));
    }
    let differences = each(&runs, |(first, threads)| {
        let wrong =
            check_seeds(*first, TOGETHER, |first, count| difference_of(&program, first, count, *threads, &lines));
        wrong.map(|wrong| format!("{threads:?}: {wrong}"))
    });
    check_none(&differences, &format!("random.c by {compiler:?}, of {} runs", runs.len()));
}

/// What a program amounts to, as `random.c` describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Answer {
    work: i64,
    span: i64,
    sites: BTreeMap<String, Share>,
}

/// Tasks created, ticks of their own strands, and the critical path's part of those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Share {
    tasks: i64,
    own: i64,
    critical: i64,
}

impl AddAssign for Share {
    fn add_assign(&mut self, other: Share) {
        self.tasks += other.tasks;
        self.own += other.own;
        self.critical += other.critical;
    }
}

fn difference_of(
    program: &Path,
    first: u64,
    count: u64,
    threads: Threads,
    lines: &BTreeMap<i64, String>,
) -> Result<(), Wrong> {
    let (first, count) = (first.to_string(), count.to_string());
    let expected = oracle(program, &first, &count);
    let report = record(program, &[&first, &count], threads)?;
    let mut wrong = String::new();
    let found = answer(&report, lines);
    if (found.work, found.span) != (expected.work, expected.span) {
        let _ = write!(wrong, "work {} {}, span {} {}; ", expected.work, found.work, expected.span, found.span);
    }
    let critical = critical_of_contexts(&report);
    if critical != found.span {
        let _ = write!(wrong, "the critical path's parts are {critical} of {}; ", found.span);
    }
    let names: BTreeSet<&String> = expected.sites.keys().chain(found.sites.keys()).collect();
    for name in names {
        let (expected, found) = (expected.sites.get(name), found.sites.get(name));
        if expected != found {
            let _ = write!(wrong, "{name}: {expected:?} {found:?}; ");
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Wrong::Ours(wrong))
    }
}

/// The oracle's answer for programs that run one after another.
fn oracle(program: &Path, first: &str, count: &str) -> Answer {
    let output = Command::new(program).args(["oracle", first, count]).output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("names and numbers");
    let mut sum = Answer::default();
    for line in text.lines() {
        let mut words = line.split(' ').skip(1);
        let mut total = || parse(words.next().expect("a number"));
        sum.work += total();
        sum.span += total();
        for word in words {
            let parts: Vec<&str> = word.split(':').collect();
            let [name, tasks, own, critical] = parts[..] else { panic!("not a site: {word}") };
            let share = Share { tasks: parse(tasks), own: parse(own), critical: parse(critical) };
            *sum.sites.entry(name.to_owned()).or_default() += share;
        }
    }
    sum
}

/// A report in the oracle's terms.
fn answer(report: &Value, lines: &BTreeMap<i64, String>) -> Answer {
    let mut answer = Answer {
        work: number(&report["program"]["work_ns"]),
        span: number(&report["program"]["span_ns"]),
        sites: BTreeMap::new(),
    };
    for site in report["sites"].as_array().expect("a list") {
        let line = number(&site["line"]);
        let name = lines.get(&line).cloned().unwrap_or_else(|| format!("line {line}"));
        let share = Share {
            tasks: number(&site["tasks"]),
            own: number(&site["self_ns"]),
            critical: number(&site["critical_ns"]),
        };
        *answer.sites.entry(name).or_default() += share;
    }
    for region in report["regions"].as_array().expect("a list") {
        if region["kind"] == "serial" {
            let (own, critical) = (number(&region["work_ns"]), number(&region["critical_ns"]));
            *answer.sites.entry("serial".to_owned()).or_default() += Share { tasks: 0, own, critical };
        }
    }
    // Where nothing ran there is nothing to report.
    answer.sites.retain(|_, share| share.own > 0);
    answer
}

/// The lines of the tags `// site NAME`.
fn site_lines() -> BTreeMap<i64, String> {
    let text = fs::read_to_string(sources().join("random.c")).expect("the source is there");
    let tags =
        (1..).zip(text.lines()).filter_map(|(line, text)| Some((line, text.split_once("// site ")?.1.to_owned())));
    tags.collect()
}
