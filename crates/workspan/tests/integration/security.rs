//! Attacks: recordings, programs and folders that were made to do harm. Each test failed on the version before its defence.

use std::fs::{self, Permissions};
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use workspan_model::{Site, SiteKind};
use workspan_read::{decode, encode};

use crate::build::{self, scratch};
use crate::command::{report, run, workspan, Ended};

/// A recording with a site in each of these files, each on the critical path.
fn naming(folder: &Path, files: &[&str]) -> PathBuf {
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mix.wspan")).expect("it is there");
    let (mut recording, _) = decode(&bytes).expect("it is whole");
    let spawning = recording.sites.iter().filter(|site| site.kind.spawns()).count();
    let names = files.iter().cycle().take(spawning.max(files.len()));
    let places = recording.sites.iter_mut().filter(|site| site.kind.spawns());
    for ((site, file), line) in places.zip(names).zip(1..) {
        (site.file, site.line, site.via) = ((*file).to_owned(), line, None);
    }
    recording.directory = folder.to_str().expect("a plain path").to_owned();
    let file = folder.join("hostile.wspan");
    fs::write(&file, encode(&recording)).expect("writable");
    file
}

/// Whatever a recording names, the page embeds nothing from outside, waits for nothing, and reads nothing without end.
#[test]
fn a_page_embeds_sources_of_the_project_and_nothing_else() {
    // Outside of the repository, which is a project itself.
    let outside = tempfile::tempdir().expect("writable");
    let around = outside.path();
    let folder = around.join("project");
    fs::create_dir_all(folder.join("src")).expect("writable");
    fs::write(around.join("secret"), "the secret\n".repeat(50)).expect("writable");
    fs::write(folder.join("src/honest.rs"), "an honest line\n".repeat(50)).expect("writable");
    symlink("../secret", folder.join("link.rs")).expect("writable");
    nix::unistd::mkfifo(&folder.join("fifo.rs"), nix::sys::stat::Mode::S_IRWXU).expect("writable");
    fs::write(folder.join("large.rs"), vec![b'\n'; 9 << 20]).expect("writable");
    let secret = around.join("secret");
    let names = [
        "src/honest.rs",
        "../secret",
        "src/../../secret",
        secret.to_str().expect("a plain path"),
        "link.rs",
        "fifo.rs",
        "large.rs",
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
    ];
    for name in names {
        naming(&folder, &[name]);
        let mut command = workspan(&folder);
        // Were it to read without end, this is where it ends.
        command.args(["report", "hostile.wspan", "--html", "page.html"]).env("A_SECRET_VARIABLE", "the secret");
        let ended = run(&mut command);
        ended.check_success();
        let page = fs::read_to_string(folder.join("page.html")).expect("it was written");
        for text in ["the secret", "A_SECRET_VARIABLE", "root:"] {
            assert!(!page.contains(text), "{name}: {text} is in the page");
        }
        let honest = name == "src/honest.rs";
        assert_eq!(page.contains("an honest line"), honest, "{name}");
        assert_eq!(ended.err().contains("the page is without the source"), !honest, "{name}: {}", ended.err());
        assert_eq!(page.contains(&format!("The source {name} is excluded")), !honest, "{name}");
    }
    // Who wants to, says so.
    naming(&folder, &["../secret"]);
    run(workspan(&folder).args(["report", "hostile.wspan", "--html", "page.html", "--source", ".."])).check_success();
    assert!(fs::read_to_string(folder.join("page.html")).expect("it was written").contains("the secret"));
}

/// What no terminal may get: it obeys them, or they make text read as other than it is.
const HOSTILE: &str = "a\x1b]0;owned\x07\x1b[2J\nworkspan: all is well\u{9b}31m\u{202e}cr.sj\u{2066}\r\x08b";

/// Control characters but new lines and tabs, and what turns text round.
#[track_caller]
fn check_harmless(text: &[u8], what: &str) {
    let text = std::str::from_utf8(text).expect("UTF-8");
    let bad = |c: &char| {
        (c.is_control() && !matches!(c, '\n' | '\t')) || ('\u{202a}'..='\u{202e}').contains(c) || *c == '\u{2066}'
    };
    let found: Vec<char> = text.chars().filter(bad).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {text:?}");
    assert!(!text.lines().any(|line| line.starts_with("workspan: all is well")), "{what}: a line was forged: {text}");
}

