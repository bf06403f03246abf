//! Cargo profiles: the user's own, plus line tables.

use super::split::Split;

/// The profile that a verb with these options uses.
pub fn name(verb: &str, split: &Split) -> String {
    if let Some(name) = split.cargo_value("--profile") {
        return name.to_string_lossy().into_owned();
    }
    let release = match verb {
        "bench" => true,
        "install" => !split.has_any(&["--debug"]),
        _ => split.has_any(&["--release", "-r"]),
    };
    if release { "release" } else { "dev" }.to_owned()
}

/// Settings for `--config`: line tables where the profile has no debug information, and nothing stripped.
pub fn settings(profile: &str, manifest: &toml::Table) -> Vec<String> {
    let mut settings = Vec::new();
    if !has_debug_info(profile, manifest, 0) {
        settings.push(format!("profile.{profile}.debug=\"line-tables-only\""));
    }
    settings.push(format!("profile.{profile}.strip=\"none\""));
    settings
}

fn has_debug_info(profile: &str, manifest: &toml::Table, depth: usize) -> bool {
    let table = manifest.get("profile").and_then(|p| p.get(profile)).and_then(toml::Value::as_table);
    match table.and_then(|t| t.get("debug")) {
        Some(toml::Value::Boolean(debug)) => return *debug,
        Some(toml::Value::Integer(level)) => return *level > 0,
        Some(toml::Value::String(level)) => return level != "none",
        _ => {}
    }
    match table.and_then(|t| t.get("inherits")).and_then(toml::Value::as_str) {
        // A cycle is for cargo to complain about.
        Some(parent) if depth < 16 => has_debug_info(parent, manifest, depth + 1),
        _ => profile == "dev" || profile == "test",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(manifest: &str, profile: &str, line_tables: bool) {
        let settings = settings(profile, &manifest.parse().unwrap());
        assert_eq!(settings.iter().any(|s| s.contains("line-tables-only")), line_tables, "{settings:?}");
    }

    #[test]
    fn line_tables_are_added_where_there_is_nothing() {
        check("", "dev", false);
        check("", "release", true);
        check("[profile.release]\ndebug = true", "release", false);
        check("[profile.release]\ndebug = 0", "release", true);
        check("[profile.dev]\ndebug = \"none\"", "dev", true);
        check("[profile.fast]\ninherits = \"release\"", "fast", true);
        check("[profile.fast]\ninherits = \"dev\"", "fast", false);
    }
}
