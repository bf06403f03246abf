//! What the user of a terminal meets: output, progress, signals, exit statuses, wrong command lines.

pub mod exit;
pub mod output;
pub mod signals;
pub mod status_line;
pub mod time;
pub mod untrusted;
pub mod usage;
