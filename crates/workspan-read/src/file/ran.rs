//! What serial code did: the end of the section `SITE`, since minor version 8.

use crate::codec::{Decoder, Encoder};
use workspan_model::{Ran, SiteId};

pub(super) fn encode(rows: &[Ran], e: &mut Encoder) {
    e.unsigned(rows.len() as u64);
    for ran in rows {
        e.unsigned(u64::from(ran.site.0)).text(&ran.function).text(&ran.file);
        e.unsigned(u64::from(ran.lines.0)).unsigned(u64::from(ran.lines.1));
        e.unsigned(ran.samples).unsigned(ran.within).unsigned(u64::from(ran.threads));
        e.unsigned(u64::from(ran.main_thread)).unsigned(ran.callees.len() as u64);
        for (function, samples) in &ran.callees {
            e.text(function).unsigned(*samples);
        }
    }
}

pub(super) fn decode(d: &mut Decoder<'_>, sites: usize) -> Option<Vec<Ran>> {
    // Files of minor version 7 end here.
    if d.is_empty() {
        return Some(Vec::new());
    }
    let count = d.count()?;
    (0..count).map(|_| one(d, sites)).collect()
}

fn one(d: &mut Decoder<'_>, sites: usize) -> Option<Ran> {
    let site = SiteId(d.small().filter(|site| (*site as usize) < sites)?);
    let (function, file) = (d.text()?, d.text()?);
    let lines = (d.small()?, d.small()?);
    let (samples, within, threads) = (d.unsigned()?, d.unsigned()?, d.small()?);
    let main_thread = d.unsigned()? != 0;
    let callees = d.count()?;
    let callees = (0..callees).map(|_| Some((d.text()?, d.unsigned()?))).collect::<Option<Vec<_>>>()?;
    let plausible = within <= samples && callees.iter().all(|(_, samples)| *samples <= within);
    plausible.then_some(Ran { site, function, file, lines, samples, within, callees, threads, main_thread })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Ran {
        Ran {
            site: SiteId(1),
            function: "write_output".to_owned(),
            file: "src/out.rs".to_owned(),
            lines: (40, 88),
            samples: 120,
            within: 110,
            callees: vec![("escape".to_owned(), 50), ("flush".to_owned(), 30)],
            threads: 1,
            main_thread: true,
        }
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let mut e = Encoder::default();
        encode(&[row()], &mut e);
        let bytes = e.into_bytes();
        assert_eq!(decode(&mut Decoder::new(&bytes), 2), Some(vec![row()]));
        assert_eq!(decode(&mut Decoder::new(&bytes), 1), None, "a site that does not exist");
        assert_eq!(decode(&mut Decoder::new(&[]), 2), Some(Vec::new()));
    }

    #[test]
    fn no_more_samples_lie_in_a_function_than_there_are() {
        let mut e = Encoder::default();
        encode(&[Ran { within: 121, ..row() }], &mut e);
        assert_eq!(decode(&mut Decoder::new(&e.into_bytes()), 2), None);
    }
}
