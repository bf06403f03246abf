//! The profile as bytes.

use std::collections::BTreeMap;

use workspan_trace::bytes::{Malformed, Reader, Writer};

use crate::encoding::{all, many, put_place, take_place};
use crate::profile::{Blocker, Call, Dependence, Loop, Model, Parallel, Private, Profile, Reduction};

/// First bytes of a file.
pub const MAGIC: &[u8] = b"workspan-depend\0";
/// Incremented with every change.
pub const VERSION: u32 = 5;

/// Why a file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Another kind of file.
    #[error("it is no dependence profile")]
    Other,
    /// Of another version.
    #[error("it has version {0}, and this workspan reads version {VERSION}: run `workspan depend` again")]
    Version(u32),
    /// Cut short or changed.
    #[error("it is damaged or cut short: run `workspan depend` again")]
    Damaged,
}

impl From<Malformed> for Problem {
    fn from(_: Malformed) -> Problem {
        Problem::Damaged
    }
}

/// The encoding.
pub fn encode(profile: &Profile) -> Vec<u8> {
    let mut out = Writer { bytes: MAGIC.to_vec() };
    out.number(VERSION.into());
    let out = &mut out;
    many(out, &profile.runs, |out, words| many(out, words, |out, word| out.text(word)));
    out.signed(profile.status.into());
    many(out, &profile.problems, |out, problem| out.text(problem));
    many(out, &profile.loops, put_loop);
    many(out, &profile.calls, |out, call| {
        put_place(out, &call.place);
        out.text(&call.function);
        out.text(&call.callee);
        let (awaited, (longest, continuation)) = (call.awaited, call.longest);
        let sizes = [awaited, call.continuation, longest, continuation];
        for value in [call.count, call.work, call.spawn.into(), call.sync.into()].into_iter().chain(sizes) {
            out.number(value);
        }
        many(out, call.expected.as_slice(), |out, expected| out.number(*expected));
    });
    out.number(profile.granularity);
    many(out, &profile.models, |out, model| {
        out.text(&model.name);
        out.number(model.work);
        out.number(model.span);
    });
    many(out, &profile.dependences, |out, each| {
        out.text(&each.kind);
        out.text(&each.variable);
        put_place(out, &each.source);
        put_place(out, &each.sink);
        out.text(&each.function);
        many(out, each.carrier.as_slice(), put_place);
        for value in [each.distance.0, each.distance.1, each.count] {
            out.number(value);
        }
    });
    out.number(profile.lines.len() as u64);
    for (file, lines) in &profile.lines {
        out.text(file);
        out.number(lines.len() as u64);
        for (line, executed) in lines {
            out.number(u64::from(*line) << 1 | u64::from(*executed));
        }
    }
    many(out, &profile.boxes, |out, (name, count)| {
        out.text(name);
        out.number(*count);
    });
    crate::paths::form::put(out, &profile.paths);
    std::mem::take(&mut out.bytes)
}

/// Flags as a number, the first as its lowest bit.
fn bits<const N: usize>(flags: [bool; N]) -> u64 {
    (0..).zip(flags).map(|(at, flag)| u64::from(flag) << at).sum()
}

/// The same, the other way.
fn flags<const N: usize>(bits: u64) -> [bool; N] {
    std::array::from_fn(|at| bits >> at & 1 != 0)
}

fn put_loop(out: &mut Writer, each: &Loop) {
    put_place(out, &each.place);
    out.number(each.last_line.into());
    out.text(&each.function);
    for value in [each.entries, each.iterations, each.work, u64::from(each.parallel as u8)] {
        out.number(value);
    }
    many(out, &each.reductions, |out, reduction| {
        out.text(&reduction.operator);
        out.text(&reduction.variable);
        out.number(bits([reduction.elements, reduction.part, reduction.in_calls, reduction.reached]));
    });
    many(out, &each.private, |out, private| {
        out.text(&private.variable);
        out.number(bits([private.last, private.in_calls, private.reached]));
    });
    many(out, &each.inductions, |out, (variable, step)| {
        out.text(variable);
        out.signed(*step);
    });
    many(out, &each.blockers, |out, blocker| {
        out.text(&blocker.kind);
        out.text(&blocker.variable);
        put_place(out, &blocker.source);
        put_place(out, &blocker.sink);
        many(out, blocker.distance.as_slice(), |out, (least, most)| {
            out.number(*least);
            out.number(*most);
        });
        out.number(blocker.count);
    });
}

