//! Questions with known answers.

use std::path::PathBuf;
use std::{fs, io};

use tempfile::TempDir;
use workspan_model::{ContextId, ContextTree, Creation, Event, Nanos, Recording, Site, SiteId, SiteKind, Strand};
use workspan_query::{run, Cell, Column, QueryError, Sink, VIEWS};
use workspan_store::{survey, Meta, Writer};
use workspan_testkit::strands::{random, RandomRun};

mod graph;
#[expect(dead_code, reason = "other tests use more of it")]
#[path = "../../../workspan-graph/tests/integration/made.rs"]
mod made;
mod program;

/// A folder with the strands of a run: a root and two tasks.
struct Folder {
    _around: TempDir,
    path: PathBuf,
}

impl Folder {
    fn new(name: &str) -> Folder {
        Folder::of(name, &recording(), &[&strands()])
    }

    /// A folder with the strands of several runs.
    fn of(name: &str, recording: &Recording, runs: &[&[Strand]]) -> Folder {
        // In a URL, most of these characters would mean something else.
        let around = tempfile::tempdir().expect("it is writable");
        let path = around.path().join(format!("workspan query {name} * %41#?"));
        for (run, strands) in (1..).zip(runs) {
            let mut writer = Writer::create(&path, run, &Meta::default()).expect("it is writable");
            writer.push(strands).expect("there is room");
            writer.finish(recording, None).expect("there is room");
        }
        Folder { _around: around, path }
    }

    fn ask(&self, sql: &str) -> Result<Answer, QueryError> {
        let mut answer = Answer::default();
        run(&self.path, &survey(&self.path).expect("it is whole"), sql, &mut answer)?;
        Ok(answer)
    }

