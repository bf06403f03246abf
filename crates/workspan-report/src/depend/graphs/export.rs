//! The graphs of a profile in the formats of other tools.

use workspan_depend::profile::Profile;

use super::dot::dot;
use super::make::critical_paths;

/// Graphs for graphviz, at most `most`; the one with that name, or all. The second value: how many there are.
pub fn critical_dot(profile: &Profile, folder: &str, most: usize, only: Option<&str>) -> (String, usize) {
    let mut view = critical_paths(&profile.paths);
    view.read_in(folder);
    let count = view.graphs.iter().filter(|each| only.is_none_or(|name| each.id == name)).count();
    (dot(&view, most, only), count)
}
