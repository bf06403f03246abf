//! Segments, sites and regions of a program, as the command line names them: `PART=FACTOR`.

use std::collections::BTreeSet;
use std::str::FromStr;

use anyhow::{ensure, Context};
use workspan_analysis::advise::piece_id;
use workspan_analysis::strands::Place;
use workspan_analysis::what_if::{Change, Factor, Selector};
use workspan_analysis::Scenario;
use workspan_model::{Recording, SiteId, SiteKind};
use workspan_report::what_if::Change as Shown;

/// `PART=FACTOR`: well formed, but the recording may have no such part.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedUp {
    name: String,
    part: Part,
    factor: Factor,
}

/// What a part's name may mean.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Lines {
        file: String,
        first: u32,
        last: u32,
    },
    /// By a handle of advice.
    Piece,
    Site {
        handle: String,
        below: bool,
    },
    Marked,
}

/// `PART=FACTOR[,PART=FACTOR…]`: a scenario for a run that is still to come.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// As it was written.
    pub text: String,
    /// What becomes faster.
    pub speed_ups: Vec<SpeedUp>,
}

/// Where strands are, for those who ask.
pub type Places<'a> = &'a dyn Fn() -> anyhow::Result<BTreeSet<Place>>;

impl FromStr for Asked {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Asked> {
        Ok(Asked { text: text.to_owned(), speed_ups: text.split(',').map(str::parse).collect::<anyhow::Result<_>>()? })
    }
}

impl FromStr for SpeedUp {
    type Err = anyhow::Error;

    fn from_str(spec: &str) -> anyhow::Result<SpeedUp> {
        let wrong =
            || format!("`{spec}` is not PART=FACTOR: write, for example, src/sort.rs:10-20=8, or s-0123abcd=inf");
        let (name, factor) = spec.rsplit_once('=').with_context(wrong)?;
        ensure!(!name.is_empty(), wrong());
        let factor = parse_factor(factor).with_context(|| {
            format!("`{factor}` is not a factor: write a number of at least 1, or `inf`, behind the `=` of `{spec}`")
        })?;
        Ok(SpeedUp { name: name.to_owned(), part: parse_part(name)?, factor })
    }
}

fn parse_factor(text: &str) -> Option<Factor> {
    if text == "inf" {
        return Some(Factor::INFINITE);
    }
    Factor::new(text.parse().ok().filter(|factor: &f64| factor.is_finite())?)
}

fn parse_part(name: &str) -> anyhow::Result<Part> {
    if let Some((file, first, last)) = lines(name) {
        ensure!(first <= last, "`{name}` ends before it begins");
        return Ok(Part::Lines { file: file.to_owned(), first, last });
    }
    let (handle, below) = name.strip_suffix('/').map_or((name, false), |handle| (handle, true));
    Ok(if is_handle(name, "a-") {
        Part::Piece
    } else if is_handle(handle, "s-") {
        Part::Site { handle: handle.to_owned(), below }
    } else {
        Part::Marked
    })
}

/// What these speed-ups mean in a recording: as they are shown, and as they are computed.
pub fn scenario(
    speed_ups: &[SpeedUp],
    recording: &Recording,
    places: Places<'_>,
) -> anyhow::Result<(Vec<Shown>, Scenario)> {
    let mut shown = Vec::new();
    let mut scenario = Scenario::default();
    for speed_up in speed_ups {
        let factor = Some(speed_up.factor.value()).filter(|factor| factor.is_finite());
        scenario.changes.extend(speed_up.changes(recording, places)?);
        shown.push(Shown { part: speed_up.name.clone(), factor });
    }
    Ok((shown, scenario))
}

impl SpeedUp {
    /// The changes that this is; several where several sites share a handle. `places` is called only for segments that advice
    /// has named.
    pub fn changes(&self, recording: &Recording, places: Places<'_>) -> anyhow::Result<Vec<Change>> {
        let change = |part| Change { part, factor: self.factor };
        Ok(self.selectors(recording, places)?.into_iter().map(change).collect())
    }

