//! What happens before `main` and at exit, and the mark by which an executable is known to carry hooks.

use workspan_collect::process;
use workspan_wire::shm::{NOTE_IDLE_ONLY, NOTE_MAGIC, WIRE_VERSION};

/// True if the hooks are in that account for idle time, and no others; changed where the text is copied so.
const IDLE_ONLY: bool = false;

extern "C" fn before_main() {
    if IDLE_ONLY {
        process::start_if_idle_only();
    } else {
        process::start();
    }
}

extern "C" fn at_exit() {
    process::finish();
}

#[used]
#[cfg_attr(target_os = "linux", link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

#[used]
#[cfg_attr(target_os = "linux", link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// Refers to what only the linker and other programs use, so that it is linked.
pub fn keep() {
    super::threads::keep();
    super::probe::keep();
    core::hint::black_box((&BEFORE_MAIN, &AT_EXIT, &NOTE));
}

/// An ELF note: name "workspan", description [`NOTE_MAGIC`], wire version, version of rayon-core.
#[repr(C, align(4))]
#[derive(Debug)]
struct Note {
    name_size: u32,
    description_size: u32,
    kind: u32,
    name: [u8; 12],
    magic: [u8; 8],
    wire_version: u32,
    runtime: [u8; 32],
}

#[used]
#[cfg_attr(target_os = "linux", link_section = ".note.workspan")]
static NOTE: Note = Note {
    name_size: 9,
    description_size: 44,
    kind: 1,
    name: *b"workspan\0\0\0\0",
    magic: NOTE_MAGIC,
    wire_version: WIRE_VERSION,
    runtime: runtime(),
};

const fn runtime() -> [u8; 32] {
    let mut text = [0; 32];
    let hooks = if IDLE_ONLY { NOTE_IDLE_ONLY } else { "" };
    let name = env!("CARGO_PKG_NAME").as_bytes();
    let parts: [&[u8]; 4] = [name, b" ", env!("CARGO_PKG_VERSION").as_bytes(), hooks.as_bytes()];
    let (mut at, mut part) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() && at < text.len() {
            text[at] = parts[part][i];
            at += 1;
            i += 1;
        }
        part += 1;
    }
    text
}
