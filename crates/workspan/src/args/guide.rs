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
    /// Tell of this verb only, or of a topic: `questions`, `example`, `ids`, `statuses`.
    #[arg(value_name = "VERB")]
    pub verb: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}
