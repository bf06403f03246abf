//! Blocks as they are translated: their bytes go into the trace, and callbacks into the block.
//!
//! Code has chunks of its own, published before any that a processor has filled: no block runs before it is known.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use workspan_wire::trace;

use super::sent::SENT;
use super::state::asleep;
use super::{api, processor};

/// Version of the emulator's interface.
pub(super) static INTERFACE: AtomicU32 = AtomicU32::new(0);

/// Instructions that a record can distinguish.
const MOST: usize = 512;

/// The emulator has translated a block, and will run it.
pub(super) extern "C" fn on_translation(_id: u64, block: api::Handle) {
    let count = api::instructions(block).min(MOST);
    if count == 0 || asleep() {
        return;
    }
    let first = api::instruction(block, 0);
    let address = api::insn_address(first);
    let base = match api::insn_host_address(first) {
        0 => 0,
        host => host.wrapping_sub(address),
    };
    let version = INTERFACE.load(Ordering::Relaxed);
    let (mut lengths, mut bytes) = (Vec::with_capacity(16 * count), Vec::with_capacity(8 * count));
    for place in 0..count {
        let insn = api::instruction(block, place);
        let mut buffer = [0; 16];
        let len = api::insn_len(insn).min(16);
        api::insn_data(insn, version, &mut buffer[..len]);
        lengths.push(u8::try_from(len).unwrap_or(0));
        bytes.extend_from_slice(&buffer[..len]);
        api::on_every_access(insn, processor::on_access, place);
    }
    lengths.extend_from_slice(&bytes);
    let Ok(mut sent) = SENT.lock() else { return };
    let id = sent.blocks;
    sent.blocks += 1;
    api::on_every_run(block, processor::on_block, id);
    let file = (!known(&sent.files, address)).then(|| file_at(address.wrapping_add(base))).flatten();
    if let Some(file) = file {
        let (from, to) = (file.from.wrapping_sub(base), file.to.wrapping_sub(base));
        if sent.files.insert((from, to)) {
            let path = file.path.as_os_str().as_bytes();
            let mut words = vec![from, to, file.offset, path.len() as u64];
            pack(path, &mut words);
            sent.write(trace::FILE, &words);
        }
    }
    let mut words = vec![id, address, count as u64];
    pack(&lengths, &mut words);
    sent.write(trace::CODE, &words);
}

fn known(files: &BTreeSet<(u64, u64)>, address: u64) -> bool {
    files.range(..=(address, u64::MAX)).next_back().is_some_and(|(from, to)| (*from..*to).contains(&address))
}

fn pack(bytes: &[u8], into: &mut Vec<u64>) {
    for part in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        into.push(u64::from_le_bytes(word));
    }
}

/// A file in memory.
struct Mapped {
    from: u64,
    to: u64,
    offset: u64,
    path: Box<Path>,
}

/// The file that is mapped at an address of this process.
fn file_at(address: u64) -> Option<Mapped> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    for line in maps.lines() {
        let mut parts = line.splitn(6, ' ');
        let (from, to) = parts.next()?.split_once('-')?;
        let (from, to) = (u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?);
        if !(from..to).contains(&address) {
            continue;
        }
        let offset = u64::from_str_radix(parts.nth(1)?, 16).ok()?;
        let path = parts.nth(2)?.trim_start();
        return path.starts_with('/').then(|| Mapped { from, to, offset, path: Path::new(path).into() });
    }
    None
}
