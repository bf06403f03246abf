//! The source of a published package, by nothing but cargo's documented interfaces.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

use crate::shell;

/// Puts a package's source into `folder`, unless it is there, and downloads what it depends on.
pub(super) fn fetch(name: &str, version: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    let place = folder.join(format!("{name}-{version}"));
    if !place.join("Cargo.toml").is_file() {
        let from = downloaded(name, version, &folder.join("fetch"))?;
        // Under another name first, so that what was interrupted is not taken for whole.
        let part = folder.join(format!("{name}-{version}.part"));
        if part.exists() {
            fs::remove_dir_all(&part)?;
        }
        copy(&from, &part).with_context(|| format!("cannot copy {}", from.display()))?;
        fs::rename(&part, &place)?;
    }
    let mut fetch = shell::cargo();
    fetch.args(["fetch", "--quiet", "--locked", "--manifest-path"]).arg(place.join("Cargo.toml"));
    shell::run(&mut fetch)?;
    Ok(place)
}

/// Where cargo keeps the package, once a project that depends on it was resolved.
fn downloaded(name: &str, version: &str, project: &Path) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(project.join("src"))?;
    fs::write(project.join("src/lib.rs"), "")?;
    let manifest = project.join("Cargo.toml");
    let dependency = format!("{name} = {{ version = \"={version}\", default-features = false }}");
    fs::write(
        &manifest,
        format!("[package]\nname = \"fetch\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n{dependency}\n"),
    )?;
    let mut command = shell::cargo();
    command.args(["metadata", "--quiet", "--format-version", "1", "--manifest-path"]).arg(&manifest);
    eprintln!("$ {}", shell::line(&command));
    let output = command.output().context("cannot run cargo")?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    package_folder(&serde_json::from_slice(&output.stdout)?, name).context("cargo metadata does not name its folder")
}

fn package_folder(metadata: &Value, name: &str) -> Option<PathBuf> {
    let package = metadata.get("packages")?.as_array()?.iter().find(|package| package["name"] == name)?;
    Path::new(package["manifest_path"].as_str()?).parent().map(Path::to_owned)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_package_is_that_of_its_manifest() {
        let metadata = serde_json::json!({ "packages": [
            { "name": "a", "manifest_path": "/p/a/Cargo.toml" },
            { "name": "b", "manifest_path": "/p/b/Cargo.toml" },
        ]});
        assert_eq!(package_folder(&metadata, "b"), Some(PathBuf::from("/p/b")));
        assert_eq!(package_folder(&metadata, "c"), None);
    }
}
