//! A tracer for tiny runs, on any processor and with all its instructions: one instruction at a time (`ptrace`).
//!
//! Only the first thread is traced; others run as they like. Where an instruction accesses memory follows from its operands.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Instant;

use anyhow::{bail, Context};
use nix::libc::user_regs_struct;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;
use workspan_emulator::ring::Remarks;
use workspan_limits::x86::{Decode, Registers};
use workspan_wire::trace;

use super::analysis::Feed;
use super::code::{mapped, Code, Mapped};
use super::run::Ended;
use crate::signals::Caught;

const CHUNK: usize = 1 << 12;

/// Feeds what `program` does.
pub fn run(program: &Path, command: &[OsString], feed: &mut Feed<'_>) -> anyhow::Result<Ended> {
    let caught = Caught::new()?;
    let began = Instant::now();
    // A shell that stops itself, is traced from there on, and becomes the program.
    let mut child = Command::new("/bin/sh");
    child.args(["-c", "kill -STOP $$; exec \"$0\" \"$@\""]).arg(program).args(&command[1..]);
    let child = child.spawn().context("cannot run /bin/sh")?;
    let passed_on = caught.pass_on_to(&child);
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    begin(pid).context("cannot trace the program (ptrace)")?;
    let mut steps =
        Steps { pid, code: Code::default(), decode: Decode::default(), files: Vec::new(), memory: None, lost: 0 };
    let mut remarks = Remarks { processors: 1, ..Remarks::default() };
    let mut stopped = false;
    let mut signal = None;
    let status = loop {
        if signal.is_none() {
            let call = steps.before()?;
            ptrace::step(pid, None)?;
            match next(pid)? {
                Stop::Step => steps.after(call)?,
                Stop::Became => {
                    remarks.replaced = true;
                    ptrace::kill(pid)?;
                }
                Stop::Signal(other) => signal = Some(other),
                Stop::Ended(status) => break status,
            }
        } else {
            ptrace::step(pid, signal.take())?;
            match next(pid)? {
                Stop::Step | Stop::Became => {}
                Stop::Signal(other) => signal = Some(other),
                Stop::Ended(status) => break status,
            }
        }
        if steps.code.words.len() >= CHUNK {
            stopped |= !feed(0, &steps.code.words);
            steps.code.words.clear();
            if stopped {
                ptrace::kill(pid)?;
                let Stop::Ended(status) = next(pid)? else { bail!("the program does not end") };
                break status;
            }
        }
    };
    if !stopped {
        feed(0, &steps.code.words);
    }
    drop(passed_on);
    Ok(Ended { status, stopped, remarks, wall: began.elapsed(), lost: steps.lost })
}

/// What a step led to.
enum Stop {
    Step,
    /// The program became another one.
    Became,
    Signal(Signal),
    Ended(ExitStatus),
}

fn next(pid: Pid) -> anyhow::Result<Stop> {
    Ok(match waitpid(pid, Some(WaitPidFlag::__WALL))? {
        WaitStatus::Exited(_, code) => Stop::Ended(ExitStatus::from_raw((code & 0xff) << 8)),
        WaitStatus::Signaled(_, signal, _) => Stop::Ended(ExitStatus::from_raw(signal as i32)),
        WaitStatus::Stopped(_, Signal::SIGTRAP) => Stop::Step,
        WaitStatus::Stopped(_, signal) => Stop::Signal(signal),
        WaitStatus::PtraceEvent(_, _, event) if event == ptrace::Event::PTRACE_EVENT_EXEC as i32 => Stop::Became,
        _ => Stop::Step,
    })
}

/// From the shell to the first instruction of the program.
fn begin(pid: Pid) -> anyhow::Result<()> {
    waitpid(pid, Some(WaitPidFlag::WUNTRACED))?;
    ptrace::attach(pid)?;
    waitpid(pid, Some(WaitPidFlag::__WALL))?;
    ptrace::setoptions(pid, Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_EXITKILL)?;
    nix::sys::signal::kill(pid, Signal::SIGCONT)?;
    loop {
        ptrace::cont(pid, None)?;
        match next(pid)? {
            Stop::Became => break,
            Stop::Ended(status) => bail!("the program did not start: {status}"),
            Stop::Step | Stop::Signal(_) => {}
        }
    }
    // This step only ends the system call by which the shell became the program.
    ptrace::step(pid, None)?;
    match next(pid)? {
        Stop::Ended(status) => bail!("the program did not start: {status}"),
        Stop::Step | Stop::Became | Stop::Signal(_) => Ok(()),
    }
}

/// The program between two instructions.
struct Steps {
    pid: Pid,
    code: Code,
    decode: Decode,
    files: Vec<Mapped>,
    memory: Option<File>,
    lost: u64,
}

impl Steps {
    /// The instruction that is about to run; its number if it calls the system.
    fn before(&mut self) -> anyhow::Result<Option<u64>> {
        let registers = ptrace::getregs(self.pid)?;
        let mut bytes = [0; 15];
        let len = self.bytes(registers.rip, &mut bytes)?;
        let bytes = &bytes[..len];
        let Some((len, calls)) = self.decode.length(registers.rip, bytes) else {
            self.lost += 1;
            return Ok(None);
        };
        if !self.code.knows(registers.rip) {
            if !self.files.iter().any(|file| (file.from..file.to).contains(&registers.rip)) {
                self.files = mapped(self.pid.as_raw());
            }
            let file = self.files.iter().find(|file| (file.from..file.to).contains(&registers.rip));
            self.code.learn(registers.rip, &bytes[..len], file);
        }
        self.code.ran(registers.rip);
        let accesses = self.decode.accesses(bytes, &values(&registers)).unwrap_or_default();
        for (address, size, store) in accesses {
            self.code.access(address, size, store);
        }
        if !calls {
            return Ok(None);
        }
        let user_regs_struct { rax, rdi, rsi, rdx, r10, r8, r9, .. } = registers;
        self.code.record(trace::CALL, &[rax, rdi, rsi, rdx, r10, r8, r9]);
        Ok(Some(rax))
    }

    fn after(&mut self, call: Option<u64>) -> anyhow::Result<()> {
        if let Some(number) = call {
            let result = ptrace::getregs(self.pid)?.rax;
            self.code.record(trace::RETURN, &[number, result]);
        }
        Ok(())
    }

    fn bytes(&mut self, address: u64, into: &mut [u8; 15]) -> anyhow::Result<usize> {
        if self.memory.is_none() {
            self.memory =
                Some(File::open(format!("/proc/{}/mem", self.pid)).context("cannot read the program's memory")?);
        }
        let memory = self.memory.as_ref().context("cannot read the program's memory")?;
        // The next page may not be there.
        Ok(memory.read_at(into, address).unwrap_or(0))
    }
}

fn values(registers: &user_regs_struct) -> Registers {
    let user_regs_struct {
        rip,
        rax,
        rcx,
        rdx,
        rbx,
        rsp,
        rbp,
        rsi,
        rdi,
        r8,
        r9,
        r10,
        r11,
        r12,
        r13,
        r14,
        r15,
        fs_base,
        gs_base,
        ..
    } = *registers;
    Registers {
        pc: rip,
        general: [rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15],
        segments: [fs_base, gs_base],
    }
}
