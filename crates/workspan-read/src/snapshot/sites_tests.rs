//! Sites and modules as a collector leaves them, or half of them.

use workspan_wire::site;

use super::*;

/// The beginning of the shared memory.
struct Memory(Vec<u8>);

impl Memory {
    fn new(load_base: u64, sites: u32, modules: u32) -> Memory {
        let mut memory = Memory(vec![0; shm::THREADS]);
        memory.put(offset_of!(Header, load_base), &load_base.to_ne_bytes());
        memory.put(offset_of!(Header, sites), &sites.to_ne_bytes());
        memory.put(offset_of!(Header, modules), &modules.to_ne_bytes());
        memory
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn site(&mut self, index: usize, kind: site::SiteKind, module: u32, address: u64) {
        let at = shm::SITES + index * size_of::<SiteRecord>();
        self.put(at + offset_of!(SiteRecord, ready), &1u32.to_ne_bytes());
        self.put(at + offset_of!(SiteRecord, kind), &(kind as u32).to_ne_bytes());
        self.put(at + offset_of!(SiteRecord, module), &module.to_ne_bytes());
        self.put(at + offset_of!(SiteRecord, address), &address.to_ne_bytes());
    }

    fn module(&mut self, index: usize, path: &str, base: u64) {
        let at = shm::MODULES + index * size_of::<ModuleRecord>();
        self.put(at + offset_of!(ModuleRecord, ready), &1u32.to_ne_bytes());
        let length = u32::try_from(path.len()).expect("short");
        self.put(at + offset_of!(ModuleRecord, path_len), &length.to_ne_bytes());
        self.put(at + offset_of!(ModuleRecord, base), &base.to_ne_bytes());
        self.put(at + offset_of!(ModuleRecord, path), path.as_bytes());
    }

    fn sites(&self, recording: &mut Recording) -> Vec<Option<SiteId>> {
        let header = Record(self.0[..size_of::<Header>()].to_vec());
        read(&self.0[..], &header, recording).expect("it is in memory")
    }
}

/// Modules and addresses of what a collector has left.
fn check(memory: &Memory, expected: &[(&str, u64)]) {
    let mut recording = Recording::default();
    memory.sites(&mut recording);
    let found: Vec<_> = recording.sites.iter().map(|site| (site.module.as_str(), site.addresses[0])).collect();
    assert_eq!(found, expected);
}

#[test]
fn addresses_are_those_of_their_module() {
    let mut memory = Memory::new(0x5000, 6, 3);
    memory.module(0, "", 0x5000);
    memory.module(1, "/lib/libx.so", 0x7000);
    memory.site(0, site::SiteKind::Task, 1, 0x5010);
    memory.site(1, site::SiteKind::Task, 2, 0x7010);
    memory.site(2, site::SiteKind::Parallel, 2, 0x7010);
    // A module whose record is not complete, one that is not there, and none.
    memory.site(3, site::SiteKind::Task, 3, 0x9010);
    memory.site(4, site::SiteKind::Task, 4, 0x9020);
    memory.site(5, site::SiteKind::Task, 0, 0x9030);
    let unknown = Site::UNKNOWN_MODULE;
    check(
        &memory,
        &[
            ("", 0x10),
            ("/lib/libx.so", 0x10),
            ("/lib/libx.so", 0x10),
            (unknown, 0x9010),
            (unknown, 0x9020),
            (unknown, 0x9030),
        ],
    );
}

#[test]
fn without_an_address_there_is_no_module() {
    let mut memory = Memory::new(0x5000, 1, 0);
    memory.site(0, site::SiteKind::Task, 0, 0);
    let mut recording = Recording::default();
    memory.sites(&mut recording);
    assert_eq!((recording.sites[0].module.as_str(), recording.sites[0].addresses.len()), ("", 0));
}

#[test]
fn hooks_within_an_executable_name_no_module() {
    let mut memory = Memory::new(0x5000, 1, u32::MAX);
    memory.site(0, site::SiteKind::Join, 0, 0x5010);
    check(&memory, &[("", 0x10)]);
}

/// The same code, loaded elsewhere.
#[test]
fn runs_of_one_program_share_their_sites() {
    let mut recording = Recording::default();
    for base in [0x5000, 0x8000] {
        let mut memory = Memory::new(base, 2, 1);
        memory.module(0, "", base);
        memory.site(0, site::SiteKind::Task, 1, base + 0x10);
        memory.site(1, site::SiteKind::Task, 1, base + 0x20);
        assert_eq!(memory.sites(&mut recording), [Some(SiteId(0)), Some(SiteId(1))]);
    }
    assert_eq!(recording.sites.len(), 2);
}

#[test]
fn collectors_number_kinds_as_the_model_does() {
    assert_eq!(site::SiteKind::ALL.len(), SiteKind::ALL.len());
    for kind in site::SiteKind::ALL {
        let known = SiteKind::numbered(*kind as u32, None, None).expect("it has a row");
        // Serial code has its ends besides.
        assert_eq!(format!("{known:?}").split(' ').next(), Some(format!("{kind:?}").as_str()));
    }
}
