//! Names of events.
//!
//! Those of the kernel's generic list; `rNNN`, raw as the processor's manual has them; and `device/term=value,…/`, whose terms the
//! kernel describes under `/sys/bus/event_source/devices`, each as the bits of a word that it fills.

use std::fmt;

/// What the kernel is asked to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Which counters: the kernel's number of a device.
    pub device: u32,
    /// Which event of it, in the device's words.
    pub config: [u64; 3],
    /// Only what happens outside of the kernel.
    pub user: bool,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// As it was given.
    pub name: String,
    /// What it is.
    pub attributes: Attributes,
}

/// What a machine says of its counters.
pub trait Devices {
    /// The number of a device such as `cpu`.
    fn number(&self, device: &str) -> Option<u32>;
    /// The bits that a term fills, such as `config:0-7,32`; or, of an event that has a name, `event=0xd2,umask=0x4`.
    fn describe(&self, device: &str, folder: Folder, name: &str) -> Option<String>;
}

/// What is described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// A term.
    Format,
    /// An event that has a name.
    Events,
}

/// Why a name means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameError {
    /// Nobody knows it.
    Unknown(String),
    /// A device that the machine does not have.
    NoDevice(String),
    /// A term that the device does not have.
    NoTerm(String, String),
    /// A value that does not fit into its term, or is no number.
    BadValue(String),
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::Unknown(name) => write!(
                f,
                "`{name}` is no event: name one of {}; or rNNN, or device/term=value,…/",
                GENERIC.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ")
            ),
            NameError::NoDevice(device) => write!(f, "this machine has no counters `{device}`"),
            NameError::NoTerm(device, term) => write!(f, "`{device}` knows no `{term}`"),
            NameError::BadValue(text) => write!(f, "`{text}` is no value for this term"),
        }
    }
}

impl std::error::Error for NameError {}

const HARDWARE: u32 = 0;
/// The kernel's own events.
pub const SOFTWARE: u32 = 1;
const CACHE: u32 = 3;
const RAW: u32 = 4;

/// The number of an event of a cache: the cache, what is done, whether it misses.
const fn cache(which: u64, write: bool, miss: bool) -> u64 {
    which | (write as u64) << 8 | (miss as u64) << 16
}

const LAST_LEVEL: u64 = 2;
const NODE: u64 = 6;

/// Name, device, number.
const GENERIC: &[(&str, u32, u64)] = &[
    ("cycles", HARDWARE, 0),
    ("instructions", HARDWARE, 1),
    ("cache-references", HARDWARE, 2),
    ("cache-misses", HARDWARE, 3),
    ("branches", HARDWARE, 4),
    ("branch-misses", HARDWARE, 5),
    ("ref-cycles", HARDWARE, 9),
    ("L1-dcache-loads", CACHE, cache(0, false, false)),
    ("L1-dcache-load-misses", CACHE, cache(0, false, true)),
    ("LLC-loads", CACHE, cache(LAST_LEVEL, false, false)),
    ("LLC-load-misses", CACHE, cache(LAST_LEVEL, false, true)),
    ("LLC-store-misses", CACHE, cache(LAST_LEVEL, true, true)),
    ("dTLB-load-misses", CACHE, cache(3, false, true)),
    // Memory of the own node, and of others.
    ("local-dram", CACHE, cache(NODE, false, false)),
    ("remote-dram", CACHE, cache(NODE, false, true)),
    ("page-faults", SOFTWARE, 2),
    ("context-switches", SOFTWARE, 3),
    ("migrations", SOFTWARE, 4),
    ("minor-faults", SOFTWARE, 5),
    ("major-faults", SOFTWARE, 6),
];

/// Names that others use for the same.
const ALIASES: &[(&str, &str)] = &[
    ("LLC-misses", "LLC-load-misses"),
    ("cpu-migrations", "migrations"),
    ("node-loads", "local-dram"),
    ("node-load-misses", "remote-dram"),
    ("branch-instructions", "branches"),
];

/// Loads that hit a line which another core has modified: Intel's since Skylake, which has no generic name.
const HITM: &str = "cpu/event=0xd2,umask=0x4/";

/// The events of a list with commas between; commas within slashes belong to an event.
pub fn parse(list: &str, devices: &dyn Devices) -> Result<Vec<Event>, NameError> {
    let mut inside = false;
    let names = list.split(|letter| {
        inside ^= letter == '/';
        letter == ',' && !inside
    });
    names.map(str::trim).filter(|name| !name.is_empty()).map(|name| event(name, devices)).collect()
}

fn event(name: &str, devices: &dyn Devices) -> Result<Event, NameError> {
    let (bare, user) = match name.strip_suffix(":u") {
        Some(bare) => (bare, true),
        None => (name.strip_suffix("/u").map_or(name, |_| &name[..name.len() - 1]), name.ends_with("/u")),
    };
    let known = if bare.eq_ignore_ascii_case("hitm") { HITM } else { bare };
    let attributes = if let Some((device, terms)) = known.strip_suffix('/').and_then(|known| known.split_once('/')) {
        described(device, terms, devices)?
    } else {
        generic(known).or_else(|| raw(known)).ok_or_else(|| NameError::Unknown(name.to_owned()))?
    };
    Ok(Event { name: name.to_owned(), attributes: Attributes { user, ..attributes } })
}

