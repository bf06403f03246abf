//! Debug information in a file of its own, as distributions ship it.

use std::path::{Path, PathBuf};

use object::Object;

/// Where debuggers look for it.
const FOLDER: &str = "/usr/lib/debug";

/// Where the debug information of an executable or library could be, if it has none itself, best first: by its build id,
/// then by the name that it gives. Nothing is looked at but the bytes.
pub fn debug_file_candidates(path: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let Ok(file) = object::File::parse(bytes) else {
        return Vec::new();
    };
    let mut candidates = Vec::new();
    if [".debug_info", ".zdebug_info"].iter().any(|name| file.section_by_name(name).is_some()) {
        return candidates;
    }
    if let Ok(Some([first, rest @ ..])) = file.build_id() {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        candidates.push(Path::new(FOLDER).join(".build-id").join(hex(&[*first])).join(hex(rest) + ".debug"));
    }
    if let (Ok(Some((name, _))), Some(folder)) = (file.gnu_debuglink(), path.parent()) {
        let name = String::from_utf8_lossy(name).into_owned();
        // A name and nothing more: it must not lead elsewhere.
        if !name.is_empty() && !name.contains('/') {
            let below = Path::new(FOLDER).join(folder.strip_prefix("/").unwrap_or(folder));
            candidates.extend([folder.join(&name), folder.join(".debug").join(&name), below.join(&name)]);
        }
    }
    candidates.retain(|candidate| candidate != path);
    candidates
}

/// True if a candidate belongs to the file for which it was named: it has the same build id or, where there is none, the
/// expected check sum.
pub fn is_debug_file_of(candidate: &[u8], bytes: &[u8]) -> bool {
    let (Ok(debug), Ok(file)) = (object::File::parse(candidate), object::File::parse(bytes)) else {
        return false;
    };
    match (debug.build_id(), file.build_id()) {
        (Ok(Some(debug)), Ok(Some(file))) => debug == file,
        _ => file.gnu_debuglink().is_ok_and(|link| link.is_some_and(|(_, crc)| crc == crc32fast::hash(candidate))),
    }
}
