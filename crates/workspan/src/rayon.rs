//! Programs whose rayon carries hooks, because `cargo workspan` has built them.

use std::ffi::OsString;
use std::path::Path;

use object::{File, Object, ObjectSection};
use workspan_wire::shm::{NOTE_IDLE_ONLY, NOTE_MAGIC, NOTE_SECTION, WIRE_VERSION};

use crate::args::RunOptions;
use crate::doctor::check::Check;
use crate::doctor::sections::{debug_info, linking, symbols};
use crate::runtime::{Around, Environment, Family, Look, Runtime, Sections};

/// Its row.
pub const FAMILY: Family = Family { look, doctor: Vec::new, without };

/// Cores as on which rayon splits its loops: as many as the machines have on which its users ask how far they scale.
const CORES: u32 = 64;

const GROUP: &str = "program";

/// What to do about a program without hooks.
pub const BUILD: &str = "build it with `cargo workspan build`, and look at the program that it names";

/// What an executable says about its hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// Wire version.
    pub wire_version: u32,
    /// Name and version of the runtime that carries them.
    pub runtime: String,
}

fn look(_: &Path, sections: Sections<'_>) -> Look {
    match sections(NOTE_SECTION).map(|note| parse_note(&note)) {
        None => Look::Not,
        Some(None) => Look::Broken,
        Some(Some(hooks)) => Look::Uses(Box::new(hooks)),
    }
}

fn without(file: &File<'_>) -> Option<Check> {
    mentions_rayon(file).then(|| {
        Check::missing(GROUP, "hooks", "none, although it uses rayon")
            .means("The program was built without `cargo workspan`: a run would report nothing.")
            .fix(BUILD)
    })
}

/// Whether texts or symbols of rayon are in a program with these sections.
pub fn is_in(sections: Sections<'_>) -> bool {
    SECTIONS.iter().filter_map(|name| sections(name)).any(|data| mentions(&data))
}

const SECTIONS: [&str; 2] = [".strtab", ".rodata"];

fn mentions(data: &[u8]) -> bool {
    data.windows(10).any(|window| window == b"rayon_core" || window == b"rayon-core")
}

fn mentions_rayon(file: &File<'_>) -> bool {
    SECTIONS.iter().filter_map(|name| file.section_by_name(name)?.data().ok()).any(mentions)
}

impl Runtime for Hooks {
    fn name(&self) -> &'static str {
        "rayon"
    }

    fn describe(&self) -> String {
        self.runtime.clone()
    }

    fn check(&self, executable: &Path, idle_only: bool) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.wire_version == WIRE_VERSION,
            "{} was built by another version of Workspan (wire version {}, this one has {WIRE_VERSION}): build it \
             again with `cargo workspan build`",
            executable.display(),
            self.wire_version
        );
        anyhow::ensure!(
            idle_only || !self.runtime.ends_with(NOTE_IDLE_ONLY),
            "{} was built by `cargo workspan scale`, to measure nothing but idle time: build it with `cargo workspan build`",
            executable.display()
        );
        Ok(())
    }

    fn environment(&self, _: &Path, around: Around<'_>) -> anyhow::Result<Environment> {
        Ok(workers(around.options))
    }

    fn logical_cores(&self, options: &RunOptions) -> Option<u32> {
        logical_cores(options)
    }

    fn silence(&self, program: &str) -> String {
        format!(
            "the hooks of {program} did not report: the program ended before `main`, or could not map the shared memory \
             (see `workspan doctor`)"
        )
    }

    fn doctor(&self, file: &File<'_>) -> Vec<Check> {
        let hooks = if self.wire_version == WIRE_VERSION {
            Check::ok(GROUP, "hooks", format!("in {} (wire version {WIRE_VERSION})", self.runtime))
        } else {
            Check::missing(GROUP, "hooks", format!("of wire version {}", self.wire_version))
                .means(format!("This workspan understands version {WIRE_VERSION} only."))
                .fix("build it again with `cargo workspan build`, or use the workspan that built it")
        };
        vec![hooks, debug_info(file), symbols(file), linking(file)]
    }

    fn hooks(&self) -> Option<&str> {
        Some(&self.runtime)
    }
}

/// A script: what it starts may carry hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script;

impl Runtime for Script {
    fn name(&self) -> &'static str {
        "rayon"
    }

    fn is_script(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        String::new()
    }

    fn check(&self, _: &Path, _: bool) -> anyhow::Result<()> {
        Ok(())
    }

    fn environment(&self, _: &Path, around: Around<'_>) -> anyhow::Result<Environment> {
        Ok(workers(around.options))
    }

    fn logical_cores(&self, options: &RunOptions) -> Option<u32> {
        logical_cores(options)
    }

    fn silence(&self, program: &str) -> String {
        format!(
            "the hooks of {program} did not report: the script started no program with hooks, or that could not map the \
             shared memory (see `workspan doctor`); name a program on OpenMP, oneTBB or threads itself, not a script that runs it"
        )
    }

    fn doctor(&self, _: &File<'_>) -> Vec<Check> {
        Vec::new()
    }
}

fn workers(options: &RunOptions) -> Environment {
    let workers = options.workers.map(|workers| workers.to_string().into());
    let variables = workers.map(|workers| (OsString::from("RAYON_NUM_THREADS"), Some(workers)));
    Environment { variables: variables.into_iter().collect(), ..Environment::default() }
}

fn logical_cores(options: &RunOptions) -> Option<u32> {
    Some(options.logical_cores.unwrap_or(CORES))
}

fn parse_note(data: &[u8]) -> Option<Hooks> {
    let at = data.windows(NOTE_MAGIC.len()).position(|w| w == NOTE_MAGIC)? + NOTE_MAGIC.len();
    let version = data.get(at..at + 4)?.try_into().ok()?;
    let text = data.get(at + 4..)?;
    let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
    Some(Hooks {
        wire_version: u32::from_ne_bytes(version),
        runtime: String::from_utf8_lossy(&text[..end]).into_owned(),
    })
}
