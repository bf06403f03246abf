//! What was measured of the machine, kept until it starts again: a line for each value in the user's cache folder.
//!
//! A measurement takes a twentieth of a second, and what a steal costs comes out differently on a busy machine: verdicts must
//! depend on neither. Another machine, kernel, or version of this command has another file, and so has the time after the next
//! start. A file that makes no sense is as good as none.

use std::fs;
use std::path::PathBuf;

use workspan_model::Machine;

use crate::cache;

/// Pauses that show by nothing but the counter: a host's, of a virtual machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pauses {
    /// Length that few of them exceed, in nanoseconds; 0 if none was met.
    pub longest_ns: u64,
    /// Share of time that they take, in millionths.
    pub ppm: u32,
}

/// The values, in this order.
const VALUES: [&str; 8] = [
    "ticks_per_second",
    "steal_ns",
    "interrupt_p10_ns",
    "interrupt_p50_ns",
    "interrupt_p90_ns",
    "interrupt_period_ns",
    "pause_longest_ns",
    "pause_ppm",
];

/// What is known of the machine of this name.
pub(super) fn read(name: &Machine) -> Option<(Machine, Pauses)> {
    let path = file(name)?;
    if !cache::is_ours(&path) {
        return None;
    }
    parse(&fs::read_to_string(path).ok()?, name)
}

/// Keeps what was measured. Where it cannot be kept, it will be measured again.
pub(super) fn write(machine: &Machine, pauses: Pauses) {
    if let Some(path) = file(machine) {
        let _ = cache::write(&path, text(machine, pauses).as_bytes());
    }
}

fn file(name: &Machine) -> Option<PathBuf> {
    Some(cache::folder()?.join(format!("machine-{:016x}.txt", cache::hash(key(name)?.as_bytes()))))
}

/// What a measurement is of: this version of the command, on this machine, since it has started.
pub(super) fn key(name: &Machine) -> Option<String> {
    let start = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(format!("{} {} {} {} {start}", env!("CARGO_PKG_VERSION"), name.processor, name.cpus, name.system))
}

fn text(machine: &Machine, pauses: Pauses) -> String {
    let [p10, p50, p90] = machine.interrupt_ns;
    let values = [
        machine.ticks_per_second,
        machine.steal_ns,
        p10,
        p50,
        p90,
        machine.interrupt_period_ns,
        pauses.longest_ns,
        u64::from(pauses.ppm),
    ];
    VALUES.iter().zip(values).map(|(name, value)| format!("{name} {value}\n")).collect()
}

fn parse(text: &str, name: &Machine) -> Option<(Machine, Pauses)> {
    let mut lines = text.lines();
    let mut values = [0u64; VALUES.len()];
    for (name, value) in VALUES.iter().zip(&mut values) {
        *value = lines.next()?.strip_prefix(name)?.strip_prefix(' ')?.parse().ok()?;
    }
    let [ticks_per_second, steal_ns, p10, p50, p90, interrupt_period_ns, longest_ns, ppm] = values;
    let makes_sense = ticks_per_second > 0 && lines.next().is_none();
    let machine =
        Machine { ticks_per_second, steal_ns, interrupt_ns: [p10, p50, p90], interrupt_period_ns, ..name.clone() };
    makes_sense.then_some((machine, Pauses { longest_ns, ppm: u32::try_from(ppm).ok()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let name = Machine { processor: "a processor".to_owned(), cpus: 2, ..Machine::default() };
        let machine = Machine {
            ticks_per_second: 2_600_000_000,
            steal_ns: 85,
            interrupt_ns: [1, 2, 3],
            interrupt_period_ns: 4_000_000,
            ..name.clone()
        };
        let pauses = Pauses { longest_ns: 50_000, ppm: 17 };
        let written = text(&machine, pauses);
        let (found, found_pauses) = parse(&written, &name).expect("it makes sense");
        assert_eq!((found, found_pauses.longest_ns, found_pauses.ppm), (machine, 50_000, 17));
        for broken in [
            String::new(),
            written.replace("85", "many"),
            written.replace("2600000000", "0"),
            format!("{written}more"),
            written.replace("steal", "stolen"),
        ] {
            assert!(parse(&broken, &name).is_none(), "{broken}");
        }
    }
}
