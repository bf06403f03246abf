//! How files are called.

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
