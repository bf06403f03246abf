//! What tools show of the collectors' unsafe code and of their concurrency: steps of `cargo xtask ci`.

use crate::ci::Step;
use crate::{setup, shell};

/// Each of them installs its tool, or fails.
pub(crate) const STEPS: &[Step] = &[Step { name: "miri", act: miri }];

/// Undefined behaviour in what the tests of the collector run.
fn miri() -> anyhow::Result<()> {
    setup::nightly(&["miri", "rust-src"])?;
    let mut command = shell::cargo();
    command.args(["+nightly", "miri", "test", "--package", "workspan-collect", "--test", "integration", "--locked"]);
    shell::run(command.env("MIRIFLAGS", "-Zmiri-permissive-provenance"))
}
