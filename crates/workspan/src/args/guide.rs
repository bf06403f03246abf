//! `workspan guide`.

use clap::Args;

const GUIDE: &str = "\
Examples:
  workspan guide
  workspan guide what-if
  workspan guide --json | jq -r '.verbs[].verb'";

/// `workspan guide`.
#[derive(Args, Clone, Debug)]
#[command(after_help = GUIDE)]
pub struct Guide {
    /// Show this command only, or a topic: `questions`, `example`, `ids`, `statuses` (default: everything).
    #[arg(value_name = "COMMAND")]
    pub verb: Option<String>,
    /// Write JSON in place of the text.
    #[arg(long)]
    pub json: bool,
}