    fn selectors(&self, recording: &Recording, places: Places<'_>) -> anyhow::Result<Vec<Selector>> {
        let name = &self.name;
        match &self.part {
            Part::Lines { file, first, last } => {
                Ok(vec![Selector::Lines { file: file.clone(), first: *first, last: *last }])
            }
            Part::Piece => {
                let found = places()?.into_iter().filter(|at| piece_id(recording, at) == *name);
                let found: Vec<Selector> = found.map(Selector::Place).collect();
                ensure!(!found.is_empty(), "the recording has no segment `{name}` (`workspan advise` lists them)");
                Ok(found)
            }
            Part::Site { handle, below } => {
                let sites = (0..).zip(&recording.sites);
                let found = sites.filter(|(_, site)| site.stable_id(&recording.sites) == *handle);
                let select = |id| if *below { Selector::Below(SiteId(id)) } else { Selector::Site(SiteId(id)) };
                let found: Vec<Selector> = found.map(|(id, _)| select(id)).collect();
                ensure!(
                    !found.is_empty(),
                    "the recording has no site `{handle}` (`workspan report --json` lists them)"
                );
                Ok(found)
            }
            Part::Marked => {
                let is_named = |site: &workspan_model::Site| {
                    site.type_name == *name || site.function.as_ref().is_some_and(|function| function.name == *name)
                };
                let known = recording.sites.iter().any(|site| site.kind == SiteKind::Marked && is_named(site));
                ensure!(
                    known,
                    "the program marked no region `{name}`; for other code write FILE:LINE, FILE:LINE-LINE, the id of a site \
                     (s-…) or of a segment (a-…)"
                );
                Ok(vec![Selector::Marked(name.clone())])
            }
        }
    }
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
        let site = |kind, name: &str| Site { type_name: name.to_owned(), ..Site::at(kind, "src/a.rs", 3, 1) };
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
        let speed_up: SpeedUp = spec.parse().expect("it is right");
        let changes = speed_up.changes(&recording(), &places).expect("it is there");
        assert_eq!((changes.len(), changes[0].factor.value(), &changes[0].part), (1, factor, &expected));
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

    #[track_caller]
    fn check_refused(error: &anyhow::Error, words: &str) {
        let error = format!("{error:#}");
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn what_is_badly_formed_is_said() {
        for (spec, words) in [
            ("src/a.rs:10", "is not PART=FACTOR"),
            ("=2", "is not PART=FACTOR"),
            ("src/a.rs:10=0.5", "`0.5` is not a factor"),
            ("src/a.rs:10=nan", "is not a factor"),
            ("src/a.rs:10=1e999", "is not a factor"),
            ("src/a.rs:20-10=2", "ends before it begins"),
        ] {
            check_refused(&SpeedUp::from_str(spec).expect_err(spec), words);
        }
    }

    #[test]
    fn what_is_not_there_is_said() {
        for (spec, words) in [
            ("s-00000000=2", "has no site `s-00000000`"),
            ("a-00000000=2", "has no segment `a-00000000`"),
            ("closure=2", "marked no region `closure`"),
            (":3=2", "marked no region"),
        ] {
            let speed_up: SpeedUp = spec.parse().expect("it is well formed");
            check_refused(&speed_up.changes(&recording(), &places).expect_err(spec), words);
        }
    }

    #[test]
    fn scenarios_may_have_several_parts() {
        let asked: Asked = "solve = all=8,src/a.rs:3-4=inf".parse().expect("it is right");
        let (shown, scenario) = scenario(&asked.speed_ups, &recording(), &places).expect("it is there");
        let shown: Vec<_> = shown.iter().map(|change| (change.part.as_str(), change.factor)).collect();
        assert_eq!(shown, [("solve = all", Some(8.0)), ("src/a.rs:3-4", None)]);
        assert_eq!(scenario.changes.len(), 2);
        check_refused(&Asked::from_str("a=8,").expect_err("nothing behind the comma"), "`` is not PART=FACTOR");
    }
}
