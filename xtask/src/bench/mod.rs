//! `cargo xtask bench`.

/// Options.
#[derive(Debug, clap::Args)]
pub struct Options {}

/// Runs the benchmarks.
pub fn main(_: &Options) -> anyhow::Result<()> {
    anyhow::bail!("not yet")
}