fn generic(name: &str) -> Option<Attributes> {
    let name = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name)).map_or(name, |(_, name)| name);
    let (_, device, config) = GENERIC.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))?;
    Some(Attributes { device: *device, config: [*config, 0, 0], user: false })
}

/// `rNNN`.
fn raw(name: &str) -> Option<Attributes> {
    let digits = name.strip_prefix('r').filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let config = u64::from_str_radix(digits, 16).ok()?;
    Some(Attributes { device: RAW, config: [config, 0, 0], user: false })
}

/// `device/term=value,…/`, or `device/event/`.
fn described(device: &str, terms: &str, devices: &dyn Devices) -> Result<Attributes, NameError> {
    let number = devices.number(device).ok_or_else(|| NameError::NoDevice(device.to_owned()))?;
    let mut attributes = Attributes { device: number, ..Attributes::default() };
    let mut left: Vec<String> = terms.split(',').map(|term| term.trim().to_owned()).collect();
    let mut named = 0;
    while let Some(text) = left.pop() {
        if let Some(same) = devices.describe(device, Folder::Events, &text).filter(|_| named < 8) {
            // A name stands for terms.
            named += 1;
            left.extend(same.trim().split(',').map(str::to_owned));
            continue;
        }
        let (term, value) = text.split_once('=').unwrap_or((&text, "1"));
        let value = number_of(value).ok_or_else(|| NameError::BadValue(text.clone()))?;
        if let Some(word) = ["config", "config1", "config2"].iter().position(|name| *name == term) {
            attributes.config[word] |= value;
            continue;
        }
        let bits = devices.describe(device, Folder::Format, term);
        let bits = bits.ok_or_else(|| NameError::NoTerm(device.to_owned(), term.to_owned()))?;
        fill(&mut attributes.config, bits.trim(), value).ok_or_else(|| NameError::BadValue(text.clone()))?;
    }
    Ok(attributes)
}

fn number_of(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Puts `value` into bits such as `config1:0-7,21`, its lowest bits first.
fn fill(config: &mut [u64; 3], bits: &str, value: u64) -> Option<()> {
    let (word, ranges) = bits.split_once(':')?;
    let word = config.get_mut(["config", "config1", "config2"].iter().position(|name| *name == word)?)?;
    let mut left = value;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        let width = last.checked_sub(first)?.checked_add(1).filter(|width| first + width <= 64)?;
        let mask = u64::MAX >> (64 - width);
        *word |= (left & mask) << first;
        left = left.checked_shr(width).unwrap_or(0);
    }
    (left == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Made;

    impl Devices for Made {
        fn number(&self, device: &str) -> Option<u32> {
            (device == "cpu").then_some(4)
        }

        fn describe(&self, _: &str, folder: Folder, name: &str) -> Option<String> {
            let text = match (folder, name) {
                (Folder::Format, "event") => "config:0-7,32-35\n",
                (Folder::Format, "umask") => "config:8-15",
                (Folder::Format, "edge") => "config:18",
                (Folder::Format, "offcore_rsp") => "config1:0-63",
                (Folder::Events, "mem-loads") => "event=0xcd,umask=0x1,offcore_rsp=3\n",
                _ => return None,
            };
            Some(text.to_owned())
        }
    }

    #[track_caller]
    fn check(name: &str, device: u32, config: [u64; 3]) {
        let expected = Attributes { device, config, user: false };
        assert_eq!(parse(name, &Made).map(|events| events[0].attributes), Ok(expected));
    }

    #[test]
    fn names_are_read() {
        check("cycles", 0, [0, 0, 0]);
        check("INSTRUCTIONS", 0, [1, 0, 0]);
        check("LLC-misses", 3, [0x1_0002, 0, 0]);
        check("remote-dram", 3, [0x1_0006, 0, 0]);
        check("migrations", 1, [4, 0, 0]);
        check("r01c2", 4, [0x1c2, 0, 0]);
        check("cpu/event=0xd2,umask=4/", 4, [0x4d2, 0, 0]);
        check("HITM", 4, [0x4d2, 0, 0]);
        check("cpu/event=0x1d2,edge/", 4, [0x1_0004_00d2, 0, 0]);
        check("cpu/mem-loads/", 4, [0x1cd, 3, 0]);
        check("cpu/config=5,config2=0x7/", 4, [5, 0, 7]);
    }

    #[test]
    fn lists_are_split_between_events() {
        let events = parse("cycles:u, cpu/event=1,umask=2/u,,r1", &Made).unwrap();
        let names: Vec<_> = events.iter().map(|event| (event.name.as_str(), event.attributes.user)).collect();
        assert_eq!(names, [("cycles:u", true), ("cpu/event=1,umask=2/u", true), ("r1", false)]);
        assert_eq!(parse("", &Made), Ok(Vec::new()));
    }

    #[test]
    fn what_is_no_name_is_said() {
        for (name, words) in [
            ("cycels", "is no event"),
            ("rxyz", "is no event"),
            ("gpu/event=1/", "no counters `gpu`"),
            ("cpu/colour=1/", "knows no `colour`"),
            ("cpu/event=x/", "no value"),
            ("cpu/umask=0x100/", "no value"),
            ("cpu/event=0x10000/", "no value"),
        ] {
            let error = parse(name, &Made).expect_err(name).to_string();
            assert!(error.contains(words), "{name}: {error}");
        }
    }
}
