//! A tracer for machines without an emulator: valgrind's tool `lackey`, which prints each instruction and each access.
//!
//! It prints no bytes: those come from the memory of the process, in which valgrind keeps the program at its own addresses. A program whose
//! whole trace fits into the pipe may have ended by then: such a small one is statically linked, and its file says what was where.
//! It says nothing of system calls and threads, so that their buffers are no dependences, and all threads are one.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context;
use nix::fcntl::{fcntl, FcntlArg, FdFlag};
use nix::unistd::pipe;
use object::{Object, ObjectKind, ObjectSegment, SegmentFlags};

use super::analysis::Feed;
use super::code::{mapped, Code, Mapped};
use super::run::Ended;
use crate::signals::Caught;

/// Words that are handed over at once.
const CHUNK: usize = 1 << 14;

/// Feeds what `program` does.
pub fn run(valgrind: &Path, program: &Path, command: &[OsString], feed: &mut Feed<'_>) -> anyhow::Result<Ended> {
    let (read, write) = pipe().context("cannot make a pipe for the trace")?;
    fcntl(&read, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).context("cannot make a pipe for the trace")?;
    let caught = Caught::new()?;
    let began = Instant::now();
    let mut child = Command::new(valgrind);
    child.args(["--tool=lackey", "--trace-mem=yes", "--basic-counts=no", "--child-silent-after-fork=yes", "-q"]);
    child.arg(format!("--log-fd={}", write.as_raw_fd())).arg("--").arg(program).args(&command[1..]);
    let mut child = child.spawn().with_context(|| format!("cannot run {}", valgrind.display()))?;
    drop(write);
    let passed_on = caught.pass_on_to(&child);
    let process = i32::try_from(child.id()).unwrap_or(0);
    let mut memory = Memory { process, program: program.to_owned(), parts: Vec::new(), lost: 0 };
    let mut code = Code::default();
    let mut stopped = false;
    let mut lines = BufReader::with_capacity(1 << 16, File::from(read));
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).context("cannot read what valgrind prints")? == 0 {
            break;
        }
        // What follows an instruction belongs to it.
        if code.words.len() >= CHUNK && line.starts_with(b"I") {
            stopped = !feed(0, &code.words);
            code.words.clear();
            if stopped {
                child.kill()?;
                break;
            }
        }
        take(&line, &mut code, &mut memory);
    }
    if !stopped {
        feed(0, &code.words);
    }
    let status = child.wait()?;
    drop(passed_on);
    let remarks = workspan_emulator::ring::Remarks { processors: 1, ..Default::default() };
    Ok(Ended { status, stopped, remarks, wall: began.elapsed(), lost: memory.lost })
}

/// A line: kind, address and size; all others are messages.
fn take(line: &[u8], code: &mut Code, memory: &mut Memory) {
    let (kind, rest) = match line {
        [b'I', b' ', b' ', rest @ ..] => (b'I', rest),
        [b' ', kind @ (b'L' | b'S' | b'M'), b' ', rest @ ..] => (*kind, rest),
        _ => return,
    };
    let Some((address, size)) = numbers(rest) else { return };
    match kind {
        b'I' => {
            if !code.knows(address) {
                memory.learn(address, size, code);
            }
            code.ran(address);
        }
        b'L' => code.access(address, size, false),
        b'S' => code.access(address, size, true),
        _ => {
            code.access(address, size, false);
            code.access(address, size, true);
        }
    }
}

fn numbers(text: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(text).ok()?.trim_end();
    let (address, size) = text.split_once(',')?;
    Some((u64::from_str_radix(address, 16).ok()?, size.parse().ok().filter(|size| *size <= 4096)?))
}

/// Code in the memory of a process, kept: its last instructions are read when it may be gone.
struct Memory {
    process: i32,
    program: PathBuf,
    parts: Vec<(Mapped, Vec<u8>)>,
    lost: u64,
}

impl Memory {
    fn learn(&mut self, address: u64, size: u64, code: &mut Code) {
        if self.find(address).is_none() {
            self.read();
        }
        if self.parts.is_empty() {
            self.read_file();
        }
        let len = size.min(15) as usize;
        match self.find(address) {
            Some((file, bytes)) => {
                let from = usize::try_from(address - file.from).unwrap_or(usize::MAX);
                code.learn(address, bytes.get(from..from.saturating_add(len)).unwrap_or_default(), Some(file));
            }
            None => {
                self.lost += 1;
                code.learn(address, &[], None);
            }
        }
    }

    fn find(&self, address: u64) -> Option<&(Mapped, Vec<u8>)> {
        self.parts.iter().find(|(file, _)| (file.from..file.to).contains(&address))
    }

    /// Everything that may run, the tool itself excluded by its size.
    fn read(&mut self) {
        const MOST: u64 = 256 << 20;
        let Ok(memory) = File::open(format!("/proc/{}/mem", self.process)) else { return };
        for file in mapped(self.process).into_iter().filter(|file| file.runs && file.to - file.from <= MOST) {
            if self.parts.iter().any(|(known, _)| known.from == file.from && known.to == file.to) {
                continue;
            }
            let mut bytes = vec![0; usize::try_from(file.to - file.from).unwrap_or(0)];
            if memory.read_exact_at(&mut bytes, file.from).is_ok() {
                self.parts.push((file, bytes));
            }
        }
    }

    /// The same from the program's file, which is loaded where it says.
    fn read_file(&mut self) {
        let data = std::fs::read(&self.program).unwrap_or_default();
        let Ok(object) = object::File::parse(&*data) else { return };
        if object.kind() != ObjectKind::Executable {
            return;
        }
        let runs = |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.0 & object::elf::PF_X.0 != 0);
        for segment in object.segments().filter(|segment| runs(segment.flags())) {
            let (from, Ok(bytes)) = (segment.address(), segment.data()) else { continue };
            let to = from.saturating_add(bytes.len() as u64);
            let path = self.program.to_string_lossy().into_owned();
            let file = Mapped { from, to, offset: segment.file_range().0, path, runs: true };
            self.parts.push((file, bytes.to_vec()));
        }
    }
}
