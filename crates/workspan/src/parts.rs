//! Parts of a program, as they are named on the command line.

use std::collections::BTreeSet;

use anyhow::{bail, ensure, Context};
use workspan_analysis::advise::piece_id;
use workspan_analysis::strands::Place;
use workspan_analysis::what_if::{Change, Factor, Selector};
use workspan_model::{Recording, SiteId, SiteKind};

/// `PART=FACTOR`: the part as it was written, its factor, and the changes that this is; several where several sites share a
/// handle.
///
/// `places` tells where strands are; it is asked only for pieces that advice has named.
pub fn parse(
    spec: &str,
    recording: &Recording,
    places: &dyn Fn() -> anyhow::Result<BTreeSet<Place>>,
) -> anyhow::Result<(String, Factor, Vec<Change>)> {
    let (part, factor) = spec.rsplit_once('=').with_context(|| format!("`{spec}` is not PART=FACTOR"))?;
    let factor = parse_factor(factor).with_context(|| {
        format!("`{factor}` is no factor: a number of at least 1, or `inf`, must stand behind the `=` of `{spec}`")
    })?;
    let changes = selectors(part, recording, places)?.into_iter().map(|part| Change { part, factor }).collect();
    Ok((part.to_owned(), factor, changes))
}

fn parse_factor(text: &str) -> Option<Factor> {
    if text == "inf" {
        return Some(Factor::INFINITE);
    }
    Factor::new(text.parse().ok().filter(|factor: &f64| factor.is_finite())?)
}

fn selectors(
    part: &str,
    recording: &Recording,
    places: &dyn Fn() -> anyhow::Result<BTreeSet<Place>>,
) -> anyhow::Result<Vec<Selector>> {
    if let Some((file, first, last)) = lines(part) {
        ensure!(first <= last, "`{part}` ends before it begins");
        return Ok(vec![Selector::Lines { file: file.to_owned(), first, last }]);
    }
    let (handle, below) = part.strip_suffix('/').map_or((part, false), |handle| (handle, true));
    if is_handle(part, "a-") {
        let found: Vec<Selector> =
            places()?.into_iter().filter(|at| piece_id(recording, at) == part).map(Selector::Place).collect();
        ensure!(!found.is_empty(), "the recording has no piece `{part}`");
        return Ok(found);
    }
    if is_handle(handle, "s-") {
        let ids = (0..).zip(&recording.sites).filter(|(_, site)| site.stable_id(&recording.sites) == handle);
        let select = |id| if below { Selector::Below(SiteId(id)) } else { Selector::Site(SiteId(id)) };
        let found: Vec<Selector> = ids.map(|(id, _)| select(id)).collect();
        ensure!(!found.is_empty(), "the recording has no site `{handle}`");
        return Ok(found);
    }
    let is_marked = |site: &&workspan_model::Site| {
        site.kind == SiteKind::Marked
            && (site.type_name == part || site.function.as_ref().is_some_and(|function| function.name == part))
    };
    if !recording.sites.iter().any(|site| is_marked(&site)) {
        bail!("the recording has no region marked `{part}`, and this is no FILE:LINE, FILE:LINE-LINE, site `s-…` or piece `a-…` either");
    }
    Ok(vec![Selector::Marked(part.to_owned())])
}

/// `FILE:LINE` or `FILE:LINE-LINE`.
fn lines(part: &str) -> Option<(&str, u32, u32)> {
    let (file, lines) = part.rsplit_once(':')?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    (!file.is_empty()).then_some((file, first.parse().ok()?, last.parse().ok()?))
}

fn is_handle(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|hash| hash.len() == 8 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use workspan_analysis::strands::Point;
    use workspan_model::Site;

    fn recording() -> Recording {
        let site = |kind, name: &str| Site {
            kind,
            file: "src/a.rs".to_owned(),
            line: 3,
            column: 1,
            function: None,
            type_name: name.to_owned(),
            module: String::new(),
            addresses: Vec::new(),
            via: None,
        };
        let sites = vec![site(SiteKind::Join, "closure"), site(SiteKind::Marked, "solve = all")];
        Recording { sites, ..Recording::default() }
    }

    const PLACE: Place = Place { site: Some(SiteId(0)), before: Point::Begin, after: Point::Site(SiteId(1)) };

    #[expect(clippy::unnecessary_wraps, reason = "as the caller has it")]
    fn places() -> anyhow::Result<BTreeSet<Place>> {
        Ok(BTreeSet::from([PLACE, Place { after: Point::End, ..PLACE }]))
    }

    #[track_caller]
    fn check(spec: &str, expected: Selector, factor: f64) {
        let (_, read, changes) = parse(spec, &recording(), &places).expect("it is right");
        assert_eq!((read.value(), changes.len(), &changes[0].part), (factor, 1, &expected));
    }

    #[test]
    fn parts_are_read() {
        let lines = |file: &str, first, last| Selector::Lines { file: file.to_owned(), first, last };
        check("src/a.rs:10-20=8", lines("src/a.rs", 10, 20), 8.0);
        check("a.rs:7=1.5", lines("a.rs", 7, 7), 1.5);
        check("C:odd=name.c:7=inf", lines("C:odd=name.c", 7, 7), f64::INFINITY);
        let handle = recording().sites[0].stable_id(&recording().sites);
        check(&format!("{handle}=2"), Selector::Site(SiteId(0)), 2.0);
        check(&format!("{handle}/=2"), Selector::Below(SiteId(0)), 2.0);
        check(&format!("{}=2", piece_id(&recording(), &PLACE)), Selector::Place(PLACE), 2.0);
        check("solve = all=2", Selector::Marked("solve = all".to_owned()), 2.0);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (spec, words) in [
            ("src/a.rs:10", "is not PART=FACTOR"),
            ("src/a.rs:10=0.5", "`0.5` is no factor"),
            ("src/a.rs:10=nan", "is no factor"),
            ("src/a.rs:10=1e999", "is no factor"),
            ("src/a.rs:20-10=2", "ends before it begins"),
            ("s-00000000=2", "has no site `s-00000000`"),
            ("a-00000000=2", "has no piece `a-00000000`"),
            ("closure=2", "no region marked `closure`"),
            (":3=2", "no region marked"),
        ] {
            let error = format!("{:#}", parse(spec, &recording(), &places).expect_err(spec));
            assert!(error.contains(words), "{spec}: {error}");
        }
    }
}
