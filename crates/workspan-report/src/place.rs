//! How places are written.

use workspan_model::{Recording, Site, SiteId, SiteKind};

use crate::view::Place;

/// `file:line`, clickable in most terminals. Long folders of registries are cut to the package.
pub fn short(file: &str, line: u32) -> String {
    format!("{}:{line}", short_file(file))
}

/// The file without the folders of a package registry, a toolchain or a checkout.
pub fn short_file(file: &str) -> &str {
    if let Some(at) = file.find("/registry/src/") {
        let rest = &file[at + "/registry/src/".len()..];
        return rest.split_once('/').map_or(rest, |(_, package)| package);
    }
    if let Some(at) = file.find("/git/checkouts/") {
        let rest = &file[at + "/git/checkouts/".len()..];
        return rest.splitn(3, '/').nth(2).unwrap_or(rest);
    }
    if let Some(at) = file.find("/library/") {
        if file.starts_with("/rustc/") {
            return &file[at + 1..];
        }
    }
    file
}

/// The place of a site that has one.
pub fn of(site: &Site) -> Option<Place> {
    (!site.file.is_empty()).then(|| Place { file: site.file.clone(), line: site.line, column: site.column })
}

/// The place of a site by its id.
pub fn of_id(recording: &Recording, id: Option<SiteId>) -> Option<Place> {
    of(recording.sites.get(id?.0 as usize)?)
}

/// What serial code is called: where it lies between regions.
pub fn serial(from: Option<&Place>, to: Option<&Place>) -> String {
    let at = |place: &Place| short(&place.file, place.line);
    match (from, to) {
        (None, None) => "serial code".to_owned(),
        (None, Some(to)) => format!("serial code before {}", at(to)),
        (Some(from), None) => format!("serial code after {}", at(from)),
        (Some(from), Some(to)) if from == to => format!("serial code between runs of {}", at(from)),
        (Some(from), Some(to)) => format!("serial code from {} to {}", at(from), at(to)),
    }
}

/// The name of a site in a list: its place, or where serial code lies.
pub fn label(recording: &Recording, site: &Site) -> String {
    match site.kind {
        SiteKind::Serial { from, to } => {
            let (from, to) = (of_id(recording, from), of_id(recording, to));
            serial(from.as_ref(), to.as_ref())
        }
        _ => short(&site.file, site.line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, expected: &str) {
        assert_eq!(short(file, 7), expected);
    }

    #[test]
    fn folders_that_say_nothing_are_left_out() {
        check("src/main.rs", "src/main.rs:7");
        check("/home/u/.cargo/registry/src/index-0123/blake3-1.5.0/src/join.rs", "blake3-1.5.0/src/join.rs:7");
        check("/home/u/.cargo/git/checkouts/rayon-0123/abcd/src/lib.rs", "src/lib.rs:7");
        check("/rustc/0123/library/core/src/ops.rs", "library/core/src/ops.rs:7");
    }
}