/// The profile that was encoded so.
pub fn decode(bytes: &[u8]) -> Result<Profile, Problem> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(Problem::Other)?;
    let mut from = Reader::new(rest);
    let version = from.small()?;
    if version != VERSION {
        return Err(Problem::Version(version));
    }
    let from = &mut from;
    let profile = Profile {
        runs: all(from, |from| all(from, Reader::text))?,
        status: i32::try_from(from.signed()?).map_err(|_| Malformed)?,
        problems: all(from, Reader::text)?,
        loops: all(from, take_loop)?,
        calls: all(from, |from| {
            Ok(Call {
                place: take_place(from)?,
                function: from.text()?,
                callee: from.text()?,
                count: from.number()?,
                work: from.number()?,
                spawn: from.number()? != 0,
                sync: from.small()?,
                awaited: from.number()?,
                continuation: from.number()?,
                longest: (from.number()?, from.number()?),
                expected: all(from, Reader::number)?.pop(),
            })
        })?,
        granularity: from.number()?,
        models: all(from, |from| Ok(Model { name: from.text()?, work: from.number()?, span: from.number()? }))?,
        dependences: all(from, |from| {
            Ok(Dependence {
                kind: from.text()?,
                variable: from.text()?,
                source: take_place(from)?,
                sink: take_place(from)?,
                function: from.text()?,
                carrier: all(from, take_place)?.pop(),
                distance: (from.number()?, from.number()?),
                count: from.number()?,
            })
        })?,
        lines: all(from, take_lines)?.into_iter().collect(),
        boxes: all(from, |from| Ok((from.text()?, from.number()?)))?,
        paths: crate::paths::form::take(from)?,
    };
    if from.rest().is_empty() {
        Ok(profile)
    } else {
        Err(Problem::Damaged)
    }
}

fn take_lines(from: &mut Reader<'_>) -> Result<(String, BTreeMap<u32, bool>), Malformed> {
    let file = from.text()?;
    let lines = all(from, |from| {
        let line = from.number()?;
        Ok((u32::try_from(line >> 1).map_err(|_| Malformed)?, line & 1 != 0))
    })?;
    Ok((file, lines.into_iter().collect()))
}

fn take_loop(from: &mut Reader<'_>) -> Result<Loop, Malformed> {
    Ok(Loop {
        place: take_place(from)?,
        last_line: from.small()?,
        function: from.text()?,
        entries: from.number()?,
        iterations: from.number()?,
        work: from.number()?,
        parallel: match from.number()? {
            0 => Parallel::Yes,
            1 => Parallel::WithClauses,
            2 => Parallel::No,
            3 => Parallel::NotExecuted,
            _ => return Err(Malformed),
        },
        reductions: all(from, |from| {
            let (operator, variable) = (from.text()?, from.text()?);
            let [elements, part, in_calls, reached] = flags(from.number()?);
            Ok(Reduction { operator, variable, elements, part, in_calls, reached })
        })?,
        private: all(from, |from| {
            let variable = from.text()?;
            let [last, in_calls, reached] = flags(from.number()?);
            Ok(Private { variable, last, in_calls, reached })
        })?,
        inductions: all(from, |from| Ok((from.text()?, from.signed()?)))?,
        blockers: all(from, |from| {
            Ok(Blocker {
                kind: from.text()?,
                variable: from.text()?,
                source: take_place(from)?,
                sink: take_place(from)?,
                distance: all(from, |from| Ok((from.number()?, from.number()?)))?.pop(),
                count: from.number()?,
            })
        })?,
    })
}
