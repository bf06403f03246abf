//! `cargo xtask test`: all tests.

use std::time::Instant;

use crate::{setup, shell};

/// Options.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Use what is on this machine; install nothing.
    #[arg(long)]
    pub(crate) no_setup: bool,
}

/// Runs the verb.
pub(crate) fn main(options: &Options) -> anyhow::Result<()> {
    let start = Instant::now();
    if !options.no_setup {
        setup::tools()?;
    }
    // Unit tests, end-to-end tests with the programs of `programs/`, the rules of `tidy`, and examples in documentation.
    shell::run(shell::cargo().args(["test", "--workspace", "--profile", "checks", "--locked", "--no-fail-fast"]))?;
    println!("all tests passed in {}", shell::minutes(start.elapsed()));
    Ok(())
}