    #[track_caller]
    fn check(&self, sql: &str, expected: &[&[Cell]]) {
        let answer = self.ask(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(answer.rows, expected, "{sql}");
    }

    #[track_caller]
    fn check_error(&self, sql: &str, expected: &str) {
        let error = self.ask(sql).err().unwrap_or_else(|| panic!("{sql} has an answer")).to_string();
        assert!(error.contains(expected), "{sql}: {error}");
    }
}

#[derive(Debug, Default)]
struct Answer {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Sink for Answer {
    fn columns(&mut self, columns: &[Column]) -> io::Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        self.rows.push(cells.to_vec());
        Ok(())
    }
}

fn strands() -> Vec<Strand> {
    let spawn = |overhead| Event::Spawn(Creation { context: ContextId(1), group: Some(0), overhead: Nanos(overhead) });
    let rows = [
        (Event::Group, 0, 100, 0, 0),
        (spawn(7), 0, 10, 100, 0),
        (Event::End, 1, 1000, 110, 1),
        (spawn(8), 0, 20, 110, 0),
        (Event::End, 1, 3000, 130, 2),
        (Event::Wait, 0, 30, 130, 0),
        (Event::End, 0, 840, 3130, 0),
    ];
    let strand = |(event, context, cost, start, thread)| Strand {
        event,
        context: ContextId(context),
        cost: Nanos(cost),
        blocked: Nanos::ZERO,
        start: Nanos(start),
        thread,
    };
    rows.map(strand).to_vec()
}

fn recording() -> Recording {
    let site = Site::at(SiteKind::ScopeSpawn, "src/main.rs", 7, 5);
    let mut contexts = ContextTree::default();
    contexts.intern(ContextId::ROOT, SiteId(0)).expect("the root is there");
    Recording { sites: vec![site], contexts, ..Recording::default() }
}

fn number(number: i128) -> Cell {
    Cell::Integer(number)
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

#[test]
fn tables_and_views_have_answers() {
    let folder = Folder::new("answers");
    folder.check("select count(*), sum(cost_ns) from nodes", &[&[number(7), number(5000)]]);
    folder.check(
        "select event, overhead_ns, inner_context from nodes where overhead_ns is not null order by strand",
        &[&[text("spawn"), number(7), number(1)], &[text("spawn"), number(8), number(1)]],
    );
    folder.check("select sum(work_ns) from tasks where task > 0", &[&[number(4000)]]);
    folder.check(
        "select task, work_ns, thread, moved from tasks order by task",
        &[
            &[number(0), number(1000), number(0), Cell::Truth(false)],
            &[number(1), number(1000), number(1), Cell::Truth(false)],
            &[number(2), number(3000), number(2), Cell::Truth(false)],
        ],
    );
    folder.check(
        "select place, work_ns, share from site_totals order by work_ns desc",
        &[&[text("src/main.rs:7"), number(4000), Cell::Float(0.8)], &[Cell::Null, number(1000), Cell::Float(0.2)]],
    );
    folder.check("select thread, end_ns from threads order by thread limit 1", &[&[number(0), number(3970)]]);
    folder.check("select distinct file, line from strands where line > 0", &[&[text("src/main.rs"), number(7)]]);
    folder.check("select value from meta where key = 'state'", &[&[text("complete")]]);
    folder.check("select handle like 's-%' from sites", &[&[Cell::Truth(true)]]);
    folder.check("select parent from contexts order by context", &[&[Cell::Null], &[number(0)]]);
    folder.check("select substr(upper(place), 5) from sites", &[&[text("MAIN.RS:7")]]);
}

/// The view `tasks` is read from rows, by a stack; it is what grouping by task gives.
#[test]
fn tasks_are_what_their_strands_amount_to() {
    for seed in [3, 17, 39] {
        let RandomRun { recording, rows } = random(seed);
        let folder = Folder::of(&format!("tasks {seed}"), &recording, &[&rows, &rows[..rows.len() / 2]]);
        let grouped = "select run, task, min(strand) as first_strand, count(*) as strands, sum(cost_ns) as work_ns, \
                       sum(blocked_ns) as blocked_ns, min(start_ns) as start_ns, \
                       max(start_ns + cost_ns + blocked_ns) as end_ns, min(thread) as thread, \
                       min(thread) <> max(thread) as moved from nodes group by run, task order by run, task";
        let found = folder.ask("select * from tasks order by run, task").expect("an answer");
        let expected = folder.ask(grouped).expect("an answer");
        assert_eq!((found.columns, found.rows), (expected.columns, expected.rows), "seed {seed}");
        folder.check("select count(*) from (select task from tasks limit 1)", &[&[number(1)]]);
    }
}

/// Of damaged files, tasks are those of the strands that `nodes` has.
#[test]
fn damaged_strands_are_in_no_task() {
    let folder = Folder::new("damaged");
    let part = folder.path.join("nodes-1-0000.parquet");
    let mut bytes = fs::read(&part).expect("it was written");
    bytes[20] ^= 1;
    fs::write(folder.path.join("nodes-1-0001.parquet"), &bytes).expect("it is writable");
    folder.check("select sum(strands), count(*) from tasks", &[&[number(7), number(3)]]);
    folder.check("select count(*) from nodes", &[&[number(7)]]);
}

#[test]
fn an_answer_names_its_columns() {
    let folder = Folder::new("columns");
    let answer = folder.ask("select count(*) as n, min(event) as e from nodes").expect("an answer");
    let column = |name: &str, numeric| Column { name: name.to_owned(), numeric };
    assert_eq!(answer.columns, [column("n", true), column("e", false)]);
    assert_eq!(folder.ask("select 1 as one where false").expect("an answer").rows, Vec::<Vec<Cell>>::new());
    // What there is can be requested.
    let tables = folder.ask("select table_name from information_schema.tables").expect("an answer").rows;
    for name in
        ["nodes", "sites", "contexts", "meta"].into_iter().chain(VIEWS.iter().map(|view| view.name)).chain(["tasks"])
    {
        assert!(tables.contains(&vec![text(name)]), "{name}");
        assert!(!folder.ask(&format!("describe {name}")).expect("an answer").rows.is_empty(), "{name}");
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let folder = Folder::new("errors");
    folder.check_error("selec 1", "Expected: an SQL statement, found: selec");
    folder.check_error("select nothing from nodes", "there is no column `nothing` here; there are run, strand, task");
    let tables =
        "there is no table `nodez`; there are nodes, sites, contexts, meta, strands, site_totals, threads, tasks";
    folder.check_error("select * from nodez", tables);
    folder.check_error("select 1 from nowhere", "nowhere");
    folder.check_error("select 1; select 2", "SQL statement");
    folder.check_error("select cost_ns / 0 from nodes", "Divide by zero");
    let deep = format!("select {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    folder.check_error(&deep, "recursion");
}

#[test]
fn a_query_only_reads() {
    let folder = Folder::new("reads");
    let target = folder.path.join("copy.csv");
    for sql in [
        "create table t as select 1".to_owned(),
        "drop view tasks".to_owned(),
        "insert into nodes select * from nodes".to_owned(),
        "set datafusion.execution.batch_size = 1".to_owned(),
        format!("copy nodes to '{}'", target.display()),
    ] {
        folder.check_error(&sql, "not supported");
    }
    assert!(!target.exists());
}