#[test]
fn nothing_from_a_recording_is_obeyed_by_a_terminal() {
    let folder = scratch("hostile-texts");
    let mut site = Site::at(SiteKind::Join, HOSTILE, 3, 1);
    site.type_name = HOSTILE.to_owned();
    site.module = HOSTILE.to_owned();
    site.function = Some(workspan_model::Function { name: HOSTILE.to_owned(), from_debug_info: true, offset: None });
    site.via = Some((HOSTILE.to_owned(), 7));
    let fixture =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mix.wspan")).expect("it is there");
    let (mut recording, _) = decode(&fixture).expect("it is whole");
    for other in recording.sites.iter_mut().filter(|site| site.kind.spawns()) {
        *other = Site { kind: other.kind, line: other.line, ..site.clone() };
    }
    recording.command = vec![HOSTILE.to_owned(); 2];
    for text in [&mut recording.directory, &mut recording.made_by, &mut recording.runtime] {
        HOSTILE.clone_into(text);
    }
    HOSTILE.clone_into(&mut recording.machine.processor);
    HOSTILE.clone_into(&mut recording.machine.system);
    recording.debug_info_problem = Some(HOSTILE.to_owned());
    let name = format!("{}.wspan", HOSTILE.replace('/', ""));
    fs::write(folder.join(&name), encode(&recording)).expect("writable");
    for verb in [
        &["report"][..],
        &["report", "--json"],
        &["report", "--html", "page.html"],
        &["info"],
        &["info", "--json"],
        &["calls"],
        &["calls", "--json"],
        &["calls", "--csv"],
        &["export", "--format", "folded"],
        &["what-if", "-s", HOSTILE],
        &["advise"],
        &["predict"],
        &["merge"],
    ] {
        let ended = run(workspan(&folder).args(verb).arg(&name));
        check_harmless(&ended.stdout, &format!("{verb:?}"));
        check_harmless(&ended.stderr, &format!("{verb:?}"));
    }
    let ended = run(workspan(&folder).args(["diff", &name, &name]));
    check_harmless(ended.check_success().out().as_bytes(), "diff");
    check_harmless(&fs::read(folder.join("page.html")).expect("it was written"), "the page");
    // Errors name files, too; damaged ones first.
    for (bytes, file) in [(&b""[..], &name), (b"some text", &name)] {
        fs::write(folder.join(file), bytes).expect("writable");
        for verb in ["report", "info", "calls", "advise"] {
            let ended = run(workspan(&folder).arg(verb).arg(file));
            ended.check_error(2, &["workspan: error: "]);
            check_harmless(&ended.stderr, verb);
        }
    }
    for arguments in [&["report", "none", HOSTILE][..], &[HOSTILE], &["record", "--", HOSTILE], &["doctor", HOSTILE]] {
        let ended = run(workspan(&folder).args(arguments));
        assert_ne!(ended.code(), Some(0), "{arguments:?}");
        check_harmless(&ended.stdout, &format!("{arguments:?}"));
        check_harmless(&ended.stderr, &format!("{arguments:?}"));
    }
}

/// Nobody can say where our files come to lie before they are there.
#[test]
fn planted_links_are_not_followed() {
    let folder = scratch("planted-links");
    fs::write(folder.join("victim"), "kept").expect("writable");
    fs::write(folder.join("in.wspan"), fixture()).expect("writable");
    // The process that comes has one of these numbers, unless very many begin before it.
    let next: u32 = {
        let child = Command::new("true").spawn().expect("it is there");
        let id = child.id();
        child.wait_with_output().expect("it ends");
        id
    };
    for file in ["page.html", "report.json"] {
        for id in next..next + 3000 {
            symlink("victim", folder.join(format!("{file}.tmp{id}"))).expect("writable");
        }
    }
    run(workspan(&folder).args(["report", "in.wspan", "--html", "page.html", "--json=report.json"])).check_success();
    assert_eq!(fs::read(folder.join("victim")).expect("it is there"), b"kept");
}

