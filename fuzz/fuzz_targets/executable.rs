//! Executables whose debug information is anything but what a compiler writes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use workspan_model::{Site, SiteKind};
use workspan_symbols::{symbolise, Module};

fuzz_target!(|bytes: &[u8]| {
    let site = Site {
        kind: SiteKind::Join,
        file: "src/main.rs".to_owned(),
        line: 3,
        column: 5,
        function: None,
        type_name: String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned(),
        module: String::new(),
        addresses: vec![0x1_1000, 0x20],
        via: None,
    };
    let by_address = Site { kind: SiteKind::Task, file: String::new(), line: 0, column: 0, ..site.clone() };
    symbolise(&[Module::executable(bytes)], "/", &mut [site, by_address]);
});
