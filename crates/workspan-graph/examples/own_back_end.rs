//! A back end of your own: how many bytes each context writes.
//!
//! `cargo run -p workspan-graph --example own_back_end -- run.graph`

use std::collections::BTreeMap;
use std::path::PathBuf;

use workspan_graph::events::Access;
use workspan_graph::file::{Recording, NAME};
use workspan_graph::replay::{replay, Consumer, Executed};
use workspan_trace::program::Access as Mode;

#[derive(Default)]
struct Written(BTreeMap<u32, u64>);

impl Consumer for Written {
    fn segment(&mut self, executed: Executed<'_>, accesses: &[Access]) {
        let bytes: u64 = accesses.iter().filter(|access| access.mode != Mode::Load).map(|access| access.size).sum();
        *self.0.entry(executed.context).or_default() += bytes;
    }
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("name a graph")?);
    let mut written = Written::default();
    replay(&Recording::open(&folder.join(NAME))?, &mut written)?;
    for (context, bytes) in written.0 {
        println!("context {context} wrote {bytes} bytes");
    }
    Ok(())
}