/// What is loaded into compilers and programs comes from a folder in which only the user can write.
#[test]
fn instrumentation_is_nobody_elses() {
    let folder = scratch("shared-cache");
    let cache = folder.join("cache/workspan");
    let build = |home: &str| {
        let mut command = workspan(&folder);
        command.env("XDG_CACHE_HOME", home).args(["build", "--", "true"]);
        run(&mut command)
    };
    build("cache").check_success();
    let installed = fs::read_dir(&cache).expect("it was made").map(|entry| entry.expect("it is there").path());
    let installed = installed.into_iter().find(|path| path.is_dir()).expect("it holds the pass");
    // Another user could write there, or has put something there.
    for shared in [&installed, &cache] {
        fs::set_permissions(shared, Permissions::from_mode(0o777)).expect("it is ours");
        let ended = build("cache");
        assert_eq!(ended.code(), Some(2), "{}", ended.err());
        fs::set_permissions(shared, Permissions::from_mode(0o700)).expect("it is ours");
    }
    build("cache").check_success();
    let pass = installed.join("libworkspan_pass.so");
    let whole = fs::read(&pass).expect("it is there");
    for plant in [
        |path: &Path| fs::write(path, "other").expect("writable"),
        |path: &Path| {
            fs::rename(path, path.with_extension("planted")).expect("writable");
            symlink("libworkspan_pass.planted", path).expect("writable");
        },
    ] {
        plant(&pass);
        build("cache").check_success();
        assert_eq!(fs::read(&pass).expect("it is there"), whole);
        assert!(fs::symlink_metadata(&pass).expect("it is there").is_file());
    }
    let mut nowhere = workspan(&folder);
    nowhere.env_remove("XDG_CACHE_HOME").env_remove("HOME").args(["build", "--", "true"]);
    let ended = run(&mut nowhere);
    assert_eq!((ended.code(), ended.err().contains("XDG_CACHE_HOME")), (Some(2), true), "{}", ended.err());
}

fn fixture() -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mix.wspan")).expect("it is there")
}

/// An output that would take what is read is refused before anything is written.
#[test]
fn what_is_read_is_not_overwritten() {
    let folder = scratch("overwritten");
    let (whole, file) = (fixture(), folder.join("v.wspan"));
    fs::write(&file, &whole).expect("writable");
    fs::hard_link(&file, folder.join("hard")).expect("writable");
    symlink("v.wspan", folder.join("soft")).expect("writable");
    let program = folder.join("prog");
    fs::copy(build::program("endings"), &program).expect("writable");
    let code = fs::read(&program).expect("it is there");
    for arguments in [
        &["report", "v.wspan", "--html", "v.wspan"][..],
        &["report", "v.wspan", "--json=v.wspan"],
        &["report", "v.wspan", "--html", "hard"],
        &["report", "soft", "--html", "./v.wspan"],
        &["report", "v.wspan", "--html", "same", "--json=same"],
        &["export", "--format", "folded", "v.wspan", "-o", "v.wspan"],
        &["export", "--format", "folded", "v.wspan", "-o", "soft"],
        &["record", "-o", "v.wspan", "--html", "v.wspan", "--", "./prog", "exit"],
        &["record", "-o", "a", "--html", "a", "--json=a", "--", "./prog", "exit"],
        &["record", "-o", "a", "--json=a.old", "--", "./prog", "exit"],
        &["record", "-o", "prog", "--", "./prog", "exit"],
        &["inflation", "-o", "a.wspan", "--workers", "2", "--json=a.base.wspan", "--", "./prog", "exit"],
        &["scale", "-p", "1", "--html", "page", "--svg", "page", "--", "./prog", "exit"],
    ] {
        let ended = run(workspan(&folder).args(arguments));
        ended.check_error(2, &["would overwrite", "name another file"]);
        assert!(ended.out().is_empty(), "{arguments:?}: it ran");
        assert_eq!(fs::read(&file).expect("it is there"), whole, "{arguments:?}");
        assert_eq!(fs::read(&program).expect("it is there"), code, "{arguments:?}");
        assert!(!folder.join("a").exists() && !folder.join("same").exists(), "{arguments:?}");
    }
}

/// What `nobody` or a member of another group may run with more rights than its own.
struct Privileged {
    folder: tempfile::TempDir,
}

