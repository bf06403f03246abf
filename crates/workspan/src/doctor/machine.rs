//! What the machine allows.

use std::process::{Command, Stdio};
use std::{env, fs, thread};

use nix::sys::resource::{getrlimit, Resource, RLIM_INFINITY};
use workspan_collect::platform;
use workspan_model::{Machine, Nanos};
use workspan_read::Request;
use workspan_wire::shm;

use super::check::Check;
use crate::machine;
use crate::record::memory::SharedMemory;
use crate::record::samples;

const GROUP: &str = "machine";
/// Millionths of the time in pauses from which on measurements suffer.
const MANY_PAUSES: u32 = 50_000;

/// All of them.
pub(super) fn checks() -> Vec<Check> {
    let (machine, pauses) = machine::measure();
    let mut checks = vec![
        system(&machine),
        cycle_counter(&machine),
        switch_witness(),
        interrupt_witness(),
        interrupts(&machine),
        pauses_met(pauses),
        run_delay(),
        samples(),
    ];
    checks.extend(shared_memory());
    checks.push(address_space());
    checks.push(load());
    checks
}

fn system(machine: &Machine) -> Check {
    let libc = if cfg!(target_env = "gnu") {
        "glibc"
    } else if cfg!(target_env = "musl") {
        "musl"
    } else {
        "another C library"
    };
    let found = format!("{}, {}, {libc}; {}", machine.system, env::consts::ARCH, machine.processor);
    let tested = cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"));
    if tested {
        return Check::ok(GROUP, "system", found);
    }
    if cfg!(target_os = "linux") {
        return Check::warn(GROUP, "system", found)
            .means("Workspan is tested on x86-64 Linux with glibc only; here, numbers may be less exact.")
            .fix("compare a program whose parallelism you know");
    }
    Check::missing(GROUP, "system", found).means("Workspan profiles programs on Linux only.").fix("use a Linux machine")
}

fn cycle_counter(machine: &Machine) -> Check {
    #[expect(clippy::cast_precision_loss, reason = "four digits are shown")]
    let rate = machine.ticks_per_second as f64 / 1e9;
    if platform::steady_counter() {
        Check::ok(GROUP, "cycle-counter", format!("{rate:.3} GHz, of constant rate"))
    } else {
        Check::warn(GROUP, "cycle-counter", format!("{rate:.3} GHz, its rate may change"))
            .means("Times are approximate; ratios such as parallelism suffer less.")
            .fix("fix the frequency (`cpupower frequency-set -g performance`), or use a newer processor")
    }
}

fn switch_witness() -> Check {
    if platform::switch_witness::word() != 0 {
        return Check::ok(
            GROUP,
            "switch-witness",
            "works: shows when a thread was switched out (restartable sequences)",
        );
    }
    let tuned_away = env::var("GLIBC_TUNABLES").is_ok_and(|tunables| tunables.contains("glibc.pthread.rseq=0"));
    let fix = if tuned_away {
        "unset GLIBC_TUNABLES, or leave glibc.pthread.rseq out of it"
    } else {
        "use a system with Linux 4.18 and glibc 2.35 or newer (Debian 12, Ubuntu 22.04)"
    };
    Check::warn(GROUP, "switch-witness", "missing: would show when a thread was switched out (restartable sequences)")
        .means("Workspan recognises only in long strands that a thread was switched out: use an idle machine.")
        .fix(fix)
}

fn interrupt_witness() -> Check {
    if machine::interrupts_show() {
        return Check::ok(GROUP, "interrupt-witness", "works: shows when an interrupt hit a strand");
    }
    Check::warn(GROUP, "interrupt-witness", "missing: would show when an interrupt hit a strand")
        .means("Strands include the interrupts that hit them: the span of very many short tasks is too long.")
        .fix("repeat (`--repeat 5`): the median suffers less")
}

fn pauses_met(pauses: machine::Pauses) -> Check {
    if pauses.ppm == 0 {
        return Check::ok(GROUP, "pauses", "none in 50 ms: neither hypervisor nor firmware stops this CPU");
    }
    let longest = Nanos(i64::try_from(pauses.longest_ns).unwrap_or(i64::MAX));
    let share = f64::from(pauses.ppm) / 10_000.0;
    let found =
        format!("a hypervisor or the firmware stops this CPU for {share:.2} % of the time, up to {longest} each");
    if pauses.ppm < MANY_PAUSES {
        return Check::ok(GROUP, "pauses", found);
    }
    Check::warn(GROUP, "pauses", found)
        .means("Times of equal strands vary by that much, and spans are too long.")
        .fix("repeat (`--repeat 5`), or record when the host is less busy")
}

fn interrupts(machine: &Machine) -> Check {
    let nanos = |n: u64| Nanos(i64::try_from(n).unwrap_or(i64::MAX));
    let [_, median, long] = machine.interrupt_ns;
    let Some(per_microsecond) = machine.interrupt_period_ns.checked_div(1_000).filter(|n| *n > 0) else {
        return Check::ok(GROUP, "interrupts", "none in 50 ms");
    };
    let found = format!(
        "one every {}, {} long (one in ten {} or more); of tasks of 10 µs, one in {} meets one",
        nanos(machine.interrupt_period_ns),
        nanos(median),
        nanos(long),
        (per_microsecond / 10).max(1),
    );
    // A hundredth of the time would show in work.
    if machine.interrupt_ns[1] > machine.interrupt_period_ns / 100 {
        return Check::warn(GROUP, "interrupts", found)
            .means("They take more than 1 % of the time; among tasks below 100 µs, the longest is often one that an interrupt hit.")
            .fix("repeat (`--repeat 5`), and make tasks longer where the report says they are short");
    }
    Check::ok(GROUP, "interrupts", found)
}

