//! Pages of runs that were made up.

use std::fs;
use std::path::{Path, PathBuf};

use workspan_analysis::predict::{predict, Options, Prediction, SEEDS};
use workspan_analysis::schedule::{BuildOptions, Graph};
use workspan_analysis::what_if::{what_if, Change, Factor, Scenario, Selector};
use workspan_analysis::{profile, replay};
use workspan_model::{Event, Function, Machine, Nanos, Recording, Run, SiteId, Strand};
use workspan_page::predict::Predicted;
use workspan_report::html::{self, Sources};
use workspan_report::live::Foretold;
use workspan_report::what_if::{answers, Answer, Change as Shown, Of};
use workspan_report::{live, report, Live};
use workspan_testkit::strands::stream::Shape;
use workspan_testkit::strands::Stream;

/// A run, its rows, and what the page shows of them.
pub(crate) struct Made {
    pub(crate) recording: Recording,
    pub(crate) rows: Vec<Strand>,
    pub(crate) live: Live,
}

/// A run of about this number of rows. `name` is what functions and files are called.
pub(crate) fn made(shape: Shape, rows: u64, name: &str) -> Made {
    let (recording, stream) = Stream::new(shape, rows, 1);
    let mut all = Vec::new();
    stream.read(&mut |batch| {
        all.extend_from_slice(batch);
        true
    });
    with_rows(recording, all, name)
}

fn with_rows(mut recording: Recording, mut rows: Vec<Strand>, name: &str) -> Made {
    // Strands one after the other on four threads.
    let mut now = [0i64; 4];
    for (at, row) in rows.iter_mut().enumerate() {
        let thread = at / 64 % 4;
        row.thread = u16::try_from(thread).unwrap_or(0);
        row.start = Nanos(now[thread]);
        now[thread] += row.cost.0;
    }
    for site in recording.sites.iter_mut().filter(|site| site.kind.spawns()) {
        site.file = format!("src/{name}.rs");
        site.function = Some(Function { name: format!("{name}::run"), from_debug_info: true, offset: None });
    }
    let replayed = replay(&recording, &rows).unwrap_or_else(|never| match never {});
    let wall = Nanos(now.into_iter().max().unwrap_or(0));
    let run = Run { wall, workers: 4, threads: 4, ..Run::default() };
    recording.runs = vec![replayed.into_run(&run)];
    recording.command = vec![format!("target/release/{name}")];
    recording.machine = Machine { processor: "A processor".to_owned(), cpus: 4, steal_ns: 300, ..Machine::default() };
    let graph = whole(&recording, &rows);
    let foretold = Foretold { graph: &graph, seen: &foretold(&recording, &graph), even: None };
    let live = live(&recording, 1, &rows, &foretold).unwrap_or_else(|never| match never {});
    Made { recording, rows, live }
}

fn whole(recording: &Recording, rows: &Vec<Strand>) -> Graph {
    Graph::of(recording, rows, &BuildOptions::default()).unwrap_or_else(|never| match never {})
}

/// What `workspan predict` predicts on 1, 2, 4 … 1024 processors.
fn foretold(recording: &Recording, graph: &Graph) -> Prediction {
    let steal = Nanos(i64::try_from(recording.machine.steal_ns).expect("it is small"));
    let options = Options { processors: (0..11).map(|power| 1 << power).collect(), steal, seeds: SEEDS };
    predict(graph, profile(recording, &recording.runs[0]).program.on_one, &options)
}

impl Made {
    /// Writes the page, and returns its file and its size.
    pub(crate) fn write(&self, name: &str, sources: &Sources) -> (PathBuf, usize) {
        let view = report(&self.recording).expect("there is a run");
        let page = html::write(&view, sources, Some(&self.live));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
        fs::create_dir_all(&folder).expect("the target folder can be written");
        let file = folder.join(format!("{name}.html"));
        fs::write(&file, &page).expect("the target folder can be written");
        (file, page.len())
    }

    /// What `workspan what-if` answers: for each part its name, what it names, and its factor.
    pub(crate) fn answer(&self, parts: &[(String, Selector, f64)]) -> Answer {
        let changes = parts
            .iter()
            .map(|(_, part, factor)| Change { part: part.clone(), factor: Factor::new(*factor).expect("a factor") });
        let shown = parts.iter().map(|(name, _, factor)| Shown {
            part: name.clone(),
            factor: Some(*factor).filter(|factor| factor.is_finite()),
        });
        let scenario = Scenario { changes: changes.collect() };
        let computed = what_if(&self.recording, &self.rows, &[scenario]).unwrap_or_else(|never| match never {});
        let of = Of { recording: &self.recording, run: 1 };
        answers(&of, vec![shown.collect()], &computed).pop().expect("one was requested")
    }

    /// Speedups on 1, 2, 4 … 1024 processors with the same, as `workspan predict` has them.
    pub(crate) fn predicted(&self, parts: &[(String, Selector, f64)]) -> Vec<[f64; 4]> {
        let changes = parts
            .iter()
            .map(|(_, part, factor)| Change { part: part.clone(), factor: Factor::new(*factor).expect("a factor") });
        let factors = Scenario { changes: changes.collect() }.factors(&self.recording);
        let changed = whole(&self.recording, &self.rows).with_factors(factors);
        let numbers = |point| {
            let Predicted { greedy, stealing: [low, median, high] } = Predicted::of(point);
            [greedy, low, median, high]
        };
        foretold(&self.recording, &changed).points.iter().map(numbers).collect()
    }

    /// The handle of a site.
    pub(crate) fn handle(&self, site: u32) -> (String, SiteId) {
        (self.recording.sites[site as usize].stable_id(&self.recording.sites), SiteId(site))
    }

    /// Calls everything so.
    pub(crate) fn rename(&mut self, name: &str) {
        let renamed = with_rows(self.recording.clone(), std::mem::take(&mut self.rows), name);
        *self = renamed;
    }

    /// Forks and tasks.
    pub(crate) fn instances(&self) -> usize {
        self.rows.iter().filter(|row| matches!(row.event, Event::Fork(_) | Event::Spawn(_))).count()
    }
}
