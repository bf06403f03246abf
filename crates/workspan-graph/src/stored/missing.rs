//! What is missing from a recording, in words.

use crate::file::Recording;

/// What is missing from a recording; nothing if it is complete.
pub fn problems(recording: &Recording) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(at) = recording.damaged {
        found.push(format!("damaged from byte {at} on: what follows is missing"));
    }
    match &recording.end {
        None => found.push("the recording was cut short: what followed is missing".to_owned()),
        Some(end) => {
            if end.signal != 0 {
                found.push(format!("the program was ended by signal {}: its last events may be missing", end.signal));
            }
            if end.gave_up != 0 {
                found.push(format!("{} times a thread went on without recording", end.gave_up));
            }
            if end.untracked != 0 {
                found.push(format!("{} threads, barriers or modules did not fit into a table", end.untracked));
            }
            if end.unknown != 0 {
                found.push(format!("{} buffers hold events that are not understood", end.unknown));
            }
            if end.refused != 0 {
                found.push(format!("{} more processes of the program are not in the graph", end.refused));
            }
        }
    }
    let ranks = &recording.ranks;
    for rank in ranks.ranks.iter().filter(|rank| !rank.complete) {
        found.push(format!("the graph of rank {} is not complete", rank.rank));
    }
    let missing = (ranks.size as usize).saturating_sub(ranks.ranks.len());
    if missing > 0 {
        found.push(format!("{missing} of {} ranks are missing", ranks.size));
    }
    if ranks.received_only > 0 {
        found.push(format!("{} messages were received that no rank here has sent", ranks.received_only));
    }
    found
}