impl Privileged {
    /// A program with hooks, and a library whose constructor says with what rights it was loaded.
    fn new() -> Privileged {
        let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().expect("writable");
        let at = |name: &str| folder.path().join(name);
        fs::copy(env!("CARGO_BIN_EXE_workspan"), at("workspan")).expect("writable");
        fs::copy(build::program("endings"), at("prog")).expect("writable");
        fs::create_dir(at("out")).expect("writable");
        fs::set_permissions(at("out"), Permissions::from_mode(0o777)).expect("it is ours");
        let text = format!(
            "#include <stdio.h>\n#include <unistd.h>\n__attribute__((constructor)) static void loaded(void) {{\n\
             FILE *f = fopen(\"{}\", \"w\"); if (f) {{ fprintf(f, \"%d %d\", geteuid() != getuid(), getegid() != \
             getgid()); fclose(f); }}\n}}\nint workspan_tool_start(void *a, void *b) {{ return a && b ? 0 : 0; }}\n",
            at("out/loaded").display()
        );
        fs::write(at("x.c"), text).expect("writable");
        let built =
            Command::new("cc").args(["-shared", "-fPIC", "-o", "x.so", "x.c"]).current_dir(folder.path()).output();
        let built = built.expect("there is a C compiler");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Privileged { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs it under `record --tool ./x.so`; what the library's constructor has said.
    fn run(&self, user: Option<u32>) -> (Ended, Option<String>) {
        let out = self.at("out");
        let _ = fs::remove_file(out.join("loaded"));
        let mut command = Command::new(self.at("workspan"));
        command.args(["record", "--clock", "virtual", "--workers", "2", "--tool"]).arg(self.at("x.so")).arg("--");
        command.arg(self.at("prog")).arg("exit").current_dir(&out);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        (run(&mut command), fs::read_to_string(out.join("loaded")).ok())
    }
}

/// A program that runs with another's rights loads nothing of its caller's, and writes nothing where its caller says. Root
/// makes it set-uid; others set-gid, to a group that they are in.
#[test]
fn hooks_and_tools_sleep_in_privileged_programs() {
    const NOBODY: u32 = 65534;
    const SET_UID: u32 = 0o4755;
    const SET_GID: u32 = 0o2755;
    let attack = Privileged::new();
    let program = attack.at("prog");
    let (user, mode) = if nix::unistd::geteuid().is_root() {
        (Some(NOBODY), SET_UID)
    } else {
        let group = fs::metadata(&program).expect("it is there").gid();
        let groups = run(Command::new("id").arg("-G")).out();
        let other = groups.split_whitespace().filter_map(|id| id.parse().ok()).find(|id| *id != group);
        let other = other.expect("this test needs root, or a user with a second group, to make a privileged program");
        std::os::unix::fs::chown(&program, None, Some(other)).expect("it is the user's own");
        (None, SET_GID)
    };
    let (ended, loaded) = attack.run(user);
    ended.check_success();
    assert_eq!(loaded.as_deref(), Some("0 0"), "without privilege the library is loaded: {}", ended.err());
    fs::set_permissions(&program, Permissions::from_mode(mode)).expect("it is ours");
    let (ended, loaded) = attack.run(user);
    assert_eq!(loaded, None, "the caller's library was loaded with the program's rights");
    ended.check_error(2, &["runs with other rights than yours", "hooks sleep"]);
}

/// The library that stands in for libgomp may lie anywhere.
#[test]
fn libraries_in_folders_that_the_loader_would_take_apart() {
    let folder = scratch("preload names: a b");
    let found = run(workspan(&folder).args(["doctor", "--json"]));
    let text = found.out();
    let at = text.find("libomp.so").map(|at| text[..at].rfind(['"', '(', ' ']).expect("a beginning") + 1);
    let path = at.map(|at| text[at..].split(['"', ')', ',']).next().expect("an end")).expect("libomp is installed");
    let library = folder.join("libomp.so.5");
    fs::copy(fs::canonicalize(path).expect("it is there"), &library).expect("writable");
    fs::write(
        folder.join("p.c"),
        "int main(void) { int n = 0;\n#pragma omp parallel\n#pragma omp atomic\nn++;\nreturn n < 1; }\n",
    )
    .expect("writable");
    let built = Command::new("gcc").args(["-fopenmp", "-o", "p", "p.c"]).current_dir(&folder).output();
    assert!(built.expect("gcc is installed").status.success());
    let ended = run(workspan(&folder).args(["record", "--workers", "2", "--", "./p"]).env("WORKSPAN_LIBOMP", &library));
    ended.check_success();
    assert!(!ended.err().contains("cannot be preloaded"), "{}", ended.err());
    assert_eq!(report(&folder, "workspan.wspan")["program"]["workers"], 2);
}

/// Memory that is shorter than it should be is left alone: to touch what is not there would kill the program.
#[test]
fn short_memory_kills_nobody() {
    let folder = scratch("short-memory");
    let memory = folder.join("memory");
    for length in [0, 100, 4096, 1 << 20] {
        fs::write(&memory, vec![0; length]).expect("writable");
        let ended = run(Command::new(build::program("endings")).arg("exit").env("WORKSPAN_SHM", &memory));
        assert_eq!(ended.code(), Some(0), "{length} bytes: {:?}", ended.status);
    }
    for special in ["/dev/zero", "/dev/null", "/dev/full", "/"] {
        let ended = run(Command::new(build::program("endings")).arg("exit").env("WORKSPAN_SHM", special));
        assert_eq!(ended.code(), Some(0), "{special}: {:?}", ended.status);
    }
}