fn run_delay() -> Check {
    if platform::run_delay_nanos().is_some() {
        return Check::ok(GROUP, "run-delay", "the kernel counts how long threads wait for a CPU");
    }
    Check::warn(GROUP, "run-delay", "/proc/thread-self/schedstat is not readable")
        .means(
            "Workspan cannot distinguish waiting for a CPU from waiting for a lock or a file: both count as blocked.",
        )
        .fix("mount /proc, and use a kernel with CONFIG_SCHED_INFO")
}

fn samples() -> Check {
    match samples::permitted() {
        Ok(()) => Check::ok(GROUP, "samples", "the kernel samples programs: serial code is named by its function"),
        Err(refused) => Check::warn(GROUP, "samples", format!("the kernel does not sample programs: {refused}"))
            .means("Serial code is named by the constructs around it, not by the function that ran it.")
            .fix("sysctl kernel.perf_event_paranoid=2; in a container, permit the system call perf_event_open"),
    }
}

/// The memory that hooks write to, and whether a program can open it.
fn shared_memory() -> Vec<Check> {
    let request = Request {
        clock: shm::Clock::Virtual,
        logical_cores: None,
        answered_threads: None,
        ticks_per_second: 1,
        virtual_task_cost: 0,
        steal_ticks: 0,
        segments: false,
        interrupt_ticks: [0; 3],
        interrupt_period: 0,
        pause_ticks: 0,
        pause_ppm: 0,
        disabled: 0,
        log: false,
        idle_only: false,
        events: Vec::new(),
    };
    let mebibytes = shm::SIZE >> 20;
    let memory = match SharedMemory::new(&request) {
        Ok(memory) => memory,
        Err(error) => {
            let fix = match getrlimit(Resource::RLIMIT_FSIZE) {
                Ok((soft, _)) if soft != RLIM_INFINITY => "lift the limit on the size of files (`ulimit -f unlimited`)",
                _ => "allow memfd_create (a container's seccomp profile may forbid it)",
            };
            return vec![Check::missing(GROUP, "memfd", format!("cannot make {mebibytes} MiB: {error}"))
                .means("The instrumented program has nowhere to write.")
                .fix(fix)];
        }
    };
    let found = format!("{mebibytes} MiB of address space for the measurements; uses only as much memory as they need");
    vec![Check::ok(GROUP, "memfd", found), shared_memory_opens(&memory)]
}

/// A child opens it as a program would: `/proc` may be hidden or missing.
fn shared_memory_opens(memory: &SharedMemory) -> Check {
    let path = memory.path();
    let child = Command::new("/bin/sh")
        .args(["-c", ": <>\"$0\""])
        .arg(&path)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map(|status| status.success())
        // Without a shell, the best guess is what we ourselves may do.
        .unwrap_or_else(|_| fs::OpenOptions::new().read(true).write(true).open(&path).is_ok());
    if child {
        return Check::ok(GROUP, "proc", "programs can open the memory for measurements through /proc");
    }
    Check::missing(GROUP, "proc", format!("a program cannot open {}", path.to_string_lossy()))
        .means("The instrumented program cannot find the memory to write to.")
        .fix("mount /proc, and let programs of the same user see each other's file descriptors there")
}

fn address_space() -> Check {
    let size = shm::SIZE as u64;
    match getrlimit(Resource::RLIMIT_AS) {
        Ok((soft, _)) if soft != RLIM_INFINITY && soft < 2 * size => {
            Check::missing(GROUP, "address-space", format!("limited to {} MiB", soft >> 20))
                .means(format!("A program must be able to map {} MiB more than it needs itself.", size >> 20))
                .fix("lift the limit (`ulimit -v unlimited`)")
        }
        Ok((soft, _)) if soft != RLIM_INFINITY => {
            Check::ok(GROUP, "address-space", format!("limited to {} MiB", soft >> 20))
        }
        _ => Check::ok(GROUP, "address-space", "not limited"),
    }
}

fn load() -> Check {
    let cpus = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let noun = if cpus == 1 { "CPU" } else { "CPUs" };
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let Some(load) = text.split(' ').next().and_then(|word| word.parse::<f64>().ok()) else {
        return Check::ok(GROUP, "load", format!("{cpus} {noun}; load unknown"));
    };
    let found = format!("{cpus} {noun}; load {load:.1} in the last minute");
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let busy = load > cpus as f64 / 2.0;
    if busy {
        return Check::warn(GROUP, "load", found)
            .means("Workspan excludes time without a CPU, but other programs also disturb the caches.")
            .fix("wait until the machine is idle, or repeat (`--repeat 5`)");
    }
    Check::ok(GROUP, "load", found)
}
